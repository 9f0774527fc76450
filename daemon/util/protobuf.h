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
#define PROTO_DEPTH 8

/**
 * struct proto - a message that is being written
 * @data: what is written so far, @size of @room bytes
 * @bound: @size stays below
 * @open: where the lengths of open messages are to go
 * @error: negative errno of the first failure, or 0
 */
struct proto {
	u8 *data;
	size_t size;
	size_t room;
	size_t bound;
	size_t open[PROTO_DEPTH];
	unsigned int depth;
	int error;
};

void proto_init(struct proto *proto, size_t bound);
void proto_deinit(struct proto *proto);

/** proto_varint() - uint64, uint32, int64 (as u64), bool, enum; 0 is written too */
void proto_varint(struct proto *proto, u32 field, u64 value);

/** proto_zigzag() - sint32, sint64 */
void proto_zigzag(struct proto *proto, u32 field, s64 value);

/** proto_fixed64() - fixed64, sfixed64 */
void proto_fixed64(struct proto *proto, u32 field, u64 value);

void proto_double(struct proto *proto, u32 field, double value);
void proto_bytes(struct proto *proto, u32 field, const void *data, size_t size);
void proto_string(struct proto *proto, u32 field, const char *text);

/** proto_copy() - fields as they were encoded before */
void proto_copy(struct proto *proto, const void *data, size_t size);

/** proto_open() - a message, or packed numbers, as @field, until proto_close() */
void proto_open(struct proto *proto, u32 field);
void proto_close(struct proto *proto);

/** proto_open_delimited() - a message with its length in front: the outermost of a stream */
void proto_open_delimited(struct proto *proto);

/** proto_packed(), proto_packed_zigzag() - a number within packed ones */
void proto_packed(struct proto *proto, u64 value);
void proto_packed_zigzag(struct proto *proto, s64 value);

#endif
