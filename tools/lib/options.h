/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parse options, which mean the same in every verb that accepts them. */
#ifndef SPEPROF_OPTIONS_H
#define SPEPROF_OPTIONS_H

#include "filter/filter.h"
#include "format.h"
#include "query/query.h"
#include "symbols/symbol-folders.h"
#include "util/cpu-list.h"
#include "view/view.h"

/* Maximum number of --annotate options, so that their values need no allocated memory. */
#define ANNOTATE_MAX 16

/**
 * struct options - the options of one invocation
 * @input: -i: a recording; NULL: the daemon's profile
 * @after: of "diff", the second recording
 * @container: -c: only rows of this container; NULL: all
 * @function, @binary, @program: --function, --binary, --program: only rows or statistics of these;
 * NULL: all
 * @root: --root: directory that doctor and others examine instead of "/"; "": not given
 * @filter: samples of a recording to count, by --filter and -p; freed by the caller; NULL: all
 * @filter_text: text of --filter; NULL: not given
 * @known_share: --truth: known shares of containers or processes
 * @known_shares: number of @known_share
 * @group_text: -G: what a row represents; NULL: not given
 * @sort_text: -s: order of rows; NULL: not given
 * @group, @sort: the values of -G and -s, for rows of the daemon
 * @query: the values of -G and -s and the selection of rows, for rows of a recording
 * @number: -n: rows of a report, iterations of top; 0: not given
 * @pid: -p: only rows of this process; for functions of a recording, only samples of it; 0: all
 * @delay: -d: seconds between two iterations of top
 * @delay_given: whether -d was given; for verbs other than top, @delay is then the seconds to
 * sample with --filter
 * @session: --session: a session of the daemon; NULL: "machine"
 * @cpus: -C: only windows of these CPUs, if @cpus_given is set
 * @midr: --midr: MIDR_EL1 of cores for which a recording does not contain it; 0: not given
 * @json: -j: whether to print JSON
 * @period: --last: only what was counted in this period; VIEW_SPAN_START: not given
 * @since_us, @until_us: --since and --until, or a longer --last: a time in the history on disk,
 *	CLOCK_REALTIME in microseconds; @until_us is 0 if none is given
 * @last_text: text of --last; NULL: not given
 * @past_last_us: a --last that is none of the periods in memory,
 *	in microseconds; 0: not given; -1: not a length
 * @lines, @pages: --lines, --pages: print shared cache lines, or pages and nodes, instead of rows
 * @header: --header: print the facts in a recording about how it was made
 * @kallsyms: --kallsyms: list of functions of the recorded kernel; NULL: not given
 * @folders: --symfs, --debug-dir: where the files of a recording are searched; all zeros: not given.
 *	&symbol_folders.download is set if there are debuginfod servers
 * @debuginfod: --debuginfod: URLs of debuginfod servers; NULL: not given
 * @html: --html: file to write the report to, as HTML; NULL: print it
 * @annotate: --annotate: globs for the functions with instructions on the page of @html
 * @annotates: number of @annotate
 * @format: --format: format of an export; NULL: not given
 * @output: -o: file to write; NULL: not given
 * @seconds: --seconds: duration of a profile of the daemon; 0: not given
 * @batch: -b: print the live view instead of drawing it
 * @threads: --threads: threads that count a recording; 0: not given
 * @diff: --diff: compare two profiles
 */
struct options {
	const char *input;
	const char *after;
	const char *container;
	const char *function;
	const char *binary;
	const char *program;
	const char *root;
	struct filter *filter;
	const char *filter_text;
	struct known_share known_share[KNOWN_SHARES_MAX];
	u32 known_shares;
	const char *group_text;
	const char *sort_text;
	enum view_group group;
	enum view_sort sort;
	struct query query;
	u32 number;
	s32 pid;
	double delay;
	bool delay_given;
	const char *session;
	struct cpu_list cpus;
	u64 midr;
	bool cpus_given;
	bool json;
	enum view_span period;
	s64 since_us;
	s64 until_us;
	const char *last_text;
	s64 past_last_us;
	bool lines;
	bool pages;
	bool header;
	const char *kallsyms;
	struct symbol_folders folders;
	const char *debuginfod;
	const char *html;
	const char *annotate[ANNOTATE_MAX];
	u32 annotates;
	const char *format;
	const char *output;
	u32 seconds;
	bool batch;
	u32 threads;
	bool diff;
};

/**
 * options_parse() - parse the options of a verb
 * @argc, @argv: arguments of the verb; argv[0] is its name
 * @accept: which options the verb accepts: letters of "ijGsnpcCdbo"; 'R' for --root, 'T' for
 * --truth, 'N' for --session, 'W' for --last, 'H' for --html, 'a' for --annotate, 'E' for --format, 'D' for --seconds,
 * 'B' for --header, 'K' for --kallsyms, 'I' for --lines, 'P' for --pages, 'L' for --filter, 'U' for
 * --function, 'Y' for --binary, 'A' for --program, 'Z' for --threads, 'y' for --symfs, 'g' for
 * --debug-dir, 'u' for --debuginfod, 'x' for --diff; 'F' if the recording may be
 * given without -i, 'V' if the name of a function precedes it; 'Q' if rows are those of a query,
 * except rows of processes of the daemon; '2' if there are
 * two profiles; 'O' for --since, --until and any --last; 'J' if a file is given without
 * -o
 * @ret_options: unchanged on failure
 *
 * Return: 0; else an &enum verb_exit_status, after an error was printed.
 */
int options_parse(int argc, char **argv, const char *accept, struct options *ret_options);

/**
 * options_find_separator() - return the index of the argument "--", which is between the options of
 * two profiles; 0: there is none
 */
int options_find_separator(int argc, char **argv);

/**
 * options_parse_sides() - parse "VERB OPTIONS -- OPTIONS", where each side names one of two profiles
 * @argc, @argv: arguments of the verb; argv[0] is its name, and takes the place of the "--"
 * @separator: what options_find_separator() returned; not 0
 * @accept_before, @accept_after: which options each side accepts, as in options_parse()
 * @ret_before, @ret_after: unchanged if the options of that side are wrong; the caller frees
 * &struct options.filter of both also on failure
 *
 * Return: 0; else an &enum verb_exit_status, after an error was printed.
 */
int options_parse_sides(int argc, char **argv, int separator, const char *accept_before,
			struct options *ret_before, const char *accept_after,
			struct options *ret_after);

/**
 * options_parse_threads() - parse the value of --threads
 * @verb: name of the verb, for the error
 * @text: the value
 * @ret_threads: the number, 1 to COUNT_THREADS_MAX; unchanged on failure
 *
 * Return: 0; else an &enum verb_exit_status, after an error was printed.
 */
int options_parse_threads(const char *verb, const char *text, u32 *ret_threads);

#endif
