// SPDX-License-Identifier: LGPL-2.1-or-later
#include "linkage-names.h"

#include <errno.h>
#include <stdlib.h>

#include "helper-link.h"
#include "util/array.h"

/**
 * struct linkage_reader - the helpers, and the file that the reader has opened in slot 0
 * @link: the helpers
 * @request: a request with up to SYMBOL_ADDRESSES addresses
 */
struct linkage_reader {
	struct helper_link link;
	union {
		struct symbol_request request;
		u64 bytes[sizeof(struct symbol_request) / sizeof(u64) + SYMBOL_ADDRESSES];
	};
};

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
static int reply_add(struct linkage_names *names, const struct symbol_reply *reply)
{
	const struct symbol_linkage *entry = symbol_reply_get_linkage(reply);
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

static int read_names(struct linkage_reader *reader, const u64 *offset, u32 count,
		      struct linkage_names *names)
{
	const struct symbol_reply *reply;
	u32 some;
	int r = 0;

	while (names->count < count && r == 0) {
		some = count - names->count;
		some = some < SYMBOL_ADDRESSES ? some : SYMBOL_ADDRESSES;
		reader->request = (struct symbol_request){ .type = SYMBOL_LINKAGE, .count = some };
		memcpy(reader->request.address, offset + names->count, some * sizeof(*offset));
		r = helper_link_call_reader(&reader->link, &reader->request, -1, &reply);
		if (r == 0)
			r = reply_add(names, reply);
	}
	return r;
}

int linkage_names_read(const struct attribute_location *file, const struct symbol_folders *folders,
		       const u64 *offset, u32 count, struct linkage_names *ret_names)
{
	struct linkage_reader *reader = calloc(1, sizeof(*reader));
	struct symbol_file_content known;
	int r;

	/* Each reply has at least one entry, so there are at most @count texts. */
	*ret_names = (struct linkage_names){
		.name = calloc(count ? count : 1, sizeof(*ret_names->name)),
		.text = calloc(count ? count : 1, sizeof(*ret_names->text)),
	};
	if (!reader || !ret_names->name || !ret_names->text) {
		free(reader);
		return -ENOMEM;
	}
	helper_link_init(&reader->link, NULL, false);
	reader->link.folders = *folders;
	r = helper_link_start(&reader->link);
	if (r == 0)
		r = helper_link_open_file(&reader->link, file, &known);
	if (r == 0) {
		ret_names->machine = known.machine;
		ret_names->code_offset = known.code_offset;
		ret_names->code_size = known.code_size;
		ret_names->code_address = known.code_address;
		r = read_names(reader, offset, count, ret_names);
	}
	if (r < 0)
		helper_link_explain_error(&reader->link, file, r, ret_names->reason,
					  sizeof(ret_names->reason));
	helper_link_deinit(&reader->link);
	free(reader);
	return r;
}
