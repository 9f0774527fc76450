/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds a reply of the reader: entries, and strings, each of which is stored once. */
#ifndef SPEPROF_REPLY_H
#define SPEPROF_REPLY_H

#include "symbols/symbol-message.h"

#define REPLY_TEXTS 1024 /* entries of &reply_builder.slot */

static_assert((REPLY_TEXTS & (REPLY_TEXTS - 1)) == 0, "a hash selects a slot by a mask");

/**
 * struct reply_builder - a reply that is being built
 * @name, @line, @linkage, @frame: entries of the reply, @count of them; @line of SYMBOL_LINES, @linkage of
 * SYMBOL_LINKAGE, @frame of SYMBOL_FRAMES, else @name
 * @done: number of addresses that the entries cover
 * @text: strings of the entries, @text_len bytes
 * @slot: hash table of offsets in @text; 0 is a free entry. If the table is full, further strings
 * may be stored more than once
 */
struct reply_builder {
	union {
		struct symbol_name name[SYMBOL_ADDRESSES];
		struct symbol_line line[SYMBOL_ADDRESSES];
		struct symbol_linkage linkage[SYMBOL_ADDRESSES];
		struct symbol_frame frame[SYMBOL_ADDRESSES];
	};
	u32 count;
	u32 done;
	u32 text_len;
	u32 slot[REPLY_TEXTS];
	char text[SYMBOL_MESSAGE_MAX];
};

/** reply_builder_init() - begin an empty reply */
void reply_builder_init(struct reply_builder *builder);

/**
 * reply_builder_add_text() - store a string for the next entry
 * @builder: the reply
 * @entry: size of the next entry, bytes; space for it stays free
 * @text, @len: the string, not NUL-terminated
 * @ret_offset: receives the offset of the string
 *
 * Return: false if the packet would be too large.
 */
bool reply_builder_add_text(struct reply_builder *builder, size_t entry, const char *text,
			    size_t len, u32 *ret_offset);

/** reply_builder_finish() - write the packet to @buf, SYMBOL_MESSAGE_MAX bytes; returns its size */
size_t reply_builder_finish(const struct reply_builder *builder,
			    const struct symbol_request *request, void *buf);

#endif
