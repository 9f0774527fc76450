// SPDX-License-Identifier: LGPL-2.1-or-later
#include "protobuf.h"

#include <errno.h>
#include <stdlib.h>

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

/* A varint's most bytes: 64 bits by seven. */
#define VARINT_SIZE 10

void proto_init(struct proto *proto, size_t bound)
{
	*proto = (struct proto){ .bound = bound };
}

void proto_deinit(struct proto *proto)
{
	free(proto->data);
	*proto = (struct proto){ 0 };
}

/* Room for @size bytes at the end, or NULL. */
static u8 *grow(struct proto *p, size_t size)
{
	size_t room;
	u8 *data;

	if (p->error)
		return NULL;
	if (size > p->bound - p->size) {
		p->error = -E2BIG;
		return NULL;
	}
	if (size > p->room - p->size) {
		room = p->room ? p->room : 256;
		while (room - p->size < size)
			room *= 2;
		data = realloc(p->data, room);
		if (!data) {
			p->error = -ENOMEM;
			return NULL;
		}
		p->data = data;
		p->room = room;
	}
	p->size += size;
	return p->data + p->size - size;
}

static size_t varint(u8 *to, u64 value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (u8)(value | 0x80);
	to[n++] = (u8)value;
	return n;
}

static void append(struct proto *p, const void *data, size_t size)
{
	u8 *to = grow(p, size);

	if (to && size)
		memcpy(to, data, size);
}

void proto_packed(struct proto *proto, u64 value)
{
	u8 bytes[VARINT_SIZE];

	append(proto, bytes, varint(bytes, value));
}

static u64 zigzag(s64 value)
{
	return (u64)value << 1 ^ (u64)(value >> 63);
}

void proto_packed_zigzag(struct proto *proto, s64 value)
{
	proto_packed(proto, zigzag(value));
}

static void tag(struct proto *p, u32 field, enum wire wire)
{
	proto_packed(p, (u64)field << 3 | wire);
}

void proto_varint(struct proto *proto, u32 field, u64 value)
{
	tag(proto, field, WIRE_VARINT);
	proto_packed(proto, value);
}

void proto_zigzag(struct proto *proto, u32 field, s64 value)
{
	proto_varint(proto, field, zigzag(value));
}

void proto_fixed64(struct proto *proto, u32 field, u64 value)
{
	u8 bytes[8];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)(value >> 8 * i);
	tag(proto, field, WIRE_FIXED64);
	append(proto, bytes, sizeof(bytes));
}

void proto_double(struct proto *proto, u32 field, double value)
{
	u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(proto, field, bits);
}

void proto_bytes(struct proto *proto, u32 field, const void *data, size_t size)
{
	tag(proto, field, WIRE_BYTES);
	proto_packed(proto, size);
	append(proto, data, size);
}

void proto_copy(struct proto *proto, const void *data, size_t size)
{
	append(proto, data, size);
}

void proto_string(struct proto *proto, u32 field, const char *text)
{
	proto_bytes(proto, field, text, strlen(text));
}

void proto_open_delimited(struct proto *proto)
{
	if (proto->depth == PROTO_DEPTH)
		proto->error = -EINVAL;
	if (!proto->error)
		proto->open[proto->depth++] = proto->size;
}

void proto_open(struct proto *proto, u32 field)
{
	tag(proto, field, WIRE_BYTES);
	proto_open_delimited(proto);
}

/* The length goes in front of what it is of, which makes way for it. */
void proto_close(struct proto *proto)
{
	u8 bytes[VARINT_SIZE];
	size_t start, n, size;

	if (proto->error)
		return;
	start = proto->open[--proto->depth];
	size = proto->size - start;
	n = varint(bytes, size);
	if (!grow(proto, n))
		return;
	memmove(proto->data + start + n, proto->data + start, size);
	memcpy(proto->data + start, bytes, n);
}
