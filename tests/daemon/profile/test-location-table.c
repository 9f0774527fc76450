// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of locations: its small counters overflow into larger ones, and no count is lost or
 * added.
 */
#include "test.h"

#include "profile/location-table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEYS   40
#define TRAITS 60 /* more than the lanes of a location, and the entries of a chain */

static u64 random_state = 88172645463325252ULL;

static u64 random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct fixture {
	struct sample_class_catalog catalog;
	u16 ids[TRAITS];
};

/* Loads and branches with and without latencies, each with different events. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(sample_class_init(&f->catalog), 0);
	for (u32 i = 0; i < TRAITS; i++) {
		u64 present = SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
			      (i % 3 ? SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) : 0) |
			      (i % 5 ? SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION) : 0);
		u64 key = sample_class_key(present, i & 1 ? SPE_OP_BRANCH : SPE_OP_LOAD_STORE, 0, 0,
					   0);

		f->ids[i] = sample_class_find(&f->catalog, i * 2, key, NULL);
		assert_int_equal(f->ids[i], i + 1);
	}
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

/* Random facts in few buckets, so that some counters overflow twice. */
static struct sample_facts random_facts(struct fixture *f)
{
	u64 r = random_next();
	struct sample_facts facts = { .sample_class = f->ids[r % TRAITS & (r & 0x10000 ? 3 : 63)] };
	const struct sample_class *t = sample_class_of(&f->catalog, facts.sample_class);

	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		u16 cycles = r & 0x700000 ? 20 : (u16)(r >> 16 * i >> 8 & 0xffff);

		facts.latency[i] = t->absent[i] ? 0 : cycles;
		facts.bucket[i] = t->absent[i] ?: (u8)histogram_bucket(cycles);
	}
	/* Of CPUs with longer and shorter intervals than the table's. */
	facts.excess = r >> 60 < 4 ? (r >> 40 & 0xfff) - 1000 : 0;
	return facts;
}

/* The bucket of a function's histogram of issue or translation: the last one of the octave. */
static unsigned int coarse(unsigned int bucket)
{
	u32 upper = 4;

	if (bucket < 3)
		return bucket;
	while (upper < histogram_upper(bucket) && upper < 1U << 14)
		upper *= 2;
	return histogram_bucket((u16)upper);
}

#define INTERVAL 4096

static void want_add(struct counters *want, const struct fixture *f,
		     const struct sample_facts *facts)
{
	const struct sample_class *t = sample_class_of(&f->catalog, facts->sample_class);
	u64 counts[SAMPLE_COUNTS];
	u8 ones[SAMPLE_COUNTS];

	want->samples++;
	want->weight[UNIT_INSTRUCTIONS] += INTERVAL + facts->excess;
	memcpy(counts, &want->counts, sizeof(counts));
	memcpy(ones, t->ones, sizeof(ones));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		counts[i] += ones[i];
	memcpy(&want->counts, counts, sizeof(counts));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		struct histogram *h = &want->latency[i];
		unsigned int bucket = facts->bucket[i];

		if (t->absent[i])
			continue;
		h->count++;
		h->sum += facts->latency[i];
		if (facts->latency[i] > h->max)
			h->max = facts->latency[i];
		h->bucket[i == PROFILE_TOTAL ? bucket : coarse(bucket)]++;
	}
}

static struct location *get(struct location_table *table, u64 place, u64 *evicted)
{
	const u64 owner = location_owner(1, 1);
	struct location_key key;

	location_prepare(table, place, owner, location_salt(table, owner), &key);
	return location_get(table, &key, evicted);
}

static void assert_counters(const struct location_table *table, const struct location *entry,
			   const struct counters *want)
{
	struct sample_counts counts;
	struct counters got = { 0 };

	location_counters(table, entry, &got);
	assert_int_equal(got.samples, want->samples);
	assert_memory_equal(&got.counts, &want->counts, sizeof(got.counts));
	assert_memory_equal(&got.latency[0], &want->latency[0], sizeof(got.latency[0]));
	assert_memory_equal(&got.latency[1], &want->latency[1], sizeof(got.latency[0]));
	assert_memory_equal(&got.latency[2], &want->latency[2], sizeof(got.latency[0]));
	location_counts(table, entry, &counts);
	assert_memory_equal(&counts, &want->counts, sizeof(counts));
	assert_int_equal(location_samples(table, entry), want->samples);
	assert_int_equal(location_latency(table, entry), want->latency[PROFILE_TOTAL].sum);
	assert_int_equal(location_weight(table, entry), want->weight[UNIT_INSTRUCTIONS]);
}

/* The weight of present and of evicted locations. */
static u64 all_weight(struct location_table *table)
{
	u64 weight = table->evicted_weight;

	for (struct location *l = NULL; (l = location_table_next(table, l));)
		weight += location_weight(table, l);
	return weight;
}

/* Without evictions each counter is exact, also for millions of samples. */
static void test_exact(void **state)
{
	static struct counters want[KEYS];
	struct fixture *f = *state;
	struct location_table *table;
	struct sample_facts facts;
	u64 evicted = 0, key;

	assert_int_equal(location_table_new(1 << 12, &f->catalog, &table), 0);
	for (u32 round = 0; round < 2; round++) {
		memset(want, 0, sizeof(want));
		table->interval = INTERVAL;
		for (u32 i = 0; i < 1000000; i++) {
			facts = random_facts(f);
			key = random_next() % KEYS;
			/* The last locations are rare: their counters do not overflow. */
			if (key > KEYS / 2 && i > 100)
				key = 0;
			want_add(&want[key], f, &facts);
			location_add(table, get(table, key, &evicted), &facts);
		}
		assert_int_equal(evicted, 0);
		assert_true(want[0].samples > 4 * LOCATION_LANE_FULL);
		for (key = 0; key < KEYS; key++)
			assert_counters(table, get(table, key, &evicted), &want[key]);
		/* Memory is used by overflows, and not by all entries. */
		assert_in_range(table->more.used, 10, KEYS / 2 + 1);
		assert_in_range(table->wide.used, 10, KEYS / 2 + 1);
		assert_int_equal(table->unclassified, 0);
		location_table_clear(table);
	}
	location_table_free(table);
}

/* One set with more locations than it holds: a new location starts at 0. */
static void test_evicted(void **state)
{
	struct fixture *f = *state;
	struct counters want[KEYS] = { 0 };
	struct location_table *table;
	struct sample_facts facts;
	struct location *entry = NULL;
	u64 evicted = 0, before, key, samples = 0, weight = 0;
	const u32 n = 400000;

	assert_int_equal(location_table_new(LOCATION_WAYS, &f->catalog, &table), 0);
	table->interval = INTERVAL;
	for (u32 i = 0; i < n; i++) {
		/* For a while one location gets all samples. */
		key = i / 9000 % KEYS;
		before = evicted;
		entry = get(table, key, &evicted);
		if (evicted != before)
			want[key] = (struct counters){ 0 };
		facts = random_facts(f);
		facts.sample_class = f->ids[1 + i % 20];
		for (unsigned int k = 0; k < PROFILE_LATENCIES; k++) {
			u8 absent = sample_class_of(&f->catalog, facts.sample_class)->absent[k];

			facts.latency[k] = absent ? 0 : (u32)(i % 7 * k);
			facts.bucket[k] = absent ?: (u8)histogram_bucket((u16)facts.latency[k]);
		}
		want_add(&want[key], f, &facts);
		location_add(table, entry, &facts);
		weight += INTERVAL + facts.excess;
		if (i % 500 == 0)
			assert_counters(table, entry, &want[key]);
	}
	for (entry = NULL; (entry = location_table_next(table, entry));)
		samples += location_samples(table, entry);
	assert_true(evicted > n / 2);
	assert_int_equal(samples + evicted + table->unclassified, n);
	assert_int_equal(all_weight(table), weight);
	assert_in_range(table->more.used, 1, LOCATION_WAYS);
	assert_in_range(table->chains.used, 1, 4 * LOCATION_WAYS);
	location_table_free(table);
}

static u64 carried_bytes(const struct location_table *table)
{
	return (u64)table->more.used * table->more.size + (u64)table->wide.used * table->wide.size +
	       (u64)table->chains.used * table->chains.size;
}

#define TAIL_PLACES 8192U
#define TAIL_BYTES  (TAIL_PLACES * 128ULL)

/*
 * Many locations that grow, and a few heavy ones: overflow memory stays within its bound, light
 * locations are evicted, each sample is counted, and no heavy location loses any.
 */
static void test_trimmed(void **state)
{
	struct fixture *f = *state;
	struct location_table *table;
	struct location *entry = NULL;
	u64 evicted = 0, samples = 0, heavy = 0, weight = 0, key;
	const u32 n = 1000000;

	assert_int_equal(location_table_new(TAIL_PLACES, &f->catalog, &table), 0);
	table->interval = INTERVAL;
	for (u32 i = 0; i < n; i++) {
		struct sample_facts facts = random_facts(f);

		key = i % 2 ? random_next() % 64 : 64 + random_next() % (TAIL_PLACES / 2);
		location_add(table, get(table, key, &evicted), &facts);
		heavy += key < 64;
		weight += INTERVAL + facts.excess;
		if (i % 64 == 0)
			evicted += location_table_trim(table, TAIL_BYTES);
	}
	assert_true(carried_bytes(table) <= TAIL_BYTES + TAIL_BYTES / 4);
	assert_true(evicted > 0);
	for (entry = NULL; (entry = location_table_next(table, entry));)
		samples += location_samples(table, entry);
	assert_int_equal(samples + evicted + table->unclassified, n);
	assert_int_equal(all_weight(table), weight);
	for (key = 0; key < 64; key++)
		heavy -= location_samples(table, get(table, key, &evicted));
	assert_true(heavy < n / 2 / 1000);
	location_table_free(table);
}

/*
 * Two CPUs compile: half of the samples are of long-running programs, half of locations that appear
 * once.
 */
static void test_tail(void **state)
{
	static const u32 sizes[] = { 16384, 32768 };
	struct fixture *f = *state;
	u64 evicted[2] = { 0 };
	const u32 n = 28000;

	for (u32 k = 0; k < 2; k++) {
		struct location_table *table;

		assert_int_equal(location_table_new(sizes[k], &f->catalog, &table), 0);
		for (u32 i = 0; i < n; i++) {
			struct sample_facts facts = random_facts(f);
			u64 key = i % 2 ? random_next() % 512 : 1000 + i;

			location_add(table, get(table, key, &evicted[k]), &facts);
			if (i % 64 == 0)
				evicted[k] += location_table_trim(table, sizes[k] * 128ULL);
		}
		location_table_free(table);
	}
	print_message("evicted of %u samples: %.2f %% of 16384 places, %.2f %% of 32768\n", n,
		      (double)evicted[0] * 100 / n, (double)evicted[1] * 100 / n);
	assert_true(evicted[0] * 25 > n);
	assert_true(evicted[1] * 100 < n);
}

/* Ranks are halved over time: heavy locations stay, however many appear once. */
static void test_rank(void **state)
{
	struct fixture *f = *state;
	struct sample_facts facts = { .sample_class = f->ids[0] };
	struct location_table *table;
	u64 evicted = 0;

	assert_int_equal(location_table_new(LOCATION_WAYS, &f->catalog, &table), 0);
	for (u32 i = 0; i < 3 * UINT16_MAX; i++)
		location_add(table, get(table, i % 3, &evicted), &facts);
	assert_int_equal(evicted, 0);
	for (u32 i = 0; i < UINT16_MAX / 2; i++) {
		location_add(table, get(table, 100 + i, &evicted), &facts);
		location_add(table, get(table, i % 3, &evicted), &facts);
	}
	assert_int_equal(evicted, UINT16_MAX / 2 - (LOCATION_WAYS - 3));
	for (u32 i = 0; i < 3; i++)
		assert_true(location_samples(table, get(table, i, &evicted)) > UINT16_MAX);
	location_table_free(table);
}

/* How many of @n draws let @count samples replace the lightest entry of a full set. */
static u32 admitted(struct location_table *table, u32 rank, u32 count, u32 n)
{
	u32 yes = 0;

	for (u32 i = 0; i < LOCATION_WAYS; i++)
		table->set->rank[i] = i == 5 ? (u16)rank : UINT16_MAX - 1;
	while (n--)
		yes += location_admits(table, table->set, count);
	return yes;
}

/*
 * A rank of r admits one in r+1 samples, at least one in 8. A location with more samples is
 * admitted.
 */
static void test_admits(void **state)
{
	static const struct {
		u32 rank;
		u32 count;
		u32 one_in;
	} cases[] = {
		{ 0, 1, 1 },	   { 1, 1, 2 },		{ 3, 1, 4 },	 { 7, 1, 8 },
		{ 8, 1, 8 },	   { 1000, 1, 8 },	{ 65534, 1, 8 }, { 99, 100, 1 },
		{ 150, 100, 2 },   { 399, 100, 4 },	{ 5000, 10, 8 }, { 9000, 60000, 1 },
		{ 65534, 300, 8 }, { 65534, 65534, 2 },
	};
	struct fixture *f = *state;
	struct location_table *table;
	const u32 n = 1 << 16;

	assert_int_equal(location_table_new(LOCATION_WAYS, &f->catalog, &table), 0);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 want = n / cases[i].one_in;
		/* At least 6 standard deviations. */
		u32 slack = cases[i].one_in == 1 ? 0 : 800;

		assert_in_range(admitted(table, cases[i].rank, cases[i].count, n), want - slack,
				want + slack);
	}
	location_table_free(table);
}

#define STREAM_PLACES 50000U
#define STREAM_TOP    32U

/* A random location, approximately with Zipf's distribution. */
static u32 zipf(void)
{
	double share = (double)(random_next() >> 11) * 0x1p-53;

	return (u32)pow(STREAM_PLACES, share) - 1;
}

/*
 * Add a stream of samples. Return: how many of the heaviest locations have nine tenths of their
 * samples.
 */
static u32 stream(struct fixture *f, bool draw, u64 *ret_evicted)
{
	struct sample_facts facts = { .sample_class = f->ids[0] };
	u64 counted[STREAM_TOP] = { 0 }, evicted = 0, samples = 0;
	const u32 n = 1000000;
	struct location_table *table;
	struct location_key key;
	struct location *entry;
	u32 found = 0;

	assert_int_equal(location_table_new(256, &f->catalog, &table), 0);
	for (u32 i = 0; i < n; i++) {
		u32 place = zipf();

		if (place < STREAM_TOP)
			counted[place]++;
		location_prepare(table, place, 1, location_salt(table, 1), &key);
		entry = draw ? location_get_admitted(table, &key, 1, &evicted) :
			       location_get(table, &key, &evicted);
		if (entry)
			location_add(table, entry, &facts);
		else
			evicted++;
	}
	for (u32 i = 0; i < STREAM_TOP; i++) {
		location_prepare(table, i, 1, location_salt(table, 1), &key);
		entry = location_find(table, &key);
		found += entry && location_samples(table, entry) * 10 > counted[i] * 9;
	}
	for (entry = NULL; (entry = location_table_next(table, entry));)
		samples += location_samples(table, entry);
	assert_int_equal(samples + evicted, n);
	location_table_free(table);
	*ret_evicted = evicted;
	return found;
}

/* The heaviest of two hundred times as many locations as entries are kept. */
static void test_heaviest(void **state)
{
	u64 evicted, all_evicted;
	u32 found = stream(*state, true, &evicted), all = stream(*state, false, &all_evicted);

	print_message("%u of the %u heaviest by a draw, %.1f %% evicted; %u and %.1f %% if all get in\n",
		      found, STREAM_TOP, (double)evicted / 1e4, all, (double)all_evicted / 1e4);
	assert_true(found >= STREAM_TOP - 1);
	assert_true(evicted < all_evicted);
}

#define MANY (SAMPLE_CLASS_MAX + 1000)

/*
 * More combinations of traits than there are numbers, at one location: they lose their events, and
 * nothing else.
 */
static void test_many(void **state)
{
	struct fixture *f = *state;
	struct location_table *table;
	struct sample_facts facts = { 0 };
	struct counters got = { 0 };
	u64 evicted = 0;
	u32 others = 0;

	assert_int_equal(location_table_new(1 << 12, &f->catalog, &table), 0);
	for (u32 i = 0; i < MANY; i++) {
		u64 key = sample_class_key(SPE_HAS_EVENTS | SPE_HAS_OP, SPE_OP_LOAD_STORE, i & 1, 0,
					   0);
		u16 number = sample_class_find(&f->catalog, (u64)i << 32 | 1, key, NULL);

		facts.sample_class = number;
		others += !number;
		if (!number) {
			sample_class_fill((u64)i << 32 | 1, key, NULL, &f->catalog.at[0]);
			facts.sample_class = sample_class_coarse(&f->catalog, &f->catalog.at[0]);
		}
		assert_int_not_equal(facts.sample_class, SAMPLE_CLASS_OTHERS);
		location_add(table, get(table, 1, &evicted), &facts);
	}
	assert_int_equal(others, MANY - (SAMPLE_CLASS_WHOLE - TRAITS));
	assert_int_equal(table->unclassified, 0);
	location_counters(table, get(table, 1, &evicted), &got);
	assert_int_equal(got.samples, MANY);
	assert_int_equal(got.counts.kind[SPE_KIND_LOAD], (MANY + 1) / 2);
	assert_int_equal(got.counts.kind[SPE_KIND_STORE], MANY / 2);
	assert_int_equal(got.counts.level[SPE_LEVEL_UNKNOWN], MANY);
	assert_in_range(got.counts.event[0], 300, MANY / 2);
	sample_class_clear(&f->catalog);
	assert_int_equal(sample_class_find(&f->catalog, 5, 7, NULL), 1);
	location_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(test_evicted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trimmed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tail, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rank, setup, teardown),
		cmocka_unit_test_setup_teardown(test_admits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_heaviest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
