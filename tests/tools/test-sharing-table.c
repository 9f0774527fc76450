// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the text of "speprof sharing". */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "codec/env.h"
#include "lib/sharing-table.h"

/* Two lines: one with users on three CPUs by two instructions, and a physical one without names. */
static const char two_lines[] =
	"{\"line_size\":128,\"lines_latency_sum\":10000,\"lines\":["
	"{\"address\":\"0x1000\",\"space\":\"process\",\"container\":\"web\",\"process\":\"nginx\","
	"\"pid\":12,\"sharing\":\"false\",\"suspected\":false,\"cpus\":3,\"samples\":30,"
	"\"latency_sum\":7500,\"advice\":\"Keep a copy for each CPU.\",\"sharers\":["
	"{\"cpu\":3,\"offset\":8,\"samples\":15,\"stores\":5,\"pid\":12,\"function\":\"count\","
	"\"source\":\"/src/app/count.c:9\",\"type\":\"struct s\",\"field\":\"hits\"},"
	"{\"cpu\":0,\"offset\":8,\"samples\":10,\"stores\":4,\"pid\":12,\"function\":\"count\","
	"\"source\":\"/src/app/count.c:9\",\"type\":\"struct s\",\"field\":\"hits\"},"
	"{\"cpu\":1,\"offset\":16,\"samples\":5,\"stores\":1,\"pid\":12,\"function\":\"miss\","
	"\"source\":null,\"type\":null,\"field\":null}]},"
	"{\"address\":\"0x2000\",\"space\":\"physical\",\"sharing\":\"read\",\"suspected\":true,"
	"\"cpus\":2,\"samples\":4,\"latency_sum\":2500,\"advice\":null,\"sharers\":["
	"{\"cpu\":1,\"offset\":0,\"samples\":4,\"stores\":0,\"pid\":0,\"function\":\"0x40\","
	"\"source\":null,\"type\":null,\"field\":null}]}]}";

static char *print_table(const char *text, const char *columns)
{
	json_object *root = json_tokener_parse(text);
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	assert_non_null(root);
	assert_non_null(out);
	setenv("COLUMNS", columns, 1);
	sharing_table_print(out, root);
	fclose(out);
	json_object_put(root);
	return printed;
}

static void test_wide(void **state)
{
	char *text = print_table(two_lines, "200");

	(void)state;
	assert_string_equal(
		text,
		"cache lines of 128 bytes that several threads use; SHARE: of the cycles of all such "
		"lines\n"
		"LINE  SHARING   SHARE  OFFSET  CPUS  SAMPLES  STORES  DATUM  FUNCTION\n"
		"   1  false    75.0 %      +8  0,3        25       9  hits   count (count.c:9)\n"
		"                          +16  1           5       1  -      miss\n"
		"   2  read?    25.0 %      +0  1           4       0  -      0x40\n"
		"\n"
		"1: 0x1000, web nginx (pid 12), 7,500 cycles in 30 samples on 3 CPUs. Keep a copy "
		"for each CPU.\n"
		"2: 0x2000, a physical address, 2,500 cycles in 4 samples on 2 CPUs. No sample shows "
		"that another core's cache had the line.\n");
	free(text);
}

/* An unknown name is "-", and two users without a name are the same user. */
static void test_missing_names(void **state)
{
	char *text = print_table("{\"line_size\":64,\"lines_latency_sum\":100,\"lines\":["
				 "{\"process\":\"app\",\"pid\":7,\"samples\":5,\"cpus\":2,"
				 "\"latency_sum\":100,\"sharers\":["
				 "{\"cpu\":0,\"offset\":8,\"samples\":3,\"function\":null},"
				 "{\"cpu\":1,\"offset\":8,\"samples\":2}]},"
				 "{\"sharers\":[{\"cpu\":1,\"function\":\"f\"}]}]}",
				 "200");

	(void)state;
	assert_string_equal(
		text,
		"cache lines of 64 bytes that several threads use; SHARE: of the cycles of all such "
		"lines\n"
		"LINE  SHARING  SHARE  OFFSET  CPUS  SAMPLES  STORES  DATUM  FUNCTION\n"
		"   1  -        100 %      +8  0,1         5       0  -      -\n"
		"   2  -        0.0 %      +0  1           0       0  -      f\n"
		"\n"
		"1: -, app (pid 7), 100 cycles in 5 samples on 2 CPUs.\n"
		"2: -, a - address, 0 cycles in 0 samples on 0 CPUs.\n");
	free(text);
}

/* No line exceeds the terminal; sentences continue in further lines. */
static void test_narrow(void **state)
{
	char *text = print_table(two_lines, "60"), *line, *rest = text;
	u32 lines = 0;

	(void)state;
	while ((line = strsep(&rest, "\n"))) {
		test_row("%s", line);
		assert_row(strlen(line) <= 60 + 2 * strlen("…"));
		lines++;
	}
	assert_true(lines > 10);
	free(text);
}

static void test_no_lines(void **state)
{
	char *text = print_table("{\"line_size\":64,\"lines\":[],\"lines_latency_sum\":0}", "80");

	(void)state;
	assert_non_null(strstr(text, "\n  none\n"));
	assert_null(strstr(text, "FUNCTION"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_missing_names),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
