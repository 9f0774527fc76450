// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <locale.h>
#include <stdlib.h>

#include "lib/text.h"

static void text_fits_exactly(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		bool right;
		const char *want;
	} rows[] = {
		{ "walk", 6, false, "walk  " },
		{ "walk", 6, true, "  walk" },
		{ "walk", 4, false, "walk" },
		{ "walk", 3, false, "wa\u2026" },
		{ "walk", 3, true, "wa\u2026" },
		{ "walk", 1, false, "w" },
		{ "walk", 0, false, "" },
		{ "", 2, false, "  " },
		/* A wide character that does not fit leaves one column empty, which is padded. */
		{ "\u5bb9\u5668\u5bb9", 6, false, "\u5bb9\u5668\u5bb9" },
		{ "\u5bb9\u5668\u5bb9", 5, false, "\u5bb9\u5668\u2026" },
		{ "\u5bb9\u5668\u5bb9", 4, false, "\u5bb9\u2026 " },
		/* A combining mark stays with its letter. */
		{ "e\u0301e\u0301e", 2, false, "e\u0301\u2026" },
		{ "caf\u00e9", 6, true, "  caf\u00e9" },
		{ "\xff\xfe", 4, false, "??  " },
		{ "\xe5\xae", 3, false, "?? " },
		{ "a\x1b[1mb\n", 7, false, "a?[1mb?" },
	};
	char fitted[TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %zu", i);
		text_fit(rows[i].text, rows[i].width, rows[i].right, fitted);
		assert_row(strcmp(fitted, rows[i].want) == 0);
		assert_row(text_get_width(fitted) == rows[i].width);
	}
}

/* For any bytes, the result has the requested number of columns and fits into the buffer. */
static void text_of_any_bytes_fits(void **state)
{
	char text[600], *fitted = malloc(TEXT_SIZE);
	u32 seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		size_t len = round % (sizeof(text) - 1), width = round % 300;

		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = seed >> 24 ? seed >> 24 : 'x';
		}
		text[len] = 0;
		text_fit(text, width, round & 1, fitted);
		test_row("round %u", round);
		assert_row(text_get_width(fitted) ==
			   (width < TEXT_WIDTH_MAX ? width : TEXT_WIDTH_MAX - 1));
	}
	free(fitted);
}

/*
 * Hundreds of combining marks on one letter take no column, and the number of their bytes is
 * bounded.
 */
static void combining_marks_are_bounded(void **state)
{
	char text[2 * 2000 + 2] = "e", fitted[TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < 2000; i++)
		strcat(text, "\u0301");
	text_fit(text, 10, false, fitted);
	assert_int_equal(text_get_width(fitted), 10);
	text_fit(text, TEXT_WIDTH_MAX, false, fitted);
	assert_int_equal(text_get_width(fitted), TEXT_WIDTH_MAX - 1);
}

static void printable_characters_are_kept(void **state)
{
	char text[] = "caf\u00e9 \x1b]0;x\x07 \xc3 \u5bb9 \u202e\u2067x";

	(void)state;
	text_clean(text);
	assert_string_equal(text, "caf\u00e9 ?]0;x? ? \u5bb9 ??x");
}

static void test_number_formats(void **state)
{
	char b[TEXT_NUMBER_SIZE];

	(void)state;
	assert_string_equal(text_format_count(b, 0), "0");
	assert_string_equal(text_format_count(b, 999), "999");
	assert_string_equal(text_format_count(b, 159812), "159,812");
	assert_string_equal(text_format_count(b, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(text_format_bytes(b, 0), "0 B");
	assert_string_equal(text_format_bytes(b, 1023), "1023 B");
	assert_string_equal(text_format_bytes(b, 1024), "1.0 KiB");
	assert_string_equal(text_format_bytes(b, 21 << 20), "21 MiB");
	assert_string_equal(text_format_bytes(b, (1 << 20) - 1), "1.0 MiB");
	assert_string_equal(text_format_bytes(b, UINT64_MAX), "16 EiB");
	assert_string_equal(text_format_seconds(b, 10000000000), "10 s");
	assert_string_equal(text_format_seconds(b, 9960000000), "10 s");
	assert_string_equal(text_format_seconds(b, 1500000000), "1.5 s");
	assert_string_equal(text_format_seconds(b, 250000000), "0.25 s");
	assert_string_equal(text_format_seconds(b, 90000000000), "90 s");
	assert_string_equal(text_format_seconds(b, 3660000000000), "1 h 1 min");
	assert_string_equal(text_format_seconds(b, 90000000000000), "1 d 1 h");
	assert_string_equal(text_format_percent(b, 1, 0), "-");
	assert_string_equal(text_format_percent(b, 698, 1000), "69.8 %");
	assert_string_equal(text_format_percent(b, 99949, 100000), "99.9 %");
	assert_string_equal(text_format_percent(b, 99950, 100000), "100 %");
	assert_string_equal(text_format_percent_whole(b, 81, 100), "81 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_fits_exactly),
		cmocka_unit_test(text_of_any_bytes_fits),
		cmocka_unit_test(combining_marks_are_bounded),
		cmocka_unit_test(printable_characters_are_kept),
		cmocka_unit_test(test_number_formats),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	text_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
