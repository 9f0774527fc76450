// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test the flight recorder: first individual decisions, then the memory of a ring during random
 * operations.
 */
#include "policy/flight.h"
#include "suites.h"

#define RING 65536ULL

/*
 * The size of a header, and the alignment of a record: the model distinguishes parts of the ring's
 * memory of this size.
 */
#define CELL	64ULL
#define WINDOWS 4096

static const struct spe_ring_state plain = {
	.size = RING,
	.header = 64,
	.align = 64,
	.max_record = 64,
	.max_window = 16384,
};

/* Write a window up to @end, or to its limit. Return: its start. */
static u64 write_window_up_to(struct spe_check *check, struct spe_flight_recorder *flight, u64 end)
{
	struct spe_window_position window = { 0 };

	if (!SPE_CHECK_EQ(check, spe_flight_place_window(flight, &plain, &window), 0))
		return 0;
	if (end > window.limit)
		end = window.limit;
	spe_flight_evict_chunks(flight, window.limit);
	spe_flight_add_window(flight, window.skip, end, end - window.start, 1);
	return window.header;
}

static u64 write_largest_window(struct spe_check *check, struct spe_flight_recorder *flight)
{
	return write_window_up_to(check, flight, ~0ULL);
}

/* Fill a ring, then take a snapshot, which contains the second half of the ring. */
static void fill_ring_and_claim_half(struct spe_check *check, struct spe_flight_recorder *flight,
				     u64 owner)
{
	u64 start = 0;

	spe_flight_init(flight, RING);
	for (unsigned int i = 0; i < 4; i++)
		write_largest_window(check, flight);
	SPE_CHECK_EQ(check, spe_flight_claim(flight, owner, RING / 2, flight->head, &start), 0);
	SPE_CHECK_EQ(check, start, RING / 2);
}

static void test_oldest_is_overwritten(struct spe_check *check)
{
	static struct spe_flight_recorder flight; /* too large for a kernel stack */

	spe_flight_init(&flight, RING);
	for (unsigned int i = 0; i < 4; i++)
		SPE_CHECK_EQ(check, write_largest_window(check, &flight), i * 16384);
	SPE_CHECK_EQ(check, flight.oldest, 0);
	SPE_CHECK_EQ(check, flight.overwritten_bytes, 0);
	SPE_CHECK_EQ(check, write_largest_window(check, &flight), RING);
	SPE_CHECK_EQ(check, flight.oldest, 16384);
	SPE_CHECK_EQ(check, flight.overwritten_records, 1);
	SPE_CHECK_EQ(check, flight.overwritten_bytes, 16384 - 64);
}

static void test_claimed_bytes_are_skipped(struct spe_check *check)
{
	static struct spe_flight_recorder flight;
	u64 start = 0;

	fill_ring_and_claim_half(check, &flight, 7);
	SPE_CHECK_EQ(check, spe_flight_claim(&flight, 7, RING, flight.head, &start), -EBUSY);
	SPE_CHECK_EQ(check, flight.claimed_records, 2);
	/*
	 * The half of the ring before the snapshot has space for one window, and for a header at
	 * its end.
	 */
	SPE_CHECK_EQ(check, write_largest_window(check, &flight), RING);
	SPE_CHECK_EQ(check, write_largest_window(check, &flight), RING + 16384);
	SPE_CHECK_EQ(check, flight.head, RING + 28672);
	/* Later windows skip the snapshot, and do not overwrite it. */
	SPE_CHECK_EQ(check, write_largest_window(check, &flight), 2 * RING);
	SPE_CHECK(check, flight.oldest >= RING);
	SPE_CHECK_EQ(check, spe_flight_release(&flight, 7), 0);
	SPE_CHECK_EQ(check, spe_flight_release(&flight, 7), -ENOENT);
	for (unsigned int i = 0; i < 3; i++)
		write_largest_window(check, &flight);
	SPE_CHECK_EQ(check, flight.overwritten_records, 4);
	SPE_CHECK_EQ(check, flight.claimed_records, 2);
}

/* A later snapshot cannot contain skipped bytes, because it must be contiguous. */
static void test_chunk_ends_before_skip(struct spe_check *check)
{
	static struct spe_flight_recorder flight;
	u64 start = 0;

	fill_ring_and_claim_half(check, &flight, 7);
	SPE_CHECK_EQ(check, write_largest_window(check, &flight), RING);
	/* A small window before the snapshot starts a run that later windows could extend. */
	SPE_CHECK_EQ(check, write_window_up_to(check, &flight, RING + 28672 - 256), RING + 16384);
	SPE_CHECK_EQ(check, write_largest_window(check, &flight), RING + 28672 - 256);
	SPE_CHECK_EQ(check, write_window_up_to(check, &flight, 2 * RING + 256), 2 * RING);
	SPE_CHECK_EQ(check, spe_flight_release(&flight, 7), 0);
	SPE_CHECK_EQ(check, spe_flight_claim(&flight, 8, RING / 4, flight.head, &start), 0);
	SPE_CHECK_EQ(check, start, 2 * RING);
}

static void test_claims_have_an_end(struct spe_check *check)
{
	struct spe_window_position window;
	static struct spe_flight_recorder flight;
	u64 start = 0;

	spe_flight_init(&flight, RING);
	SPE_CHECK_EQ(check, spe_flight_claim(&flight, 1, RING, 0, &start), -ENODATA);
	for (unsigned int i = 0; i < 4; i++)
		write_largest_window(check, &flight);
	SPE_CHECK_EQ(check, spe_flight_claim(&flight, 1, 64, flight.head, &start), -ENODATA);
	/*
	 * A snapshot of all windows is empty now: only the chunk that describes the skipped part
	 * follows.
	 */
	SPE_CHECK_EQ(check, spe_flight_claim(&flight, 1, ~0ULL, flight.head, &start), 0);
	SPE_CHECK_EQ(check, start, 16384);
	for (u64 owner = 2; owner <= SPE_FLIGHT_CLAIMS; owner++)
		SPE_CHECK_EQ(check, spe_flight_claim(&flight, owner, RING, flight.head, &start), 0);
	SPE_CHECK_EQ(check, spe_flight_claim(&flight, 99, RING, flight.head, &start), -ENOSPC);
	SPE_CHECK_EQ(check, flight.claimed_records, 3);
	write_largest_window(check, &flight);
	SPE_CHECK_EQ(check, spe_flight_place_window(&flight, &plain, &window), -ENOSPC);
	for (u64 owner = 1; owner <= SPE_FLIGHT_CLAIMS; owner++)
		SPE_CHECK_EQ(check, spe_flight_release(&flight, owner), 0);
	write_largest_window(check, &flight);
}

/* ---- A ring's memory ------------------------------------------------------ */

struct written_window {
	u64 skip;
	u64 header;
	u64 end;
	u64 bytes;
	bool claimed;
};

/*
 * A model of a flight recorder. @cells: for each CELL bytes of the ring, 1 + the position in the
 * stream that was last written there; 0 if none was written. @windows: all windows, the oldest
 * first.
 */
struct flight_memory_model {
	struct spe_flight_recorder flight;
	struct spe_ring_state ring;
	u64 cells[RING / CELL];
	struct written_window windows[WINDOWS];
	unsigned int count;
	u64 full;
	u64 bytes;
};

/* This is static because it is too large for a kernel stack. Each case initializes it. */
static struct flight_memory_model memory;

static bool is_claimed(const struct flight_memory_model *m, u64 position)
{
	for (unsigned int i = 0; i < SPE_FLIGHT_CLAIMS; i++) {
		const struct spe_flight_claim *claim = &m->flight.claims[i];

		if (claim->owner &&
		    ((position - claim->start) & (RING - 1)) < claim->end - claim->start)
			return true;
	}
	return false;
}

static void memory_mark_written(struct spe_check *check, struct flight_memory_model *m, u64 from,
				u64 to)
{
	for (u64 at = from; at < to; at += CELL) {
		SPE_CHECK(check, !is_claimed(m, at));
		m->cells[at % RING / CELL] = at + 1;
	}
}

static void memory_check_unchanged(struct spe_check *check, const struct flight_memory_model *m,
				   u64 from, u64 to)
{
	for (u64 at = from; at < to; at += CELL)
		SPE_CHECK_EQ(check, m->cells[at % RING / CELL], at + 1);
}

/* Check all bytes from @from to @to like a reader, which follows the headers of windows. */
static void memory_check_range(struct spe_check *check, const struct flight_memory_model *m,
			       u64 from, u64 to)
{
	for (unsigned int i = 0; i < m->count; i++) {
		const struct written_window *w = &m->windows[i];

		if (w->header < from || w->end > to)
			continue;
		if (w->skip != w->header && w->skip >= from)
			memory_check_unchanged(check, m, w->skip, w->skip + CELL);
		memory_check_unchanged(check, m, w->header, w->end);
	}
}

static void memory_write(struct spe_check *check, struct flight_memory_model *m, u64 random)
{
	struct written_window *w = &m->windows[m->count];
	struct spe_window_position window;
	u64 capacity;

	if (spe_flight_place_window(&m->flight, &m->ring, &window)) {
		m->full++;
		return;
	}
	SPE_CHECK_EQ(check, window.header, m->flight.head + window.skip);
	SPE_CHECK(check, window.header / RING == (window.limit - 1) / RING);
	SPE_CHECK_EQ(check, window.limit % SPE_LIMIT_GRANULE, 0);
	spe_flight_evict_chunks(&m->flight, window.limit);
	if (window.skip)
		memory_mark_written(check, m, m->flight.head, m->flight.head + CELL);
	memory_mark_written(check, m, window.header, window.limit);
	capacity = window.limit - window.start;
	*w = (struct written_window){
		.skip = m->flight.head,
		.header = window.header,
		.bytes = (random % (capacity / CELL) + 1) * CELL,
	};
	w->end = window.start + w->bytes;
	m->bytes += w->bytes;
	m->count++;
	spe_flight_add_window(&m->flight, window.skip, w->end, w->bytes, 1);
}

static void memory_claim(struct spe_check *check, struct flight_memory_model *m, u64 random)
{
	struct spe_window_position window;
	u64 limit = m->flight.head, start;

	/* Arm a window before the operation, like the driver, or leave none armed. */
	if (random & 1 && !spe_flight_place_window(&m->flight, &m->ring, &window)) {
		limit = window.limit;
		spe_flight_evict_chunks(&m->flight, limit);
	}
	if (spe_flight_claim(&m->flight, 1 + (random >> 1) % 3, (random >> 8) % (RING + 4096),
			     limit, &start))
		return;
	SPE_CHECK(check, start >= m->flight.oldest);
	for (unsigned int i = 0; i < m->count; i++)
		m->windows[i].claimed |= m->windows[i].header >= start;
}

static void memory_check(struct spe_check *check, const struct flight_memory_model *m)
{
	const struct spe_flight_recorder *flight = &m->flight;
	u64 live = 0, claimed = 0;

	SPE_CHECK(check, flight->head - flight->oldest <= RING);
	memory_check_range(check, m, flight->oldest, flight->head);
	for (unsigned int i = 0; i < SPE_FLIGHT_CLAIMS; i++)
		if (flight->claims[i].owner)
			memory_check_range(check, m, flight->claims[i].start,
					   flight->claims[i].end);
	for (unsigned int i = 0; i < m->count; i++) {
		const struct written_window *w = &m->windows[i];

		claimed += w->claimed ? w->bytes : 0;
		live += !w->claimed && w->header >= flight->oldest ? w->bytes : 0;
	}
	SPE_CHECK_EQ(check, claimed, flight->claimed_bytes);
	SPE_CHECK_EQ(check, m->bytes, flight->overwritten_bytes + claimed + live);
}

static void run_random_operations(struct spe_check *check, struct flight_memory_model *m, u64 seed)
{
	memset(m, 0, sizeof(*m));
	m->ring = plain;
	m->ring.max_record = 64U << seed % 6;
	m->ring.align = 1U << seed % 12;
	m->ring.max_window = (u32)(spe_check_random(&seed) % (RING / 2));
	spe_flight_init(&m->flight, RING);
	/* Start near positions beyond 32 bits, anywhere in a lap of the ring. */
	m->flight.head = m->flight.oldest = 0xffff0000ULL + seed % 1024 * CELL;
	for (unsigned int step = 0; m->count < 300 && step < 3000; step++) {
		u64 random = spe_check_random(&seed);

		switch (random & 15) {
		case 0 ... 1:
			memory_claim(check, m, random >> 8);
			break;
		case 2 ... 5:
			spe_flight_release(&m->flight, 1 + (random >> 8) % 3);
			break;
		default:
			/* Write small windows and full ones. */
			memory_write(check, m, random & 64 ? random >> 8 : ~0ULL >> 1);
		}
		memory_check(check, m);
	}
}

static void test_memory_of_ring(struct spe_check *check)
{
	u64 full = 0, windows = 0;

	for (u64 seed = 1; seed <= 24; seed++) {
		run_random_operations(check, &memory, seed);
		full += memory.full;
		windows += memory.count;
	}
	/* The generator must reach both outcomes, otherwise the case checks nothing. */
	SPE_CHECK(check, full > 100 && windows > 5000);
}

static void test_many_small_windows(struct spe_check *check)
{
	static struct spe_flight_recorder flight;

	spe_flight_init(&flight, RING);
	for (unsigned int i = 0; i < 100000; i++) {
		struct spe_window_position window = { 0 };

		if (!SPE_CHECK_EQ(check, spe_flight_place_window(&flight, &plain, &window), 0))
			return;
		spe_flight_evict_chunks(&flight, window.limit);
		spe_flight_add_window(&flight, window.skip, window.start + 64, 64, 1);
	}
	/* The recorder must not use more chunks than necessary, or overwrite more data for them. */
	SPE_CHECK(check, flight.count <= 66);
	SPE_CHECK(check, flight.head - flight.oldest > RING - 16384 - 3 * RING / 64);
}

static const struct spe_case cases[] = {
	{ "overwrites the oldest", test_oldest_is_overwritten },
	{ "skips what is claimed", test_claimed_bytes_are_skipped },
	{ "runs end before a skip", test_chunk_ends_before_skip },
	{ "claims have an end", test_claims_have_an_end },
	{ "memory", test_memory_of_ring },
	{ "many small windows", test_many_small_windows },
};

const struct spe_suite spe_suite_flight = { "flight", cases, ARRAY_SIZE(cases) };
