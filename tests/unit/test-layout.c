// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fast path and the general path agree, on good, odd and damaged windows. */
#include "test.h"

#include "layout.h"

#include <stdlib.h>
#include <string.h>

static u64 random_state = 88172645463325252ULL;

static u64 random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static bool samples_equal(const struct spe_sample *a, const struct spe_sample *b)
{
	return a->present == b->present && !memcmp(a->address, b->address, sizeof(a->address)) &&
	       a->events == b->events && a->timestamp == b->timestamp &&
	       !memcmp(a->context, b->context, sizeof(a->context)) &&
	       !memcmp(a->counter, b->counter, sizeof(a->counter)) && a->source == b->source &&
	       a->op_class == b->op_class && a->op_subclass == b->op_subclass &&
	       a->events_size == b->events_size && a->source_size == b->source_size &&
	       a->size == b->size && a->raw == b->raw;
}

/* Walk @buf both ways; returns how many records there were. */
static u64 walk_both(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_decoder general, fast;
	struct spe_sample want, got;
	struct spe_range range_want, range_got;
	enum spe_decode r;

	spe_decoder_init(&general, &config, buf, len);
	spe_decoder_init(&fast, &config, buf, len);
	do {
		memset(&got, 0xee, sizeof(got));
		r = spe_decoder_next(&general, &want, &range_want);
		assert_int_equal(spe_decoder_next_fast(&fast, layouts, &got, &range_got), r);
		assert_int_equal(fast.pos, general.pos);
		if (r == SPE_DECODE_SAMPLE)
			assert_true(samples_equal(&want, &got));
		if (r == SPE_DECODE_SUSPECT)
			assert_true(range_want.offset == range_got.offset &&
				    range_want.size == range_got.size);
	} while (r != SPE_DECODE_END);
	assert_memory_equal(&general.ledger, &fast.ledger, sizeof(general.ledger));
	assert_int_equal(general.starts, fast.starts);
	assert_int_equal(general.first, fast.first);
	return fast.ledger.records;
}

/* Any set of fields, any sizes. */
static struct spe_sample random_sample(void)
{
	struct spe_sample s = { .present = random_next() & (SPE_HAS_OTHERS - 1), .events = random_next() };

	s.present |= SPE_HAS_EVENTS;
	for (unsigned int i = 0; i < 8; i++) {
		s.address[i] = random_next();
		s.counter[i] = (u16)random_next();
	}
	for (unsigned int i = 0; i < 4; i++)
		s.context[i] = (u32)random_next();
	s.events_size = (u8)(1U << random_next() % 4);
	s.source_size = (u8)(1U << random_next() % 2);
	s.source = (u16)random_next();
	s.timestamp = random_next();
	s.op_class = random_next() & 3;
	s.op_subclass = (u8)random_next();
	return s;
}

/* @kinds layouts at random, with zeros after some records; returns the bytes. */
static size_t random_window(u8 *buf, size_t room, unsigned int kinds, u32 align)
{
	struct spe_sample kind[8];
	size_t pos = 0;
	int r;

	for (unsigned int i = 0; i < kinds; i++)
		kind[i] = random_sample();
	memset(buf, 0, room);
	for (;;) {
		struct spe_sample *s = &kind[random_next() % kinds];

		s->address[0] = random_next();
		s->timestamp = random_next();
		s->op_subclass = (u8)random_next();
		r = spe_record_encode(s, buf + pos, room - pos);
		if (r < 0)
			return pos;
		pos += (size_t)r;
		if (align && pos % align)
			pos += align - pos % align;
		if (pos > room)
			return room;
	}
}

static void test_random_windows(void **state)
{
	static u8 buf[16384];
	struct spe_layouts layouts = { 0 };
	u64 records = 0;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		u32 align = random_next() % 3 ? 64 : 0;
		size_t len = random_window(buf, sizeof(buf), 1 + random_next() % 8, align);

		records += walk_both(buf, len, align, &layouts);
	}
	assert_true(records > 100000);
}

static void test_damaged_windows(void **state)
{
	static u8 buf[4096];
	struct spe_layouts layouts = { 0 };

	(void)state;
	for (unsigned int round = 0; round < 4000; round++) {
		u32 align = random_next() % 2 ? 64 : 0;
		size_t len = random_window(buf, sizeof(buf), 1 + random_next() % 3, align);

		for (unsigned int i = random_next() % 4; i; i--)
			buf[random_next() % sizeof(buf)] = (u8)random_next();
		walk_both(buf, len - random_next() % 80, align, &layouts);
	}
}

/* Padding within a record belongs to its layout: another byte there is no match. */
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
	assert_int_equal(walk_both(buf, sizeof(buf), 64, &layouts), 4);
	assert_int_equal(layouts.count, 1);
	buf[64 + 4] = 0x98; /* now the data source is a counter's payload */
	assert_int_equal(walk_both(buf, sizeof(buf), 64, &layouts), 4);
	assert_int_equal(layouts.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_windows),
		cmocka_unit_test(test_damaged_windows),
		cmocka_unit_test(test_padding_within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
