/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the type and the field of static data in debug information (DWARF), which may be hostile.
 * Only the sandboxed reader uses it.
 */
#ifndef SPEPROF_DEBUG_DATA_H
#define SPEPROF_DEBUG_DATA_H

#include "debug-type.h"

struct debug_data;

/**
 * struct debug_code - reads the code of the file
 * @read: reads the instruction at a virtual address; false if there is none
 * @outlines: as &struct values_source
 * @handlers: the file has handlers of exceptions
 * @ctx: the first argument of @read
 */
struct debug_code {
	bool (*read)(void *ctx, u64 address, u32 *ret_word);
	bool outlines;
	bool handlers;
	void *ctx;
};

/** enum debug_access - why the datum of an instruction is known or unknown */
enum debug_access {
	DEBUG_ACCESS_FOUND,
	DEBUG_ACCESS_UNKNOWN, /* the address comes from unknown memory, or is computed */
	DEBUG_ACCESS_STACK, /* the stack frame, but no variable: saved registers, spilled values */
	DEBUG_ACCESS_NO_DATA, /* the function has no debug information, or is too large */
};

/**
 * debug_data_new() - collect the functions, and the variables with a fixed address: globals and statics
 * @elf: the file with debug information; borrowed
 * @alt: file with shared debug information (dwz), borrowed; NULL for none
 * @ret_data: the variables; free them with debug_data_free()
 *
 * Return: 0; -ENODATA if there are no variables and functions; -ENOMEM if memory cannot be allocated.
 */
int debug_data_new(Elf *elf, Elf *alt, struct debug_data **ret_data);

/** debug_data_free() - free the variables; @data may be NULL. Returns NULL */
struct debug_data *debug_data_free(struct debug_data *data);

/**
 * debug_data_find() - find the datum at an address
 * @vaddr: virtual address in the file
 * @ret_datum: the datum; unchanged if there is none
 *
 * Return: whether a variable with a complete type is at the address. It is false, too, if the type
 * is too complex, or if it has a base class that is only found at run time.
 */
bool debug_data_find(const struct debug_data *data, u64 vaddr, struct debug_datum *ret_datum);

/**
 * debug_data_find_access() - find the datum that an instruction of the A64 set loads or stores
 * @code: the code of the file
 * @vaddr: virtual address of the instruction in the file
 * @ret_datum: the datum; unchanged unless DEBUG_ACCESS_FOUND. If a pointer to a type without fields
 *	is followed, &debug_datum.field is the name of the pointer, after a "*"
 *
 * The last function is remembered, so addresses in ascending order are faster.
 */
enum debug_access debug_data_find_access(struct debug_data *data, const struct debug_code *code,
					 u64 vaddr, struct debug_datum *ret_datum);

#endif
