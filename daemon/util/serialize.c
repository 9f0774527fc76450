// SPDX-License-Identifier: LGPL-2.1-or-later
#include "serialize.h"

size_t blob_size(u64 value)
{
	size_t n = 1;

	while (value >>= 7)
		n++;
	return n;
}

void blob_put(struct blob_writer *to, u64 value)
{
	size_t n = blob_size(value);

	if (to->full || n > to->room - to->len) {
		to->full = true;
		return;
	}
	for (; value >> 7; value >>= 7)
		to->at[to->len++] = (u8)(value | 0x80);
	to->at[to->len++] = (u8)value;
}

void blob_put_bytes(struct blob_writer *to, const void *bytes, size_t len)
{
	blob_put(to, len);
	if (to->full || len > to->room - to->len) {
		to->full = true;
		return;
	}
	memcpy(to->at + to->len, bytes, len);
	to->len += len;
}

void blob_put_string(struct blob_writer *to, const char *string)
{
	blob_put_bytes(to, string, strlen(string));
}

void blob_put_array(struct blob_writer *to, const u64 *values, size_t count)
{
	size_t used = 0, next = 0;

	for (size_t i = 0; i < count; i++)
		used += values[i] != 0;
	blob_put(to, used);
	for (size_t i = 0; i < count; i++) {
		if (!values[i])
			continue;
		blob_put(to, i - next);
		blob_put(to, values[i]);
		next = i + 1;
	}
}

u64 blob_get(struct blob_reader *from)
{
	u64 value = 0;
	u8 byte;

	for (unsigned int shift = 0; shift < 64 && !from->bad; shift += 7) {
		if (from->pos == from->len)
			break;
		byte = from->at[from->pos++];
		/* Of the tenth byte one bit is left. */
		if (shift == 63 && byte > 1)
			break;
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	from->bad = true;
	return 0;
}

u64 blob_get_below(struct blob_reader *from, u64 limit)
{
	u64 value = blob_get(from);

	if (value < limit)
		return value;
	from->bad = true;
	return 0;
}

size_t blob_get_bytes(struct blob_reader *from, void *to, size_t room)
{
	u64 n = blob_get(from);

	if (from->bad || n > room || n > from->len - from->pos) {
		from->bad = true;
		return 0;
	}
	memcpy(to, from->at + from->pos, n);
	from->pos += n;
	return n;
}

void blob_get_string(struct blob_reader *from, char *to, size_t room)
{
	size_t n = blob_get_bytes(from, to, room - 1);

	if (memchr(to, 0, n)) {
		from->bad = true;
		n = 0;
	}
	to[n] = 0;
}

bool blob_get_name(struct blob_reader *from, char *to, size_t room)
{
	struct blob_reader ahead = *from;
	u64 n = blob_get(&ahead);

	*to = 0;
	if (ahead.bad || n < room) {
		blob_get_string(from, to, room);
		return !from->bad;
	}
	if (n > ahead.len - ahead.pos)
		ahead.bad = true;
	else
		ahead.pos += n;
	*from = ahead;
	return false;
}

void blob_get_array(struct blob_reader *from, u64 *to, size_t count)
{
	u64 used = blob_get_below(from, (u64)count + 1), next = 0;

	memset(to, 0, count * sizeof(*to));
	while (used-- && !from->bad) {
		next += blob_get_below(from, count - next);
		if (from->bad)
			return;
		to[next++] = blob_get(from);
		/* None may follow the last place. */
		if (next == count && used)
			from->bad = true;
	}
}
