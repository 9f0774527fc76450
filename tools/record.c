// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof record: sample in this process, for some time or while a command runs, and write all
 * windows and events to a file.
 */
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attribution/procfs.h"
#include "lib/kernel-functions.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/text.h"
#include "live-source.h"
#include "profile/cache-lines.h"
#include "record-build-ids.h"
#include "recording/recorder.h"
#include "tasks/task-events.h"
#include "util/time.h"
#include "verb.h"

#define SECOND_NS      1000000000ULL
#define PER_SECOND_DEFAULT 4000
#define PER_SECOND_MAX (SECOND_NS / 10000)

/**
 * struct record_job - a recording that is being made
 * @seconds: duration of sampling; 0: no limit
 * @command: command to run meanwhile; NULL: none
 * @signals: signalfd of signals that end the recording, and of SIGCHLD
 * @child: PID of the command; 0: there is none, or it has exited
 * @gate: pipe that is closed to start the command
 * @output: the file @path
 * @source_error: last error of the source, a negative errno; printed once
 * @switches: whether context switches are recorded
 * @no_switches: why context switches are not recorded, as a sentence; "": they are, or are not
 * needed
 * @cpus_stopped: number of CPUs that should have been sampled at the end, but were not
 * @stopped_by: a sentence: why these CPUs were not sampled
 */
struct record_job {
	enum recorder_format format;
	const char *path;
	double seconds;
	u32 per_second;
	const char *models;
	bool emulate;
	bool physical;
	char **command;
	struct source *source;
	struct task_events *tasks;
	struct recorder *recorder;
	struct record_build_ids *builds;
	struct source_sink sink;
	struct output_file output;
	int signals;
	sigset_t old_signals;
	pid_t child;
	int child_status;
	int gate;
	int source_error;
	bool switches;
	char no_switches[384];
	u32 cpus_stopped;
	char stopped_by[96];
	bool ended;
};

static int parse_seconds(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value < 0.1 || value > 86400)
		return message_fail(STATUS_USAGE,
				    "record: -d \"%s\": should be 0.1 to 86400 seconds", text);
	*ret = value;
	return 0;
}

static int parse_rate(const char *text, u32 *ret)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > PER_SECOND_MAX)
		return message_fail(
			STATUS_USAGE,
			"record: -F \"%s\": should be samples a second of each CPU, 1 to %llu",
			text, PER_SECOND_MAX);
	*ret = (u32)value;
	return 0;
}

static int parse_format(const char *text, enum recorder_format *ret)
{
	if (strcmp(text, "perf") && strcmp(text, "speprof"))
		return message_fail(STATUS_USAGE,
				    "record: --format \"%s\": should be speprof or perf", text);
	*ret = strcmp(text, "perf") ? RECORDER_NATIVE : RECORDER_PERF;
	return 0;
}

static int parse_option(int letter, char **argv, struct record_job *record)
{
	switch (letter) {
	case 'd':
		return parse_seconds(optarg, &record->seconds);
	case 'F':
		return parse_rate(optarg, &record->per_second);
	case 'f':
		return parse_format(optarg, &record->format);
	case 'o':
		record->path = optarg;
		return 0;
	case 'e':
		record->emulate = true;
		return 0;
	case 'm':
		record->models = optarg;
		return 0;
	case 'P':
		record->physical = true;
		return 0;
	case ':':
		return message_fail(STATUS_USAGE, "record: \"%s\" needs a value", argv[optind - 1]);
	default:
		return message_fail(STATUS_USAGE,
				    "record: unknown option \"%s\"; try \"speprof help record\"",
				    argv[optind - 1]);
	}
}

static int record_parse_options(int argc, char **argv, struct record_job *record)
{
	static const struct option options[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "emulate", no_argument, NULL, 'e' },
		{ "format", required_argument, NULL, 'f' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "models", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "physical-addresses", no_argument, NULL, 'P' },
		{ 0 },
	};
	int letter, status;

	opterr = 0;
	optind = 0;
	/* "+": getopt stops at the command, because the options after it belong to the command. */
	while ((letter = getopt_long(argc, argv, "+:d:F:o:", options, NULL)) != -1) {
		status = parse_option(letter, argv, record);
		if (status)
			return status;
	}
	if (optind < argc)
		record->command = argv + optind;
	if (!record->command && !record->seconds)
		return message_fail(STATUS_USAGE, "record: needs -d SECONDS or -- COMMAND");
	if (!record->path)
		record->path = record->format == RECORDER_PERF ? "perf.data" : "speprof.data";
	if (!strcmp(record->path, "-") && record->format == RECORDER_PERF)
		return message_fail(STATUS_USAGE,
				    "record: -o -: a perf.data cannot go to a pipe; name a file");
	return 0;
}

static struct source_config make_source_config(const struct record_job *record)
{
	return (struct source_config){
		.interval_ns = SECOND_NS / record->per_second,
		.jitter = true,
		.kernel = true,
		.user = true,
		.physical = record->physical,
		.models = record->models,
	};
}

/*
 * Record context switches. From these, a report finds the task of a sample without a Context
 * packet in its record. With perf, only the records show whether they have such packets, so a
 * failure is reported after sampling.
 */
static void record_context_switches(struct record_job *record, const char *reason)
{
	const char *why = reason;

	if (record->tasks && task_events_start_switch_events(record->tasks, &why) >= 0)
		record->switches = true;
	else
		snprintf(record->no_switches, sizeof(record->no_switches), "%s", why);
}

static int open_source(struct record_job *record)
{
	const struct source_config config = make_source_config(record);
	struct task_events_status tasks;
	int status = live_source_open("record", &config, record->emulate, &record->source);

	if (status)
		return status;
	/* Use only perf's side band, because only its task events can be recorded. */
	if (task_events_new(TASK_EVENTS_PERF, NULL, &record->tasks, &tasks) < 0)
		message_print("record: tasks that start during the recording will have no name: %s",
			      tasks.reason);
	if (source_get_contexts(record->source) != SOURCE_CONTEXTS_ALL)
		record_context_switches(record, tasks.reason);
	return 0;
}

/* Join the arguments for the recording; a longer text is truncated. */
static void join_command_line(int argc, char **argv, char *line, size_t size)
{
	size_t at = (size_t)snprintf(line, size, "speprof");

	for (int i = 0; i < argc && at < size; i++)
		at += (size_t)snprintf(line + at, size - at, " %s", argv[i]);
}

static int open_recording(struct record_job *record, int argc, char **argv)
{
	char line[900];
	struct recorder_config config = {
		.format = record->format,
		.backend = record->source->backend,
		.cpus = record->source->cpus,
		.line_size = hot_lines_read_size("/sys"),
		.command = line,
	};
	struct numa_nodes nodes = { 0 };
	int r = numa_nodes_read("/sys", &nodes);

	config.nodes = &nodes;
	join_command_line(argc, argv, line, sizeof(line));
	if (r >= 0)
		r = output_open(record->path, 0600, &record->output);
	if (r >= 0)
		r = recorder_new(record->output.fd, &config, &record->recorder);
	numa_nodes_deinit(&nodes);
	if (r < 0)
		return message_fail(STATUS_FAILED, "record: %s: cannot be written: %s",
				    record->path, strerror(-r));
	record->sink = recorder_make_sink(record->recorder);
	r = record_build_ids_new(&record->sink, &record->builds);
	if (r < 0)
		return message_fail(STATUS_FAILED, "record: %s", strerror(-r));
	record->sink = record_build_ids_get_sink(record->builds);
	return 0;
}

/* In the child, wait until sampling has begun, then execute the command. */
static void __attribute__((noreturn)) command_exec(struct record_job *record, int gate, int report)
{
	char byte;
	int error;

	if (read(gate, &byte, 1) < 0)
		_exit(127);
	sigprocmask(SIG_SETMASK, &record->old_signals, NULL);
	signal(SIGPIPE, SIG_DFL);
	/*
	 * If the recording is written to standard output, the output of the command must not mix
	 * with it.
	 */
	if (strcmp(record->path, "-") == 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(127);
	execvp(record->command[0], record->command);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * Fork the command, which waits for the gate. @ret_report: pipe that delivers the errno if exec
 * fails.
 */
static int command_fork(struct record_job *record, int *ret_report)
{
	int gate[2], report[2];

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(report, O_CLOEXEC) < 0) {
		close(gate[0]);
		close(gate[1]);
		return -errno;
	}
	record->child = fork();
	if (record->child == 0) {
		close(gate[1]);
		command_exec(record, gate[0], report[1]);
	}
	close(gate[0]);
	close(report[1]);
	record->gate = gate[1];
	*ret_report = report[0];
	return record->child < 0 ? -errno : 0;
}

/* Let the forked command execute. If exec succeeds, @report is closed without a byte. */
static int command_release(struct record_job *record, int report)
{
	int error = 0;

	close(record->gate);
	record->gate = -1;
	if (read(report, &error, sizeof(error)) != sizeof(error))
		return 0;
	return message_fail(STATUS_FAILED, "record: %s: cannot be run: %s", record->command[0],
			    strerror(error));
}

static void write_task_events(struct record_job *record, u64 until_ns)
{
	const struct task_sink sink = { .task = record->sink.task, .ctx = record->sink.ctx };

	if (record->tasks)
		task_events_deliver(record->tasks, until_ns, &sink);
}

static void write_window(void *ctx, const struct source_window *window)
{
	struct record_job *record = ctx;

	/* Write task events from before the end of the window first. */
	write_task_events(record, window->end_ns);
	record->sink.window(record->sink.ctx, window);
}

static int record_drain(struct record_job *record)
{
	const struct source_sink sink = { .window = write_window, .ctx = record };
	int r = record->source->ops->drain(record->source, &sink);

	write_task_events(record, 0);
	if (record->switches && source_get_contexts(record->source) == SOURCE_CONTEXTS_ALL) {
		task_events_stop_switches(record->tasks);
		record->switches = false;
	}
	if (r < 0 && !record->source_error)
		message_print("record: the source's data are damaged or incomplete: %s",
			      strerror(-r));
	if (r < 0)
		record->source_error = r;
	return recorder_get_error(record->recorder);
}

static void read_signal(struct record_job *record)
{
	struct signalfd_siginfo info;

	if (read(record->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGCHLD) {
		record->ended = true;
		return;
	}
	if (record->child > 0 &&
	    waitpid(record->child, &record->child_status, WNOHANG) == record->child) {
		record->child = 0;
		record->ended = true;
	}
}

static int sample_until_end(struct record_job *record)
{
	struct pollfd fds[] = {
		{ .fd = record->signals, .events = POLLIN },
		{ .fd = record->source->ops->fd(record->source), .events = POLLIN },
		{ .fd = record->tasks ? task_events_get_fd(record->tasks) : -1, .events = POLLIN },
	};
	u64 begin = time_now_ns(), now = begin, checked = begin;
	u64 end = record->seconds ? begin + (u64)(record->seconds * 1e9) : UINT64_MAX;
	u64 left;
	int r = 0;

	while (!r && !record->ended && now < end) {
		left = (end - now) / 1000000 + 1;
		if (poll(fds, ARRAY_SIZE(fds), left < 1000 ? (int)left : 1000) < 0 &&
		    errno != EINTR)
			return -errno;
		if (fds[0].revents)
			read_signal(record);
		if (fds[1].revents || fds[2].revents)
			r = record_drain(record);
		now = time_now_ns();
		if (record->tasks && now - checked >= SECOND_NS) {
			task_events_follow_hotplug(record->tasks);
			checked = now;
		}
	}
	return r;
}

static void command_terminate(struct record_job *record)
{
	/*
	 * Send SIGTERM before closing the gate, so that a child that waits for it ends before
	 * exec.
	 */
	if (record->child > 0)
		kill(record->child, SIGTERM);
	if (record->gate >= 0)
		close(record->gate);
	record->gate = -1;
}

/* Wait until the command has exited. If it ignores SIGTERM, a second signal ends this process. */
static void command_wait(struct record_job *record)
{
	if (record->child <= 0)
		return;
	sigprocmask(SIG_SETMASK, &record->old_signals, NULL);
	while (waitpid(record->child, &record->child_status, 0) < 0 && errno == EINTR)
		;
	record->child = 0;
}

/*
 * Write the functions of the kernel that have samples. The recording is read again for that, so a
 * pipe gets no functions. A perf.data gets none either, because perf has its own copy of kallsyms.
 */
static int write_functions(struct record_job *record)
{
	struct symtab functions;
	int r;

	if (record->format != RECORDER_NATIVE || !record->output.temporary_path)
		return 0;
	r = recorder_flush(record->recorder);
	if (r < 0)
		return r;
	r = kernel_functions_find(record->output.temporary_path, "/proc/kallsyms", &functions);
	if (r < 0) {
		message_print("record: functions of the kernel will have no names: /proc/kallsyms: "
			      "%s%s",
			      strerror(-r), r == -EACCES ? " (see kernel.kptr_restrict)" : "");
		return 0;
	}
	recorder_write_functions(record->recorder, &functions);
	symtab_clear(&functions);
	return 0;
}

/* Write the end of the recording, and rename the file to its final name. */
static int end_recording(struct record_job *record)
{
	int r = write_functions(record);

	if (r == 0)
		r = recorder_finish(record->recorder);

	return r < 0 ? r : output_commit(&record->output);
}

/*
 * Report an incomplete recording. A native one with records keeps its temporary name, so that the
 * previous file is not replaced. Any other is removed by output_drop().
 */
static int report_incomplete(struct record_job *record, int r)
{
	const char *temporary_path = record->output.temporary_path;
	int status = message_fail(STATUS_FAILED, "record: %s: cannot be written: %s", record->path,
				  strerror(-r));

	if (!temporary_path || record->format != RECORDER_NATIVE ||
	    !recorder_get_bytes(record->recorder))
		return status;
	message_print("record: the samples before that are in %s", temporary_path);
	output_keep_temporary(&record->output);
	return status;
}

/*
 * Stop the session, which resets the states of its rings. So drain the source first, to record the
 * blind time of CPUs that a fault has stopped, and store which CPUs these are.
 */
static int record_stop(struct record_job *record)
{
	struct source *source = record->source;
	int r = record_drain(record);

	record->cpus_stopped = source->health.cpus_stopped;
	snprintf(record->stopped_by, sizeof(record->stopped_by), "%s",
		 source_health_describe(&source->health));
	source->ops->stop(source);
	return r < 0 ? r : record_drain(record);
}

static int record_run_source(struct record_job *record)
{
	const struct source_config config = make_source_config(record);
	int report = -1, status = 0, r = 0;

	if (record->command)
		r = command_fork(record, &report);
	if (r < 0)
		status = message_fail(STATUS_FAILED, "record: %s: cannot be run: %s",
				      record->command[0], strerror(-r));
	if (!status)
		status = live_source_start("record", &config, record->emulate, &record->source);
	/*
	 * Read /proc after starting the events: a task that starts meanwhile is reported by an
	 * event.
	 */
	if (!status && procfs_scan_tasks(&record->sink, time_now_ns()) < 0)
		message_print("record: /proc cannot be read, so tasks that run already will have "
			      "no name");
	if (!status && record->command)
		status = command_release(record, report);
	if (report >= 0)
		close(report);
	if (!status) {
		r = sample_until_end(record);
		if (r == 0)
			r = record_stop(record);
		else
			record->source->ops->stop(record->source);
	}
	command_terminate(record);
	if (!status && r == 0)
		r = end_recording(record);
	if (!status && r < 0)
		status = report_incomplete(record, r);
	command_wait(record);
	return status;
}

/* Print which CPUs were not sampled until the end; return STATUS_FAILED if there are any. */
static int report_stopped_cpus(const struct record_job *record)
{
	const struct source_health *health = &record->source->health;

	if (record->cpus_stopped)
		return message_fail(
			STATUS_FAILED, "record: incomplete: %u CPU%s not sampled to the end: %s",
			record->cpus_stopped, record->cpus_stopped == 1 ? " was" : "s were",
			record->stopped_by);
	if (health->faults)
		message_print("record: SPUs had %llu faults, the last: %s",
			      (unsigned long long)health->faults, health->last);
	return STATUS_OK;
}

static int report_result(const struct record_job *record)
{
	char bytes[TEXT_NUMBER_SIZE];
	int status = record->child_status;

	text_format_bytes(bytes, recorder_get_bytes(record->recorder));
	message_print("record: %s of records in %s%s", bytes, record->path,
		      record->source->backend == BACKEND_EMULATED ?
			      "; EMULATED SPU: process, PC and time are real, the rest is modelled" :
			      "");
	if (source_get_contexts(record->source) == SOURCE_CONTEXTS_NONE)
		message_print("record: records do not name their task; %s%s",
			      *record->no_switches ? "no sample will have one, as context switches "
						     "were not recorded: " :
						     "context switches, which were recorded, do",
			      record->no_switches);
	if (recorder_get_omitted_bytes(record->recorder))
		message_print(
			"record: %s of them could not be decoded and are omitted; the "
			"perf.data marks them as lost AUX data",
			text_format_bytes(bytes, recorder_get_omitted_bytes(record->recorder)));
	if (record->command && WIFSIGNALED(status))
		message_print("record: %s was ended by signal %d", record->command[0],
			      WTERMSIG(status));
	else if (record->command && WEXITSTATUS(status))
		message_print("record: %s ended with status %d", record->command[0],
			      WEXITSTATUS(status));
	return report_stopped_cpus(record);
}

static int open_signals(struct record_job *record)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &record->old_signals);
	record->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return record->signals < 0 ? message_fail(STATUS_FAILED, "record: %s", strerror(errno)) : 0;
}

int record_run(int argc, char **argv)
{
	struct record_job record = { .per_second = PER_SECOND_DEFAULT,
				     .models = "",
				     .output = OUTPUT_NONE,
				     .signals = -1,
				     .gate = -1 };
	int status = record_parse_options(argc, argv, &record);

	if (status == 0)
		status = open_source(&record);
	if (status == 0)
		status = open_signals(&record);
	if (status == 0)
		status = open_recording(&record, argc, argv);
	if (status == 0)
		status = record_run_source(&record);
	if (status == 0)
		status = report_result(&record);
	record_build_ids_free(record.builds);
	recorder_free(record.recorder);
	task_events_free(record.tasks);
	if (record.source)
		record.source->ops->free(record.source);
	output_drop(&record.output);
	if (record.signals >= 0)
		close(record.signals);
	return status;
}
