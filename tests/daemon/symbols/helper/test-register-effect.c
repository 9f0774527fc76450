// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test what instructions do to registers, with instructions that GNU as 2.40 assembled from the given
 * texts, and what is known about values.
 */
#include "test.h"

#include "symbols/helper/register-effect.h"
#include "symbols/helper/register-value.h"

#define PC 0x10000

#define NO	  REGISTER_ZERO
#define SP	  REGISTER_SP
#define X(number) (1U << (number))

/** struct effect_row - an instruction, and its effect; the registers are rd, rn, rm, ra */
static const struct effect_row {
	u32 word;
	const char *text;
	u8 kind, rd, rn, rm, ra, shift;
	bool narrow;
	u8 bits;
	s64 immediate;
	u32 writes;
} effect_rows[] = {
	{ 0xaa0203e1, "mov x1, x2", EFFECT_MOVE, 1, 2, NO, NO, 0, false, 64, 0, X(1) },
	{ 0x2a0203e1, "mov w1, w2", EFFECT_MOVE, 1, 2, NO, NO, 0, true, 64, 0, X(1) },
	{ 0x910003fd, "mov x29, sp", EFFECT_ADD_IMMEDIATE, 29, SP, NO, NO, 0, false, 64, 0, X(29) },
	{ 0xd2a24683, "mov x3, #0x12340000", EFFECT_CONSTANT, 3, NO, NO, NO, 16, false, 64,
	  0x12340000, X(3) },
	{ 0x12800023, "mov w3, #-2", EFFECT_CONSTANT, 3, NO, NO, NO, 0, true, 64, -2, X(3) },
	{ 0xf2aacf03, "movk x3, #0x5678, lsl #16", EFFECT_INSERT, 3, NO, NO, NO, 16, false, 64,
	  0x5678, X(3) },
	{ 0x10000084, "adr x4, .+16", EFFECT_CONSTANT, 4, NO, NO, NO, 0, false, 64, PC + 16, X(4) },
	{ 0xb0000005, "adrp x5, .+0x1000", EFFECT_CONSTANT, 5, NO, NO, NO, 0, false, 64, PC + 4096,
	  X(5) },
	{ 0x91448ce6, "add x6, x7, #0x123, lsl #12", EFFECT_ADD_IMMEDIATE, 6, 7, NO, NO, 0, false,
	  64, 0x123000, X(6) },
	{ 0xd10083ff, "sub sp, sp, #32", EFFECT_ADD_IMMEDIATE, SP, SP, NO, NO, 0, false, 64, -32,
	  X(31) },
	{ 0xf10004df, "cmp x6, #1", EFFECT_ADD_IMMEDIATE, NO, 6, NO, NO, 0, false, 64, -1, 0 },
	{ 0x8b0a0d28, "add x8, x9, x10, lsl #3", EFFECT_ADD, 8, 9, 10, NO, 3, false, 64, 0, X(8) },
	{ 0x8b2ac928, "add x8, x9, w10, sxtw #2", EFFECT_ADD, 8, 9, 10, NO, 2, false, 32, 0, X(8) },
	{ 0x8b2a613f, "add sp, x9, x10", EFFECT_ADD, SP, 9, 10, NO, 0, false, 64, 0, X(31) },
	{ 0x8b4a0d28, "add x8, x9, x10, lsr #3", EFFECT_NONE, 8, 9, 10, NO, 3, false, 64, 0, X(8) },
	{ 0xd37ced8b, "lsl x11, x12, #4", EFFECT_SHIFT, 11, 12, NO, NO, 4, false, 64, 0, X(11) },
	{ 0x531c6d8b, "lsl w11, w12, #4", EFFECT_SHIFT, 11, 12, NO, NO, 4, true, 64, 0, X(11) },
	{ 0xd37d1d8b, "ubfiz x11, x12, #3, #8", EFFECT_SHIFT, 11, 12, NO, NO, 3, false, 8, 0,
	  X(11) },
	{ 0x93407d8b, "sxtw x11, w12", EFFECT_SHIFT, 11, 12, NO, NO, 0, false, 32, 0, X(11) },
	{ 0xd344fd8b, "lsr x11, x12, #4", EFFECT_NONE, 11, NO, NO, NO, 0, false, 64, 0, X(11) },
	{ 0x9b0f41cd, "madd x13, x14, x15, x16", EFFECT_MULTIPLY, 13, 14, 15, 16, 0, false, 64, 0,
	  X(13) },
	{ 0x9baf7dcd, "umull x13, w14, w15", EFFECT_MULTIPLY, 13, 14, 15, NO, 0, false, 32, 0,
	  X(13) },
	{ 0x9b4f7dcd, "smulh x13, x14, x15", EFFECT_NONE, 13, NO, NO, NO, 0, false, 64, 0, X(13) },
	{ 0x9a9f0251, "csel x17, x18, xzr, eq", EFFECT_SELECT, 17, 18, NO, NO, 0, false, 64, 0,
	  X(17) },
	{ 0x927cee3f, "and sp, x17, #-16", EFFECT_NONE, SP, NO, NO, NO, 0, false, 64, 0, X(31) },
	{ 0xf2400a5f, "tst x18, #7", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0xfa431a82, "ccmp x20, #3, #2, ne", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0xf9400420, "ldr x0, [x1, #8]", EFFECT_LOAD, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xb9400820, "ldr w0, [x1, #8]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xf940003f, "ldr xzr, [x1]", EFFECT_LOAD, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0x29400820, "ldp w0, w2, [x1]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0,
	  X(0) | X(2) },
	{ 0xf9800420, "prfm pldl1keep, [x1, #8]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0xc85f7c20, "ldxr x0, [x1]", EFFECT_LOAD, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xc8027c20, "stxr w2, x0, [x1]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, X(2) },
	{ 0xc89ffc20, "stlr x0, [x1]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0xc8a27c20, "cas x2, x0, [x1]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, X(2) },
	{ 0x48227c24, "casp x2, x3, x4, x5, [x1]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0,
	  X(2) | X(3) },
	{ 0xf8220020, "ldadd x2, x0, [x1]", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xf8bfc020, "ldapr x0, [x1]", EFFECT_LOAD, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xd9408020, "ldapur x0, [x1, #8]", EFFECT_LOAD, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0x9e660020, "fmov x0, d1", EFFECT_NONE, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0x1e622823, "fadd d3, d1, d2", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0x0e0c3c20, "umov w0, v1.s[1]", EFFECT_NONE, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0x9e780020, "fcvtzs x0, d1", EFFECT_NONE, 0, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xd53bd040, "mrs x0, tpidr_el0", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xd51bd040, "msr tpidr_el0, x0", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
	{ 0xd4000001, "svc #0", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0x4007ffff },
	{ 0x04bf5020, "rdvl x0, #1", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, X(0) },
	{ 0xb4000040, "cbz x0, .+8", EFFECT_NONE, NO, NO, NO, NO, 0, false, 64, 0, 0 },
};

static void test_effects(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(effect_rows); i++) {
		const struct effect_row *row = &effect_rows[i];
		struct register_effect e;

		register_effect_decode(row->word, PC, &e);
		test_row("%s", row->text);
		assert_row(e.kind == row->kind && e.rd == row->rd && e.writes == row->writes);
		assert_row(e.rn == row->rn && e.rm == row->rm && e.ra == row->ra);
		assert_row(e.shift == row->shift && e.bits == row->bits);
		assert_row(e.immediate == row->immediate && (!row->narrow || e.narrow));
		assert_row(e.base == NO && e.second == NO);
	}
}

/** struct base_row - an instruction that changes its base register, or loads a pair */
static const struct base_row {
	u32 word;
	const char *text;
	u8 second, base;
	s64 step;
	u32 writes;
} base_rows[] = {
	{ 0xb8804420, "ldrsw x0, [x1], #4", NO, 1, 4, X(0) | X(1) },
	{ 0xf81f0c20, "str x0, [x1, #-16]!", NO, 1, -16, X(1) },
	{ 0xfc008420, "str d0, [x1], #8", NO, 1, 8, X(1) },
	{ 0xa8c20be0, "ldp x0, x2, [sp], #32", 2, SP, 32, X(0) | X(2) | X(31) },
	{ 0xa9bd7bfd, "stp x29, x30, [sp, #-48]!", NO, SP, -48, X(31) },
	{ 0xc87f8c20, "ldaxp x0, x3, [x1]", 3, NO, 0, X(0) | X(3) },
	{ 0x4cdf7020, "ld1 {v0.16b}, [x1], #16", NO, 1, 16, X(1) },
	{ 0x4cc27020, "ld1 {v0.16b}, [x1], x2", NO, NO, 0, X(0) | X(1) | X(2) | X(28) },
};

static void test_bases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(base_rows); i++) {
		const struct base_row *row = &base_rows[i];
		struct register_effect e;

		register_effect_decode(row->word, PC, &e);
		test_row("%s", row->text);
		assert_row(e.second == row->second && e.base == row->base);
		assert_row(e.step == row->step && e.writes == row->writes);
	}
}

/* Each instruction names registers that exist, whatever its bits are. */
static void test_all_encodings(void **state)
{
	(void)state;
	for (u64 word = 0; word <= UINT32_MAX; word += 4093) {
		struct register_effect e;

		register_effect_decode((u32)word, PC, &e);
		test_row("%08llx", (unsigned long long)word);
		assert_row(e.rd <= NO && e.rn <= NO && e.rm <= NO && e.ra <= NO);
		assert_row(e.second <= NO && e.base <= NO && e.shift < 64);
		assert_row(e.bits >= 1 && e.bits <= 64);
		assert_row(e.rd == NO || e.writes >> e.rd & 1);
	}
}

static struct register_value pointer(s64 offset, u64 step)
{
	return (struct register_value){ .kind = VALUE_POINTER, .offset = offset, .step = step };
}

static struct register_value number(u64 step, u32 symbol)
{
	return (struct register_value){ .kind = VALUE_NUMBER, .step = step, .symbol = symbol };
}

#define assert_value(got, want)                                     \
	do {                                                        \
		struct register_value got_ = (got), want_ = (want); \
		assert_true(value_equals(&got_, &want_));           \
	} while (0)

static void test_joins(void **state)
{
	struct register_value a = pointer(8, 0), b = pointer(40, 0), c = pointer(16, 0);
	struct register_value null = value_make_constant(0), twelve = value_make_constant(12);
	struct register_value eight = value_make_constant(8), other = pointer(8, 0);

	(void)state;
	other.type = 1;
	assert_value(value_join(&a, &a), a);
	assert_value(value_join(&a, &b), pointer(8, 32));
	b = pointer(8, 32);
	assert_value(value_join(&b, &c), pointer(8, 8));
	assert_value(value_join(&a, &null), a);
	assert_value(value_join(&null, &a), a);
	assert_value(value_join(&a, &eight), value_make_unknown());
	assert_value(value_join(&a, &other), value_make_unknown());
	assert_value(value_join(&eight, &twelve), number(4, 0));
	assert_value(value_join(&eight, &eight), eight);
}

static void test_sums(void **state)
{
	struct register_value p = pointer(8, 0), one = number(1, 7), two = number(2, 7);
	struct register_value other = number(6, 9), ten = value_make_constant(10);
	struct register_value minus = value_make_constant(-3), huge = number(1ULL << 31, 0);

	(void)state;
	assert_value(value_add(&p, &ten, false), pointer(18, 0));
	assert_value(value_add(&ten, &p, false), pointer(18, 0));
	assert_value(value_add(&p, &ten, true), pointer(-2, 0));
	assert_value(value_add(&p, &other, false), pointer(8, 6));
	assert_value(value_add(&p, &p, true), value_make_unknown());
	assert_value(value_add(&ten, &p, true), value_make_unknown());
	assert_value(value_add(&one, &two, false), number(3, 7));
	assert_value(value_add(&one, &two, true), number(1, 0));
	assert_value(value_add(&two, &two, true), value_make_constant(0));
	assert_value(value_add(&two, &other, false), number(2, 0));
	assert_value(value_add(&ten, &minus, false), value_make_constant(7));
	assert_value(value_scale(&two, 12), number(24, 7));
	assert_value(value_scale(&huge, 4), value_make_unknown());
	assert_value(value_multiply(&one, &ten), number(10, 7));
	assert_value(value_multiply(&minus, &one), value_make_unknown());
	/* A multiple of 24 is a multiple of 8 after its high bits are removed. */
	other = number(24, 9);
	assert_value(value_narrow(&other), number(8, 0));
	assert_value(value_truncate(&other, 64), other);
	assert_value(value_truncate(&ten, 4), value_make_unknown());
	assert_value(value_truncate(&ten, 5), ten);
	assert_value(value_truncate(&p, 32), value_make_unknown());
	assert_value(value_narrow(&minus), value_make_constant(0xfffffffd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effects),	      cmocka_unit_test(test_bases),
		cmocka_unit_test(test_all_encodings), cmocka_unit_test(test_joins),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
