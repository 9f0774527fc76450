// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test rows that are read from JSON, which may be hostile, and queries over them. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/row-set.h"

#define HEAD                                                                                   \
	"{\"source\":\"module\",\"backend\":\"hardware\",\"duration_ns\":5,\"enabled_ns\":10," \
	"\"blind_ns\":null,\"totals\":{\"records\":100,\"unattributed\":0,\"evicted\":0,"      \
	"\"unweighed\":0,\"unattributed_weight\":0,\"evicted_weight\":0,"                      \
	"\"weight\":{\"instructions\":1000}},\"keys\":[\"container\",\"function\",\"line\"],"  \
	"\"rows\":["

#define NAMES(function, line)                                                       \
	"{\"container\":\"web\",\"function\":\"" function "\",\"binary\":\"/x/a\"," \
	"\"file\":\"a.c\",\"line\":" line ","

#define COUNTS(samples, load, weight, levels, latency)                                        \
	"\"samples\":" samples ",\"memory\":" load ",\"dram\":1,\"remote\":0,\"branches\":2," \
	"\"mispredicted\":1,\"latency_sum\":50,\"weight\":{\"instructions\":" weight "},"     \
	"\"loads\":" load ",\"stores\":0,\"simd\":0,\"snooped\":0,\"peer\":0,\"modified\":0," \
	"\"levels\":" levels ",\"events\":{\"retired\":3},\"latency_counts\":" latency "}"

#define ROW(function, line, samples) \
	NAMES(function, line)        \
	COUNTS(samples, "5", "100", "{\"l1\":4,\"dram\":1}", "{\"2\":4,\"65536\":1}")

static int read_text(const char *text, struct row_set *set, struct row_set_error *error)
{
	json_object *json = json_tokener_parse(text);
	int r;

	assert_non_null(json);
	r = row_set_read(json, set, error);
	json_object_put(json);
	return r;
}

static void assert_refused(const char *text, const char *wanted)
{
	struct row_set_error error = { "" };
	struct row_set set;

	assert_int_equal(read_text(text, &set, &error), -EBADMSG);
	if (!strstr(error.text, wanted))
		fail_msg("\"%s\" lacks \"%s\"", error.text, wanted);
}

/* Check that names and counters are read, and that rows are grouped, sorted and limited. */
static void test_query(void **state __attribute__((unused)))
{
	const char *text =
		HEAD ROW("f", "1", "10") "," ROW("f", "2", "30") "," ROW("g", "3", "20") "]}";
	struct row_set set, grouped;
	struct row_set_error why;
	struct query_error error;
	struct query query = { .limit = 1, .sort = MEASURE_LATENCY };
	struct query_rows rows;
	struct query_rest rest;
	struct query_row row;

	assert_int_equal(read_text(text, &set, &why), 0);
	assert_int_equal(set.rows, 3);
	assert_false(set.brief);
	assert_int_equal(query_parse_group("function", &query, &error), 0);
	/* The rows of the file have no program, so the query fails. */
	assert_int_equal(row_set_query(&set, &query, &grouped, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "no program, only container, function, line"));
	assert_int_equal(query_parse_group("container,function", &query, &error), 0);
	assert_int_equal(row_set_query(&set, &query, &grouped, &error), 0);
	rows = row_set_rows(&grouped);
	assert_int_equal(rows.count, 1);
	rows.row(rows.ctx, 0, &row);
	assert_string_equal(row.function, "f");
	assert_int_equal(row.counters.samples, 40);
	assert_int_equal(row.counters.latency[PROFILE_TOTAL].sum, 100);
	assert_int_equal(row.counters.latency[PROFILE_TOTAL].count, 10);
	assert_int_equal(histogram_get_quantile(&row.counters.latency[PROFILE_TOTAL], 990), 65536);
	assert_int_equal(counters_get_dram_accesses(&row.counters), 2);
	/* The line is that of the heaviest part. */
	assert_int_equal(row.line, 2);
	assert_int_equal(row.part, 100);
	assert_int_equal(row.whole, 150);
	rows.rest(rows.ctx, 40, &rest);
	assert_int_equal(rest.part, 50);
	assert_int_equal(rest.samples, 60);
	assert_int_equal(rest.rows, 1);
	row_set_clear(&grouped);
	query.select.function = "nothing*";
	assert_int_equal(row_set_query(&set, &query, &grouped, &error), -ENOENT);
	query.select.function = "g*";
	query.sort = MEASURE_OPERATIONS;
	assert_int_equal(row_set_query(&set, &query, &grouped, &error), 0);
	row_set_rows(&grouped).row(&grouped, 0, &row);
	assert_int_equal(row.counters.samples, 20);
	assert_int_equal(row.whole, 1000);
	row_set_clear(&grouped);
	query.sort = MEASURE_ISSUE;
	assert_int_equal(row_set_query(&set, &query, &grouped, &error), -EOPNOTSUPP);
	row_set_clear(&set);
}

/* Check that rows of equal weight are sorted by their names, whatever the order in the file is. */
static void test_ties(void **state __attribute__((unused)))
{
	static const char *const texts[] = { HEAD ROW("f", "1", "10") "," ROW("g", "3", "10") "]}",
					     HEAD ROW("g", "3", "10") "," ROW("f", "1",
									      "10") "]}" };
	struct row_set set, grouped;
	struct row_set_error why;
	struct query_error error;
	struct query query = { 0 };

	assert_int_equal(query_parse_group("container,function", &query, &error), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(read_text(texts[i], &set, &why), 0);
		assert_int_equal(row_set_query(&set, &query, &grouped, &error), 0);
		assert_string_equal(grouped.row[0].function, "f");
		assert_string_equal(grouped.row[1].function, "g");
		row_set_clear(&grouped);
		row_set_clear(&set);
	}
}

/* Check that names are escaped and cut, and that a row with null counters has only sums. */
static void test_names(void **state __attribute__((unused)))
{
	struct row_set set;
	struct row_set_error why;

	assert_int_equal(read_text(HEAD ROW("\\u001b[31m", "1", "10") "]}", &set, &why), 0);
	assert_string_equal(set.row[0].function, "\\x1b[31m");
	row_set_clear(&set);
	assert_int_equal(read_text(HEAD NAMES("f", "null") "\"samples\":9,\"memory\":5,\"dram\":2,"
							   "\"remote\":0,\"branches\":0,"
							   "\"mispredicted\":0,\"latency_sum\":90,"
							   "\"weight\":{},\"loads\":null}]}",
				   &set, &why),
			 0);
	assert_true(set.brief);
	assert_int_equal(set.row[0].line, 0);
	assert_int_equal(counters_get_memory_accesses(&set.row[0].counters), 5);
	assert_int_equal(counters_get_dram_accesses(&set.row[0].counters), 2);
	assert_int_equal(set.row[0].counters.latency[PROFILE_TOTAL].count, 9);
	row_set_clear(&set);
}

/* Check that rows of the history have all operations together, and are not counted as loads. */
static void test_history(void **state __attribute__((unused)))
{
	json_object *reply = json_tokener_parse(
		"[{\"records\":9},[{\"container\":\"web\",\"samples\":9,\"memory\":5,\"dram\":2,"
		"\"latency_sum\":90}],{}]");
	struct query query = { 0 };
	struct query_error error;
	struct row_set set;

	assert_int_equal(query_parse_group("container", &query, &error), 0);
	assert_int_equal(row_set_from_history(reply, &query, &set), 0);
	assert_int_equal(set.rows, 1);
	assert_int_equal(set.row[0].op, SPE_KIND_NONE);
	assert_true(set.row[0].brief);
	row_set_clear(&set);
	json_object_put(reply);
}

/* Check that each kind of wrong JSON is refused with its place. */
static void test_refused(void **state __attribute__((unused)))
{
	static const struct {
		const char *text;
		const char *wanted;
	} cases[] = {
		{ "[]", "the profile: should be an object" },
		{ "{}", "backend: should be a text" },
		{ "{\"backend\":\"x\"}", "backend: should be hardware, emulated or unknown" },
		{ "{\"backend\":\"unknown\"}", "duration_ns: should be a whole number" },
		{ HEAD "1]}", "rows[0].: should be an object" },
		{ HEAD "{}]}", "rows[0].container: should be a text" },
		{ HEAD NAMES("f", "-1") "}]}", "rows[0].line: should be a whole number" },
		{ HEAD NAMES("f", "1") "\"samples\":1.5}]}", "rows[0].samples: should be" },
		{ HEAD NAMES("f", "1") "\"samples\":1000000000000000}]}", "to 562949953421312" },
		{ HEAD ROW("f", "1", "1") "]}",
		  "rows[0].memory: should be a whole number from 0 to 1" },
		{ HEAD NAMES("f", "1") COUNTS("9", "5", "-1", "{}", "{}") "]}",
		  "rows[0].weight.instructions" },
		{ HEAD NAMES("f", "1") COUNTS("9", "5", "1", "[]", "{}") "]}", "rows[0].levels" },
		{ HEAD NAMES("f", "1") COUNTS("9", "5", "1", "{\"l1\":9,\"dram\":1}", "{}") "]}",
		  "rows[0].levels: should be loads and stores" },
		{ HEAD NAMES("f", "1") COUNTS("9", "5", "1", "{\"l1\":\"x\"}", "{}") "]}",
		  "rows[0].levels.l1" },
		{ HEAD NAMES("f", "1") COUNTS("9", "5", "1", "{\"dram\":1}", "{\"2\":10}") "]}",
		  "rows[0].latency_counts: should be counts of samples" },
		{ HEAD ROW("f", "1", "9") "," NAMES("f", "2")
			  COUNTS("9", "5", "9223372036854775807", "{\"dram\":1}", "{}") "]}",
		  "rows[1].weight and latency_sum" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_refused(cases[i].text, cases[i].wanted);
}

/* A generator with a fixed seed, so that each run has the same inputs. */
static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(*state >> 33);
}

/* Replace some bytes by digits and by the bytes that have a meaning in JSON. */
static void mutate(char *text, size_t size, u64 *state)
{
	static const char bytes[] = "0123456789-.eE\"{}[],:nulltrue \\u";
	u32 count = 1 + next_random(state) % 4;

	for (u32 i = 0; i < count; i++)
		text[next_random(state) % size] = bytes[next_random(state) % (sizeof(bytes) - 1)];
}

/* Run a query, and check that no sample is lost and that no share exceeds 1. */
static void check_grouped(const struct row_set *set, const char *group, enum measure sort)
{
	struct query query = { .sort = sort };
	struct row_set grouped;
	struct query_error error;
	u64 samples = 0, sum = 0;

	assert_int_equal(query_parse_group(group, &query, &error), 0);
	if (row_set_query(set, &query, &grouped, &error) < 0)
		return;
	for (u32 i = 0; i < set->rows; i++)
		samples += set->row[i].counters.samples;
	for (u32 i = 0; i < grouped.limit; i++) {
		struct query_row row;

		row_set_rows(&grouped).row(&grouped, i, &row);
		sum += row.counters.samples;
		assert_true(sort != MEASURE_LATENCY || row.part <= row.whole);
	}
	assert_int_equal(sum, samples);
	row_set_clear(&grouped);
}

/* Check that JSON with random changes is refused with a sentence, or gives rows. */
static void test_mutations(void **state __attribute__((unused)))
{
	static const char text[] =
		HEAD ROW("f", "1", "10") "," ROW("f", "2", "30") "," ROW("g", "3", "20") "]}";
	u32 refused = 0, accepted = 0;
	u64 random = 1;

	for (u32 run = 0; run < 20000; run++) {
		struct row_set_error error = { "" };
		char changed[sizeof(text)];
		struct row_set set;
		json_object *json;

		memcpy(changed, text, sizeof(text));
		mutate(changed, sizeof(text) - 1, &random);
		json = json_tokener_parse(changed);
		if (json && row_set_read(json, &set, &error) == 0) {
			check_grouped(&set, "container,function", MEASURE_LATENCY);
			check_grouped(&set, "line", MEASURE_P99);
			check_grouped(&set, "container", MEASURE_OPERATIONS);
			row_set_clear(&set);
			accepted++;
		} else if (json) {
			assert_true(*error.text);
			refused++;
		}
		json_object_put(json);
	}
	assert_true(refused > 1000 && accepted > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
