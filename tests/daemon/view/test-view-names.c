// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check that the manual documents all groups and sort orders of the bus, and that the completion of
 * the shell contains them. usage: test-view-names XML COMPLETION MANUAL
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/measure.h"
#include "query/query.h"
#include "view/view.h"

static const char *const *files;

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

/* Return the text between @begin and @end, after the first @after. */
static char *find_section(const char *text, const char *after, const char *begin, const char *end)
{
	const char *from = strstr(text, after), *to;

	assert_non_null(from);
	from = strstr(from, begin);
	assert_non_null(from);
	from += strlen(begin);
	to = strstr(from, end);
	assert_non_null(to);
	return strndup(from, (size_t)(to - from));
}

/* Check that the words of @text, separated by any of @between, are the @count names, each once. */
static void assert_names(char *text, const char *between, const char *(*name)(unsigned int),
			 unsigned int count)
{
	unsigned int seen = 0, n = 0;
	char *save = NULL;

	for (char *word = strtok_r(text, between, &save); word;
	     word = strtok_r(NULL, between, &save)) {
		unsigned int i = 0;

		if (!strcmp(word, "or"))
			continue;
		while (i < count && strcmp(word, name(i)))
			i++;
		test_row("\"%s\"", word);
		assert_row(i < count && !(seen & 1U << i));
		seen |= 1U << i;
		n++;
	}
	test_row("%u of %u names", n, count);
	assert_row(n == count);
	free(text);
}

static const char *get_sort_name(unsigned int i)
{
	return view_sort_name(i);
}

static const char *get_group_name(unsigned int i)
{
	return view_group_name(i);
}

static void test_sorts_and_groups_are_listed(void **state)
{
	(void)state;
	assert_names(strdup(VIEW_SORT_LIST), ", ", get_sort_name, VIEW_SORTS);
	assert_names(strdup(VIEW_GROUP_LIST), ", ", get_group_name, VIEW_GROUPS);
	for (enum view_sort i = 0; i < VIEW_SORTS; i++) {
		enum view_sort back;

		assert_int_equal(view_sort_parse(view_sort_name(i), &back), 0);
		assert_int_equal(back, i);
		assert_int_equal(!*view_sort_heading(i), i == VIEW_SORT_SAMPLES);
	}
}

/* The start of the comment on GetView in the XML file. */
#define GET_VIEW "Return the ledgers, and the heaviest rows"

static void test_xml_documents_names(void **state)
{
	char *xml = read_file(files[0]);

	(void)state;
	assert_names(find_section(xml, GET_VIEW, "group: ", "sort: "), "\", \n", get_group_name,
		     VIEW_GROUPS);
	assert_names(find_section(xml, GET_VIEW, "sort: ", "limit: "), "\", \n", get_sort_name,
		     VIEW_SORTS);
	free(xml);
}

/* Check that the words of @text include the @count names, and that @is_known accepts each of them. */
static void assert_includes(char *text, const char *(*name)(unsigned int), unsigned int count,
			    bool (*is_known)(const char *word))
{
	unsigned int seen = 0;
	char *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		test_row("\"%s\"", word);
		assert_row(is_known(word));
		for (unsigned int i = 0; i < count; i++)
			seen |= strcmp(word, name(i)) ? 0 : 1U << i;
	}
	for (unsigned int i = 0; i < count; i++) {
		test_row("%s", name(i));
		assert_row(seen & 1U << i);
	}
	free(text);
}

static bool is_measure(const char *word)
{
	enum measure measure;

	return measure_parse(word, &measure) == 0;
}

static bool is_group(const char *word)
{
	struct query_error error;
	struct query query = { 0 };

	return query_parse_group(word, &query, &error) == 0;
}

/*
 * The completion has more names, because recordings have more measures and keys than views of the
 * daemon.
 */
static void test_completion_has_names(void **state)
{
	char *script = read_file(files[1]);

	(void)state;
	assert_includes(find_section(script, "-s | --sort)", "sorts=\"", "\""), get_sort_name,
			VIEW_SORTS, is_measure);
	assert_includes(find_section(script, "-G | --group)", "-W \"", "\""), get_group_name,
			VIEW_GROUPS, is_group);
	free(script);
}

/* The manual may have other text between the names. */
static void test_manual_has_names(void **state)
{
	char *manual = read_file(files[2]);
	char *text = find_section(manual, ".It Fl s , -sort Ar measure", "measure\n", ".It Fl c ,");

	(void)state;
	for (enum view_sort i = 0; i < VIEW_SORTS; i++) {
		char want[64];
		const char *at;

		snprintf(want, sizeof(want), "Cm %s", view_sort_name(i));
		for (at = text; (at = strstr(at, want)) && !strchr(" \n:", at[strlen(want)]); at++)
			;
		test_row("%s", want);
		assert_row(at);
	}
	free(text);
	free(manual);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts_and_groups_are_listed),
		cmocka_unit_test(test_xml_documents_names),
		cmocka_unit_test(test_completion_has_names),
		cmocka_unit_test(test_manual_has_names),
	};

	if (argc != 4)
		return 2;
	files = (const char *const *)argv + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
