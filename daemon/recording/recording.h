/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads recordings: raw SPE bytes, a perf.data with AUXTRACE, or speprof's own format. All input
 * is untrusted.
 */
#ifndef SPEPROF_RECORDING_H
#define SPEPROF_RECORDING_H

#include "source/source.h"
#include "util/numa-nodes.h"
#include "util/symtab.h"

enum recording_format {
	RECORDING_RAW, /* only records */
	RECORDING_PERF, /* perf.data */
	RECORDING_NATIVE, /* the format of speprof: windows with headers, and task events */
};

/**
 * struct recording_error - an error in a recording, and its position
 * @offset: byte offset in the file; RECORDING_NO_OFFSET: none
 * @text: one sentence with the field, its value and the valid values
 */
struct recording_error {
	u64 offset;
	char text[256];
};

#define RECORDING_NO_OFFSET UINT64_MAX

/* Number of CPUs of which a recording can name the NUMA node. CPUs above have an unknown node. */
#define RECORDING_CPUS 4096

/* Number of ranges of memory of which a recording can name the NUMA node. A node has few of them. */
#define RECORDING_RANGES_MAX 256

/**
 * struct recording_facts - facts about the creation of a recording. A missing fact is "" or 0
 * @host: name of the machine
 * @kernel: release of its kernel
 * @machine: its architecture, such as "aarch64"
 * @version: name and version of the program that wrote it
 * @command: command line of that program
 * @time_ns: start of the recording, CLOCK_REALTIME
 * @line_size: size of the largest cache line of the machine, bytes
 * @cpus: number of CPUs of the machine for a perf.data, else number of sampled CPUs
 * @cpu_node: NUMA node of each CPU plus 1, indexed by CPU number
 * @memory: physical addresses of NUMA nodes, by address, without overlaps; @ranges of them
 *
 * All strings are escaped.
 */
struct recording_facts {
	char host[80];
	char kernel[80];
	char machine[40];
	char version[80];
	char command[1024];
	u64 time_ns;
	u32 cpus;
	u32 line_size;
	u8 cpu_node[RECORDING_CPUS];
	struct node_range memory[RECORDING_RANGES_MAX];
	u32 ranges;
};

struct recording;

/**
 * recording_open() - open a recording and detect its format
 * @path: the file; "-" for standard input
 * @ret_recording: the recording; free it with recording_free()
 * @ret_error: set on failure; NULL to ignore it
 *
 * Return: 0; -ENODATA if the file is empty; -EBADMSG if it is not a recording; another negative
 * errno, such as -ENOENT, if it cannot be opened.
 */
int recording_open(const char *path, struct recording **ret_recording,
		   struct recording_error *ret_error);

/** recording_get_format() - return the format that recording_open() detected */
enum recording_format recording_get_format(const struct recording *recording);

/** recording_get_size() - return the size of the file in bytes */
u64 recording_get_size(const struct recording *recording);

/**
 * recording_replay() - pass all task events and then all windows to a sink
 * @recording: an open recording
 * @sink: receives events and windows, in this thread
 * @ret_error: set unless 0 is returned; may be NULL. If the recording is damaged, @ret_error
 *	describes the first damage. The records after the damage are still passed to @sink
 *
 * Memory use does not grow with the file. The function may be called repeatedly.
 *
 * Return: 0; -EBADMSG if the recording is damaged or truncated; -ENOMSG if it is an undamaged
 * perf.data without SPE data.
 */
int recording_replay(struct recording *recording, const struct source_sink *sink,
		     struct recording_error *ret_error);

/**
 * recording_take_functions() - get the functions of the recorded kernel that the last replay has
 * read
 * @ret_functions: a finished table, which is empty if the recording has no functions; free it with
 *	symtab_clear()
 *
 * The names are untrusted bytes.
 */
void recording_take_functions(struct recording *recording, struct symtab *ret_functions);

/**
 * recording_get_facts() - return the facts that the last replay has read; valid until the next
 * replay
 */
const struct recording_facts *recording_get_facts(const struct recording *recording);

/**
 * struct recording_threads - threads that receive the windows of a recording
 * @sinks: one for each thread, @count of them. The first one belongs to the caller's thread, and
 *	receives all task events
 * @count: number of threads, the caller's included; at least 1
 * @begin: called after the last task event and before the first window; a negative errno ends the
 *	replay. NULL: not called
 * @progress: called repeatedly, with the number of bytes that this pass has read, and the size of
 * the file. There is a pass for task events, one for functions of the kernel (RECORDING_NATIVE
 * only), and one for windows. NULL: not called
 * @ctx: argument of @begin and @progress. Both are called on the caller's thread
 */
struct recording_threads {
	const struct source_sink *sinks;
	u32 count;
	int (*begin)(void *ctx);
	void (*progress)(void *ctx, u64 done, u64 size);
	void *ctx;
};

/**
 * recording_replay_threads() - pass all task events and then all windows to several threads
 * @recording: an open recording
 * @threads: the threads
 * @ret_error: as for recording_replay()
 *
 * Windows reach the sinks in no order, and any window may reach any sink. The windows of a raw
 * recording all reach the first sink, in order.
 *
 * Return: the result of &recording_threads.begin if it is negative, else as recording_replay().
 */
int recording_replay_threads(struct recording *recording, const struct recording_threads *threads,
			     struct recording_error *ret_error);

/** recording_free() - close and free @recording, which may be NULL; always returns NULL */
struct recording *recording_free(struct recording *recording);

#endif
