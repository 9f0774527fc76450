// SPDX-License-Identifier: LGPL-2.1-or-later
#include "row-set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bus-json.h"
#include "codec/payload.h"
#include "query/query-names.h"
#include "query/query-rows.h"
#include "row-names.h"
#include "util/escape.h"

/* Maximum of each count in a saved profile. The sum over ROW_SET_ROWS rows is smaller than 2^63. */
#define COUNT_MAX (1ULL << 49)

/* ---- Reading JSON --------------------------------------------------------------- */

/**
 * struct reader - the place that is being read, for errors
 * @place: path of the object, with a period at its end; "" for the outermost one
 */
struct reader {
	char place[64];
	struct row_set_error *error;
};

static int refuse(struct reader *reader, const char *key, const char *wanted)
{
	snprintf(reader->error->text, sizeof(reader->error->text), "%s%.60s: should be %s",
		 reader->place, key, wanted);
	return -EBADMSG;
}

/* Read a count; null counts as 0 if @null is set. */
static int read_count(struct reader *reader, json_object *from, const char *key, u64 max, bool null,
		      u64 *ret)
{
	json_object *value = NULL;
	char wanted[64];

	if (json_object_object_get_ex(from, key, &value) && !value && null) {
		*ret = 0;
		return 0;
	}
	if (json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0 &&
	    json_object_get_uint64(value) <= max) {
		*ret = json_object_get_uint64(value);
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "a whole number from 0 to %" PRIu64, max);
	return refuse(reader, key, wanted);
}

/* Read a text that the caller escapes. */
static int read_text(struct reader *reader, json_object *from, const char *key, const char **ret)
{
	json_object *value = json_get(from, key);

	if (!json_object_is_type(value, json_type_string))
		return refuse(reader, key, "a text");
	*ret = json_object_get_string(value);
	return 0;
}

static int read_weights(struct reader *reader, json_object *from, u64 *weight)
{
	json_object *weights = json_get(from, "weight");
	struct reader inner = { .error = reader->error };
	int r = 0;

	if (!json_object_is_type(weights, json_type_object))
		return refuse(reader, "weight", "an object");
	snprintf(inner.place, sizeof(inner.place), "%.50sweight.", reader->place);
	for (unsigned int i = 0; i < UNITS && r == 0; i++)
		if (json_get(weights, view_unit_name(i)))
			r = read_count(&inner, weights, view_unit_name(i), INT64_MAX, false,
				       &weight[i]);
	return r;
}

static int read_backend(struct reader *reader, json_object *json, u8 *ret_backend)
{
	const char *name;
	int r = read_text(reader, json, "backend", &name);

	if (r < 0)
		return r;
	if (!strcmp(name, "hardware"))
		*ret_backend = BACKEND_HARDWARE;
	else if (!strcmp(name, "emulated"))
		*ret_backend = BACKEND_EMULATED;
	else if (!strcmp(name, "unknown"))
		*ret_backend = BACKEND_UNKNOWN;
	else
		return refuse(reader, "backend", "hardware, emulated or unknown");
	return 0;
}

static int read_header(struct reader *reader, json_object *json, struct view_header *header)
{
	struct reader inner = { .place = "totals.", .error = reader->error };
	const struct {
		const char *key;
		u64 *to;
	} counts[] = {
		{ "records", &header->records },
		{ "unattributed", &header->unattributed },
		{ "evicted", &header->evicted },
		{ "unweighed", &header->unweighed },
		{ "unattributed_weight", &header->unattributed_weight },
		{ "evicted_weight", &header->evicted_weight },
	};
	json_object *totals = json_get(json, "totals");
	int r = read_backend(reader, json, &header->backend);

	if (r >= 0)
		r = read_count(reader, json, "duration_ns", INT64_MAX, true, &header->duration_ns);
	if (r >= 0)
		r = read_count(reader, json, "enabled_ns", INT64_MAX, true, &header->enabled_ns);
	if (r >= 0)
		r = read_count(reader, json, "blind_ns", INT64_MAX, true, &header->blind_ns);
	if (r < 0)
		return r;
	if (!json_object_is_type(totals, json_type_object))
		return refuse(reader, "totals", "an object");
	for (size_t i = 0; i < ARRAY_SIZE(counts) && r >= 0; i++)
		r = read_count(&inner, totals, counts[i].key, INT64_MAX, false, counts[i].to);
	return r < 0 ? r : read_weights(&inner, totals, header->weight);
}

static bool key_parse(const char *name, enum query_key *ret_key)
{
	for (enum query_key key = 0; key < QUERY_KEYS; key++) {
		if (strcmp(name, query_key_name(key)) != 0)
			continue;
		*ret_key = key;
		return true;
	}
	return false;
}

/* Rows by keys of numbers exist only in recordings. */
static bool key_is_read(enum query_key key)
{
	return key == QUERY_CONTAINER || key == QUERY_PROGRAM || key == QUERY_BINARY ||
	       key == QUERY_BUILD_ID || key == QUERY_FUNCTION || key == QUERY_LINE ||
	       key == QUERY_MODE || key == QUERY_OP || key == QUERY_EVENT || key == QUERY_LEVEL ||
	       key == QUERY_INSTRUCTION;
}

static int read_keys(struct reader *reader, json_object *json, struct query *query)
{
	json_object *keys = json_get(json, "keys");
	size_t count;

	if (!json_object_is_type(keys, json_type_array))
		return refuse(reader, "keys", "a list");
	count = json_object_array_length(keys);
	if (!count || count > QUERY_GROUP_MAX)
		return refuse(reader, "keys", "a list of 1 to 8 keys");
	for (size_t i = 0; i < count; i++) {
		json_object *name = json_object_array_get_idx(keys, i);
		enum query_key key;

		if (!json_object_is_type(name, json_type_string) ||
		    !key_parse(json_object_get_string(name), &key) || !key_is_read(key) ||
		    query_groups_by(query, key))
			return refuse(reader, "keys",
				      "different names of container, program, binary, build_id, "
				      "function, line, instruction, mode, op, event, level");
		query->group[query->groups++] = key;
	}
	return 0;
}

/* Check the types of the names of a row. */
static int check_names(struct reader *reader, json_object *json, const struct query *query)
{
	for (u32 i = 0; i < query->groups; i++) {
		enum query_key key = query->group[i];
		const char *name = key == QUERY_LINE ? "file" : query_key_name(key);
		bool null = key == QUERY_LINE || key == QUERY_BUILD_ID || key == QUERY_MODE ||
			    key == QUERY_OP || key == QUERY_EVENT || key == QUERY_LEVEL;
		json_object *value = NULL;
		u64 line;
		int r = 0;

		if (!json_object_object_get_ex(json, name, &value) ||
		    !(value ? json_object_is_type(value, json_type_string) : null))
			return refuse(reader, name, null ? "a text or null" : "a text");
		if (key == QUERY_LINE)
			r = read_count(reader, json, "line", UINT32_MAX, true, &line);
		if (r < 0)
			return r;
	}
	if (query_has_binary(query) &&
	    !json_object_is_type(json_get(json, "binary"), json_type_string))
		return refuse(reader, "binary", "a text");
	return 0;
}

static void clean(char *text, size_t size)
{
	char *copy = strdup(text);

	if (copy)
		escape_string(text, size, copy);
	else
		*text = 0;
	free(copy);
}

static void clean_names(struct query_row *row)
{
	clean(row->container, sizeof(row->container));
	clean(row->program, sizeof(row->program));
	clean(row->binary, sizeof(row->binary));
	clean(row->build_id, sizeof(row->build_id));
	clean(row->function, sizeof(row->function));
	clean(row->file, sizeof(row->file));
}

static int read_levels(struct reader *reader, json_object *json, u64 *level)
{
	json_object *levels = json_get(json, "levels");
	struct reader inner = { .error = reader->error };
	int r = 0;

	if (!json_object_is_type(levels, json_type_object))
		return refuse(reader, "levels", "an object");
	snprintf(inner.place, sizeof(inner.place), "%.50slevels.", reader->place);
	for (unsigned int i = 0; i < SPE_LEVELS && r == 0; i++)
		if (json_get(levels, spe_level_name(i)))
			r = read_count(&inner, levels, spe_level_name(i), COUNT_MAX, false,
				       &level[i]);
	return r;
}

static int read_events(struct reader *reader, json_object *json, u64 *event)
{
	json_object *events = json_get(json, "events");
	struct reader inner = { .error = reader->error };
	int r = 0;

	if (!json_object_is_type(events, json_type_object))
		return refuse(reader, "events", "an object");
	snprintf(inner.place, sizeof(inner.place), "%.50sevents.", reader->place);
	for (u8 i = 0; i < SAMPLE_EVENTS && r == 0; i++)
		if (spe_event_name(i) && json_get(events, spe_event_name(i)))
			r = read_count(&inner, events, spe_event_name(i), COUNT_MAX, false,
				       &event[i]);
	return r;
}

static int read_buckets(struct reader *reader, json_object *json, struct histogram *h)
{
	json_object *buckets = json_get(json, "latency_counts");
	struct reader inner = { .error = reader->error };
	char upper[16];
	int r = 0;

	if (!json_object_is_type(buckets, json_type_object))
		return refuse(reader, "latency_counts", "an object");
	snprintf(inner.place, sizeof(inner.place), "%.40slatency_counts.", reader->place);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && r == 0; i++) {
		snprintf(upper, sizeof(upper), "%u", histogram_get_upper_bound(i));
		/* A bucket without an integer has the largest value of the bucket before it. */
		if ((i && histogram_get_upper_bound(i) == histogram_get_upper_bound(i - 1)) ||
		    !json_get(buckets, upper))
			continue;
		r = read_count(&inner, buckets, upper, COUNT_MAX, false, &h->bucket[i]);
		h->count += h->bucket[i];
		h->max = histogram_get_upper_bound(i);
	}
	return r;
}

/* Read the counters that rows of a period do not have. */
static int read_details(struct reader *reader, json_object *json, struct query_row *row)
{
	struct profile_counters *c = &row->counters;
	const struct {
		const char *key;
		u64 *to;
	} counts[] = {
		{ "loads", &c->counts.kind[SPE_KIND_LOAD] },
		{ "stores", &c->counts.kind[SPE_KIND_STORE] },
		{ "simd", &c->counts.simd },
		{ "snooped", &c->counts.origin[__builtin_ctz(SPE_ORIGIN_SNOOPED)] },
		{ "peer", &c->counts.origin[__builtin_ctz(SPE_ORIGIN_PEER)] },
		{ "modified", &c->counts.origin[__builtin_ctz(SPE_ORIGIN_MODIFIED)] },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counts) && r >= 0; i++)
		r = read_count(reader, json, counts[i].key, c->samples, false, counts[i].to);
	if (r >= 0)
		r = read_levels(reader, json, c->counts.level);
	if (r >= 0)
		r = read_events(reader, json, c->counts.event);
	return r < 0 ? r : read_buckets(reader, json, &c->latency[PROFILE_TOTAL]);
}

/* Read the sums that all rows have. */
static int read_sums(struct reader *reader, json_object *json, struct query_row *row, u64 *ret_dram,
		     u64 *ret_memory)
{
	struct profile_counters *c = &row->counters;
	int r = read_count(reader, json, "samples", COUNT_MAX, false, &c->samples);

	if (r >= 0)
		r = read_count(reader, json, "memory", c->samples, false, ret_memory);
	if (r >= 0)
		r = read_count(reader, json, "dram", *ret_memory, false, ret_dram);
	if (r >= 0)
		r = read_count(reader, json, "remote", *ret_memory, false,
			       &c->counts.origin[__builtin_ctz(SPE_ORIGIN_REMOTE)]);
	if (r >= 0)
		r = read_count(reader, json, "branches", c->samples, false,
			       &c->counts.kind[SPE_KIND_BRANCH]);
	if (r >= 0)
		r = read_count(reader, json, "mispredicted", c->samples, false,
			       &c->counts.mispredicted);
	if (r >= 0)
		r = read_count(reader, json, "latency_sum", INT64_MAX, false,
			       &c->latency[PROFILE_TOTAL].sum);
	return r < 0 ? r : read_weights(reader, json, c->weight);
}

/*
 * A row of a period has its loads and stores together, and of the levels only DRAM. Its samples are
 * the count of its latencies, so that it has a mean.
 */
static void set_brief(struct query_row *row, u64 memory, u64 dram)
{
	row->brief = true;
	row->counters.counts.kind[SPE_KIND_LOAD] = memory;
	row->counters.counts.level[SPE_LEVEL_DRAM] = dram;
	row->counters.latency[PROFILE_TOTAL].count = row->counters.samples;
}

/* Check that parts of the loads and stores are not more than these. */
static int check_row(struct reader *reader, const struct query_row *row, u64 memory, u64 dram)
{
	const struct profile_counters *c = &row->counters;
	u64 levels = 0;

	if (counters_get_memory_accesses(c) != memory)
		return refuse(reader, "memory", "the sum of loads and stores");
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		levels += c->counts.level[i];
	if (levels > memory || counters_get_dram_accesses(c) != dram)
		return refuse(reader, "levels", "loads and stores, of which dram are from DRAM");
	if (c->latency[PROFILE_TOTAL].count > c->samples)
		return refuse(reader, "latency_counts", "counts of samples");
	return 0;
}

static int read_row(struct reader *reader, json_object *json, const struct query *query,
		    struct query_row *row)
{
	json_object *loads = NULL;
	u64 dram = 0, memory = 0;
	int r;

	if (!json_object_is_type(json, json_type_object))
		return refuse(reader, "", "an object");
	r = check_names(reader, json, query);
	if (r < 0)
		return r;
	row_names_read(json, row);
	row->evicted = row->evicted && query_groups_by(query, QUERY_MODE);
	clean_names(row);
	row->named = *row->function && *row->function != '[' && !row_names_unnamed(row);
	r = read_sums(reader, json, row, &dram, &memory);
	if (r < 0)
		return r;
	if (json_object_object_get_ex(json, "loads", &loads) && !loads) {
		set_brief(row, memory, dram);
		return 0;
	}
	r = read_details(reader, json, row);
	return r < 0 ? r : check_row(reader, row, memory, dram);
}

/* Add the large sums of a row to those of all rows. */
static int add_large(struct reader *reader, const struct query_row *row, s64 *weight, s64 *latency)
{
	bool overflow = __builtin_add_overflow((u64)*latency,
					       row->counters.latency[PROFILE_TOTAL].sum, latency);

	for (unsigned int i = 0; i < UNITS; i++)
		overflow |=
			__builtin_add_overflow((u64)weight[i], row->counters.weight[i], &weight[i]);
	return overflow ?
		       refuse(reader, "weight and latency_sum", "sums below 2^63 over all rows") :
		       0;
}

static int read_rows(struct reader *reader, json_object *json, struct row_set *set)
{
	json_object *rows = json_get(json, "rows");
	s64 weight[UNITS] = { 0 }, latency = 0;
	size_t count;
	int r = 0;

	if (!json_object_is_type(rows, json_type_array))
		return refuse(reader, "rows", "a list");
	count = json_object_array_length(rows);
	if (count > ROW_SET_ROWS)
		return refuse(reader, "rows", "a list of at most 10000 rows");
	set->row = calloc(count ? count : 1, sizeof(*set->row));
	if (!set->row)
		return -ENOMEM;
	for (; set->rows < count && r >= 0; set->rows++) {
		struct reader inner = { .error = reader->error };
		struct query_row *row = &set->row[set->rows];

		snprintf(inner.place, sizeof(inner.place), "rows[%u].", set->rows);
		r = read_row(&inner, json_object_array_get_idx(rows, set->rows), &set->query, row);
		if (r >= 0)
			r = add_large(&inner, row, weight, &latency);
		set->brief |= row->brief;
	}
	return r;
}

int row_set_read(json_object *json, struct row_set *ret_set, struct row_set_error *ret_error)
{
	struct reader reader = { .error = ret_error };
	struct row_set set = { 0 };
	const char *source = "";
	int r;

	if (!json_object_is_type(json, json_type_object))
		return refuse(&reader, "the profile", "an object");
	r = read_header(&reader, json, &set.header);
	if (r >= 0)
		r = read_text(&reader, json, "source", &source);
	if (r >= 0)
		r = read_keys(&reader, json, &set.query);
	if (r >= 0)
		r = read_rows(&reader, json, &set);
	if (r < 0) {
		row_set_clear(&set);
		return r;
	}
	escape_string(set.header.source, sizeof(set.header.source), source);
	*ret_set = set;
	return 0;
}

/* ---- The history ---------------------------------------------------------------- */

static void read_history_weights(json_object *json, u64 *weight)
{
	weight[UNIT_UNKNOWN] = json_number(json, "weight");
	weight[UNIT_MICRO_OPS] = json_number(json, "weight_micro_ops");
	weight[UNIT_INSTRUCTIONS] = json_number(json, "weight_instructions");
}

static void read_history_header(json_object *json, struct view_header *header)
{
	snprintf(header->source, sizeof(header->source), "history");
	header->backend = (u8)json_number(json, "backend");
	header->records = json_number(json, "records");
	header->duration_ns = json_number(json, "duration_ns");
	header->enabled_ns = json_number(json, "enabled_ns");
	header->blind_ns = json_number(json, "blind_ns");
	header->unattributed = json_number(json, "unattributed");
	header->unattributed_weight = json_number(json, "unattributed_weight");
	header->evicted = json_number(json, "evicted");
	header->evicted_weight = json_number(json, "evicted_weight");
	read_history_weights(json, header->weight);
}

/* Read the latencies of a row. A row without them may have percentiles. */
static void read_history_latencies(json_object *json, struct query_row *row)
{
	json_object *parsed = json_tokener_parse(json_text(json, "latencies"));
	struct histogram *total = &row->counters.latency[PROFILE_TOTAL];

	row->p50 = (u32)json_number(json, "p50");
	row->p99 = (u32)json_number(json, "p99");
	if (!json_object_is_type(parsed, json_type_object)) {
		json_object_put(parsed);
		return;
	}
	json_object_object_foreach(parsed, upper, samples)
	{
		unsigned long value = strtoul(upper, NULL, 10);

		if (value <= UINT16_MAX)
			total->bucket[histogram_get_bucket((u16)value)] +=
				json_object_get_uint64(samples);
	}
	json_object_put(parsed);
}

static void read_history_row(json_object *json, struct query_row *row)
{
	struct profile_counters *c = &row->counters;

	snprintf(row->container, sizeof(row->container), "%s", json_text(json, "container"));
	snprintf(row->program, sizeof(row->program), "%s", json_text(json, "process"));
	snprintf(row->function, sizeof(row->function), "%s", json_text(json, "function"));
	snprintf(row->binary, sizeof(row->binary), "%s", json_text(json, "binary"));
	snprintf(row->file, sizeof(row->file), "%s", json_text(json, "file"));
	row->line = (u32)json_number(json, "line");
	row->named = *row->function && *row->function != '[' && !row_names_unnamed(row);
	/* The value 0 would be a load: the rows have all operations together. */
	row->op = SPE_KIND_NONE;
	c->samples = json_number(json, "samples");
	c->latency[PROFILE_TOTAL].sum = json_number(json, "latency_sum");
	c->counts.origin[__builtin_ctz(SPE_ORIGIN_REMOTE)] = json_number(json, "remote");
	c->counts.kind[SPE_KIND_BRANCH] = json_number(json, "branches");
	c->counts.mispredicted = json_number(json, "mispredicted");
	read_history_weights(json, c->weight);
	set_brief(row, json_number(json, "memory"), json_number(json, "dram"));
	read_history_latencies(json, row);
}

int row_set_from_history(json_object *reply, const struct query *query, struct row_set *ret_set)
{
	json_object *rows = json_object_array_get_idx(reply, 1);
	struct row_set set = { .query = *query, .brief = true };

	if (!json_object_is_type(rows, json_type_array) ||
	    json_object_array_length(rows) > ROW_SET_ROWS)
		return -EBADMSG;
	set.row = calloc(json_object_array_length(rows) + 1, sizeof(*set.row));
	if (!set.row)
		return -ENOMEM;
	read_history_header(json_object_array_get_idx(reply, 0), &set.header);
	for (; set.rows < json_object_array_length(rows); set.rows++)
		read_history_row(json_object_array_get_idx(rows, set.rows), &set.row[set.rows]);
	*ret_set = set;
	return 0;
}

/* ---- Queries -------------------------------------------------------------------- */

/** struct keyed_row - a row with the names by which rows are grouped */
struct keyed_row {
	char *key;
	const struct query_row *row;
};

/* Write the names of a row by all keys of a query, each in a line. Return an allocated text. */
static char *make_row_key(const struct query_row *row, const struct query *query)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (u32 i = 0; i < query->groups; i++) {
		switch (query->group[i]) {
		case QUERY_CONTAINER:
			fputs(row->container, out);
			break;
		case QUERY_PROGRAM:
			fputs(row->program, out);
			break;
		case QUERY_BUILD_ID:
			fputs(row->build_id, out);
			break;
		case QUERY_FUNCTION:
			fputs(row->function, out);
			break;
		case QUERY_LINE:
			fprintf(out, "%s:%u", row->file, row->line);
			break;
		case QUERY_INSTRUCTION:
			fprintf(out, "%016" PRIx64, (uint64_t)row->instruction);
			break;
		case QUERY_MODE:
			fprintf(out, "%d%d", row->evicted, row->kernel);
			break;
		case QUERY_OP:
			fprintf(out, "%u", row->op);
			break;
		case QUERY_EVENT:
			fprintf(out, "%u", row->event);
			break;
		case QUERY_LEVEL:
			fprintf(out, "%u", row->level);
			break;
		default:
			break;
		}
		fputc('\n', out);
	}
	if (query_has_binary(query))
		fputs(row->binary, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool matches(const char *glob, const char *text)
{
	return !glob || query_name_matches(glob, text);
}

static bool matches_path(const char *glob, const char *path)
{
	return matches(glob, path) || matches(glob, query_base_name(path));
}

static bool selects_binary(const char *glob, const struct query_row *row)
{
	const char *build_id = glob ? query_get_build_id_glob(glob) : NULL;

	return build_id ? matches(build_id, row->build_id) : matches_path(glob, row->binary);
}

static bool selects(const struct query_select *select, const struct query_row *row)
{
	return matches(select->container, row->container) &&
	       matches_path(select->program, row->program) &&
	       selects_binary(select->binary, row) &&
	       matches(select->function, row->function);
}

static int fail(int r, struct query_error *ret_error, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

static int fail(int r, struct query_error *ret_error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret_error->text, sizeof(ret_error->text), format, args);
	va_end(args);
	return r;
}

static bool has_key(const struct row_set *set, enum query_key key)
{
	return query_groups_by(&set->query, key) ||
	       (key == QUERY_BINARY && query_has_binary(&set->query));
}

static int check_key(const struct row_set *set, enum query_key key, struct query_error *ret_error)
{
	char keys[128] = "";
	size_t length = 0;

	if (has_key(set, key))
		return 0;
	for (u32 i = 0; i < set->query.groups && length < sizeof(keys); i++)
		length += (size_t)snprintf(keys + length, sizeof(keys) - length, "%s%s",
					   i ? ", " : "", query_key_name(set->query.group[i]));
	return fail(-EOPNOTSUPP, ret_error,
		    "its rows have no %s, only %s; the daemon's profile and recordings have more",
		    query_key_name(key), keys);
}

static int check_query(const struct row_set *set, const struct query *query,
		       struct query_error *ret_error)
{
	const struct {
		const char *glob;
		enum query_key key;
	} selected[] = {
		{ query->select.container, QUERY_CONTAINER },
		{ query->select.program, QUERY_PROGRAM },
		{ query->select.binary,
		  query->select.binary && query_get_build_id_glob(query->select.binary) ?
			  QUERY_BUILD_ID :
			  QUERY_BINARY },
		{ query->select.function, QUERY_FUNCTION },
	};
	char name[MEASURE_NAME_SIZE];
	int r = 0;

	for (u32 i = 0; i < query->groups && r >= 0; i++)
		r = check_key(set, query->group[i], ret_error);
	for (size_t i = 0; i < ARRAY_SIZE(selected) && r >= 0; i++)
		if (selected[i].glob)
			r = check_key(set, selected[i].key, ret_error);
	if (r < 0)
		return r;
	measure_format_name(query->sort, name);
	if (measure_is_issue_or_translation(query->sort))
		return fail(-EOPNOTSUPP, ret_error,
			    "-s %s: its rows have the total latency alone; the daemon's profile "
			    "and recordings have more",
			    name);
	if (set->brief && !measure_is_known_for_period(query->sort) &&
	    query->sort != MEASURE_MEAN && query->sort != MEASURE_P50 && query->sort != MEASURE_P99)
		return fail(-EOPNOTSUPP, ret_error,
			    "-s %s: rows of a time in the past have " MEASURE_PERIOD_LIST, name);
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	const struct keyed_row *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	/* The heaviest row comes first, so that a group has its names. */
	if (r)
		return r;
	if (x->row->counters.samples != y->row->counters.samples)
		return x->row->counters.samples < y->row->counters.samples ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

static int select_rows(const struct row_set *set, const struct query *query,
		       struct keyed_row *keyed, u32 *count)
{
	for (u32 i = 0; i < set->rows; i++) {
		if (!selects(&query->select, &set->row[i]))
			continue;
		keyed[*count].row = &set->row[i];
		keyed[*count].key = make_row_key(&set->row[i], query);
		if (!keyed[*count].key)
			return -ENOMEM;
		(*count)++;
	}
	if (*count)
		qsort(keyed, *count, sizeof(*keyed), compare_keys);
	return 0;
}

/*
 * Add row @from to row @to. The percentiles of the sum are computed from the merged histogram. If
 * the rows have no histograms, the sum has no percentiles, because those of the two rows cannot be
 * combined.
 */
static void row_merge(struct query_row *to, const struct query_row *from)
{
	struct histogram latencies;

	counters_merge(&to->counters, &from->counters);
	to->brief |= from->brief;
	query_row_get_latencies(to, &latencies);
	to->p50 = to->brief ? histogram_get_quantile(&latencies, 500) : 0;
	to->p99 = to->brief ? histogram_get_quantile(&latencies, 990) : 0;
}

static u64 measure_sum(const struct row_set *set, enum measure measure, unsigned int unit)
{
	u64 sum = 0;

	for (u32 i = 0; i < set->rows; i++)
		sum += (u64)measure_compute(measure, &set->row[i].counters, unit);
	return sum;
}

static double compute_row_value(const struct query_row *row, enum measure measure,
				unsigned int unit)
{
	if (row->brief && (measure == MEASURE_P50 || measure == MEASURE_P99))
		return measure == MEASURE_P50 ? row->p50 : row->p99;
	return measure_compute(measure, &row->counters, unit);
}

/** struct order - arguments of the comparison of two rows */
struct order {
	const struct query *query;
	unsigned int unit;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct query_row *x = a, *y = b;
	const struct order *order = ctx;
	double p, q;

	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? 1 : -1;
	p = measure_compute(MEASURE_OPERATIONS, &x->counters, order->unit);
	q = measure_compute(MEASURE_OPERATIONS, &y->counters, order->unit);
	if (p < q || p > q)
		return p < q ? 1 : -1;
	/* Before sorting, the rows were in the order of their names. */
	return (x->whole > y->whole) - (x->whole < y->whole);
}

static void rows_measure(const struct row_set *from, struct row_set *set)
{
	unsigned int unit = view_get_share_unit(&set->header);
	enum measure share = measure_is_sum(set->query.sort) ? set->query.sort : MEASURE_OPERATIONS;
	struct order order = { .query = &set->query, .unit = unit };

	set->whole = share == MEASURE_OPERATIONS ? view_get_share_denominator(&set->header, unit) :
		     share == MEASURE_SAMPLES	 ? set->header.records :
						   measure_sum(from, share, unit);
	for (u32 i = 0; i < set->rows; i++) {
		set->row[i].value = compute_row_value(&set->row[i], set->query.sort, unit);
		set->row[i].part = (u64)measure_compute(share, &set->row[i].counters, unit);
		set->row[i].whole = i;
	}
	if (set->rows)
		qsort_r(set->row, set->rows, sizeof(*set->row), compare_rows, &order);
	for (u32 i = 0; i < set->rows; i++)
		set->row[i].whole = set->whole;
}

static int rows_group(const struct row_set *set, const struct query *query, struct keyed_row *keyed,
		      u32 count, struct row_set *ret_set)
{
	struct row_set grouped = { .header = set->header, .query = *query, .brief = set->brief };

	grouped.row = calloc(count ? count : 1, sizeof(*grouped.row));
	if (!grouped.row)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		if (!i || strcmp(keyed[i].key, keyed[i - 1].key) != 0)
			grouped.row[grouped.rows++] = *keyed[i].row;
		else
			row_merge(&grouped.row[grouped.rows - 1], keyed[i].row);
	}
	rows_measure(set, &grouped);
	grouped.limit = query->limit && query->limit < grouped.rows ? query->limit : grouped.rows;
	*ret_set = grouped;
	return 0;
}

int row_set_query(const struct row_set *set, const struct query *query, struct row_set *ret_set,
		  struct query_error *ret_error)
{
	struct keyed_row *keyed;
	u32 count = 0;
	int r = check_query(set, query, ret_error);

	if (r < 0)
		return r;
	keyed = calloc(set->rows ? set->rows : 1, sizeof(*keyed));
	if (!keyed)
		return -ENOMEM;
	r = select_rows(set, query, keyed, &count);
	if (r >= 0 && !count)
		r = fail(-ENOENT, ret_error, "it has no samples of this selection");
	if (r >= 0)
		r = rows_group(set, query, keyed, count, ret_set);
	for (u32 i = 0; i < count; i++)
		free(keyed[i].key);
	free(keyed);
	return r;
}

static void get_row(const void *ctx, u32 index, struct query_row *ret_row)
{
	const struct row_set *set = ctx;

	*ret_row = set->row[index];
}

static void get_rest(const void *ctx, u64 shown_samples, struct query_rest *ret_rest)
{
	const struct row_set *set = ctx;
	u64 shown = 0;

	for (u32 i = 0; i < set->limit; i++)
		shown += set->row[i].part;
	*ret_rest = (struct query_rest){
		.part = shown < set->whole ? set->whole - shown : 0,
		.whole = set->whole,
		.samples = shown_samples < set->header.records ?
				   set->header.records - shown_samples :
				   0,
		.rows = set->rows - set->limit,
		.overlaps = query_groups_by(&set->query, QUERY_EVENT),
	};
	if (ret_rest->overlaps)
		ret_rest->part = 0;
}

struct query_rows row_set_rows(const struct row_set *set)
{
	return (struct query_rows){
		.count = set->limit,
		.row = get_row,
		.rest = get_rest,
		.ctx = set,
	};
}

void row_set_clear(struct row_set *set)
{
	free(set->row);
	*set = (struct row_set){ 0 };
}
