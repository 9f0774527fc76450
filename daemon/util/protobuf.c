// SPDX-License-Identifier: LGPL-2.1-or-later
#include "protobuf.h"

#include <errno.h>
#include <stdlib.h>

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

/* Maximum bytes of a varint: each byte has seven of the 64 bits. */
#define VARINT_SIZE 10

void protobuf_init(struct protobuf *proto, size_t limit)
{
	*proto = (struct protobuf){ .limit = limit };
}

void protobuf_deinit(struct protobuf *proto)
{
	free(proto->data);
	*proto = (struct protobuf){ 0 };
}

/* Append @size uninitialized bytes, and return their address; NULL on failure. */
static u8 *bytes_reserve(struct protobuf *p, size_t size)
{
	size_t capacity;
	u8 *data;

	if (p->error)
		return NULL;
	if (size > p->limit - p->size) {
		p->error = -E2BIG;
		return NULL;
	}
	if (size > p->capacity - p->size) {
		capacity = p->capacity ? p->capacity : 256;
		while (capacity - p->size < size)
			capacity *= 2;
		data = realloc(p->data, capacity);
		if (!data) {
			p->error = -ENOMEM;
			return NULL;
		}
		p->data = data;
		p->capacity = capacity;
	}
	p->size += size;
	return p->data + p->size - size;
}

static size_t varint_encode(u8 *to, u64 value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (u8)(value | 0x80);
	to[n++] = (u8)value;
	return n;
}

static void bytes_append(struct protobuf *p, const void *data, size_t size)
{
	u8 *to = bytes_reserve(p, size);

	if (to && size)
		memcpy(to, data, size);
}

void protobuf_append_packed(struct protobuf *proto, u64 value)
{
	u8 bytes[VARINT_SIZE];

	bytes_append(proto, bytes, varint_encode(bytes, value));
}

static u64 zigzag_encode(s64 value)
{
	return (u64)value << 1 ^ (u64)(value >> 63);
}

void protobuf_append_packed_zigzag(struct protobuf *proto, s64 value)
{
	protobuf_append_packed(proto, zigzag_encode(value));
}

static void tag_write(struct protobuf *p, u32 field, enum wire wire)
{
	protobuf_append_packed(p, (u64)field << 3 | wire);
}

void protobuf_write_varint(struct protobuf *proto, u32 field, u64 value)
{
	tag_write(proto, field, WIRE_VARINT);
	protobuf_append_packed(proto, value);
}

void protobuf_write_zigzag(struct protobuf *proto, u32 field, s64 value)
{
	protobuf_write_varint(proto, field, zigzag_encode(value));
}

void protobuf_write_fixed64(struct protobuf *proto, u32 field, u64 value)
{
	u8 bytes[8];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)(value >> 8 * i);
	tag_write(proto, field, WIRE_FIXED64);
	bytes_append(proto, bytes, sizeof(bytes));
}

void protobuf_write_double(struct protobuf *proto, u32 field, double value)
{
	u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_write_fixed64(proto, field, bits);
}

void protobuf_write_bytes(struct protobuf *proto, u32 field, const void *data, size_t size)
{
	tag_write(proto, field, WIRE_BYTES);
	protobuf_append_packed(proto, size);
	bytes_append(proto, data, size);
}

void protobuf_write_encoded(struct protobuf *proto, const void *data, size_t size)
{
	bytes_append(proto, data, size);
}

void protobuf_write_string(struct protobuf *proto, u32 field, const char *text)
{
	protobuf_write_bytes(proto, field, text, strlen(text));
}

void protobuf_open_delimited(struct protobuf *proto)
{
	if (proto->depth == PROTOBUF_DEPTH)
		proto->error = -EINVAL;
	if (!proto->error)
		proto->open[proto->depth++] = proto->size;
}

void protobuf_open_message(struct protobuf *proto, u32 field)
{
	tag_write(proto, field, WIRE_BYTES);
	protobuf_open_delimited(proto);
}

/* Insert the length of the message before its first byte. */
void protobuf_close_message(struct protobuf *proto)
{
	u8 bytes[VARINT_SIZE];
	size_t start, n, size;

	if (proto->error)
		return;
	start = proto->open[--proto->depth];
	size = proto->size - start;
	n = varint_encode(bytes, size);
	if (!bytes_reserve(proto, n))
		return;
	memmove(proto->data + start + n, proto->data + start, size);
	memcpy(proto->data + start, bytes, n);
}
