// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the reader of a mapped ring with valid content and with content that the module never
 * writes: which windows it delivers, which bytes it counts as lost, and which problems it reports.
 */
#include "test.h"
#include "held-clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "source/module-ring.h"
#include "util/time.h"

#define DATA_SIZE 8192
#define SLOTS 4

static struct {
	_Alignas(64) struct speprof_control control;
	_Alignas(64) struct speprof_event events[SLOTS];
	_Alignas(64) u8 data[DATA_SIZE];
	struct module_ring ring;
	struct source_health health;
} k;

static struct {
	u32 windows;
	u64 bytes;
	u64 lost;
	struct source_window last;
} seen;

static void record_window(void *ctx, const struct source_window *window)
{
	(void)ctx;
	seen.windows += !window->lost_bytes;
	seen.bytes += window->len;
	seen.lost += window->lost_bytes;
	seen.last = *window;
}

/* Make an empty ring, and stop the clock that the reader uses for the time of a stopped ring. */
static int setup(void **state)
{
	held_clock_stop(state);
	memset(&k, 0, sizeof(k));
	k.ring = (struct module_ring){
		.fd = -1, .cpu = 3, .event_slots = SLOTS, .control = &k.control,
		.events = k.events, .data = k.data, .data_bytes = DATA_SIZE,
	};
	return 0;
}

static int drain_ring(void)
{
	const struct source_sink sink = { .window = record_window };

	memset(&seen, 0, sizeof(seen));
	return module_ring_drain(&k.ring, &sink, &k.health);
}

/* Write a window of @bytes at @at. The caller advances the head. */
static struct speprof_window *write_window_at(u64 at, u32 bytes)
{
	struct speprof_window *w = (void *)(k.data + at % DATA_SIZE);

	*w = (struct speprof_window){
		.magic = SPEPROF_WINDOW_MAGIC,
		.kind = SPEPROF_WINDOW_RECORDS,
		.header_size = sizeof(*w),
		.data_offset = sizeof(*w),
		.data_size = bytes,
		.span = (u32)(sizeof(*w) + bytes),
		.position = at,
		.cpu = 3,
		.backend = SPEPROF_BACKEND_EMULATED,
		.start_ns = 1000,
		.end_ns = 5000,
		.tick_hz = 1000000000,
	};
	return w;
}

static void publish_window(u32 bytes)
{
	k.control.head += write_window_at(k.control.head, bytes)->span;
}

static void test_windows_are_delivered(void **state)
{
	(void)state;
	publish_window(64);
	publish_window(640);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.windows, 2);
	assert_int_equal(seen.bytes, 704);
	assert_int_equal(seen.last.cpu, 3);
	assert_int_equal(seen.last.backend, BACKEND_EMULATED);
	assert_int_equal(seen.last.written, WINDOW_WRITTEN_UNKNOWN);
	assert_int_equal(k.control.tail, k.control.head);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.windows, 0);
}

/* A window is PARTIAL if it was closed before the SPU stopped and asserted its interrupt. */
static void test_interrupted_windows(void **state)
{
	struct speprof_window *w;

	(void)state;
	publish_window(64);
	assert_int_equal(drain_ring(), 0);
	assert_true(seen.last.interrupted);
	w = write_window_at(k.control.head, 64);
	w->flags = SPEPROF_WINDOW_PARTIAL;
	k.control.head += w->span;
	assert_int_equal(drain_ring(), 0);
	assert_false(seen.last.interrupted);
}

/*
 * Two readings of one clock differ, which is no drift. For two clocks, only the difference is
 * known.
 */
static void test_clock_drift(void **state)
{
	struct speprof_window *w;

	(void)state;
	w = write_window_at(k.control.head, 64);
	w->clock = SPEPROF_CLOCK_MONOTONIC;
	w->start_ticks = w->start_ns + 40000;
	k.control.head += w->span;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.last.clock.zero, 0);
	assert_int_equal((u64)seen.last.clock.mult >> seen.last.clock.shift, 1);
	w = write_window_at(k.control.head, 64);
	w->backend = SPEPROF_BACKEND_HARDWARE;
	w->clock = SPEPROF_CLOCK_MONOTONIC;
	w->start_ticks = w->start_ns + 40000;
	k.control.head += w->span;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.last.clock.zero, -40000);
}

/* Bytes that cannot be parsed are counted exactly as lost, and the next window is read. */
static void test_unparsable_bytes_are_lost(void **state)
{
	enum field { MAGIC, SPAN_LONG, SPAN_ODD, SPAN_ZERO, HEADER_SHORT, HEADER_LONG, OFFSET_SHORT,
		     OFFSET_LONG, SIZE_LONG, FIELDS };

	(void)state;
	for (int field = 0; field < FIELDS; field++) {
		struct speprof_window *w;

		setup(NULL);
		test_row("field %d", field);
		publish_window(64);
		w = write_window_at(k.control.head, 128);
		k.control.head += w->span;
		switch (field) {
		case MAGIC:
			w->magic++;
			break;
		case SPAN_LONG:
			w->span += SPEPROF_WINDOW_ALIGN;
			break;
		case SPAN_ODD:
			w->span--;
			break;
		case SPAN_ZERO:
			w->span = 0;
			break;
		case HEADER_SHORT:
			w->header_size = SPEPROF_WINDOW_SKIP_SIZE - 1;
			break;
		case HEADER_LONG:
			w->header_size = (u16)(w->span + 1);
			break;
		case OFFSET_SHORT:
			w->data_offset = w->header_size - 1U;
			break;
		case OFFSET_LONG:
			w->data_offset = w->span + 1;
			break;
		case SIZE_LONG:
			w->data_size = w->span;
			break;
		}
		assert_row(drain_ring() == -EBADMSG);
		assert_row(seen.windows == 1 && seen.bytes == 64);
		assert_row(seen.lost == sizeof(*w) + 128 && k.ring.damaged_bytes == seen.lost);
		assert_row(k.control.tail == k.control.head);
		publish_window(64);
		assert_row(drain_ring() == 0 && seen.windows == 1 && seen.lost == 0);
	}
}

static void add_event(u32 type, u32 syndrome, u32 action)
{
	k.events[k.control.event_head++ % SLOTS] = (struct speprof_event){
		.type = type, .cpu = 3, .syndrome = syndrome, .action = action, .arg0 = 0x20002,
	};
}

static void test_events_wrap_around(void **state)
{
	(void)state;
	assert_int_equal(drain_ring(), 0);
	assert_string_equal(k.health.last, "");
	add_event(SPEPROF_EVENT_STATE, 0, 0);
	add_event(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_EXTERNAL_ASYNC,
		  SPEPROF_ACTION_DROP_WINDOW);
	add_event(12345, 0, 0);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(k.health.faults, 1);
	assert_string_equal(k.health.last, "CPU 3: asynchronous external abort, PMBSR 0x20002");
	/* Events wrap around the end of the event ring. */
	add_event(SPEPROF_EVENT_THROTTLE, 0, 0);
	add_event(SPEPROF_EVENT_UNREAD, 0, 0);
	add_event(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_FAULT, SPEPROF_ACTION_STOP_CPU);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(k.health.faults, 2);
	assert_int_equal(k.health.throttles, 1);
	assert_int_equal(k.health.unread, 1);
	assert_string_equal(k.health.last, "CPU 3: fault, PMBSR 0x20002, stopped");
	assert_int_equal(k.control.event_tail, k.control.event_head);
}

/* The value is the number of CPUs that are stopped now, and not the number of all stops. */
static void test_stopped_cpus_are_counted(void **state)
{
	static const struct {
		u32 ring;
		u32 stopped;
	} rows[] = {
		{ SPEPROF_RING_ARMED, 0 }, { SPEPROF_RING_FAULTED, 1 }, { SPEPROF_RING_FAULTED, 1 },
		{ SPEPROF_RING_FULL, 0 }, { SPEPROF_RING_FAULTED, 1 }, { SPEPROF_RING_IDLE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %zu", i);
		k.control.state = rows[i].ring;
		assert_row(drain_ring() == 0 && k.health.cpus_stopped == rows[i].stopped);
	}
}

/*
 * Each cause of blind time is exact to the nanosecond, and their sum is the total. An older module
 * reports only the total.
 */
static void test_blind_causes(void **state)
{
	static const struct {
		const char *name;
		u64 full, fault, throttle, handover, handling;
	} rows[] = {
		{ "none", 0, 0, 0, 0, 0 },
		{ "handling alone", 0, 0, 0, 0, 4711 },
		{ "full alone", 3999999999, 0, 0, 0, 0 },
		{ "a nanosecond", 0, 1, 0, 0, 4000000000 },
		{ "all", 1234567891, 987654321, 345678912, 456789123, 567891234 },
	};
	u64 ns[SPEPROF_BLINDS];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct speprof_window *w = write_window_at(k.control.head, 64);

		test_row("%s", rows[i].name);
		ns[SPEPROF_BLIND_FULL] = rows[i].full;
		ns[SPEPROF_BLIND_FAULTED] = rows[i].fault;
		ns[SPEPROF_BLIND_THROTTLED] = rows[i].throttle;
		ns[SPEPROF_BLIND_HANDOVER] = rows[i].handover;
		w->blind_ns = rows[i].handling;
		for (u32 c = 0; c < SPEPROF_BLINDS; c++)
			w->blind_ns += ns[c];
		for (u32 c = 0; c < SPEPROF_BLINDS && w->blind_ns; c++) {
			u64 share = (ns[c] << 32) / w->blind_ns;

			w->blind_share[c] = share > UINT32_MAX ? UINT32_MAX : (u32)share;
		}
		w->flags = SPEPROF_WINDOW_CAUSES;
		k.control.head += w->span;
		assert_row(drain_ring() == 0 && seen.last.blind_ns == w->blind_ns);
		assert_row(seen.last.blind_by[SOURCE_BLIND_FULL] == rows[i].full);
		assert_row(seen.last.blind_by[SOURCE_BLIND_FAULT] == rows[i].fault);
		assert_row(seen.last.blind_by[SOURCE_BLIND_THROTTLE] == rows[i].throttle);
		assert_row(seen.last.blind_by[SOURCE_BLIND_HANDOVER] == rows[i].handover);
		assert_row(seen.last.blind_by[SOURCE_BLIND_HANDLING] == rows[i].handling);
	}
	write_window_at(k.control.head, 64)->blind_ns = 99;
	k.control.head += sizeof(struct speprof_window) + 64;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.last.blind_ns, 99);
	for (u32 c = 0; c < SOURCE_BLINDS; c++)
		assert_int_equal(seen.last.blind_by[c], 0);
}

/* Causes that exceed the total, which no module writes, are limited to the total. */
static void test_excessive_blind_causes(void **state)
{
	struct speprof_window *w = write_window_at(0, 64);
	u64 sum = 0;

	(void)state;
	w->flags = SPEPROF_WINDOW_CAUSES;
	w->blind_ns = UINT64_MAX - 7;
	memset(w->blind_share, 0xff, sizeof(w->blind_share));
	k.control.head = w->span;
	assert_int_equal(drain_ring(), 0);
	for (u32 c = 0; c < SOURCE_BLINDS; c++)
		sum += seen.last.blind_by[c];
	assert_int_equal(sum, w->blind_ns);
	assert_true(seen.last.blind_by[SOURCE_BLIND_FULL] > w->blind_ns / 2);
}

/* While a fault stops a CPU its time is blind, with or without a window, and is counted once. */
static void test_stopped_is_blind(void **state)
{
	struct speprof_window *w;
	u64 ahead, more;

	(void)state;
	publish_window(64);
	k.control.state = SPEPROF_RING_FAULTED;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.windows, 1);
	/* The share of a cause has 32 bits, so the shares of longer times are not exact. */
	held_clock_advance(2000000);
	assert_int_equal(drain_ring(), 0);
	ahead = seen.last.blind_ns;
	assert_int_equal(ahead, 2000000);
	assert_int_equal(seen.last.blind_by[SOURCE_BLIND_FAULT], ahead);
	assert_int_equal(seen.last.backend, BACKEND_EMULATED);
	held_clock_advance(1000000);
	assert_int_equal(drain_ring(), 0);
	more = seen.last.blind_ns;
	assert_int_equal(more, 1000000);
	assert_int_equal(k.ring.reported_early_ns, ahead + more);
	/* After STOP and START the next window reports the whole time. */
	k.control.state = SPEPROF_RING_ARMED;
	w = write_window_at(k.control.head, 64);
	w->flags = SPEPROF_WINDOW_CAUSES;
	w->blind_ns = ahead + more + 5000;
	w->blind_share[SPEPROF_BLIND_FAULTED] =
		(u32)(((ahead + more + 1000) << 32) / w->blind_ns);
	k.control.head += w->span;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.last.blind_ns, 5000);
	assert_int_equal(seen.last.blind_by[SOURCE_BLIND_FAULT], 1000);
	assert_int_equal(seen.last.blind_by[SOURCE_BLIND_HANDLING], 4000);
	assert_int_equal(k.ring.reported_early_ns, 0);
}

/*
 * Blind time starts with the event, and not with the drain that reads it. A time in the future is
 * ignored.
 */
static void test_blind_from_the_event(void **state)
{
	const u64 now = time_now_ns();

	(void)state;
	k.control.state = SPEPROF_RING_FAULTED;
	add_event(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_EXTERNAL_ASYNC, SPEPROF_ACTION_STOP_CPU);
	k.events[0].time_ns = now - 5000000;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(k.health.cpus_stopped, 1);
	assert_int_equal(seen.last.blind_ns, 5000000);
	assert_int_equal(seen.last.blind_by[SOURCE_BLIND_FAULT], seen.last.blind_ns);

	/* The CPU was stopped and started meanwhile: the next window reports the time. */
	k.control.state = SPEPROF_RING_ARMED;
	add_event(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_EXTERNAL_ASYNC, SPEPROF_ACTION_STOP_CPU);
	k.events[1].time_ns = now - 5000000;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.windows, 0);

	k.control.state = SPEPROF_RING_FAULTED;
	add_event(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_EXTERNAL_ASYNC, SPEPROF_ACTION_STOP_CPU);
	k.events[2].time_ns = UINT64_MAX;
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.windows, 0);
}

/*
 * Another process resumes at the position that this process reached, or at the last saved position.
 */
static void test_resume_at_saved_position(void **state)
{
	struct source_position at;

	(void)state;
	k.ring.deferred = true;
	publish_window(64);
	publish_window(640);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.bytes, 704);
	assert_int_equal(k.control.tail, 0);
	assert_int_equal(module_ring_get_retained_permille(&k.ring),
			 k.control.head * 1000 / DATA_SIZE);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.windows, 0);
	at = (struct source_position){ .cpu = 3, .tail = k.ring.tail };
	/*
	 * The process is killed before it releases bytes: only bytes read since the checkpoint are
	 * read a second time.
	 */
	publish_window(128);
	k.ring.tail = k.control.tail;
	assert_int_equal(module_ring_resume(&k.ring, &at), 0);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.bytes, 128);
	module_ring_release(&k.ring);
	assert_int_equal(k.control.tail, k.control.head);
	assert_int_equal(module_ring_get_retained_permille(&k.ring), 0);
	/* The process is killed right after it released bytes. */
	at.tail = k.control.tail;
	assert_int_equal(module_ring_resume(&k.ring, &at), 0);
	k.control.state = SPEPROF_RING_FULL;
	assert_int_equal(module_ring_get_retained_permille(&k.ring), 1000);
}

/* Without a checkpoint a crash loses only the bytes since the last drain. */
static void test_nearly_full_ring_releases(void **state)
{
	struct source_position at = { .cpu = 3 };
	u64 behind;

	(void)state;
	k.ring.deferred = true;
	k.ring.spills = true;
	publish_window(64);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(k.control.tail, 0);
	at.tail = k.ring.tail;
	/* If more bytes wait than the limit, the ring releases them at once. */
	while ((k.control.head - k.control.tail) * 1000 / DATA_SIZE < SOURCE_RETAINED_MAX)
		publish_window(640);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(k.control.tail, 0);
	assert_true(module_ring_get_retained_permille(&k.ring) >= SOURCE_RETAINED_MAX);
	while ((k.control.head - k.control.tail) * 1000 / DATA_SIZE < SOURCE_RETAINED_SPILL)
		publish_window(640);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(k.control.tail, k.control.head);
	assert_int_equal(module_ring_get_retained_permille(&k.ring), 0);
	behind = k.control.tail - at.tail;
	publish_window(128);
	/* Another process resumes with an older checkpoint. */
	assert_int_equal(module_ring_resume(&k.ring, &at), 0);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.lost, behind);
	assert_int_equal(seen.bytes, 128);
	publish_window(64);
	assert_int_equal(drain_ring(), 0);
	assert_int_equal(seen.lost, 0);
	/* Use positions of another ring, of which more events were read. */
	at.event_tail = k.control.event_tail + 1;
	assert_int_equal(module_ring_resume(&k.ring, &at), -ESTALE);
}

/* Positions of another session, or of no session, are refused. */
static void test_resume_refused(void **state)
{
	u64 first, second;

	(void)state;
	publish_window(64);
	first = k.control.head;
	publish_window(640);
	second = k.control.head;
	k.control.event_head = 2;
	k.control.tail = first;
	write_window_at(first, 640)->position = first;
	const struct {
		const char *name;
		struct source_position at;
		int result;
	} rows[] = {
		{ "here", { .tail = first }, 0 },
		{ "all is read", { .tail = second }, 0 },
		{ "given back already", { .tail = 0 }, -ESTALE },
		{ "not written yet", { .tail = second + 64 }, -ESTALE },
		{ "far away", { .tail = UINT64_MAX }, -ESTALE },
		{ "within a window", { .tail = first + 64 }, -ESTALE },
		{ "an event to come", { .tail = first, .event_tail = 3 }, -ESTALE },
		{ "an event far away", { .tail = first, .event_tail = UINT64_MAX }, -ESTALE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		assert_row(module_ring_resume(&k.ring, &rows[i].at) == rows[i].result);
	}
	/* The position of a window in another ring is refused. */
	write_window_at(first, 640)->position = 7 * DATA_SIZE + first;
	assert_int_equal(module_ring_resume(&k.ring, &rows[0].at), -ESTALE);
}

/* Check that the error states whether the module or the daemon must be updated. */
static void test_version_mismatch_has_advice(void **state)
{
	(void)state;
	assert_null(module_explain_abi_mismatch(SPEPROF_ABI_VERSION));
	assert_non_null(strstr(module_explain_abi_mismatch(SPEPROF_ABI_VERSION - 1),
			       "load the module of this"));
	assert_non_null(strstr(module_explain_abi_mismatch(SPEPROF_ABI_VERSION + 1),
			       "install the speprofd of"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_windows_are_delivered, setup),
		cmocka_unit_test_setup(test_clock_drift, setup),
		cmocka_unit_test_setup(test_unparsable_bytes_are_lost, setup),
		cmocka_unit_test_setup(test_events_wrap_around, setup),
		cmocka_unit_test_setup(test_stopped_cpus_are_counted, setup),
		cmocka_unit_test_setup(test_blind_causes, setup),
		cmocka_unit_test_setup(test_excessive_blind_causes, setup),
		cmocka_unit_test_setup(test_interrupted_windows, setup),
		cmocka_unit_test_setup(test_stopped_is_blind, setup),
		cmocka_unit_test_setup(test_blind_from_the_event, setup),
		cmocka_unit_test(test_version_mismatch_has_advice),
		cmocka_unit_test_setup(test_resume_at_saved_position, setup),
		cmocka_unit_test_setup(test_nearly_full_ring_releases, setup),
		cmocka_unit_test_setup(test_resume_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
