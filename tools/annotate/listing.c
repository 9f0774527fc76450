// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/maps.h"
#include "util/array.h"
#include "util/escape.h"

/* Maximum number of lines of a function, and of functions in a listing. */
#define LINES_MAX     (1U << 22)
#define FUNCTIONS_MAX (1U << 16)

/* Assumed size of the last instruction of a function without a name, in bytes. */
#define INSTRUCTION_BYTES 4

/** struct counted_instruction - a row of the query: an instruction with samples */
struct counted_instruction {
	char *binary;
	char *build_id;
	u64 offset;
	u32 row;
};

static int compare_instructions(const void *a, const void *b)
{
	const struct counted_instruction *x = a, *y = b;
	int r = strcmp(x->binary, y->binary);

	if (!r)
		r = strcmp(x->build_id, y->build_id);
	return r ? r : (x->offset > y->offset) - (x->offset < y->offset);
}

static bool have_same_file(const struct counted_instruction *a, const struct counted_instruction *b)
{
	return !strcmp(a->binary, b->binary) && !strcmp(a->build_id, b->build_id);
}

static void instructions_free(struct counted_instruction *counted, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		free(counted[i].binary);
		free(counted[i].build_id);
	}
	free(counted);
}

/* Read all rows of the query, sorted by file and offset. */
static struct counted_instruction *instructions_read(const struct query_rows *rows, u32 *ret_count)
{
	u32 count = rows->count;
	struct counted_instruction *counted = calloc(count ? count : 1, sizeof(*counted));
	struct query_row *row = malloc(sizeof(*row));
	bool complete = counted && row;

	for (u32 i = 0; complete && i < count; i++) {
		rows->row(rows->ctx, i, row);
		counted[i] = (struct counted_instruction){
			.binary = strdup(row->binary),
			.build_id = strdup(row->build_id),
			.offset = row->instruction,
			.row = i,
		};
		complete = counted[i].binary && counted[i].build_id;
	}
	free(row);
	if (!complete && counted) {
		instructions_free(counted, count);
		counted = NULL;
	}
	if (counted)
		qsort(counted, count, sizeof(*counted), compare_instructions);
	*ret_count = count;
	return counted;
}

/* Convert a build id from hexadecimal; return its size in bytes. */
static u8 build_id_parse(const char *text, u8 to[static BUILD_ID_MAX])
{
	unsigned int byte;
	u8 size = 0;

	for (; size < BUILD_ID_MAX && sscanf(text, "%2x", &byte) == 1; text += 2)
		to[size++] = (u8)byte;
	return size;
}

static char *copy_escaped(const char *text)
{
	char to[1024];

	escape_string(to, sizeof(to), text);
	return strdup(to);
}

/* Add a line, which takes ownership of &listing_line.text. */
static int line_add(struct listing_function *f, u32 *capacity, const struct listing_line *line)
{
	struct listing_line *grown =
		array_reserve(f->line, capacity, f->lines + 1, sizeof(*grown), LINES_MAX);

	if (!grown) {
		free(line->text);
		return -ENOMEM;
	}
	f->line = grown;
	f->line[f->lines++] = *line;
	return line->text ? 0 : -ENOMEM;
}

/*
 * Set the lines of a function: its instructions, and the @count rows at @counted, by offset. A row
 * of an instruction is in the line of that instruction. Any other row gets a separate line.
 */
static int lines_merge(struct listing_function *f, const struct function_code *code,
		       const struct counted_instruction *counted, u32 count)
{
	u32 capacity = 0, at = 0;
	int r = 0;

	for (u32 i = 0; i < code->count && !r; i++) {
		const struct function_instruction *insn = &code->instruction[i];
		struct listing_line line = { .offset = insn->offset, .row = LISTING_NO_ROW };

		for (; at < count && counted[at].offset < insn->offset && !r; at++)
			r = line_add(f, &capacity,
				     &(struct listing_line){ .offset = counted[at].offset,
							     .text = strdup(""),
							     .row = counted[at].row });
		if (at < count && counted[at].offset == insn->offset)
			line.row = counted[at++].row;
		if (!r) {
			line.text = copy_escaped(insn->text);
			r = line_add(f, &capacity, &line);
		}
	}
	for (; at < count && !r; at++)
		r = line_add(f, &capacity,
			     &(struct listing_line){ .offset = counted[at].offset,
						     .text = strdup(""),
						     .row = counted[at].row });
	return r;
}

/* Find the source lines of all instructions: request them all, wait, and read the answers. */
static void find_source_lines(struct listing_function *f, struct symbols_cache *symbols,
			      struct attribute_location location)
{
	for (u32 turn = 0; turn < 2; turn++) {
		for (u32 i = 0; i < f->lines; i++) {
			location.offset = f->line[i].offset;
			symbols_get_source_line(symbols, 0, &location, false, &f->line[i].source);
		}
		if (!turn)
			symbols_wait_configured(symbols);
	}
}

/*
 * Add the function that contains the first of @count rows of a file. Return the number of rows in
 * the function, or a negative errno.
 */
static int function_add(struct listing *listing, u32 *capacity,
			const struct counted_instruction *counted, u32 count,
			struct symbols_cache *symbols, const struct symbol_folders *folders)
{
	u8 id[BUILD_ID_MAX];
	const struct attribute_location location = {
		.binary = counted->binary,
		.offset = counted->offset,
		.build_id = id,
		.build_id_size = build_id_parse(counted->build_id, id),
	};
	struct listing_function *f = array_reserve(
		listing->function, capacity, listing->functions + 1, sizeof(*f), FUNCTIONS_MAX);
	struct function_code code;
	u32 used = count;
	int r;

	if (!f)
		return -ENOMEM;
	listing->function = f;
	f += listing->functions++;
	*f = (struct listing_function){ .binary = strdup(counted->binary),
					.build_id = strdup(counted->build_id) };
	r = function_code_read(&location, folders, counted[count - 1].offset + INSTRUCTION_BYTES,
			       &code);
	memcpy(f->reason, code.reason, sizeof(f->reason));
	f->name = copy_escaped(code.name);
	if (r == 0) {
		const struct function_instruction *last = &code.instruction[code.count - 1];

		for (used = 0; used < count && counted[used].offset < last->offset + last->size;)
			used++;
		/* The helper's answer is untrusted. Show all rows without instructions. */
		if (!used) {
			function_code_clear(&code);
			snprintf(f->reason, sizeof(f->reason),
				 "the function of this name does not contain its samples");
			used = count;
		}
	}
	r = lines_merge(f, &code, counted, used);
	function_code_clear(&code);
	if (r < 0 || !f->binary || !f->build_id || !f->name)
		return -ENOMEM;
	find_source_lines(f, symbols, location);
	return (int)used;
}

int listing_init(const struct query_rows *rows, struct symbols_cache *symbols,
		 const struct symbol_folders *folders, struct listing *ret_listing)
{
	u32 count, capacity = 0, at = 0, end;
	struct counted_instruction *counted = instructions_read(rows, &count);
	int r = 0;

	*ret_listing = (struct listing){ .rows = rows };
	if (!counted)
		return -ENOMEM;
	while (at < count && r >= 0) {
		for (end = at + 1; end < count && have_same_file(&counted[at], &counted[end]);)
			end++;
		r = function_add(ret_listing, &capacity, &counted[at], end - at, symbols, folders);
		at += r > 0 ? (u32)r : 0;
	}
	instructions_free(counted, count);
	return r < 0 ? r : 0;
}

static void function_free(struct listing_function *f)
{
	for (u32 i = 0; i < f->lines; i++) {
		for (u32 k = 0; k < f->line[i].targets; k++) {
			free(f->line[i].target[k].binary);
			free(f->line[i].target[k].function);
		}
		free(f->line[i].target);
		free(f->line[i].text);
	}
	free(f->line);
	free(f->binary);
	free(f->build_id);
	free(f->name);
}

void listing_deinit(struct listing *listing)
{
	for (u32 i = 0; i < listing->functions; i++)
		function_free(&listing->function[i]);
	free(listing->function);
	*listing = (struct listing){ .rows = NULL };
}

static struct listing_line *line_find(const struct listing_function *f, u64 offset)
{
	u32 at = ARRAY_COUNT_LEADING(f->lines, i, f->line[i].offset < offset);

	return at < f->lines && f->line[at].offset == offset ? &f->line[at] : NULL;
}

struct listing_line *listing_find_line(const struct listing *listing, const char *binary,
				       u64 offset)
{
	struct listing_line *line;

	for (u32 i = 0; i < listing->functions; i++) {
		line = strcmp(listing->function[i].binary, binary) == 0 ?
			       line_find(&listing->function[i], offset) :
			       NULL;
		if (line)
			return line;
	}
	return NULL;
}
