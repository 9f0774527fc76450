// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-type.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define NESTING_MAX 16 /* maximum depth of nested fields, and of types that refer to types */
#define STEPS_MAX   16384 /* maximum number of DIEs that are read to find a field */

bool debug_type_get_declared(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret_type);
}

/* Get the type of @die without typedefs and qualifiers; false if it has none. */
static bool get_plain_type(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	return debug_type_get_declared(die, ret_type) && !dwarf_peel_type(ret_type, ret_type);
}

/* ---- Names of types ---- */

bool debug_type_is_c(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_srclang(dwarf_diecu(die, &unit, NULL, NULL));

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11;
}

static const char *get_keyword(Dwarf_Die *type)
{
	if (!debug_type_is_c(type))
		return "";
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

/*
 * Follow pointers, arrays, qualifiers, and typedefs of types without a name of their own. Count the
 * pointers.
 */
static const char *type_find_name(Dwarf_Die *from, const char **ret_keyword, u32 *ret_pointers)
{
	Dwarf_Die type = *from;
	const char *alias = NULL;

	*ret_keyword = "";
	*ret_pointers = 0;
	for (u32 i = 0; i < NESTING_MAX; i++) {
		int tag = dwarf_tag(&type);
		Dwarf_Attribute attr;

		if (tag == DW_TAG_typedef && !alias)
			alias = dwarf_diename(&type);
		*ret_pointers += tag == DW_TAG_pointer_type;
		if (tag == DW_TAG_subroutine_type)
			return alias ?: "function";
		if (tag != DW_TAG_pointer_type && tag != DW_TAG_array_type &&
		    tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type &&
		    tag != DW_TAG_atomic_type) {
			if (!dwarf_diename(&type) && alias)
				return alias;
			*ret_keyword = get_keyword(&type);
			return dwarf_diename(&type) ?: "(anonymous)";
		}
		if (!dwarf_attr_integrate(&type, DW_AT_type, &attr))
			return alias ?: "void";
		if (!dwarf_formref_die(&attr, &type))
			break;
	}
	return alias ?: "(unknown)";
}

static void type_write_name(Dwarf_Die *type, char *to, size_t size)
{
	const char *keyword, *name;
	u32 pointers;
	size_t length;

	name = type_find_name(type, &keyword, &pointers);
	snprintf(to, size, "%s%.128s%s", keyword, name, pointers ? " " : "");
	length = strlen(to);
	while (pointers-- && length + 1 < size)
		to[length++] = '*';
	to[length] = '\0';
}

/* ---- Fields ---- */

/*
 * A search for the fields at an address. @text: the path so far; @steps: number of DIEs that were
 * read; @scalar: the last type without fields that begins at the address; @scalars: number of types
 * without fields, and of bit-fields, at the address; @failed: a limit is exceeded, or a member has
 * no constant place
 */
struct field_search {
	char text[DEBUG_FIELD_SIZE];
	size_t length;
	u32 steps;
	Dwarf_Die scalar;
	u32 scalars;
	bool failed;
};

/*
 * A member of a structure. @start, @end: an access that begins at one of the bytes from @start to
 * @end - 1 may be an access to this member; @bits: it is a bit-field
 */
struct data_member {
	const char *name;
	Dwarf_Die type;
	u64 start;
	u64 end;
	bool bits;
};

static void path_append(struct field_search *search, const char *text)
{
	size_t length = strlen(text);

	if (search->length + length >= sizeof(search->text)) {
		search->failed = true;
		return;
	}
	memcpy(search->text + search->length, text, length + 1);
	search->length += length;
}

/* Append a part of the path, after a dot if it follows another part. */
static void path_append_part(struct field_search *search, const char *text)
{
	char last = search->length ? search->text[search->length - 1] : '{';

	if (last != '{' && last != '|')
		path_append(search, ".");
	path_append(search, text);
}

/* Get a constant attribute: 1 if it exists, 0 if it does not, -1 if it is not a constant. */
static int get_constant(Dwarf_Die *die, unsigned int name, u64 *ret_value)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr))
		return 0;
	if (dwarf_formudata(&attr, &value))
		return -1;
	*ret_value = value;
	return 1;
}

/*
 * Set the range of a bit-field of @bits bits. An access to it may begin anywhere from the start of
 * its storage unit of @size bytes to its last byte.
 */
static bool member_set_bit_range(Dwarf_Die *die, u64 size, u64 bits, struct data_member *member)
{
	u64 first = 0;
	int r = get_constant(die, DW_AT_data_bit_offset, &first);

	member->bits = true;
	if (r < 0 || !size || !bits || bits > 8 * size || first > UINT64_MAX / 2)
		return false;
	if (r > 0) {
		member->start = first / 8 / size * size;
		member->end = (first + bits - 1) / 8 + 1;
		return true;
	}
	/* DWARF 2 and 3: the location is that of the storage unit. */
	if (get_constant(die, DW_AT_data_member_location, &member->start) < 0)
		return false;
	member->end = member->start + size;
	return true;
}

/* Read a member; false if its place in the structure is not constant. */
static bool member_read(Dwarf_Die *die, struct data_member *ret_member)
{
	struct data_member member = { .name = dwarf_diename(die) };
	u64 size = 0, bits = 0;

	if (!get_plain_type(die, &member.type))
		return false;
	/* A flexible array member has no size. It extends to the end of the memory. */
	if (dwarf_aggregate_size(&member.type, &size))
		size = dwarf_tag(&member.type) == DW_TAG_array_type ? UINT64_MAX / 2 : 0;
	if (dwarf_hasattr(die, DW_AT_bit_size)) {
		if (get_constant(die, DW_AT_bit_size, &bits) < 0 ||
		    !member_set_bit_range(die, size, bits, &member))
			return false;
	} else {
		if (get_constant(die, DW_AT_data_member_location, &member.start) < 0)
			return false;
		member.end = member.start + size;
	}
	*ret_member = member;
	return member.end >= member.start;
}

/* Return whether a child of a structure occupies bytes of it: no static member of a class does. */
static bool is_data_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member && !dwarf_hasattr(die, DW_AT_external) &&
		!dwarf_hasattr(die, DW_AT_declaration)) ||
	       tag == DW_TAG_inheritance;
}

/*
 * Find the next member at @offset after @die, which is a member, or NULL for the first one. Return
 * false after the last one.
 */
static bool member_find_next(Dwarf_Die *type, u64 offset, bool first, struct field_search *search,
			     Dwarf_Die *die, struct data_member *ret_member)
{
	int r = first ? dwarf_child(type, die) : dwarf_siblingof(die, die);

	for (; !r && !search->failed; r = dwarf_siblingof(die, die)) {
		struct data_member member;

		if (++search->steps > STEPS_MAX)
			search->failed = true;
		if (!is_data_member(die))
			continue;
		if (!member_read(die, &member)) {
			search->failed = true;
		} else if (offset >= member.start && offset < member.end) {
			*ret_member = member;
			return true;
		}
	}
	return false;
}

static bool has_members(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static void search_type(struct field_search *search, Dwarf_Die *type, u64 offset, u32 depth);

static void search_member(struct field_search *search, struct data_member *member, u64 offset,
			  u32 depth)
{
	if (member->name)
		path_append_part(search, member->name);
	if (member->bits)
		search->scalars += 2;
	else
		search_type(search, &member->type, offset - member->start, depth + 1);
}

/*
 * Append the members at @offset of a structure or union. Several of them are "{a|b}": the members
 * of a union, or bit-fields of one storage unit.
 */
static void search_members(struct field_search *search, Dwarf_Die *type, u64 offset, u32 depth)
{
	struct data_member member;
	u32 count = 0, at = 0;
	Dwarf_Die die;

	while (member_find_next(type, offset, !count, search, &die, &member))
		count++;
	if (search->failed)
		return;
	if (!count) {
		path_append_part(search, "[padding]");
		return;
	}
	if (count > 1)
		path_append_part(search, "{");
	while (member_find_next(type, offset, !at, search, &die, &member)) {
		if (at++)
			path_append(search, "|");
		search_member(search, &member, offset, depth);
	}
	if (count > 1)
		path_append(search, "}");
}

/* Append the path of the field at @offset of @type. */
static void search_type(struct field_search *search, Dwarf_Die *type, u64 offset, u32 depth)
{
	int tag = dwarf_tag(type);
	Dwarf_Die element;
	Dwarf_Word size;

	if (depth >= NESTING_MAX || search->failed) {
		search->failed = true;
	} else if (has_members(type)) {
		search_members(search, type, offset, depth);
	} else if (tag == DW_TAG_array_type) {
		if (!get_plain_type(type, &element) || dwarf_aggregate_size(&element, &size) ||
		    !size) {
			search->failed = true;
			return;
		}
		if (depth)
			path_append(search, "[]");
		search_type(search, &element, offset % size, depth + 1);
	} else {
		search->scalar = *type;
		search->scalars += offset ? 2 : 1;
	}
}

bool debug_type_get_target(Dwarf_Die *type, Dwarf_Die *ret_target, u64 *ret_size)
{
	Dwarf_Die pointer, target;
	Dwarf_Word size;
	int tag;

	if (dwarf_peel_type(type, &pointer))
		return false;
	tag = dwarf_tag(&pointer);
	if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
	     tag != DW_TAG_rvalue_reference_type) ||
	    !debug_type_get_declared(&pointer, &target) || dwarf_aggregate_size(&target, &size) ||
	    !size || size > UINT32_MAX)
		return false;
	*ret_target = target;
	*ret_size = size;
	return true;
}

bool debug_type_describe(Dwarf_Die *declared, u64 offset, const char *name,
			 struct debug_datum *ret_datum)
{
	struct field_search search = { .steps = 0 };
	struct debug_datum datum = { .type = "" };
	Dwarf_Die type;

	if (dwarf_peel_type(declared, &type))
		return false;
	search_type(&search, &type, offset, 0);
	if (!search.failed && !search.length) {
		path_append(&search, name);
		if (dwarf_tag(&type) == DW_TAG_array_type)
			path_append(&search, "[]");
	}
	if (search.failed)
		return false;
	type_write_name(declared, datum.type, sizeof(datum.type));
	memcpy(datum.field, search.text, sizeof(datum.field));
	*ret_datum = datum;
	return true;
}

bool debug_type_find_scalar(Dwarf_Die *declared, u64 offset, Dwarf_Die *ret_type)
{
	struct field_search search = { .steps = 0 };
	Dwarf_Die type;

	if (dwarf_peel_type(declared, &type))
		return false;
	search_type(&search, &type, offset, 0);
	if (search.failed || search.scalars != 1)
		return false;
	*ret_type = search.scalar;
	return true;
}

bool debug_type_has_fields(Dwarf_Die *declared)
{
	Dwarf_Die type;

	return !dwarf_peel_type(declared, &type) &&
	       (has_members(&type) || dwarf_tag(&type) == DW_TAG_array_type);
}

/**
 * struct array_search - a search for arrays in a type
 * @step, @bytes: as for debug_type_find_array()
 * @start: offset of the last array that was found
 * @count: number of arrays that were found
 * @open: the last member is an array without a size
 * @steps: number of DIEs that were read
 */
struct array_search {
	u64 step;
	u64 bytes;
	u64 start;
	u32 count;
	bool open;
	u32 steps;
};

static void search_arrays(struct array_search *search, Dwarf_Die *type, u64 start, u32 depth);

static void add_array(struct array_search *search, Dwarf_Die *type, u64 start)
{
	Dwarf_Die element;
	Dwarf_Word size;

	search->open = dwarf_aggregate_size(type, &size) != 0;
	if (!get_plain_type(type, &element) || dwarf_aggregate_size(&element, &size) || !size) {
		search->count = STEPS_MAX;
	} else if (search->step == size && (size > 1 || search->bytes <= 1)) {
		search->start = start;
		search->count++;
	}
}

static void search_member_arrays(struct array_search *search, Dwarf_Die *type, u64 start, u32 depth)
{
	struct data_member member;
	Dwarf_Die die;
	int r;

	for (r = dwarf_child(type, &die); !r; r = dwarf_siblingof(&die, &die)) {
		if (++search->steps > STEPS_MAX) {
			search->count = STEPS_MAX;
			return;
		}
		if (!is_data_member(&die))
			continue;
		if (!member_read(&die, &member)) {
			search->count = STEPS_MAX;
			return;
		}
		search->open = false;
		if (!member.bits)
			search_arrays(search, &member.type, start + member.start, depth + 1);
	}
}

/* Find the outermost arrays of a type. A search that fails has too many of them. */
static void search_arrays(struct array_search *search, Dwarf_Die *type, u64 start, u32 depth)
{
	if (depth >= NESTING_MAX)
		search->count = STEPS_MAX;
	else if (dwarf_tag(type) == DW_TAG_array_type)
		add_array(search, type, start);
	else if (has_members(type))
		search_member_arrays(search, type, start, depth);
}

bool debug_type_find_array(Dwarf_Die *declared, u64 step, u64 bytes, u64 *ret_start)
{
	struct array_search search = { .step = step, .bytes = bytes };
	Dwarf_Die type;

	if (dwarf_peel_type(declared, &type))
		return false;
	search_arrays(&search, &type, 0, 0);
	if (search.count != 1)
		return false;
	*ret_start = search.start;
	return true;
}

bool debug_type_is_open(Dwarf_Die *declared)
{
	struct array_search search = { .step = 1 };
	Dwarf_Die type;

	if (dwarf_peel_type(declared, &type))
		return false;
	search_arrays(&search, &type, 0, 0);
	return search.open && search.count < STEPS_MAX;
}
