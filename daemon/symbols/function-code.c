// SPDX-License-Identifier: LGPL-2.1-or-later
#include "function-code.h"

#include <stdio.h>
#include <stdlib.h>

#include "helper-link.h"
#include "util/array.h"

/* Maximum number of instructions: FUNCTION_CODE_MAX bytes, if each instruction has one byte. */
#define INSTRUCTIONS_MAX FUNCTION_CODE_MAX

/**
 * struct code_reader - the helpers, and the file that the reader has opened in slot 0
 * @link: the helpers
 * @request: a request with two addresses
 * @code: the result
 * @capacity: entries that &function_code.instruction has space for
 */
struct code_reader {
	struct helper_link link;
	union {
		struct symbol_request request;
		u64 bytes[(sizeof(struct symbol_request) + 2 * sizeof(u64)) / sizeof(u64)];
	};
	struct function_code *code;
	u32 capacity;
};

void function_code_clear(struct function_code *code)
{
	for (u32 i = 0; i < code->count; i++)
		free(code->instruction[i].text);
	free(code->instruction);
	*code = (struct function_code){ .instruction = NULL };
}

/* Set *start and *end to the range of the function at *start; unchanged if it has no name. */
static int find_function_range(struct code_reader *reader, u64 *start, u64 *end)
{
	const struct symbol_reply *reply;
	const struct symbol_name *name;
	int r;

	reader->request = (struct symbol_request){ .type = SYMBOL_FIND, .count = 1 };
	reader->request.address[0] = *start;
	r = helper_link_call_reader(&reader->link, &reader->request, -1, &reply);
	if (r < 0)
		return r;
	name = symbol_reply_get_names(reply);
	if (!name->text)
		return 0;
	snprintf(reader->code->name, sizeof(reader->code->name), "%s",
		 symbol_reply_get_text(reply) + name->text);
	*start = name->start;
	*end = name->start + name->size;
	return 0;
}

static int instruction_add(struct code_reader *reader, const struct symbol_name *entry,
			   const char *text)
{
	struct function_code *code = reader->code;
	struct function_instruction *grown =
		array_reserve(code->instruction, &reader->capacity, code->count + 1, sizeof(*grown),
			      INSTRUCTIONS_MAX);

	if (!grown)
		return -ENOMEM;
	code->instruction = grown;
	grown[code->count] = (struct function_instruction){
		.offset = entry->start,
		.size = (u32)entry->size,
		.text = strdup(text),
	};
	if (!grown[code->count].text)
		return -ENOMEM;
	code->count++;
	return 0;
}

static int read_instructions(struct code_reader *reader, u64 start, u64 end)
{
	const struct symbol_reply *reply;
	const struct symbol_name *entries;
	int r;

	while (start < end) {
		reader->request = (struct symbol_request){ .type = SYMBOL_CODE, .count = 2 };
		reader->request.address[0] = start;
		reader->request.address[1] = end;
		r = helper_link_call_reader(&reader->link, &reader->request, -1, &reply);
		if (r < 0)
			return r;
		entries = symbol_reply_get_names(reply);
		for (u32 i = 0; i < reply->count; i++) {
			r = instruction_add(reader, &entries[i],
					    symbol_reply_get_text(reply) + entries[i].text);
			if (r < 0)
				return r;
		}
		start = entries[reply->count - 1].start + entries[reply->count - 1].size;
	}
	return 0;
}

int function_code_read(const struct attribute_location *location,
		       const struct symbol_folders *folders, u64 end,
		       struct function_code *ret_code)
{
	struct code_reader *reader = calloc(1, sizeof(*reader));
	struct symbol_file_content known;
	u64 start = location->offset;
	int r;

	*ret_code = (struct function_code){ .instruction = NULL };
	if (!reader)
		return -ENOMEM;
	helper_link_init(&reader->link, NULL, false);
	reader->link.code = true;
	reader->link.folders = *folders;
	reader->code = ret_code;
	r = helper_link_start(&reader->link);
	if (r == 0)
		r = helper_link_open_file(&reader->link, location, &known);
	if (r == 0)
		r = find_function_range(reader, &start, &end);
	/* The result has the instruction at @location also if the function is larger than the limit. */
	if (r == 0 && location->offset - start >= FUNCTION_CODE_MAX)
		start = location->offset;
	if (r == 0 && end - start > FUNCTION_CODE_MAX)
		end = start + FUNCTION_CODE_MAX;
	if (r == 0)
		r = read_instructions(reader, start, end);
	if (r < 0)
		helper_link_explain_error(&reader->link, location, r, ret_code->reason,
					  sizeof(ret_code->reason));
	helper_link_deinit(&reader->link);
	free(reader);
	return ret_code->count ? 0 : r;
}
