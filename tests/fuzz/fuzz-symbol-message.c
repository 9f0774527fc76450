// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the check of the helper's replies: any bytes as the reply to any request are refused, or are
 * safe to store.
 */
#include "fuzz.h"

#include "symbols/name-cache.h"

static union {
	struct symbol_request request;
	u64 words[128];
} ask;

static u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];

static void cache_reply(const struct symbol_request *request, const struct symbol_reply *checked)
{
	const struct name_file_key key = { .ino = 1 };
	struct name_cache cache;
	struct name_file *file;

	fuzz_assert(!name_cache_init(&cache, 2, 1 << 20));
	file = name_cache_get_file(&cache, name_cache_find_or_add(&cache, &key));
	for (int again = 0; again < 2; again++)
		name_cache_add_reply(&cache, file, request, checked);
	for (u32 i = 0; i < checked->done; i++) {
		const struct name_range *range = name_file_find_range(file, request->address[i]);
		const struct name_line *line = name_file_find_line(file, request->address[i]);

		fuzz_assert(request->type == SYMBOL_FIND ? range != NULL : line != NULL);
		fuzz_assert(!range || range->text < file->text_len || !range->text);
	}
	name_cache_deinit(&cache);
}

/* Instructions are stored by their caller, which continues after the last one. */
static void check_instruction_ranges(const struct symbol_request *request,
				     const struct symbol_reply *checked)
{
	const struct symbol_name *code = symbol_reply_get_names(checked);
	u64 at = request->address[0];

	for (u32 i = 0; i < checked->count; i++) {
		fuzz_assert(code[i].start == at && code[i].size <= request->address[1] - at);
		fuzz_assert(strlen(symbol_reply_get_text(checked) + code[i].text) <=
			    SYMBOL_NAME_MAX);
		at += code[i].size;
	}
	fuzz_assert(at > request->address[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t request_size;

	if (size < 2)
		return 0;
	request_size = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	if (request_size > size)
		request_size = size;
	if (request_size > sizeof(ask))
		request_size = sizeof(ask);
	memset(&ask, 0, sizeof(ask));
	memcpy(&ask, data, request_size);
	/* Sort the addresses, because random ones are rarely in order. */
	for (u32 i = 0; i < 100 && ask.request.count && ask.request.count <= 100; i++)
		ask.request.address[i] = i * 8 + ask.request.address[i] % 8;
	if (symbol_request_check(&ask.request, request_size, request_size == sizeof(ask.request)))
		return 0;
	data += request_size;
	size -= request_size;
	if (size > sizeof(reply))
		size = sizeof(reply);
	memcpy(reply, data, size);
	if (!symbol_reply_check(&ask.request, (void *)reply, size) &&
	    !((const struct symbol_reply *)reply)->error && request_size > sizeof(ask.request))
		(ask.request.type == SYMBOL_CODE ? check_instruction_ranges :
						   cache_reply)(&ask.request, (void *)reply);
	return 0;
}
