/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds what the instructions of a function access: it follows the values of registers along all
 * paths through the function, and reads the places of variables from debug information (DWARF).
 * Code and debug information may be hostile. Only the sandboxed reader uses it.
 */
#ifndef SPEPROF_FUNCTION_VALUES_H
#define SPEPROF_FUNCTION_VALUES_H

#include <elfutils/libdw.h>

#include "codec/env.h"

/**
 * struct values_source - what an analysis reads; all members are borrowed
 * @read_code: reads the instruction at a virtual address; false if there is none
 * @find_global: finds the global variable at a virtual address, its declared type and the offset in
 *	it; false if there is none
 * @find_function: finds the function that begins at a virtual address; false if there is none
 * @outlines: the compiler moved parts of functions into functions that do not preserve registers
 * @unwinds: functions may catch exceptions of the functions that they call
 * @ctx: the first argument of @read_code
 * @data: the first argument of @find_global and @find_function
 */
struct values_source {
	bool (*read_code)(void *ctx, u64 address, u32 *ret_word);
	bool (*find_global)(void *data, u64 address, Dwarf_Die *ret_type, u64 *ret_offset);
	bool (*find_function)(void *data, u64 address, Dwarf_Die *ret_function);
	bool outlines;
	bool unwinds;
	void *ctx;
	void *data;
};

/** enum access_kind - what an access is known to be of */
enum access_kind {
	ACCESS_UNKNOWN, /* unknown memory */
	ACCESS_NONE, /* the instruction has no access with an address in a register */
	ACCESS_STACK, /* the stack frame of the function, but no variable */
	ACCESS_GLOBAL, /* memory with a fixed address */
	ACCESS_TYPED, /* a type */
};

/**
 * struct access_target - the target of an access
 * @kind: &enum access_kind
 * @type: ACCESS_TYPED: the declared type
 * @offset: ACCESS_TYPED: bytes from the start of the type; ACCESS_GLOBAL: the virtual address
 * @name: ACCESS_TYPED: name of the variable, or of the pointer; NULL if there are several. Valid as
 *	long as the debug information
 * @pointer: ACCESS_TYPED: @name is that of the pointer
 */
struct access_target {
	enum access_kind kind;
	Dwarf_Die type;
	u64 offset;
	const char *name;
	bool pointer;
};

struct function_values;

/**
 * function_values_new() - analyze a function
 * @function: a DW_TAG_subprogram
 * @source: copied
 * @ret_values: the result; free it with function_values_free()
 *
 * Return: 0; -E2BIG if the function or its variables exceed a limit; -ENOMEM.
 */
int function_values_new(Dwarf_Die *function, const struct values_source *source,
			struct function_values **ret_values);

/** function_values_free() - free a result, which may be NULL; returns NULL */
struct function_values *function_values_free(struct function_values *values);

/**
 * function_values_find_access() - find what an instruction accesses
 * @address: virtual address of the instruction
 * @ret_target: the target
 */
void function_values_find_access(struct function_values *values, u64 address,
				 struct access_target *ret_target);

#endif
