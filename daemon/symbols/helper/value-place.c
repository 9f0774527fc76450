// SPDX-License-Identifier: LGPL-2.1-or-later
#include "value-place.h"

#include <dwarf.h>
#include <stdlib.h>

#include "debug-type.h"
#include "util/array.h"

#define PLACES_MAX (1U << 16) /* maximum number of places of a function */
#define SCOPES_MAX 64 /* maximum depth of nested scopes of a function */
#define VISITS_MAX (1U << 18) /* maximum number of DIEs and location entries that are read */
#define REGISTERS  32 /* DWARF numbers of X0 to X30 and SP are 0 to 31 */

/**
 * struct place_reader - reads the places of a function
 * @frame_base, @frame_offset: the frame base is this register plus this offset; REGISTER_ANY:
 *	unknown
 * @visits: number of DIEs and location entries that were read
 */
struct place_reader {
	struct value_places places;
	u8 frame_base;
	s64 frame_offset;
	u32 visits;
};

#define FRAME_UNKNOWN 0xff

/* Get the register of DW_OP_reg0 and following, or DW_OP_breg0 and following. */
static bool get_register(const Dwarf_Op *op, int first, u8 *ret_register)
{
	if (op->atom < first || op->atom >= first + REGISTERS)
		return false;
	*ret_register = (u8)(op->atom - first);
	return true;
}

static void read_frame_base(struct place_reader *reader, Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t length;

	reader->frame_base = FRAME_UNKNOWN;
	if (!dwarf_attr(function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation(&attr, &op, &length) || length != 1)
		return;
	if (op->atom == DW_OP_call_frame_cfa)
		reader->frame_base = PLACE_FRAME;
	else if (get_register(op, DW_OP_breg0, &reader->frame_base))
		reader->frame_offset = (s64)op->number;
	else
		get_register(op, DW_OP_reg0, &reader->frame_base);
}

/* Decode a location; false if it is not supported. */
static bool decode_location(const struct place_reader *reader, const Dwarf_Op *op, size_t length,
			    struct value_place *place)
{
	bool value = length == 2 && op[1].atom == DW_OP_stack_value;

	if (length == 1 && get_register(op, DW_OP_reg0, &place->base)) {
		place->memory = false;
		place->offset = 0;
		return true;
	}
	if (length != 1 && !value)
		return false;
	place->memory = !value;
	if (get_register(op, DW_OP_breg0, &place->base)) {
		place->offset = value ? (s64)(0 - op->number) : (s64)op->number;
		return true;
	}
	if (op->atom != DW_OP_fbreg || value || reader->frame_base == FRAME_UNKNOWN)
		return false;
	place->base = reader->frame_base;
	place->offset = (s64)((u64)reader->frame_offset + op->number);
	return true;
}

static bool place_add(struct place_reader *reader, const struct value_place *place)
{
	struct value_places *p = &reader->places;
	struct value_place *grown =
		array_reserve(p->place, &p->capacity, p->count + 1, sizeof(*grown), PLACES_MAX);

	if (!grown)
		return false;
	p->place = grown;
	p->place[p->count++] = *place;
	return true;
}

/* Add a place that is valid in a whole scope. */
static bool place_add_in_scope(struct place_reader *reader, Dwarf_Die *scope,
			       struct value_place *place)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(scope, at, &base, &low, &high)) > 0) {
		place->low = low;
		place->high = high;
		if (++reader->visits > VISITS_MAX || !place_add(reader, place))
			return false;
	}
	return true;
}

static bool variable_add_places(struct place_reader *reader, Dwarf_Die *scope, Dwarf_Die *die)
{
	struct value_place place = { .name = NULL };
	Dwarf_Addr base, low, high;
	Dwarf_Attribute attr, name;
	ptrdiff_t at = 0;
	Dwarf_Op *op;
	size_t length;

	if (!dwarf_attr(die, DW_AT_location, &attr) || !debug_type_get_declared(die, &place.type))
		return true;
	if (dwarf_attr_integrate(die, DW_AT_name, &name))
		place.name = dwarf_formstring(&name);
	if (!place.name)
		place.name = "(anonymous)";
	while ((at = dwarf_getlocations(&attr, at, &base, &low, &high, &op, &length)) > 0) {
		if (++reader->visits > VISITS_MAX)
			return false;
		if (!length || !decode_location(reader, op, length, &place))
			continue;
		place.low = low;
		place.high = high;
		if (low || high != (Dwarf_Addr)-1 ? !place_add(reader, &place) :
						    !place_add_in_scope(reader, scope, &place))
			return false;
	}
	return true;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Use no recursion, because the depth is not trusted. */
static bool read_scopes(struct place_reader *reader, Dwarf_Die *function)
{
	Dwarf_Die scope[SCOPES_MAX];
	u32 depth = 1;

	scope[0] = *function;
	if (dwarf_child(function, &scope[1]))
		return true;
	for (;;) {
		int tag = dwarf_tag(&scope[depth]);

		if (++reader->visits > VISITS_MAX ||
		    ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
		     !variable_add_places(reader, &scope[depth - 1], &scope[depth])))
			return false;
		if (is_scope(tag) && depth + 1 < SCOPES_MAX &&
		    !dwarf_child(&scope[depth], &scope[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&scope[depth], &scope[depth])) {
			if (!--depth)
				return true;
		}
	}
}

bool value_places_read(Dwarf_Die *function, struct value_places *ret_places)
{
	struct place_reader reader = { .frame_base = FRAME_UNKNOWN };

	read_frame_base(&reader, function);
	if (!read_scopes(&reader, function)) {
		value_places_clear(&reader.places);
		return false;
	}
	*ret_places = reader.places;
	return true;
}

void value_places_clear(struct value_places *places)
{
	free(places->place);
	*places = (struct value_places){ .count = 0 };
}
