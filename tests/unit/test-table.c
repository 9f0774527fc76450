// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of places: what its small counters carry over is all there, and no more than it. */
#include "test.h"

#include "table.h"

#include <string.h>

#define KEYS 40

static u64 random_state = 88172645463325252ULL;

static u64 random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Any facts; few buckets, so that some of their counters run over twice. */
static struct sample_facts random_facts(void)
{
	u64 r = random_next();

	return (struct sample_facts){
		.counts = (r & 1 ? TALLY_ONE(TALLY_MEMORY) : 0) |
			  (r & 2 ? TALLY_ONE(TALLY_DRAM) : 0) |
			  (r & 4 ? TALLY_ONE(TALLY_BRANCHES) : 0),
		.latency = (u16)(r >> 8 & 0xfff),
		.bucket = r & 0x38 ? 7 : (u8)(r >> 32 & HISTOGRAM_BUCKETS),
	};
}

static void tally_add(struct tally *tally, const struct sample_facts *facts)
{
	tally->samples++;
	tally->latency_sum += facts->latency;
	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		tally->count[i] += facts->counts >> 8 * i & 0xff;
	tally->bucket[facts->bucket]++;
	if (facts->latency > tally->max)
		tally->max = facts->latency;
}

static struct location *get(struct location_table *table, u64 place, u64 *evicted)
{
	const u64 owner = location_owner(1, 1);
	struct location_key key;

	location_prepare(table, place, owner, location_salt(table, owner), &key);
	return location_get(table, &key, evicted);
}

static bool tally_is(const struct location_table *table, const struct location *entry,
		     const struct tally *want)
{
	struct tally got;

	location_tally(table, entry, &got);
	return !memcmp(&got, want, sizeof(got)) &&
	       location_samples(table, entry) == want->samples &&
	       location_latency(table, entry) == want->latency_sum &&
	       location_count(table, entry, TALLY_DRAM) == want->count[TALLY_DRAM];
}

/* Nothing evicted: each figure is exact, by millions too. */
static void test_exact(void **state)
{
	static struct tally want[KEYS];
	struct location_table *table;
	struct sample_facts facts;
	u64 evicted = 0, key;

	(void)state;
	assert_int_equal(location_table_new(1 << 12, &table), 0);
	for (u32 round = 0; round < 2; round++) {
		memset(want, 0, sizeof(want));
		for (u32 i = 0; i < 1000000; i++) {
			facts = random_facts();
			key = random_next() % KEYS;
			/* The last ones are rare: they carry nothing. */
			if (key > KEYS / 2 && i > 100)
				key = 0;
			tally_add(&want[key], &facts);
			location_add(table, get(table, key, &evicted), &facts);
		}
		assert_int_equal(evicted, 0);
		assert_true(want[0].bucket[7] > 3 * 4096);
		for (key = 0; key < KEYS; key++)
			assert_true(tally_is(table, get(table, key, &evicted), &want[key]));
		/* Room is taken by what was carried, not by what there is. */
		assert_in_range(table->more.used, 10, KEYS / 2 + 1);
		assert_in_range(table->wide.used, 10, KEYS / 2 + 1);
		location_table_clear(table);
	}
	location_table_free(table);
}

/* One set and more places than it has room for: what comes starts at nothing. */
static void test_evicted(void **state)
{
	struct tally want[KEYS] = { 0 };
	struct location_table *table;
	struct sample_facts facts;
	struct location *entry = NULL;
	u64 evicted = 0, before, key, samples = 0;
	const u32 n = 400000;

	(void)state;
	assert_int_equal(location_table_new(LOCATION_WAYS, &table), 0);
	for (u32 i = 0; i < n; i++) {
		/* For a while each is alone, and grows. */
		key = i / 9000 % KEYS;
		before = evicted;
		entry = get(table, key, &evicted);
		if (evicted != before)
			want[key] = (struct tally){ 0 };
		facts = random_facts();
		facts.bucket &= 7;
		tally_add(&want[key], &facts);
		location_add(table, entry, &facts);
		if (i % 500 == 0)
			assert_true(tally_is(table, entry, &want[key]));
	}
	for (entry = NULL; (entry = location_table_next(table, entry));)
		samples += location_samples(table, entry);
	assert_true(evicted > n / 2);
	assert_int_equal(samples + evicted, n);
	assert_in_range(table->more.used, 1, LOCATION_WAYS);
	assert_in_range(table->wide.used, 1, LOCATION_WAYS);
	location_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_evicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
