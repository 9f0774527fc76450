// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reply.h"
#include "util/hash.h"

void reply_builder_init(struct reply_builder *a)
{
	a->count = 0;
	a->done = 0;
	/* Offset 0 is "": what is not known. */
	a->text[0] = '\0';
	a->text_len = 1;
	memset(a->slot, 0, sizeof(a->slot));
}

static u32 hash(const char *text, size_t len)
{
	u64 h = hash_bytes(text, len);

	return (u32)(h ^ h >> 32);
}

bool reply_builder_text(struct reply_builder *a, size_t entry, const char *text, size_t len,
			u32 *ret_at)
{
	size_t taken = sizeof(struct symbol_reply) + (a->count + 1) * entry + a->text_len;
	u32 at = hash(text, len) & (ANSWER_TEXTS - 1), n = 0;

	if (!len) {
		*ret_at = 0;
		return taken <= SYMBOL_MESSAGE_MAX;
	}
	for (; a->slot[at] && n < ANSWER_TEXTS; at = (at + 1) & (ANSWER_TEXTS - 1), n++) {
		const char *known = a->text + a->slot[at];

		if (!strncmp(known, text, len) && !known[len]) {
			*ret_at = a->slot[at];
			return taken <= SYMBOL_MESSAGE_MAX;
		}
	}
	if (taken > SYMBOL_MESSAGE_MAX || len + 1 > SYMBOL_MESSAGE_MAX - taken)
		return false;
	memcpy(a->text + a->text_len, text, len);
	a->text[a->text_len + len] = '\0';
	*ret_at = a->text_len;
	if (n < ANSWER_TEXTS)
		a->slot[at] = a->text_len;
	a->text_len += (u32)len + 1;
	return true;
}

size_t reply_builder_finish(const struct reply_builder *a, const struct symbol_request *request,
			    void *buf)
{
	size_t entries =
		a->count * (request->type == SYMBOL_FIND ? sizeof(*a->name) : sizeof(*a->line));
	struct symbol_reply *reply = buf;

	*reply = (struct symbol_reply){
		.type = request->type,
		.serial = request->serial,
		.done = a->done,
		.count = a->count,
		.text = a->text_len,
	};
	memcpy(reply + 1, a->name, entries);
	memcpy((char *)(reply + 1) + entries, a->text, a->text_len);
	return sizeof(*reply) + entries + a->text_len;
}
