/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decode instructions of the A64 set as far as an SPU records their properties (D17.6): branches
 * and their conditions, addresses of loads and stores, and the class of all other instructions.
 */
#ifndef SPEPROF_A64_H
#define SPEPROF_A64_H

#include "codec/env.h"

/* Register number that stands for no register. */
#define A64_NO_REGISTER 0xff
/* The stack pointer as the base of an address; in other fields 31 is the zero register. */
#define A64_SP 31

/**
 * struct a64_registers - the registers before an instruction is executed
 * @pc: address of the instruction
 * @x: X0 to X30
 * @sp: the stack pointer
 * @pstate: PSTATE, with N, Z, C and V in bits 31 to 28
 */
struct a64_registers {
	u64 pc;
	u64 x[31];
	u64 sp;
	u32 pstate;
};

/** enum a64_test - the condition of a branch or of a conditional operation */
enum a64_test {
	A64_ALWAYS,
	A64_FLAGS, /* PSTATE.{N, Z, C, V} meet the condition &a64_instruction.value */
	A64_ZERO, /* the register is zero, CBZ */
	A64_NOT_ZERO,
	A64_BIT_CLEAR, /* bit &a64_instruction.value of the register is 0, TBZ */
	A64_BIT_SET,
};

/** enum a64_effort - classes of instructions by the time that they need, for models of latency */
enum a64_effort {
	A64_SIMPLE,
	A64_MULTIPLY, /* integer multiplication */
	A64_DIVIDE, /* integer division */
	A64_FLOAT, /* floating-point and SIMD operations */
	A64_FLOAT_DIVIDE, /* floating-point division and square root */
};

/**
 * struct a64_instruction - a decoded instruction
 * @flags: SPE_INSTRUCTION_*, as far as the encoding alone determines them
 * @offset: branch: bytes from the PC to the target; load or store: offset of the address, bytes
 * @kind: &enum spe_instruction_kind
 * @effort: &enum a64_effort
 * @test: &enum a64_test
 * @value: argument of @test
 * @condition: &enum spe_condition of an operation that is no branch
 * @test_register: register of @test
 * @base: register of the address or, if @flags has SPE_INSTRUCTION_INDIRECT, of the target;
 *	A64_NO_REGISTER: the PC
 * @index: register that is added to the address; A64_NO_REGISTER: none
 * @extend: extension of @index, as encoded in the field "option"
 * @shift: number of bits by which @index is shifted
 * @bytes: bytes of the access; 0: the instruction makes no access with a known address
 * @loads, @stores: whether the access reads and writes memory
 * @narrow: whether @test_register is 32 bits wide
 * @post: whether the address is @base alone, and @offset is added afterwards
 */
struct a64_instruction {
	u64 flags;
	s64 offset;
	u8 kind;
	u8 effort;
	u8 test;
	u8 value;
	u8 condition;
	u8 test_register;
	u8 base;
	u8 index;
	u8 extend;
	u8 shift;
	u8 bytes;
	bool loads;
	bool stores;
	bool narrow;
	bool post;
};

/**
 * a64_decode() - decode an instruction
 * @word: the instruction, any value
 * @ret_a64: the result; SPE_INSTRUCTION_OTHER for an encoding that is unknown
 */
void a64_decode(u32 word, struct a64_instruction *ret_a64);

/**
 * a64_condition_holds() - return whether the condition of an instruction holds; true if it has
 * none
 */
bool a64_condition_holds(const struct a64_instruction *a64, const struct a64_registers *registers);

/**
 * a64_compute_target() - compute the target of a branch, whether it is taken or not
 *
 * Pointer authentication codes are removed, as the processor does before it branches.
 */
u64 a64_compute_target(const struct a64_instruction *a64, const struct a64_registers *registers);

/** a64_compute_address() - compute the address of the access; @a64->bytes is not 0 */
u64 a64_compute_address(const struct a64_instruction *a64, const struct a64_registers *registers);

#endif
