/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names types, and finds the fields of a type at an offset, in debug information (DWARF) that may
 * be hostile. Only the sandboxed reader uses it.
 */
#ifndef SPEPROF_DEBUG_TYPE_H
#define SPEPROF_DEBUG_TYPE_H

#include <elfutils/libdw.h>

#include "codec/env.h"

#define DEBUG_TYPE_SIZE	 192 /* bytes of &debug_datum.type, including its NUL */
#define DEBUG_FIELD_SIZE 256 /* bytes of &debug_datum.field, including its NUL */

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

/** debug_type_is_c() - return whether the unit of a DIE is written in C */
bool debug_type_is_c(Dwarf_Die *die);

/** debug_type_get_declared() - get the declared type of a DIE; false if it has none */
bool debug_type_get_declared(Dwarf_Die *die, Dwarf_Die *ret_type);

/**
 * debug_type_get_target() - get the type that a pointer or reference points to
 * @type: any type
 * @ret_target: the declared type of the target; unchanged on failure
 * @ret_size: its size, above 0 bytes; unchanged on failure
 *
 * Return: false if @type is no pointer, or if the target has no size, such as void.
 */
bool debug_type_get_target(Dwarf_Die *type, Dwarf_Die *ret_target, u64 *ret_size);

/**
 * debug_type_describe() - name a type and the field at an offset
 * @declared: the type
 * @offset: bytes from its start. It is not compared with the size of the type
 * @name: the field, if the type has none
 * @ret_datum: the names; unchanged on failure
 *
 * Return: false if the type is too complex, or if it has a base class that is only found at run
 * time.
 */
bool debug_type_describe(Dwarf_Die *declared, u64 offset, const char *name,
			 struct debug_datum *ret_datum);

/**
 * debug_type_find_scalar() - find the type without fields that begins at an offset
 * @declared, @offset: as for debug_type_describe()
 * @ret_type: a type that is no structure, union or array; unchanged on failure
 *
 * Return: whether there is exactly one. In unions and bit-fields there may be several.
 */
bool debug_type_find_scalar(Dwarf_Die *declared, u64 offset, Dwarf_Die *ret_type);

/** debug_type_has_fields() - return whether a type is a structure, a class, a union or an array */
bool debug_type_has_fields(Dwarf_Die *declared);

/** debug_type_is_open() - return whether a structure ends with an array without a size */
bool debug_type_is_open(Dwarf_Die *declared);

/**
 * debug_type_find_array() - find the array in a type that a variable index can select from
 * @declared: the type
 * @step: bytes by which the index moves the address, above 0
 * @bytes: arrays of single bytes are excluded if this size of an access is above 1
 * @ret_start: offset of the array in the type; unchanged on failure
 *
 * Return: whether exactly one outermost array has elements of @step bytes.
 */
bool debug_type_find_array(Dwarf_Die *declared, u64 step, u64 bytes, u64 *ret_start);

#endif
