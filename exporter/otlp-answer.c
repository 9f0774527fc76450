// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse an ExportMetricsServiceResponse from a collector, which may contain any bytes. */
#include "otlp.h"

#include <errno.h>

#include "util/escape.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

enum {
	ANSWER_PARTIAL = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE = 2,
};

struct answer_reader {
	const u8 *at;
	size_t left;
};

/* A field: @value if it is a varint, else @bytes */
struct answer_field {
	u32 number;
	enum wire_type wire;
	u64 value;
	struct answer_reader bytes;
};

static int read_varint(struct answer_reader *r, u64 *ret)
{
	u64 value = 0;
	u8 byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (!r->left)
			return -EBADMSG;
		byte = *r->at++;
		r->left--;
		value |= (u64)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

static int read_bytes(struct answer_reader *r, u64 size, struct answer_reader *ret)
{
	if (size > r->left)
		return -EBADMSG;
	*ret = (struct answer_reader){ .at = r->at, .left = (size_t)size };
	r->at += size;
	r->left -= (size_t)size;
	return 0;
}

/*
 * Read the next field. Return: 1 for a field, 0 at the end, -EBADMSG if the bytes cannot be parsed.
 */
static int read_field(struct answer_reader *r, struct answer_field *ret)
{
	u64 tag;
	int e;

	if (!r->left)
		return 0;
	e = read_varint(r, &tag);
	if (e < 0)
		return e;
	*ret = (struct answer_field){ .number = (u32)(tag >> 3), .wire = tag & 7 };
	switch (ret->wire) {
	case WIRE_VARINT:
		e = read_varint(r, &ret->value);
		break;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		e = read_bytes(r, ret->wire == WIRE_FIXED64 ? 8 : 4, &ret->bytes);
		break;
	case WIRE_BYTES:
		e = read_varint(r, &ret->value);
		if (e >= 0)
			e = read_bytes(r, ret->value, &ret->bytes);
		break;
	default:
		e = -EBADMSG;
	}
	return e < 0 ? e : 1;
}

static int read_partial_success(struct answer_reader *r, u64 *ret_rejected, char *ret_message,
				size_t size)
{
	struct answer_field f;
	int e;

	while ((e = read_field(r, &f)) > 0) {
		/*
		 * rejected_data_points is an int64. Ignore a number that is negative, or larger
		 * than the number of points in any request, because the sum of such numbers would
		 * overflow.
		 */
		if (f.number == PARTIAL_REJECTED && f.wire == WIRE_VARINT)
			*ret_rejected = f.value > UINT32_MAX ? 0 : f.value;
		else if (f.number == PARTIAL_MESSAGE && f.wire == WIRE_BYTES)
			escape_text(ret_message, size, (const char *)f.bytes.at, f.bytes.left);
	}
	return e;
}

u64 otlp_count_rejected(const u8 *data, size_t data_size, char *ret_message, size_t size)
{
	struct answer_reader r = { .at = data, .left = data_size };
	u64 rejected = 0;
	struct answer_field f;
	int e;

	*ret_message = 0;
	while ((e = read_field(&r, &f)) > 0) {
		if (f.number == ANSWER_PARTIAL && f.wire == WIRE_BYTES)
			e = read_partial_success(&f.bytes, &rejected, ret_message, size);
		if (e < 0)
			break;
	}
	if (e >= 0)
		return rejected;
	*ret_message = 0;
	return 0;
}
