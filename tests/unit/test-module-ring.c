// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A mapped ring as the module would write it, and as it never should: what the reader
 * hands over, what it books as lost, what it tells of trouble.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "module-ring.h"

#define DATA_SIZE 8192
#define SLOTS 4

static struct {
	_Alignas(64) struct speprof_control control;
	_Alignas(64) struct speprof_event events[SLOTS];
	_Alignas(64) u8 data[DATA_SIZE];
	struct module_ring ring;
	struct source_trouble trouble;
} k;

static struct {
	u32 windows;
	u64 bytes;
	u64 lost;
	struct source_window last;
} seen;

static void see(void *ctx, const struct source_window *window)
{
	(void)ctx;
	seen.windows += !window->lost_bytes;
	seen.bytes += window->len;
	seen.lost += window->lost_bytes;
	seen.last = *window;
}

static int setup(void **state)
{
	(void)state;
	memset(&k, 0, sizeof(k));
	k.ring = (struct module_ring){
		.fd = -1, .cpu = 3, .event_slots = SLOTS, .control = &k.control,
		.events = k.events, .data = k.data, .data_bytes = DATA_SIZE,
	};
	return 0;
}

static int drain(void)
{
	const struct source_sink sink = { .window = see };

	memset(&seen, 0, sizeof(seen));
	return module_ring_drain(&k.ring, &sink, &k.trouble);
}

/* A window of @bytes at the head; the head is left to the caller. */
static struct speprof_window *window_at(u64 at, u32 bytes)
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

static void publish(u32 bytes)
{
	k.control.head += window_at(k.control.head, bytes)->span;
}

static void test_windows(void **state)
{
	(void)state;
	publish(64);
	publish(640);
	assert_int_equal(drain(), 0);
	assert_int_equal(seen.windows, 2);
	assert_int_equal(seen.bytes, 704);
	assert_int_equal(seen.last.cpu, 3);
	assert_int_equal(seen.last.backend, BACKEND_EMULATED);
	assert_int_equal(seen.last.written, WINDOW_WRITTEN_UNKNOWN);
	assert_int_equal(k.control.tail, k.control.head);
	assert_int_equal(drain(), 0);
	assert_int_equal(seen.windows, 0);
}

/* What cannot be walked is lost to the byte, and the next window is read again. */
static void test_unsound(void **state)
{
	enum field { MAGIC, SPAN_LONG, SPAN_ODD, SPAN_ZERO, HEADER_SHORT, HEADER_LONG, OFFSET_SHORT,
		     OFFSET_LONG, SIZE_LONG, FIELDS };

	(void)state;
	for (int field = 0; field < FIELDS; field++) {
		struct speprof_window *w;

		setup(NULL);
		test_row("field %d", field);
		publish(64);
		w = window_at(k.control.head, 128);
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
		assert_row(drain() == -EBADMSG);
		assert_row(seen.windows == 1 && seen.bytes == 64);
		assert_row(seen.lost == sizeof(*w) + 128 && k.ring.damaged == seen.lost);
		assert_row(k.control.tail == k.control.head);
		publish(64);
		assert_row(drain() == 0 && seen.windows == 1 && seen.lost == 0);
	}
}

static void tell(u32 type, u32 syndrome, u32 action)
{
	k.events[k.control.event_head++ % SLOTS] = (struct speprof_event){
		.type = type, .cpu = 3, .syndrome = syndrome, .action = action, .arg0 = 0x20002,
	};
}

static void test_events(void **state)
{
	(void)state;
	assert_int_equal(drain(), 0);
	assert_string_equal(k.trouble.last, "");
	tell(SPEPROF_EVENT_STATE, 0, 0);
	tell(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_EXTERNAL_ASYNC, SPEPROF_ACTION_DROP_WINDOW);
	tell(12345, 0, 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(k.trouble.faults, 1);
	assert_string_equal(k.trouble.last, "CPU 3: asynchronous external abort, PMBSR 0x20002");
	/* Around the end of the event ring. */
	tell(SPEPROF_EVENT_THROTTLE, 0, 0);
	tell(SPEPROF_EVENT_UNREAD, 0, 0);
	tell(SPEPROF_EVENT_SYNDROME, SPEPROF_SYNDROME_FAULT, SPEPROF_ACTION_STOP_CPU);
	assert_int_equal(drain(), 0);
	assert_int_equal(k.trouble.faults, 2);
	assert_int_equal(k.trouble.throttles, 1);
	assert_int_equal(k.trouble.unread, 1);
	assert_string_equal(k.trouble.last, "CPU 3: fault, PMBSR 0x20002, stopped");
	assert_int_equal(k.control.event_tail, k.control.event_head);
}

/* How many are stopped now, not how often. */
static void test_stopped(void **state)
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
		assert_row(drain() == 0 && k.trouble.cpus_stopped == rows[i].stopped);
	}
}

/* Another process goes on where this one was, or where its figures were safe. */
static void test_deferred(void **state)
{
	struct source_position at;

	(void)state;
	k.ring.deferred = true;
	publish(64);
	publish(640);
	assert_int_equal(drain(), 0);
	assert_int_equal(seen.bytes, 704);
	assert_int_equal(k.control.tail, 0);
	assert_int_equal(module_ring_held(&k.ring), k.control.head * 1000 / DATA_SIZE);
	assert_int_equal(drain(), 0);
	assert_int_equal(seen.windows, 0);
	at = (struct source_position){ .cpu = 3, .tail = k.ring.tail };
	/* Killed before it released: what came since is read once, the rest not again. */
	publish(128);
	k.ring.tail = k.control.tail;
	assert_int_equal(module_ring_resume(&k.ring, &at), 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(seen.bytes, 128);
	module_ring_release(&k.ring);
	assert_int_equal(k.control.tail, k.control.head);
	assert_int_equal(module_ring_held(&k.ring), 0);
	/* Killed just after. */
	at.tail = k.control.tail;
	assert_int_equal(module_ring_resume(&k.ring, &at), 0);
	k.control.state = SPEPROF_RING_FULL;
	assert_int_equal(module_ring_held(&k.ring), 1000);
}

/* Positions of another session, or of none. */
static void test_resume_refused(void **state)
{
	u64 first, second;

	(void)state;
	publish(64);
	first = k.control.head;
	publish(640);
	second = k.control.head;
	k.control.event_head = 2;
	k.control.tail = first;
	window_at(first, 640)->position = first;
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
	/* A window of another ring, which stands elsewhere there. */
	window_at(first, 640)->position = 7 * DATA_SIZE + first;
	assert_int_equal(module_ring_resume(&k.ring, &rows[0].at), -ESTALE);
}

/* Which of the two is to be changed. */
static void test_versions(void **state)
{
	(void)state;
	assert_null(module_mismatch(SPEPROF_ABI_VERSION));
	assert_non_null(strstr(module_mismatch(SPEPROF_ABI_VERSION - 1), "load the module of this"));
	assert_non_null(strstr(module_mismatch(SPEPROF_ABI_VERSION + 1), "install the speprofd of"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_windows, setup),
		cmocka_unit_test_setup(test_unsound, setup),
		cmocka_unit_test_setup(test_events, setup),
		cmocka_unit_test_setup(test_stopped, setup),
		cmocka_unit_test(test_versions),
		cmocka_unit_test_setup(test_deferred, setup),
		cmocka_unit_test_setup(test_resume_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
