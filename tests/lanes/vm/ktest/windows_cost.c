// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure the cost of a window, and of a reader that it wakes, for speprof.ko and for arm_spe_pmu.
 * The same work runs with windows of two sizes, so that time = work + a x records + b x windows has
 * one solution. Then it runs with a reader that waits in poll for each window. speprof_trap.ko
 * writes one record for each of its ticks (batch=1).
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"

#define SMALL 4096
#define LARGE 65536
#define TURNS 16000
#define TURN_SPINS 4000

/* The size of windows during the work, and the results */
struct cost_run {
	uint32_t watermark;	/* size of a window; 0: no sampling */
	bool is_read;		/* whether another thread reads the windows */
	struct sampling_cost cost;	/* the cost of the whole work */
	double windows;
};

static void read_windows(const struct cost_source *source)
{
	__atomic_store_n(source->tail, __atomic_load_n(source->head, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

/*
 * Read until the thread is cancelled. It is a thread and not a process, because mappings of a ring
 * are not inherited by fork().
 */
static void *reader_run(void *arg)
{
	const struct cost_source *source = arg;
	struct pollfd poll_fd = { .fd = source->fd, .events = POLLIN };

	for (;;) {
		poll(&poll_fd, 1, -1);
		read_windows(source);
	}
	return NULL;
}

static void do_work(const struct cost_source *source)
{
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		for (volatile unsigned int n = 0; n < TURN_SPINS; n++)
			;
		if (source)
			read_windows(source);
	}
}

static void measure_run(const struct cost_driver *driver, struct cost_run *run)
{
	struct cost_request request = { .interval = 4096, .watermark = run->watermark };
	struct cost_source source;
	struct cost_mark start;
	uint64_t windows;
	pthread_t reader;

	if (!run->watermark) {
		start = cost_mark_begin();
		do_work(NULL);
		run->cost = cost_since_mark(&start, 1);
		return;
	}
	check(!driver->open(&request, &source), "another session has the SPU");
	if (run->is_read)
		check(!pthread_create(&reader, NULL, reader_run, &source));
	windows = source.windows(&source);
	start = cost_mark_begin();
	do_work(run->is_read ? NULL : &source);
	run->cost = cost_since_mark(&start, 1);
	run->windows = (double)(source.windows(&source) - windows);
	if (run->is_read)
		check(!pthread_cancel(reader) && !pthread_join(reader, NULL));
	driver->close(&source);
}

static void measure_windows(const struct cost_driver *driver)
{
	struct cost_run none = { 0 }, large = { .watermark = LARGE },
			small = { .watermark = SMALL };
	struct cost_run read = { .watermark = SMALL, .is_read = true };
	double determinant, per_window, per_record, rest;

	cost_pin_process();
	/*
	 * Wait until the work after boot and module loading has finished, which takes no CPU time
	 * of the guest.
	 */
	ksleep_ms(3000);
	measure_run(driver, &none);
	measure_run(driver, &large);
	measure_run(driver, &small);
	measure_run(driver, &read);
	/* On a busy host the work has fewer windows. Then the results below are less exact. */
	check(small.windows > 0 && read.windows > 0 && large.windows > 0, "%.0f %.0f %.0f",
	      small.windows, read.windows, large.windows);
	determinant = small.cost.records * large.windows - large.cost.records * small.windows;
	check(determinant != 0, "only speprof_trap.ko counts records");
	rest = small.cost.ns - none.cost.ns;
	per_record = (rest * large.windows - (large.cost.ns - none.cost.ns) * small.windows) / determinant;
	per_window = (rest - per_record * small.cost.records) / small.windows;
	printf("# a window, closed, published, the next one armed: %.0f, %.1f accesses (%.0f windows of %.0f records, %.0f of %.0f)\n",
	       per_window, small.cost.accesses / small.windows, small.windows,
	       small.cost.records / small.windows, large.windows, large.cost.records / large.windows);
	rest = read.cost.ns - none.cost.ns - per_record * read.cost.records - per_window * read.windows;
	printf("# a reader woken by it, with its poll and two context switches: %.0f (%.0f windows)\n",
	       rest / read.windows, read.windows);
}

static void measure_windows_of_module(void)
{
	kset_parameter("throttle_interrupts", 0);
	kset_parameter("throttle_bytes", 0);
	measure_windows(&cost_ours);
}

static void measure_windows_of_peer(void)
{
	measure_windows(&cost_perf);
}

const struct ktest ktests_windows_cost[] = {
	{ "windows-cost", measure_windows_of_module, .on_request = true },
	{ "peer-windows-cost", measure_windows_of_peer, .on_request = true, .peer = true },
	{ 0 },
};
