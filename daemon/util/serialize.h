/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Serializes numbers and strings for the checkpoint. A number is a varint (seven bits in each
 * byte), so the format depends neither on the byte order nor on the width of fields. The first
 * error sets &serializer.full or &deserializer.bad, and later calls do nothing: the caller checks
 * this once, at the end.
 */
#ifndef SPEPROF_SERIALIZE_H
#define SPEPROF_SERIALIZE_H

#include "codec/env.h"

/**
 * struct serializer - writes into memory that the caller owns
 * @at: the memory
 * @capacity: bytes at @at
 * @len: bytes written
 * @full: a value did not fit; this value and all later ones are not written
 */
struct serializer {
	u8 *at;
	size_t capacity;
	size_t len;
	bool full;
};

/** serialize_u64() - write a number */
void serialize_u64(struct serializer *to, u64 value);

/** serialize_get_u64_size() - return the number of bytes that serialize_u64() writes for @value */
size_t serialize_get_u64_size(u64 value);

/** serialize_bytes() - write the number @len and that many bytes */
void serialize_bytes(struct serializer *to, const void *bytes, size_t len);

/** serialize_string() - write a string, without its NUL */
void serialize_string(struct serializer *to, const char *string);

/** serialize_array() - write the index and the value of each array element that is not 0 */
void serialize_array(struct serializer *to, const u64 *values, size_t count);

/**
 * struct deserializer - reads untrusted bytes
 * @at: the bytes
 * @len: number of bytes at @at
 * @pos: offset of the next value
 * @bad: the bytes ended too early, or a value was invalid; all later values read as 0
 */
struct deserializer {
	const u8 *at;
	size_t len;
	size_t pos;
	bool bad;
};

/** deserialize_u64() - return the next number. On failure return 0, and set &deserializer.bad */
u64 deserialize_u64(struct deserializer *from);

/** deserialize_u64_below() - read a number below @limit; for others set @from->bad and return 0 */
u64 deserialize_u64_below(struct deserializer *from, u64 limit);

/**
 * deserialize_bytes() - read at most @size bytes, and return their number. If the value is longer,
 * set @from->bad and return 0.
 */
size_t deserialize_bytes(struct deserializer *from, void *to, size_t size);

/**
 * deserialize_string() - read a string into @size bytes, and terminate it
 *
 * A string that is too long or contains a NUL sets @from->bad, and reads as "".
 */
void deserialize_string(struct deserializer *from, char *to, size_t size);

/**
 * deserialize_string_or_skip() - read a string, or skip it if it does not fit into @size bytes
 *
 * Return: true if the string is at @to. Otherwise @to is "", and the next value of @from is the one
 * after the string.
 */
bool deserialize_string_or_skip(struct deserializer *from, char *to, size_t size);

/** deserialize_array() - read the array that serialize_array() wrote; other elements are 0 */
void deserialize_array(struct deserializer *from, u64 *to, size_t count);

#endif
