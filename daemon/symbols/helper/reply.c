// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reply.h"
#include "util/hash.h"

void reply_builder_init(struct reply_builder *builder)
{
	builder->count = 0;
	builder->done = 0;
	/* Offset 0 is the empty string, which means "unknown". */
	builder->text[0] = '\0';
	builder->text_len = 1;
	memset(builder->slot, 0, sizeof(builder->slot));
}

static u32 hash_text(const char *text, size_t len)
{
	u64 h = hash_bytes(text, len);

	return (u32)(h ^ h >> 32);
}

bool reply_builder_add_text(struct reply_builder *builder, size_t entry, const char *text,
			    size_t len, u32 *ret_offset)
{
	size_t used =
		sizeof(struct symbol_reply) + (builder->count + 1) * entry + builder->text_len;
	u32 at = hash_text(text, len) & (REPLY_TEXTS - 1), n = 0;

	if (!len) {
		*ret_offset = 0;
		return used <= SYMBOL_MESSAGE_MAX;
	}
	for (; builder->slot[at] && n < REPLY_TEXTS; at = (at + 1) & (REPLY_TEXTS - 1), n++) {
		const char *known = builder->text + builder->slot[at];

		if (!strncmp(known, text, len) && !known[len]) {
			*ret_offset = builder->slot[at];
			return used <= SYMBOL_MESSAGE_MAX;
		}
	}
	if (used > SYMBOL_MESSAGE_MAX || len + 1 > SYMBOL_MESSAGE_MAX - used)
		return false;
	memcpy(builder->text + builder->text_len, text, len);
	builder->text[builder->text_len + len] = '\0';
	*ret_offset = builder->text_len;
	if (n < REPLY_TEXTS)
		builder->slot[at] = builder->text_len;
	builder->text_len += (u32)len + 1;
	return true;
}

size_t reply_builder_finish(const struct reply_builder *builder,
			    const struct symbol_request *request, void *buf)
{
	size_t entries = builder->count * symbol_entry_get_size(request->type);
	struct symbol_reply *reply = buf;

	*reply = (struct symbol_reply){
		.type = request->type,
		.serial = request->serial,
		.done = builder->done,
		.count = builder->count,
		.text = builder->text_len,
	};
	memcpy(reply + 1, builder->name, entries);
	memcpy((char *)(reply + 1) + entries, builder->text, builder->text_len);
	return sizeof(*reply) + entries + builder->text_len;
}
