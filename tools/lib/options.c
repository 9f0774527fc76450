// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "debug-download.h"
#include "message.h"
#include "output/pprof.h"
#include "parallel-count.h"
#include "time-range.h"

#define SECOND_US 1000000LL

static const struct option long_options[] = {
	{ "annotate", required_argument, NULL, 'a' },
	{ "batch", no_argument, NULL, 'b' },
	{ "binary", required_argument, NULL, 'Y' },
	{ "container", required_argument, NULL, 'c' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "debug-dir", required_argument, NULL, 'g' },
	{ "debuginfod", required_argument, NULL, 'u' },
	{ "delay", required_argument, NULL, 'd' },
	{ "diff", no_argument, NULL, 'x' },
	{ "filter", required_argument, NULL, 'L' },
	{ "format", required_argument, NULL, 'E' },
	{ "function", required_argument, NULL, 'U' },
	{ "group", required_argument, NULL, 'G' },
	{ "header", no_argument, NULL, 'B' },
	{ "html", required_argument, NULL, 'H' },
	{ "input", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "kallsyms", required_argument, NULL, 'K' },
	{ "last", required_argument, NULL, 'W' },
	{ "midr", required_argument, NULL, 'M' },
	{ "number", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "pid", required_argument, NULL, 'p' },
	{ "program", required_argument, NULL, 'A' },
	{ "root", required_argument, NULL, 'R' },
	{ "seconds", required_argument, NULL, 'D' },
	{ "session", required_argument, NULL, 'N' },
	{ "since", required_argument, NULL, 'O' },
	{ "srcline", no_argument, NULL, 'S' },
	{ "sort", required_argument, NULL, 's' },
	{ "symfs", required_argument, NULL, 'y' },
	{ "threads", required_argument, NULL, 'Z' },
	{ "truth", required_argument, NULL, 'T' },
	{ "until", required_argument, NULL, 'X' },
	/* The old name of --last, accepted for one release. */
	{ "window", required_argument, NULL, 'W' },
	{ "lines", no_argument, NULL, 'I' },
	{ "pages", no_argument, NULL, 'P' },
	{ NULL, 0, NULL, 0 },
};

static int options_parse_number(const char *verb, const char *option, const char *text, u32 max,
				u32 *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value == 0 || value > max)
		return message_fail(STATUS_USAGE, "%s: %s \"%s\": should be a number from 1 to %u",
				    verb, option, text, max);
	*ret = value;
	return 0;
}

int options_parse_threads(const char *verb, const char *text, u32 *ret_threads)
{
	return options_parse_number(verb, "--threads", text, COUNT_THREADS_MAX, ret_threads);
}

static int options_set_threads(const char *verb, char *text, struct options *options)
{
	return options_parse_threads(verb, text, &options->threads);
}

static int options_set_seconds(const char *verb, char *text, struct options *options)
{
	return options_parse_number(verb, "--seconds", text, PPROF_SECONDS_MAX, &options->seconds);
}

static int options_set_delay(const char *verb, char *text, struct options *options)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value < 0.1 || value > 86400)
		return message_fail(STATUS_USAGE, "%s: -d \"%s\": should be 0.1 to 86400 seconds",
				    verb, text);
	options->delay = value;
	options->delay_given = true;
	return 0;
}

/* Parse NAME=PERCENT. */
static int options_set_known_share(const char *verb, char *text, struct options *options)
{
	struct known_share *share = &options->known_share[options->known_shares];
	char *equals = strrchr(text, '='), *end = NULL;
	double percent;

	if (options->known_shares == KNOWN_SHARES_MAX)
		return message_fail(STATUS_USAGE, "%s: --truth may be given %d times", verb,
				    KNOWN_SHARES_MAX);
	percent = equals ? strtod(equals + 1, &end) : -1;
	if (!equals || end == equals + 1 || *end || !(percent >= 0 && percent <= 100))
		return message_fail(STATUS_USAGE,
				    "%s: --truth \"%s\": should be NAME=PERCENT, 0 to 100", verb,
				    text);
	*equals = 0;
	share->name = text;
	share->percent = percent;
	options->known_shares++;
	return 0;
}

static int options_add_annotate(const char *verb, char *text, struct options *options)
{
	if (options->annotates == ANNOTATE_MAX)
		return message_fail(STATUS_USAGE, "%s: --annotate may be given %d times", verb,
				    ANNOTATE_MAX);
	options->annotate[options->annotates++] = text;
	return 0;
}

static int options_set_cpus(const char *verb, char *text, struct options *options)
{
	if (cpu_list_parse(text, &options->cpus) < 0 || !cpu_list_get_end(&options->cpus))
		return message_fail(STATUS_USAGE, "%s: -C \"%s\": should be CPUs, as in 0-3,8",
				    verb, text);
	options->cpus_given = true;
	return 0;
}

/* Parse a register of 32 bits, in the format of regs/identification/midr_el1 in sysfs. */
static int options_set_midr(const char *verb, char *text, struct options *options)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 16);
	if (errno || *text < '0' || *text > '9' || *end || value == 0 || value > UINT32_MAX)
		return message_fail(STATUS_USAGE,
				    "%s: --midr \"%s\": should be MIDR_EL1, as in 0x413fd0c1", verb,
				    text);
	options->midr = value;
	return 0;
}

static int options_set_filter(const char *verb, char *text, struct options *options)
{
	struct filter_error error = { 0 };
	int r;

	options->filter = filter_free(options->filter);
	r = filter_new(text, &options->filter, &error);
	options->filter_text = text;
	if (r >= 0)
		return 0;
	if (r != -EINVAL)
		return message_fail(STATUS_FAILED, "%s: --filter: %s", verb, strerror(-r));
	return message_fail(STATUS_USAGE, "%s: --filter, column %u: %s", verb, error.column,
			    error.text);
}

/*
 * options_set_past() reports an unknown text, because it knows whether the verb reads the history.
 */
static int options_set_last(const char *verb, char *text, struct options *options)
{
	(void)verb;
	options->last_text = text;
	options->past_last_us = 0;
	if (view_span_parse(text, &options->period) == 0)
		return 0;
	options->period = VIEW_SPAN_START;
	if (time_range_parse_length(text, &options->past_last_us) < 0)
		options->past_last_us = -1;
	return 0;
}

static int options_parse_point(const char *verb, const char *option, const char *text, s64 *ret_us)
{
	if (time_range_parse_point(text, (s64)time(NULL) * SECOND_US, ret_us) < 0)
		return message_fail(STATUS_USAGE, "%s: %s \"%s\": should be " TIME_RANGE_POINTS,
				    verb, option, text);
	/* The value 0 means that the option was not given. */
	*ret_us = *ret_us > 0 ? *ret_us : 1;
	return 0;
}

static int options_set_since(const char *verb, char *text, struct options *options)
{
	return options_parse_point(verb, "--since", text, &options->since_us);
}

static int options_set_until(const char *verb, char *text, struct options *options)
{
	return options_parse_point(verb, "--until", text, &options->until_us);
}

static int options_set_rows(const char *verb, char *text, struct options *options)
{
	return options_parse_number(verb, "-n", text, 10000, &options->number);
}

static int options_set_pid(const char *verb, char *text, struct options *options)
{
	u32 number = 0;
	int r = options_parse_number(verb, "-p", text, INT32_MAX, &number);

	if (r == 0)
		options->pid = number;
	return r;
}

static int options_set_srcline(const char *verb, char *text, struct options *options)
{
	(void)verb;
	(void)text;
	options->group_text = "line";
	return 0;
}

enum option_kind {
	OPTION_FLAG, /* sets a bool */
	OPTION_TEXT, /* sets a string */
	OPTION_READ, /* parsed by a function */
};

#define FLAG_OPTION(letter, field)                                         \
	{                                                                  \
		letter, OPTION_FLAG, offsetof(struct options, field), NULL \
	}
#define TEXT_OPTION(letter, field)                                         \
	{                                                                  \
		letter, OPTION_TEXT, offsetof(struct options, field), NULL \
	}
#define PARSED_OPTION(letter, read)          \
	{                                    \
		letter, OPTION_READ, 0, read \
	}

static const struct {
	int letter;
	enum option_kind kind;
	size_t field;
	int (*read)(const char *verb, char *text, struct options *options);
} takers[] = {
	FLAG_OPTION('b', batch),
	FLAG_OPTION('I', lines),
	FLAG_OPTION('j', json),
	FLAG_OPTION('P', pages),
	FLAG_OPTION('B', header),
	FLAG_OPTION('x', diff),
	TEXT_OPTION('c', container),
	TEXT_OPTION('i', input),
	TEXT_OPTION('U', function),
	TEXT_OPTION('Y', binary),
	TEXT_OPTION('A', program),
	TEXT_OPTION('G', group_text),
	TEXT_OPTION('s', sort_text),
	TEXT_OPTION('R', root),
	TEXT_OPTION('N', session),
	TEXT_OPTION('H', html),
	TEXT_OPTION('E', format),
	TEXT_OPTION('o', output),
	TEXT_OPTION('K', kallsyms),
	TEXT_OPTION('y', folders.symfs),
	TEXT_OPTION('g', folders.debug_dir),
	TEXT_OPTION('u', debuginfod),
	PARSED_OPTION('a', options_add_annotate),
	PARSED_OPTION('C', options_set_cpus),
	PARSED_OPTION('d', options_set_delay),
	PARSED_OPTION('L', options_set_filter),
	PARSED_OPTION('M', options_set_midr),
	PARSED_OPTION('O', options_set_since),
	PARSED_OPTION('X', options_set_until),
	PARSED_OPTION('n', options_set_rows),
	PARSED_OPTION('p', options_set_pid),
	PARSED_OPTION('S', options_set_srcline),
	PARSED_OPTION('T', options_set_known_share),
	PARSED_OPTION('W', options_set_last),
	PARSED_OPTION('D', options_set_seconds),
	PARSED_OPTION('Z', options_set_threads),
};

static int options_set_one(const char *verb, int letter, struct options *options)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(takers) && takers[i].letter != letter)
		i++;
	if (i == ARRAY_SIZE(takers))
		return STATUS_USAGE;
	switch (takers[i].kind) {
	case OPTION_FLAG:
		*(bool *)((char *)options + takers[i].field) = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)((char *)options + takers[i].field) = optarg;
		return 0;
	default:
		return takers[i].read(verb, optarg, options);
	}
}

/* Print an error about the option that getopt rejected. */
static int options_report_unknown(const char *verb, int letter, char **argv)
{
	const char *text = argv[optind - 1];

	if (letter == ':')
		return message_fail(STATUS_USAGE, "%s: \"%s\" needs a value", verb, text);
	if (optopt && strncmp(text, "--", 2) == 0 && strchr(text, '='))
		return message_fail(STATUS_USAGE, "%s: \"%s\": this option has no value", verb,
				    text);
	if (optopt)
		return message_fail(STATUS_USAGE,
				    "%s: unknown option \"-%c\"; try \"speprof help %s\"", verb,
				    optopt, verb);
	return message_fail(STATUS_USAGE, "%s: unknown option \"%s\"; try \"speprof help %s\"",
			    verb, text, verb);
}

static int options_parse_arguments(int argc, char **argv, const char *accept,
				   struct options *options)
{
	const char *verb = argv[0];
	int letter, index = 0, r;

	opterr = 0;
	optind = 0; /* needed because unit tests parse more than once in a process */
	while ((letter = getopt_long(argc, argv, ":bC:c:d:G:i:jn:o:p:s:", long_options, &index)) !=
	       -1) {
		if (letter == '?' || letter == ':')
			return options_report_unknown(verb, letter, argv);
		if (!strchr(accept, letter == 'X' ? 'O' : letter))
			return message_fail(STATUS_USAGE,
					    "%s: has no option \"%s\"; try \"speprof help %s\"",
					    verb, argv[optind - 1], verb);
		if (letter == 'W' && !strcmp(long_options[index].name, "window"))
			message_print(
				"%s: --window is called --last now; the old name works for one "
				"release",
				verb);
		r = options_set_one(verb, letter, options);
		if (r)
			return r;
	}
	if (optind < argc && strchr(accept, 'V'))
		options->function = argv[optind++];
	if (optind < argc && strchr(accept, 'F') && !options->input)
		options->input = argv[optind++];
	if (optind < argc && strchr(accept, 'J'))
		options->output = argv[optind++];
	if (optind < argc && strchr(accept, '2'))
		options->after = argv[optind++];
	if (optind < argc)
		return message_fail(STATUS_USAGE, "%s: unexpected argument \"%s\"", verb,
				    argv[optind]);
	return 0;
}

static int options_set_group(const char *verb, const char *text, struct options *options)
{
	struct query query = { .groups = 0 };
	struct query_error error;

	if (view_group_parse(text, &options->group) == 0)
		return 0;
	if (query_parse_group(text, &query, &error) < 0)
		return message_fail(STATUS_USAGE, "%s: -G %s", verb, error.text);
	return message_fail(STATUS_USAGE,
			    "%s: -G %s: should be " VIEW_GROUP_LIST "; \"speprof report -G %s\" has "
			    "other keys%s",
			    verb, text, text,
			    query_check(&query, &error) < 0 ? ", these of a recording" : "");
}

static int options_set_sort(const char *verb, const char *text, struct options *options)
{
	enum measure measure;

	if (view_sort_parse(text, &options->sort) == 0)
		return 0;
	if (measure_parse(text, &measure) == 0)
		return message_fail(STATUS_USAGE,
				    "%s: -s %s: should be " VIEW_SORT_LIST
				    "; \"speprof report -s %s\" has other measures, of all rows but "
				    "those of processes",
				    verb, text, text);
	return message_fail(STATUS_USAGE, "%s: -s \"%s\": should be " VIEW_SORT_LIST, verb, text);
}

/*
 * Check the options for rows of the daemon, some of which lack the name or the counter that an
 * option selects.
 */
static int options_check_daemon_rows(const char *verb, struct options *options)
{
	int r = options->group_text ? options_set_group(verb, options->group_text, options) : 0;

	if (r == 0 && options->sort_text)
		r = options_set_sort(verb, options->sort_text, options);
	if (r)
		return r;
	if (options->pid && options->group == VIEW_CONTAINER)
		return message_fail(
			STATUS_USAGE,
			"%s: -p: rows of containers have no process; group by another key", verb);
	if (options->container && options->group == VIEW_BINARY)
		return message_fail(
			STATUS_USAGE,
			"%s: -c: rows of binaries have no container; group by another key", verb);
	if (options->function || options->binary || options->program)
		return message_fail(STATUS_USAGE,
				    "%s: %s: these rows have no such name; \"speprof report\" has it "
				    "for rows by function",
				    verb,
				    options->function ? "--function" :
				    options->binary   ? "--binary" :
							"--program");
	return 0;
}

static bool shows_processes(const char *accept, const struct options *options)
{
	return !options->until_us && !strchr(accept, '2') && options->group_text &&
	       strcmp(options->group_text, "process") == 0;
}

/* Set and check the query over a recording or the daemon's profile. */
static int options_check_query(const char *verb, const char *accept, struct options *options)
{
	struct query *query = &options->query;
	struct query_error error;

	query->recording = options->input;
	query->session = options->session;
	query->period = options->period;
	query->since_us = options->since_us;
	query->until_us = options->until_us;
	query->select = (struct query_select){
		.container = options->container,
		.program = options->program,
		.binary = options->binary,
		.function = options->function,
	};
	if (query_parse_group(options->group_text ?: "function", query, &error) < 0)
		return message_fail(STATUS_USAGE, "%s: -G %s", verb, error.text);
	if (options->sort_text && measure_parse(options->sort_text, &query->sort) < 0)
		return message_fail(STATUS_USAGE, "%s: -s \"%s\": should be " MEASURE_LIST, verb,
				    options->sort_text);
	/* Rows of processes are not the result of a query, so there is no query to check. */
	if (shows_processes(accept, options))
		return 0;
	if (query_check(query, &error) < 0)
		return message_fail(STATUS_USAGE, "%s: %s", verb, error.text);
	return 0;
}

/*
 * Return whether the verb prints counters that a profile has for each program, and not for each
 * process.
 */
static bool options_counts_functions(const char *accept, const struct options *options)
{
	bool live_process = !options->input && options->group == VIEW_PROCESS;

	return (strchr(accept, 'G') && !live_process) || options->function || options->binary;
}

/*
 * Rows of a recording that are counted for each program have no PID: select samples instead of
 * rows.
 */
static int options_add_pid_filter(const char *verb, struct options *options)
{
	const char *text = options->filter_text ? options->filter_text : "";
	struct filter_error error = { 0 };
	char *both = NULL;
	int r;

	if (asprintf(&both, *text ? "pid == %d && (%s)" : "pid == %d%s", options->pid, text) < 0)
		return message_fail(STATUS_FAILED, "%s: %s", verb, strerror(ENOMEM));
	options->filter = filter_free(options->filter);
	r = filter_new(both, &options->filter, &error);
	free(both);
	if (r == -EINVAL)
		return message_fail(STATUS_USAGE, "%s: --filter: %s", verb, error.text);
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", verb, strerror(-r)) : 0;
}

/* Set the time in the history on disk that --since, --until and --last select. */
static int options_set_past(const char *verb, const char *accept, struct options *options)
{
	s64 last = options->past_last_us;

	/* The history has no shorter periods than a minute. */
	if (last && (!strchr(accept, 'O') || last < 60 * SECOND_US))
		return message_fail(
			STATUS_USAGE, "%s: --last \"%s\": should be 10s, 1m, 10m or start%s", verb,
			options->last_text,
			strchr(accept, 'O') ?
				", or at least 1m of the history on disk: " TIME_RANGE_LENGTHS :
				"");
	if (!last && !options->since_us && !options->until_us)
		return 0;
	if ((last || options->period != VIEW_SPAN_START) && options->since_us)
		return message_fail(STATUS_USAGE,
				    "%s: --last and --since cannot be combined; --until can", verb);
	if (options->period != VIEW_SPAN_START)
		return message_fail(STATUS_USAGE,
				    "%s: --last %s ends now: use --until with --since, or with a "
				    "longer --last",
				    verb, view_span_name(options->period));
	if (!options->until_us)
		options->until_us = (s64)time(NULL) * SECOND_US;
	if (last)
		options->since_us = last < options->until_us ? options->until_us - last : 1;
	if (options->since_us >= options->until_us)
		return message_fail(STATUS_USAGE, "%s: --since should be before --until", verb);
	if (options->filter || options->delay_given)
		return message_fail(STATUS_USAGE,
				    "%s: --filter samples from now on, and cannot be combined with "
				    "--since, --until and --last",
				    verb);
	return 0;
}

/* Check a directory in which the files of a recording are searched; @path is NULL if not given. */
static int options_check_folder(const char *verb, const char *option, const char *path,
				const char *content, const struct options *options)
{
	struct stat st;
	int error = 0;

	if (!path)
		return 0;
	if (!options->input)
		return message_fail(STATUS_USAGE,
				    "%s: %s needs a recording: the daemon finds names by itself",
				    verb, option);
	if (stat(path, &st) < 0)
		error = errno;
	else if (!S_ISDIR(st.st_mode))
		error = ENOTDIR;
	if (error)
		return message_fail(STATUS_UNREADABLE,
				    "%s: %s %s: %s: should be a directory with %s", verb, option,
				    path, strerror(error), content);
	return 0;
}

static int options_check_folders(const char *verb, const struct options *options)
{
	int r = options_check_folder(verb, "--symfs", options->folders.symfs,
				     "the files of the recorded machine, such as usr/bin/program",
				     options);

	return r ? r :
		   options_check_folder(verb, "--debug-dir", options->folders.debug_dir,
					"debug files, such as .build-id/ab/cdef.debug", options);
}

/* Set where files of a recording are downloaded: --debuginfod, or the environment. */
static int options_set_download(const char *verb, const char *accept, struct options *options)
{
	int r = 0;

	if (!strchr(accept, 'u'))
		return 0;
	if (options->debuginfod && !options->input)
		return message_fail(STATUS_USAGE,
				    "%s: --debuginfod needs a recording: the daemon has no network",
				    verb);
	if (options->debuginfod)
		r = debug_download_use_servers(verb, options->debuginfod);
	if (r == 0 && options->input)
		options->folders.download = debug_download_get();
	return r;
}

static int options_check(const char *verb, const char *accept, struct options *options)
{
	int r = options_set_past(verb, accept, options);
	/* An export of the daemon has the rows of views, as rows of processes do. */
	bool view = !options->input && !options->until_us &&
		    (shows_processes(accept, options) || strchr(accept, 'E'));

	if (r)
		return r;
	if (strchr(accept, 'Q') && !view && !options->lines && !options->pages)
		r = options_check_query(verb, accept, options);
	else if (strchr(accept, 'G'))
		r = options_check_daemon_rows(verb, options);
	if (r)
		return r;
	if (options->cpus_given && !options->input)
		return message_fail(
			STATUS_USAGE,
			"%s: -C needs a recording: the daemon's profile covers all CPUs", verb);
	if (options->header && !options->input)
		return message_fail(STATUS_USAGE,
				    "%s: --header needs a recording; \"speprof status\" has what "
				    "the daemon samples",
				    verb);
	if (options->kallsyms && (!options->input || !strcmp(options->input, "-")))
		return message_fail(STATUS_USAGE,
				    "%s: --kallsyms needs a recording in a file, which is read "
				    "twice",
				    verb);
	r = options_check_folders(verb, options);
	if (!r)
		r = options_set_download(verb, accept, options);
	if (r)
		return r;
	if (options->session && options->input)
		return message_fail(STATUS_USAGE,
				    "%s: --session applies to the daemon, not to a recording",
				    verb);
	if (options->delay_given && !options->filter && strchr(accept, 'F'))
		return message_fail(STATUS_USAGE,
				    "%s: -d says how long to sample with --filter; without "
				    "--filter, --last chooses a period",
				    verb);
	if (options->delay_given && options->input)
		return message_fail(STATUS_USAGE,
				    "%s: -d applies to the daemon, not to a recording", verb);
	if (options->midr && !options->input)
		return message_fail(STATUS_USAGE,
				    "%s: --midr needs a recording: the daemon knows its cores",
				    verb);
	if (options->pid && options_counts_functions(accept, options)) {
		if (options->input)
			return options_add_pid_filter(verb, options);
		return message_fail(
			STATUS_USAGE,
			"%s: -p: the daemon counts functions by program, so one process "
			"needs a recording, or --filter 'pid == %d', also of a session",
			verb, options->pid);
	}
	return 0;
}

int options_find_separator(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i;
	return 0;
}

int options_parse(int argc, char **argv, const char *accept, struct options *ret_options)
{
	struct options options = { .delay = 2, .root = "" };
	int status = options_parse_arguments(argc, argv, accept, &options);

	if (!status)
		status = options_check(argv[0], accept, &options);
	if (status) {
		filter_free(options.filter);
		return status;
	}
	*ret_options = options;
	return 0;
}

int options_parse_sides(int argc, char **argv, int separator, const char *accept_before,
			struct options *ret_before, const char *accept_after,
			struct options *ret_after)
{
	int status;

	argv[separator] = NULL;
	status = options_parse(separator, argv, accept_before, ret_before);
	argv[separator] = argv[0];
	if (status)
		return status;
	return options_parse(argc - separator, argv + separator, accept_after, ret_after);
}
