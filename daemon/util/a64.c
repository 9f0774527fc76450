// SPDX-License-Identifier: LGPL-2.1-or-later
#include "a64.h"

#include "model/instruction.h"

/* Return bits @high to @low of an instruction. */
static u32 get_bits(u32 word, unsigned int high, unsigned int low)
{
	return word >> low & ((2U << (high - low)) - 1);
}

/* Return the signed field in bits @high to @low. */
static s64 get_signed_bits(u32 word, unsigned int high, unsigned int low)
{
	s64 sign = 1LL << (high - low);

	return ((s64)get_bits(word, high, low) ^ sign) - sign;
}

static bool get_bit(u32 word, unsigned int number)
{
	return word >> number & 1;
}

/* ---- Branches, exceptions and system instructions --------------------------------------------- */

static void branch_set(struct a64_instruction *a64, u64 flags, s64 offset)
{
	a64->kind = SPE_INSTRUCTION_BRANCH;
	a64->flags = flags;
	a64->offset = offset;
}

static void test_set(struct a64_instruction *a64, enum a64_test test, u32 value)
{
	a64->test = (u8)test;
	a64->value = (u8)value;
	a64->flags |= SPE_INSTRUCTION_CONDITIONAL;
}

/* BR, BLR, RET, and their variants with pointer authentication (C4.1.93.12). */
static void decode_branch_register(u32 word, struct a64_instruction *a64)
{
	u32 opc = get_bits(word, 24, 21), rn = get_bits(word, 9, 5);
	u64 flags = SPE_INSTRUCTION_INDIRECT;

	if (opc == 4 || opc == 5) {
		/* ERET and DRPS are UNDEFINED at EL0. */
		return;
	}
	if ((opc & 7) == 1)
		flags |= SPE_INSTRUCTION_LINK;
	if (opc == 2)
		flags |= SPE_INSTRUCTION_RETURN;
	branch_set(a64, flags, 0);
	/* RETAA and RETAB have no register field; they return to X30. */
	a64->base = (u8)(opc == 2 && get_bits(word, 15, 11) == 1 ? 30 : rn);
}

/* Hints, barriers, cache maintenance by address, and MSR and MRS. */
static void decode_system(u32 word, struct a64_instruction *a64)
{
	if ((word & 0xffffffdf) == 0xd503205f) { /* WFE, WFI */
		a64->kind = SPE_INSTRUCTION_WAIT;
	} else if ((word & 0xfffff0ff) == 0xd50330df) {
		a64->kind = SPE_INSTRUCTION_ISB;
	} else if ((word & 0xffffffe0) == 0xd50b7420) { /* DC ZVA */
		a64->kind = SPE_INSTRUCTION_ZERO;
		a64->stores = true;
		a64->base = (u8)get_bits(word, 4, 0);
		a64->bytes = a64->base == 31 ? 0 : 64;
	} else if ((word & 0xfff8f000) == 0xd5087000) { /* DC and IC */
		a64->kind = SPE_INSTRUCTION_CACHE;
	}
}

static void decode_branch_or_system(u32 word, struct a64_instruction *a64)
{
	if (get_bits(word, 30, 26) == 0x05) { /* B, BL */
		branch_set(a64, get_bit(word, 31) ? SPE_INSTRUCTION_LINK : 0,
			   get_signed_bits(word, 25, 0) * 4);
	} else if (get_bits(word, 30, 25) == 0x1a) { /* CBZ, CBNZ */
		branch_set(a64, 0, get_signed_bits(word, 23, 5) * 4);
		test_set(a64, get_bit(word, 24) ? A64_NOT_ZERO : A64_ZERO, 0);
		a64->test_register = (u8)get_bits(word, 4, 0);
		a64->narrow = !get_bit(word, 31);
	} else if (get_bits(word, 30, 25) == 0x1b) { /* TBZ, TBNZ */
		branch_set(a64, 0, get_signed_bits(word, 18, 5) * 4);
		test_set(a64, get_bit(word, 24) ? A64_BIT_SET : A64_BIT_CLEAR,
			 get_bits(word, 31, 31) << 5 | get_bits(word, 23, 19));
		a64->test_register = (u8)get_bits(word, 4, 0);
	} else if (get_bits(word, 31, 24) == 0x54) { /* B.cond, BC.cond */
		branch_set(a64, 0, get_signed_bits(word, 23, 5) * 4);
		test_set(a64, A64_FLAGS, get_bits(word, 3, 0));
	} else if (get_bits(word, 31, 25) == 0x6b) {
		decode_branch_register(word, a64);
	} else if (get_bits(word, 31, 22) == 0x354) {
		decode_system(word, a64);
	}
}

/* ---- Loads and stores -------------------------------------------------------------------------- */

static void set_memory_access(struct a64_instruction *a64, enum spe_instruction_kind kind, u32 word,
			      bool load)
{
	a64->kind = (u8)kind;
	a64->base = (u8)get_bits(word, 9, 5);
	a64->loads = load;
	a64->stores = !load;
}

/* Load or store of SIMD&FP registers of @bytes each; Q registers are no scalars (D18.2.7). */
static void set_simd_access(struct a64_instruction *a64, u32 bytes)
{
	a64->flags |= SPE_INSTRUCTION_SIMD_FP;
	if (bytes < 16)
		a64->flags |= SPE_INSTRUCTION_SCALAR;
}

static void set_atomic_access(struct a64_instruction *a64, u32 word, bool ordered)
{
	set_memory_access(a64, SPE_INSTRUCTION_EXTENDED, word, true);
	a64->stores = true;
	a64->flags = SPE_INSTRUCTION_ATOMIC | (ordered ? SPE_INSTRUCTION_ORDERED : 0);
}

/* Load/store exclusive, load-acquire/store-release, compare-and-swap: bits 29 to 24 are 001000. */
static void decode_exclusive(u32 word, struct a64_instruction *a64)
{
	u32 size = get_bits(word, 31, 30);
	bool load = get_bit(word, 22), pair = get_bit(word, 21), release = get_bit(word, 15);

	if (pair && (get_bit(word, 23) || size < 2)) { /* CAS, CASP */
		set_atomic_access(a64, word, load || release);
		a64->bytes = (u8)(get_bit(word, 23) ? 1U << size : 8U << size);
		return;
	}
	set_memory_access(a64, SPE_INSTRUCTION_EXTENDED, word, load);
	a64->bytes = (u8)(pair ? 2U << size : 1U << size);
	a64->flags = get_bit(word, 23) || release ? SPE_INSTRUCTION_ORDERED : 0;
	if (!get_bit(word, 23))
		a64->flags |= SPE_INSTRUCTION_EXCLUSIVE;
}

static void decode_literal(u32 word, struct a64_instruction *a64)
{
	u32 opc = get_bits(word, 31, 30);
	bool simd = get_bit(word, 26);

	if (!simd && opc == 3) {
		a64->kind = SPE_INSTRUCTION_PREFETCH;
		return;
	}
	set_memory_access(a64, SPE_INSTRUCTION_MEMORY, word, true);
	a64->base = A64_NO_REGISTER;
	a64->offset = get_signed_bits(word, 23, 5) * 4;
	a64->bytes = (u8)(simd ? 4U << opc : opc == 1 ? 8 : 4);
	if (simd)
		set_simd_access(a64, a64->bytes);
}

static void decode_pair(u32 word, struct a64_instruction *a64)
{
	u32 opc = get_bits(word, 31, 30), bytes;
	bool simd = get_bit(word, 26);

	if (!simd && opc == 1 && !get_bit(word, 22)) { /* STGP */
		bytes = 8;
		a64->offset = get_signed_bits(word, 21, 15) * 16;
	} else {
		bytes = simd ? 4U << opc : opc == 2 ? 8 : 4;
		a64->offset = get_signed_bits(word, 21, 15) * bytes;
	}
	set_memory_access(a64, SPE_INSTRUCTION_MEMORY, word, get_bit(word, 22));
	a64->bytes = (u8)(2 * bytes);
	a64->post = get_bits(word, 24, 23) == 1;
	if (simd)
		set_simd_access(a64, bytes);
}

/* Atomic operations on memory: bits 29 to 24 are 111000, bit 21 is 1, bits 11 and 10 are 0. */
static void decode_atomic(u32 word, struct a64_instruction *a64)
{
	u32 size = get_bits(word, 31, 30), opc = get_bits(word, 14, 12);
	bool acquire = get_bit(word, 23), swap = get_bit(word, 15);

	if (swap && opc == 4) { /* LDAPR */
		set_memory_access(a64, SPE_INSTRUCTION_EXTENDED, word, true);
		a64->flags = SPE_INSTRUCTION_ORDERED;
	} else if (swap && opc) { /* LD64B, ST64B and variants */
		set_memory_access(a64, SPE_INSTRUCTION_LS64, word, opc == 5);
		a64->bytes = 64;
		return;
	} else {
		set_atomic_access(a64, word, acquire || get_bit(word, 22));
		if (!swap && !acquire && get_bits(word, 4, 0) == 31)
			a64->flags |= SPE_INSTRUCTION_NO_RETURN;
	}
	a64->bytes = (u8)(1U << size);
}

/* LDRAA, LDRAB: load with pointer authentication; the offset has 10 bits. */
static void decode_load_authenticated(u32 word, struct a64_instruction *a64)
{
	set_memory_access(a64, SPE_INSTRUCTION_MEMORY, word, true);
	a64->bytes = 8;
	a64->offset =
		((s64)(get_bits(word, 22, 22) << 9 | get_bits(word, 20, 12)) ^ 512) * 8 - 512 * 8;
}

static void register_offset(u32 word, u32 log2_bytes, struct a64_instruction *a64)
{
	a64->index = (u8)get_bits(word, 20, 16);
	a64->extend = (u8)get_bits(word, 15, 13);
	a64->shift = (u8)(get_bit(word, 12) ? log2_bytes : 0);
}

/* Load or store of one register: bits 29 to 27 are 111. */
static void decode_single(u32 word, struct a64_instruction *a64)
{
	u32 size = get_bits(word, 31, 30), opc = get_bits(word, 23, 22);
	bool simd = get_bit(word, 26), immediate = get_bit(word, 24);
	u32 log2_bytes = simd && opc & 2 ? 4 : size;

	if (!immediate && get_bit(word, 21) && !simd && !get_bits(word, 11, 10)) {
		decode_atomic(word, a64);
		return;
	}
	if (!immediate && get_bit(word, 21) && get_bit(word, 10)) {
		if (size == 3 && !simd)
			decode_load_authenticated(word, a64);
		return;
	}
	if (!simd && size == 3 && opc == 2) {
		a64->kind = SPE_INSTRUCTION_PREFETCH;
		return;
	}
	set_memory_access(a64, SPE_INSTRUCTION_MEMORY, word, simd ? opc & 1 : opc != 0);
	a64->bytes = (u8)(1U << log2_bytes);
	if (immediate) {
		a64->offset = (s64)get_bits(word, 21, 10) << log2_bytes;
	} else if (get_bit(word, 21)) {
		register_offset(word, log2_bytes, a64);
	} else {
		a64->offset = get_signed_bits(word, 20, 12);
		a64->post = get_bits(word, 11, 10) == 1;
	}
	if (simd)
		set_simd_access(a64, a64->bytes);
}

/* LD1 to LD4 and ST1 to ST4 of whole registers, and of one element of each. */
static void decode_structure(u32 word, struct a64_instruction *a64)
{
	static const u8 registers[16] = { 4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2 };
	u32 count = registers[get_bits(word, 15, 12)], element = 8U << get_bit(word, 30);
	u32 scale = get_bits(word, 15, 14);

	if (get_bit(word, 24)) {
		count = (get_bits(word, 13, 13) << 1 | get_bits(word, 21, 21)) + 1;
		element = scale == 3 ? 1U << get_bits(word, 11, 10) : 1U << scale;
		if (scale == 2 && get_bit(word, 10))
			element = 8;
	}
	if (!count)
		return;
	set_memory_access(a64, SPE_INSTRUCTION_MEMORY, word, get_bit(word, 22));
	a64->flags = SPE_INSTRUCTION_SIMD_FP;
	a64->bytes = (u8)(count * element);
}

/* LDAPUR, STLUR, memory copies and sets, and accesses to Allocation Tags. */
static void decode_unscaled_or_tag(u32 word, struct a64_instruction *a64)
{
	u32 size = get_bits(word, 31, 30), opc = get_bits(word, 23, 22);

	if (get_bit(word, 21)) {
		if (size == 3 && !get_bit(word, 26)) {
			set_memory_access(a64, SPE_INSTRUCTION_TAG, word,
					  opc && !get_bits(word, 11, 10) && opc != 2);
			a64->offset = get_signed_bits(word, 20, 12) * 16;
			a64->post = get_bits(word, 11, 10) == 1;
			a64->bytes = 16;
		}
	} else if (get_bits(word, 11, 10) == 0 && !get_bit(word, 26)) {
		set_memory_access(a64, SPE_INSTRUCTION_EXTENDED, word, opc != 0);
		a64->flags = SPE_INSTRUCTION_ORDERED;
		a64->offset = get_signed_bits(word, 20, 12);
		a64->bytes = (u8)(1U << size);
	} else if (get_bits(word, 11, 10) == 1 && opc != 3) { /* CPY, CPYF: destination is Rd */
		set_memory_access(a64, SPE_INSTRUCTION_COPY, word, true);
		a64->stores = true;
	} else if (get_bits(word, 11, 10) == 1) { /* SET, SETG */
		set_memory_access(a64, SPE_INSTRUCTION_SET, word, false);
	}
}

static void decode_memory(u32 word, struct a64_instruction *a64)
{
	switch (get_bits(word, 29, 27)) {
	case 1:
		if (!get_bit(word, 26))
			decode_exclusive(word, a64);
		else if (!get_bit(word, 31))
			decode_structure(word, a64);
		break;
	case 3:
		if (!get_bit(word, 24))
			decode_literal(word, a64);
		else
			decode_unscaled_or_tag(word, a64);
		break;
	case 5:
		decode_pair(word, a64);
		break;
	case 7:
		decode_single(word, a64);
		break;
	default:
		break;
	}
}

/* ---- Data processing --------------------------------------------------------------------------- */

static void condition_set(struct a64_instruction *a64, u32 word, enum spe_condition condition)
{
	test_set(a64, A64_FLAGS, get_bits(word, 15, 12));
	a64->condition = (u8)condition;
}

static void decode_integer(u32 word, struct a64_instruction *a64)
{
	u32 class = get_bits(word, 28, 21);

	if (class == 0xd4 && !get_bit(word, 29)) { /* conditional select */
		static const u8 select[] = { SPE_CONDITION_SELECT, SPE_CONDITION_INCREMENT,
					     SPE_CONDITION_INVERSION, SPE_CONDITION_NEGATION };

		condition_set(a64, word,
			      select[get_bits(word, 30, 30) << 1 | get_bits(word, 10, 10)]);
	} else if (class == 0xd2 && get_bit(word, 29)) { /* conditional compare */
		condition_set(a64, word,
			      get_bit(word, 30) ? SPE_CONDITION_COMPARE :
						  SPE_CONDITION_COMPARE_NEGATIVE);
	} else if (class == 0xd6 && !get_bit(word, 30) && get_bits(word, 15, 11) == 1) {
		a64->effort = A64_DIVIDE;
	} else if (get_bits(word, 28, 24) == 0x1b) {
		a64->effort = A64_MULTIPLY;
	}
}

/* Return whether an Advanced SIMD instruction is a floating-point operation. */
static bool simd_is_float(u32 word)
{
	if (get_bits(word, 27, 24) == 0xf) /* by element: FMLA, FMLS, FMUL, FMULX */
		return (get_bits(word, 15, 12) & 3) == 1 && get_bit(word, 23) && !get_bit(word, 10);
	if (!get_bit(word, 21))
		return false;
	if (get_bit(word, 10)) /* three registers of one type */
		return get_bits(word, 15, 11) >= 0x18;
	/* FCM, FABS, FNEG and conversions have two registers. */
	return get_bits(word, 20, 17) == 0 && get_bits(word, 11, 10) == 2 &&
	       (get_bits(word, 16, 12) >= 0x16 ||
		(get_bits(word, 16, 12) >= 0x0c && get_bit(word, 23)));
}

static void decode_simd(u32 word, struct a64_instruction *a64)
{
	a64->effort = A64_FLOAT;
	if (!get_bit(word, 28) || get_bit(word, 30)) {
		a64->flags = SPE_INSTRUCTION_ASE;
		if (simd_is_float(word))
			a64->flags |= SPE_INSTRUCTION_FP;
		return;
	}
	a64->flags = SPE_INSTRUCTION_FP;
	if (get_bit(word, 24) || !get_bit(word, 21))
		return;
	if (get_bits(word, 15, 10) == 0x06 ||
	    (get_bits(word, 20, 15) == 0x03 && get_bits(word, 14, 10) == 0x10))
		a64->effort = A64_FLOAT_DIVIDE;
	else if (get_bits(word, 11, 10) == 3)
		condition_set(a64, word, SPE_CONDITION_SELECT);
	else if (get_bits(word, 11, 10) == 1)
		condition_set(a64, word, SPE_CONDITION_COMPARE);
}

/* SVE: the registers that select elements are unknown, so accesses have no address. */
static void decode_sve(u32 word, struct a64_instruction *a64)
{
	a64->kind = SPE_INSTRUCTION_SVE;
	a64->effort = A64_FLOAT;
	if (!get_bit(word, 31))
		return;
	set_memory_access(a64, SPE_INSTRUCTION_SVE_MEMORY, word, get_bits(word, 31, 29) != 7);
	a64->flags = SPE_INSTRUCTION_SECRET_ADDRESS;
}

void a64_decode(u32 word, struct a64_instruction *ret_a64)
{
	u32 group = get_bits(word, 28, 25);

	*ret_a64 = (struct a64_instruction){
		.kind = SPE_INSTRUCTION_OTHER,
		.test_register = A64_NO_REGISTER,
		.base = A64_NO_REGISTER,
		.index = A64_NO_REGISTER,
	};
	if (group == 2)
		decode_sve(word, ret_a64);
	else if ((group & 0xe) == 0xa)
		decode_branch_or_system(word, ret_a64);
	else if ((group & 5) == 4)
		decode_memory(word, ret_a64);
	else if ((group & 7) == 5)
		decode_integer(word, ret_a64);
	else if ((group & 7) == 7)
		decode_simd(word, ret_a64);
}

/* ---- Execution --------------------------------------------------------------------------------- */

/* Return register @number, where 31 is the zero register. */
static u64 register_read(const struct a64_registers *registers, u8 number)
{
	return number < ARRAY_SIZE(registers->x) ? registers->x[number] : 0;
}

/* Return whether a condition holds, as ConditionHolds() of the architecture does. */
static bool condition_holds(u32 pstate, u32 condition)
{
	bool n = get_bit(pstate, 31), z = get_bit(pstate, 30), c = get_bit(pstate, 29),
	     v = get_bit(pstate, 28);
	bool result = true;

	switch (condition >> 1) {
	case 0:
		result = z;
		break;
	case 1:
		result = c;
		break;
	case 2:
		result = n;
		break;
	case 3:
		result = v;
		break;
	case 4:
		result = c && !z;
		break;
	case 5:
		result = n == v;
		break;
	case 6:
		result = n == v && !z;
		break;
	default:
		return true;
	}
	return result != (condition & 1);
}

bool a64_condition_holds(const struct a64_instruction *a64, const struct a64_registers *registers)
{
	u64 value = register_read(registers, a64->test_register);

	if (a64->narrow)
		value = (u32)value;
	switch (a64->test) {
	case A64_FLAGS:
		return condition_holds(registers->pstate, a64->value);
	case A64_ZERO:
		return !value;
	case A64_NOT_ZERO:
		return value;
	case A64_BIT_CLEAR:
		return !(value >> a64->value & 1);
	case A64_BIT_SET:
		return value >> a64->value & 1;
	default:
		return true;
	}
}

/*
 * Replace the top bits, which may be a pointer authentication code or a tag, with copies of bit 55.
 */
static u64 make_address_canonical(u64 address)
{
	return address & SPE_BIT(55) ? address | SPE_MASK(63, 48) : address & SPE_MASK(47, 0);
}

u64 a64_compute_target(const struct a64_instruction *a64, const struct a64_registers *registers)
{
	if (a64->flags & SPE_INSTRUCTION_INDIRECT)
		return make_address_canonical(register_read(registers, a64->base));
	return registers->pc + (u64)a64->offset;
}

u64 a64_compute_address(const struct a64_instruction *a64, const struct a64_registers *registers)
{
	u64 address, index;

	if (a64->base == A64_NO_REGISTER)
		return registers->pc + (u64)a64->offset;
	address = a64->base == A64_SP ? registers->sp : registers->x[a64->base];
	if (a64->kind == SPE_INSTRUCTION_ZERO)
		return address & ~63ULL;
	if (!a64->post)
		address += (u64)a64->offset;
	if (a64->index == A64_NO_REGISTER)
		return address;
	index = register_read(registers, a64->index);
	if (a64->extend == 2)
		index = (u32)index;
	else if (a64->extend == 6)
		index = (u64)(s64)(s32)index;
	return address + (index << a64->shift);
}
