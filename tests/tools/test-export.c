// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that names and unknown values of an export cannot be misread by the program that opens it. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "export/export-csv.h"
#include "export/export-folded.h"

static const struct export_columns two = {
	.name = { "container", "function" },
	.names = 2,
	.sort = MEASURE_LATENCY,
	.unit = "instructions",
	.backend = "hardware",
};

static const struct export_columns with_line = {
	.name = { "function", "file", "line" },
	.names = 3,
	.line = 2,
	.sort = MEASURE_SAMPLES,
	.unit = "samples",
	.backend = "emulated",
};

/* Return the text that a function printed for a row; the caller frees it. */
static char *capture_output(void (*print)(FILE *, const struct export_columns *,
					  const struct export_row *),
			    const struct export_columns *columns, const struct export_row *row)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(out, columns, row);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void check_name(const char *name, const char *want_csv, const char *want_folded)
{
	const struct export_row row = { .name = { "web", name },
					.measure = { [MEASURE_LATENCY] = 7 } };
	char *text = capture_output(csv_print_row, &two, &row), *line;

	assert_true(asprintf(&line, "\"web\",%s,0,", want_csv) > 0);
	if (strncmp(text, line, strlen(line)) != 0)
		fail_msg("%s is not the start of %s", line, text);
	free(line);
	free(text);
	text = capture_output(folded_print_row, &two, &row);
	assert_true(asprintf(&line, "web;%s 7\n", want_folded) > 0);
	assert_string_equal(text, line);
	free(line);
	free(text);
}

static void test_hostile_names(void **state)
{
	(void)state;
	check_name("main", "\"main\"", "main");
	check_name("-", "", "-");
	check_name("a,\"b\"", "\"a,\"\"b\"\"\"", "a,\"b\"");
	check_name("=1+1", "\"'=1+1\"", "=1+1");
	check_name("+1", "\"'+1\"", "+1");
	check_name("-[NSView draw]", "\"'-[NSView draw]\"", "-[NSView draw]");
	check_name("@SUM(A1)", "\"'@SUM(A1)\"", "@SUM(A1)");
	check_name("  =1", "\"'  =1\"", "  =1");
	/* A spreadsheet in a language with decimal commas splits cells at semicolons. */
	check_name("a;=1;b", "\"a;'=1;b\"", "a\\x3b=1\\x3bb");
	check_name("a\nb\x1b[31m\t\x7f", "\"a?b?[31m??\"", "a?b?[31m??");
	check_name("f<1, -2>", "\"f<1, -2>\"", "f<1, -2>");
	check_name("\u03bb\u202e", "\"\u03bb\u202e\"", "\u03bb\u202e");
}

/* Check that each line of the table has as many cells as the heading. */
static u32 count_cells(const char *text)
{
	u32 n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

static void csv_is_a_table(void **state)
{
	struct export_row row = { .name = { "main", "a.c", "12" }, .share = 0.25 };
	char *heading = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&heading, &size);

	(void)state;
	assert_non_null(out);
	csv_print_heading(out, &with_line);
	assert_int_equal(fclose(out), 0);
	assert_non_null(
		strstr(heading, "function,file,line,share,operations,samples,latency,mean,"));
	assert_non_null(strstr(heading, ",operations_are,backend\r\n"));
	for (enum measure i = 0; i < MEASURES; i++)
		row.measure[i] = NAN;
	row.measure[MEASURE_OPERATIONS] = 9007199254740992;
	row.measure[MEASURE_MEAN] = 1.5;
	text = capture_output(csv_print_row, &with_line, &row);
	assert_int_equal(count_cells(text), count_cells(heading));
	assert_non_null(strstr(text, "\"main\",\"a.c\",12,0.250000,9007199254740992,,,1.500000,,"));
	assert_non_null(strstr(text, ",samples,emulated\r\n"));
	free(text);
	row.name[1] = row.name[2] = "-";
	row.share = NAN;
	text = capture_output(csv_print_row, &with_line, &row);
	assert_int_equal(strncmp(text, "\"main\",,,,9007", 14), 0);
	free(text);
	free(heading);
}

static void test_folded_frames(void **state)
{
	struct export_row row = { .name = { "main", "a.c", "12" },
				  .measure = { [MEASURE_SAMPLES] = 3 } };
	char *text = capture_output(folded_print_row, &with_line, &row);

	(void)state;
	assert_string_equal(text, "[emulated];main;a.c:12 3\n");
	free(text);
	row.name[1] = row.name[2] = "-";
	text = capture_output(folded_print_row, &with_line, &row);
	assert_string_equal(text, "[emulated];main;- 3\n");
	free(text);
	row.measure[MEASURE_SAMPLES] = 0;
	text = capture_output(folded_print_row, &with_line, &row);
	assert_string_equal(text, "");
	free(text);
	row.measure[MEASURE_SAMPLES] = NAN;
	text = capture_output(folded_print_row, &with_line, &row);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(csv_is_a_table),
		cmocka_unit_test(test_folded_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
