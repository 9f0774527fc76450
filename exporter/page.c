// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codec/data-source.h"
#include "speprof-version.h"
#include "util/escape.h"

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

bool page_find_answer(const char *path, enum page_answer *ret_answer)
{
	static const char *const paths[] = {
		[PAGE_ANSWER_ROWS] = "/page/query",
		[PAGE_ANSWER_TIMELINE] = "/page/timeline",
		[PAGE_ANSWER_SESSIONS] = "/page/sessions",
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (strcmp(paths[i], path) != 0)
			continue;
		*ret_answer = (enum page_answer)i;
		return true;
	}
	return false;
}

/*
 * Periods. Those with seconds are of the history, which has a period for each minute. A timeline
 * has at most 72 steps.
 */
static const struct period {
	const char *name;
	u32 past_s;
	u32 step_s;
} periods[] = {
	{ "start", 0, 0 }, { "10s", 0, 0 },    { "1m", 0, 0 },
	{ "10m", 0, 0 },   { "1h", 3600, 60 }, { "1d", 86400, 1200 },
};

/*
 * Rows and the keys that the daemon groups them by. Rows by level have the latency of each level;
 * periods have no levels.
 */
static const struct rows {
	const char *name;
	const char *start;
	const char *period;
} rows[] = {
	{ "function", "container,program,binary,function,level",
	  "container,program,binary,function" },
	{ "line", "container,program,binary,function,line,level",
	  "container,program,binary,function,line" },
};

/* Return the period with a name, the first one if it is NULL, and NULL if there is none. */
static const struct period *find_period(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++)
		if (!name || strcmp(periods[i].name, name) == 0)
			return &periods[i];
	return NULL;
}

/* Return the rows with a name, the first ones if it is NULL, and NULL if there are none. */
static const struct rows *find_rows(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!name || strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static bool period_is_valid(const char *value)
{
	return find_period(value);
}

static bool rows_are_valid(const char *value)
{
	return find_rows(value);
}

/* The name becomes a part of a D-Bus path. The daemon reports names that no session has. */
static bool session_is_valid(const char *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t size = strlen(value);

	return size && size < PAGE_SESSION_SIZE && strspn(value, letters) &&
	       strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
		       size;
}

static bool container_is_valid(const char *value)
{
	return *value && strlen(value) < PAGE_CONTAINER_SIZE && escape_is_utf8(value);
}

static const struct {
	const char *key;
	bool (*is_valid)(const char *value);
	const char *wrong;
	const char *twice;
} known[PAGE_PARAMETERS] = {
	[PAGE_PERIOD] = { "period", period_is_valid,
			  "period: should be start, 10s, 1m, 10m, 1h or 1d",
			  "period: should be given once" },
	[PAGE_ROWS] = { "rows", rows_are_valid, "rows: should be function or line",
			"rows: should be given once" },
	[PAGE_SESSION] = { "session", session_is_valid,
			   "session: should be a letter, then letters, digits and \"_\"",
			   "session: should be given once" },
	[PAGE_CONTAINER] = { "container", container_is_valid,
			     "container: should be a glob of 1 to 255 bytes in UTF-8",
			     "container: should be given once" },
};

static int refuse(const char *why, const char **ret_why)
{
	*ret_why = why;
	return -EINVAL;
}

int page_set_parameter(struct page_parameters *parameters, const char *key, size_t key_size,
		       const char *value, size_t value_size, const char **ret_why)
{
	size_t i = 0;

	while (i < PAGE_PARAMETERS && strcmp(key, known[i].key) != 0)
		i++;
	/* A NUL that the URL encodes would hide the text behind it. */
	if (i == PAGE_PARAMETERS || strlen(key) != key_size)
		return refuse("the parameters are period, rows, session and container", ret_why);
	if (parameters->value[i])
		return refuse(known[i].twice, ret_why);
	if (!value || strlen(value) != value_size || !known[i].is_valid(value))
		return refuse(known[i].wrong, ret_why);
	parameters->value[i] = value;
	return 0;
}

/* Check that the daemon has an answer to the parameters. */
static int check_parameters(enum page_answer answer, const struct page_parameters *parameters,
			    const char **ret_why)
{
	const char *const *value = parameters->value;
	const char *session = value[PAGE_SESSION];
	bool past = find_period(value[PAGE_PERIOD])->past_s;

	if (answer == PAGE_ANSWER_SESSIONS)
		return value[PAGE_PERIOD] || value[PAGE_ROWS] || session || value[PAGE_CONTAINER] ?
			       refuse("the list of sessions has no parameters", ret_why) :
			       0;
	if (answer == PAGE_ANSWER_TIMELINE && (value[PAGE_ROWS] || !past))
		return refuse("a timeline has the period 1h or 1d, and no rows", ret_why);
	if (past && session && strcmp(session, PAGE_MACHINE) != 0)
		return refuse("the periods 1h and 1d are those of the session machine", ret_why);
	return 0;
}

int page_query_init(struct page_query *query, enum page_answer answer,
		    const struct page_parameters *parameters, const char **ret_why)
{
	const char *const *value = parameters->value;
	const struct period *period = find_period(value[PAGE_PERIOD]);
	const struct rows *by = find_rows(value[PAGE_ROWS]);
	int r = check_parameters(answer, parameters, ret_why);

	if (r < 0)
		return r;
	*query = (struct page_query){
		.answer = answer,
		.period = period->name,
		.past_s = period->past_s,
		.step_s = period->step_s,
		.group = period == periods ? by->start : by->period,
	};
	strcpy(query->session, value[PAGE_SESSION] ?: PAGE_MACHINE);
	strcpy(query->container, value[PAGE_CONTAINER] ?: "");
	return 0;
}
