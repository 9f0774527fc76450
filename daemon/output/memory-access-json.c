// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write hot cache lines, pages and nodes as JSON (Documentation/reference/json.md). */
#include "memory-access-names.h"
#include "profile-json.h"
#include "profile/profile-internal.h"
#include "sharing-advice.h"

#include "util/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

struct json_context {
	struct profile *profile;
	struct memory_access_names names;
};

static void json_add_u64(struct json_object *to, const char *key, u64 value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static void add_string(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

static void add_address(struct json_object *to, const char *key, u64 address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	add_string(to, key, text);
}

static void add_process(const struct json_context *hot, struct json_object *to, u64 owner)
{
	const struct attribute_process *process = memory_access_find_process(&hot->names, owner);

	add_string(to, "container", memory_access_get_container(&hot->names, process));
	add_string(to, "process", memory_access_get_process(process));
	json_add_u64(to, "pid", process && process->pid > 0 ? (u64)process->pid : 0);
}

static void add_function(const struct json_context *hot, struct json_object *to, u64 place,
			 u64 owner)
{
	char name[MEMORY_ACCESS_FUNCTION_SIZE], binary[128];
	struct attribute_location where;

	memory_access_get_function(&hot->names, place, owner, name, &where);
	escape_string(binary, sizeof(binary), where.binary);
	add_string(to, "function", name);
	add_string(to, "binary", binary);
}

static void add_string_or_null(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, *value ? json_object_new_string(value) : NULL);
}

static void add_source_line(const struct json_context *hot, struct json_object *to, u64 place,
			    u64 owner)
{
	const struct attribute_process *process = memory_access_find_process(&hot->names, owner);
	u32 index = process ? (u32)(owner >> 32) : ATTRIBUTE_NONE;
	char text[sizeof(((struct source_line *)0)->file) + 16] = "";
	struct attribute_location where;
	struct source_line source;

	if (hot->names.symbols &&
	    attributor_locate_pc(hot->profile->attributor, index, location_key_get_pc(place),
				 location_key_is_kernel(place), &where) &&
	    symbols_get_source_line(hot->names.symbols, process ? process->pid : 0, &where,
				    hot->names.live, &source))
		snprintf(text, sizeof(text), "%s:%u", source.file, source.line);
	add_string_or_null(to, "source", text);
}

/* Get the name of the global variable at an address of a process; false if it is unknown. */
static bool get_global(const struct json_context *hot, u64 address, u64 owner,
		       struct data_name *ret_name)
{
	const struct attributor *attributor = hot->profile->attributor;
	struct attribute_location where;
	struct attribute_mapping mapping;

	if (!memory_access_find_process(&hot->names, owner) ||
	    !attributor_find_data_mapping(attributor, (u32)(owner >> 32), address, ATTRIBUTE_AT_END,
					  &mapping))
		return false;
	where = (struct attribute_location){
		.binary = mapping.binary,
		.offset = address - mapping.bias,
		.inode = mapping.inode,
		.device = mapping.device,
		.build_id = mapping.build_id,
		.build_id_size = mapping.build_id_size,
	};
	return symbols_get_data(hot->names.symbols, &where, ret_name) && ret_name->type[0] != '[';
}

/* Get the name of the data that an instruction accesses; false if it is unknown. */
static bool get_accessed(const struct json_context *hot, u64 place, u64 owner,
			 struct data_name *ret_name)
{
	struct attribute_location where;

	return memory_access_find_process(&hot->names, owner) && !location_key_is_kernel(place) &&
	       attributor_locate_pc(hot->profile->attributor, (u32)(owner >> 32),
				    location_key_get_pc(place), false, &where) &&
	       symbols_get_accessed_data(hot->names.symbols, &where, ret_name) &&
	       ret_name->type[0] != '[';
}

/*
 * Get the type and the field of what @sharer accesses in the line at @address, which @owner has.
 * Both are "" if they are not known, as for the kernel and for a running process.
 */
static void get_datum(const struct json_context *hot, u64 address, u64 owner,
		      const struct line_sharer *sharer, struct data_name *ret_name)
{
	if (hot->names.live || (!get_global(hot, address + sharer->offset, owner, ret_name) &&
				!get_accessed(hot, sharer->place, sharer->owner, ret_name)))
		*ret_name = (struct data_name){ 0 };
}

static int compare_sharers(const void *a, const void *b)
{
	const struct line_sharer *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Add the users of a line, and how to avoid the cost. */
static void add_sharers(const struct json_context *hot, u32 size, const struct hot_line *line,
			struct json_object *to)
{
	struct json_object *list = json_object_new_array(), *o;
	struct line_sharer sharers[LINE_SHARERS];
	struct sharing_side sides[LINE_SHARERS];
	struct data_name data[LINE_SHARERS];
	char advice[SHARING_ADVICE_SIZE];
	u32 count = 0;

	memcpy(sharers, line->sharer, sizeof(sharers));
	qsort(sharers, LINE_SHARERS, sizeof(*sharers), compare_sharers);
	for (unsigned int i = 0; i < LINE_SHARERS && sharers[i].samples; i++) {
		get_datum(hot, line->head.key[0] * size, line->head.key[1], &sharers[i], &data[i]);
		sides[count++] = (struct sharing_side){
			.offset = sharers[i].offset,
			.cpu = sharers[i].cpu,
			.samples = sharers[i].samples,
			.stores = sharers[i].stores,
			.type = data[i].type,
			.field = data[i].field,
		};
		o = json_object_new_object();
		json_object_array_add(list, o);
		json_add_u64(o, "cpu", sharers[i].cpu);
		json_add_u64(o, "offset", sharers[i].offset);
		json_add_u64(o, "samples", sharers[i].samples);
		json_add_u64(o, "stores", sharers[i].stores);
		add_process(hot, o, sharers[i].owner);
		add_function(hot, o, sharers[i].place, sharers[i].owner);
		add_source_line(hot, o, sharers[i].place, sharers[i].owner);
		add_string_or_null(o, "type", data[i].type);
		add_string_or_null(o, "field", data[i].field);
	}
	json_object_object_add(to, "sharers", list);
	sharing_write_advice(line_classify_sharing(line), size, sides, count, advice);
	add_string_or_null(to, "advice", advice);
}

static struct json_object *make_line_json(const struct json_context *hot, u32 size,
					  const struct hot_line *line)
{
	struct json_object *o = json_object_new_object();
	u64 owner = line->head.key[1];

	add_address(o, "address", line->head.key[0] * size);
	add_string(o, "space",
		   owner == LINE_PHYSICAL ? "physical" :
		   owner == LINE_KERNEL	  ? "kernel" :
					    "process");
	if (owner != LINE_PHYSICAL && owner != LINE_KERNEL)
		add_process(hot, o, owner);
	add_string(o, "sharing", line_sharing_name(line_classify_sharing(line)));
	json_object_object_add(o, "suspected", json_object_new_boolean(line_is_unsnooped(line)));
	json_add_u64(o, "cpus", line_count_cpus(line));
	json_add_u64(o, "samples", line->samples);
	json_add_u64(o, "loads", line->samples - line->stores);
	json_add_u64(o, "stores", line->stores);
	json_add_u64(o, "snooped", line->snooped);
	json_add_u64(o, "latency_sum", line->latency_sum);
	add_sharers(hot, size, line, o);
	return o;
}

static int compare_line_costs(const void *a, const void *b)
{
	const struct hot_line *x = *(const struct hot_line *const *)a,
			      *y = *(const struct hot_line *const *)b;

	if (x->latency_sum != y->latency_sum)
		return x->latency_sum < y->latency_sum ? 1 : -1;
	return (x->head.key[0] > y->head.key[0]) - (x->head.key[0] < y->head.key[0]);
}

/*
 * Add the cache lines, except those that only one thread has used. The line with the highest sum of
 * latencies is the first.
 */
static int add_cache_lines(const struct json_context *hot, u32 limit, struct json_object *root)
{
	struct json_object *list = json_object_new_array();
	const struct hot_lines *lines = &hot->profile->shared_data->lines;
	struct topk_entry **sorted;
	u32 count, shared = 0;
	u64 latency_sum = 0;

	json_object_object_add(root, "lines", list);
	json_add_u64(root, "line_size", hot_lines_get_size(lines));
	json_add_u64(root, "lines_evicted", lines->table.evicted);
	sorted = topk_sort_entries(&lines->table, &count);
	if (!sorted)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		const struct hot_line *line = (const struct hot_line *)sorted[i];

		if (line_classify_sharing(line) == LINE_PRIVATE)
			continue;
		sorted[shared++] = sorted[i];
		latency_sum += line->latency_sum;
	}
	json_add_u64(root, "lines_shared", shared);
	json_add_u64(root, "lines_latency_sum", latency_sum);
	qsort(sorted, shared, sizeof(*sorted), compare_line_costs);
	for (u32 i = 0; i < shared && (!limit || i < limit); i++)
		json_object_array_add(list, make_line_json(hot, hot_lines_get_size(lines),
							   (const struct hot_line *)sorted[i]));
	free(sorted);
	return 0;
}

static void add_node(struct json_object *to, const char *key, u8 node)
{
	if (node != NODE_NONE)
		json_add_u64(to, key, node);
}

static struct json_object *make_page_json(const struct json_context *hot,
					  const struct hot_page *page)
{
	struct json_object *o = json_object_new_object();

	add_address(o, "address", page->head.key[0] << HOT_PAGE_SHIFT);
	add_node(o, "node", hot_pages_find_node(&hot->profile->shared_data->pages, page));
	json_add_u64(o, "samples", page->samples);
	json_add_u64(o, "loads", page->samples - page->stores);
	json_add_u64(o, "stores", page->stores);
	json_add_u64(o, "dram", page->dram);
	json_add_u64(o, "remote", page->remote);
	json_add_u64(o, "other_node", page->from_other_node);
	json_add_u64(o, "latency_sum", page->latency_sum);
	add_process(hot, o, page->owner);
	add_function(hot, o, page->place, page->owner);
	return o;
}

static int add_pages(const struct json_context *hot, u32 limit, struct json_object *root)
{
	struct json_object *list = json_object_new_array();
	const struct hot_pages *pages = &hot->profile->shared_data->pages;
	struct topk_entry **sorted;
	u32 count;

	json_object_object_add(root, "pages", list);
	json_add_u64(root, "pages_evicted", pages->table.evicted);
	sorted = topk_sort_entries(&pages->table, &count);
	if (!sorted)
		return -ENOMEM;
	for (u32 i = 0; i < count && (!limit || i < limit); i++)
		json_object_array_add(list,
				      make_page_json(hot, (const struct hot_page *)sorted[i]));
	free(sorted);
	return 0;
}

static void add_nodes(const struct json_context *hot, struct json_object *root)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct hot_pages *pages = &hot->profile->shared_data->pages;

	json_object_object_add(root, "nodes", list);
	for (u8 from = 0; from <= NODES_MAX; from++) {
		for (u8 to = 0; to <= NODES_MAX; to++) {
			const struct node_traffic *t = &pages->traffic[from][to];

			if (!t->samples)
				continue;
			o = json_object_new_object();
			json_object_array_add(list, o);
			add_node(o, "cpu_node", from == NODES_MAX ? NODE_NONE : from);
			add_node(o, "memory_node", to == NODES_MAX ? NODE_NONE : to);
			json_add_u64(o, "samples", t->samples);
			json_add_u64(o, "dram", t->dram);
			json_add_u64(o, "latency_sum", t->latency_sum);
		}
	}
}

/* Add all sections to @root; keys that @root already has are replaced. */
static int add_all_sections(const struct json_context *hot, u32 limit, struct json_object *root)
{
	int r;

	json_object_object_add(root, "schema_version", json_object_new_int(1));
	json_object_object_add(
		root, "modelled",
		json_object_new_boolean(hot->profile->header.backend == BACKEND_EMULATED));
	r = add_cache_lines(hot, limit, root);
	if (r >= 0)
		r = add_pages(hot, limit, root);
	if (r >= 0)
		add_nodes(hot, root);
	return r;
}

int profile_hot_memory_json(struct profile *profile, struct symbols_cache *symbols, bool live,
			    u32 limit, char **ret_text)
{
	const struct json_context hot = {
		.profile = profile,
		.names = { .attributor = profile->attributor, .symbols = symbols, .live = live },
	};
	struct json_object *root = json_object_new_object();
	int r = add_all_sections(&hot, limit, root);

	/* Write everything again if more names may have been resolved during the wait. */
	if (r >= 0 && symbols && symbols_wait_configured(symbols))
		r = add_all_sections(&hot, limit, root);
	if (r >= 0) {
		*ret_text = strdup(json_object_to_json_string_ext(
			root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
		if (!*ret_text)
			r = -ENOMEM;
	}
	json_object_put(root);
	return r;
}
