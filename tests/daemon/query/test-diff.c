// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test differences between two sides. Artificial differences of known size are found. Between two
 * random runs of one program, chance is reported as a difference at most at the stated rate.
 */
#include "test.h"

#include "query/diff.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 60

/* Probabilities are multiples of 2^-32. */
#define P(p) ((u64)((p)*4294967296.0))

/**
 * struct sample_distribution - the distributions from which samples are drawn
 * @weight: weight of each row; rows are drawn in proportion to it
 * @loads: probability that a sample of the row is a load
 * @level: probabilities that its level is at most L1, L2, L3; else DRAM
 * @slow: number of cycles that are added to each latency
 */
struct sample_distribution {
	double weight[ROWS];
	u64 loads[ROWS];
	u64 level[ROWS][3];
	u32 slow[ROWS];
};

static u64 random_state;

static u64 draw_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 32;
}

/* Define rows with 25 % down to 0.1 % of the samples, each with a different mixture of levels. */
static void sample_distribution_make(struct sample_distribution *ret_program)
{
	for (u32 i = 0; i < ROWS; i++) {
		ret_program->weight[i] = 1.0 / (1 + i) / (1 + i / 10);
		ret_program->loads[i] = P(0.2 + 0.6 * (i % 7) / 7);
		ret_program->level[i][0] = P(0.75 + 0.04 * (i % 5));
		ret_program->level[i][1] = P(0.93 + 0.01 * (i % 3));
		ret_program->level[i][2] = P(0.985);
		ret_program->slow[i] = i % 4;
	}
}

static u16 draw_latency(enum spe_level level)
{
	switch (level) {
	case SPE_LEVEL_L1:
		return (u16)(4 + (draw_random() & 3));
	case SPE_LEVEL_L2:
		return (u16)(11 + (draw_random() & 7));
	case SPE_LEVEL_L3:
		return (u16)(40 + (draw_random() & 31));
	default:
		/* Latencies of DRAM have a long tail. */
		return (u16)(180 + (draw_random() & 127) + ((draw_random() & 15) ? 0 : 1800));
	}
}

static void count_drawn_sample(const struct sample_distribution *p, u32 row, struct diff_counts *to)
{
	u64 level = draw_random();
	enum spe_level served = level < p->level[row][0] ? SPE_LEVEL_L1 :
				level < p->level[row][1] ? SPE_LEVEL_L2 :
				level < p->level[row][2] ? SPE_LEVEL_L3 :
							   SPE_LEVEL_DRAM;
	bool load = draw_random() < p->loads[row];
	u16 latency = (u16)(load ? draw_latency(served) : 1 + (draw_random() & 3));

	latency = (u16)(latency + p->slow[row]);
	to->samples++;
	to->operations += 1000;
	to->value += latency;
	histogram_add(&to->latency, latency);
	if (!load)
		return;
	to->memory++;
	to->loads++;
	to->dram += served == SPE_LEVEL_DRAM;
	to->remote += served == SPE_LEVEL_DRAM && !(draw_random() & 3);
	to->level[served]++;
	histogram_add(&to->load_latency, latency);
}

static void make_side(struct diff *diff, enum diff_side side, const struct sample_distribution *p,
		      u32 samples)
{
	struct diff_counts *counts = calloc(ROWS, sizeof(*counts));
	u64 bound[ROWS];
	double all = 0, sum = 0;
	char key[16];

	assert_non_null(counts);
	for (u32 i = 0; i < ROWS; i++)
		all += p->weight[i];
	for (u32 i = 0; i < ROWS; i++) {
		sum += p->weight[i];
		bound[i] = P(sum / all);
	}
	while (samples--) {
		u64 at = draw_random();
		u32 row = 0;

		while (row < ROWS - 1 && at >= bound[row])
			row++;
		count_drawn_sample(p, row, &counts[row]);
	}
	for (u32 i = 0; i < ROWS; i++) {
		snprintf(key, sizeof(key), "f%02u", i);
		if (counts[i].samples)
			assert_int_equal(diff_add_row(diff, side, key, i, &counts[i]), 0);
	}
	free(counts);
}

static struct diff *make_diff(const struct sample_distribution *before, u32 samples_before,
			      const struct sample_distribution *after, u32 samples_after)
{
	struct diff *diff;

	assert_int_equal(diff_new(&diff), 0);
	make_side(diff, DIFF_BEFORE, before, samples_before);
	make_side(diff, DIFF_AFTER, after, samples_after);
	assert_int_equal(diff_finish(diff), 0);
	return diff;
}

static u32 count_marked_rows(const struct diff *diff)
{
	u32 marks = 0;

	for (u32 i = 0; i < diff_get_row_count(diff); i++)
		for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
			marks += diff_get_row(diff, i)->exceeds[m];
	return marks;
}

/* With two seeds of one program, at most 5 % of 1,000 pairs have any marked row. */
static void test_false_alarms(void **state)
{
	/* The sides have equal or very different lengths, and in one case few samples. */
	static const u32 sizes[][2] = {
		{ 2000, 2000 }, { 500, 6000 }, { 300, 300 }, { 3000, 900 }
	};
	u32 alarms = 0, pairs = 0;
	struct sample_distribution p;

	(void)state;
	sample_distribution_make(&p);
	random_state = 0x9e3779b97f4a7c15ULL;
	for (; pairs < 1000; pairs++) {
		const u32 *size = sizes[pairs % ARRAY_SIZE(sizes)];
		struct diff *diff = make_diff(&p, size[0], &p, size[1]);

		alarms += count_marked_rows(diff) > 0;
		diff_free(diff);
	}
	test_row("%u alarms in %u pairs", alarms, pairs);
	assert_row(alarms <= pairs * DIFF_FALSE_ALARM_RATE);
	print_message("%u of %u pairs of two seeds have an alarm\n", alarms, pairs);
}

static const struct diff_row *row_find(const struct diff *diff, const char *key)
{
	for (u32 i = 0; i < diff_get_row_count(diff); i++)
		if (!strcmp(diff_get_row(diff, i)->key, key))
			return diff_get_row(diff, i);
	return NULL;
}

/*
 * If a tenth of the loads of f03 move from L2 to DRAM, the row is found in each of 50 pairs, with
 * the size of the change. At most 5 % of the pairs mark another row.
 */
static void test_slower_row_is_found(void **state)
{
	u32 found = 0, marks = 0, wrong = 0, moved = 0;
	struct sample_distribution before, after;

	(void)state;
	random_state = 88172645463325252ULL;
	sample_distribution_make(&before);
	after = before;
	after.level[3][1] -= P(0.1);
	after.level[3][2] -= P(0.1);
	for (u32 i = 0; i < 50; i++) {
		struct diff *diff = make_diff(&before, 60000, &after, 75000);
		const struct diff_row *row = row_find(diff, "f03");
		enum spe_level from, to;
		double gained;

		assert_non_null(row);
		found += row->exceeds[DIFF_MEAN] && row->exceeds[DIFF_DRAM];
		moved += diff_find_level_move(row, &from, &to) && from == SPE_LEVEL_L2 &&
			 to == SPE_LEVEL_DRAM;
		marks += count_marked_rows(diff);
		for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
			marks -= row->exceeds[m];
		gained = row->value[DIFF_AFTER][DIFF_DRAM] - row->value[DIFF_BEFORE][DIFF_DRAM];
		wrong += gained < 0.06 || gained > 0.14;
		/*
		 * The row of f03 is the first one, because it contributes most to the total change.
		 */
		assert_row(diff_get_row(diff, 0) == row && row->load_change > 0);
		diff_free(diff);
	}
	test_row("found %u, moved %u, wrong %u, other marks %u", found, moved, wrong, marks);
	assert_row(found == 50 && moved == 50 && wrong == 0 && marks <= 50 * 5 / 10);
}

/* If f01 gets 1.3 times its share, f20 disappears and f60 appears, no other row is marked. */
static void test_changed_shares_are_found(void **state)
{
	u32 found = 0, gone = 0, others = 0;
	struct sample_distribution before, after;

	(void)state;
	random_state = 1234567891011ULL;
	sample_distribution_make(&before);
	after = before;
	after.weight[1] *= 1.3;
	after.weight[20] = 0;
	for (u32 i = 0; i < 50; i++) {
		struct diff *diff = make_diff(&before, 20000, &after, 20000);
		const struct diff_row *more = row_find(diff, "f01"), *none = row_find(diff, "f20");

		assert_non_null(more);
		assert_non_null(none);
		found += more->exceeds[DIFF_SHARE] &&
			 more->value[DIFF_AFTER][DIFF_SHARE] > more->value[DIFF_BEFORE][DIFF_SHARE];
		gone += none->exceeds[DIFF_SHARE] && none->value[DIFF_AFTER][DIFF_SHARE] <= 0;
		assert_int_equal(none->row[DIFF_AFTER], UINT32_MAX);
		for (u32 k = 0; k < diff_get_row_count(diff); k++) {
			const struct diff_row *row = diff_get_row(diff, k);

			if (row != more && row != none)
				others += row->exceeds[DIFF_MEAN] || row->exceeds[DIFF_DRAM];
		}
		diff_free(diff);
	}
	test_row("found %u, gone %u, others %u", found, gone, others);
	assert_row(found == 50 && gone == 50 && others <= 2);
}

/* The contributions of the rows add up to the change of the mean of all loads. */
static void test_contributions_add_up(void **state)
{
	struct sample_distribution before, after;
	const struct diff_total *a, *b;
	double sum = 0, change;
	struct diff *diff;

	(void)state;
	random_state = 42;
	sample_distribution_make(&before);
	after = before;
	after.slow[0] += 30;
	after.weight[5] *= 3;
	after.weight[9] = 0;
	diff = make_diff(&before, 5000, &after, 9000);
	for (u32 i = 0; i < diff_get_row_count(diff); i++)
		sum += diff_get_row(diff, i)->load_change;
	a = diff_get_total(diff, DIFF_BEFORE);
	b = diff_get_total(diff, DIFF_AFTER);
	change = (double)b->counts.load_latency.sum / (double)b->counts.load_latency.count -
		 (double)a->counts.load_latency.sum / (double)a->counts.load_latency.count;
	assert_true(fabs(sum - change) < 1e-9 && change > 3);
	assert_int_equal(a->counts.samples, 5000);
	assert_int_equal(a->effective, 5000);
	diff_free(diff);
}

/* Samples with different intervals count as fewer samples in the test of significance. */
static void test_unequal_weights_count_less(void **state)
{
	struct diff_counts counts = { .samples = 100, .operations = 100 };
	struct diff *diff;

	(void)state;
	assert_int_equal(diff_new(&diff), 0);
	assert_int_equal(diff_add_row(diff, DIFF_BEFORE, "a", 0, &counts), 0);
	counts.operations = 900;
	assert_int_equal(diff_add_row(diff, DIFF_BEFORE, "b", 1, &counts), 0);
	assert_int_equal(diff_add_row(diff, DIFF_AFTER, "b", 1, &counts), 0);
	assert_int_equal(diff_finish(diff), 0);
	/* 1000^2 / (100^2 / 100 + 900^2 / 100) */
	assert_int_equal(diff_get_total(diff, DIFF_BEFORE)->effective, 122);
	assert_int_equal(diff_get_total(diff, DIFF_AFTER)->effective, 100);
	diff_free(diff);
	assert_int_equal(diff_new(&diff), 0);
	assert_int_equal(diff_finish(diff), 0);
	assert_int_equal(diff_get_row_count(diff), 0);
	diff_free(diff);
}

/* Known values of Fisher's exact test: twice the smaller tail. */
static void test_chance_of_counts(void **state)
{
	static const struct {
		u64 a, all_a, b, all_b;
		double p;
	} rows[] = {
		{ 0, 10, 10, 10, 2 / 184756.0 },
		{ 1, 10, 9, 10, 2 * 101 / 184756.0 },
		{ 3, 4, 1, 4, 2 * 17 / 70.0 },
		{ 5, 10, 5, 10, 1 },
		{ 0, 0, 3, 7, 1 },
		{ 7, 7, 3, 3, 1 },
		{ 0, 5, 0, 9, 1 },
	};

	struct histogram fast = { 0 }, slow = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double p = chance_test_counts(rows[i].a, rows[i].all_a, rows[i].b, rows[i].all_b);

		test_row("row %zu: %g, should be %g", i, p, rows[i].p);
		assert_row(fabs(p - rows[i].p) < 1e-6 * rows[i].p);
	}
	/* A tail has a twentieth of the values, and its bucket is the last one. */
	histogram_add(&slow, 300);
	for (u32 i = 0; i < 400; i++) {
		histogram_add(&fast, 5);
		histogram_add(&slow, i % 20 ? 5 : 300);
	}
	assert_true(chance_test_tails(&fast, 1, &slow, 1) < 1e-4);
	assert_true(chance_test_means(&fast, 1, &slow, 1) < 1e-4);
	assert_true(chance_test_tails(&fast, 1, &slow, 0.1) > 0.01);
	assert_true(chance_test_tails(&slow, 1, &slow, 1) >= 1 &&
		    chance_test_means(&slow, 1, &slow, 1) >= 1);
	/*
	 * For large counts the result is that of the normal distribution: here 5.4 standard
	 * deviations.
	 */
	assert_true(chance_test_counts(100000, 1000000, 102300, 1000000) < 1e-6);
	assert_true(chance_test_counts(100000, 1000000, 100100, 1000000) > 0.5);
	assert_true(chance_test_counts(1, 2000000000, 2000000000, 2000000000) < 1e-100);
	assert_true(chance_find_limit((const double[]){ 0.001, 0.03, 0.9 }, 3, 0.05) >= 0.03);
	assert_true(chance_find_limit((const double[]){ 0.03, 0.06, 0.9 }, 3, 0.05) < 0);
}

/* Of a row with sums only, the mean is not tested, and p99 is that of the known latencies. */
static void test_known_latencies(void **state)
{
	struct diff_counts counts = { .samples = 1000, .operations = 1000, .brief = true };
	const struct diff_row *row;
	struct diff *diff;

	(void)state;
	assert_int_equal(diff_new(&diff), 0);
	counts.latency = (struct histogram){ .count = 1000, .sum = 100000 };
	assert_int_equal(diff_add_row(diff, DIFF_BEFORE, "unknown", 1, &counts), 0);
	assert_int_equal(diff_add_row(diff, DIFF_AFTER, "unknown", 1, &counts), 0);
	for (u32 i = 0; i < 900; i++)
		histogram_add(&counts.known_latency, 64);
	assert_int_equal(diff_add_row(diff, DIFF_BEFORE, "known", 0, &counts), 0);
	for (u32 i = 0; i < 100; i++)
		histogram_add(&counts.known_latency, 1024);
	assert_int_equal(diff_add_row(diff, DIFF_AFTER, "known", 0, &counts), 0);
	assert_int_equal(diff_finish(diff), 0);
	row = diff_get_row(diff, 0);
	assert_string_equal(row->key, "known");
	assert_true(row->exceeds[DIFF_P99] && !row->exceeds[DIFF_MEAN]);
	assert_true(row->value[DIFF_BEFORE][DIFF_P99] > 63);
	assert_true(row->value[DIFF_BEFORE][DIFF_P99] < 65);
	assert_true(row->value[DIFF_AFTER][DIFF_P99] > 1023);
	row = diff_get_row(diff, 1);
	assert_false(row->exceeds[DIFF_P99]);
	assert_true(row->value[DIFF_AFTER][DIFF_P99] < 1 && row->chance[DIFF_P99] > 0.99);
	diff_free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance_of_counts),
		cmocka_unit_test(test_known_latencies),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_slower_row_is_found),
		cmocka_unit_test(test_changed_shares_are_found),
		cmocka_unit_test(test_contributions_add_up),
		cmocka_unit_test(test_unequal_weights_count_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
