/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reply of the helper while it is made: entries, and texts that several may share. */
#ifndef SPEPROF_REPLY_H
#define SPEPROF_REPLY_H

#include "symbols/symbol-message.h"

#define ANSWER_TEXTS 1024 /* a power of two, above what a reply holds */

/**
 * struct answer
 * @room: bytes of @text that entries to come leave
 * @slot: offsets of texts by hash, 0: none
 */
struct answer {
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

void answer_init(struct answer *answer);

/** answer_text() - @ret_at is where @len bytes and a NUL stand; false if there is no room */
bool answer_text(struct answer *answer, size_t entry, const char *text, size_t len, u32 *ret_at);

/** answer_finish() - the reply to @request in @buf, of SYMBOL_MESSAGE_MAX bytes; its size */
size_t answer_finish(const struct answer *answer, const struct symbol_request *request, void *buf);

#endif
