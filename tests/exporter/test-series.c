// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that histograms of the daemon are exported as classic and as native buckets. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "codec/data-source.h"
#include "series.h"
#include "source/source.h"
#include "util/histogram.h"

static void test_classic_and_native_buckets(void **state)
{
	struct metrics_histogram h = { 0 };
	u64 classic[CLASSIC_BUCKETS], native[SERIES_INDICES], zero, sum = 0;

	(void)state;
	for (u32 v = 0; v < 65536; v++)
		h.bucket[histogram_get_bucket((u16)v)]++;
	series_to_classic_buckets(&h, classic);
	for (unsigned int i = 0; i < CLASSIC_BUCKETS - 1; i++)
		assert_int_equal(classic[i], series_bounds[i] + 1);
	assert_int_equal(classic[CLASSIC_BUCKETS - 1], 65536);
	series_to_native_buckets(&h, native, &zero);
	assert_int_equal(zero, 1);
	for (unsigned int i = 0; i < SERIES_INDICES; i++) {
		sum += native[i];
		/* At a power of two the bound is exact. */
		if (i % 4 == 0 && i < 64)
			assert_int_equal(sum, 1ULL << i / 4);
	}
	assert_int_equal(sum, 65535);
}

/* Make a snapshot in which every counter is @n, and update @acc with it. */
static void add_snapshot(struct accumulator *acc, u64 n)
{
	struct metrics_snapshot m = { .count = 1 };
	u64 *words = &m.machine.records;
	size_t count = (sizeof(m.machine) - offsetof(struct metrics_machine, records)) / sizeof(u64);

	m.machine.epoch = m.machine.process = 1;
	m.machine.backend = BACKEND_HARDWARE;
	strcpy(m.machine.version, "1");
	strcpy(m.machine.source, "module");
	for (size_t i = 0; i < count; i++)
		words[i] = n;
	m.containers = calloc(1, sizeof(*m.containers));
	assert_non_null(m.containers);
	m.containers[0].id = 1;
	strcpy(m.containers[0].name, "web");
	m.containers[0].tally = m.machine.all;
	assert_return_code(accumulator_update(acc, &m, 10000, 1000), 0);
}

/* Return whether the reference, "NAME: VALUE, VALUE; NAME", documents a label and its value. */
static bool is_documented(const char *documented, const struct series_label *label)
{
	size_t n = strlen(label->name);
	const char *at = documented, *value, *end;

	for (; at; at = strstr(at, "; ") ? strstr(at, "; ") + 2 : NULL) {
		if (strncmp(at, label->name, n))
			continue;
		/*
		 * Versions can be any text, and levels are documented on another page, so their
		 * values are not compared.
		 */
		if (at[n] != ':' || strstr(at, "](json.md)"))
			return true;
		end = at + strcspn(at, ";");
		value = strstr(at + n, label->value);
		return value && value < end;
	}
	return false;
}

/*
 * The reference page documents the labels of each series, and each family has at least one series.
 */
static void test_families_are_documented(void **state)
{
	const struct series_self self = {
		.daemon_up = true, .exportable = true,
		.push = { { .destination = "remote_write" }, { .destination = "otlp", .rejects = true },
			  { .destination = "profiles" } },
	};
	bool seen[FAMILY_COUNT] = { false };
	struct series_set set = { 0 };
	struct accumulator acc;
	struct label_config labels;

	(void)state;
	labels_set_defaults(&labels);
	accumulator_init(&acc, &labels, 7, 0);
	add_snapshot(&acc, 5);
	assert_return_code(series_build(&set, &acc, &self), 0);
	for (u32 i = 0; i < set.count; i++) {
		const struct metric_series *s = &set.series[i];

		seen[s->family - series_families] = true;
		for (u32 l = 0; l < s->labels; l++) {
			if (!strcmp(s->label[l].name, "container") || !strcmp(s->label[l].name, "runtime"))
				continue;
			test_row("%s{%s=%s}", s->family->name, s->label[l].name, s->label[l].value);
			assert_row(is_documented(s->family->labels, &s->label[l]));
		}
	}
	for (unsigned int i = 0; i < FAMILY_COUNT; i++) {
		test_row("%s", series_families[i].name);
		assert_row(seen[i] && *series_families[i].help);
	}
	series_deinit(&set);
	accumulator_deinit(&acc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic_and_native_buckets),
		cmocka_unit_test(test_families_are_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
