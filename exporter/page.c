// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codec/data-source.h"
#include "speprof-version.h"

/* page_files: the files of the page; tools/html/bundle writes it */
#include "page-files.h"

#define NAMES_SIZE 2048

/* Print the names of levels, in the order of their numbers. @dram: only those of DRAM. */
static void print_levels(FILE *out, bool dram)
{
	const char *comma = "";

	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		if (dram && !spe_level_is_dram(i))
			continue;
		fprintf(out, "%s\"%s\"", comma, spe_level_name(i));
		comma = ",";
	}
}

/*
 * Return names that the scripts need to read rows: those of page_histogram_name(), in the same
 * order.
 */
static const struct page_file *get_names(void)
{
	static char text[NAMES_SIZE];
	static struct page_file names = { "/page/names.json", "application/json",
					  (const unsigned char *)text, 0 };
	FILE *out;

	if (names.size)
		return &names;
	out = fmemopen(text, sizeof(text), "w");
	if (!out)
		return NULL;
	fprintf(out, "{\"version\":\"%s\",\"histograms\":[", SPEPROF_VERSION);
	print_levels(out, false);
	fputs(",\"other\",\"issue\",\"translation\"],\"dram_levels\":[", out);
	print_levels(out, true);
	fputs("]}\n", out);
	if (fclose(out) == 0)
		names.size = strlen(text);
	return names.size ? &names : NULL;
}

const struct page_file *page_find_file(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(page_files); i++)
		if (strcmp(page_files[i].path, path) == 0)
			return &page_files[i];
	return strcmp(path, "/page/names.json") == 0 ? get_names() : NULL;
}

static const char *const periods[] = { "start", "10s", "1m", "10m" };

/*
 * Rows and the keys that the daemon groups them by. Rows by level have the latency of each level;
 * periods have no levels.
 */
static const struct {
	const char *name;
	const char *start;
	const char *period;
} rows[] = {
	{ "function", "container,program,binary,function,level",
	  "container,program,binary,function" },
	{ "line", "container,program,binary,function,line,level",
	  "container,program,binary,function,line" },
};

static const char *find_period(const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++)
		if (strcmp(periods[i], value) == 0)
			return periods[i];
	return NULL;
}

static const char *find_rows(const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].name, value) == 0)
			return rows[i].name;
	return NULL;
}

int page_set_parameter(struct page_parameters *parameters, const char *key, size_t key_size,
		       const char *value, size_t value_size, const char **ret_why)
{
	bool is_period = strcmp(key, "period") == 0;
	const char **to = is_period ? &parameters->period : &parameters->rows;
	const char *found;

	/* A NUL that the URL encodes would hide the text behind it. */
	if (strlen(key) != key_size || (!is_period && strcmp(key, "rows") != 0)) {
		*ret_why = "the parameters are period and rows";
		return -EINVAL;
	}
	if (*to) {
		*ret_why =
			is_period ? "period: should be given once" : "rows: should be given once";
		return -EINVAL;
	}
	if (!value || strlen(value) != value_size)
		value = "";
	found = is_period ? find_period(value) : find_rows(value);
	if (!found) {
		*ret_why = is_period ? "period: should be start, 10s, 1m or 10m" :
				       "rows: should be function or line";
		return -EINVAL;
	}
	*to = found;
	return 0;
}

struct page_query page_query_from_parameters(const struct page_parameters *parameters)
{
	struct page_query query = { parameters->period ?: periods[0], NULL };
	bool start = strcmp(query.period, "start") == 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].name, parameters->rows ?: rows[0].name) == 0)
			query.group = start ? rows[i].start : rows[i].period;
	return query;
}
