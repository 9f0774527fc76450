// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page-set-table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "table.h"
#include "terminal.h"
#include "text.h"
#include "util/array.h"

static u64 get_u64(json_object *from, const char *key)
{
	return json_object_get_uint64(json_object_object_get(from, key));
}

static const char *get_string(json_object *from, const char *key)
{
	return json_object_get_string(json_object_object_get(from, key)) ?: "-";
}

/* Add a column. @name: it has names, which are shortened on a narrow terminal */
static void add_column(struct text_table *table, const char *heading, bool name)
{
	struct table_column *column = table_add_column(table, heading);

	column->right = !name;
	column->order = name ? table->columns : 0;
	/* Names are shortened to 12 columns at first, then to 6. */
	column->floor[0] = name ? 12 : 0;
	column->floor[1] = name ? 6 : 0;
}

static void set_count(struct text_table *table, u32 row, u32 column, u64 count)
{
	char text[TEXT_NUMBER_SIZE];

	table_set_cell(table, row, column, text_format_count(text, count));
}

static void print_table(FILE *out, struct text_table *table)
{
	size_t width, height;

	term_get_size(&width, &height);
	table_print(table, out, width, term_uses_colour());
	table_deinit(table);
}

static void print_containers(FILE *out, json_object *containers)
{
	static const struct {
		const char *heading;
		const char *set;
		const char *key;
	} columns[] = {
		{ "SAMPLES", NULL, "samples" },
		{ "PAGES", NULL, "pages" },
		{ "HOT", "hot", "pages" },
		{ "COLD", "cold", "pages" },
		{ "MISPLACED", "misplaced", "pages" },
		{ "CYCLES", "misplaced", "cycles" },
		{ "HUGE", "huge_candidates", "ranges_found" },
		{ "TRANSLATION", "huge_candidates", "cycles" },
	};
	struct text_table table = { 0 };

	add_column(&table, "CONTAINER", true);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		add_column(&table, columns[i].heading, false);
	for (size_t i = 0; i < json_object_array_length(containers); i++) {
		json_object *container = json_object_array_get_idx(containers, i);
		u32 row = table_add_row(&table);

		table_set_cell(&table, row, 0, get_string(container, "container"));
		for (u32 c = 0; c < ARRAY_SIZE(columns); c++)
			set_count(&table, row, c + 1,
				  get_u64(columns[c].set ? json_object_object_get(container,
										  columns[c].set) :
							   container,
					  columns[c].key));
	}
	print_table(out, &table);
}

/**
 * struct page_set_row - a range to print
 * @container: its container
 * @range: the range
 * @weight: what rows are sorted by
 */
struct page_set_row {
	json_object *container;
	json_object *range;
	u64 weight;
};

static int compare_rows(const void *a, const void *b)
{
	const struct page_set_row *x = a, *y = b;
	int r = compare_u64(y->weight, x->weight);

	if (!r)
		r = strcmp(get_string(x->container, "container"),
			   get_string(y->container, "container"));
	if (!r)
		r = compare_u64(get_u64(x->range, "pid"), get_u64(y->range, "pid"));
	return r ? r : strcmp(get_string(x->range, "start"), get_string(y->range, "start"));
}

/* Collect the ranges of one set of all containers, heaviest first. The caller frees the rows. */
static struct page_set_row *collect_rows(json_object *containers, const char *set,
					 const char *weight, u32 *ret_count)
{
	struct page_set_row *rows = NULL, *grown;
	u32 count = 0, capacity = 0;

	for (size_t i = 0; i < json_object_array_length(containers); i++) {
		json_object *container = json_object_array_get_idx(containers, i);
		json_object *ranges =
			json_object_object_get(json_object_object_get(container, set), "ranges");

		for (size_t k = 0; k < json_object_array_length(ranges); k++) {
			json_object *range = json_object_array_get_idx(ranges, k);

			grown = array_reserve(rows, &capacity, count + 1, sizeof(*rows),
					      UINT32_MAX / sizeof(*rows));
			if (!grown)
				break;
			rows = grown;
			rows[count++] =
				(struct page_set_row){ container, range, get_u64(range, weight) };
		}
	}
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	*ret_count = count;
	return rows;
}

static void set_node(struct text_table *table, u32 row, u32 column, json_object *range,
		     const char *key)
{
	json_object *node = json_object_object_get(range, key);

	table_set_cell(table, row, column, node ? json_object_get_string(node) : "?");
}

/* @number: key of the number of accesses or samples */
static void add_row(struct text_table *table, const struct page_set_row *from, const char *number,
		    bool nodes)
{
	u32 row = table_add_row(table);
	char text[TABLE_CELL_SIZE];

	table_set_cell(table, row, 0, get_string(from->container, "container"));
	snprintf(text, sizeof(text), "%s(%" PRIu64 ")", get_string(from->range, "process"),
		 get_u64(from->range, "pid"));
	table_set_cell(table, row, 1, text);
	snprintf(text, sizeof(text), "%s-%s", get_string(from->range, "start"),
		 get_string(from->range, "end"));
	table_set_cell(table, row, 2, text);
	set_count(table, row, 3, get_u64(from->range, "pages"));
	set_count(table, row, 4, get_u64(from->range, number));
	set_count(table, row, 5, get_u64(from->range, "cycles"));
	if (nodes) {
		set_node(table, row, 6, from->range, "node");
		set_node(table, row, 7, from->range, "to_node");
	}
}

static void print_set(FILE *out, json_object *containers, const char *set, const char *title,
		      u32 limit)
{
	bool by_accesses = !strcmp(set, "hot") || !strcmp(set, "cold");
	bool nodes = !strcmp(set, "misplaced");
	struct text_table table = { 0 };
	u32 count;
	struct page_set_row *rows =
		collect_rows(containers, set, by_accesses ? "accesses" : "cycles", &count);

	fprintf(out, "\n%s\n", title);
	add_column(&table, "CONTAINER", true);
	add_column(&table, "PROCESS", true);
	table_add_column(&table, "RANGE");
	add_column(&table, "PAGES", false);
	/* Avoidable cycles are sums over samples; with few samples, the set is uncertain. */
	add_column(&table, by_accesses ? "ACCESSES" : "SAMPLES", false);
	add_column(&table, "CYCLES", false);
	if (nodes) {
		add_column(&table, "NODE", false);
		add_column(&table, "TO NODE", false);
	}
	for (u32 i = 0; i < count && i < limit; i++)
		add_row(&table, &rows[i], by_accesses ? "accesses" : "samples", nodes);
	if (count)
		print_table(out, &table);
	else
		fputs("  none\n", out);
	free(rows);
}

void page_set_table_print(FILE *out, json_object *root, u32 limit)
{
	json_object *containers = json_object_object_get(root, "containers");
	u64 dropped = get_u64(root, "samples_dropped");
	char count[TEXT_NUMBER_SIZE];

	fputs("pages of 4 KiB with samples, by container; a page without a sample may be in use\n"
	      "CYCLES: remote latency of MISPLACED pages; TRANSLATION: cycles of HUGE, ranges of "
	      "2 MiB\n",
	      out);
	if (dropped)
		fprintf(out, "%s samples are not counted, because the table of pages is full\n",
			text_format_count(count, dropped));
	if (!json_object_array_length(containers)) {
		fputs("  none: no record of a load or store has a virtual address of a process\n",
		      out);
		return;
	}
	print_containers(out, containers);
	print_set(out, containers, "hot",
		  "hot: the fewest pages with 80 % of a container's accesses", limit);
	print_set(out, containers, "cold",
		  "cold: the pages with fewest samples, 1 % of a container's accesses together",
		  limit);
	print_set(out, containers, "misplaced",
		  "misplaced: pages that CPUs of another node use most; CYCLES: latency of these "
		  "accesses",
		  limit);
	print_set(out, containers, "huge_candidates",
		  "candidates for huge pages of 2 MiB; CYCLES: translation latency", limit);
}
