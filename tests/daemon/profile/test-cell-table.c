// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compare the table of cells with counters that the test computes from the same samples: each cell
 * is exact while nothing is evicted, and sums over all rows are always exact.
 */
#include "test.h"

#include "profile/cell-level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES	  60 /* more than a small hash table of pairs holds */
#define PROGRAMS  5
#define BINARIES  3
#define OFFSETS	  20
#define CELLS	  (PROGRAMS * BINARIES * OFFSETS)
#define SEED	  0x123456789abcdefULL

static u64 random_state = 88172645463325252ULL;

static u64 draw_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct fixture {
	struct sample_class_catalog catalog;
	u16 ids[CLASSES];
};

static void catalog_fill(struct sample_class_catalog *catalog, u16 *ids, bool reversed)
{
	assert_int_equal(sample_class_init(catalog), 0);
	for (u32 n = 0; n < CLASSES; n++) {
		u32 i = reversed ? CLASSES - 1 - n : n;
		u64 present = SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
			      (i % 3 ? SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) : 0) |
			      (i % 5 ? SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION) : 0);
		u64 key = sample_class_make_key(i % 11 ? present : SPE_HAS_EVENTS | SPE_HAS_OP,
						i & 1 ? SPE_OP_BRANCH : SPE_OP_LOAD_STORE, 0, 0, 0);

		ids[i] = sample_class_find(catalog, i * 4, key, NULL);
		assert_int_not_equal(ids[i], 0);
	}
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	catalog_fill(&f->catalog, f->ids, false);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sample_class_deinit(&f->catalog);
	free(f);
	return 0;
}

/**
 * struct drawn_sample - a sample that the test has drawn; @sample_class is an index of
 * &fixture.ids
 */
struct drawn_sample {
	u32 program;
	u32 binary;
	u64 offset;
	u32 sample_class;
	u16 latency[PROFILE_LATENCIES];
	u32 interval;
	u8 unit;
};

static u32 get_cell_index(const struct drawn_sample *s)
{
	return (s->program * BINARIES + s->binary) * OFFSETS + (u32)s->offset / 4;
}

/*
 * Give most samples to few cells, so that some counters overflow, while other cells have only a
 * log.
 */
static struct drawn_sample draw_sample(void)
{
	u64 r = draw_random();
	u32 heavy = r >> 60 ? 3 : UINT32_MAX;
	struct drawn_sample s = {
		.program = (u32)(r & heavy) % PROGRAMS,
		.binary = (u32)(r >> 8 & heavy) % BINARIES,
		.offset = 4 * ((u32)(r >> 16 & heavy) % OFFSETS),
		.sample_class = (u32)(r >> 24) % (r & 1 ? 3 : CLASSES),
		.interval = 4096,
		.unit = UNIT_INSTRUCTIONS,
	};

	/* In a table with a budget, the number of pairs of class and total latency is limited. */
	s.latency[PROFILE_TOTAL] = (u16)(1 + 1000 * (r >> 40 & 3));
	for (unsigned int i = PROFILE_TOTAL + 1; i < PROFILE_LATENCIES; i++)
		s.latency[i] = (u16)(r >> (44 + 2 * i) & 3 ? 20 : draw_random() >> 48);
	return s;
}

static void add_sample_to_counters(struct profile_counters *want,
				   const struct sample_class_catalog *catalog, const u16 *ids,
				   const struct drawn_sample *s)
{
	const struct sample_class *t = sample_class_get_by_id(catalog, ids[s->sample_class]);
	u64 counts[SAMPLE_COUNTS];
	u8 ones[SAMPLE_COUNTS];

	want->samples++;
	want->weight[s->unit] += s->interval;
	memcpy(counts, &want->counts, sizeof(counts));
	memcpy(ones, t->ones, sizeof(ones));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		counts[i] += ones[i];
	memcpy(&want->counts, counts, sizeof(counts));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		struct histogram *h = &want->latency[i];
		u16 value = t->absent[i] ? 0 : s->latency[i];
		unsigned int octave = 3, bucket = t->absent[i] ?: histogram_get_bucket(value);

		/* Issue and translation latency are counted by octave, up to 2^13 and above. */
		while (i != PROFILE_TOTAL && octave < 15 && 1U << (octave - 1) < value)
			octave++;
		if (i != PROFILE_TOTAL && value > 2)
			bucket = 4 * octave - 6;
		h->count += !t->absent[i];
		h->sum += value;
		h->max = value > h->max ? value : h->max;
		if (i == PROFILE_TOTAL || !t->absent[i])
			h->bucket[bucket]++;
	}
}

static u64 pack_sample(const struct sample_class_catalog *catalog, u16 id, const u16 *latency)
{
	const struct sample_class *t = sample_class_get_by_id(catalog, id);

	return cell_sample_pack(id, t->absent[0] ? 0 : latency[0], t->absent[1] ? 0 : latency[1],
				t->absent[2] ? 0 : latency[2]);
}

/* Pass a sample to the table in batches, as the decode stage does. */
static void table_count_samples(struct cell_table *t, const struct sample_class_catalog *catalog,
				const u16 *ids, const struct drawn_sample *s)
{
	struct cell_batch *b = cell_table_get_batch(t);
	u64 owner = cell_owner_make(s->program, s->binary);
	u8 interval;
	u32 i;

	if (b->count && (b->count == CELL_BATCH || draw_random() % 64 == 0)) {
		cell_table_add_batch(t);
		b = cell_table_get_batch(t);
	}
	/* A new interval begins a new batch. */
	if (b->count && s->interval != 4096) {
		cell_table_add_batch(t);
		b = cell_table_get_batch(t);
	}
	interval = b->count ? b->interval[b->count - 1] :
			      cell_table_get_interval(t, s->interval, s->unit);
	i = b->count++;
	b->owner[i] = owner;
	b->offset[i] = s->offset;
	b->hash[i] = cell_hash(cell_owner_hash(t, owner), s->offset);
	b->sample[i] = pack_sample(catalog, ids[s->sample_class], s->latency);
	b->interval[i] = interval;
	if (s->interval != 4096)
		cell_table_add_batch(t);
}

static struct cell_table *table_new(struct sample_class_catalog *catalog, u64 bytes)
{
	const struct cell_table_config config = { .bytes = bytes,
						  .sample_class = catalog,
						  .seed = SEED };
	struct cell_table *t;

	assert_int_equal(cell_table_new(&config, &t), 0);
	return t;
}

static void assert_counters(const struct profile_counters *got, const struct profile_counters *want)
{
	assert_int_equal(got->samples, want->samples);
	assert_memory_equal(got->weight, want->weight, sizeof(got->weight));
	assert_memory_equal(&got->counts, &want->counts, sizeof(got->counts));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		assert_int_equal(got->latency[i].sum, want->latency[i].sum);
		assert_int_equal(got->latency[i].max, want->latency[i].max);
		assert_int_equal(got->latency[i].count, want->latency[i].count);
		assert_memory_equal(got->latency[i].bucket, want->latency[i].bucket,
				    sizeof(got->latency[i].bucket));
	}
}

/* Compare each cell with @want, and check that there is no other cell. */
static void assert_cells(const struct cell_table *t,
			 const struct profile_counters want[static CELLS])
{
	static const struct profile_counters none;
	struct cell_row row;
	u64 samples = 0, wanted = 0;

	for (u32 i = 0; i < CELLS; i++) {
		u64 owner = cell_owner_make(i / OFFSETS / BINARIES, i / OFFSETS % BINARIES);
		struct profile_counters got = { 0 };

		if (cell_table_find(t, owner, i % OFFSETS * 4, &row)) {
			cell_row_add_counters(t, &row, &got);
			assert_int_equal(got.samples, cell_row_count_samples(t, &row));
		}
		assert_counters(&got, want[i].samples ? &want[i] : &none);
		wanted += want[i].samples;
	}
	for (struct cell_cursor cursor = { 0 }; cell_table_next(t, &cursor, &row);) {
		samples += cell_row_count_samples(t, &row);
		assert_false(row.evicted);
	}
	assert_int_equal(samples, wanted);
}

static struct profile_counters *counters_new(u32 count)
{
	struct profile_counters *c = calloc(count, sizeof(*c));

	assert_non_null(c);
	return c;
}

/* Without evictions each counter of each cell is exact, with a budget and without one. */
static void test_counters_are_exact(void **state)
{
	static const u64 budgets[] = { 0, 4U << 20 };
	struct profile_counters *want = counters_new(CELLS);
	struct fixture *f = *state;

	for (u32 k = 0; k < ARRAY_SIZE(budgets); k++) {
		struct cell_table *t = table_new(&f->catalog, budgets[k]);

		for (u32 round = 0; round < 2; round++) {
			memset(want, 0, CELLS * sizeof(*want));
			for (u32 i = 0; i < 600000; i++) {
				struct drawn_sample s = draw_sample();

				add_sample_to_counters(&want[get_cell_index(&s)], &f->catalog,
						       f->ids, &s);
				table_count_samples(t, &f->catalog, f->ids, &s);
			}
			cell_table_add_batch(t);
			cell_table_flush(t);
			assert_cells(t, want);
			cell_table_clear(t);
		}
		cell_table_free(t);
	}
	free(want);
}

/* One cell has so many samples that all small counters overflow, some of them more than once. */
static void test_small_counters_overflow(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0);
	struct profile_counters *want = counters_new(CELLS);

	for (u32 i = 0; i < 1000000; i++) {
		struct drawn_sample s = { .sample_class = 1 + i % 2,
					  .interval = 4096,
					  .unit = UNIT_INSTRUCTIONS,
					  .latency = { i % 3, UINT16_MAX, i % 2 } };

		add_sample_to_counters(&want[0], &f->catalog, f->ids, &s);
		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	assert_cells(t, want);
	cell_table_free(t);
	free(want);
}

/* A table that grows through many sizes of its index loses no cell. */
static void test_growing_table_keeps_cells(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0);
	struct cell_table_stats stats;
	const u32 cells = 100000;
	struct cell_row row;

	for (u32 i = 0; i < 3 * cells; i++) {
		struct drawn_sample s = { .program = i % cells % 7,
					  .binary = i % cells % 11,
					  .offset = i % cells,
					  .interval = 4096,
					  .unit = UNIT_INSTRUCTIONS };

		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	cell_table_get_stats(t, &stats);
	assert_int_equal(stats.cells, cells);
	assert_int_equal(stats.evicted, 0);
	for (u32 i = 0; i < cells; i++) {
		assert_true(cell_table_find(t, cell_owner_make(i % 7, i % 11), i, &row));
		assert_int_equal(cell_row_count_samples(t, &row), 3);
	}
	cell_table_free(t);
}

/* A table without a budget uses memory as its cells need it. */
static void test_memory_follows_cells(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0);
	struct cell_table_stats stats;

	cell_table_get_stats(t, &stats);
	assert_true(stats.bytes < 256U << 10);
	for (u32 i = 0; i < 10000; i++) {
		struct drawn_sample s = { .offset = draw_random() % 10000,
					  .interval = 4096,
					  .unit = UNIT_INSTRUCTIONS };

		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	cell_table_get_stats(t, &stats);
	assert_true(stats.bytes < 2U << 20);
	cell_table_free(t);
}

/* Sum all rows: of the machine, and of each program. */
static void table_sum_rows(const struct cell_table *t, struct profile_counters *machine,
			   struct profile_counters *programs)
{
	struct cell_row row;

	for (struct cell_cursor cursor = { 0 }; cell_table_next(t, &cursor, &row);) {
		cell_row_add_counters(t, &row, machine);
		assert_in_range(row.program, 0, PROGRAMS - 1);
		cell_row_add_counters(t, &row, &programs[row.program]);
	}
}

/*
 * Many more cells than the budget holds: memory stays within it, and the sums over all rows, and
 * over those of each program, are exact.
 */
static void test_evictions_keep_sums(void **state)
{
	static const u64 budgets[] = { 64U << 10, 256U << 10, 1U << 20 };
	struct fixture *f = *state;

	for (u32 k = 0; k < ARRAY_SIZE(budgets); k++) {
		struct profile_counters *want = counters_new(PROGRAMS + 1);
		struct profile_counters *got = counters_new(PROGRAMS + 1);
		struct cell_table *t = table_new(&f->catalog, budgets[k]);
		struct cell_table_stats stats;

		for (u32 i = 0; i < 400000; i++) {
			struct drawn_sample s = draw_sample();

			if (i % 4)
				s.offset = 4 * (draw_random() % 50000);
			add_sample_to_counters(&want[PROGRAMS], &f->catalog, f->ids, &s);
			add_sample_to_counters(&want[s.program], &f->catalog, f->ids, &s);
			table_count_samples(t, &f->catalog, f->ids, &s);
		}
		cell_table_add_batch(t);
		cell_table_flush(t);
		table_sum_rows(t, &got[PROGRAMS], got);
		for (u32 i = 0; i <= PROGRAMS; i++)
			assert_counters(&got[i], &want[i]);
		cell_table_get_stats(t, &stats);
		assert_true(stats.evicted > 10000);
		assert_true(stats.refused > 1000 && stats.refused < stats.evicted);
		assert_true(stats.evictions > 1000);
		assert_int_equal(stats.uncounted, 0);
		/* The counters of evicted samples may exceed the budget by a quarter. */
		assert_true(stats.bytes < budgets[k] + budgets[k] / 4 + 20000);
		cell_table_free(t);
		free(want);
		free(got);
	}
}

/*
 * If evicted samples belong to many programs, each with many pairs, most of the memory is still
 * used for cells, and each program has all of its samples.
 */
static void test_many_programs_keep_all_samples(void **state)
{
	struct fixture *f = *state;
	const u64 bytes = 4U << 20;
	const u32 programs = 200, each = 5000;
	struct cell_table *t = table_new(&f->catalog, bytes);
	struct cell_table_stats stats;
	u64 *samples = calloc(programs, sizeof(*samples));
	struct cell_row row;

	assert_non_null(samples);
	for (u32 i = 0; i < programs * each; i++) {
		struct drawn_sample s = { .program = i % programs,
					  .offset = draw_random() % 100000,
					  .sample_class = draw_random() % CLASSES,
					  .interval = 4096,
					  .latency = { (u16)(draw_random() >>
							     (48 + draw_random() % 16)) },
					  .unit = UNIT_INSTRUCTIONS };

		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	for (struct cell_cursor cursor = { 0 }; cell_table_next(t, &cursor, &row);)
		samples[row.program] += cell_row_count_samples(t, &row);
	for (u32 i = 0; i < programs; i++)
		assert_int_equal(samples[i], each);
	cell_table_get_stats(t, &stats);
	assert_true(stats.evicted > (u64)programs * each / 2);
	assert_int_equal(stats.uncounted, 0);
	assert_true(stats.bytes < bytes + bytes / 4);
	assert_true(stats.cells > stats.capacity * 9 / 10);
	free(samples);
	cell_table_free(t);
}

#define STREAM_OFFSETS 50000U
#define STREAM_TOP     32U

/* With a hundred times as many locations as cells, the heaviest locations are in the table. */
static void test_heaviest_locations_stay(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 168U << 10);
	u64 counted[STREAM_TOP] = { 0 };
	struct cell_table_stats stats;
	struct cell_row row;
	u32 found = 0;

	for (u32 i = 0; i < 1000000; i++) {
		double share = (double)(draw_random() >> 11) * 0x1p-53;
		struct drawn_sample s = { .offset = (u64)pow(STREAM_OFFSETS, share) - 1,
					  .interval = 4096,
					  .unit = UNIT_INSTRUCTIONS };

		if (s.offset < STREAM_TOP)
			counted[s.offset]++;
		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	cell_table_get_stats(t, &stats);
	assert_in_range(stats.capacity, 400, 600);
	for (u32 i = 0; i < STREAM_TOP; i++)
		found += cell_table_find(t, 0, i, &row) &&
			 cell_row_count_samples(t, &row) * 10 > counted[i] * 9;
	print_message("%u of the %u heaviest, %.1f %% evicted\n", found, STREAM_TOP,
		      (double)stats.evicted / 1e4);
	assert_true(found >= STREAM_TOP - 1);
	cell_table_free(t);
}

/*
 * Weights stay exact if there are more than CELL_INTERVALS different intervals, so that the table
 * reuses numbers of intervals.
 */
static void test_weights_with_many_intervals(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 1U << 20);
	struct profile_counters *want = counters_new(CELLS);

	for (u32 i = 0; i < 100000; i++) {
		struct drawn_sample s = draw_sample();

		if (i % 3 == 0) {
			s.interval = 5000 + i % 3000 * 7;
			s.unit = i % 2 ? UNIT_MICRO_OPS : UNIT_INSTRUCTIONS;
		}
		add_sample_to_counters(&want[get_cell_index(&s)], &f->catalog, f->ids, &s);
		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	assert_cells(t, want);
	cell_table_free(t);
	free(want);
}

#define SHARDS 3

/* Shards in which classes have other numbers add up to the table that counts everything. */
static void test_merged_shards_add_up(void **state)
{
	struct sample_class_catalog catalogs[SHARDS] = { 0 };
	u16 ids[SHARDS][CLASSES];
	struct cell_table *shards[SHARDS], *whole;
	struct profile_counters *want = counters_new(CELLS);
	struct fixture *f = *state;

	whole = table_new(&f->catalog, 0);
	for (u32 i = 0; i < SHARDS; i++) {
		catalog_fill(&catalogs[i], ids[i], i & 1);
		shards[i] = table_new(&catalogs[i], i ? 4U << 20 : 0);
	}
	for (u32 i = 0; i < 400000; i++) {
		struct drawn_sample s = draw_sample();
		u32 k = draw_random() % SHARDS;

		s.interval = i % 1000 ? 4096 : 5000 + i / 1000 % 300;
		add_sample_to_counters(&want[get_cell_index(&s)], &f->catalog, f->ids, &s);
		table_count_samples(shards[k], &catalogs[k], ids[k], &s);
		if (i % 50000 != 7)
			continue;
		cell_table_add_batch(shards[k]);
		cell_table_flush(shards[k]);
		cell_table_merge(whole, shards[k]);
		cell_table_clear(shards[k]);
	}
	for (u32 i = 0; i < SHARDS; i++) {
		cell_table_add_batch(shards[i]);
		cell_table_flush(shards[i]);
		cell_table_merge(whole, shards[i]);
		cell_table_free(shards[i]);
		sample_class_deinit(&catalogs[i]);
	}
	assert_cells(whole, want);
	cell_table_free(whole);
	free(want);
}

/*
 * Merge shards with any number of rows, and without rows, while other shards wait for their memory.
 */
static void test_merge_rows(void **state)
{
	struct fixture *f = *state;

	for (u32 rows = 0; rows < 100; rows++) {
		struct cell_table *whole = table_new(&f->catalog, 0);
		struct cell_table *shard = table_new(&f->catalog, 0);
		struct cell_table_stats stats;
		struct cell_row row;

		for (u32 i = 0; i < rows; i++) {
			struct drawn_sample s = { .offset = i,
						  .interval = 4096,
						  .unit = UNIT_INSTRUCTIONS };

			table_count_samples(shard, &f->catalog, f->ids, &s);
		}
		cell_table_add_batch(shard);
		cell_table_flush(shard);
		cell_table_merge(whole, shard);
		cell_table_merge(whole, shard);
		cell_table_get_stats(whole, &stats);
		assert_int_equal(stats.cells, rows);
		for (u32 i = 0; i < rows; i++) {
			assert_true(cell_table_find(whole, 0, i, &row));
			assert_int_equal(cell_row_count_samples(whole, &row), 2);
		}
		cell_table_free(whole);
		cell_table_free(shard);
	}
}

static void assert_machine_counters(const struct cell_table *t, const struct profile_counters *want)
{
	struct profile_counters *got = counters_new(PROGRAMS + 1);

	table_sum_rows(t, &got[PROGRAMS], got);
	assert_counters(&got[PROGRAMS], want);
	free(got);
}

/* A merge into a table that is too small evicts, and loses no sample. */
static void test_merge_evicts(void **state)
{
	struct fixture *f = *state;
	struct cell_table *whole = table_new(&f->catalog, 64U << 10);
	struct cell_table *shard = table_new(&f->catalog, 0);
	struct profile_counters *want = counters_new(1);
	struct cell_table_stats stats;

	for (u32 i = 0; i < 200000; i++) {
		struct drawn_sample s = draw_sample();

		if (i % 2)
			s.offset = 4 * (draw_random() % 10000);
		add_sample_to_counters(want, &f->catalog, f->ids, &s);
		table_count_samples(shard, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(shard);
	cell_table_flush(shard);
	cell_table_merge(whole, shard);
	cell_table_get_stats(whole, &stats);
	assert_true(stats.evicted > 1000);
	assert_machine_counters(whole, want);
	cell_table_free(whole);
	cell_table_free(shard);
	free(want);
}

static u8 *save_table(struct cell_table *t, size_t *ret_len)
{
	struct serializer to = { .at = malloc(16U << 20), .capacity = 16U << 20 };

	assert_non_null(to.at);
	cell_table_save(t, &to);
	assert_false(to.full);
	*ret_len = to.len;
	return to.at;
}

/*
 * A restored table equals the saved one, even if classes have other numbers, or samples were
 * evicted.
 */
static void test_restored_table_is_equal(void **state)
{
	static const u64 budgets[] = { 0, 4U << 20, 64U << 10 };
	struct fixture *f = *state;

	for (u32 k = 0; k < ARRAY_SIZE(budgets); k++) {
		struct profile_counters *want = counters_new(CELLS), *machine = counters_new(1);
		struct cell_table *t = table_new(&f->catalog, budgets[k]), *next;
		struct sample_class_catalog catalog = { 0 };
		u16 ids[CLASSES];
		struct deserializer from = { 0 };
		u8 *bytes;

		catalog_fill(&catalog, ids, true);
		for (u32 i = 0; i < 200000; i++) {
			struct drawn_sample s = draw_sample();

			s.interval = i % 1000 ? 4096 : 5000 + i / 1000;
			add_sample_to_counters(&want[get_cell_index(&s)], &f->catalog, f->ids, &s);
			add_sample_to_counters(machine, &f->catalog, f->ids, &s);
			table_count_samples(t, &f->catalog, f->ids, &s);
		}
		cell_table_add_batch(t);
		cell_table_flush(t);
		bytes = save_table(t, &from.len);
		from.at = bytes;
		next = table_new(&catalog, budgets[k]);
		assert_int_equal(cell_table_load(next, &from, NULL), 0);
		assert_int_equal(from.pos, from.len);
		assert_machine_counters(next, machine);
		if (k < 2)
			assert_cells(next, want);
		cell_table_free(next);
		cell_table_free(t);
		sample_class_deinit(&catalog);
		free(bytes);
		free(want);
		free(machine);
	}
}

/* Changed ids are translated. Rows of programs that no longer exist count for no program. */
static void test_ids_are_translated(void **state)
{
	static const u32 programs[] = { 7, CELL_NO_PROGRAM }, binaries[] = { 3, 9 };
	const struct cell_translation translation = {
		.program = programs, .programs = 2, .binary = binaries, .binaries = 2
	};
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0), *next = table_new(&f->catalog, 0);
	struct deserializer from = { 0 };
	struct cell_row row;
	u8 *bytes;

	for (u32 i = 0; i < 300; i++) {
		struct drawn_sample s = { .program = i % 3,
					  .binary = i % 3,
					  .offset = 16,
					  .interval = 4096,
					  .unit = UNIT_INSTRUCTIONS };

		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	bytes = save_table(t, &from.len);
	from.at = bytes;
	assert_int_equal(cell_table_load(next, &from, &translation), 0);
	assert_true(cell_table_find(next, cell_owner_make(7, 3), 16, &row));
	assert_int_equal(cell_row_count_samples(next, &row), 100);
	assert_true(cell_table_find(next, cell_owner_make(CELL_NO_PROGRAM, 9), 16, &row));
	assert_int_equal(cell_row_count_samples(next, &row), 100);
	assert_true(
		cell_table_find(next, cell_owner_make(CELL_NO_PROGRAM, CELL_UNMAPPED), 16, &row));
	assert_int_equal(cell_row_count_samples(next, &row), 100);
	cell_table_free(t);
	cell_table_free(next);
	free(bytes);
}

/* Bytes that end early are refused. A wrong byte is refused, or changes only numbers. */
static void test_damaged_bytes_are_refused(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0);
	struct deserializer from = { 0 };
	size_t len;
	u8 *bytes;

	for (u32 i = 0; i < 3000; i++) {
		struct drawn_sample s = draw_sample();

		table_count_samples(t, &f->catalog, f->ids, &s);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
	bytes = save_table(t, &len);
	for (u32 i = 0; i < 400; i++) {
		struct cell_table *next = table_new(&f->catalog, CELL_BYTES_MIN);
		size_t at = draw_random() % len;
		u8 byte = bytes[at];

		from = (struct deserializer){ .at = bytes, .len = i % 2 ? at : len };
		bytes[at] ^= i % 2 ? 0 : (u8)(1 + draw_random() % 255);
		if (i % 2)
			assert_int_equal(cell_table_load(next, &from, NULL), -EBADMSG);
		else
			(void)cell_table_load(next, &from, NULL);
		bytes[at] = byte;
		cell_table_free(next);
	}
	cell_table_free(t);
	free(bytes);
}

/*
 * The counts of levels in a row are those of its classes, and the latencies those of their samples.
 */
static void test_levels_of_classes(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0);
	struct cell_level level[SPE_LEVELS] = { 0 };
	u64 key = sample_class_make_key(SPE_HAS_EVENTS | SPE_HAS_OP |
						SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
					SPE_OP_LOAD_STORE, 0, 0, 0);
	/* E[3]: the first level cache missed. */
	u16 beyond = sample_class_find(&f->catalog, 2 | 1U << 3, key, NULL);
	u16 branch = f->ids[1];
	struct cell_row row;

	for (u32 i = 0; i < 5000; i++) {
		struct cell_batch *b = cell_table_get_batch(t);

		b->count = 1;
		b->owner[0] = 1;
		b->offset[0] = 2;
		b->hash[0] = cell_hash(cell_owner_hash(t, 1), 2);
		b->sample[0] =
			cell_sample_pack(i % 4 ? beyond : branch, i % 4 ? 100 + i % 2 : 9, 0, 0);
		b->interval[0] = cell_table_get_interval(t, 1, UNIT_INSTRUCTIONS);
		cell_table_add_batch(t);
	}
	cell_table_flush(t);
	assert_true(cell_table_find(t, 1, 2, &row));
	cell_row_add_levels(t, &row, level);
	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		bool is = sample_class_get_by_id(&f->catalog, beyond)->origin.level == i;

		assert_int_equal(level[i].count, is ? 3750 : 0);
		assert_int_equal(level[i].latency.count, is ? 3750 : 0);
		assert_int_equal(level[i].latency.sum, is ? 3750 * 100 + 2500 : 0);
		if (is)
			assert_in_range(histogram_get_quantile(&level[i].latency, 500), 100, 108);
	}
	cell_table_free(t);
}

static u16 make_access_class(struct sample_class_catalog *catalog, u8 subclass, u64 events,
			     int source)
{
	u64 present = SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL);
	u64 key =
		sample_class_make_key(present | (source < 0 ? 0 : SPE_HAS_SOURCE),
				      SPE_OP_LOAD_STORE, subclass, source < 0 ? 0 : (u16)source, 0);

	/* Neoverse N1 */
	return sample_class_find(catalog, events, key, spe_data_sources_find(0x413fd0c1));
}

static void count_one_sample(struct cell_table *t, u32 program, u64 offset, u16 id, u16 total)
{
	struct cell_batch *b = cell_table_get_batch(t);
	u64 owner = cell_owner_make(program, 1);

	b->count = 1;
	b->owner[0] = owner;
	b->offset[0] = offset;
	b->hash[0] = cell_hash(cell_owner_hash(t, owner), offset);
	b->sample[0] = cell_sample_pack(id, total, 0, 0);
	b->interval[0] = cell_table_get_interval(t, 1, UNIT_INSTRUCTIONS);
	cell_table_add_batch(t);
}

static bool is_program(void *ctx, u32 program)
{
	return program == *(const u32 *)ctx;
}

static void assert_level(const struct level_table *levels, u32 i, const struct level_row *want)
{
	const struct level_row *got = &levels->row[i];

	assert_int_equal(got->level, want->level);
	assert_int_equal(got->count, want->count);
	assert_int_equal(got->timed, want->timed);
	assert_true(got->share == want->share);
	assert_true(got->mean == want->mean);
	assert_int_equal(got->p50, want->p50);
	assert_int_equal(got->p99, want->p99);
}

#define E_L1  (1ULL << SPE_EVENT_L1D_ACCESS)
#define E_LLC (1ULL << SPE_EVENT_L1D_REFILL | 1ULL << SPE_EVENT_LLC_MISS)

/* The table of levels of one program, of another one, and of the machine. */
static void test_level_table(void **state)
{
	static const u32 programs[] = { 7, 9 };
	struct cell_level one[SPE_LEVELS] = { 0 }, all[SPE_LEVELS] = { 0 };
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, 0);
	u16 l1 = make_access_class(&f->catalog, 0, E_L1, -1),
	    none = make_access_class(&f->catalog, 0, 0, -1);
	u16 packet = make_access_class(&f->catalog, 0, E_L1, 0xe);
	u16 store = make_access_class(&f->catalog, SPE_OP_LDST, E_LLC, -1);
	struct level_table levels;

	/* Upper bounds of buckets are exact. */
	for (u32 i = 0; i < 600; i++)
		count_one_sample(t, 7, i % 3, l1, 4);
	for (u32 i = 0; i < 100; i++)
		count_one_sample(t, 7, i % 3, packet, 128);
	for (u32 i = 0; i < 100; i++)
		count_one_sample(t, 7, 1, store, i < 3 ? 1024 : 256);
	for (u32 i = 0; i < 200; i++)
		count_one_sample(t, 9, 1, none, 16);
	/* A sample that is neither a load nor a store counts for no level. */
	count_one_sample(t, 9, 1, f->ids[1], 9);
	cell_table_flush(t);
	cell_table_add_levels(t, is_program, (void *)&programs[0], one);
	level_table_fill(one, &levels);
	assert_int_equal(levels.accesses, 800);
	assert_int_equal(levels.rows, 2);
	assert_level(&levels, 0,
		     &(struct level_row){ SPE_LEVEL_L1, 600, 600.0 / 800, 600, 4, 4, 4 });
	assert_level(&levels, 1,
		     &(struct level_row){ SPE_LEVEL_DRAM, 200, 200.0 / 800, 200,
					  (100 * 128 + 97 * 256 + 3 * 1024) / 200.0, 128, 1024 });
	cell_table_add_levels(t, NULL, NULL, all);
	level_table_fill(all, &levels);
	assert_int_equal(levels.accesses, 1000);
	assert_int_equal(levels.rows, 3);
	assert_level(&levels, 2,
		     &(struct level_row){ SPE_LEVEL_UNKNOWN, 200, 200.0 / 1000, 200, 16, 16, 16 });
	cell_table_free(t);
}

/* Even in a small table with many classes and latencies, the count of each level is exact. */
static void test_levels_of_evicted(void **state)
{
	struct fixture *f = *state;
	struct cell_table *t = table_new(&f->catalog, CELL_BYTES_MIN);
	struct cell_level level[SPE_LEVELS] = { 0 };
	u64 want[SPE_LEVELS] = { 0 }, accesses = 0;
	struct level_table levels;

	for (u32 i = 0; i < 50000; i++) {
		u64 r = draw_random();
		u16 id = make_access_class(&f->catalog, r & 1, (r >> 8 & 0xff) << 2,
					   (int)(r >> 16 & 15));
		const struct sample_class *c = sample_class_get_by_id(&f->catalog, id);

		count_one_sample(t, (u32)(r >> 32) % 20, r >> 40 & 0xfff, id,
				 (u16)(r >> 44 & 0xfff));
		want[c->origin.level]++;
		accesses++;
	}
	cell_table_flush(t);
	cell_table_add_levels(t, NULL, NULL, level);
	for (u32 i = 0; i < SPE_LEVELS; i++) {
		assert_int_equal(level[i].count, want[i]);
		assert_true(level[i].latency.count <= level[i].count);
	}
	level_table_fill(level, &levels);
	assert_int_equal(levels.accesses, accesses);
	cell_table_free(t);
}

struct class_counts {
	const struct sample_class_catalog *catalog;
	u32 *count;
};

static void count_pairs_with_class(void *ctx, const struct cell_pair *pair)
{
	struct class_counts *w = ctx;

	*w->count += sample_class_get_by_id(w->catalog, pair->sample_class)->events != 0;
}

/*
 * If one cell has more pairs than a table with a budget permits, further pairs have a class without
 * events, but the events are still counted.
 */
static void test_too_many_pairs_keep_events(void **state)
{
	struct fixture *f = *state;
	struct cell_table *tables[] = { table_new(&f->catalog, 4U << 20),
					table_new(&f->catalog, 0) };
	u64 key = sample_class_make_key(SPE_HAS_EVENTS | SPE_HAS_OP |
						SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
					SPE_OP_LOAD_STORE, 0, 0, 0);
	struct profile_counters got[2] = { 0 };
	u32 whole_pairs[2] = { 0 };
	const u32 classes = 3000;

	for (u32 k = 0; k < 2; k++) {
		struct cell_row row;

		for (u32 i = 0; i < classes; i++) {
			struct cell_batch *b = cell_table_get_batch(tables[k]);

			b->count = 1;
			b->owner[0] = 1;
			b->offset[0] = 2;
			b->hash[0] = cell_hash(cell_owner_hash(tables[k], 1), 2);
			b->sample[0] = cell_sample_pack(
				sample_class_find(&f->catalog, (u64)i << 32 | 2, key, NULL), 5, 0,
				0);
			b->interval[0] = cell_table_get_interval(tables[k], 1, UNIT_INSTRUCTIONS);
			cell_table_add_batch(tables[k]);
		}
		cell_table_flush(tables[k]);
		assert_true(cell_table_find(tables[k], 1, 2, &row));
		cell_row_add_counters(tables[k], &row, &got[k]);
		cell_row_each_pair(tables[k], &row, count_pairs_with_class,
				   &(struct class_counts){ &f->catalog, &whole_pairs[k] });
		assert_int_equal(got[k].samples, classes);
		assert_int_equal(got[k].counts.event[1], classes);
		assert_int_equal(got[k].counts.kind[SPE_KIND_LOAD], classes);
		assert_int_equal(got[k].latency[PROFILE_TOTAL].sum, classes * 5);
		cell_table_free(tables[k]);
	}
	assert_in_range(whole_pairs[0], 300, classes / 2);
	assert_int_equal(whole_pairs[1], classes);
	assert_memory_equal(&got[0].counts, &got[1].counts, sizeof(got[0].counts));
}

static void test_too_small_budget_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cell_table_config config = { .bytes = CELL_BYTES_MIN - 1,
					    .sample_class = &f->catalog };
	struct cell_table *t = NULL;

	assert_int_equal(cell_table_new(&config, &t), -EINVAL);
	assert_null(t);
	assert_null(cell_table_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(test_small_counters_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_growing_table_keeps_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_follows_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(test_evictions_keep_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_programs_keep_all_samples, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_heaviest_locations_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_weights_with_many_intervals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_merged_shards_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_merge_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_merge_evicts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restored_table_is_equal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ids_are_translated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_bytes_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels_of_classes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_level_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels_of_evicted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_pairs_keep_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_small_budget_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
