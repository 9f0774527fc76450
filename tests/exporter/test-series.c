// SPDX-License-Identifier: LGPL-2.1-or-later
/* Histograms of the daemon as classic and native buckets. */
#include "test.h"

#include "histogram.h"
#include "series.h"

static void test_histograms(void **state)
{
	struct metrics_histogram h = { 0 };
	u64 classic[CLASSIC_BUCKETS], native[SERIES_INDICES], zero, sum = 0;

	(void)state;
	for (u32 v = 0; v < 65536; v++)
		h.bucket[histogram_bucket((u16)v)]++;
	series_classic(&h, classic);
	for (unsigned int i = 0; i < CLASSIC_BUCKETS - 1; i++)
		assert_int_equal(classic[i], series_bounds[i] + 1);
	assert_int_equal(classic[CLASSIC_BUCKETS - 1], 65536);
	series_native(&h, native, &zero);
	assert_int_equal(zero, 1);
	for (unsigned int i = 0; i < SERIES_INDICES; i++) {
		sum += native[i];
		/* At a power of two the bound is exact. */
		if (i % 4 == 0 && i < 64)
			assert_int_equal(sum, 1ULL << i / 4);
	}
	assert_int_equal(sum, 65535);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histograms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
