/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the type and the field of static data in debug information (DWARF), which may be hostile.
 * Only the sandboxed reader uses it.
 */
#ifndef SPEPROF_DEBUG_DATA_H
#define SPEPROF_DEBUG_DATA_H

#include <elfutils/libdw.h>

#include "codec/env.h"

#define DEBUG_TYPE_SIZE	 192 /* bytes of &debug_datum.type, including its NUL */
#define DEBUG_FIELD_SIZE 256 /* bytes of &debug_datum.field, including its NUL */

struct debug_data;

/**
 * struct debug_datum - the datum at an address; both names are untrusted
 * @type: type of the variable, without its array dimensions and qualifiers: "struct request"
 * @field: path of the field in @type, such as "node[].next"; the name of the variable if @type has
 *	no fields. "{a|b}" names all fields that may be at the address: members of a union, or
 *	bit-fields of the same storage unit. "[padding]" for bytes of no field
 */
struct debug_datum {
	char type[DEBUG_TYPE_SIZE];
	char field[DEBUG_FIELD_SIZE];
};

/**
 * debug_data_new() - collect the variables with a fixed address: globals and statics
 * @elf: the file with debug information; borrowed
 * @alt: file with shared debug information (dwz), borrowed; NULL for none
 * @ret_data: the variables; free them with debug_data_free()
 *
 * Return: 0; -ENODATA if there are no variables; -ENOMEM if memory cannot be allocated.
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

#endif
