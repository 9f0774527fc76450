// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the words that describe a comparison. */
#include "test.h"

#include <stdio.h>

#include "lib/diff-words.h"

static void write_place(void *ctx, const struct diff_row *row, char *to, size_t size)
{
	(void)ctx;
	snprintf(to, size, "%s()", strchr(row->key, '\n') + 1);
}

/* Return the counts of a row of a period: half of the samples access memory, each takes @latency. */
static struct diff_counts make_sums(u64 samples, u64 dram, u16 latency)
{
	struct diff_counts counts = { .samples = samples,
				      .operations = 1000 * samples,
				      .value = latency * samples,
				      .memory = samples / 2,
				      .dram = dram,
				      .brief = true };

	counts.latency.count = counts.known_latency.count = samples;
	counts.latency.sum = latency * samples;
	counts.known_latency.bucket[histogram_get_bucket(latency)] = samples;
	counts.known_latency.max = latency;
	return counts;
}

/* Return the counts of a row of a recording: loads of level 1 that take @latency. */
static struct diff_counts make_loads(u64 samples, u64 dram, u16 latency)
{
	struct diff_counts counts = make_sums(samples, dram, latency);

	counts.brief = false;
	counts.loads = counts.memory = samples;
	counts.level[SPE_LEVEL_L1] = samples - dram;
	counts.level[SPE_LEVEL_DRAM] = dram;
	counts.latency = counts.known_latency;
	counts.latency.sum = latency * samples;
	counts.load_latency = counts.latency;
	counts.known_latency = (struct histogram){ 0 };
	return counts;
}

static void add(struct diff *diff, enum diff_side side, const char *key, struct diff_counts counts)
{
	assert_int_equal(diff_add_row(diff, side, key, 0, &counts), 0);
}

/* Finish a comparison, and check its lines; @second may be NULL. */
static void check_words(struct diff *diff, const char *first, const char *second)
{
	struct diff_words words;

	assert_int_equal(diff_finish(diff), 0);
	assert_int_equal(diff_words_make(diff, true, write_place, NULL, &words), 0);
	assert_string_equal(words.line[0], first);
	assert_int_equal(words.count, second ? 2 : 1);
	if (second)
		assert_string_equal(words.line[1], second);
	diff_free(diff);
}

static struct diff *make_diff(void)
{
	struct diff *diff;

	assert_int_equal(diff_new(&diff), 0);
	return diff;
}

/* Check that of periods, which have no mean of loads, DRAM and p99 are described. */
static void test_periods(void **state __attribute__((unused)))
{
	struct diff *diff = make_diff();

	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		add(diff, side, "web\nparse", make_sums(10000, side ? 500 : 50, 12));
		add(diff, side, "web\nsend", make_sums(10000, 50, 12));
		add(diff, side, "db\nscan", make_sums(10000, 50, side ? 96 : 12));
	}
	check_words(diff,
		    "web: loads and stores from DRAM 1.0 to 5.5 %; 4 points of it in parse()",
		    "db: p99 latency 12 to 96 cycles");
}

/* Check that a side of a recording is compared with a period by what both have. */
static void test_recording_and_period(void **state __attribute__((unused)))
{
	struct diff *diff = make_diff();

	add(diff, DIFF_BEFORE, "web\nparse", make_loads(10000, 100, 12));
	add(diff, DIFF_AFTER, "web\nparse", make_sums(20000, 900, 12));
	check_words(diff, "web: loads and stores from DRAM 1.0 to 9.0 %; 8 points of it in parse()",
		    NULL);
}

/* Check that the words do not state that a mean is the same that was not tested. */
static void test_mean_not_tested(void **state __attribute__((unused)))
{
	struct diff *diff = make_diff();

	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		add(diff, side, "web\nparse", make_sums(10000, 50, 12));
	check_words(diff,
		    "No difference exceeds chance. The mean latency is not tested: a period has "
		    "only its sum.",
		    NULL);
	diff = make_diff();
	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		add(diff, side, "web\nparse", make_sums(side ? 5000 : 10000, 0, 12));
		add(diff, side, "web\nsend", make_sums(side ? 10000 : 5000, 0, 12));
	}
	check_words(diff,
		    "2 of 2 rows have a difference that exceeds chance. The mean latency is not "
		    "tested: a period has only its sum.",
		    NULL);
}

/* Check that loads of recordings are described by their mean. */
static void test_recordings(void **state __attribute__((unused)))
{
	struct diff *diff = make_diff();

	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		add(diff, side, "web\nparse", make_loads(10000, side ? 5000 : 0, side ? 24 : 12));
	check_words(diff,
		    "web: mean load latency +100 % (12.0 to 24.0 cycles); 100 points of it in "
		    "parse(): its loads moved from L1 to DRAM",
		    NULL);
	diff = make_diff();
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		add(diff, side, "web\nparse", make_loads(10000, side ? 5000 : 0, 12));
	check_words(diff,
		    "No change of the mean load latency exceeds chance; 1 of 1 rows have another "
		    "difference.",
		    NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_recording_and_period),
		cmocka_unit_test(test_mean_not_tested),
		cmocka_unit_test(test_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
