// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test the choice of the next window: for chosen states of a ring, then properties for random
 * states.
 */
#include "suites.h"
#include "policy/window.h"

static const struct spe_ring_state plain = {
	.size = 64 * 1024,
	.header = 64,
	.align = 64,
	.max_record = 64,
};

static void check_position(struct spe_check *check, const struct spe_ring_state *ring, u64 header,
			   u64 start, u64 limit)
{
	struct spe_window_position window = { 0 };

	if (!SPE_CHECK_EQ(check, spe_window_place(ring, &window), 0))
		return;
	SPE_CHECK_EQ(check, window.skip, header - ring->head);
	SPE_CHECK_EQ(check, window.header, header);
	SPE_CHECK_EQ(check, window.start, start);
	SPE_CHECK_EQ(check, window.limit, limit);
}

static void check_no_space(struct spe_check *check, const struct spe_ring_state *ring)
{
	struct spe_window_position window = { .skip = 1, .header = 2, .start = 3, .limit = 4 };

	SPE_CHECK_EQ(check, spe_window_place(ring, &window), -ENOSPC);
	SPE_CHECK(check,
		  window.skip == 1 && window.header == 2 && window.start == 3 && window.limit == 4);
}

static void test_empty_ring(struct spe_check *check)
{
	struct spe_ring_state ring = plain;

	check_position(check, &ring, 0, 64, 65536);
	ring.head = ring.tail = 3 * 65536;
	check_position(check, &ring, 3 * 65536, 3 * 65536 + 64, 4 * 65536);
	ring.head = ring.tail = 1000;
	check_position(check, &ring, 1024, 1088, 65536);
}

static void test_alignment_of_window(struct spe_check *check)
{
	struct spe_ring_state ring = plain;

	/* The header is directly before the start of the window, which is aligned. */
	ring.align = 2048;
	ring.max_record = 2048;
	check_position(check, &ring, 1984, 2048, 65536);
	ring.align = 1;
	ring.header = 72;
	ring.max_record = 64;
	check_position(check, &ring, 0, 128, 65536);
}

static void test_tail_limits_window(struct spe_check *check)
{
	struct spe_ring_state ring = plain;

	ring.head = 65536 + 8192;
	ring.tail = 8192 + 4095 + 4096;
	check_position(check, &ring, 65536 + 8192, 65536 + 8192 + 64, 65536 + 12288);
	/* Less than a granule is free, so no limit is possible. */
	ring.tail = 8192 + 4095;
	check_no_space(check, &ring);
	ring.tail = ring.head - ring.size;
	check_no_space(check, &ring);
}

static void test_window_on_next_lap(struct spe_check *check)
{
	struct spe_ring_state ring = plain;

	/* Exactly two records fit. */
	ring.head = ring.tail = 65536 - 192;
	check_position(check, &ring, 65536 - 192, 65536 - 128, 65536);
	/* Only one record would fit, so the window begins on the next lap. */
	ring.head = ring.tail = 65536 - 191;
	check_position(check, &ring, 65536, 65536 + 64, 65536 + 61440);
	/* Nothing is free there. */
	ring.tail = 4095;
	check_no_space(check, &ring);
	ring.tail = 4096;
	check_position(check, &ring, 65536, 65536 + 64, 65536 + 4096);
}

static void test_maximum_window(struct spe_check *check)
{
	struct spe_ring_state ring = plain;

	ring.max_window = 8192;
	check_position(check, &ring, 0, 64, 8192);
	/*
	 * The limit of a window of 4096 bytes would be in this granule, which is too small, so the
	 * window begins on the next lap.
	 */
	ring.max_window = 4096;
	ring.head = ring.tail = 4096 - 128;
	check_position(check, &ring, 4096 - 64, 4096, 8192);
	/* A max_window that is smaller than any window counts as the smallest possible window. */
	ring.max_window = 1;
	ring.head = ring.tail = 0;
	check_position(check, &ring, 0, 64, 4096);
}

static void test_hostile_tail(struct spe_check *check)
{
	struct spe_ring_state ring = plain;

	ring.head = 1 << 20;
	ring.tail = ring.head + 1;
	check_no_space(check, &ring);
	ring.tail = ring.head - ring.size - 1;
	check_no_space(check, &ring);
	ring.tail = ~0ULL;
	check_no_space(check, &ring);
}

static void check_window(struct spe_check *check, const struct spe_ring_state *ring,
			 const struct spe_window_position *window)
{
	u64 align = ring->align > 64 ? ring->align : 64;

	SPE_CHECK_EQ(check, window->header, ring->head + window->skip);
	SPE_CHECK_EQ(check, window->header % 64, 0);
	SPE_CHECK_EQ(check, window->start % align, 0);
	SPE_CHECK_EQ(check, window->limit % SPE_LIMIT_GRANULE, 0);
	/* A reader computes the same start from the header. */
	SPE_CHECK_EQ(check, (window->header + ring->header + align - 1) / align * align,
		     window->start);
	SPE_CHECK(check, window->start - window->header >= ring->header);
	SPE_CHECK(check, window->limit > window->start);
	SPE_CHECK(check, window->limit - window->start >= 2 * (u64)ring->max_record);
	SPE_CHECK(check, window->limit - ring->tail <= ring->size);
	SPE_CHECK_EQ(check, window->header / ring->size, (window->limit - 1) / ring->size);
	if (ring->max_window >= SPE_LIMIT_GRANULE && ring->max_window >= 2 * ring->max_record)
		SPE_CHECK(check, window->limit - window->start <= ring->max_window);
}

/* Return whether any legal window exists; it tries every start. */
static bool find_any_window(const struct spe_ring_state *ring)
{
	u64 align = ring->align > 64 ? ring->align : 64;
	u64 header = (ring->header + 63) / 64 * 64;
	u64 end = (ring->tail + ring->size) / SPE_LIMIT_GRANULE * SPE_LIMIT_GRANULE;
	u64 start;

	for (start = (ring->head + align - 1) / align * align; start < end; start += align) {
		u64 lap = (start / ring->size + 1) * ring->size;
		u64 limit = end < lap ? end : lap;

		if (start < ring->head + header ||
		    (start - header) / ring->size != start / ring->size)
			continue;
		if (limit - start >= 2 * (u64)ring->max_record)
			return true;
	}
	return false;
}

static void test_random_rings(struct spe_check *check)
{
	u64 seed = 0x5eed0001;
	unsigned int fits = 0, full = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		u64 r = spe_check_random(&seed), s = spe_check_random(&seed);
		struct spe_ring_state ring = {
			.size = (u64)SPE_LIMIT_GRANULE << (r & 3),
			.header = 32 + 8 * (r >> 2 & 15),
			.align = 1U << (r >> 6) % 12,
			.max_record = 64U << (r >> 16) % 6,
			.max_window = r >> 24 & 1 ? (u32)(r >> 32) % 40000 : 0,
		};
		struct spe_window_position window;

		ring.head = s >> 20;
		ring.tail = ring.head - spe_check_random(&seed) % (ring.size + 1);
		if (spe_window_place(&ring, &window)) {
			full++;
			if (!ring.max_window)
				SPE_CHECK(check, !find_any_window(&ring));
			continue;
		}
		fits++;
		check_window(check, &ring, &window);
	}
	/* The generator must reach both outcomes, otherwise the case checks nothing. */
	SPE_CHECK(check, fits > 2000 && full > 2000);
}

/* Run a producer and a consumer: the ring never overflows and never stalls. */
static void test_producer_and_consumer(struct spe_check *check)
{
	struct spe_ring_state ring = plain;
	u64 seed = 0x5eed0002;
	u64 written = 0;

	ring.align = 256;
	ring.max_record = 256;
	ring.max_window = 16384;
	for (unsigned int i = 0; i < 20000; i++) {
		struct spe_window_position window;

		if (!spe_window_place(&ring, &window)) {
			u64 capacity = window.limit - window.start;
			u64 bytes = spe_check_random(&seed) % (capacity / 256 + 1) * 256;

			check_window(check, &ring, &window);
			written += bytes;
			ring.head = window.start + bytes;
		} else {
			if (!SPE_CHECK(check, ring.tail != ring.head))
				return;
			ring.tail += spe_check_random(&seed) % (ring.head - ring.tail) + 1;
		}
	}
	SPE_CHECK(check, written > 20 * ring.size);
}

static const struct spe_case cases[] = {
	{ "empty ring", test_empty_ring },   { "alignment", test_alignment_of_window },
	{ "tail", test_tail_limits_window }, { "wraps", test_window_on_next_lap },
	{ "bound", test_maximum_window },    { "hostile tail", test_hostile_tail },
	{ "properties", test_random_rings }, { "walk", test_producer_and_consumer },
};

const struct spe_suite spe_suite_window = { "window", cases, ARRAY_SIZE(cases) };
