// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "util/histogram.h"

#include <math.h>

/*
 * Every 16-bit value is in its bucket (2^(k/4), 2^((k+1)/4)], which is computed here by another
 * method.
 */
static void test_values_are_in_buckets(void **state)
{
	(void)state;
	assert_int_equal(histogram_get_bucket(0), 0);
	assert_int_equal(histogram_get_bucket(1), 1);
	for (unsigned int v = 2; v <= UINT16_MAX; v++) {
		unsigned int bucket = histogram_get_bucket((u16)v);
		double log4 = 4 * log2(v), k = (double)bucket + 1;

		test_row("value %u bucket %u", v, bucket);
		assert_row(bucket < HISTOGRAM_BUCKETS);
		assert_row(log4 > k - 1e-9 && log4 <= k + 1 + 1e-9);
		assert_row(v <= histogram_get_upper_bound(bucket));
		assert_row(v > histogram_get_upper_bound(bucket - 1));
	}
}

static void test_quantiles_of_histogram(void **state)
{
	struct histogram h = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(histogram_get_quantile(&h, 500), 0);
	for (u16 v = 1; v <= 1000; v++)
		histogram_add(v & 1 ? &h : &other, v);
	histogram_merge(&h, &other);
	assert_int_equal(h.count, 1000);
	assert_int_equal(h.sum, 500500);
	assert_int_equal(h.max, 1000);
	assert_in_range(histogram_get_quantile(&h, 500), 500, 595);
	assert_int_equal(histogram_get_quantile(&h, 1000), 1000);
	assert_int_equal(histogram_get_quantile(&h, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_in_buckets),
		cmocka_unit_test(test_quantiles_of_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
