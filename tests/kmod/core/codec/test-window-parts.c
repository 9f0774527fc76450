// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test that a window decoded in chunks gives the same records, suspect ranges and ledger as the
 * whole window, wherever it is cut, for each of the functions that decode.
 */
#include "test.h"

#include "codec/layout.h"

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

enum decode_way {
	WAY_GENERAL,
	WAY_FAST,
	WAY_RUNS,
	WAYS,
};

/* The results of decoding a window */
struct decode_results {
	u64 hash;
	struct spe_ledger ledger;
	u32 starts;
	s16 first;
	size_t held; /* the largest number of bytes for which a decoder waited */
};

static void hash_add(struct decode_results *met, u64 value)
{
	met->hash = (met->hash ^ value) * 0x100000001b3ULL;
	met->hash ^= met->hash >> 29;
}

static void hash_sample(struct decode_results *met, const struct spe_decoder *d,
			const struct spe_sample *s)
{
	hash_add(met, d->base + (size_t)(s->raw - d->buf));
	for (u32 i = 0; i < s->size; i++)
		hash_add(met, s->raw[i]);
	hash_add(met, s->present ^ s->timestamp ^ s->events);
}

/* Decode until the decoder reaches the end, or needs more bytes. */
static enum spe_decode_result decode_chunk(struct spe_decoder *d, enum decode_way way,
					   struct spe_layouts *layouts, struct decode_results *met)
{
	struct spe_sample sample;
	struct spe_range range;
	struct spe_layout_run run;
	enum spe_decode_result r;

	do {
		r = way == WAY_GENERAL ? spe_decoder_next(d, &sample, &range) :
		    way == WAY_FAST    ? spe_decoder_next_fast(d, layouts, &sample, &range) :
					 spe_decoder_next_run(d, layouts, &run, &sample, &range);
		for (u32 i = 0; r == SPE_DECODE_RUN && i < run.count; i++) {
			spe_run_decode_sample(layouts, &run, i, &sample);
			hash_sample(met, d, &sample);
		}
		if (r == SPE_DECODE_SAMPLE)
			hash_sample(met, d, &sample);
		if (r == SPE_DECODE_SUSPECT) {
			hash_add(met, range.offset);
			hash_add(met, range.size);
		}
	} while (r != SPE_DECODE_END && r != SPE_DECODE_MORE);
	return r;
}

/*
 * Decode @buf in chunks: the first has @cut bytes, the others as many as @next returns. Bytes that
 * are passed a second time are in memory of exactly their size, so that ASan reports reads after
 * it.
 */
static struct decode_results decode_in_chunks(const u8 *buf, size_t len, u32 align,
					      enum decode_way way, size_t cut, size_t (*next)(void))
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_layouts layouts = { .count = 0 };
	struct decode_results met = { .hash = 0 };
	struct spe_decoder d;
	size_t end = cut < len ? cut : len, from = 0;
	enum spe_decode_result r;
	u8 *part;

	spe_decoder_init(&d, &config, NULL, 0);
	for (;;) {
		part = malloc(end - from + 1);
		assert_non_null(part);
		memcpy(part, buf + from, end - from);
		spe_decoder_set_chunk(&d, part, end - from, end == len);
		assert_int_equal(d.base, from);
		r = decode_chunk(&d, way, &layouts, &met);
		from += d.pos;
		free(part);
		if (end == len)
			break;
		assert_int_equal(r, SPE_DECODE_MORE);
		if (end - from > met.held)
			met.held = end - from;
		end += next ? next() : len;
		end = end < len ? end : len;
	}
	assert_int_equal(r, SPE_DECODE_END);
	assert_int_equal(from, len);
	met.ledger = d.ledger;
	met.starts = d.starts;
	met.first = d.first;
	return met;
}

/* Return whether the results are equal, apart from those that depend on the cuts. */
static bool results_are_equal(const struct decode_results *a, const struct decode_results *b)
{
	return a->hash == b->hash && !memcmp(&a->ledger, &b->ledger, sizeof(a->ledger)) &&
	       a->starts == b->starts && a->first == b->first;
}

static struct decode_results decode_whole_window(const u8 *buf, size_t len, u32 align,
						 enum decode_way way)
{
	return decode_in_chunks(buf, len, align, way, len, NULL);
}

static size_t choose_one_byte(void)
{
	return 1;
}

static size_t choose_random_size(void)
{
	u64 r = draw_random();

	return r % 4 ? 1 + r / 4 % 100 : 1 + r / 4 % 5000;
}

static struct spe_sample make_random_sample(void)
{
	struct spe_sample s = {
		.present = (draw_random() & (SPE_HAS_OTHERS - 1)) | SPE_HAS_EVENTS,
		.events = draw_random(),
		.events_size = (u8)(1U << draw_random() % 4),
		.source_size = (u8)(1U << draw_random() % 2),
		.op_class = draw_random() & 3,
		.timestamp = draw_random(),
	};

	for (unsigned int i = 0; i < 8; i++) {
		s.address[i] = draw_random();
		s.counter[i] = (u16)draw_random();
	}
	return s;
}

struct window_kind {
	u32 align;
	u32 zeros;  /* the largest number of zeros in a gap */
	u32 gaps;   /* one of this number of records is followed by a gap; 0: none */
	u32 damage; /* one of this number of bytes is damaged; 0: none */
	u32 noise;  /* the largest number of random bytes after damage */
};

/* Write records of some layouts with gaps and damage. */
static void make_window(const struct window_kind *kind, u8 *buf, size_t len)
{
	struct spe_sample samples[3];
	size_t pos = 0, gap, n;
	int r;

	memset(buf, 0, len);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i] = make_random_sample();
	for (;;) {
		samples[0].timestamp = samples[1].address[0] = draw_random();
		r = spe_record_encode(&samples[draw_random() % 3], buf + pos, len - pos);
		if (r < 0)
			break;
		pos += (size_t)r;
		if (kind->gaps && !(draw_random() % kind->gaps)) {
			gap = draw_random() % kind->zeros;
			pos = gap < len - pos ? pos + gap : len;
		}
		if (kind->align)
			pos += (kind->align - pos % kind->align) % kind->align;
		if (pos >= len)
			break;
	}
	for (pos = 0; kind->damage && pos < len; pos += draw_random() % (2 * kind->damage)) {
		buf[pos] = (u8)draw_random();
		n = kind->noise ? draw_random() % kind->noise : 0;
		for (; n && pos < len; n--)
			buf[pos++] = draw_random() % 4 ? 0x3f : (u8)draw_random();
	}
}

static const struct window_kind kinds[] = {
	{ .align = 64 },
	{ .align = 0 },
	{ .align = 64, .damage = 300 },
	{ .align = 0, .damage = 300 },
	{ .align = 4, .damage = 1000, .noise = 50 },
	{ .align = 48, .damage = 1000, .zeros = 200, .gaps = 8 },
	{ .align = 64, .damage = 3000, .zeros = 9000, .gaps = 8 },
	{ .align = 0, .damage = 6000, .zeros = 9000, .gaps = 4, .noise = 20000 },
	{ .align = 64, .damage = 20000, .noise = 40000 },
};

/* Cut the window once, at each byte in turn. */
static void test_every_cut(void **state)
{
	static u8 buf[2000];

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		const struct window_kind *kind = &kinds[i / 2];
		u32 align = i & 1 ? kind->align : 0;
		size_t len = i & 1 ? 700 : sizeof(buf);

		make_window(kind, buf, len);
		for (enum decode_way way = 0; way < WAYS; way++) {
			struct decode_results whole = decode_whole_window(buf, len, align, way),
					      cut;

			for (size_t at = 0; at <= len; at++) {
				test_row("kind %zu, way %d, cut at %zu", i / 2, (int)way, at);
				cut = decode_in_chunks(buf, len, align, way, at, NULL);
				assert_row(results_are_equal(&whole, &cut));
			}
		}
	}
}

/* Cut the window after each byte. */
static void test_byte_by_byte(void **state)
{
	static u8 buf[700];

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		const struct window_kind *kind = &kinds[i / 2];

		make_window(kind, buf, sizeof(buf));
		for (enum decode_way way = 0; way < WAYS; way++) {
			struct decode_results whole =
				decode_whole_window(buf, sizeof(buf), kind->align, way);
			struct decode_results cut = decode_in_chunks(buf, sizeof(buf), kind->align,
								     way, 0, choose_one_byte);

			test_row("kind %zu, way %d", i / 2, (int)way);
			assert_row(results_are_equal(&whole, &cut));
		}
	}
}

/* Cut the window at random: few bytes wait for the next chunk, however long damage or zeros are. */
static void test_random_cuts(void **state)
{
	const size_t capacity = 120000;
	u8 *buf = malloc(capacity);
	u64 suspect = 0, records = 0;
	size_t held = 0;

	(void)state;
	assert_non_null(buf);
	for (size_t i = 0; i < 6 * ARRAY_SIZE(kinds); i++) {
		const struct window_kind *kind = &kinds[i / 6];
		size_t len = capacity - draw_random() % 3000;

		make_window(kind, buf, len);
		for (enum decode_way way = 0; way < WAYS; way++) {
			struct decode_results whole = decode_whole_window(buf, len, kind->align,
									  way),
					      cut;

			cut = decode_in_chunks(buf, len, kind->align, way, choose_random_size(),
					       choose_random_size);
			test_row("kind %zu, round %zu, way %d", i / 6, i % 6, (int)way);
			assert_row(results_are_equal(&whole, &cut));
			assert_row(cut.held <= SPE_DECODER_HELD);
			held = cut.held > held ? cut.held : held;
			records += whole.ledger.records;
			suspect += whole.ledger.suspect;
		}
	}
	/*
	 * The windows must have many records, much damage, and bytes that waited for the next
	 * chunk.
	 */
	assert_true(records > 50000 && suspect > 500000 && held > 4096);
	free(buf);
}

/*
 * After damage, a record is accepted if SPE_RESYNC_ZEROS zeros follow it. Damage after these
 * zeros is another suspect range.
 */
static void test_zeros_after_damage(void **state)
{
	static const u8 record[] = { 0x42, 0x02, 0x98, 0x01, 0x00, 0x01 };
	static u8 buf[2 * SPE_RESYNC_ZEROS];
	struct decode_results met;

	(void)state;
	memset(buf, 0, sizeof(buf));
	memcpy(buf, record, sizeof(record));
	memset(buf + sizeof(record), 0x3f, 2);
	memcpy(buf + sizeof(record) + 2, record, sizeof(record));
	/* Add damage within the range of the first search, and after it. */
	for (size_t i = 0; i < 2; i++) {
		size_t at = 2 * sizeof(record) + 2 + SPE_RESYNC_ZEROS - 1 + i;

		buf[at] = 0x3f;
		buf[at + 1] = 0x3f;
		met = decode_whole_window(buf, sizeof(buf), 0, WAY_GENERAL);
		assert_int_equal(met.ledger.records, 1 + i);
		buf[at] = buf[at + 1] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_random_cuts),
		cmocka_unit_test(test_zeros_after_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
