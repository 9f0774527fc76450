// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sharing-table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/cache-lines.h"
#include "table.h"
#include "terminal.h"
#include "text.h"
#include "util/array.h"

enum sharing_column {
	COLUMN_LINE,
	COLUMN_SHARING,
	COLUMN_SHARE,
	COLUMN_OFFSET,
	COLUMN_CPUS,
	COLUMN_SAMPLES,
	COLUMN_STORES,
	COLUMN_DATUM,
	COLUMN_FUNCTION,
};

/* Maximum length of a list of CPUs in a cell, bytes. */
#define CPUS_SIZE 48
/* Maximum number of users of a line that the daemon lists. */
#define USERS_MAX LINE_SHARERS

static u64 get_u64(json_object *from, const char *key)
{
	return json_object_get_uint64(json_object_object_get(from, key));
}

/* Return a string, or NULL if it is unknown. */
static const char *get_string(json_object *from, const char *key)
{
	return json_object_get_string(json_object_object_get(from, key));
}

/* Return a name, or "-" if it is unknown. */
static const char *get_name(json_object *from, const char *key)
{
	const char *name = get_string(from, key);

	return name ? name : "-";
}

/* Return whether two users of a line have the same code and offset, perhaps on different CPUs. */
static bool sharers_match(json_object *a, json_object *b)
{
	const char *x = get_string(a, "source"), *y = get_string(b, "source");

	return get_u64(a, "offset") == get_u64(b, "offset") &&
	       get_u64(a, "pid") == get_u64(b, "pid") &&
	       !strcmp(get_name(a, "function"), get_name(b, "function")) && !x == !y &&
	       (!x || !strcmp(x, y));
}

/**
 * struct line_user - the users of a line with the same code and offset
 * @first: the user with most samples
 * @samples, @stores: sums of all
 * @cpus: their CPUs, with commas between them
 */
struct line_user {
	json_object *first;
	u64 samples;
	u64 stores;
	char cpus[CPUS_SIZE];
};

static int compare_cpus(const void *a, const void *b)
{
	return compare_u64(*(const u64 *)a, *(const u64 *)b);
}

/* Write each different CPU once, in ascending order. */
static void write_cpus(u64 *cpus, u32 count, char *to, size_t size)
{
	size_t end = 0;

	qsort(cpus, count, sizeof(*cpus), compare_cpus);
	*to = 0;
	for (u32 i = 0; i < count && end < size; i++)
		if (!i || cpus[i] != cpus[i - 1])
			end += (size_t)snprintf(to + end, size - end, "%s%" PRIu64, end ? "," : "",
						cpus[i]);
}

/* Add up all users that match @first, which is at index @from of @sharers. */
static struct line_user user_make(json_object *sharers, size_t from, json_object *first)
{
	struct line_user user = { .first = first };
	u64 cpus[USERS_MAX];
	u32 count = 0;

	for (size_t i = from; i < json_object_array_length(sharers); i++) {
		json_object *other = json_object_array_get_idx(sharers, i);

		if (!sharers_match(first, other))
			continue;
		user.samples += get_u64(other, "samples");
		user.stores += get_u64(other, "stores");
		if (count < USERS_MAX)
			cpus[count++] = get_u64(other, "cpu");
	}
	write_cpus(cpus, count, user.cpus, sizeof(user.cpus));
	return user;
}

static bool user_is_listed(json_object *sharers, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (sharers_match(json_object_array_get_idx(sharers, i),
				  json_object_array_get_idx(sharers, index)))
			return true;
	return false;
}

static void user_set_cells(struct text_table *table, u32 row, const struct line_user *user)
{
	const char *source = get_string(user->first, "source");
	char text[TABLE_CELL_SIZE], number[TEXT_NUMBER_SIZE];

	snprintf(text, sizeof(text), "+%" PRIu64, get_u64(user->first, "offset"));
	table_set_cell(table, row, COLUMN_OFFSET, text);
	table_set_cell(table, row, COLUMN_CPUS, user->cpus);
	table_set_cell(table, row, COLUMN_SAMPLES, text_format_count(number, user->samples));
	table_set_cell(table, row, COLUMN_STORES, text_format_count(number, user->stores));
	table_set_cell(table, row, COLUMN_DATUM, get_name(user->first, "field"));
	if (source && strrchr(source, '/'))
		source = strrchr(source, '/') + 1;
	snprintf(text, sizeof(text), "%.100s%s%.40s%s", get_name(user->first, "function"),
		 source ? " (" : "", source ? source : "", source ? ")" : "");
	table_set_cell(table, row, COLUMN_FUNCTION, text);
}

/* Add the rows of line @number: a row for each user. */
static void line_add_rows(struct text_table *table, json_object *line, u64 number, u64 whole)
{
	json_object *sharers = json_object_object_get(line, "sharers");
	bool suspected = json_object_get_boolean(json_object_object_get(line, "suspected"));
	char text[TABLE_CELL_SIZE];

	for (size_t i = 0; i < json_object_array_length(sharers); i++) {
		struct line_user user =
			user_make(sharers, i, json_object_array_get_idx(sharers, i));
		u32 row;

		if (user_is_listed(sharers, i))
			continue;
		row = table_add_row(table);
		if (!i) {
			snprintf(text, sizeof(text), "%" PRIu64, number);
			table_set_cell(table, row, COLUMN_LINE, text);
			snprintf(text, sizeof(text), "%s%s", get_name(line, "sharing"),
				 suspected ? "?" : "");
			table_set_cell(table, row, COLUMN_SHARING, text);
			table_set_cell(table, row, COLUMN_SHARE,
				       text_format_percent(text, get_u64(line, "latency_sum"),
							   whole));
		}
		user_set_cells(table, row, &user);
	}
}

static void add_columns(struct text_table *table)
{
	static const struct {
		const char *heading;
		bool right;
		unsigned int order;
	} columns[] = {
		[COLUMN_LINE] = { "LINE", true, 0 },	   [COLUMN_SHARING] = { "SHARING", false, 0 },
		[COLUMN_SHARE] = { "SHARE", true, 0 },	   [COLUMN_OFFSET] = { "OFFSET", true, 0 },
		[COLUMN_CPUS] = { "CPUS", false, 3 },	   [COLUMN_SAMPLES] = { "SAMPLES", true, 0 },
		[COLUMN_STORES] = { "STORES", true, 0 },   [COLUMN_DATUM] = { "DATUM", false, 2 },
		[COLUMN_FUNCTION] = { "FUNCTION", false, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		struct table_column *column = table_add_column(table, columns[i].heading);

		column->right = columns[i].right;
		column->gap = i ? 2 : 0;
		column->order = columns[i].order;
		/* Names are shortened to 12 columns at first, then to 6. */
		column->floor[0] = columns[i].order ? 12 : 0;
		column->floor[1] = columns[i].order ? 6 : 0;
	}
}

/* Print words, in lines of at most @width columns; each line after the first begins with @indent. */
static void print_wrapped(FILE *out, const char *text, size_t width, size_t indent)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		char word[TEXT_SIZE];

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		if (column > indent && width && column + 1 + text_get_width(word) > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent || (column && column < indent)) {
			fputc(' ', out);
			column++;
		}
		fputs(word, out);
		column += text_get_width(word);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* Print where line @number is, what it costs, and the advice. */
static void print_advice(FILE *out, json_object *line, u64 number, size_t width)
{
	char count[3][TEXT_NUMBER_SIZE], owner[TEXT_SIZE], text[2 * TEXT_SIZE];
	const char *advice = get_string(line, "advice"), *process = get_string(line, "process"),
		   *container = get_name(line, "container");
	bool suspected = json_object_get_boolean(json_object_object_get(line, "suspected"));

	if (process)
		snprintf(owner, sizeof(owner), "%s%s%s (pid %" PRIu64 ")",
			 strcmp(container, "-") ? container : "", strcmp(container, "-") ? " " : "",
			 process, get_u64(line, "pid"));
	else
		snprintf(owner, sizeof(owner), "a %s address", get_name(line, "space"));
	snprintf(text, sizeof(text), "%" PRIu64 ": %s, %s, %s cycles in %s samples on %s CPUs.%s%s%s",
		 number, get_name(line, "address"), owner,
		 text_format_count(count[0], get_u64(line, "latency_sum")),
		 text_format_count(count[1], get_u64(line, "samples")),
		 text_format_count(count[2], get_u64(line, "cpus")), advice ? " " : "",
		 advice ? advice : "",
		 suspected ? " No sample shows that another core's cache had the line." : "");
	print_wrapped(out, text, width, 4);
}

void sharing_table_print(FILE *out, json_object *root)
{
	json_object *lines = json_object_object_get(root, "lines");
	size_t count = lines ? json_object_array_length(lines) : 0, width, height;
	struct text_table table = { 0 };
	char text[160];

	term_get_size(&width, &height);
	snprintf(text, sizeof(text),
		 "cache lines of %" PRIu64 " bytes that several threads use; SHARE: of the cycles of "
		 "all such lines",
		 get_u64(root, "line_size"));
	print_wrapped(out, text, width, 0);
	if (!count) {
		fputs("  none\n", out);
		return;
	}
	add_columns(&table);
	for (size_t i = 0; i < count; i++)
		line_add_rows(&table, json_object_array_get_idx(lines, i), i + 1,
			      get_u64(root, "lines_latency_sum"));
	table_print(&table, out, width, term_uses_colour());
	table_deinit(&table);
	fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		print_advice(out, json_object_array_get_idx(lines, i), i + 1, width);
}
