// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the ring of a perf event, which a simulated kernel writes. */
#include "test.h"

#include "source/perf-event.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 4096

struct fixture {
	struct perf_ring ring;
	int fd;
};

static int setup(void **state)
{
	static struct fixture f;
	off_t page = sysconf(_SC_PAGESIZE);

	f = (struct fixture){ .fd = memfd_create("ring", MFD_CLOEXEC) };
	assert_true(f.fd >= 0);
	assert_int_equal(ftruncate(f.fd, page + SIZE), 0);
	assert_int_equal(perf_ring_map(&f.ring, f.fd, SIZE), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	perf_ring_unmap(&f->ring);
	assert_null(f->ring.control);
	perf_ring_unmap(&f->ring);
	return close(f->fd);
}

/* Start the kernel and the reader at position @at. */
static void start_ring_at(struct perf_ring *ring, u64 at)
{
	ring->head = at;
	ring->tail = at;
	ring->control->data_head = at;
	ring->control->data_tail = at;
}

static void ring_append(struct perf_ring *ring, const void *bytes, size_t size)
{
	u8 *data = (u8 *)ring->control + sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < size; i++)
		data[(ring->control->data_head + i) % SIZE] = ((const u8 *)bytes)[i];
	ring->control->data_head += size;
}

static void put_record(struct perf_ring *ring, u32 type, u16 size)
{
	const struct perf_event_header header = { .type = type, .size = size };
	u8 body[256];

	for (u32 i = 0; i < sizeof(body); i++)
		body[i] = (u8)(type + i);
	ring_append(ring, &header, sizeof(header));
	ring_append(ring, body, size - sizeof(header));
}

/* Records are read correctly if they wrap around the end of the ring at any byte, also at 2^64. */
static void test_records_wrap_around(void **state)
{
	struct perf_ring *ring = &((struct fixture *)*state)->ring;
	struct perf_event_header header = { 0 };
	u8 body[32];

	for (u32 i = 0; i <= 80; i++) {
		u64 at = i % 2 ? SIZE - i : 0 - (u64)i;

		test_row("at %#llx", (unsigned long long)at);
		start_ring_at(ring, at);
		put_record(ring, 7, 40);
		put_record(ring, 9, 24);
		assert_row(ring->tail == at && !perf_ring_read_header(ring, 8, &header));
		perf_ring_begin_read(ring);
		assert_row(perf_ring_read_header(ring, 8, &header) == 1);
		assert_row(header.type == 7 && header.size == 40);
		perf_ring_copy(ring, sizeof(header), body, 32);
		for (u32 k = 0; k < 32; k++)
			assert_row(body[k] == 7 + k);
		perf_ring_skip_record(ring, &header);
		assert_row(perf_ring_read_header(ring, 24, &header) == 1);
		assert_row(header.type == 9 && header.size == 24);
		perf_ring_copy(ring, header.size - 1U, body, 1);
		assert_row(body[0] == 9 + 15);
		perf_ring_skip_record(ring, &header);
		assert_row(perf_ring_read_header(ring, 8, &header) == 0);
		assert_row(ring->control->data_tail == at);
		perf_ring_end_read(ring);
		assert_row(ring->control->data_tail == at + 64);
	}
}

/* At a record that no kernel writes, the rest of the data is dropped; later records are read. */
static void test_invalid_record_is_dropped(void **state)
{
	static const struct {
		const char *name;
		u16 size;
		u32 size_min;
	} rows[] = {
		{ "size 0", 0, 8 },
		{ "shorter than its header", 7, 8 },
		{ "shorter than what any has", 23, 24 },
		{ "behind the head", 25, 8 },
		{ "far behind the head", UINT16_MAX, 8 },
	};
	struct perf_ring *ring = &((struct fixture *)*state)->ring;
	struct perf_event_header header, sentinel = { .type = 77 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct perf_event_header torn = { .type = 9, .size = rows[i].size };

		test_row("%s", rows[i].name);
		start_ring_at(ring, SIZE - 20);
		ring_append(ring, &torn, sizeof(torn));
		ring_append(ring, "sixteen bytes..", 16);
		perf_ring_begin_read(ring);
		header = sentinel;
		assert_row(perf_ring_read_header(ring, rows[i].size_min, &header) == -EBADMSG);
		assert_row(!memcmp(&header, &sentinel, sizeof(sentinel)));
		assert_row(ring->tail == ring->head);
		assert_row(perf_ring_read_header(ring, rows[i].size_min, &header) == 0);
		perf_ring_end_read(ring);
		put_record(ring, 3, 24);
		perf_ring_begin_read(ring);
		assert_row(perf_ring_read_header(ring, rows[i].size_min, &header) == 1 &&
			   header.type == 3);
	}
}

/* Data that is shorter than a header is not read yet. */
static void test_partial_header(void **state)
{
	struct perf_ring *ring = &((struct fixture *)*state)->ring;
	const struct perf_event_header whole = { .type = 5, .size = 8 };
	struct perf_event_header header = { 0 };

	start_ring_at(ring, 4092);
	ring_append(ring, &whole, 4);
	perf_ring_begin_read(ring);
	assert_int_equal(perf_ring_read_header(ring, 8, &header), 0);
	assert_int_equal(ring->tail, 4092);
	ring_append(ring, (const u8 *)&whole + 4, 4);
	perf_ring_begin_read(ring);
	assert_int_equal(perf_ring_read_header(ring, 8, &header), 1);
	assert_int_equal(header.type, 5);
}

static void test_map_without_event(void **state)
{
	struct perf_ring ring = { 0 };

	(void)state;
	assert_int_equal(perf_ring_map(&ring, -1, SIZE), -EBADF);
	assert_null(ring.control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records_wrap_around, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invalid_record_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial_header, setup, teardown),
		cmocka_unit_test(test_map_without_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
