/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers and strings one after the other, for what is kept over a restart: as many bytes
 * as a number needs, seven bits in each, so that neither the machine's byte order nor the
 * width of a field is in it. Both ends have one sticky error instead of one at each call.
 */
#ifndef SPEPROF_SERIALIZE_H
#define SPEPROF_SERIALIZE_H

#include "codec/env.h"

/**
 * struct serializer - into memory of the caller
 * @full: something did not fit; @len is then what did
 */
struct serializer {
	u8 *at;
	size_t room;
	size_t len;
	bool full;
};

void serialize_u64(struct serializer *to, u64 value);

/** serialize_size() - bytes that serialize_u64() takes for @value */
size_t serialize_size(u64 value);

/** serialize_bytes() - their number, and they */
void serialize_bytes(struct serializer *to, const void *bytes, size_t len);
void serialize_string(struct serializer *to, const char *string);

/** serialize_array() - the values that are not 0, with their places */
void serialize_array(struct serializer *to, const u64 *values, size_t count);

/**
 * struct deserializer - of hostile bytes
 * @bad: they ended, or a value was not what it may be; all that is read from then on is 0
 */
struct deserializer {
	const u8 *at;
	size_t len;
	size_t pos;
	bool bad;
};

u64 deserialize_u64(struct deserializer *from);

/** deserialize_below() - a number that is less than @limit, else 0 and @from is bad */
u64 deserialize_below(struct deserializer *from, u64 limit);

/** deserialize_bytes() - at most @room; returns how many */
size_t deserialize_bytes(struct deserializer *from, void *to, size_t room);

/** deserialize_string() - with its NUL in @room bytes; one with a NUL in it is bad */
void deserialize_string(struct deserializer *from, char *to, size_t room);

/**
 * deserialize_name() - a string that the reader can do without
 *
 * Return: whether it is at @to. One that has no room there is passed over, and @from goes on
 * behind it; @to is "" then.
 */
bool deserialize_name(struct deserializer *from, char *to, size_t room);

/** deserialize_array() - as serialize_array() has put it; @to is zeroed first */
void deserialize_array(struct deserializer *from, u64 *to, size_t count);

#endif
