// SPDX-License-Identifier: LGPL-2.1-or-later
#include "linkage-names.h"

#include <errno.h>
#include <stdlib.h>

#include "location-reader.h"
#include "util/array.h"

void linkage_names_clear(struct linkage_names *names)
{
	for (u32 i = 0; i < names->texts; i++)
		free(names->text[i]);
	free(names->text);
	free(names->name);
	*names = (struct linkage_names){ .name = NULL };
}

const struct linkage_name *linkage_names_find(const struct linkage_names *names, u64 offset)
{
	u32 at = ARRAY_COUNT_LEADING(names->count, i, names->name[i].offset < offset);

	return at < names->count && names->name[at].offset == offset ? &names->name[at] : NULL;
}

/* Add the entries of a reply, and keep a copy of its text. */
static int add_reply(void *ctx, const struct symbol_reply *reply)
{
	const struct symbol_linkage *entry = symbol_reply_get_linkage(reply);
	struct linkage_names *names = ctx;
	char *text = malloc(reply->text);

	if (!text)
		return -ENOMEM;
	memcpy(text, symbol_reply_get_text(reply), reply->text);
	names->text[names->texts++] = text;
	for (u32 i = 0; i < reply->count; i++)
		names->name[names->count++] = (struct linkage_name){
			.offset = entry[i].offset,
			.address = entry[i].address,
			.function = entry[i].function,
			.name = text + entry[i].text,
			.local = entry[i].local,
		};
	return 0;
}

int linkage_names_read(const struct attribute_location *file, const struct symbol_folders *folders,
		       const u64 *offset, u32 count, struct linkage_names *ret_names)
{
	const struct location_request request = {
		.file = file,
		.folders = folders,
		.type = SYMBOL_LINKAGE,
		.offset = offset,
		.count = count,
		.add = add_reply,
		.ctx = ret_names,
	};
	struct symbol_file_content content = { .machine = 0 };
	int r;

	/*
	 * Each reply has one block of texts and at least one entry, so @count blocks suffice.
	 */
	*ret_names = (struct linkage_names){
		.name = calloc(count ? count : 1, sizeof(*ret_names->name)),
		.text = calloc(count ? count : 1, sizeof(*ret_names->text)),
	};
	if (!ret_names->name || !ret_names->text)
		return -ENOMEM;
	r = location_reader_run(&request, &content, ret_names->reason, sizeof(ret_names->reason));
	ret_names->machine = content.machine;
	ret_names->code_offset = content.code_offset;
	ret_names->code_size = content.code_size;
	ret_names->code_address = content.code_address;
	return r;
}
