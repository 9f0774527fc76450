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
 * struct blob_writer - into memory of the caller
 * @full: something did not fit; @len is then what did
 */
struct blob_writer {
	u8 *at;
	size_t room;
	size_t len;
	bool full;
};

void blob_put(struct blob_writer *to, u64 value);

/** blob_size() - bytes that blob_put() takes for @value */
size_t blob_size(u64 value);

/** blob_put_bytes() - their number, and they */
void blob_put_bytes(struct blob_writer *to, const void *bytes, size_t len);
void blob_put_string(struct blob_writer *to, const char *string);

/** blob_put_array() - the values that are not 0, with their places */
void blob_put_array(struct blob_writer *to, const u64 *values, size_t count);

/**
 * struct blob_reader - of hostile bytes
 * @bad: they ended, or a value was not what it may be; all that is read from then on is 0
 */
struct blob_reader {
	const u8 *at;
	size_t len;
	size_t pos;
	bool bad;
};

u64 blob_get(struct blob_reader *from);

/** blob_get_below() - a number that is less than @limit, else 0 and @from is bad */
u64 blob_get_below(struct blob_reader *from, u64 limit);

/** blob_get_bytes() - at most @room; returns how many */
size_t blob_get_bytes(struct blob_reader *from, void *to, size_t room);

/** blob_get_string() - with its NUL in @room bytes; one with a NUL in it is bad */
void blob_get_string(struct blob_reader *from, char *to, size_t room);

/**
 * blob_get_name() - a string that the reader can do without
 *
 * Return: whether it is at @to. One that has no room there is passed over, and @from goes on
 * behind it; @to is "" then.
 */
bool blob_get_name(struct blob_reader *from, char *to, size_t room);

/** blob_get_array() - as blob_put_array() has put it; @to is zeroed first */
void blob_get_array(struct blob_reader *from, u64 *to, size_t count);

#endif
