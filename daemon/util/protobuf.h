/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protocol buffers, to be written: the wire format's four types into a buffer that
 * grows up to a bound. Messages within messages are written in place and get their
 * length when they are closed.
 *
 * A failure (no memory, the bound) sticks: it is asked for once, at the end.
 */
#ifndef SPEPROF_PROTOBUF_H
#define SPEPROF_PROTOBUF_H

#include "codec/env.h"

/* Messages within messages. */
#define PROTOBUF_DEPTH 8

/**
 * struct protobuf - a message that is being written
 * @data: what is written so far, @size of @room bytes
 * @bound: @size stays below
 * @open: where the lengths of open messages are to go
 * @error: negative errno of the first failure, or 0
 */
struct protobuf {
	u8 *data;
	size_t size;
	size_t room;
	size_t bound;
	size_t open[PROTOBUF_DEPTH];
	unsigned int depth;
	int error;
};

void protobuf_init(struct protobuf *proto, size_t bound);
void protobuf_deinit(struct protobuf *proto);

/** protobuf_varint() - uint64, uint32, int64 (as u64), bool, enum; 0 is written too */
void protobuf_varint(struct protobuf *proto, u32 field, u64 value);

/** protobuf_zigzag() - sint32, sint64 */
void protobuf_zigzag(struct protobuf *proto, u32 field, s64 value);

/** protobuf_fixed64() - fixed64, sfixed64 */
void protobuf_fixed64(struct protobuf *proto, u32 field, u64 value);

void protobuf_double(struct protobuf *proto, u32 field, double value);
void protobuf_bytes(struct protobuf *proto, u32 field, const void *data, size_t size);
void protobuf_string(struct protobuf *proto, u32 field, const char *text);

/** protobuf_copy() - fields as they were encoded before */
void protobuf_copy(struct protobuf *proto, const void *data, size_t size);

/** protobuf_open() - a message, or packed numbers, as @field, until protobuf_close() */
void protobuf_open(struct protobuf *proto, u32 field);
void protobuf_close(struct protobuf *proto);

/** protobuf_open_delimited() - a message with its length in front: the outermost of a stream */
void protobuf_open_delimited(struct protobuf *proto);

/** protobuf_packed(), protobuf_packed_zigzag() - a number within packed ones */
void protobuf_packed(struct protobuf *proto, u64 value);
void protobuf_packed_zigzag(struct protobuf *proto, s64 value);

#endif
