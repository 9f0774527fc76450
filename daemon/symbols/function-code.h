/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the instructions of a function. function_code_read() blocks; it starts two helper
 * processes, and stops them before it returns. Only commands use it; the daemon does not.
 */
#ifndef SPEPROF_FUNCTION_CODE_H
#define SPEPROF_FUNCTION_CODE_H

#include "attribution/attributor.h"
#include "symbol-folders.h"

/*
 * Limit for a function, bytes: instructions after the limit are not read. If the location is after
 * the limit, reading begins there.
 */
#define FUNCTION_CODE_MAX (1U << 20)

/**
 * struct function_instruction - an instruction
 * @offset: file offset
 * @size: bytes
 * @text: its text, untrusted; "" if it cannot be disassembled
 */
struct function_instruction {
	u64 offset;
	u32 size;
	char *text;
};

/**
 * struct function_code - the instructions of a function; all zeros: no instructions
 * @instruction: @count instructions in the order of their offsets, without gaps
 * @name: name of the function, untrusted; "" if it has none
 * @reason: a sentence that explains why instructions are missing; "" if none are missing
 */
struct function_code {
	struct function_instruction *instruction;
	u32 count;
	char name[512];
	char reason[192];
};

/**
 * function_code_read() - read the function that contains a location
 * @location: a location in a file
 * @folders: where the file is searched
 * @end: used if the file has no name for the function: file offset after the last instruction to
 * read. Reading then begins at @location
 * @ret_code: the function; free it with function_code_clear(), also on failure
 *
 * A file with another build id than that of @location is not read. Names in separate debug files
 * are not used.
 *
 * Return: 0; a negative errno if nothing was read: &function_code.reason has the reason.
 */
int function_code_read(const struct attribute_location *location,
		       const struct symbol_folders *folders, u64 end,
		       struct function_code *ret_code);

/** function_code_clear() - free the instructions */
void function_code_clear(struct function_code *code);

#endif
