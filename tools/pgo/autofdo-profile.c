// SPDX-License-Identifier: LGPL-2.1-or-later
#include "autofdo-profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* clang stores 16 bits of the distance of a line from the beginning of its function. */
#define LINE_MASK 0xffff

/**
 * struct autofdo_record - the count of an instruction, or of a call
 * @frame: frames of its position, the outermost first
 * @frames: number of @frame, at least 1
 * @callee: the called function; NULL for the count of an instruction
 */
struct autofdo_record {
	const struct source_frame *frame;
	u32 frames;
	const char *callee;
	u64 count;
};

/**
 * struct autofdo_tables - what is printed
 * @record: instructions and calls by functions and lines
 * @head: counts of the calls to functions: &autofdo_record.callee is the function, and
 * &autofdo_record.frame is NULL
 */
struct autofdo_tables {
	FILE *out;
	struct autofdo_record *record;
	u32 records;
	struct autofdo_record *head;
	u32 heads;
};

/* ---- Lines and discriminators ---- */

/*
 * A discriminator of LLVM has three components: the base, which distinguishes blocks of a line; the
 * number of copies of the code that an optimisation made; and a number of the copy. A component with
 * bit 0 set is 0, and has one bit. The others have 7 bits, or 14 bits if bit 6 is set.
 */
static u32 component_get(u32 discriminator)
{
	if (discriminator & 1)
		return 0;
	discriminator >>= 1;
	return discriminator & 0x20 ? (discriminator >> 1 & 0xfe0) | (discriminator & 0x1f) :
				      discriminator & 0x1f;
}

static u32 component_skip(u32 discriminator)
{
	return discriminator >> (discriminator & 1 ? 1 : discriminator & 0x40 ? 14 : 7);
}

static u32 frame_get_offset(const struct source_frame *frame)
{
	return (frame->line - frame->start_line) & LINE_MASK;
}

/* Return the number of copies of the instruction: each of them has a share of its count. */
static u32 frame_get_copies(const struct source_frame *frame)
{
	return component_get(component_skip(frame->discriminator)) ?: 1;
}

static bool is_same_line(const struct source_frame *a, const struct source_frame *b)
{
	return frame_get_offset(a) == frame_get_offset(b) &&
	       component_get(a->discriminator) == component_get(b->discriminator);
}

/*
 * Accept the names that linkers and compilers use; the format has no escape character. In it a name
 * does not begin with a digit, as counts do.
 */
static bool name_is_usable(const char *name)
{
	if (!*name || isdigit((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_.$", *name))
			return false;
	return true;
}

bool autofdo_position_is_usable(const struct source_frames *frames,
				const struct framed_location *position)
{
	if (!position || !position->count)
		return false;
	for (u32 i = 0; i < position->count; i++) {
		const struct source_frame *frame = &frames->frame[position->first + i];

		if (!frame->line || !frame->start_line || !name_is_usable(frame->name))
			return false;
	}
	return true;
}

/* ---- Collecting ---- */

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_callees(const struct autofdo_record *a, const struct autofdo_record *b)
{
	if (!a->callee || !b->callee)
		return !!a->callee - !!b->callee;
	return strcmp(a->callee, b->callee);
}

/* Order by functions and lines, from the outermost on: a line before the functions inlined in it. */
static int compare_records(const void *x, const void *y)
{
	const struct autofdo_record *a = x, *b = y;
	int r = 0;

	for (u32 i = 0; i < a->frames && i < b->frames; i++) {
		const struct source_frame *f = &a->frame[i], *g = &b->frame[i];

		r = strcmp(f->name, g->name);
		if (!r)
			r = compare_numbers(frame_get_offset(f), frame_get_offset(g));
		if (!r)
			r = compare_numbers(component_get(f->discriminator),
					    component_get(g->discriminator));
		if (r)
			return r;
	}
	r = compare_numbers(a->frames, b->frames);
	return r ? r : compare_callees(a, b);
}

static int compare_heads(const void *x, const void *y)
{
	return compare_callees(x, y);
}

/* Return the position of a location, if it is in the file and usable. */
static const struct framed_location *find_position(const struct edge_profile *profile, u32 file,
						   u64 offset)
{
	const struct framed_location *position =
		file == profile->file ? source_frames_find(&profile->frames, offset) : NULL;

	return autofdo_position_is_usable(&profile->frames, position) ? position : NULL;
}

static void add_record(struct autofdo_tables *tables, const struct edge_profile *profile,
		       const struct framed_location *position, const char *callee, u64 count)
{
	tables->record[tables->records++] = (struct autofdo_record){
		.frame = &profile->frames.frame[position->first],
		.frames = position->count,
		.callee = callee,
		.count = count,
	};
}

static void collect_edge(struct autofdo_tables *tables, struct edge_profile *profile,
			 const struct counted_edge *edge)
{
	const struct framed_location *from, *to;
	const struct edge_key *key = &edge->key;
	const char *callee;

	if (key->kind == EDGE_EXECUTED && key->from_file == profile->file) {
		from = find_position(profile, key->from_file, key->from);
		if (from)
			add_record(tables, profile, from, NULL, edge->count);
		else
			profile->unnamed += edge->count;
	}
	if (key->kind != EDGE_TAKEN)
		return;
	to = find_position(profile, key->to_file, key->to);
	if (!to || !to->entry)
		return;
	callee = profile->frames.frame[to->first].name;
	tables->head[tables->heads++] =
		(struct autofdo_record){ .callee = callee, .count = edge->count };
	from = find_position(profile, key->from_file, key->from);
	if (from)
		add_record(tables, profile, from, callee, edge->count);
}

/* ---- Printing ---- */

static u64 find_head(const struct autofdo_tables *tables, const char *name)
{
	const struct autofdo_record key = { .callee = name };
	const struct autofdo_record *end = tables->head + tables->heads, *at;
	u64 sum = 0;

	at = tables->heads ?
		     bsearch(&key, tables->head, tables->heads, sizeof(key), compare_heads) :
		     NULL;
	if (!at)
		return 0;
	while (at > tables->head && strcmp(at[-1].callee, name) == 0)
		at--;
	for (; at < end && strcmp(at->callee, name) == 0; at++)
		sum += at->count;
	return sum;
}

static void print_line_start(FILE *out, u32 depth, const struct source_frame *frame)
{
	u32 discriminator = component_get(frame->discriminator);

	fprintf(out, "%*s%u", (int)depth + 1, "", frame_get_offset(frame));
	if (discriminator)
		fprintf(out, ".%u", discriminator);
	fputs(": ", out);
}

/* Print the line of records with @depth + 1 frames: first the instructions, then the calls. */
static void print_line(FILE *out, const struct autofdo_record *record, u32 records, u32 depth)
{
	u64 largest = 0, count, sum;
	u32 i = 0, first;

	for (; i < records && !record[i].callee; i++) {
		count = record[i].count * frame_get_copies(&record[i].frame[depth]);
		largest = count > largest ? count : largest;
	}
	print_line_start(out, depth, &record->frame[depth]);
	fprintf(out, "%llu", (unsigned long long)largest);
	while (i < records) {
		for (first = i, sum = 0;
		     i < records && !compare_callees(&record[first], &record[i]); i++)
			sum += record[i].count;
		fprintf(out, " %s:%llu", record[first].callee, (unsigned long long)sum);
	}
	fputc('\n', out);
}

static void print_function(struct autofdo_tables *tables, const struct autofdo_record *record,
			   u32 records, u32 depth);

/* Print the records of one line: its own, and those of functions that are inlined in it. */
static void print_line_group(struct autofdo_tables *tables, const struct autofdo_record *record,
			     u32 records, u32 depth)
{
	u32 i = 0, first;

	while (i < records && record[i].frames == depth + 1)
		i++;
	if (i)
		print_line(tables->out, record, i, depth);
	while (i < records) {
		const char *name = record[i].frame[depth + 1].name;

		for (first = i; i < records && !strcmp(record[i].frame[depth + 1].name, name);)
			i++;
		print_line_start(tables->out, depth, &record[first].frame[depth]);
		print_function(tables, &record[first], i - first, depth + 1);
	}
}

/* Print the function at @depth of the records. The depth is limited by that of the frames. */
static void print_function(struct autofdo_tables *tables, const struct autofdo_record *record,
			   u32 records, u32 depth)
{
	const char *name = record->frame[depth].name;
	u64 total = 0;
	u32 i, first;

	for (i = 0; i < records; i++)
		total += record[i].callee ? 0 : record[i].count;
	fprintf(tables->out, "%s:%llu", name, (unsigned long long)total);
	if (!depth)
		fprintf(tables->out, ":%llu", (unsigned long long)find_head(tables, name));
	fputc('\n', tables->out);
	for (i = 0; i < records;) {
		first = i;
		while (i < records &&
		       is_same_line(&record[first].frame[depth], &record[i].frame[depth]))
			i++;
		print_line_group(tables, &record[first], i - first, depth);
	}
}

static void print_all(struct autofdo_tables *tables, struct edge_profile *profile)
{
	u32 i = 0, first;

	qsort(tables->record, tables->records, sizeof(*tables->record), compare_records);
	qsort(tables->head, tables->heads, sizeof(*tables->head), compare_heads);
	while (i < tables->records) {
		const char *name = tables->record[i].frame->name;

		for (first = i;
		     i < tables->records && !strcmp(tables->record[i].frame->name, name);)
			i++;
		print_function(tables, &tables->record[first], i - first, 0);
		profile->written++;
	}
}

void autofdo_profile_print(FILE *out, struct edge_profile *profile)
{
	const struct edge_table *table = &profile->edges->table;
	struct autofdo_tables tables = {
		.out = out,
		.record = calloc((size_t)table->count + 1, sizeof(*tables.record)),
		.head = calloc((size_t)table->count + 1, sizeof(*tables.head)),
	};
	char id[2 * BUILD_ID_MAX + 1];

	profile->error = tables.record && tables.head ? 0 : -ENOMEM;
	if (!profile->error) {
		if (edge_file_format_build_id(&profile->edges->file[profile->file], id))
			fprintf(out, "# build-id: %s\n", id);
		for (u32 i = 0; i < table->count; i++)
			collect_edge(&tables, profile, &table->edge[i]);
		print_all(&tables, profile);
	}
	free(tables.record);
	free(tables.head);
}
