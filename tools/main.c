// SPDX-License-Identifier: LGPL-2.1-or-later
/* The main function of the command speprof, with the table of verbs */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/bus.h"
#include "lib/debug-download.h"
#include "lib/help.h"
#include "lib/message.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "speprof-version.h"
#include "verb.h"

static const struct verb verbs[] = {
	{
		.name = "status",
		.synopsis = "[-j]",
		.help = "show what the daemon samples, what that costs, and losses",
		.run = status_run,
	},
	{
		.name = "top",
		.synopsis = "[-b] [-d SEC] [-n N] [-G GROUP] [--srcline] [-s SORT] [-c CONTAINER] "
			    "[-p PID] [-j] [--last PERIOD] [--session NAME | --filter EXPRESSION]",
		.help = "live view; -b prints it instead",
		.run = top_run,
	},
	{
		.name = "summary",
		.synopsis =
			"[-j] [-c CONTAINER] [-p PID] [--function NAME] [--binary PATH] [-C CPUS] "
			"[--midr MIDR] [--filter EXPRESSION [-d SEC]] [--threads N] "
			"[--last PERIOD] [--session NAME] [--symfs DIR] [--debug-dir DIR] "
			"[--debuginfod URLS] [[-i] FILE]",
		.help = "show operations, events, latencies and data sources, also of one "
			"container or function",
		.run = summary_run,
	},
	{
		.name = "report",
		.synopsis =
			"[-j] [[-i] FILE] [-G KEYS] [--srcline] [-s MEASURE] [-n N] [-c CONTAINER] "
			"[-p PID] [--program NAME] [--binary PATH] [--function NAME] [-C CPUS] "
			"[--midr MIDR] [--filter EXPRESSION [-d SEC]] [--threads N] "
			"[--last PERIOD] [--since TIME] [--until TIME] [--session NAME] "
			"[--kallsyms FILE] [--symfs DIR] [--debug-dir DIR] [--debuginfod URLS] "
			"[--header] [--pages] [--html FILE] [--annotate FUNCTION]",
		.help = "list the heaviest functions, processes or containers, or any other rows",
		.run = report_run,
	},
	{
		.name = "sharing",
		.synopsis = "[-j] [[-i] FILE] [-n N] [-C CPUS] [--midr MIDR] [--session NAME] "
			    "[--kallsyms FILE] [--symfs DIR] [--debug-dir DIR] "
			    "[--debuginfod URLS]",
		.help = "list the cache lines that several threads share, and how to avoid that",
		.run = sharing_run,
	},
	{
		.name = "diff",
		.synopsis =
			"[-j] [-G KEYS] [--srcline] [-s MEASURE] [-n N] [-c CONTAINER] [-p PID] "
			"[--program NAME] [--binary PATH] [--function NAME] [-C CPUS] "
			"[--midr MIDR] [--filter EXPRESSION [-d SEC]] [--kallsyms FILE] "
			"[--symfs DIR] [--debug-dir DIR] [--debuginfod URLS] "
			"[--threads N] [--last PERIOD] [--since TIME] [--until TIME] "
			"[--session NAME] [--html FILE] BEFORE [AFTER] | [OPTIONS] [BEFORE] -- "
			"[OPTIONS] [AFTER]",
		.help = "compare two profiles, and show which differences exceed chance",
		.run = diff_run,
	},
	{
		.name = "save",
		.synopsis = "[-c CONTAINER] [--program NAME] [--binary PATH] [--function NAME] "
			    "[--filter EXPRESSION [-d SEC]] [--last PERIOD] [--since TIME] "
			    "[--until TIME] [--session NAME] FILE",
		.help = "save the daemon's profile, for report, diff and export on any machine",
		.run = save_run,
	},
	{
		.name = "export",
		.synopsis = "--format folded|csv|pprof|damo [[-i] FILE] [-o FILE] [-G KEYS] [--srcline] "
			    "[-s MEASURE] [-n N] [-c CONTAINER] [-p PID] [--program NAME] "
			    "[--binary PATH] [--function NAME] [-C CPUS] [--midr MIDR] "
			    "[--filter EXPRESSION [-d SEC]] [--threads N] [--last PERIOD] "
			    "[--since TIME] [--until TIME] [--session NAME] [--seconds N] "
			    "[--symfs DIR] [--debug-dir DIR] [--debuginfod URLS]",
		.help = "write a profile for flame graphs, spreadsheets, pprof or damo",
		.run = export_run,
	},
	{
		.name = "timeline",
		.synopsis =
			"[-j] [-G machine|container|program] [-s MEASURE] [-n N] [-c CONTAINER] "
			"[--program NAME] [--since TIME] [--until TIME] [--last TIME] "
			"[--step TIME]",
		.help = "show a measure over time, from the history on disk",
		.run = timeline_run,
	},
	{
		.name = "page",
		.synopsis = "[--token FILE] [URL]",
		.help = "print the URL of the live page of speprof-exporter, with its token",
		.run = page_run,
	},
	{
		.name = "annotate",
		.synopsis = "[-j] [-c NAME] [-p PID] [--program NAME] [--binary PATH] [-C CPUS] "
			    "[--midr MIDR] [--filter EXPRESSION] [-d SEC] [--threads N] "
			    "[--last PERIOD] [--session NAME] [--symfs DIR] [--debug-dir DIR] "
			    "[--debuginfod URLS] FUNCTION [FILE] | "
			    "--diff FUNCTION FILE FILE",
		.help = "print the instructions of a function with their samples, beside the "
			"source",
		.run = annotate_run,
	},
	{
		.name = "pgo",
		.synopsis = "--format bolt|pre-aggregated|brstack|autofdo [[-i] FILE] [-o FILE] "
			    "[--binary PATH] [-C CPUS] [--midr MIDR] [--filter EXPRESSION] "
			    "[--symfs DIR] | "
			    "check [-j] [-n N] [[-i] FILE] [--binary PATH] [-C CPUS] [--midr MIDR] "
			    "[--filter EXPRESSION] [--symfs DIR] | "
			    "merge -o FILE PROFILE PROFILE",
		.help = "write the branches of a program as a profile for BOLT or clang",
		.run = pgo_run,
	},
	{
		.name = "dump",
		.synopsis = "[--midr MIDR] [-i] FILE",
		.help = "print every packet of a recording, and what served loads and stores",
		.run = dump_run,
	},
	{
		.name = "record",
		.synopsis = "[-o FILE] [--format speprof|perf] [-d SEC] [-F N] [--emulate] "
			    "[--physical-addresses] [--models PAIRS] [-- COMMAND]",
		.help = "sample into a file, for some time or while a command runs",
		.run = record_run,
	},
	{
		.name = "cost",
		.synopsis = "[-j] [-n PAIRS] [--interval USEC] [--emulate] -- COMMAND",
		.help = "measure by how much sampling slows down a command",
		.run = cost_run,
	},
	{
		.name = "start",
		.synopsis = "",
		.help = "start sampling",
		.run = start_run,
	},
	{
		.name = "stop",
		.synopsis = "",
		.help = "stop sampling; the profile stays readable",
		.changes = true,
		.run = stop_run,
	},
	{
		.name = "reload",
		.synopsis = "",
		.help = "reload the daemon's configuration; fails if that is wrong",
		.changes = true,
		.run = reload_run,
	},
	{
		.name = "session",
		.synopsis = "[list [-j] | create NAME [--filter EXPRESSION] [--cgroup PATH]... "
			    "[--interval USEC] [--buffer BYTES] [--own | --shared] [--stopped] "
			    "[--physical-addresses] | "
			    "set NAME [--filter EXPRESSION] [--cgroup PATH]... [--everywhere] "
			    "[--interval USEC] | snapshot NAME -o FILE | "
			    "start | stop | reset | remove NAME]",
		.help = "list, create and change sessions: filters, cgroups, intervals",
		.run = session_run,
	},
	{
		.name = "snapshot",
		.synopsis = "[SESSION] -o FILE",
		.help = "save the last windows of a session with a buffer as a recording",
		.run = snapshot_run,
	},
	{
		.name = "container",
		.synopsis = "[-j] [-s SORT] [-n N] [NAME | CGROUP]",
		.help = "list containers, or show one in detail; without privileges, only your own",
		.run = container_run,
	},
	{
		.name = "list",
		.synopsis = "[-j]",
		.help = "list the SPU of each CPU, its features and its state",
		.run = list_run,
	},
	{
		.name = "takeover",
		.synopsis = "[--root DIR]",
		.help = "move the SPUs from the kernel's driver to speprof.ko",
		.changes = true,
		.run = takeover_run,
	},
	{
		.name = "release",
		.synopsis = "[--root DIR]",
		.help = "move the SPUs back to the kernel's driver",
		.changes = true,
		.run = release_run,
	},
	{
		.name = "module",
		.synopsis = "reload [--root DIR]",
		.help = "replace the loaded speprof.ko by the installed one, without a reboot",
		.changes = true,
		.run = module_run,
	},
	{
		.name = "doctor",
		.synopsis = "[-j] [--root DIR]",
		.help = "report why this machine cannot sample, or could do better, and the fix",
		.run = doctor_run,
	},
	{
		.name = "emulate",
		.synopsis = "[-j] [-o FILE] [-t FILE] SCRIPT | "
			    "--run [-j] [-o FILE] [--interval N] PROGRAM [ARGUMENT...]",
		.help = "run a script, or an aarch64 program, through an emulated SPU",
		.run = emulate_run,
	},
	{
		.name = "help",
		.synopsis = "[VERB]",
		.help = "list the verbs, or the options of one",
		.run = help_run,
	},
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* Return the Levenshtein distance of @a and @b, which have at most 31 bytes. */
static unsigned int compute_edit_distance(const char *a, const char *b)
{
	unsigned int row[32];
	size_t lb = strlen(b);

	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

const struct verb *verb_find_nearest(const char *name)
{
	const struct verb *nearest = NULL;
	unsigned int best = 4;

	if (strlen(name) > 31)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		unsigned int d = compute_edit_distance(name, verbs[i].name);

		if (d < best && d < strlen(verbs[i].name)) {
			best = d;
			nearest = &verbs[i];
		}
	}
	return nearest && !nearest->changes ? nearest : NULL;
}

int help_run(int argc, char **argv)
{
	size_t width, height;

	if (argc > 1) {
		const struct verb *verb = verb_find(argv[1]);

		if (!verb)
			return message_fail(STATUS_USAGE, "help: unknown verb \"%s\"", argv[1]);
		term_get_size(&width, &height);
		help_print(stdout, verb->name, verb->synopsis, verb->help, width);
		return STATUS_OK;
	}
	printf("speprof: profile which functions of which containers wait for memory\n\n"
	       "usage: speprof VERB [OPTIONS] [--bus ADDRESS]\n"
	       "       speprof                    the live view, on a terminal\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  %-9s  %s\n", verbs[i].name, verbs[i].help);
	printf("\n  -i FILE   a recording, perf.data, speprof's own or raw records; \"-\" is "
	       "standard input\n"
	       "  -G KEYS   rows by container, program, binary, function, line, mode, op, level "
	       "and "
	       "others,\n            as in container,level\n"
	       "  -s SORT   samples, latency, dram, remote and others: speprof(1)\n"
	       "  -j        JSON\n"
	       "  --bus ADDRESS   the bus of the daemon instead of the system bus; of each verb\n\n"
	       "\"speprof help VERB\" shows the options of a verb; speprof(1) has the rest.\n");
	return STATUS_OK;
}

static int run_main_option(const char *option)
{
	if (strcmp(option, "--version") == 0) {
		puts("speprof " SPEPROF_VERSION);
		return STATUS_OK;
	}
	if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
		return help_run(1, NULL);
	return message_fail(STATUS_USAGE, "unknown option \"%s\"; try \"speprof help\"", option);
}

/*
 * Return how many words of the command line, the verb among them, can be options of the verb. Words
 * after "--", and those of a program that the verb runs, are not; diff and annotate have options on
 * both sides of "--".
 */
static int count_option_words(const struct verb *verb, int argc, char **argv)
{
	bool runs_program = verb->run == record_run || verb->run == cost_run;
	bool two_sides = verb->run == diff_run || verb->run == annotate_run;
	int i = 1;

	for (; i < argc; i++) {
		if (verb->run == emulate_run && strcmp(argv[i], "--run") == 0)
			runs_program = true;
		if (strcmp(argv[i], "--") == 0 ? !two_sides : runs_program && argv[i][0] != '-')
			break;
	}
	return i;
}

static bool has_help_option(const struct verb *verb, int argc, char **argv)
{
	int words = count_option_words(verb, argc, argv);

	for (int i = 1; i < words; i++)
		if (strcmp(argv[i], "--help") == 0)
			return true;
	return false;
}

/*
 * Remove the option --bus from the first @words words, and use its address. argv[0] is the command
 * or the verb. Return 0 or an exit status.
 */
static int take_bus_option(int words, int *argc, char **argv)
{
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		if (i < words && strcmp(argv[i], "--bus") == 0) {
			if (i + 1 == words)
				return message_fail(STATUS_USAGE,
						    "\"--bus\" needs a value, the address of a bus");
			bus_set_address(argv[++i]);
		} else if (i < words && strncmp(argv[i], "--bus=", strlen("--bus=")) == 0)
			bus_set_address(argv[i] + strlen("--bus="));
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	*argc = kept;
	return 0;
}

static int run_verb(int argc, char **argv)
{
	const struct verb *verb = verb_find(argv[0]), *nearest;
	int status = verb ? take_bus_option(count_option_words(verb, argc, argv), &argc, argv) : 0;

	if (status)
		return status;
	if (verb && has_help_option(verb, argc, argv))
		return help_run(2, (char *[]){ NULL, argv[0] });
	if (verb)
		return verb->run(argc, argv);
	if (strcmp(argv[0], "pprof") == 0)
		return pprof_run(argc, argv);
	nearest = verb_find_nearest(argv[0]);
	if (nearest)
		return message_fail(STATUS_USAGE, "unknown verb \"%s\"; did you mean \"%s\"?",
				    argv[0], nearest->name);
	return message_fail(STATUS_USAGE, "unknown verb \"%s\"; \"speprof help\" lists them",
			    argv[0]);
}

int main(int argc, char **argv)
{
	int options = 1, status;

	/*
	 * Ignore SIGPIPE. If the reader of a pipe, such as head, has exited, a write then fails
	 * without a signal.
	 */
	signal(SIGPIPE, SIG_IGN);
	text_init();

	while (options < argc && strncmp(argv[options], "--bus", strlen("--bus")) == 0)
		options += strcmp(argv[options], "--bus") == 0 && options + 1 < argc ? 2 : 1;
	status = take_bus_option(options, &argc, argv);
	if (status)
		return message_finish_output(status);
	if (argc > 1 && argv[1][0] == '-')
		status = run_main_option(argv[1]);
	else if (argc > 1)
		status = run_verb(argc - 1, argv + 1);
	else if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		status = live_run(1, argv);
	else
		status = help_run(1, argv);
	debug_download_finish();
	return message_finish_output(status);
}
