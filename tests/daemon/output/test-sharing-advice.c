// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the advice about shared cache lines. */
#include "test.h"

#include "output/sharing-advice.h"

struct advice_row {
	const char *name;
	enum line_sharing sharing;
	struct sharing_side sides[3];
	u32 count;
	const char *want[2]; /* texts that the advice contains; NULL: none */
};

static const struct advice_row rows[] = {
	{ "private", LINE_PRIVATE, { { 0, 0, 9, 9, "", "" } }, 1, { "" } },
	{ "no accesses", LINE_FALSE, { { 0 } }, 0, { "" } },
	{ "false, but no store in the list", LINE_FALSE, { { 0, 0, 9, 0, "", "" } }, 1, { "" } },
	{ "false, but one offset in the list", LINE_FALSE, { { 0, 0, 9, 1, "", "" } }, 1, { "" } },
	{ "read", LINE_READ, { { 0, 0, 9, 0, "", "" } }, 1, { "No store was sampled" } },
	{ "two offsets without names",
	  LINE_FALSE,
	  { { 8, 0, 9, 3, "", "" }, { 16, 1, 5, 2, "", "" } },
	  2,
	  { "write offset +8 and offset +16", "different lines of 128 bytes" } },
	{ "two fields",
	  LINE_FALSE,
	  { { 8, 0, 9, 3, "struct stats", "hits" }, { 16, 1, 5, 2, "struct stats", "misses" } },
	  2,
	  { "write hits of struct stats and misses of struct stats", "copy for each CPU" } },
	{ "a field and one that is only read",
	  LINE_FALSE,
	  { { 8, 0, 9, 0, "struct queue", "limit" }, { 16, 1, 5, 2, "struct queue", "head" } },
	  2,
	  { "Each store to head of struct queue", "readers of limit of struct queue" } },
	{ "the second writer is less frequent than a reader",
	  LINE_FALSE,
	  { { 0, 0, 9, 1, "", "a" }, { 8, 1, 5, 0, "", "b" }, { 16, 2, 4, 4, "", "c" } },
	  3,
	  { "write a and c" } },
	{ "elements of an array",
	  LINE_FALSE,
	  { { 0, 0, 9, 9, "struct counter", "value" }, { 8, 1, 9, 9, "struct counter", "value" } },
	  2,
	  { "its own value of struct counter", "align the elements to 128 bytes" } },
	{ "several writers of one word",
	  LINE_TRUE,
	  { { 8, 0, 9, 3, "long", "total" }, { 8, 1, 9, 3, "long", "total" } },
	  2,
	  { "Several CPUs write total of long", "Alignment does not help" } },
	{ "one writer of a word",
	  LINE_TRUE,
	  { { 8, 0, 9, 0, "", "" }, { 8, 1, 9, 3, "", "" } },
	  2,
	  { "One CPU writes offset +8, and others read it" } },
	{ "one CPU writes by two instructions",
	  LINE_TRUE,
	  { { 8, 1, 9, 3, "", "" }, { 8, 1, 9, 3, "", "" }, { 8, 0, 9, 0, "", "" } },
	  3,
	  { "One CPU writes" } },
};

static void test_advice(void **state)
{
	char text[SHARING_ADVICE_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct advice_row *row = &rows[i];

		test_row("%s", row->name);
		sharing_write_advice(row->sharing, 128, row->sides, row->count, text);
		if (!*row->want[0])
			assert_string_equal(text, "");
		for (size_t k = 0; k < ARRAY_SIZE(row->want) && row->want[k]; k++)
			assert_row(strstr(text, row->want[k]));
	}
}

/* The longest names fit, and the end of the sentence is not truncated. */
static void test_long_names(void **state)
{
	char name[129], other[129], text[SHARING_ADVICE_SIZE];
	const struct sharing_side sides[] = {
		{ .offset = 0, .samples = 2, .stores = 1, .type = name, .field = other },
		{ .offset = 8, .samples = 1, .stores = 1, .type = other, .field = name },
	};

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	memset(other, 'y', sizeof(other) - 1);
	name[sizeof(name) - 1] = other[sizeof(other) - 1] = 0;
	sharing_write_advice(LINE_FALSE, 64, sides, ARRAY_SIZE(sides), text);
	assert_string_equal(text + strlen(text) - strlen(" for each CPU."), " for each CPU.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
