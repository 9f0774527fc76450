/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describes what an instruction of the A64 set does to the general registers, as far as the origin
 * of a pointer can be followed. util/a64.h describes its access to memory.
 */
#ifndef SPEPROF_REGISTER_EFFECT_H
#define SPEPROF_REGISTER_EFFECT_H

#include "codec/env.h"

#define REGISTER_SP   31 /* the stack pointer, after X0 to X30 */
#define REGISTER_ZERO 32 /* the zero register, or no register */

/** enum effect_kind - how the value of &register_effect.rd is computed */
enum effect_kind {
	EFFECT_NONE, /* no register gets a value that can be followed */
	EFFECT_MOVE, /* rn */
	EFFECT_SELECT, /* rn or rm */
	EFFECT_CONSTANT, /* immediate */
	EFFECT_INSERT, /* rd, of which 16 bits from bit @shift on are replaced by immediate */
	EFFECT_ADD_IMMEDIATE, /* rn + immediate */
	EFFECT_ADD, /* rn + (rm << shift), or rn - (rm << shift) */
	EFFECT_SHIFT, /* rn << shift */
	EFFECT_MULTIPLY, /* ra + rn * rm, or ra - rn * rm */
	EFFECT_LOAD, /* 8 bytes of memory, and for @second the 8 bytes after them */
};

/**
 * struct register_effect - what an instruction does to general registers
 * @kind: &enum effect_kind
 * @rd, @rn, @rm, @ra: registers of @kind: 0 to 30, REGISTER_SP or REGISTER_ZERO
 * @second: EFFECT_LOAD: the second register of a pair, or REGISTER_ZERO
 * @shift: number of bits, 0 to 63
 * @narrow: the result has 32 bits, and zeros above them
 * @bits: only this number of low bits of rn, or of rm of EFFECT_ADD, or of rn and rm of
 *	EFFECT_MULTIPLY, is read; 64 for all
 * @subtract: EFFECT_ADD and EFFECT_MULTIPLY subtract
 * @immediate: operand of @kind
 * @writes: registers that get another value: bit n for Xn, bit 31 for SP. It includes @rd
 * @base: register of an access that is increased by @step; REGISTER_ZERO for none
 * @step: bytes
 */
struct register_effect {
	u8 kind;
	u8 rd;
	u8 rn;
	u8 rm;
	u8 ra;
	u8 second;
	u8 shift;
	bool narrow;
	u8 bits;
	bool subtract;
	s64 immediate;
	u32 writes;
	u8 base;
	s64 step;
};

/**
 * register_effect_decode() - decode the effect of an instruction on the general registers
 * @word: the instruction, any value. The effect of a call does not include what the callee writes
 * @pc: its address
 * @ret_effect: the effect. An unknown instruction writes each register that its fields may name
 */
void register_effect_decode(u32 word, u64 pc, struct register_effect *ret_effect);

#endif
