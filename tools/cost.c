// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof cost: run a command alternately with and without sampling, and print by how much sampling
 * slows it down. As in the daemon, samples are decoded, attributed and counted while the command
 * runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/message.h"
#include "lib/pairs.h"
#include "lib/text.h"
#include "live-source.h"
#include "profile/profile.h"
#include "tasks/task-events.h"
#include "util/time.h"
#include "verb.h"

#define INTERVAL_DEFAULT_US 1000 /* the daemon's default: SamplesPerSecond=1000 */
#define INTERVAL_MIN_US 10
#define INTERVAL_MAX_US 1000000
#define PAIRS_DEFAULT	    20

/**
 * struct cost_measurement - a measurement
 * @command: the command
 * @interval_us: mean time between two samples of a busy CPU
 * @pairs: number of pairs of runs
 * @backend: &enum sample_backend of the last source
 * @attributor: tables of tasks, for @profile
 * @profile: counts all samples
 * @source: open during runs with sampling; else NULL
 * @tasks: task events, open during runs with sampling; NULL if there are none
 * @signals: signalfd of SIGCHLD and of signals that end the measurement
 * @old_signals: signals that were blocked before; restored in the command
 * @runs: number of completed runs
 */
struct cost_measurement {
	char **command;
	u64 interval_us;
	u32 pairs;
	bool emulate;
	bool json;
	enum sample_backend backend;
	struct attributor *attributor;
	struct profile *profile;
	struct source *source;
	struct task_events *tasks;
	int signals;
	sigset_t old_signals;
	u32 runs;
};

extern char **environ;

static int parse_number(const char *option, const char *text, u64 least, u64 most, u64 *ret)
{
	char *end;
	u64 value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most)
		return message_fail(STATUS_USAGE, "cost: %s \"%s\": should be %llu to %llu", option,
				    text, (unsigned long long)least, (unsigned long long)most);
	*ret = value;
	return STATUS_OK;
}

static int parse_option(int letter, char **argv, struct cost_measurement *cost)
{
	u64 pairs;
	int status;

	switch (letter) {
	case 'I':
		return parse_number("--interval", optarg, INTERVAL_MIN_US, INTERVAL_MAX_US,
				    &cost->interval_us);
	case 'n':
		status = parse_number("-n", optarg, PAIRS_MIN, PAIRS_MAX, &pairs);
		if (!status)
			cost->pairs = (u32)pairs;
		return status;
	case 'e':
		cost->emulate = true;
		return STATUS_OK;
	case 'j':
		cost->json = true;
		return STATUS_OK;
	case ':':
		return message_fail(STATUS_USAGE, "cost: \"%s\" needs a value", argv[optind - 1]);
	default:
		return message_fail(STATUS_USAGE,
				    "cost: unknown option \"%s\"; try \"speprof help cost\"",
				    argv[optind - 1]);
	}
}

static int cost_parse_options(int argc, char **argv, struct cost_measurement *cost)
{
	static const struct option options[] = {
		{ "emulate", no_argument, NULL, 'e' },
		{ "interval", required_argument, NULL, 'I' },
		{ "json", no_argument, NULL, 'j' },
		{ "number", required_argument, NULL, 'n' },
		{ 0 },
	};
	int letter, status;

	opterr = 0;
	optind = 0;
	/* "+": getopt stops at the command, because the options after it belong to the command. */
	while ((letter = getopt_long(argc, argv, "+:jn:", options, NULL)) != -1) {
		status = parse_option(letter, argv, cost);
		if (status)
			return status;
	}
	if (optind == argc)
		return message_fail(STATUS_USAGE, "cost: needs -- COMMAND");
	cost->command = argv + optind;
	return STATUS_OK;
}

static int sampling_start(struct cost_measurement *cost)
{
	const struct source_config config = {
		.interval_ns = 1000 * cost->interval_us,
		.jitter = true,
		.kernel = true,
		.user = true,
	};
	struct task_events_status events;
	int status = live_source_open("cost", &config, cost->emulate, &cost->source);

	if (status)
		return status;
	/* Without task events, the profile reads /proc. */
	if (task_events_new(TASK_EVENTS_PERF, NULL, &cost->tasks, &events) < 0)
		cost->tasks = NULL;
	status = live_source_start("cost", &config, cost->emulate, &cost->source);
	if (!status)
		cost->backend = cost->source->backend;
	return status;
}

static void deliver_task_events(struct cost_measurement *cost, u64 until_ns)
{
	const struct source_sink sink = profile_make_sink(cost->profile);
	const struct task_sink tasks = { .task = sink.task, .ctx = sink.ctx };

	if (cost->tasks)
		task_events_deliver(cost->tasks, until_ns, &tasks);
}

static void count_window(void *ctx, const struct source_window *window)
{
	struct cost_measurement *cost = ctx;

	/*
	 * Deliver the task events from before the end of the window first: they determine the
	 * process of each sample.
	 */
	deliver_task_events(cost, window->end_ns);
	profile_add_window(cost->profile, window);
}

static void sampling_drain(struct cost_measurement *cost)
{
	const struct source_sink sink = { .window = count_window, .ctx = cost };

	cost->source->ops->drain(cost->source, &sink);
	deliver_task_events(cost, 0);
}

/*
 * Stop sampling. Fail if a CPU was not sampled to the end, because the measured cost of the run is
 * then too small.
 */
static int sampling_stop(struct cost_measurement *cost)
{
	const struct source_health *health = &cost->source->health;
	int status = STATUS_OK;

	/* Read the health before stopping, which clears it. */
	sampling_drain(cost);
	if (health->cpus_stopped)
		status = message_fail(
			STATUS_FAILED, "cost: %u CPU%s not sampled to the end of run %u: %s",
			health->cpus_stopped, health->cpus_stopped == 1 ? " was" : "s were",
			cost->runs, source_health_describe(health));
	cost->source->ops->stop(cost->source);
	sampling_drain(cost);
	return status;
}

static void sampling_close(struct cost_measurement *cost)
{
	if (cost->source)
		cost->source->ops->free(cost->source);
	cost->source = NULL;
	task_events_free(cost->tasks);
	cost->tasks = NULL;
}

/* Start the command without standard input and output, since it runs many times. */
static int command_start(struct cost_measurement *cost, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int r;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &cost->old_signals);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(ret_pid, cost->command[0], &files, &attributes, cost->command, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

/* Kill the command, and wait for its end. */
static void command_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * Read one signal. Return an &enum verb_exit_status; *ret_ended: set to true if the command has
 * ended.
 */
static int read_signal(struct cost_measurement *cost, pid_t pid, bool *ret_ended)
{
	struct signalfd_siginfo info;
	int state;

	if (read(cost->signals, &info, sizeof(info)) != sizeof(info))
		return STATUS_OK;
	if (info.ssi_signo != SIGCHLD) {
		command_kill(pid);
		return message_fail(STATUS_FAILED, "cost: ended by a signal after %u of %u runs",
				    cost->runs, 2 * cost->pairs + 1);
	}
	if (waitpid(pid, &state, WNOHANG) != pid)
		return STATUS_OK;
	*ret_ended = true;
	if (WIFEXITED(state) && !WEXITSTATUS(state))
		return STATUS_OK;
	return message_fail(STATUS_FAILED,
			    "cost: %s ended with %s %d; measure a command that succeeds",
			    cost->command[0], WIFEXITED(state) ? "status" : "signal",
			    WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state));
}

/* Drain the source until the command has ended. */
static int command_wait(struct cost_measurement *cost, pid_t pid)
{
	struct pollfd fds[] = {
		{ .fd = cost->signals, .events = POLLIN },
		{ .fd = cost->source ? cost->source->ops->fd(cost->source) : -1, .events = POLLIN },
		{ .fd = cost->tasks ? task_events_get_fd(cost->tasks) : -1, .events = POLLIN },
	};
	bool ended = false;
	int status = STATUS_OK;

	while (!status && !ended) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			command_kill(pid);
			return message_fail(STATUS_FAILED, "cost: %s", strerror(errno));
		}
		if (fds[0].revents)
			status = read_signal(cost, pid, &ended);
		if (!status && cost->source && (fds[1].revents || fds[2].revents))
			sampling_drain(cost);
	}
	return status;
}

static void show_progress(const struct cost_measurement *cost)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rrun %u of %u", cost->runs + 1, 2 * cost->pairs + 1);
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/*
 * Run the command once, for pairs_measure(). The time for opening and closing the source is not
 * measured.
 */
static int command_run(void *ctx, bool sampled, u64 *ret_ns)
{
	struct cost_measurement *cost = ctx;
	int status = STATUS_OK, r;
	u64 began;
	pid_t pid;

	show_progress(cost);
	if (sampled)
		status = sampling_start(cost);
	if (!status) {
		began = time_now_ns();
		r = command_start(cost, &pid);
		if (r)
			status = message_fail(STATUS_FAILED, "cost: %s: cannot be run: %s",
					      cost->command[0], strerror(r));
		else
			status = command_wait(cost, pid);
		*ret_ns = time_now_ns() - began;
		cost->runs++;
	}
	if (!status && sampled)
		status = sampling_stop(cost);
	sampling_close(cost);
	return status;
}

static u64 count_samples(const struct cost_measurement *cost)
{
	struct view view;
	u64 samples;

	if (profile_create_view(cost->profile, NULL, true, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1,
				&view) < 0)
		return 0;
	samples = view.header.records;
	view_clear(&view);
	return samples;
}

static const char *get_backend_name(const struct cost_measurement *cost)
{
	return cost->backend == BACKEND_EMULATED ? "emulated" : "hardware";
}

static void print_json(const struct cost_measurement *cost, const struct pairs_result *result)
{
	printf("{\"schema_version\":1,\"pairs\":%u,\"interval_usec\":%llu,\"backend\":\"%s\","
	       "\"samples\":%llu,\"seconds_without\":%.6f,\"seconds_with\":%.6f,\"ratio\":%.6f,"
	       "\"ratio_low\":%.6f,\"ratio_high\":%.6f,\"confidence\":%.4f,"
	       "\"noise_is_larger\":%s}\n",
	       cost->pairs, (unsigned long long)cost->interval_us, get_backend_name(cost),
	       (unsigned long long)count_samples(cost), result->first_ns * 1e-9,
	       result->second_ns * 1e-9, result->ratio, result->low, result->high,
	       result->confidence, pairs_interval_includes_one(result) ? "true" : "false");
}

static double ratio_to_percent(double ratio)
{
	return 100 * (ratio - 1);
}

static void print_text(const struct cost_measurement *cost, const struct pairs_result *result)
{
	if (cost->backend == BACKEND_EMULATED)
		printf("EMULATED SPU: this is the cost of emulation, not of the hardware\n");
	printf("%u pairs of runs, a sample every %llu us of each busy CPU, %llu samples\n",
	       cost->pairs, (unsigned long long)cost->interval_us,
	       (unsigned long long)count_samples(cost));
	printf("  without sampling  %10.4f s\n", result->first_ns * 1e-9);
	printf("  with sampling     %10.4f s\n", result->second_ns * 1e-9);
	printf("  slowdown          %+10.2f %%, between %+.2f %% and %+.2f %% with a confidence of "
	       "%.1f %%\n",
	       ratio_to_percent(result->ratio), ratio_to_percent(result->low),
	       ratio_to_percent(result->high), 100 * result->confidence);
	if (pairs_interval_includes_one(result))
		printf("The noise is larger than the slowdown: measure more pairs (-n), a longer "
		       "command, or an idle machine\n");
}

static int open_signals(struct cost_measurement *cost)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &cost->old_signals);
	cost->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return cost->signals < 0 ? -errno : 0;
}

static int cost_measure(struct cost_measurement *cost, struct pairs_result *ret_result)
{
	const struct attributor_config attribution = { .live = true };
	const struct profile_config config = { 0 };
	int r = open_signals(cost);

	if (r >= 0)
		r = attributor_new(&attribution, &cost->attributor);
	if (r >= 0)
		r = profile_new(&config, cost->attributor, &cost->profile);
	if (r >= 0)
		r = pairs_measure(cost->pairs, command_run, cost, ret_result);
	clear_progress();
	/* Positive values are exit statuses; their error was printed. */
	return r < 0 ? message_fail(STATUS_FAILED, "cost: %s", strerror(-r)) : r;
}

int cost_run(int argc, char **argv)
{
	struct cost_measurement cost = { .interval_us = INTERVAL_DEFAULT_US,
					 .pairs = PAIRS_DEFAULT,
					 .signals = -1 };
	struct pairs_result result;
	int status = cost_parse_options(argc, argv, &cost);

	if (!status)
		status = cost_measure(&cost, &result);
	if (!status && cost.json)
		print_json(&cost, &result);
	else if (!status)
		print_text(&cost, &result);
	profile_free(cost.profile);
	attributor_free(cost.attributor);
	if (cost.signals >= 0)
		close(cost.signals);
	return status;
}
