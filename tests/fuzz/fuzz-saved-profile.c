// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the rows of a saved profile: rows that are accepted have printable names, and a query over
 * them by their own keys has all of their samples.
 */
#include "fuzz.h"

#include <json-c/json.h>

#include "lib/row-set.h"

static void check_text(const char *text)
{
	for (; *text; text++)
		fuzz_assert((unsigned char)*text >= ' ' && *text != 0x7f);
}

static u64 sum_samples(const struct row_set *set)
{
	u64 samples = 0;

	for (u32 i = 0; i < set->rows; i++)
		samples += set->row[i].counters.samples;
	return samples;
}

static void check_rows(const struct row_set *set)
{
	struct query query = { 0 };
	struct query_error error = { "" };
	struct row_set all;
	int r;

	for (u32 i = 0; i < set->rows; i++) {
		check_text(set->row[i].container);
		check_text(set->row[i].program);
		check_text(set->row[i].binary);
		check_text(set->row[i].function);
		check_text(set->row[i].file);
	}
	memcpy(query.group, set->query.group, sizeof(query.group));
	query.groups = set->query.groups;
	r = row_set_query(set, &query, &all, &error);
	fuzz_assert(r == 0 || *error.text);
	if (r < 0)
		return;
	fuzz_assert(sum_samples(&all) == sum_samples(set));
	row_set_clear(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_tokener *tokener = json_tokener_new();
	struct row_set_error error = { "" };
	struct row_set set;
	json_object *json;
	int r;

	fuzz_assert(tokener);
	json = json_tokener_parse_ex(tokener, (const char *)data, (int)size);
	r = row_set_read(json, &set, &error);
	fuzz_assert(r == 0 || *error.text);
	if (r == 0) {
		check_rows(&set);
		row_set_clear(&set);
	}
	json_object_put(json);
	json_tokener_free(tokener);
	return 0;
}
