/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads from debug information (DWARF), which may be hostile, where the variables and parameters of
 * a function are while it runs. Only the sandboxed reader uses it.
 */
#ifndef SPEPROF_VALUE_PLACE_H
#define SPEPROF_VALUE_PLACE_H

#include <elfutils/libdw.h>

#include "codec/env.h"

/* &value_place.base: the canonical frame address, which is SP at the entry of the function */
#define PLACE_FRAME 32

/**
 * struct value_place - a place of a variable, in code from @low to @high - 1
 * @base: register, 0 to 31, or PLACE_FRAME
 * @memory: the variable begins at the address @base + @offset; else @base is the value of the
 *	variable plus @offset
 * @type: declared type of the variable
 * @name: name of the variable, untrusted
 */
struct value_place {
	u64 low;
	u64 high;
	u8 base;
	bool memory;
	s64 offset;
	Dwarf_Die type;
	const char *name;
};

/** struct value_places - the places of all variables of a function, in no order */
struct value_places {
	struct value_place *place;
	u32 count;
	u32 capacity;
};

/**
 * value_places_read() - read the places of the variables of a function, and of inlined functions
 * @function: a DW_TAG_subprogram; its debug information must outlive @ret_places
 * @ret_places: the places; call value_places_clear()
 *
 * A variable has no place if its value is computed, or if it is in several pieces.
 *
 * Return: false if there are too many places, or if memory cannot be allocated.
 */
bool value_places_read(Dwarf_Die *function, struct value_places *ret_places);

/** value_places_clear() - free the places; afterwards there are none */
void value_places_clear(struct value_places *places);

#endif
