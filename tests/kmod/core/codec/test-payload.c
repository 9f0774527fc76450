// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "test.h"

#include "codec/payload.h"

#include <string.h>

/*
 * SUBCLASS from bit 7 down, transcribed from the figures and tables of D18.2.7. 0 and 1 are fixed
 * bits, and equal letters are the bits of one field.
 */
static const struct op_format_pattern {
	const char *name;
	u8 op_class;
	const char *bits;
	u8 format;
} patterns[] = {
	{ "other", 0, "00000afc", SPE_OP_FORMAT_OTHER },
	{ "SVE vector", 0, "0eee1pf0", SPE_OP_FORMAT_SVE },
	{ "SME array", 0, "1ttt1tf0", SPE_OP_FORMAT_SME },
	{ "general-purpose", 1, "0000000l", SPE_OP_FORMAT_LS_GP },
	{ "SIMD&FP", 1, "0000010l", SPE_OP_FORMAT_LS_SIMD_FP },
	{ "unspecified", 1, "0001000l", SPE_OP_FORMAT_LS_UNSPECIFIED },
	{ "allocation tag", 1, "0001010l", SPE_OP_FORMAT_LS_TAG },
	{ "system register", 1, "0011000l", SPE_OP_FORMAT_LS_SYSREG },
	{ "extended", 1, "000rxm1l", SPE_OP_FORMAT_LS_EXTENDED },
	{ "SVE or SME", 1, "seee1p0l", SPE_OP_FORMAT_LS_SVE },
	{ "memory copy", 1, "0010000l", SPE_OP_FORMAT_LS_MEMCPY },
	{ "memory set", 1, "00100101", SPE_OP_FORMAT_LS_MEMSET },
	{ "GCS", 1, "01000o0l", SPE_OP_FORMAT_LS_GCS },
	{ "branch", 2, "000kkgic", SPE_OP_FORMAT_BRANCH },
};

static const struct {
	char letter;
	u16 flag;
} letters[] = {
	{ 'a', SPE_OP_IS_ASE },	       { 'f', SPE_OP_IS_FP },	     { 'c', SPE_OP_IS_CONDITIONAL },
	{ 'p', SPE_OP_IS_PREDICATED }, { 's', SPE_OP_IS_SCATTERED }, { 'r', SPE_OP_IS_ORDERED },
	{ 'x', SPE_OP_IS_EXCLUSIVE },  { 'm', SPE_OP_IS_ATOMIC },    { 'o', SPE_OP_IS_COMMON },
	{ 'g', SPE_OP_IS_GCS },	       { 'i', SPE_OP_IS_INDIRECT },
};

/* the values of tables EVL and ETS, in bits */
static const u32 evl[] = { 32, 64, 128, 256, 512, 1024, 2048 };
static const u32 ets[] = { 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072,
			   262144 };

static bool pattern_matches(const struct op_format_pattern *p, u8 subclass)
{
	for (unsigned int i = 0; i < 8; i++)
		if ((p->bits[i] == '0' || p->bits[i] == '1') &&
		    p->bits[i] - '0' != (subclass >> (7 - i) & 1))
			return false;
	return true;
}

/* Return the value of the field @letter. */
static unsigned int pattern_get_field(const struct op_format_pattern *p, u8 subclass, char letter)
{
	unsigned int value = 0;

	for (unsigned int i = 0; i < 8; i++)
		if (p->bits[i] == letter)
			value = value << 1 | (subclass >> (7 - i) & 1);
	return value;
}

static u16 get_expected_flags(const struct op_format_pattern *p, u8 subclass)
{
	static const u16 cr[] = { 0, SPE_OP_IS_CALL, SPE_OP_IS_RETURN, SPE_OP_IS_NEITHER };
	u16 flags = cr[pattern_get_field(p, subclass, 'k')];

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (pattern_get_field(p, subclass, letters[i].letter))
			flags |= letters[i].flag;
	return flags;
}

static void check_length(const struct op_format_pattern *p, u8 subclass,
			 const struct spe_op_fields *op)
{
	unsigned int e = pattern_get_field(p, subclass, 'e'),
		     t = pattern_get_field(p, subclass, 't');

	if (strchr(p->bits, 'e')) {
		assert_row(op->length_kind == (e == 7 ? SPE_LENGTH_ABOVE : SPE_LENGTH_EXACT));
		assert_row(op->length == (e == 7 ? 2048 : evl[e]));
	} else if (strchr(p->bits, 't') && t < ARRAY_SIZE(ets)) {
		assert_row(op->length_kind == SPE_LENGTH_EXACT && op->length == ets[t]);
	} else if (strchr(p->bits, 't')) {
		assert_row(op->length_kind == (t == 15 ? SPE_LENGTH_WHOLE_ZA : SPE_LENGTH_RESERVED));
		assert_row(op->length == 0);
	} else {
		assert_row(op->length_kind == SPE_LENGTH_NONE && op->length == 0);
	}
}

/* Test all payloads of all classes. */
static void test_operation_type_payloads(void **state)
{
	unsigned int seen[ARRAY_SIZE(patterns)] = { 0 };

	(void)state;
	for (unsigned int v = 0; v < 4 * 256; v++) {
		u8 op_class = (u8)(v >> 8), subclass = (u8)v;
		struct spe_op_fields op = spe_op_decode(op_class, subclass);
		u16 ldst = op_class != 1 ? 0 : subclass & 1 ? SPE_OP_IS_STORE : SPE_OP_IS_LOAD;
		const struct op_format_pattern *found = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
			if (patterns[i].op_class != op_class ||
			    !pattern_matches(&patterns[i], subclass))
				continue;
			test_row("%s, subclass 0x%02x", patterns[i].name, subclass);
			assert_row(!found);
			found = &patterns[i];
			seen[i]++;
		}
		if (found) {
			assert_row(op.format == found->format);
			assert_row(op.flags == (get_expected_flags(found, subclass) | ldst));
			check_length(found, subclass, &op);
			continue;
		}
		test_row("class %u subclass 0x%02x", op_class, subclass);
		assert_row(op.format == SPE_OP_FORMAT_RESERVED && op.flags == ldst);
		assert_row(op.length_kind == SPE_LENGTH_NONE && op.length == 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		assert_int_not_equal(seen[i], 0);
}

/* D18.2.6 by bit and PMSVer (1 FEAT_SPE, 2 FEAT_SPEv1p1 ... 5 FEAT_SPEv1p4) */
static const struct version_event_row {
	const char *name;
	u8 first, last;
	char states[7];	/* for PMSVer 1 to 6: defined, IMPLEMENTATION DEFINED, zero */
} event_rows[] = {
	{ "exception to mispredicted", 0, 7, "dddddd" },
	{ "last level cache, remote", 8, 10, "dddddd" },
	{ "misaligned", 11, 11, "zddddd" },
	{ "IMPLEMENTATION DEFINED", 12, 15, "iiiiii" },
	{ "transactional", 16, 16, "dddddd" },
	{ "predicates", 17, 18, "zddddd" },
	{ "L2, modified, recent, snooped", 19, 23, "zzzzdd" },
	{ "streaming, SMCU", 24, 25, "iiiidd" },
	{ "31 to 26", 26, 31, "iiiizz" },
	{ "47 to 32", 32, 47, "zzzzzz" },
	{ "63 to 48", 48, 63, "iiiiii" },
};

static void test_event_states(void **state)
{
	unsigned int next = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(event_rows); i++) {
		const struct version_event_row *row = &event_rows[i];

		test_row("%s", row->name);
		assert_row(row->first == next);
		next = row->last + 1U;
		for (u8 bit = row->first; bit <= row->last; bit++) {
			for (u8 version = 1; version <= 6; version++)
				assert_row(spe_event_state(version, bit) ==
					   strchr("diz", row->states[version - 1]) - "diz");
			assert_row(spe_event_state(0, bit) == spe_event_state(6, bit));
			assert_row(spe_event_state(15, bit) == spe_event_state(6, bit));
		}
	}
	assert_int_equal(next, 64);
}

/* E[0] requires E[1]. E[6] requires a branch, or a conditional select or compare. */
static const struct sample_row {
	const char *name;
	u8 events, op_class, subclass;
	bool excepted, not_taken, failed;
} sample_rows[] = {
	{ "retired", 0x02, 0, 0, false, false, false },
	{ "exception", 0x03, 0, 0, true, false, false },
	{ "E[0] alone", 0x01, 0, 0, false, false, false },
	{ "conditional branch, taken", 0x02, 2, 0x01, false, false, false },
	{ "conditional branch, not taken", 0x42, 2, 0x01, false, true, true },
	{ "compare and branch indirect", 0x42, 2, 0x03, false, true, true },
	{ "unconditional branch with E[6]", 0x42, 2, 0x00, false, true, false },
	{ "select, second operand", 0x42, 0, 0x01, false, false, true },
	{ "select, first operand", 0x02, 0, 0x01, false, false, false },
	{ "floating-point select", 0x42, 0, 0x03, false, false, true },
	{ "unconditional other with E[6]", 0x42, 0, 0x02, false, false, false },
	{ "SVE with bit 0 clear", 0x42, 0, 0x08, false, false, false },
	{ "store with E[6]", 0x42, 1, 0x01, false, false, false },
	{ "reserved class", 0x42, 3, 0x01, false, false, false },
};

static void test_predicates_of_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sample_rows); i++) {
		const struct sample_row *row = &sample_rows[i];
		struct spe_sample s = {
			.present = SPE_HAS_OP | SPE_HAS_EVENTS, .events = row->events,
			.op_class = row->op_class, .op_subclass = row->subclass,
		};

		test_row("%s", row->name);
		assert_row(spe_sample_has_exception(&s) == row->excepted);
		assert_row(spe_sample_is_not_taken(&s) == row->not_taken);
		assert_row(spe_sample_condition_failed(&s) == row->failed);
		s.present &= ~SPE_HAS_OP;
		assert_row(!spe_sample_is_not_taken(&s) && !spe_sample_condition_failed(&s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operation_type_payloads),
		cmocka_unit_test(test_event_states),
		cmocka_unit_test(test_predicates_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
