/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read a recording into a profile. */
#ifndef SPEPROF_INPUT_H
#define SPEPROF_INPUT_H

#include "filter/filter.h"
#include "options.h"
#include "parallel-count.h"
#include "profile/profile.h"
#include "query/query-result.h"
#include "recording/recording.h"
#include "symbols/symbol-folders.h"
#include "util/cpu-list.h"

/**
 * struct input_recording - a recording that was read
 * @attributor: the tasks and mappings of the recording
 * @profile: the counters
 * @format: format of the file
 * @duration_ns: time from the start of the first window to the end of the last; 0: not recorded
 * @functions: functions of the recorded kernel, which give samples in the kernel their names
 * @facts: facts in the recording about how it was made
 * @nodes: the NUMA nodes of the recorded machine, as far as the recording has them; set before
 *	&input_request.watch is called
 * @hardware: the SPUs that wrote it
 * @folders: where the files that it names are searched
 * @summary: one line about how it was made; "": the recording has no such facts
 * @backend: &enum sample_backend that was recorded
 */
struct input_recording {
	struct attributor *attributor;
	struct profile *profile;
	enum recording_format format;
	u64 duration_ns;
	struct symtab functions;
	struct recording_facts facts;
	struct numa_nodes nodes;
	struct recorded_hardware hardware;
	struct symbol_folders folders;
	char summary[512];
	u8 backend;
};

/**
 * struct input_request - a recording to read
 * @path: file name; "-" is standard input
 * @cpus: count only windows of these CPUs; NULL: all
 * @midr: MIDR_EL1 of cores for which the recording has none; 0: unknown
 * @filter: count only samples that match; NULL: all. It must outlive the &struct input_recording
 * @split: what the profile distinguishes besides programs, CELL_SPLIT_* and CELL_BY_DATA
 * @kallsyms: file with the functions of the recorded kernel, in the format of /proc/kallsyms; NULL:
 *	use those in the recording. If it is set, @path is not standard input
 * @folders: where the files that the recording names are searched; the strings must outlive the
 *	&struct input_recording
 * @threads: number of threads that count, at most COUNT_THREADS_MAX; 0: one for each CPU
 * @memory: count cache lines and pages; only one thread can count them
 * @watch: called before the first sample with the empty profile of each thread, to observe it; a
 *	negative errno ends the reading. NULL: not called
 * @ctx: argument of @watch
 */
struct input_request {
	const char *path;
	const struct cpu_list *cpus;
	u64 midr;
	const struct filter *filter;
	u8 split;
	const char *kallsyms;
	struct symbol_folders folders;
	u32 threads;
	bool memory;
	int (*watch)(void *ctx, struct profile *profile);
	void *ctx;
};

/** input_request_from_options() - return the request that the options of a verb describe */
struct input_request input_request_from_options(const struct options *options);

/**
 * input_load() - read a recording into a profile
 * @request: the recording, and what to count
 * @ret_input: the caller ends it by input_deinit(), also on failure. With STATUS_OK and
 *	STATUS_DAMAGED it has everything that was readable
 *
 * If reading takes long, a terminal shows the progress. The counters do not depend on the number of
 * threads.
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int input_load(const struct input_request *request, struct input_recording *ret_input);

/**
 * input_get_printed_name() - return the file name of @path to print; NULL for standard input and
 * for NULL
 */
const char *input_get_printed_name(const char *path);

/**
 * input_new_symbols() - create a symbol table for a recording; lookups in it block
 * @input: the recording, which must outlive the table
 * @ret_symbols: the table; free it with symbols_free()
 *
 * Return: 0 or a negative errno.
 */
int input_new_symbols(const struct input_recording *input, struct symbols_cache **ret_symbols);

/**
 * input_get_header() - get the header of views of the recording
 * @symbols: symbol table of the views; the header has its number of pending names, and the reason
 *	why names are missing
 * @ret_header: ledgers, duration and source of the recording
 */
void input_get_header(const struct input_recording *input, struct symbols_cache *symbols,
		      struct view_header *ret_header);

/**
 * input_run_query() - call query_run(), and show the progress on a terminal if that takes long
 *
 * Parameters and return value are those of query_run().
 */
int input_run_query(const struct query_source *source, const struct query *query,
		    struct query_result **ret_result, struct query_error *ret_error);

/**
 * input_make_view() - make a view of the profile
 * @input: result of input_load()
 * @group: what a row represents
 * @sort: order of rows
 * @limit: maximum number of rows
 * @ret_view: as for profile_create_view(), with source and duration of the recording
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int input_make_view(struct input_recording *input, enum view_group group, enum view_sort sort,
		    u32 limit, struct view *ret_view);

/** input_deinit() - free the memory that input_load() allocated */
void input_deinit(struct input_recording *input);

#endif
