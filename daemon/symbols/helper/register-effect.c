// SPDX-License-Identifier: LGPL-2.1-or-later
#include "register-effect.h"

#include "util/a64.h"

/* Registers that a system call may write. */
#define SYSTEM_CALL_WRITES 0x4007ffff

static u32 get_bits(u32 word, unsigned int high, unsigned int low)
{
	return word >> low & ((2U << (high - low)) - 1);
}

static bool get_bit(u32 word, unsigned int number)
{
	return word >> number & 1;
}

/* Return the register of a field in which 31 is the zero register. */
static u8 get_register(u32 word, unsigned int low)
{
	u32 number = get_bits(word, low + 4, low);

	return (u8)(number == 31 ? REGISTER_ZERO : number);
}

static u32 make_mask(u8 number)
{
	return number == REGISTER_ZERO ? 0 : 1U << number;
}

static void set_result(struct register_effect *e, enum effect_kind kind, u8 rd)
{
	e->kind = (u8)kind;
	e->rd = rd;
	e->writes |= make_mask(rd);
}

/* ---- Loads and stores ---- */

/* The register in the lowest bits of @word, and @second, get memory; @wide: 8 bytes each. */
static void set_load(struct register_effect *e, u32 word, bool wide, u8 second)
{
	e->writes |= make_mask(get_register(word, 0)) | make_mask(second);
	if (!wide)
		return;
	set_result(e, EFFECT_LOAD, get_register(word, 0));
	e->second = second;
}

static void set_writeback(struct register_effect *e, u32 word, s64 step)
{
	e->base = (u8)get_bits(word, 9, 5);
	e->step = step;
	e->writes |= make_mask(e->base);
}

static void decode_exclusive(u32 word, struct register_effect *e)
{
	u32 size = get_bits(word, 31, 30), status = get_bits(word, 20, 16);
	bool ordered = get_bit(word, 23), pair = get_bit(word, 21);

	if (pair && (ordered || size < 2)) /* CAS, CASP */
		e->writes |= make_mask(get_register(word, 16)) |
			     (ordered ? 0 : make_mask((u8)((status + 1) & 31)));
	else if (get_bit(word, 22))
		set_load(e, word, size == 3, pair ? get_register(word, 10) : REGISTER_ZERO);
	else if (!ordered)
		e->writes |= make_mask(get_register(word, 16));
}

static void decode_pair(u32 word, s64 offset, struct register_effect *e)
{
	if (get_bit(word, 22) && !get_bit(word, 26))
		set_load(e, word, get_bits(word, 31, 30) == 2, get_register(word, 10));
	if (get_bit(word, 23))
		set_writeback(e, word, offset);
}

/* Write each register that a field may name. */
static void set_unknown(u32 word, struct register_effect *e)
{
	e->kind = EFFECT_NONE;
	e->writes |= make_mask((u8)get_bits(word, 4, 0)) | make_mask((u8)get_bits(word, 9, 5)) |
		     make_mask((u8)get_bits(word, 14, 10)) | make_mask((u8)get_bits(word, 20, 16));
}

static void decode_atomic(u32 word, struct register_effect *e)
{
	u32 opc = get_bits(word, 14, 12);

	if (get_bit(word, 15) && opc == 4) /* LDAPR */
		set_load(e, word, get_bits(word, 31, 30) == 3, REGISTER_ZERO);
	else if (get_bit(word, 15) && opc) /* LD64B writes 8 registers. */
		e->writes = UINT32_MAX;
	else
		e->writes |= make_mask(get_register(word, 0));
}

static void decode_single(u32 word, s64 offset, struct register_effect *e)
{
	u32 size = get_bits(word, 31, 30), opc = get_bits(word, 23, 22);
	bool simd = get_bit(word, 26), immediate = get_bit(word, 24), by_register;

	by_register = !immediate && get_bit(word, 21);
	if (by_register && get_bits(word, 11, 10) != 2) {
		if (get_bits(word, 11, 10) || simd)
			set_unknown(word, e);
		else
			decode_atomic(word, e);
		return;
	}
	if (!simd && opc && !(size == 3 && opc == 2))
		set_load(e, word, size == 3 && opc == 1, REGISTER_ZERO);
	if (!immediate && !by_register && get_bit(word, 10))
		set_writeback(e, word, offset);
}

static void decode_memory(u32 word, struct register_effect *e)
{
	u32 group = get_bits(word, 29, 27), opc = get_bits(word, 31, 30);
	struct a64_instruction a64;

	a64_decode(word, &a64);
	if (group == 1 && !get_bit(word, 26)) {
		decode_exclusive(word, e);
	} else if (group == 1 && !get_bit(word, 31)) {
		if (get_bit(word, 23) && get_bits(word, 20, 16) == 31 && a64.bytes)
			set_writeback(e, word, a64.bytes);
		else if (get_bit(word, 23))
			set_unknown(word, e);
	} else if (group == 3 && !get_bit(word, 24)) {
		if (!get_bit(word, 26) && opc != 3)
			set_load(e, word, opc == 1, REGISTER_ZERO);
	} else if (group == 3 && !get_bit(word, 21) && !get_bits(word, 11, 10) &&
		   !get_bit(word, 26)) {
		if (get_bits(word, 23, 22))
			set_load(e, word, opc == 3 && get_bits(word, 23, 22) == 1, REGISTER_ZERO);
	} else if (group == 5 && !get_bit(word, 25)) {
		decode_pair(word, a64.offset, e);
	} else if (group == 7 && !get_bit(word, 25)) {
		decode_single(word, a64.offset, e);
	} else {
		set_unknown(word, e);
	}
}

/* ---- Data processing with an immediate ---- */

static void decode_add_immediate(u32 word, struct register_effect *e)
{
	s64 immediate = (s64)get_bits(word, 21, 10) << (get_bit(word, 22) ? 12 : 0);

	set_result(e, EFFECT_ADD_IMMEDIATE,
		   get_bit(word, 29) ? get_register(word, 0) : (u8)get_bits(word, 4, 0));
	e->rn = (u8)get_bits(word, 9, 5);
	e->immediate = get_bit(word, 30) ? -immediate : immediate;
	e->narrow = !get_bit(word, 31);
}

static void decode_move_wide(u32 word, struct register_effect *e)
{
	u32 opc = get_bits(word, 30, 29), shift = get_bits(word, 22, 21) * 16;
	u64 value = (u64)get_bits(word, 20, 5);

	e->narrow = !get_bit(word, 31);
	set_result(e, opc == 3 ? EFFECT_INSERT : EFFECT_CONSTANT, get_register(word, 0));
	e->shift = (u8)shift;
	if (opc == 3)
		e->immediate = (s64)value;
	else
		e->immediate = (s64)(opc ? value << shift : ~(value << shift));
}

/* SBFM and UBFM: only moves to the left, which include LSL, and SXTW. */
static void decode_bitfield(u32 word, struct register_effect *e)
{
	u32 bits = get_bit(word, 31) ? 64 : 32, opc = get_bits(word, 30, 29);
	u32 rotate = get_bits(word, 21, 16), last = get_bits(word, 15, 10);
	bool left = last < rotate && rotate < bits;
	bool extends = !rotate && last == 31 && bits == 64;

	set_result(e, EFFECT_NONE, get_register(word, 0));
	if ((opc != 0 && opc != 2) || (!left && !extends))
		return;
	e->kind = EFFECT_SHIFT;
	e->rn = get_register(word, 5);
	e->shift = (u8)(left ? bits - rotate : 0);
	e->narrow = bits == 32;
	e->bits = (u8)(left && last + 1 == rotate ? 64 : last + 1);
}

static void decode_immediate(u32 word, u64 pc, struct register_effect *e)
{
	u32 class = get_bits(word, 25, 23);
	s64 distance =
		(s64)((u64)(get_bits(word, 23, 5) << 2 | get_bits(word, 30, 29)) << 43) >> 43;

	if (class < 2) { /* ADR, ADRP */
		set_result(e, EFFECT_CONSTANT, get_register(word, 0));
		e->immediate = get_bit(word, 31) ? (s64)(pc & ~0xfffULL) + distance * 4096 :
						   (s64)pc + distance;
	} else if (class == 2) {
		decode_add_immediate(word, e);
	} else if (class == 5) {
		decode_move_wide(word, e);
	} else if (class == 6) {
		decode_bitfield(word, e);
	} else if (class == 4 && get_bits(word, 30, 29) == 3) { /* ANDS */
		set_result(e, EFFECT_NONE, get_register(word, 0));
	} else {
		set_result(e, EFFECT_NONE, (u8)get_bits(word, 4, 0));
	}
}

/* ---- Data processing of registers ---- */

static void decode_add_register(u32 word, struct register_effect *e)
{
	bool extended = get_bit(word, 21), flags = get_bit(word, 29);

	set_result(e, EFFECT_ADD,
		   extended && !flags ? (u8)get_bits(word, 4, 0) : get_register(word, 0));
	e->rn = extended ? (u8)get_bits(word, 9, 5) : get_register(word, 5);
	e->rm = get_register(word, 16);
	e->shift = (u8)(extended ? get_bits(word, 12, 10) : get_bits(word, 15, 10));
	e->subtract = get_bit(word, 30);
	e->narrow = !get_bit(word, 31);
	if (extended)
		e->bits = (u8)(8U << get_bits(word, 14, 13));
	if (get_bits(word, 23, 22))
		e->kind = EFFECT_NONE;
}

static void decode_multiply(u32 word, struct register_effect *e)
{
	u32 class = get_bits(word, 23, 21);

	set_result(e, EFFECT_NONE, get_register(word, 0));
	if (class != 0 && class != 1 && class != 5)
		return;
	e->kind = EFFECT_MULTIPLY;
	e->rn = get_register(word, 5);
	e->rm = get_register(word, 16);
	e->ra = get_register(word, 10);
	e->subtract = get_bit(word, 15);
	e->narrow = !get_bit(word, 31);
	e->bits = class ? 32 : 64;
}

static void decode_register(u32 word, struct register_effect *e)
{
	u32 class = get_bits(word, 28, 24);

	if (class == 0x0b) {
		decode_add_register(word, e);
	} else if (class == 0x1b) {
		decode_multiply(word, e);
	} else if (get_bits(word, 28, 21) == 0xd2) {
		return; /* CCMP and CCMN write only flags. */
	} else {
		set_result(e, EFFECT_NONE, get_register(word, 0));
	}
	e->narrow = !get_bit(word, 31);
	if ((word & 0x7fe0ffe0) == 0x2a0003e0) { /* MOV */
		e->kind = EFFECT_MOVE;
		e->rn = get_register(word, 16);
	} else if ((word & 0x7fe00c00) == 0x1a800000) { /* CSEL */
		e->kind = EFFECT_SELECT;
		e->rn = get_register(word, 5);
		e->rm = get_register(word, 16);
	}
}

/* SIMD and floating-point instructions that may write a general register. */
static bool simd_writes_register(u32 word)
{
	if (get_bits(word, 28, 24) == 0x1e)
		return !get_bit(word, 21) || !get_bits(word, 15, 10);
	return get_bits(word, 28, 24) == 0x0e && !get_bits(word, 23, 21) && !get_bit(word, 15) &&
	       get_bit(word, 10);
}

static void decode_system(u32 word, struct register_effect *e)
{
	if (get_bits(word, 31, 24) == 0xd4)
		e->writes = SYSTEM_CALL_WRITES;
	else if (get_bits(word, 31, 12) == 0xd5032) /* hints, which authenticate X17 and X30 */
		e->writes = 1U << 30 | 1U << 17 | 1U << 16;
	else if (get_bits(word, 31, 24) == 0xd5 && get_bit(word, 21))
		e->writes = make_mask(get_register(word, 0));
}

void register_effect_decode(u32 word, u64 pc, struct register_effect *ret_effect)
{
	u32 group = get_bits(word, 28, 25);

	*ret_effect = (struct register_effect){
		.rd = REGISTER_ZERO,
		.rn = REGISTER_ZERO,
		.rm = REGISTER_ZERO,
		.ra = REGISTER_ZERO,
		.second = REGISTER_ZERO,
		.base = REGISTER_ZERO,
		.bits = 64,
	};
	if ((group & 0xe) == 8)
		decode_immediate(word, pc, ret_effect);
	else if ((group & 0xe) == 0xa)
		decode_system(word, ret_effect);
	else if ((group & 5) == 4)
		decode_memory(word, ret_effect);
	else if ((group & 7) == 5)
		decode_register(word, ret_effect);
	else if ((group & 7) != 7)
		ret_effect->writes = 1U << get_bits(word, 4, 0);
	else if (simd_writes_register(word))
		set_result(ret_effect, EFFECT_NONE, get_register(word, 0));
}
