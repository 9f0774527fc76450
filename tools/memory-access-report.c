// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print shared cache lines, hot pages, NUMA nodes, and the sets of pages of containers. The text is
 * printed from the same JSON that -j prints, so that both agree.
 */
#include "memory-access-report.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/bus.h"
#include "lib/input.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/page-set-table.h"
#include "lib/page-sets.h"
#include "lib/sharing-table.h"
#include "lib/text.h"
#include "output/profile-json.h"

static u64 get_json_u64(json_object *from, const char *key)
{
	return json_object_get_uint64(json_object_object_get(from, key));
}

static const char *get_json_string(json_object *from, const char *key)
{
	const char *s = json_object_get_string(json_object_object_get(from, key));

	return s ? s : "-";
}

static void print_function(json_object *o)
{
	char name[TEXT_SIZE], fitted[TEXT_SIZE];
	size_t width;

	snprintf(name, sizeof(name), "%s %s(%" PRIu64 ") %s", get_json_string(o, "container"),
		 get_json_string(o, "process"), get_json_u64(o, "pid"),
		 get_json_string(o, "function"));
	width = text_get_width(name);
	text_fit(name, width < 60 ? width : 60, false, fitted);
	printf("%s\n", fitted);
}

static const char *write_node(json_object *from, const char *key, char *to, size_t size)
{
	json_object *node = json_object_object_get(from, key);

	snprintf(to, size, node ? "%" PRIu64 : "?", node ? json_object_get_uint64(node) : 0);
	return to;
}

static void print_pages(json_object *root)
{
	json_object *pages = json_object_object_get(root, "pages");
	json_object *nodes = json_object_object_get(root, "nodes");
	size_t count = pages ? json_object_array_length(pages) : 0;
	char from[8], to[8];

	puts("nodes: accesses that missed the first level cache, by physical address");
	for (size_t i = 0; nodes && i < json_object_array_length(nodes); i++) {
		json_object *n = json_object_array_get_idx(nodes, i);
		u64 samples = get_json_u64(n, "samples");

		printf("  CPUs of node %s to memory of node %s  %10" PRIu64 " samples %10" PRIu64
		       " DRAM  %5" PRIu64 " cycles\n",
		       write_node(n, "cpu_node", from, sizeof(from)),
		       write_node(n, "memory_node", to, sizeof(to)), samples,
		       get_json_u64(n, "dram"),
		       samples ? get_json_u64(n, "latency_sum") / samples : 0);
	}
	puts("physical pages");
	for (size_t i = 0; i < count; i++) {
		json_object *p = json_object_array_get_idx(pages, i);

		printf("  %-18s node %-2s %8" PRIu64 " samples %8" PRIu64 " DRAM %8" PRIu64
		       " from other nodes  ",
		       get_json_string(p, "address"), write_node(p, "node", to, sizeof(to)),
		       get_json_u64(p, "samples"), get_json_u64(p, "dram"),
		       get_json_u64(p, "other_node"));
		print_function(p);
	}
	if (!count)
		puts("  none: no record of a cache miss has a physical address. To collect them, "
		     "set PhysicalAddresses= in speprofd.conf, or --physical-addresses of record "
		     "or session create");
}

/* Add the sets of pages of the containers to @root. Return 0 or a negative errno. */
static int add_page_sets(json_object *root, struct sampled_pages *pages,
			 const struct input_recording *input, u32 limit)
{
	struct page_sets sets;
	int r = sampled_pages_finish(pages);

	if (r == 0)
		r = page_sets_make(pages, input->attributor, &sets);
	if (r < 0)
		return r;
	r = page_sets_add_json(&sets, pages, limit, root);
	page_sets_deinit(&sets);
	return r;
}

/* Return the lines, pages and nodes of a recording; NULL if memory cannot be allocated. */
static json_object *make_hot_json(const struct input_recording *input, u32 limit)
{
	struct symbols_cache *symbols = NULL;
	json_object *root = NULL;
	char *text = NULL;

	if (input_new_symbols(input, &symbols) >= 0 &&
	    profile_hot_memory_json(input->profile, symbols, false, limit, &text) >= 0)
		root = json_tokener_parse(text);
	free(text);
	symbols_free(symbols);
	return root;
}

static int get_hot_json_of_recording(const struct options *options, json_object **ret_root)
{
	struct input_request request = input_request_from_options(options);
	struct sampled_pages pages = { .max = SAMPLED_PAGES_MAX };
	struct input_recording input;
	json_object *root;
	int status, r;

	request.memory = true;
	if (options->pages) {
		request.watch = sampled_pages_watch;
		request.ctx = &pages;
		pages.nodes = &input.nodes;
	}
	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		root = make_hot_json(&input, options->number);
		r = root ? 0 : -ENOMEM;
		if (r == 0 && options->pages)
			r = add_page_sets(root, &pages, &input, options->number);
		if (r < 0)
			status =
				message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
		*ret_root = root;
	}
	sampled_pages_deinit(&pages);
	input_deinit(&input);
	return status;
}

static int get_hot_json_of_daemon(const char *verb, const struct options *options,
				  json_object **ret_root)
{
	char *text = NULL;
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	status = live_session_choose(verb, bus, options, true);
	if (!status)
		status = bus_get_hot_memory(bus, options->number, &text);
	bus_free(bus);
	if (!status)
		*ret_root = json_tokener_parse(text);
	free(text);
	if (!status && !*ret_root)
		status = message_fail(STATUS_FAILED,
				      "%s: the list of cache lines and pages is not valid JSON",
				      verb);
	return status;
}

/* Print the members of @root that the options select. */
static void print_selected(json_object *root, const struct options *options)
{
	if (!options->lines) {
		json_object_object_del(root, "lines");
		json_object_object_del(root, "lines_evicted");
		json_object_object_del(root, "line_size");
		json_object_object_del(root, "lines_shared");
		json_object_object_del(root, "lines_latency_sum");
	}
	if (!options->pages) {
		json_object_object_del(root, "pages_evicted");
		json_object_object_del(root, "pages");
		json_object_object_del(root, "nodes");
	}
	if (options->json) {
		puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	} else {
		if (json_object_get_boolean(json_object_object_get(root, "modelled")))
			puts("An emulated SPU: all but CPU, process and function is modelled.");
		if (options->lines)
			sharing_table_print(stdout, root);
		if (options->pages)
			print_pages(root);
		if (json_object_object_get(root, "containers"))
			page_set_table_print(stdout, root, options->number);
	}
}

int memory_access_report_print(const char *verb, const struct options *options)
{
	json_object *root = NULL;
	int status = options->input ? get_hot_json_of_recording(options, &root) :
				      get_hot_json_of_daemon(verb, options, &root);

	if (root && (status == STATUS_OK || status == STATUS_DAMAGED))
		print_selected(root, options);
	json_object_put(root);
	return status;
}
