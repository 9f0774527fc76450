/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disassembles instructions with libopcodes. The code may be hostile, so only the sandboxed reader
 * disassembles it. The library is loaded at run time, because its name and interface change with
 * each release of binutils, and because only "speprof annotate" needs it.
 */
#ifndef SPEPROF_DISASSEMBLER_H
#define SPEPROF_DISASSEMBLER_H

#include "codec/env.h"

/**
 * struct disassembler_code - code to disassemble
 * @bytes, @size: the code
 * @address: virtual address of its first byte
 * @machine: EM_* of the ELF file
 * @name: writes the name of an address, such as "main+0x10", into @size bytes; false if it has none
 * @ctx: argument of @name
 */
struct disassembler_code {
	const u8 *bytes;
	size_t size;
	u64 address;
	u16 machine;
	bool (*name)(void *ctx, u64 address, char *to, size_t size);
	void *ctx;
};

/**
 * disassembler_load_libraries() - load the installed libraries
 *
 * Call it before the process enters the sandbox, which permits no new executable memory.
 */
void disassembler_load_libraries(void);

/**
 * disassembler_print_instruction() - disassemble one instruction
 * @code: the code
 * @at: offset of the instruction, below &disassembler_code.size
 * @ret_text: receives its text; "" if no library supports this machine
 * @size: size of @ret_text, bytes
 *
 * Return: size of the instruction in bytes, from 1 to the size of the rest of the code.
 */
size_t disassembler_print_instruction(const struct disassembler_code *code, size_t at,
				      char *ret_text, size_t size);

#endif
