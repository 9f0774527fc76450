// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "test.h"

#include "codec/packet.h"

#include <errno.h>
#include <string.h>

struct packet_encoding {
	const char *name;
	u8 bytes[10];
	u8 len;
	u8 type;
	u8 index;
	u64 payload;
};

/* clang-format off */
static const struct packet_encoding encodings[] = {
	{ "padding", { 0x00 }, 1, SPE_PACKET_PADDING, 0, 0 },
	{ "end", { 0x01 }, 1, SPE_PACKET_END, 0, 0 },
	{ "timestamp", { 0x71, 0x6c, 0xf8, 0xa5, 0x83, 0, 0x0c, 0, 0 }, 9, SPE_PACKET_TIMESTAMP, 0, 0x000c0083a5f86cULL },
	{ "events, 8 bits", { 0x42, 0x16 }, 2, SPE_PACKET_EVENTS, 0, 0x16 },
	{ "events, 16 bits", { 0x52, 0x1e, 0x03 }, 3, SPE_PACKET_EVENTS, 0, 0x31e },
	{ "events, 32 bits", { 0x62, 1, 2, 3, 4 }, 5, SPE_PACKET_EVENTS, 0, 0x04030201 },
	{ "events, 64 bits", { 0x72, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, SPE_PACKET_EVENTS, 0, 0x0807060504030201ULL },
	{ "data source, 8 bits", { 0x43, 0x0e }, 2, SPE_PACKET_DATA_SOURCE, 0, 0x0e },
	{ "data source, 16 bits", { 0x53, 0x34, 0x12 }, 3, SPE_PACKET_DATA_SOURCE, 0, 0x1234 },
	{ "context EL1", { 0x64, 0xb1, 1, 0, 0 }, 5, SPE_PACKET_CONTEXT, 0, 0x1b1 },
	{ "context EL2", { 0x65, 0xac, 1, 0, 0 }, 5, SPE_PACKET_CONTEXT, 1, 0x1ac },
	{ "context, reserved 2", { 0x66, 1, 0, 0, 0 }, 5, SPE_PACKET_CONTEXT, 2, 1 },
	{ "context, reserved 3", { 0x67, 1, 0, 0, 0 }, 5, SPE_PACKET_CONTEXT, 3, 1 },
	{ "operation, other", { 0x48, 0x06 }, 2, SPE_PACKET_OP_TYPE, 0, 6 },
	{ "operation, load/store", { 0x49, 0x01 }, 2, SPE_PACKET_OP_TYPE, 1, 1 },
	{ "operation, branch", { 0x4a, 0x02 }, 2, SPE_PACKET_OP_TYPE, 2, 2 },
	{ "operation, reserved", { 0x4b, 0xff }, 2, SPE_PACKET_OP_TYPE, 3, 0xff },
	{ "PC", { 0xb0, 0x5c, 0x8b, 0x8c, 0x86, 0xc2, 0xc0, 0xff, 0xc0 }, 9, SPE_PACKET_ADDRESS, 0, 0xc0ffc0c2868c8b5cULL },
	{ "branch target", { 0xb1, 0x01, 2, 3, 4, 5, 6, 7, 0x81 }, 9, SPE_PACKET_ADDRESS, 1, 0x8107060504030201ULL },
	{ "data virtual address", { 0xb2, 0x02, 2, 3, 4, 5, 6, 7, 0x82 }, 9, SPE_PACKET_ADDRESS, 2, 0x8207060504030202ULL },
	{ "data physical address", { 0xb3, 0x03, 2, 3, 4, 5, 6, 7, 0x83 }, 9, SPE_PACKET_ADDRESS, 3, 0x8307060504030203ULL },
	{ "previous branch target", { 0xb4, 0x04, 2, 3, 4, 5, 6, 7, 0x84 }, 9, SPE_PACKET_ADDRESS, 4, 0x8407060504030204ULL },
	{ "address 5, reserved", { 0xb5, 0x05, 2, 3, 4, 5, 6, 7, 0x85 }, 9, SPE_PACKET_ADDRESS, 5, 0x8507060504030205ULL },
	{ "address 6, IMPLEMENTATION DEFINED", { 0xb6, 0x06, 2, 3, 4, 5, 6, 7, 0x86 }, 9, SPE_PACKET_ADDRESS, 6, 0x8607060504030206ULL },
	{ "address 7, IMPLEMENTATION DEFINED", { 0xb7, 0x07, 2, 3, 4, 5, 6, 7, 0x87 }, 9, SPE_PACKET_ADDRESS, 7, 0x8707060504030207ULL },
	{ "address 8, extended, reserved", { 0x21, 0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 8, 0x8000000000000001ULL },
	{ "address 11, extended, reserved", { 0x21, 0xb3, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 11, 0x8000000000000001ULL },
	{ "address 15, extended, reserved", { 0x21, 0xb7, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 15, 0x8000000000000001ULL },
	{ "address 16, extended, IMPLEMENTATION DEFINED", { 0x22, 0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 16, 0x8000000000000001ULL },
	{ "address 21, extended, IMPLEMENTATION DEFINED", { 0x22, 0xb5, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 21, 0x8000000000000001ULL },
	{ "address 23, extended, IMPLEMENTATION DEFINED", { 0x22, 0xb7, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 23, 0x8000000000000001ULL },
	{ "address 24, extended, IMPLEMENTATION DEFINED", { 0x23, 0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 24, 0x8000000000000001ULL },
	{ "address 29, extended, IMPLEMENTATION DEFINED", { 0x23, 0xb5, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 29, 0x8000000000000001ULL },
	{ "address 31, extended, IMPLEMENTATION DEFINED", { 0x23, 0xb7, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, SPE_PACKET_ADDRESS, 31, 0x8000000000000001ULL },
	{ "total latency", { 0x98, 0x0b, 0x00 }, 3, SPE_PACKET_COUNTER, 0, 0xb },
	{ "issue latency", { 0x99, 0xff, 0x0f }, 3, SPE_PACKET_COUNTER, 1, 0xfff },
	{ "translation latency", { 0x9a, 0x02, 0x01 }, 3, SPE_PACKET_COUNTER, 2, 0x102 },
	{ "counter 3, reserved", { 0x9b, 0x03, 0x01 }, 3, SPE_PACKET_COUNTER, 3, 0x103 },
	{ "alternate clock issue latency", { 0x9c, 0xff, 0xff }, 3, SPE_PACKET_COUNTER, 4, 0xffff },
	{ "counter 5, reserved", { 0x9d, 0x05, 0x01 }, 3, SPE_PACKET_COUNTER, 5, 0x105 },
	{ "counter 6, IMPLEMENTATION DEFINED", { 0x9e, 0x06, 0x01 }, 3, SPE_PACKET_COUNTER, 6, 0x106 },
	{ "counter 7, IMPLEMENTATION DEFINED", { 0x9f, 0x07, 0x01 }, 3, SPE_PACKET_COUNTER, 7, 0x107 },
	{ "counter 8, extended, reserved", { 0x21, 0x98, 0x34, 0x12 }, 4, SPE_PACKET_COUNTER, 8, 0x1234 },
	{ "counter 15, extended, reserved", { 0x21, 0x9f, 0x34, 0x12 }, 4, SPE_PACKET_COUNTER, 15, 0x1234 },
	{ "counter 16, extended, IMPLEMENTATION DEFINED", { 0x22, 0x98, 0x34, 0x12 }, 4, SPE_PACKET_COUNTER, 16, 0x1234 },
	{ "counter 23, extended, IMPLEMENTATION DEFINED", { 0x22, 0x9f, 0x34, 0x12 }, 4, SPE_PACKET_COUNTER, 23, 0x1234 },
	{ "counter 24, extended, IMPLEMENTATION DEFINED", { 0x23, 0x98, 0x34, 0x12 }, 4, SPE_PACKET_COUNTER, 24, 0x1234 },
	{ "counter 31, extended, IMPLEMENTATION DEFINED", { 0x23, 0x9f, 0x34, 0x12 }, 4, SPE_PACKET_COUNTER, 31, 0x1234 },
	{ "unknown, no payload", { 0x1f }, 1, SPE_PACKET_UNKNOWN, 0, 0 },
	{ "unknown, 8 bits", { 0x44, 0xaa }, 2, SPE_PACKET_UNKNOWN, 0, 0xaa },
	{ "unknown, 16 bits", { 0x90, 1, 2 }, 3, SPE_PACKET_UNKNOWN, 0, 0x0201 },
	{ "unknown, 32 bits", { 0x63, 1, 2, 3, 4 }, 5, SPE_PACKET_UNKNOWN, 0, 0x04030201 },
	{ "unknown, 64 bits", { 0xf1, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, SPE_PACKET_UNKNOWN, 0, 0x0807060504030201ULL },
	{ "unknown, extended", { 0x24, 0x98, 1, 2 }, 4, SPE_PACKET_UNKNOWN, 0, 0x0201 },
	{ "unknown, extended, no payload", { 0x20, 0x01 }, 2, SPE_PACKET_UNKNOWN, 0, 0 },
};
/* clang-format on */

/*
 * D18.1.4.1, D18.1.4.2, D18.2.1 to D18.2.9, and headers of tables D18-1 and D18-2 that D18.1.3
 * allows to be unknown: each encoding decodes, encodes to the same bytes, and is refused if one
 * byte is missing.
 */
static void test_encodings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		const struct packet_encoding *e = &encodings[i];
		struct spe_packet packet = { .index = 0xee };
		u8 out[16];

		test_row("%s", e->name);
		assert_row(spe_packet_decode(e->bytes, e->len, &packet) == e->len);
		assert_row(packet.type == e->type);
		assert_row(packet.index == e->index);
		assert_row(packet.payload == e->payload);
		assert_row(packet.header_size + packet.payload_size == e->len);
		assert_row(spe_packet_encode(&packet, out, sizeof(out)) == e->len);
		assert_row(!memcmp(out, e->bytes, e->len));
		assert_row(spe_packet_encode(&packet, out, e->len - 1U) == -ENOSPC);

		packet.index = 0xee;
		assert_row(spe_packet_decode(e->bytes, e->len - 1U, &packet) == -ENODATA);
		assert_row(packet.index == 0xee);
	}
}

/* Every header, known or unknown, has the size of D18.1.1. */
static void test_sizes(void **state)
{
	u8 bytes[16] = { 0 };
	struct spe_packet packet;

	(void)state;
	for (unsigned int h = 0; h < 256; h++) {
		unsigned int size = h < 0x40 ? 0 : 1U << (h >> 4 & 3);

		test_row("header 0x%02x", h);
		bytes[0] = (u8)h;
		bytes[1] = 0;
		if ((h & 0xe0) != 0x20) {
			assert_row(spe_packet_decode(bytes, sizeof(bytes), &packet) == (int)(1 + size));
			continue;
		}
		for (unsigned int e = 0; e < 256; e++) {
			int want = 2 + (e < 0x40 ? 0 : 1 << (e >> 4 & 3));

			test_row("header 0x%02x 0x%02x", h, e);
			bytes[1] = (u8)e;
			if ((e & 0xe0) == 0x20)
				want = -EBADMSG;
			assert_row(spe_packet_decode(bytes, sizeof(bytes), &packet) == want);
		}
	}
}

/* For headers with a payload of 8 bits, all 256 values decode to themselves, reserved or not. */
static void test_byte_payloads(void **state)
{
	static const struct {
		u8 header, type, index;
	} rows[] = {
		{ 0x42, SPE_PACKET_EVENTS, 0 },	 { 0x43, SPE_PACKET_DATA_SOURCE, 0 },
		{ 0x48, SPE_PACKET_OP_TYPE, 0 }, { 0x49, SPE_PACKET_OP_TYPE, 1 },
		{ 0x4a, SPE_PACKET_OP_TYPE, 2 }, { 0x4b, SPE_PACKET_OP_TYPE, 3 },
		{ 0x40, SPE_PACKET_UNKNOWN, 0 }, { 0x8f, SPE_PACKET_UNKNOWN, 0 },
		{ 0xc3, SPE_PACKET_UNKNOWN, 0 },
	};

	(void)state;
	for (size_t i = 0; i < 256 * ARRAY_SIZE(rows); i++) {
		const u8 bytes[2] = { rows[i / 256].header, (u8)i };
		struct spe_packet packet;
		u8 out[2];

		test_row("0x%02x 0x%02x", bytes[0], bytes[1]);
		assert_row(spe_packet_decode(bytes, 2, &packet) == 2);
		assert_row(packet.type == rows[i / 256].type && packet.index == rows[i / 256].index);
		assert_row(packet.payload == bytes[1] && packet.payload_size == 1);
		assert_row(spe_packet_encode(&packet, out, 2) == 2);
		assert_row(!memcmp(out, bytes, 2));
	}
}

/*
 * All 32 values of INDEX of both kinds (D18.2.1, D18.2.3) decode; those below 8 also in the short
 * format.
 */
static void test_indices(void **state)
{
	(void)state;
	for (u8 i = 0; i < 64; i++) {
		bool counter = i >= 32;
		u8 index = i % 32, size = counter ? 2 : 8, out[12];
		u8 bytes[12] = { (u8)(0x20 | index >> 3), (u8)((counter ? 0x98 : 0xb0) | (index & 7)),
				 0xa5 };
		struct spe_packet packet;

		test_row("%s %u", counter ? "counter" : "address", index);
		assert_row(spe_packet_decode(bytes, sizeof(bytes), &packet) == 2 + size);
		assert_row(packet.type == (counter ? SPE_PACKET_COUNTER : SPE_PACKET_ADDRESS));
		assert_row(packet.index == index && packet.payload == 0xa5);
		spe_packet_write_same_header(&packet, out);
		assert_row(!memcmp(out, bytes, 2U + size));
		assert_row(spe_packet_decode(bytes, 1, &packet) == -ENODATA);
		assert_row(spe_packet_decode(bytes, 1U + size, &packet) == -ENODATA);
		if (index >= 8)
			continue;
		assert_row(spe_packet_decode(bytes + 1, sizeof(bytes) - 1, &packet) == 1 + size);
		assert_row(packet.index == index && packet.payload == 0xa5);
	}
}

struct op_row {
	const char *name;
	u8 op_class;
	u8 mask;	/* the bits that the pattern fixes */
	u8 match;
	u8 format;
};

/* Transcribed from the SUBCLASS tables of D18.2.7, independently of the codec's table. */
static const struct op_row op_rows[] = {
	{ "other", 0, 0xf8, 0x00, SPE_OP_FORMAT_OTHER },
	{ "SVE vector", 0, 0x89, 0x08, SPE_OP_FORMAT_SVE },
	{ "SME array", 0, 0x89, 0x88, SPE_OP_FORMAT_SME },
	{ "general-purpose", 1, 0xfe, 0x00, SPE_OP_FORMAT_LS_GP },
	{ "SIMD&FP", 1, 0xfe, 0x04, SPE_OP_FORMAT_LS_SIMD_FP },
	{ "unspecified", 1, 0xfe, 0x10, SPE_OP_FORMAT_LS_UNSPECIFIED },
	{ "allocation tag", 1, 0xfe, 0x14, SPE_OP_FORMAT_LS_TAG },
	{ "system register", 1, 0xfe, 0x30, SPE_OP_FORMAT_LS_SYSREG },
	{ "extended", 1, 0xe2, 0x02, SPE_OP_FORMAT_LS_EXTENDED },
	{ "SVE or SME", 1, 0x0a, 0x08, SPE_OP_FORMAT_LS_SVE },
	{ "memory copy", 1, 0xfe, 0x20, SPE_OP_FORMAT_LS_MEMCPY },
	{ "memory set", 1, 0xff, 0x25, SPE_OP_FORMAT_LS_MEMSET },
	{ "GCS", 1, 0xfa, 0x40, SPE_OP_FORMAT_LS_GCS },
	{ "branch", 2, 0xe0, 0x00, SPE_OP_FORMAT_BRANCH },
};

/* All 4 x 256 values have the format of the only row that matches, or are reserved. */
static void test_op_formats(void **state)
{
	(void)state;
	for (unsigned int v = 0; v < 4 * 256; v++) {
		u8 op_class = (u8)(v >> 8), subclass = (u8)v, want = SPE_OP_FORMAT_RESERVED;
		unsigned int matches = 0;

		test_row("class %u subclass 0x%02x", op_class, subclass);
		for (size_t i = 0; i < ARRAY_SIZE(op_rows); i++) {
			if (op_rows[i].op_class != op_class ||
			    (subclass & op_rows[i].mask) != op_rows[i].match)
				continue;
			want = op_rows[i].format;
			matches++;
		}
		assert_row(matches <= 1);
		assert_row(spe_op_format(op_class, subclass) == want);
	}
}

static void test_encode_refuses(void **state)
{
	const struct spe_packet bad[] = {
		{ .type = SPE_PACKET_ADDRESS, .payload_size = 4 },
		{ .type = SPE_PACKET_ADDRESS, .payload_size = 8, .index = 32 },
		{ .type = SPE_PACKET_CONTEXT, .payload_size = 4, .index = 4 },
		{ .type = SPE_PACKET_EVENTS, .payload_size = 3 },
		{ .type = SPE_PACKET_DATA_SOURCE, .payload_size = 4 },
		{ .type = SPE_PACKET_TYPES },
	};
	u8 out[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		test_row("row %zu", i);
		assert_row(spe_packet_encode(&bad[i], out, sizeof(out)) == -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_byte_payloads),
		cmocka_unit_test(test_indices),
		cmocka_unit_test(test_op_formats),
		cmocka_unit_test(test_encode_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
