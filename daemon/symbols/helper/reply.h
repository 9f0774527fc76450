/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reply of the helper while it is made: entries, and texts that several may share. */
#ifndef SPEPROF_REPLY_H
#define SPEPROF_REPLY_H

#include "symbols/symbol-message.h"

#define ANSWER_TEXTS 1024 /* a power of two, above what a reply holds */

/**
 * struct reply_builder
 * @room: bytes of @text that entries to come leave
 * @slot: offsets of texts by hash, 0: none
 */
struct reply_builder {
	union {
		struct symbol_name name[SYMBOL_ADDRESSES];
		struct symbol_line line[SYMBOL_ADDRESSES];
	};
	u32 count;
	u32 done;
	u32 text_len;
	u32 slot[ANSWER_TEXTS];
	char text[SYMBOL_MESSAGE_MAX];
};

void reply_builder_init(struct reply_builder *builder);

/** reply_builder_text() - @ret_at is where @len bytes and a NUL stand; false if there is no room */
bool reply_builder_text(struct reply_builder *builder, size_t entry, const char *text, size_t len,
			u32 *ret_at);

/** reply_builder_finish() - the reply to @request in @buf, of SYMBOL_MESSAGE_MAX bytes; its size */
size_t reply_builder_finish(const struct reply_builder *builder,
			    const struct symbol_request *request, void *buf);

#endif
