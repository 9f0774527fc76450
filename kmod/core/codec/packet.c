// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Encode and decode packets, with one table of the 8-bit headers (tables D18-1 and D18-2, section
 * D18.1.1).
 */
#include "packet.h"

/* The same table applies to the second byte of an extended header. */
#define HEADER_IS_EXTENDED(h) (((h) & 0xe0) == 0x20)
/* bits 7:2 of byte 0 of an extended Address or Counter header (D18.2.1, D18.2.3) */
#define HEADER_EXTENDED 0x20

struct packet_header {
	u8 type;
	u8 size;	/* size of the payload in bytes */
};

#define UNKNOWN(size) { SPE_PACKET_UNKNOWN, size }

static const struct packet_header headers[256] = {
	[0x00] = { SPE_PACKET_PADDING, 0 },
	[0x01] = { SPE_PACKET_END, 0 },
	[0x02 ... 0x3f] = UNKNOWN(0),

	[0x40 ... 0x41] = UNKNOWN(1),
	[0x42] = { SPE_PACKET_EVENTS, 1 },
	[0x43] = { SPE_PACKET_DATA_SOURCE, 1 },
	[0x44 ... 0x47] = UNKNOWN(1),
	[0x48 ... 0x4b] = { SPE_PACKET_OP_TYPE, 1 },
	[0x4c ... 0x4f] = UNKNOWN(1),

	[0x50 ... 0x51] = UNKNOWN(2),
	[0x52] = { SPE_PACKET_EVENTS, 2 },
	[0x53] = { SPE_PACKET_DATA_SOURCE, 2 },
	[0x54 ... 0x5f] = UNKNOWN(2),

	[0x60 ... 0x61] = UNKNOWN(4),
	[0x62] = { SPE_PACKET_EVENTS, 4 },
	[0x63] = UNKNOWN(4),
	[0x64 ... 0x67] = { SPE_PACKET_CONTEXT, 4 },
	[0x68 ... 0x6f] = UNKNOWN(4),

	[0x70] = UNKNOWN(8),
	[0x71] = { SPE_PACKET_TIMESTAMP, 8 },
	[0x72] = { SPE_PACKET_EVENTS, 8 },
	[0x73 ... 0x7f] = UNKNOWN(8),

	[0x80 ... 0x8f] = UNKNOWN(1),
	[0x90 ... 0x97] = UNKNOWN(2),
	[0x98 ... 0x9f] = { SPE_PACKET_COUNTER, 2 },
	[0xa0 ... 0xaf] = UNKNOWN(4),
	[0xb0 ... 0xb7] = { SPE_PACKET_ADDRESS, 8 },
	[0xb8 ... 0xbf] = UNKNOWN(8),

	[0xc0 ... 0xcf] = UNKNOWN(1),
	[0xd0 ... 0xdf] = UNKNOWN(2),
	[0xe0 ... 0xef] = UNKNOWN(4),
	[0xf0 ... 0xff] = UNKNOWN(8),
};

static u64 payload_read(const u8 *p, u8 size)
{
	switch (size) {
	case 1:
		return p[0];
	case 2:
		return spe_get_le16(p);
	case 4:
		return spe_get_le32(p);
	case 8:
		return spe_get_le64(p);
	default:
		return 0;
	}
}

static void payload_write(u8 *p, u64 payload, u8 size)
{
	u8 i;

	for (i = 0; i < size; i++)
		p[i] = (u8)(payload >> 8 * i);
}

static u8 header_get_index(u8 type, u8 header)
{
	switch (type) {
	case SPE_PACKET_ADDRESS:
	case SPE_PACKET_COUNTER:
		return header & 0x7;
	case SPE_PACKET_CONTEXT:
	case SPE_PACKET_OP_TYPE:
		return header & 0x3;
	default:
		return 0;
	}
}

/* Decode the header at @buf, but not the payload. */
static int decode_header(const u8 *buf, size_t len, struct spe_packet *ret_packet)
{
	const struct packet_header *h = &headers[buf[0]];

	*ret_packet = (struct spe_packet){
		.type = h->type,
		.index = header_get_index(h->type, buf[0]),
		.header = buf[0],
		.header_size = 1,
		.payload_size = h->size,
	};
	if (!HEADER_IS_EXTENDED(buf[0]))
		return 0;
	if (len < 2)
		return -ENODATA;
	if (HEADER_IS_EXTENDED(buf[1]))
		return -EBADMSG;

	h = &headers[buf[1]];
	ret_packet->header |= (u16)(buf[1] << 8);
	ret_packet->header_size = 2;
	ret_packet->payload_size = h->size;
	/* Table D18-2: only Address and Counter packets have an extended format. */
	if ((buf[0] & 0xfc) != HEADER_EXTENDED ||
	    (h->type != SPE_PACKET_ADDRESS && h->type != SPE_PACKET_COUNTER))
		return 0;
	ret_packet->type = h->type;
	ret_packet->index = (u8)((buf[0] & 0x3) << 3 | (buf[1] & 0x7));
	return 0;
}

int spe_packet_decode(const u8 *buf, size_t len, struct spe_packet *ret_packet)
{
	struct spe_packet packet;
	int r;

	if (len < 1)
		return -ENODATA;
	r = decode_header(buf, len, &packet);
	if (r < 0)
		return r;
	if (packet.payload_size > len - packet.header_size)
		return -ENODATA;
	packet.payload = payload_read(buf + packet.header_size, packet.payload_size);
	*ret_packet = packet;
	return packet.header_size + packet.payload_size;
}
SPE_EXPORT(spe_packet_decode);

/*
 * Find the header with this type, index and size in the table. Unknown packets keep the header from
 * which they were decoded.
 */
static int encode_header(const struct spe_packet *packet, u8 ret_header[2])
{
	unsigned int h, index = packet->index;
	bool indexed = packet->type == SPE_PACKET_ADDRESS || packet->type == SPE_PACKET_COUNTER;

	if (packet->type == SPE_PACKET_UNKNOWN) {
		ret_header[0] = (u8)packet->header;
		ret_header[1] = (u8)(packet->header >> 8);
		return packet->header_size;
	}
	if (index > (indexed ? 31 : 3))
		return -EINVAL;
	for (h = 0; h < ARRAY_SIZE(headers); h++) {
		if (headers[h].type != packet->type || headers[h].size != packet->payload_size ||
		    header_get_index(packet->type, (u8)h) != (indexed ? index & 7 : index))
			continue;
		if (index < 8) {
			ret_header[0] = (u8)h;
			return 1;
		}
		ret_header[0] = (u8)(HEADER_EXTENDED | index >> 3);
		ret_header[1] = (u8)h;
		return 2;
	}
	return -EINVAL;
}

int spe_packet_encode(const struct spe_packet *packet, u8 *buf, size_t len)
{
	u8 header[2];
	int r;

	r = encode_header(packet, header);
	if (r < 0)
		return r;
	if (r > 2 || packet->payload_size > 8)
		return -EINVAL;
	if ((size_t)r + packet->payload_size > len)
		return -ENOSPC;
	memcpy(buf, header, (size_t)r);
	payload_write(buf + r, packet->payload, packet->payload_size);
	return r + packet->payload_size;
}
SPE_EXPORT(spe_packet_encode);

void spe_packet_write_same_header(const struct spe_packet *packet, u8 *buf)
{
	payload_write(buf, packet->header, packet->header_size);
	payload_write(buf + packet->header_size, packet->payload, packet->payload_size);
}
SPE_EXPORT(spe_packet_write_same_header);

struct op_pattern {
	u8 mask;
	u8 match;
	u8 format;
};

/* the formats of CLASS 0: Other, SVE vector, SME array (D18.2.7) */
static const struct op_pattern other_patterns[] = {
	{ 0xf8, 0x00, SPE_OP_FORMAT_OTHER },
	{ 0x89, 0x08, SPE_OP_FORMAT_SVE },
	{ 0x89, 0x88, SPE_OP_FORMAT_SME },
};

/* the formats of CLASS 1: loads and stores (D18.2.7) */
static const struct op_pattern load_store_patterns[] = {
	{ 0xfe, 0x00, SPE_OP_FORMAT_LS_GP },
	{ 0xfe, 0x04, SPE_OP_FORMAT_LS_SIMD_FP },
	{ 0xfe, 0x10, SPE_OP_FORMAT_LS_UNSPECIFIED },
	{ 0xfe, 0x14, SPE_OP_FORMAT_LS_TAG },
	{ 0xfe, 0x30, SPE_OP_FORMAT_LS_SYSREG },
	{ 0xfe, 0x20, SPE_OP_FORMAT_LS_MEMCPY },
	{ 0xff, 0x25, SPE_OP_FORMAT_LS_MEMSET },
	{ 0xfa, 0x40, SPE_OP_FORMAT_LS_GCS },
	{ 0xe2, 0x02, SPE_OP_FORMAT_LS_EXTENDED },
	{ 0x0a, 0x08, SPE_OP_FORMAT_LS_SVE },
};

static const struct op_pattern branch_patterns[] = {
	{ 0xe0, 0x00, SPE_OP_FORMAT_BRANCH },
};

static enum spe_op_format op_patterns_match(const struct op_pattern *patterns, size_t n,
					    u8 subclass)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((subclass & patterns[i].mask) == patterns[i].match)
			return patterns[i].format;
	return SPE_OP_FORMAT_RESERVED;
}

enum spe_op_format spe_op_format(u8 op_class, u8 subclass)
{
	switch (op_class) {
	case SPE_OP_OTHER:
		return op_patterns_match(other_patterns, ARRAY_SIZE(other_patterns), subclass);
	case SPE_OP_LOAD_STORE:
		return op_patterns_match(load_store_patterns, ARRAY_SIZE(load_store_patterns),
					 subclass);
	case SPE_OP_BRANCH:
		return op_patterns_match(branch_patterns, ARRAY_SIZE(branch_patterns), subclass);
	default:
		return SPE_OP_FORMAT_RESERVED;
	}
}
SPE_EXPORT(spe_op_format);
