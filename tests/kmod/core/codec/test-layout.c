// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test that the fast path and the general path agree, on valid, unusual and damaged windows. */
#include "test.h"

#include "layout-twin.h"

#include <stdlib.h>
#include <string.h>

static u64 random_state = 88172645463325252ULL;

static u64 draw_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void check_agreement(const char *difference)
{
	if (difference)
		fail_msg("%s", difference);
}

/* Decode @buf by both paths. Return: the number of records. */
static u64 compare_paths(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	u64 records = 0;

	check_agreement(layout_twin_compare_records(buf, len, align, layouts, &records));
	return records;
}

static void compare_runs(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	check_agreement(layout_twin_compare_runs(buf, len, align, layouts));
}

/* Return a record with a random set of fields, with random sizes. */
static struct spe_sample make_random_sample(void)
{
	struct spe_sample s = { .present = draw_random() & (SPE_HAS_OTHERS - 1),
				.events = draw_random() };

	s.present |= SPE_HAS_EVENTS;
	for (unsigned int i = 0; i < 8; i++) {
		s.address[i] = draw_random();
		s.counter[i] = (u16)draw_random();
	}
	for (unsigned int i = 0; i < 4; i++)
		s.context[i] = (u32)draw_random();
	s.events_size = (u8)(1U << draw_random() % 4);
	s.source_size = (u8)(1U << draw_random() % 2);
	s.source = (u16)draw_random();
	s.timestamp = draw_random();
	s.op_class = draw_random() & 3;
	s.op_subclass = (u8)draw_random();
	return s;
}

/* Write records of @kinds random layouts, some followed by zeros. Return: the number of bytes. */
static size_t make_random_window(u8 *buf, size_t capacity, unsigned int kinds, u32 align)
{
	struct spe_sample kind[8];
	size_t pos = 0;
	int r;

	for (unsigned int i = 0; i < kinds; i++)
		kind[i] = make_random_sample();
	memset(buf, 0, capacity);
	for (;;) {
		struct spe_sample *s = &kind[draw_random() % kinds];

		s->address[0] = draw_random();
		s->timestamp = draw_random();
		s->op_subclass = (u8)draw_random();
		r = spe_record_encode(s, buf + pos, capacity - pos);
		if (r < 0)
			return pos;
		pos += (size_t)r;
		if (align && pos % align)
			pos += align - pos % align;
		if (pos > capacity)
			return capacity;
	}
}

static void test_random_windows(void **state)
{
	static u8 buf[16384];
	struct spe_layouts layouts = { 0 };
	u64 records = 0;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		u32 align = draw_random() % 3 ? 64 : 0;
		size_t len = make_random_window(buf, sizeof(buf), 1 + draw_random() % 8, align);

		records += compare_paths(buf, len, align, &layouts);
		compare_runs(buf, len, align, &layouts);
	}
	assert_true(records > 100000);
}

static void test_damaged_windows(void **state)
{
	static u8 buf[4096];
	struct spe_layouts layouts = { 0 }, by_run = { 0 };

	(void)state;
	for (unsigned int round = 0; round < 4000; round++) {
		u32 align = draw_random() % 2 ? 64 : 0;
		size_t len = make_random_window(buf, sizeof(buf), 1 + draw_random() % 3, align);

		for (unsigned int i = draw_random() % 4; i; i--)
			buf[draw_random() % sizeof(buf)] = (u8)draw_random();
		len -= draw_random() % 80;
		compare_paths(buf, len, align, &layouts);
		compare_runs(buf, len, align, &by_run);
	}
}

/*
 * Padding inside a record is a part of its layout: a record with another byte there does not match.
 */
static void test_padding_within(void **state)
{
	u8 buf[4 * 64 + 80] = { 0 };
	struct spe_layouts layouts = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		u8 *p = buf + 64 * i;

		p[0] = 0x52, p[1] = 0x16;
		p[5] = 0x43, p[6] = 0x0e;
		p[20] = 0x71, p[21] = (u8)i;
	}
	assert_int_equal(compare_paths(buf, sizeof(buf), 64, &layouts), 4);
	assert_int_equal(layouts.count, 1);
	buf[64 + 4] = 0x98; /* the header of the data source becomes that of a counter */
	assert_int_equal(compare_paths(buf, sizeof(buf), 64, &layouts), 4);
	assert_int_equal(layouts.count, 2);
}

/* Test that one layout matches all slots of 64 bytes. */
static void test_one_layout_for_slots(void **state)
{
	u8 buf[64 * 64] = { 0 };
	struct spe_layouts layouts = { 0 };
	struct spe_decoder decoder;
	struct spe_sample sample;
	struct spe_layout_run run;

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		u8 *p = buf + 64 * i;

		p[0] = 0x52, p[1] = 0x16;
		p[20] = 0x71, p[21] = (u8)i;
	}
	buf[10 * 64 + 40] = 0xff;
	compare_runs(buf, sizeof(buf), 0, &layouts);
	assert_int_equal(layouts.count, 1);
	assert_int_equal(layouts.layout[0].size, 29);
	assert_int_equal(layouts.layout[0].stride, 64);

	spe_decoder_init(&decoder, NULL, buf + 20 * 64, 44 * 64);
	assert_int_equal(spe_decoder_next_run(&decoder, &layouts, &run, &sample, NULL),
			 SPE_DECODE_RUN);
	assert_int_equal(run.count, SPE_RUN);
	assert_int_equal(decoder.pos, SPE_RUN * 64);
	assert_int_equal(spe_decoder_next_run(&decoder, &layouts, &run, &sample, NULL),
			 SPE_DECODE_RUN);
	assert_int_equal(run.count, 12);
}

/* The second record begins earlier than the padding after the first one suggested. */
static void test_stride_shrinks(void **state)
{
	u8 buf[8 * 44 + 64] = { 0 };
	struct spe_layouts layouts = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		u8 *p = buf + 44 * i + (i ? 44 : 0);

		p[0] = 0x42, p[1] = 0x2;
		p[30] = 0x98, p[31] = (u8)i, p[33] = 1;
	}
	compare_runs(buf, sizeof(buf), 0, &layouts);
	assert_int_equal(layouts.count, 1);
	assert_int_equal(layouts.layout[0].size, 34);
	assert_int_equal(layouts.layout[0].stride, 44);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_windows), cmocka_unit_test(test_damaged_windows),
		cmocka_unit_test(test_padding_within), cmocka_unit_test(test_one_layout_for_slots),
		cmocka_unit_test(test_stride_shrinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
