// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the decoder with instructions that GNU as 2.40 assembled from the given texts. */
#include "test.h"

#include "model/instruction.h"
#include "util/a64.h"

#define I(kind) SPE_INSTRUCTION_##kind

static struct a64_registers make_example_registers(void)
{
	struct a64_registers registers = { .pc = 0x10000, .sp = 0x7fff0, .pstate = 0x40000000 };

	for (u64 i = 0; i < ARRAY_SIZE(registers.x); i++)
		registers.x[i] = (i + 1) << 16;
	registers.x[2] = 0xffffffff;
	registers.x[3] = 0x100000000;
	return registers;
}

static void branch_is_decoded(void **state)
{
	static const struct {
		u32 word;
		const char *text;
		u64 flags;
		u64 target;
		bool passes;
	} rows[] = {
		{ 0x14000000, "b .", 0, 0x10000, true },
		{ 0x17ffffff, "b .-4", 0, 0xfffc, true },
		{ 0x94000001, "bl .+4", I(LINK), 0x10004, true },
		{ 0x54ffffc1, "b.ne .-8", I(CONDITIONAL), 0xfff8, false },
		{ 0x54ffffc0, "b.eq .-8", I(CONDITIONAL), 0xfff8, true },
		{ 0x34ffffa3, "cbz w3, .-12", I(CONDITIONAL), 0xfff4, true },
		{ 0xb4ffffa3, "cbz x3, .-12", I(CONDITIONAL), 0xfff4, false },
		{ 0xb5ffff84, "cbnz x4, .-16", I(CONDITIONAL), 0xfff0, true },
		{ 0xb5ffff9f, "cbnz xzr, .-16", I(CONDITIONAL), 0xfff0, false },
		{ 0xb647ff65, "tbz x5, #40, .-20", I(CONDITIONAL), 0xffec, true },
		{ 0x371fff46, "tbnz w6, #3, .-24", I(CONDITIONAL), 0xffe8, false },
		{ 0xb707ff43, "tbnz x3, #32, .-24", I(CONDITIONAL), 0xffe8, true },
		{ 0xd61f0200, "br x16", I(INDIRECT), 0x110000, true },
		{ 0xd63f0100, "blr x8", I(INDIRECT) | I(LINK), 0x90000, true },
		{ 0xd65f03c0, "ret", I(INDIRECT) | I(RETURN), 0x1f0000, true },
		{ 0xd65f00e0, "ret x7", I(INDIRECT) | I(RETURN), 0x80000, true },
		{ 0xd65f0bff, "retaa", I(INDIRECT) | I(RETURN), 0x1f0000, true },
		{ 0xd73f0822, "blraa x1, x2", I(INDIRECT) | I(LINK), 0x20000, true },
		{ 0xd61f087f, "braaz x3", I(INDIRECT), 0x100000000, true },
	};
	const struct a64_registers registers = make_example_registers();
	struct a64_instruction a64;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].text);
		a64_decode(rows[i].word, &a64);
		assert_int_equal(a64.kind, SPE_INSTRUCTION_BRANCH);
		assert_int_equal(a64.flags, rows[i].flags);
		assert_int_equal(a64_compute_target(&a64, &registers), rows[i].target);
		assert_int_equal(a64_condition_holds(&a64, &registers), rows[i].passes);
		assert_int_equal(a64.bytes, 0);
	}
}

static void access_is_decoded(void **state)
{
	enum { READ = 1, WRITE = 2 };
	static const struct {
		u32 word;
		const char *text;
		u32 kind;
		u64 flags;
		u32 access;
		u32 bytes;
		u64 address;
	} rows[] = {
		{ 0xf9400020, "ldr x0, [x1]", I(MEMORY), 0, READ, 8, 0x20000 },
		{ 0xb9401020, "ldr w0, [x1, #16]", I(MEMORY), 0, READ, 4, 0x20010 },
		{ 0x394017e0, "ldrb w0, [sp, #5]", I(MEMORY), 0, READ, 1, 0x7fff5 },
		{ 0x789fd040, "ldursh x0, [x2, #-3]", I(MEMORY), 0, READ, 2, 0xfffffffc },
		{ 0xf81f8483, "str x3, [x4], #-8", I(MEMORY), 0, WRITE, 8, 0x50000 },
		{ 0xb800cc83, "str w3, [x4, #12]!", I(MEMORY), 0, WRITE, 4, 0x5000c },
		{ 0xf8627820, "ldr x0, [x1, x2, lsl #3]", I(MEMORY), 0, READ, 8, 0x80001fff8 },
		{ 0xb862c820, "ldr w0, [x1, w2, sxtw]", I(MEMORY), 0, READ, 4, 0x1ffff },
		{ 0x38224820, "strb w0, [x1, w2, uxtw]", I(MEMORY), 0, WRITE, 1, 0x10001ffff },
		{ 0x58fffc20, "ldr x0, .-124", I(MEMORY), 0, READ, 8, 0xff84 },
		{ 0x98fffc00, "ldrsw x0, .-128", I(MEMORY), 0, READ, 4, 0xff80 },
		{ 0x9cfffbe0, "ldr q0, .-132", I(MEMORY), I(SIMD_FP), READ, 16, 0xff7c },
		{ 0xa9fe07e0, "ldp x0, x1, [sp, #-32]!", I(MEMORY), 0, READ, 16, 0x7ffd0 },
		{ 0x28c10440, "ldp w0, w1, [x2], #8", I(MEMORY), 0, READ, 8, 0xffffffff },
		{ 0x69410460, "ldpsw x0, x1, [x3, #8]", I(MEMORY), 0, READ, 8, 0x100000008 },
		{ 0xa9017bfd, "stp x29, x30, [sp, #16]", I(MEMORY), 0, WRITE, 16, 0x80000 },
		{ 0xad010400, "stp q0, q1, [x0, #32]", I(MEMORY), I(SIMD_FP), WRITE, 32, 0x10020 },
		{ 0x6c400420, "ldnp d0, d1, [x1]", I(MEMORY), I(SIMD_FP) | I(SCALAR), READ, 16,
		  0x20000 },
		{ 0x3dc00420, "ldr q0, [x1, #16]", I(MEMORY), I(SIMD_FP), READ, 16, 0x20010 },
		{ 0xfc226820, "str d0, [x1, x2]", I(MEMORY), I(SIMD_FP) | I(SCALAR), WRITE, 8,
		  0x10001ffff },
		{ 0x3d400020, "ldr b0, [x1]", I(MEMORY), I(SIMD_FP) | I(SCALAR), READ, 1, 0x20000 },
		{ 0xc85f7c20, "ldxr x0, [x1]", I(EXTENDED), I(EXCLUSIVE), READ, 8, 0x20000 },
		{ 0x8802fc20, "stlxr w2, w0, [x1]", I(EXTENDED), I(EXCLUSIVE) | I(ORDERED), WRITE,
		  4, 0x20000 },
		{ 0xc87f8440, "ldaxp x0, x1, [x2]", I(EXTENDED), I(EXCLUSIVE) | I(ORDERED), READ,
		  16, 0xffffffff },
		{ 0x88dffc20, "ldar w0, [x1]", I(EXTENDED), I(ORDERED), READ, 4, 0x20000 },
		{ 0xc89ffc20, "stlr x0, [x1]", I(EXTENDED), I(ORDERED), WRITE, 8, 0x20000 },
		{ 0x88a07c41, "cas w0, w1, [x2]", I(EXTENDED), I(ATOMIC), READ | WRITE, 4,
		  0xffffffff },
		{ 0x4860fc82, "caspal x0, x1, x2, x3, [x4]", I(EXTENDED), I(ATOMIC) | I(ORDERED),
		  READ | WRITE, 16, 0x50000 },
		{ 0xb8200041, "ldadd w0, w1, [x2]", I(EXTENDED), I(ATOMIC), READ | WRITE, 4,
		  0xffffffff },
		{ 0xf820005f, "stadd x0, [x2]", I(EXTENDED), I(ATOMIC) | I(NO_RETURN), READ | WRITE,
		  8, 0xffffffff },
		{ 0xf8e08041, "swpal x0, x1, [x2]", I(EXTENDED), I(ATOMIC) | I(ORDERED),
		  READ | WRITE, 8, 0xffffffff },
		{ 0xb8bfc020, "ldapr w0, [x1]", I(EXTENDED), I(ORDERED), READ, 4, 0x20000 },
		{ 0xd95fc020, "ldapur x0, [x1, #-4]", I(EXTENDED), I(ORDERED), READ, 8, 0x1fffc },
		{ 0x19004020, "stlurb w0, [x1, #4]", I(EXTENDED), I(ORDERED), WRITE, 1, 0x20004 },
		{ 0xf87fe420, "ldraa x0, [x1, #-16]", I(MEMORY), 0, READ, 8, 0x1fff0 },
		{ 0xf83ff420, "ldraa x0, [x1, #4088]", I(MEMORY), 0, READ, 8, 0x20ff8 },
		{ 0x4cdfa000, "ld1 {v0.16b, v1.16b}, [x0], #32", I(MEMORY), I(SIMD_FP), READ, 32,
		  0x10000 },
		{ 0x0c400000, "ld4 {v0.8b-v3.8b}, [x0]", I(MEMORY), I(SIMD_FP), READ, 32, 0x10000 },
		{ 0x0d409020, "ld1 {v0.s}[1], [x1]", I(MEMORY), I(SIMD_FP), READ, 4, 0x20000 },
		{ 0x4d408420, "ld1 {v0.d}[1], [x1]", I(MEMORY), I(SIMD_FP), READ, 8, 0x20000 },
		{ 0x0d40e420, "ld3r {v0.4h-v2.4h}, [x1]", I(MEMORY), I(SIMD_FP), READ, 6, 0x20000 },
		{ 0x4c007020, "st1 {v0.16b}, [x1]", I(MEMORY), I(SIMD_FP), WRITE, 16, 0x20000 },
		{ 0xd9201820, "stg x0, [x1, #16]", I(TAG), 0, WRITE, 16, 0x20010 },
		{ 0xd9600020, "ldg x0, [x1]", I(TAG), 0, READ, 16, 0x20000 },
		{ 0xd50b7421, "dc zva, x1", I(ZERO), 0, WRITE, 64, 0x20000 },
	};
	const struct a64_registers registers = make_example_registers();
	struct a64_instruction a64;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].text);
		a64_decode(rows[i].word, &a64);
		assert_int_equal(a64.kind, rows[i].kind);
		assert_int_equal(a64.flags, rows[i].flags);
		assert_int_equal(a64.loads, !!(rows[i].access & READ));
		assert_int_equal(a64.stores, !!(rows[i].access & WRITE));
		assert_int_equal(a64.bytes, rows[i].bytes);
		assert_int_equal(a64_compute_address(&a64, &registers), rows[i].address);
	}
}

static void other_instruction_is_decoded(void **state)
{
	static const struct {
		u32 word;
		const char *text;
		u32 kind;
		u64 flags;
		u32 effort;
		u32 condition;
	} rows[] = {
		{ 0xd503201f, "nop", I(OTHER), 0, A64_SIMPLE, 0 },
		{ 0xd503207f, "wfi", I(WAIT), 0, A64_SIMPLE, 0 },
		{ 0xd503205f, "wfe", I(WAIT), 0, A64_SIMPLE, 0 },
		{ 0xd5033fdf, "isb", I(ISB), 0, A64_SIMPLE, 0 },
		{ 0xd4000001, "svc #0", I(OTHER), 0, A64_SIMPLE, 0 },
		{ 0xd50b7a22, "dc cvac, x2", I(CACHE), 0, A64_SIMPLE, 0 },
		{ 0xd53bd040, "mrs x0, tpidr_el0", I(OTHER), 0, A64_SIMPLE, 0 },
		{ 0xf9800000, "prfm pldl1keep, [x0]", I(PREFETCH), 0, A64_SIMPLE, 0 },
		{ 0xd8fffba0, "prfm pldl1keep, .-140", I(PREFETCH), 0, A64_SIMPLE, 0 },
		{ 0x9a820020, "csel x0, x1, x2, eq", I(OTHER), I(CONDITIONAL), A64_SIMPLE,
		  SPE_CONDITION_SELECT },
		{ 0x1a821420, "csinc w0, w1, w2, ne", I(OTHER), I(CONDITIONAL), A64_SIMPLE,
		  SPE_CONDITION_INCREMENT },
		{ 0x5a82b420, "csneg w0, w1, w2, lt", I(OTHER), I(CONDITIONAL), A64_SIMPLE,
		  SPE_CONDITION_NEGATION },
		{ 0x5a82c020, "csinv w0, w1, w2, gt", I(OTHER), I(CONDITIONAL), A64_SIMPLE,
		  SPE_CONDITION_INVERSION },
		{ 0xfa410000, "ccmp x0, x1, #0, eq", I(OTHER), I(CONDITIONAL), A64_SIMPLE,
		  SPE_CONDITION_COMPARE },
		{ 0xba410800, "ccmn x0, #1, #0, eq", I(OTHER), I(CONDITIONAL), A64_SIMPLE,
		  SPE_CONDITION_COMPARE_NEGATIVE },
		{ 0x9ac20820, "udiv x0, x1, x2", I(OTHER), 0, A64_DIVIDE, 0 },
		{ 0x1ac20c20, "sdiv w0, w1, w2", I(OTHER), 0, A64_DIVIDE, 0 },
		{ 0x9b027c20, "mul x0, x1, x2", I(OTHER), 0, A64_MULTIPLY, 0 },
		{ 0x8b020020, "add x0, x1, x2", I(OTHER), 0, A64_SIMPLE, 0 },
		{ 0x90000000, "adrp x0, .", I(OTHER), 0, A64_SIMPLE, 0 },
		{ 0x1e622820, "fadd d0, d1, d2", I(OTHER), I(FP), A64_FLOAT, 0 },
		{ 0x1e221820, "fdiv s0, s1, s2", I(OTHER), I(FP), A64_FLOAT_DIVIDE, 0 },
		{ 0x1e61c020, "fsqrt d0, d1", I(OTHER), I(FP), A64_FLOAT_DIVIDE, 0 },
		{ 0x1e624c20, "fcsel d0, d1, d2, mi", I(OTHER), I(FP) | I(CONDITIONAL), A64_FLOAT,
		  SPE_CONDITION_SELECT },
		{ 0x1e610400, "fccmp d0, d1, #0, eq", I(OTHER), I(FP) | I(CONDITIONAL), A64_FLOAT,
		  SPE_CONDITION_COMPARE },
		{ 0x9e620020, "scvtf d0, x1", I(OTHER), I(FP), A64_FLOAT, 0 },
		{ 0x1f420c20, "fmadd d0, d1, d2, d3", I(OTHER), I(FP), A64_FLOAT, 0 },
		{ 0x4ea28420, "add v0.4s, v1.4s, v2.4s", I(OTHER), I(ASE), A64_FLOAT, 0 },
		{ 0x4e22d420, "fadd v0.4s, v1.4s, v2.4s", I(OTHER), I(ASE) | I(FP), A64_FLOAT, 0 },
		{ 0x4fa21020, "fmla v0.4s, v1.4s, v2.s[1]", I(OTHER), I(ASE) | I(FP), A64_FLOAT,
		  0 },
		{ 0x4ee1b820, "fcvtzs v0.2d, v1.2d", I(OTHER), I(ASE) | I(FP), A64_FLOAT, 0 },
		{ 0x4e284820, "aese v0.16b, v1.16b", I(OTHER), I(ASE), A64_FLOAT, 0 },
		{ 0x04a20020, "add z0.s, z1.s, z2.s", I(SVE), 0, A64_FLOAT, 0 },
		{ 0xa540a000, "ld1w {z0.s}, p0/z, [x0]", I(SVE_MEMORY), I(SECRET_ADDRESS),
		  A64_FLOAT, 0 },
		{ 0xe5e14000, "st1d {z0.d}, p0, [x0, x1, lsl #3]", I(SVE_MEMORY), I(SECRET_ADDRESS),
		  A64_FLOAT, 0 },
		{ 0x00000000, "udf #0", I(OTHER), 0, A64_SIMPLE, 0 },
	};
	struct a64_instruction a64;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].text);
		a64_decode(rows[i].word, &a64);
		assert_int_equal(a64.kind, rows[i].kind);
		assert_int_equal(a64.flags, rows[i].flags);
		assert_int_equal(a64.effort, rows[i].effort);
		assert_int_equal(a64.condition, rows[i].condition);
		assert_int_equal(a64.bytes, 0);
	}
}

/* Compare with ConditionHolds() of the architecture, for each condition and all flags. */
static void flags_decide_conditions(void **state)
{
	struct a64_registers registers = make_example_registers();
	struct a64_instruction a64;

	(void)state;
	for (u32 flags = 0; flags < 16; flags++) {
		bool n = flags & 8, z = flags & 4, c = flags & 2, v = flags & 1;
		const bool want[8] = { z, c, n, v, c && !z, n == v, n == v && !z, true };

		registers.pstate = flags << 28;
		for (u32 condition = 0; condition < 16; condition++) {
			a64_decode(0x54000000 | condition, &a64);
			assert_int_equal(a64_condition_holds(&a64, &registers),
					 condition >= 14 || want[condition / 2] != condition % 2);
		}
	}
}

static void target_has_no_authentication_code(void **state)
{
	struct a64_registers registers = make_example_registers();
	struct a64_instruction a64;

	(void)state;
	a64_decode(0xd65f0bff, &a64);
	registers.x[30] = 0xab12000000401234;
	assert_int_equal(a64_compute_target(&a64, &registers), 0x401234);
}

/* For any encoding, decoded registers exist, and an access has at most 64 bytes. */
static void any_word_is_decoded(void **state)
{
	const struct a64_registers registers = make_example_registers();
	struct a64_instruction a64;
	u64 seed = 1;

	(void)state;
	for (u32 i = 0; i < 4000000; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		a64_decode((u32)(seed >> 32), &a64);
		assert_true(a64.kind < SPE_INSTRUCTION_KINDS && a64.bytes <= 64);
		a64_condition_holds(&a64, &registers);
		if (a64.kind == SPE_INSTRUCTION_BRANCH)
			a64_compute_target(&a64, &registers);
		if (a64.bytes) {
			assert_true(a64.loads || a64.stores);
			a64_compute_address(&a64, &registers);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branch_is_decoded),
		cmocka_unit_test(access_is_decoded),
		cmocka_unit_test(other_instruction_is_decoded),
		cmocka_unit_test(flags_decide_conditions),
		cmocka_unit_test(target_has_no_authentication_code),
		cmocka_unit_test(any_word_is_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
