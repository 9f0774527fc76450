// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the ring of context switches, which shows which task ran at a given time without Context
 * packets, and compare it with Context packets.
 */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "codec/record.h"
#include "source/source.h"
#include "tasks/bpf/task-record.h"
#include "tasks/switch-ring.h"
#include "tasks/task-event.h"
#include "tasks/task-events.h"

#define ENTRIES 4096U
#define WRITTEN (10 * ENTRIES)

struct switch_ring_fixture {
	struct switch_entry entries[ENTRIES];
	u64 count;
	struct switch_ring ring;
};

static void switch_ring_fixture_init(struct switch_ring_fixture *r)
{
	*r = (struct switch_ring_fixture){ .ring = { .mask = ENTRIES - 1 } };
	r->ring.entries = r->entries;
	r->ring.count = &r->count;
}

static void switch_ring_fixture_add(struct switch_ring_fixture *r, u64 time_ns, u32 tid)
{
	struct switch_entry *e = &r->entries[r->count & (ENTRIES - 1)];

	__atomic_store_n(&e->time_ns, time_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&e->tid, tid, __ATOMIC_RELAXED);
	__atomic_store_n(&r->count, r->count + 1, __ATOMIC_RELEASE);
}

static void test_find_task_at_time(void **state)
{
	static const struct {
		u64 from;
		u64 to;
		s32 tid;
	} rows[] = {
		{ 99, 99, -1 }, /* before the first switch */
		{ 99, 100, -1 },  { 100, 100, 7 },
		{ 199, 199, 7 },  { 199, 200, -1 }, /* there was a switch between the two times */
		{ 200, 299, 0 }, /* the idle task */
		{ 300, 300, 9 },  { 300, 5000000000ULL, 9 }, /* there was no switch since then */
		{ 150, 350, -1 }, { 120, 130, 7 }, /* the task was scheduled in again */
	};
	static struct switch_ring_fixture r;

	(void)state;
	switch_ring_fixture_init(&r);
	assert_int_equal(switch_ring_find_tid(&r.ring, 0, UINT64_MAX), -1);
	switch_ring_fixture_add(&r, 100, 7);
	switch_ring_fixture_add(&r, 200, 0);
	switch_ring_fixture_add(&r, 300, 9);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%lu to %lu", (unsigned long)rows[i].from, (unsigned long)rows[i].to);
		assert_row(switch_ring_find_tid(&r.ring, rows[i].from, rows[i].to) == rows[i].tid);
	}
}

/*
 * Switches that were overwritten are unknown. The remaining ones are found for any order of
 * queries.
 */
static void test_overwritten_switches_are_unknown(void **state)
{
	unsigned int seed = 3;
	static struct switch_ring_fixture r;

	(void)state;
	switch_ring_fixture_init(&r);
	for (u32 i = 0; i < WRITTEN; i++)
		switch_ring_fixture_add(&r, i * 10, i + 1);
	assert_int_equal(switch_ring_find_tid(&r.ring, 5000, 5000), -1);
	assert_int_equal(
		switch_ring_find_tid(&r.ring, (WRITTEN - ENTRIES) * 10, (WRITTEN - ENTRIES) * 10),
		-1);
	for (u32 n = 0; n < 100000; n++) {
		u32 i = WRITTEN - ENTRIES / 2 + (u32)rand_r(&seed) % (ENTRIES / 2);
		u64 at = i * 10 + (u64)rand_r(&seed) % 9;

		assert_int_equal(switch_ring_find_tid(&r.ring, at, at + 1), i + 1);
	}
}

static struct switch_ring_fixture shared;
static bool stop;

static void *write_switches(void *arg)
{
	u64 time = 0;

	(void)arg;
	/* The TID is a function of the time, so a mixture of two entries would be noticed. */
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		time += 1 + time % 7;
		switch_ring_fixture_add(&shared, time, (u32)(time * 2654435761U >> 8));
		/* About ten million switches a second. */
		for (volatile int i = 0; i < 50; i++)
			;
	}
	return NULL;
}

/*
 * Although the writer overtakes the reader all the time, each result is correct, or there is no
 * result.
 */
static void test_reader_races_with_writer(void **state)
{
	pthread_t writer;
	u64 known = 0;

	(void)state;
	switch_ring_fixture_init(&shared);
	stop = false;
	assert_int_equal(pthread_create(&writer, NULL, write_switches, NULL), 0);
	while (__atomic_load_n(&shared.count, __ATOMIC_ACQUIRE) < ENTRIES)
		sched_yield();
	for (u32 n = 0; n < 2000000; n++) {
		u64 count = __atomic_load_n(&shared.count, __ATOMIC_ACQUIRE);
		u64 time;
		s32 tid;

		time = __atomic_load_n(
			&shared.entries[(count - 1 - n % 64) & (ENTRIES - 1)].time_ns,
			__ATOMIC_RELAXED);
		tid = switch_ring_find_tid(&shared.ring, time, time);
		if (tid == -1)
			continue;
		known++;
		assert_int_equal((u32)tid, (u32)(time * 2654435761U >> 8));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
	assert_true(known > 0);
}

/* The agreement of packets and switches for the same samples */
struct agreement_counts {
	struct task_events *events;
	struct switch_ring *rings;
	u32 cpus;
	pid_t pids[2];
	u64 drained; /* number of switches on CPU 0 when the last drain began */
	/*
	 * largest number of switches on CPU 0 from the start of a drain to the end of the next one
	 */
	u64 max_switches;
	u64 same;
	u64 unknown;
	u64 different;
	u64 switching; /* unknown: a switch is within the range of times */
	u64 overwritten; /* unknown: older than the entries of the ring */
	u64 unreported; /* unknown: newer than the entries of the ring, or after a loss */
	u64 raced; /* unknown: the writer overtook the search; a second search succeeds */
};

/*
 * Return the counter of the reason why the task from @from to @to is unknown. It searches from the
 * newest entry, independently of switch_ring_find_tid().
 */
static u64 *get_cause_counter(struct agreement_counts *v, const struct switch_ring *ring, u64 from,
			      u64 to)
{
	u64 count = __atomic_load_n(ring->count, __ATOMIC_ACQUIRE);
	u64 usable = ring->mask - ring->mask / 8, n = count;

	if (count > usable && ring->entries[(count - usable) & ring->mask].time_ns > from)
		return &v->overwritten;
	if (ring->until_ns && to > ring->until_ns)
		return &v->unreported;
	while (n && count - n < usable) {
		const struct switch_entry *e = &ring->entries[--n & ring->mask];

		if (e->time_ns > to)
			continue;
		if (e->time_ns > from)
			return &v->switching;
		return e->tid == (u32)-1 ? &v->unreported : &v->raced;
	}
	return &v->overwritten;
}

static void ignore_task(void *ctx, const struct task_event *event)
{
	(void)ctx;
	(void)event;
}

static const struct task_sink ignore = { .task = ignore_task };

static void count_agreement(void *ctx, const struct source_window *window)
{
	const struct spe_decoder_config config = { .max_size = window->max_record,
						   .align = window->align };
	struct agreement_counts *v = ctx;
	struct spe_decoder decoder;
	struct spe_sample sample;
	enum spe_decode_result r;

	assert_true(window->cpu < v->cpus);
	/* Apply the events up to the end of the window first, as the worker does. */
	task_events_deliver(v->events, window->end_ns, &ignore);
	spe_decoder_init(&decoder, &config, window->data, window->len);
	while ((r = spe_decoder_next(&decoder, &sample, NULL)) != SPE_DECODE_END) {
		u64 time = sample.timestamp;
		u64 from, *cause;
		s32 tid;

		if (r != SPE_DECODE_SAMPLE ||
		    !spe_sample_has(&sample, SPE_HAS_CONTEXT(SPE_CONTEXT_EL1)))
			continue;
		/* Some kernels hide some tasks, but not these two. */
		if ((pid_t)sample.context[SPE_CONTEXT_EL1] != v->pids[0] &&
		    (pid_t)sample.context[SPE_CONTEXT_EL1] != v->pids[1])
			continue;
		/*
		 * The kernel switches shortly after it reports the switch. So samples in the kernel
		 * are searched from some time earlier on, as in the profile.
		 */
		from = spe_address_el(sample.address[SPE_ADDRESS_PC]) ? time - 2000 : time;
		tid = switch_ring_find_tid(&v->rings[window->cpu], from, time);
		if (tid == -1) {
			cause = get_cause_counter(v, &v->rings[window->cpu], from, time);
			v->unknown++;
			/*
			 * A second search that also fails is not counted, so that the sum below is
			 * wrong.
			 */
			if (cause != &v->raced ||
			    switch_ring_find_tid(&v->rings[window->cpu], from, time) != -1)
				++*cause;
		}
		v->same += tid == (s32)sample.context[SPE_CONTEXT_EL1];
		v->different += tid != -1 && tid != (s32)sample.context[SPE_CONTEXT_EL1];
	}
}

/* Start two processes that wake each other on one CPU, as fast as they can. */
static void start_waking_pair(pid_t pids[2])
{
	int a[2], b[2];
	cpu_set_t one;

	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	for (int i = 0; i < 2; i++) {
		char byte = 0;

		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i])
			continue;
		sched_setaffinity(0, sizeof(one), &one);
		if (i && write(a[1], &byte, 1) != 1)
			_exit(1);
		while (read(i ? b[0] : a[0], &byte, 1) == 1 &&
		       write(i ? a[1] : b[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

/* Drain @source, and count the switches since the last drain began, which the ring has to hold. */
static void drain_source(struct source *source, struct agreement_counts *v)
{
	const struct source_sink sink = { .window = count_agreement, .ctx = v };
	u64 begin = *v->rings[0].count, passed;

	source->ops->drain(source, &sink);
	passed = *v->rings[0].count - v->drained;
	v->max_switches = passed > v->max_switches ? passed : v->max_switches;
	v->drained = begin;
}

/*
 * At least @rounds drains, one every @period_us, in which the kernel may write more than the ring
 * holds
 */
struct agreement_run {
	enum task_events_kind kind;
	int rounds;
	unsigned int period_us;
};

static void test_agreement(void **state)
{
	const struct agreement_run *how = *state;
	enum task_events_kind kind = how->kind;
	const struct source_config config = {
		.interval_ns = 100000,
		.kernel = true,
		.user = true,
		.models = "",
	};
	char why[TASK_EVENTS_REASON];
	struct task_events_status status;
	struct task_events *events = NULL;
	struct source *source = NULL;
	struct agreement_counts v = { 0 };
	const char *reason = "";
	u64 before, switched, ring_entries;

	if (task_events_new(kind, NULL, &events, &status) < 0 || status.kind != kind ||
	    task_events_start_switch_rings(events, why) < 0 ||
	    source_emulated_new(&config, &source, &reason) < 0) {
		task_events_free(events);
		skip();
	}
	v.events = events;
	v.rings = task_events_get_switch_rings(events, &v.cpus);
	v.drained = before = *v.rings[0].count;
	ring_entries = v.rings[0].mask;
	start_waking_pair(v.pids);
	assert_int_equal(source->ops->start(source), 0);
	for (int i = 0; i < how->rounds || v.same <= 100; i++) {
		usleep(how->period_us);
		drain_source(source, &v);
	}
	source->ops->stop(source);
	drain_source(source, &v);
	switched = *v.rings[0].count - before;
	for (int i = 0; i < 2; i++) {
		kill(v.pids[i], SIGKILL);
		waitpid(v.pids[i], NULL, 0);
	}
	source->ops->free(source);
	task_events_free(events);
	print_message("%lu switches on CPU 0; of %lu samples %lu unknown, %lu different\n",
		      (unsigned long)switched, (unsigned long)(v.same + v.unknown + v.different),
		      (unsigned long)v.unknown, (unsigned long)v.different);
	print_message("unknown: %lu in a switch, %lu overwritten, %lu not reported, %lu raced; "
		      "%lu switches between two drains\n",
		      (unsigned long)v.switching, (unsigned long)v.overwritten,
		      (unsigned long)v.unreported, (unsigned long)v.raced, (unsigned long)v.max_switches);
	/*
	 * A tick is an interrupt. Interrupts are disabled from the report of a switch to its end,
	 * so the reported task is never another one.
	 */
	assert_int_equal(v.different, 0);
	/* Each unknown sample has a reason. */
	assert_int_equal(v.switching + v.overwritten + v.unreported + v.raced, v.unknown);
	/* No entry that fits into the ring is overwritten. */
	if (v.max_switches < ring_entries / 2)
		assert_int_equal(v.overwritten, 0);
}

static struct agreement_run bpf = { TASK_EVENTS_BPF, 10, 50000 };
static struct agreement_run perf = { TASK_EVENTS_PERF, 10, 50000 };
static struct agreement_run bpf_late = { TASK_EVENTS_BPF, 1, 1000000 };
static struct agreement_run perf_late = { TASK_EVENTS_PERF, 1, 1000000 };

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_task_at_time),
		cmocka_unit_test(test_overwritten_switches_are_unknown),
		cmocka_unit_test(test_reader_races_with_writer),
		{ "test_agreement, bpf", test_agreement, NULL, NULL, &bpf },
		{ "test_agreement, perf", test_agreement, NULL, NULL, &perf },
		{ "test_agreement, bpf, late", test_agreement, NULL, NULL, &bpf_late },
		{ "test_agreement, perf, late", test_agreement, NULL, NULL, &perf_late },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
