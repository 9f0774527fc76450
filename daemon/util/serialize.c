// SPDX-License-Identifier: LGPL-2.1-or-later
#include "serialize.h"

size_t serialize_get_u64_size(u64 value)
{
	size_t n = 1;

	while (value >>= 7)
		n++;
	return n;
}

void serialize_u64(struct serializer *to, u64 value)
{
	size_t n = serialize_get_u64_size(value);

	if (to->full || n > to->capacity - to->len) {
		to->full = true;
		return;
	}
	for (; value >> 7; value >>= 7)
		to->at[to->len++] = (u8)(value | 0x80);
	to->at[to->len++] = (u8)value;
}

void serialize_bytes(struct serializer *to, const void *bytes, size_t len)
{
	serialize_u64(to, len);
	if (to->full || len > to->capacity - to->len) {
		to->full = true;
		return;
	}
	memcpy(to->at + to->len, bytes, len);
	to->len += len;
}

void serialize_string(struct serializer *to, const char *string)
{
	serialize_bytes(to, string, strlen(string));
}

void serialize_array(struct serializer *to, const u64 *values, size_t count)
{
	size_t used = 0, next = 0;

	for (size_t i = 0; i < count; i++)
		used += values[i] != 0;
	serialize_u64(to, used);
	for (size_t i = 0; i < count; i++) {
		if (!values[i])
			continue;
		serialize_u64(to, i - next);
		serialize_u64(to, values[i]);
		next = i + 1;
	}
}

u64 deserialize_u64(struct deserializer *from)
{
	u64 value = 0;
	u8 byte;

	for (unsigned int shift = 0; shift < 64 && !from->bad; shift += 7) {
		if (from->pos == from->len)
			break;
		byte = from->at[from->pos++];
		/* The tenth byte has only the highest bit of the number. */
		if (shift == 63 && byte > 1)
			break;
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	from->bad = true;
	return 0;
}

u64 deserialize_u64_below(struct deserializer *from, u64 limit)
{
	u64 value = deserialize_u64(from);

	if (value < limit)
		return value;
	from->bad = true;
	return 0;
}

size_t deserialize_bytes(struct deserializer *from, void *to, size_t size)
{
	u64 n = deserialize_u64(from);

	if (from->bad || n > size || n > from->len - from->pos) {
		from->bad = true;
		return 0;
	}
	memcpy(to, from->at + from->pos, n);
	from->pos += n;
	return n;
}

void deserialize_string(struct deserializer *from, char *to, size_t size)
{
	size_t n = deserialize_bytes(from, to, size - 1);

	if (memchr(to, 0, n)) {
		from->bad = true;
		n = 0;
	}
	to[n] = 0;
}

bool deserialize_string_or_skip(struct deserializer *from, char *to, size_t size)
{
	struct deserializer ahead = *from;
	u64 n = deserialize_u64(&ahead);

	*to = 0;
	if (ahead.bad || n < size) {
		deserialize_string(from, to, size);
		return !from->bad;
	}
	if (n > ahead.len - ahead.pos)
		ahead.bad = true;
	else
		ahead.pos += n;
	*from = ahead;
	return false;
}

void deserialize_array(struct deserializer *from, u64 *to, size_t count)
{
	u64 used = deserialize_u64_below(from, (u64)count + 1), next = 0;

	memset(to, 0, count * sizeof(*to));
	while (used-- && !from->bad) {
		next += deserialize_u64_below(from, count - next);
		if (from->bad)
			return;
		to[next++] = deserialize_u64(from);
		/* No element can follow the last element of the array. */
		if (next == count && used)
			from->bad = true;
	}
}
