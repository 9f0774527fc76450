/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * speprof demo: what "make run" shows. A daemon of its own with an emulated SPU,
 * on a bus of its own, samples the machine while two known programs run; what
 * it says of them stands beside what the kernel says.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo-stage.h"
#include "demo-truth.h"
#include "lib/bus.h"
#include "lib/format.h"
#include "lib/message.h"
#include "lib/rows.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "verb.h"

#define PROGRAMS 2
#define ROWS	 10
/* Where it is not a terminal's: a C++ name may be longer than a page is wide. */
#define WIDTH	 100
#define START_MS 10000

/**
 * struct demo
 * @cpu_ns: of each program while it was sampled
 * @machine: before that
 * @busy_ns: of the machine since
 * @terminal: progress is one line that changes
 */
struct demo {
	struct stage stage;
	struct stage_process *program[PROGRAMS];
	struct stage_process *daemon;
	struct bus *bus;
	u64 cpu_ns[PROGRAMS];
	struct truth_machine machine;
	u64 busy_ns;
	unsigned int seconds;
	bool terminal;
};

/* Half of the CPUs have one thread of each: busy, and yet there is room for others. */
static int programs_start(struct demo *demo)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char threads[24];
	const char *const chase[] = { "chase", "-b", "70", "-p", "100", "-t", threads, NULL };
	const char *const stream[] = { "stream", "-b", "30", "-p", "100", "-t", threads, NULL };
	int status;

	snprintf(threads, sizeof(threads), "%ld", cpus > 3 ? cpus / 2 : 1);
	status = stage_start(&demo->stage, "demo/chase", chase, STAGE_READY | STAGE_CGROUP,
			     &demo->program[0]);
	if (!status)
		status = stage_start(&demo->stage, "demo/stream", stream,
				     STAGE_READY | STAGE_CGROUP, &demo->program[1]);
	return status;
}

/* Exit statuses are those of sysexits.h. A daemon that exits has logged why; a killed one cannot. */
static int daemon_ended(int status)
{
	if (status > 128)
		return say_fail(STATUS_FAILED,
				"demo: speprofd was killed by signal %d (%s), which is a defect of it: "
				"please report it, with what \"coredumpctl info\" prints",
				status - 128, strsignal(status - 128));
	if (status == 77)
		return STATUS_NO_RIGHT;
	return say_fail(STATUS_FAILED, "demo: speprofd exited with status %d before it answered; "
			"the lines above say why", status);
}

static int daemon_start(struct demo *demo)
{
	const char *const argv[] = {
		"speprofd",
		"--config",
		"/dev/null",
		"--bus",
		demo->stage.address,
		"--set",
		"Source=emulated",
		"--set",
		"Emulate=yes",
		"--set",
		"Models=chase=pointer_chase stream=stream",
		/* A few seconds, which are to be alike. */
		"--set",
		"Overhead=no",
		NULL,
	};
	char helper[STAGE_PATH + 32];
	struct view view;
	int status;

	/* Of this build, as the daemon is, which looks for it where it would be installed. */
	snprintf(helper, sizeof(helper), "%s/tools/speprof-symbols", demo->stage.build);
	setenv("SPEPROF_SYMBOLS", helper, 0);
	setenv("SYSTEMD_LOG_LEVEL", "notice", 0);
	status = stage_start(&demo->stage, "daemon/service/speprofd", argv, 0, &demo->daemon);
	if (status)
		return status;
	setenv("SPEPROF_BUS", demo->stage.address, 1);
	status = bus_new(&demo->bus);
	if (status)
		return status;
	bus_quiet(demo->bus);
	for (int ms = 0; ms < START_MS; ms += 50) {
		if (bus_view(demo->bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view) == STATUS_OK) {
			view_clear(&view);
			return STATUS_OK;
		}
		if (stage_ended(demo->daemon, &status))
			return daemon_ended(status);
		if (!stage_sleep(&demo->stage, stage_now() + 50000000))
			return STATUS_FAILED;
	}
	return say_fail(STATUS_NO_DAEMON, "demo: speprofd does not answer: %s",
			bus_error(demo->bus));
}

/* CPU times so far, less those in @demo: called twice, that is the time between. */
static int take_truth(struct demo *demo)
{
	struct truth_machine machine;
	u64 ns;
	int r = 0;

	for (unsigned int i = 0; i < PROGRAMS && !r; i++) {
		r = truth_process(demo->program[i]->pid, &ns);
		demo->cpu_ns[i] = ns - demo->cpu_ns[i];
	}
	if (!r)
		r = truth_machine(&machine);
	if (r < 0)
		return say_fail(STATUS_FAILED, "demo: no CPU times: %s", strerror(-r));
	demo->busy_ns = truth_busy(&demo->machine, &machine);
	demo->machine = machine;
	return STATUS_OK;
}

static void show_progress(const struct demo *demo, unsigned int second, u64 samples)
{
	char figure[TEXT_FIGURE];

	text_count(figure, samples);
	if (demo->terminal)
		printf("\r\033[K%2u s of %u  %s samples", second, demo->seconds, figure);
	else if (second && second % 5 == 0)
		printf("%u s  %s samples\n", second, figure);
	fflush(stdout);
}

static int sample(struct demo *demo)
{
	u64 start = stage_now();
	struct view view;
	int status = STATUS_OK;

	if (!demo->terminal)
		printf("Sampling this machine for %u s, with chase and stream running.\n",
		       demo->seconds);
	for (unsigned int second = 0; second < demo->seconds && !status; second++) {
		status = bus_view(demo->bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view);
		if (status)
			break;
		show_progress(demo, second, view.header.records);
		view_clear(&view);
		if (!stage_sleep(&demo->stage, start + (second + 1) * 1000000000ULL))
			status = STATUS_FAILED;
	}
	if (demo->terminal)
		fputs("\r\033[K", stdout);
	if (status && !demo->stage.signal)
		say("demo: %s", bus_error(demo->bus));
	return status;
}

/* By container where the programs have cgroups of their own, else by process. */
static void draw(const struct demo *demo, struct view *view)
{
	char names[PROGRAMS][64];
	struct format_truth truth[PROGRAMS];
	struct format format = {
		.truth = truth,
		.truths = PROGRAMS,
		.group = VIEW_FUNCTION,
		.sort = VIEW_SORT_SAMPLES,
		.colour = term_colour(),
	};
	unsigned int unit = view_unit(&view->header);
	u64 whole = view_whole(&view->header, unit);
	size_t height;

	for (unsigned int i = 0; i < PROGRAMS; i++) {
		const struct stage_process *program = demo->program[i];

		snprintf(names[i], sizeof(names[i]), "%s%s", program->cgroup[0] ? "demo-" : "",
			 program->name);
		truth[i] = (struct format_truth){
			.name = names[i],
			.percent = 100.0 * (double)demo->cpu_ns[i] / (double)demo->busy_ns,
		};
	}
	/* What is below half a percent says nothing after so short a time. */
	while (view->count && view_part(&view->rows[view->count - 1], unit) * 200 < whole)
		view->count--;
	term_size(&format.width, &height);
	if (!format.width)
		format.width = WIDTH;
	format_header(stdout, &view->header, &format);
	format_table(stdout, view, &format);
	puts("Next: speprof | speprof report -i FILE | speprof doctor");
}

static int demo_play(struct demo *demo)
{
	struct view view;
	int status;

	status = programs_start(demo);
	if (!status)
		status = daemon_start(demo);
	if (status)
		return status;
	status = bus_call(demo->bus, "Reset");
	if (!status)
		status = take_truth(demo);
	if (!status)
		status = sample(demo);
	/* Names take a while the first time; the view that is shown is of one moment with the truth. */
	if (!status)
		status = bus_view_named(demo->bus, VIEW_FUNCTION, VIEW_SORT_SAMPLES, ROWS, &view);
	if (!status)
		view_clear(&view);
	if (!status)
		status = take_truth(demo);
	if (!status)
		status = bus_view(demo->bus, VIEW_FUNCTION, VIEW_SORT_SAMPLES, ROWS, &view);
	if (status)
		return status;
	draw(demo, &view);
	view_clear(&view);
	return status;
}

static int demo_options(int argc, char **argv, unsigned int *ret_seconds)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ 0 },
	};
	char *end;
	int c;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		unsigned long n = c == 's' ? strtoul(optarg, &end, 10) : 0;

		if (c != 's')
			return say_fail(STATUS_USAGE, "demo: unknown option \"%s\"",
					argv[optind - 1]);
		if (*optarg < '0' || *optarg > '9' || *end || n < 1 || n > 3600)
			return say_fail(STATUS_USAGE,
					"demo: --seconds \"%s\" is not a number from 1 to 3600",
					optarg);
		*ret_seconds = (unsigned int)n;
	}
	if (optind < argc)
		return say_fail(STATUS_USAGE, "demo: unknown argument \"%s\"", argv[optind]);
	return STATUS_OK;
}

int demo_run(int argc, char **argv)
{
	struct demo demo = { .seconds = 10, .terminal = isatty(STDOUT_FILENO) };
	int status = demo_options(argc, argv, &demo.seconds);

	if (status)
		return status;
	status = stage_up(&demo.stage);
	if (!status)
		status = demo_play(&demo);
	bus_free(demo.bus);
	stage_down(&demo.stage);
	return status;
}
