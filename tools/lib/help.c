// SPDX-License-Identifier: LGPL-2.1-or-later
#include "help.h"

#include "text.h"
#include "view/view.h"

/**
 * struct option_help - an option
 * @verb: the verb to which the description applies; NULL: all others
 * @option: the option as a synopsis contains it
 * @names: all names of the option, and its argument
 * @text: what it does
 */
struct option_help {
	const char *verb;
	const char *option;
	const char *names;
	const char *text;
};

/* The description of --last of verbs that read the history on disk. */
#define LAST_OR_PAST                                                                              \
	"of the daemon: the last 10s, 1m or 10m; from the history on disk another time, such as " \
	"2h or 7d"
#define FILTER_SECONDS "of the daemon with --filter: sample for SEC seconds, else 10"

static const struct option_help options[] = {
	{ NULL, "-j", "-j, --json", "print JSON" },
	{ NULL, "-i", "-i, --input FILE",
	  "a recording: perf.data, speprof's own or raw records; \"-\" is standard input. Or a "
	  "saved profile" },
	{ NULL, "-G", "-G, --group KEYS",
	  "what a row is: keys with commas between them, of container, program, binary, build_id, "
	  "function, line, instruction, mode, op, event, level; of a recording also comm, pid, "
	  "cpu, node, type, field. Alone: function (the default), line, program, process. With "
	  "--last not op, event and level" },
	{ "top", "-G", "-G, --group GROUP", "what a row is: " VIEW_GROUP_LIST },
	{ NULL, "--srcline", "--srcline", "the same as -G line" },
	{ NULL, "-s", "-s, --sort MEASURE",
	  "sort by operations (the default), samples, latency, mean, p50, p99, dram, remote, "
	  "memory, "
	  "loads, stores, branches, mispredicted, or the name of a level or event" },
	{ "timeline", "-s", "-s, --sort MEASURE",
	  "show operations (the default), samples, latency, mean, p50, p99, memory, dram, remote, "
	  "branches or mispredicted" },
	{ "timeline", "-G", "-G, --group GROUP",
	  "machine (the default), or a line for each container or program" },
	{ "timeline", "-n", "-n, --number N", "print at most N lines, the heaviest" },
	{ "timeline", "-c", "-c, --container NAME",
	  "only this container, by name or cgroup path; may be a glob" },
	{ "timeline", "--program", "--program NAME",
	  "only this executable, by name or path; may be a glob" },
	{ "diff", "-s", "-s, --sort MEASURE",
	  "sort by the change of latency (the default), operations, dram, or another sum" },
	{ "top", "-s", "-s, --sort SORT",
	  "sort by samples (the default), latency, dram, p99, ..." },
	{ "container", "-s", "-s, --sort SORT",
	  "sort by samples (the default), latency, memory, dram, remote, branches, mispredicted or "
	  "p99" },
	{ NULL, "-n", "-n, --number N", "print at most N rows" },
	{ "top", "-n", "-n, --number N", "with -b: print N views" },
	{ "cost", "-n", "-n PAIRS", "run the command PAIRS times with sampling, and without" },
	{ NULL, "-c", "-c, --container NAME",
	  "only this container, by its name or cgroup path; may be a glob" },
	{ "top", "-c", "-c, --container NAME", "only this container, by its name; may be a glob" },
	{ NULL, "-p", "-p, --pid PID", "only this process" },
	{ NULL, "--program", "--program NAME",
	  "only this executable, by its name or path; may be a glob" },
	{ NULL, "--binary", "--binary PATH",
	  "only code of this file, by its path or the last part of it, or of one build of it, by "
	  "build-id:GLOB; may be a glob" },
	{ "summary", "--binary", "--binary PATH",
	  "only code of this file, by its path or the last part of it; may be a glob" },
	{ NULL, "--function", "--function NAME", "only this function; may be a glob" },
	{ NULL, "-C", "-C, --cpu CPUS", "of a recording: only these CPUs, such as 0-3,8" },
	{ NULL, "--midr", "--midr MIDR",
	  "MIDR_EL1 of the cores, such as 0x413fd0c1, if the recording does not have it" },
	{ NULL, "--filter", "--filter EXPRESSION",
	  "only samples that match, such as 'op == load && latency.total > 200'" },
	{ "summary", "-d", "-d SEC", FILTER_SECONDS },
	{ "report", "-d", "-d SEC", FILTER_SECONDS },
	{ "diff", "-d", "-d SEC", FILTER_SECONDS },
	{ "save", "-d", "-d SEC", FILTER_SECONDS },
	{ "annotate", "-d", "-d SEC", FILTER_SECONDS },
	{ "annotate", "--diff", "--diff",
	  "compare two recordings, or two profiles with \"--\" between their options" },
	{ "export", "-d", "-d SEC", FILTER_SECONDS },
	{ NULL, "--session", "--session NAME",
	  "of the daemon: this session instead of machine; \"speprof session\" lists them" },
	{ NULL, "--threads", "--threads N",
	  "of a recording: count with N threads, by default one for each CPU" },
	{ NULL, "--last", "--last PERIOD", "of the daemon: the last 10s, 1m or 10m" },
	{ NULL, "--header", "--header",
	  "of a recording: print host, kernel, command, time, cores, interval and build ids" },
	{ NULL, "--kallsyms", "--kallsyms FILE",
	  "of a recording: names of its kernel, a copy of /proc/kallsyms of that boot" },
	{ NULL, "--symfs", "--symfs DIR",
	  "of a recording: search its programs, libraries and debug data below DIR, a copy of the "
	  "root directory of its machine" },
	{ "pgo", "--symfs", "--symfs DIR",
	  "search the program or library below DIR, a copy of the root directory of the recorded "
	  "machine" },
	{ NULL, "--debug-dir", "--debug-dir DIR",
	  "of a recording: search debug files first in DIR, as .build-id/ab/cdef.debug" },
	{ NULL, "--debuginfod", "--debuginfod URLS",
	  "of a recording: download programs and debug files that are not found from these "
	  "debuginfod servers; by default those of DEBUGINFOD_URLS" },
	{ "report", "--last", "--last PERIOD", LAST_OR_PAST },
	{ "diff", "--last", "--last PERIOD", LAST_OR_PAST },
	{ "save", "--last", "--last PERIOD", LAST_OR_PAST },
	{ "export", "--last", "--last PERIOD", LAST_OR_PAST },
	{ "timeline", "--last", "--last TIME",
	  "the time before now, such as 30m, 12h or 7d; by default 1h" },
	{ NULL, "--since", "--since TIME",
	  "from this time: HH:MM, YYYY-MM-DD, 'YYYY-MM-DD HH:MM', yesterday, -2h or @SECONDS" },
	{ NULL, "--until", "--until TIME", "up to this time, by default now" },
	{ NULL, "--step", "--step TIME", "time of a point, at least 1m" },
	{ NULL, "--lines", "--lines", "the old name of \"speprof sharing\"" },
	{ "sharing", "-n", "-n, --number N", "list at most N lines, 10 by default" },
	{ NULL, "--pages", "--pages", "print pages and NUMA nodes instead of rows; of a recording also hot, cold and misplaced "
	  "pages and candidates for huge pages of each container" },
	{ NULL, "--html", "--html FILE", "write the report or comparison as one HTML page" },
	{ NULL, "--annotate", "--annotate FUNCTION",
	  "add the instructions and source lines of this function to the page; may be a glob, and "
	  "given 16 times" },
	{ NULL, "-b", "-b, --batch", "print views instead of drawing them" },
	{ NULL, "-d", "-d, --delay SEC", "seconds between two views" },
	{ "record", "-d", "-d SEC", "record for SEC seconds" },
	{ NULL, "-o", "-o, --output FILE", "file to write; \"-\" is standard output" },
	{ "emulate", "-o", "-o FILE", "write the raw records; with --run, the recording" },
	{ "emulate", "--run", "--run",
	  "run an aarch64 program by QEMU; options after it are its own" },
	{ "emulate", "--interval", "--interval N",
	  "instructions between two samples: 1, or a multiple of 256" },
	{ NULL, "-t", "-t FILE", "write each recorded operation as a script" },
	{ NULL, "--format", "--format speprof|perf", "format of the file" },
	{ "export", "--format", "--format FORMAT",
	  "folded: stacks of container, program, binary and function for a flame graph; csv: rows "
	  "with all measures; pprof: for go tool pprof, compressed; damo: pages of each process of a "
	  "recording, for damo" },
	{ "pgo", "--format", "--format FORMAT",
	  "bolt: for llvm-bolt, by functions; pre-aggregated: for perf2bolt --pa, by addresses; "
	  "autofdo: for clang -fprofile-sample-use, by functions and lines; brstack: for "
	  "llvm-profgen --perfscript, by addresses" },
	{ "pgo", "--binary", "--binary PATH",
	  "the program or library to optimise, by its path, the last part of it, its build id, or "
	  "build-id:GLOB; by default the one with most branches" },
	{ "pgo", "-j", "-j, --json", "with check: print JSON" },
	{ "pgo", "-n", "-n, --number N", "with check: print at most N functions, by default 20" },
	{ "pgo", "-o", "-o, --output FILE",
	  "file to write; \"-\" is standard output, the default" },
	{ "export", "-o", "-o, --output FILE",
	  "file to write; \"-\" is standard output, the default except for pprof" },
	{ "export", "-G", "-G, --group KEYS",
	  "of folded and csv: what a row is; keys with commas between them, of container, program, "
	  "binary, build_id, function, line, instruction, mode, op, event, level" },
	{ "export", "-s", "-s, --sort MEASURE",
	  "of folded: the width of frames; of csv: the order of rows. Operations (the default), "
	  "samples, latency, dram, remote, memory, or the name of a level or event" },
	{ "export", "-n", "-n, --number N", "write at most N rows; all by default" },
	{ "export", "--seconds", "--seconds N",
	  "of pprof: profile the next N seconds by the daemon; 10 by default" },
	{ NULL, "-F", "-F, --frequency N", "samples of each CPU in a second" },
	{ NULL, "--emulate", "--emulate",
	  "sample by an emulated SPU: programs true, latencies modelled" },
	{ NULL, "--physical-addresses", "--physical-addresses",
	  "record physical addresses too; needs privileges" },
	{ NULL, "--models", "--models PAIRS",
	  "how the emulated SPU models programs, as PROGRAM=MODEL" },
	{ NULL, "--interval", "--interval USEC", "microseconds between two samples of a CPU" },
	{ NULL, "--cgroup", "--cgroup PATH", "sample only tasks of this cgroup; may be repeated" },
	{ NULL, "--everywhere", "--everywhere", "sample tasks of all cgroups again" },
	{ NULL, "--buffer", "--buffer BYTES", "keep the last windows, for a snapshot" },
	{ NULL, "--own", "--own", "sample by rings of its own" },
	{ NULL, "--shared", "--shared", "share the samples of the session \"machine\"" },
	{ NULL, "--stopped", "--stopped", "do not start it yet" },
	{ NULL, "--seconds", "--seconds N", "profile the next N seconds" },
	{ "page", "--token", "--token FILE",
	  "file with the token; /etc/credstore/speprof-exporter.page-token by default" },
	{ NULL, "--root", "--root DIR", "examine this directory instead of /" },
};

/* Commands that open the file that a verb writes. */
static const struct {
	const char *verb;
	const char *line[5];
} openers[] = {
	{ "export",
	  { "folded  flamegraph.pl a.folded >a.svg", "        inferno-flamegraph a.folded >a.svg",
	    "        speedscope a.folded (or drop the file on https://www.speedscope.app)",
	    "csv     libreoffice --calc a.csv", "pprof   go tool pprof -http=: a.pb.gz" } },
	{ "pgo",
	  { "pre-aggregated  perf2bolt --pa -p a.preagg -o a.fdata program",
	    "bolt            llvm-bolt program -data a.fdata -o program.bolt" } },
};

static const struct {
	const char *verb;
	const char *line[2];
} examples[] = {
	{ "status", { "speprof status", "speprof status -j" } },
	{ "top", { "speprof top -G container", "speprof top -b -n 1 -s dram" } },
	{ "summary", { "speprof summary -c web --last 1m", "speprof summary -i perf.data" } },
	{ "report",
	  { "speprof report -G container,level -s latency -i perf.data",
	    "speprof report -c 'web-*' --last 10s" } },
	{ "diff",
	  { "speprof diff before.speprof after.speprof",
	    "speprof diff --since 13:00 --until 14:00 -- --last 1h" } },
	{ "sharing", { "speprof sharing a.speprof", "speprof sharing --session web -n 3" } },
	{ "save",
	  { "speprof save before.json", "speprof save --since yesterday --until today day.json" } },
	{ "export",
	  { "speprof export --format folded -s latency a.speprof -o a.folded",
	    "speprof export --format pprof --seconds 30 -o a.pb.gz" } },
	{ "timeline",
	  { "speprof timeline -c web -s p99 --since yesterday",
	    "speprof timeline -G container -s dram --last 7d" } },
	{ "page", { "speprof page", "speprof page https://db7.example.com:9763" } },
	{ "annotate",
	  { "speprof annotate --binary libc.so.6 'mem*' a.speprof",
	    "speprof annotate --diff hash_search before.speprof after.speprof" } },
	{ "pgo",
	  { "speprof pgo check a.speprof",
	    "speprof pgo --format pre-aggregated a.speprof -o a.preagg" } },
	{ "dump", { "speprof dump perf.data", "speprof dump --midr 0x410fd0c0 -i records.raw" } },
	{ "record",
	  { "speprof record -d 10 -o a.speprof",
	    "speprof record --emulate -o a.speprof -- make" } },
	{ "cost", { "speprof cost -- make", "speprof cost -n 20 --interval 1000 -- make" } },
	{ "start", { "speprof start", "speprof --bus unix:path=/run/speprof/bus start" } },
	{ "stop", { "speprof stop", "speprof --bus unix:path=/run/speprof/bus stop" } },
	{ "reload", { "speprof reload", "speprof --bus unix:path=/run/speprof/bus reload" } },
	{ "session",
	  { "speprof session create slow --filter 'latency.total > 500'",
	    "speprof session remove slow" } },
	{ "snapshot",
	  { "speprof snapshot -o before.speprof", "speprof snapshot recorder -o before.speprof" } },
	{ "container", { "speprof container -s dram -n 10", "speprof container web" } },
	{ "list", { "speprof list", "speprof list -j" } },
	{ "takeover", { "speprof takeover", "speprof takeover --root /mnt" } },
	{ "release", { "speprof release", "speprof release --root /mnt" } },
	{ "module", { "speprof module reload", "speprof module reload --root /mnt" } },
	{ "doctor", { "speprof doctor", "speprof doctor -j" } },
	{ "emulate",
	  { "speprof emulate -o records.raw script",
	    "speprof emulate --run -o a.speprof ./program" } },
	{ "help", { "speprof help", "speprof help report" } },
};

/* Print words, wrapped at @width. The first line begins at @column, the others at @indent. */
static void print_wrapped(FILE *out, const char *text, size_t column, size_t indent, size_t width)
{
	bool first = true;

	while (*text) {
		/* Do not wrap within an optional argument in brackets. */
		size_t length = *text == '[' ? strcspn(text, "]") + 1 : strcspn(text, " ");

		length += strcspn(text + length, " ");
		if (!first && column + 1 + length > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
		first = false;
	}
	fputc('\n', out);
}

/* Find the next option in a synopsis. Return its length; 0 after the last option. */
static size_t find_next_option(const char **at)
{
	const char *p = *at;
	size_t length;

	for (; *p; p++) {
		if (*p != '-' || (p != *at && p[-1] != ' ' && p[-1] != '['))
			continue;
		length = strspn(p, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (length == 2 && p[1] == '-')
			continue;
		*at = p;
		return length;
	}
	return 0;
}

static const struct option_help *option_find(const char *verb, const char *name, size_t length)
{
	const struct option_help *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option_help *o = &options[i];

		if (strlen(o->option) != length || memcmp(o->option, name, length) != 0)
			continue;
		if (o->verb && strcmp(o->verb, verb) == 0)
			return o;
		if (!o->verb)
			found = o;
	}
	return found;
}

#define NAMES_WIDTH 24

static void print_option(FILE *out, const struct option_help *o, size_t width)
{
	if (text_get_width(o->names) < NAMES_WIDTH - 1)
		fprintf(out, "  %-*s", NAMES_WIDTH, o->names);
	else
		fprintf(out, "  %s\n%*s", o->names, NAMES_WIDTH + 2, "");
	print_wrapped(out, o->text, NAMES_WIDTH + 2, NAMES_WIDTH + 2, width);
}

static void print_options(FILE *out, const char *verb, const char *synopsis, size_t width)
{
	const struct option_help *shown[ARRAY_SIZE(options)];
	const char *at = synopsis;
	size_t count = 0, length;

	for (; (length = find_next_option(&at)); at += length) {
		const struct option_help *o = option_find(verb, at, length);
		size_t i = 0;

		while (i < count && shown[i] != o)
			i++;
		if (!o || i < count)
			continue;
		if (!count)
			fprintf(out, "\nOptions:\n");
		shown[count++] = o;
		print_option(out, o, width);
	}
}

static void print_open_commands(FILE *out, const char *verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
		if (strcmp(openers[i].verb, verb) != 0)
			continue;
		fprintf(out, "\nOpen a file of the format\n");
		for (size_t j = 0; j < ARRAY_SIZE(openers[i].line) && openers[i].line[j]; j++)
			fprintf(out, "  %s\n", openers[i].line[j]);
	}
}

void help_print(FILE *out, const char *verb, const char *synopsis, const char *help, size_t width)
{
	size_t indent = strlen("usage: speprof ") + strlen(verb) + 1;

	width = width ? width : SIZE_MAX;
	fprintf(out, "usage: speprof %s%s", verb, *synopsis ? " " : "");
	print_wrapped(out, synopsis, indent, indent, width);
	fprintf(out, "\n%s.\n", help);
	print_options(out, verb, synopsis, width);
	print_open_commands(out, verb);
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
		if (strcmp(examples[i].verb, verb) == 0)
			fprintf(out, "\nExamples:\n  %s\n  %s\n", examples[i].line[0],
				examples[i].line[1]);
}
