// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test that a decoded record is encoded to the same bytes, except for its padding. */
#include "test.h"

#include "codec/record.h"
#include "codec/registers.h"

#include <stdlib.h>
#include <string.h>

static u64 random_state = 0x9e3779b97f4a7c15ULL;

static u64 draw_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Return the size of a packet from its header alone (D18.1.1). */
static size_t get_packet_size(const u8 *p)
{
	if ((p[0] & 0xe0) == 0x20)
		return 2 + (p[1] < 0x40 ? 0 : 1U << (p[1] >> 4 & 3));
	return 1 + (p[0] < 0x40 ? 0 : 1U << (p[0] >> 4 & 3));
}

static size_t copy_without_padding(const u8 *raw, size_t len, u8 *ret)
{
	size_t n = 0, size;

	for (size_t at = 0; at < len; at += size) {
		size = get_packet_size(raw + at);
		if (!raw[at])
			continue;
		memcpy(ret + n, raw + at, size);
		n += size;
	}
	return n;
}

static void check_record(const u8 *raw, size_t len)
{
	u8 want[SPE_MAX_RECORD], got[SPE_MAX_RECORD];
	struct spe_sample s;
	size_t n = copy_without_padding(raw, len, want);

	assert_row(spe_record_decode(raw, len, SPE_MAX_RECORD, &s) == (int)len);
	assert_row(spe_record_reencode(&s, got, sizeof(got)) == (int)n);
	assert_row(!memcmp(want, got, n));
	for (size_t size = 0; size < n; size++)
		assert_row(spe_record_reencode(&s, got, size) == -ENOSPC);
}

/*
 * Write random packets in random order: each kind at most once, some of them unknown, some with
 * extended headers or with padding before them.
 */
static size_t make_record(u8 *buf)
{
	static const u8 once[] = { 0x43, 0x53, 0x48, 0x49, 0x4a, 0x4b, 0x64, 0x65, 0x66, 0x67, 0x98,
				   0x99, 0x9a, 0x9c, 0x9e, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb7 };
	static const u8 unknown[] = { 0x02, 0x1f, 0x44, 0x50, 0x63, 0x70, 0x80, 0xc0, 0xf8 };
	bool source = false, op = false;
	size_t n = 0, at = draw_random() % ARRAY_SIZE(once);

	for (size_t i = 0; i < ARRAY_SIZE(once); i++, at = (at + 8) % ARRAY_SIZE(once)) {
		u8 h = once[at];
		bool *had = (h & 0xcf) == 0x43 ? &source : (h & 0xfc) == 0x48 ? &op : NULL;

		for (u64 zeros = draw_random() % 8; zeros > 5; zeros--)
			buf[n++] = 0;
		if (i == ARRAY_SIZE(once) / 2)
			buf[n++] = (u8)(0x42 | draw_random() % 4 << 4);
		else if (draw_random() % 4 == 0)
			buf[n++] = unknown[draw_random() % ARRAY_SIZE(unknown)];
		else if (draw_random() % 3 == 0 || (had && *had))
			continue;
		else {
			if (had)
				*had = true;
			/*
			 * Use the extended format for INDEX 8 and above, and sometimes for 0 to 7.
			 */
			if (h >= 0x80 && draw_random() % 2)
				buf[n++] = (u8)(0x20 | (draw_random() % 4 ? 0 : draw_random() % 4));
			buf[n++] = h;
		}
		for (size_t size = get_packet_size(buf + n - 1) - 1; size; size--)
			buf[n++] = (u8)draw_random();
	}
	buf[n++] = draw_random() % 2 ? 0x01 : 0x71;
	if (buf[n - 1] == 0x71)
		for (unsigned int i = 0; i < 8; i++)
			buf[n++] = (u8)draw_random();
	return n;
}

static void test_random(void **state)
{
	u8 buf[SPE_MAX_RECORD];

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		size_t n = make_record(buf);

		test_row("record %u", i);
		/*
		 * A record begins with a header. Padding before it is a part of the window, not of
		 * the record.
		 */
		for (size_t zeros = 0; zeros < n; zeros++) {
			if (buf[zeros]) {
				check_record(buf + zeros, n - zeros);
				break;
			}
		}
	}
}

/* Changed fields are encoded in place. Fields that do not fit into the record are rejected. */
static void test_changed_fields(void **state)
{
	static const u8 raw[] = { 0x44, 0x11, 0x20, 0x98, 5, 0, 0, 0x52, 2, 0, 0x48, 0, 0x43, 9, 1 };
	static const u8 want[] = { 0x44, 0x11, 0x20, 0x98, 7, 1, 0x52, 6, 0, 0x48, 1, 0x43, 8, 1 };
	struct spe_sample s, bad;
	u8 got[sizeof(raw)];

	(void)state;
	assert_int_equal(spe_record_decode(raw, sizeof(raw), SPE_MAX_RECORD, &s), sizeof(raw));
	s.counter[0] = 0x107;
	s.events = 6;
	s.op_subclass = 1;
	s.source = 8;
	assert_int_equal(spe_record_reencode(&s, got, sizeof(got)), sizeof(want));
	assert_memory_equal(got, want, sizeof(want));

	bad = s, bad.present |= SPE_HAS_TIMESTAMP;
	assert_int_equal(spe_record_reencode(&bad, got, sizeof(got)), -EINVAL);
	bad = s, bad.present &= ~SPE_HAS_COUNTER(0);
	assert_int_equal(spe_record_reencode(&bad, got, sizeof(got)), -EINVAL);
	bad = s, bad.events_size = 4;
	assert_int_equal(spe_record_reencode(&bad, got, sizeof(got)), -EINVAL);
	bad = s, bad.source_size = 2;
	assert_int_equal(spe_record_reencode(&bad, got, sizeof(got)), -EINVAL);
	bad = s, bad.op_class = 1;
	assert_int_equal(spe_record_reencode(&bad, got, sizeof(got)), -EINVAL);
}

/* Check the records of real cores in a file of @dir, which may be absent. Return: their number. */
static u64 check_file(const char *dir, const char *name)
{
	static u8 buf[1 << 20];
	struct spe_decoder d;
	struct spe_sample s;
	char path[512];
	size_t len;
	FILE *f;

	test_row("%s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	assert_row(f);
	len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	spe_decoder_init(&d, NULL, buf, len);
	for (enum spe_decode_result r; (r = spe_decoder_next(&d, &s, NULL)) != SPE_DECODE_END;)
		if (r == SPE_DECODE_SAMPLE)
			check_record(s.raw, s.size);
	return d.ledger.records;
}

static void test_records_of_real_cores(void **state)
{
	const char *dir = getenv("SPEPROF_VECTORS");

	(void)state;
	if (!dir || !*dir)
		skip();
	assert_int_equal(check_file(dir, "huawei_kunpeng920_branch_16rec.bin"), 16);
	assert_int_equal(check_file(dir, "quipper_2rec_neoverse64.bin"), 2);
	assert_int_equal(check_file(dir, "armfvp_2018_ldst_1rec.bin"), 1);
	assert_int_equal(check_file(dir, "armfvp_2017_br_st_1.5rec.bin"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_changed_fields),
		cmocka_unit_test(test_records_of_real_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
