// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "test.h"

#include "codec/record.h"
#include "codec/registers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE 64

static void make_sample(struct spe_sample *s, unsigned int seed)
{
	*s = (struct spe_sample){
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_ADDRESS(2) | SPE_HAS_CONTEXT(0) |
			   SPE_HAS_COUNTER(0) | SPE_HAS_COUNTER(1) | SPE_HAS_COUNTER(2) |
			   SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_SOURCE | SPE_HAS_TIMESTAMP,
		.events = 0x16,
		.events_size = 2,
		.source = 0x0e,
		.source_size = 1,
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = seed & 1,
		.timestamp = 1000 + seed,
	};
	s->address[0] = 0x8000ffff00000000ULL | seed << 2;
	s->address[2] = 0x0000aaaa00000000ULL | seed << 3;
	s->context[0] = 4711;
	s->counter[0] = (u16)(20 + seed % 100);
	s->counter[1] = 5;
	s->counter[2] = 1;
}

/* Write @n records of STRIDE bytes each, with the layout of Neoverse cores. */
static size_t make_window(u8 *buf, size_t n)
{
	struct spe_sample s;

	memset(buf, 0, n * STRIDE);
	for (size_t i = 0; i < n; i++) {
		make_sample(&s, (unsigned int)i);
		assert_true(spe_record_encode(&s, buf + i * STRIDE, STRIDE) > 0);
	}
	return n * STRIDE;
}

/* Decode a window, and check that each sample is a complete one of make_window(). */
static struct spe_ledger decode_window(const u8 *buf, size_t len, u32 align)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_decoder d;
	struct spe_sample s, want;
	struct spe_range range;
	enum spe_decode_result r;
	u64 suspect = 0;

	spe_decoder_init(&d, &config, buf, len);
	while ((r = spe_decoder_next(&d, &s, &range)) != SPE_DECODE_END) {
		if (r == SPE_DECODE_SUSPECT) {
			suspect += range.size;
			continue;
		}
		make_sample(&want, (unsigned int)s.timestamp - 1000);
		assert_int_equal(s.present, want.present);
		assert_int_equal(s.address[0], want.address[0]);
		assert_int_equal(s.counter[0], want.counter[0]);
	}
	assert_int_equal(suspect, d.ledger.suspect);
	assert_int_equal(d.ledger.decoded + d.ledger.padding + d.ledger.suspect, len);
	return d.ledger;
}

static void test_round_trip(void **state)
{
	struct spe_sample s, back;
	u8 buf[128], again[128];
	int n;

	(void)state;
	make_sample(&s, 3);
	n = spe_record_encode(&s, buf, sizeof(buf));
	assert_true(n > 0);
	assert_int_equal(spe_record_decode(buf, (size_t)n, SPE_MAX_RECORD, &back), n);
	assert_int_equal(back.size, n);
	assert_int_equal(spe_record_encode(&back, again, sizeof(again)), n);
	assert_memory_equal(buf, again, n);

	for (size_t cut = 0; cut < (size_t)n; cut++)
		assert_int_equal(spe_record_decode(buf, cut, SPE_MAX_RECORD, &back), -ENODATA);
	assert_int_equal(spe_record_decode(buf, (size_t)n, 32, &back), -EBADMSG);
}

static void test_no_record(void **state)
{
	/* a record without an Events packet (D17.6.10), and a record with two PCs */
	const u8 no_events[] = { 0x49, 0x00, 0x98, 0x01, 0x00, 0x01 };
	const u8 twice[] = { 0x42, 0x02, 0x98, 0x01, 0x00, 0x98, 0x01, 0x00, 0x01 };
	struct spe_sample s;

	(void)state;
	assert_int_equal(spe_record_decode(no_events, sizeof(no_events), 2048, &s), -EBADMSG);
	assert_int_equal(spe_record_decode(twice, sizeof(twice), 2048, &s), -EBADMSG);
}

static void test_zeros_are_padding(void **state)
{
	u8 buf[1000] = { 0 };
	struct spe_ledger l = decode_window(buf, sizeof(buf), 0);

	(void)state;
	assert_int_equal(l.records, 0);
	assert_int_equal(l.padding, sizeof(buf));
}

/* Check that one flipped bit anywhere costs at most its record and the next one. */
static void damage_every_bit(u32 align)
{
	static u8 buf[64 * STRIDE], good[64 * STRIDE];
	const struct spe_decoder_config config = { .align = align };
	const size_t n = 64, len = make_window(good, n);

	for (size_t i = 0; i < 8 * len; i++) {
		struct spe_decoder d;
		struct spe_sample s;

		memcpy(buf, good, len);
		buf[i / 8] ^= (u8)(1U << i % 8);
		test_row("align %u, byte %zu bit %zu", align, i / 8, i % 8);
		spe_decoder_init(&d, &config, buf, len);
		for (enum spe_decode_result r;
		     (r = spe_decoder_next(&d, &s, NULL)) != SPE_DECODE_END;)
			if (r == SPE_DECODE_SAMPLE)
				assert_row(s.size <= (align ? 1 : 2) * STRIDE);
		assert_row(d.ledger.records >= n - 2 && d.ledger.records <= n);
		assert_row(d.ledger.suspect <= 2 * STRIDE);
		assert_row(d.ledger.decoded + d.ledger.padding + d.ledger.suspect == len);
	}
}

static void test_damage_is_contained(void **state)
{
	(void)state;
	damage_every_bit(0);
	damage_every_bit(STRIDE);
}

/* A truncated window loses only its last record. */
static void test_truncated_window(void **state)
{
	static u8 buf[16 * STRIDE];
	size_t len = make_window(buf, 16);

	(void)state;
	for (size_t cut = 1; cut <= STRIDE; cut++) {
		struct spe_ledger l = decode_window(buf, len - cut, 64);

		test_row("cut %zu", cut);
		assert_row(l.records == 15 || (l.records == 16 && !l.suspect));
		assert_row(l.partial == l.suspect);
	}
}

/*
 * The window has runs that are one record too short for resynchronization, with damage between
 * them: a search of the whole window after each would take hours.
 */
static void test_hostile_is_bounded(void **state)
{
	static const u8 record[] = { 0x02, 0x42, 0x02, 0x01 }, damage[] = { 0x3f, 0x3f };
	const size_t len = 2 << 20, runs[] = { SPE_RESYNC_RECORDS - 1, SPE_RESYNC_RECORDS + 1 };
	u8 *buf = malloc(len);

	(void)state;
	assert_non_null(buf);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		size_t block = runs[i] * sizeof(record) + sizeof(damage);
		struct spe_decoder d;
		struct spe_sample s;

		for (size_t at = 0; at < len; at++)
			buf[at] = at % block < runs[i] * sizeof(record) ?
					  record[at % block % sizeof(record)] :
					  damage[0];
		spe_decoder_init(&d, NULL, buf, len);
		while (spe_decoder_next(&d, &s, NULL) != SPE_DECODE_END)
			;
		assert_int_equal(d.ledger.decoded + d.ledger.padding + d.ledger.suspect, len);
		assert_true(d.ledger.records >= SPE_RESYNC_RECORDS - 1);
	}
	free(buf);
}

struct vector_file {
	const char *file;
	unsigned int records;
	unsigned int suspect;
	unsigned int kinds[SPE_KINDS];
};

static const struct vector_file vectors[] = {
	{ "huawei_kunpeng920_branch_16rec.bin", 16, 0, { [SPE_KIND_BRANCH] = 16 } },
	{ "quipper_2rec_neoverse64.bin", 2, 0, { [SPE_KIND_LOAD] = 1, [SPE_KIND_BRANCH] = 1 } },
	{ "armfvp_2018_ldst_1rec.bin", 1, 0, { [SPE_KIND_LOAD] = 1 } },
	{ "armfvp_2017_br_st_1.5rec.bin", 1, 23, { [SPE_KIND_BRANCH] = 1 } },
	{ "leoyan_2025_ase_fp_frag.bin", 0, 16, { 0 } },
};

/* Decode bytes of real cores, if their directory exists. */
static void test_records_of_real_cores(void **state)
{
	const char *dir = getenv("SPEPROF_VECTORS");

	(void)state;
	if (!dir || !*dir)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector_file *v = &vectors[i];
		unsigned int kinds[SPE_KINDS] = { 0 };
		struct spe_decoder d;
		struct spe_sample s;
		char path[512];
		u8 buf[4096];
		size_t len;
		FILE *f;

		test_row("%s", v->file);
		snprintf(path, sizeof(path), "%s/%s", dir, v->file);
		f = fopen(path, "rb");
		assert_row(f);
		len = fread(buf, 1, sizeof(buf), f);
		fclose(f);
		spe_decoder_init(&d, NULL, buf, len);
		for (enum spe_decode_result r;
		     (r = spe_decoder_next(&d, &s, NULL)) != SPE_DECODE_END;)
			if (r == SPE_DECODE_SAMPLE)
				kinds[spe_sample_kind(&s)]++;
		assert_row(d.ledger.records == v->records);
		assert_row(d.ledger.suspect == v->suspect);
		assert_row(!memcmp(kinds, v->kinds, sizeof(kinds)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_record),
		cmocka_unit_test(test_zeros_are_padding),
		cmocka_unit_test(test_damage_is_contained),
		cmocka_unit_test(test_truncated_window),
		cmocka_unit_test(test_hostile_is_bounded),
		cmocka_unit_test(test_records_of_real_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
