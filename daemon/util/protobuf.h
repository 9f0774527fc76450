/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes protocol buffers into memory that grows up to a limit. A nested message is written in
 * place; protobuf_close_message() inserts its length. The first error (memory cannot be allocated,
 * or the limit is exceeded) is stored in @error, and later calls do nothing: the caller checks
 * @error once, at the end.
 */
#ifndef SPEPROF_PROTOBUF_H
#define SPEPROF_PROTOBUF_H

#include "codec/env.h"

/* Entries of &protobuf.open: the maximum nesting of messages. */
#define PROTOBUF_DEPTH 8

/**
 * struct protobuf - a message that is being written
 * @data: the bytes written so far
 * @size: number of bytes written
 * @capacity: allocated bytes
 * @limit: maximum of @size
 * @open: offsets at which the open messages begin
 * @depth: number of open messages
 * @error: negative errno of the first failure, or 0
 */
struct protobuf {
	u8 *data;
	size_t size;
	size_t capacity;
	size_t limit;
	size_t open[PROTOBUF_DEPTH];
	unsigned int depth;
	int error;
};

/** protobuf_init() - begin an empty message of at most @limit bytes; protobuf_deinit() frees it */
void protobuf_init(struct protobuf *proto, size_t limit);
void protobuf_deinit(struct protobuf *proto);

/**
 * protobuf_write_varint() - write a uint64, uint32, int64 (as u64), bool or enum field, also if it
 * is 0
 */
void protobuf_write_varint(struct protobuf *proto, u32 field, u64 value);

/** protobuf_write_zigzag() - write a sint32 or sint64 field */
void protobuf_write_zigzag(struct protobuf *proto, u32 field, s64 value);

/** protobuf_write_fixed64() - write a fixed64 or sfixed64 field */
void protobuf_write_fixed64(struct protobuf *proto, u32 field, u64 value);

/**
 * protobuf_write_double(), protobuf_write_bytes(), protobuf_write_string() - write a field of that
 * type
 */
void protobuf_write_double(struct protobuf *proto, u32 field, double value);
void protobuf_write_bytes(struct protobuf *proto, u32 field, const void *data, size_t size);
void protobuf_write_string(struct protobuf *proto, u32 field, const char *text);

/** protobuf_write_encoded() - append fields that were encoded before */
void protobuf_write_encoded(struct protobuf *proto, const void *data, size_t size);

/**
 * protobuf_open_message() - begin a nested message or packed numbers as @field, until
 * protobuf_close_message()
 */
void protobuf_open_message(struct protobuf *proto, u32 field);
void protobuf_close_message(struct protobuf *proto);

/** protobuf_open_delimited() - begin an outermost message of a stream, with its length in front */
void protobuf_open_delimited(struct protobuf *proto);

/**
 * protobuf_append_packed(), protobuf_append_packed_zigzag() - append a number to open packed
 * numbers
 */
void protobuf_append_packed(struct protobuf *proto, u64 value);
void protobuf_append_packed_zigzag(struct protobuf *proto, s64 value);

#endif
