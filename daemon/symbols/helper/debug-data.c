// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-data.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwarf-file.h"
#include "util/array.h"

/* Maximum number of variables of a file that are collected. */
#define VARIABLES_MAX (1U << 22)
#define VISITS_MAX    (1U << 25) /* maximum number of DIEs that are read to collect variables */
#define SCOPES_MAX    64 /* maximum depth of nested scopes */
#define NESTING_MAX   16 /* maximum depth of nested fields, and of types that refer to types */
#define STEPS_MAX     16384 /* maximum number of DIEs that are read to find a field */

/* A variable: addresses from @low to @high - 1; its declared type is the DIE @type. */
struct data_variable {
	u64 low;
	u64 high;
	Dwarf_Die type;
	const char *name;
};

struct debug_data {
	struct dwarf_file dwarf;
	struct data_variable *variable;
	u32 count;
	u32 capacity;
	u32 visits;
};

/* ---- Variables ---- */

/* Get the declared type of @die; false if it has none. */
static bool get_declared_type(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret_type);
}

/* Get the type of @die without typedefs and qualifiers; false if it has none. */
static bool get_plain_type(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	return get_declared_type(die, ret_type) && !dwarf_peel_type(ret_type, ret_type);
}

/* Get the address of a variable, if its location is one fixed address; 0 if it is not. */
static u64 variable_get_address(Dwarf_Die *die)
{
	Dwarf_Attribute attr, indexed;
	Dwarf_Addr address = 0;
	Dwarf_Op *expression;
	size_t length;

	if (!dwarf_attr(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &expression, &length) || length != 1)
		return 0;
	if (expression->atom == DW_OP_addr)
		return expression->number;
	if ((expression->atom != DW_OP_addrx && expression->atom != DW_OP_GNU_addr_index) ||
	    dwarf_getlocation_attr(&attr, expression, &indexed) ||
	    dwarf_formaddr(&indexed, &address))
		return 0;
	return address;
}

static bool variable_add(struct debug_data *d, Dwarf_Die *die)
{
	struct data_variable *grown, variable = { .low = variable_get_address(die) };
	Dwarf_Attribute attr;
	Dwarf_Word size;

	if (!variable.low || !get_declared_type(die, &variable.type) ||
	    dwarf_aggregate_size(&variable.type, &size) || !size ||
	    size > UINT64_MAX - variable.low)
		return true;
	if (dwarf_attr_integrate(die, DW_AT_name, &attr))
		variable.name = dwarf_formstring(&attr);
	variable.high = variable.low + size;
	grown = array_reserve(d->variable, &d->capacity, d->count + 1, sizeof(*grown),
			      VARIABLES_MAX);
	if (!grown)
		return false;
	d->variable = grown;
	d->variable[d->count++] = variable;
	return true;
}

/* Return whether a DIE may contain variables. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
	       tag == DW_TAG_module || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Add all variables below a unit. Use no recursion, because the depth is not trusted. */
static void unit_add_variables(struct debug_data *d, Dwarf_Die *unit)
{
	Dwarf_Die scope[SCOPES_MAX];
	u32 depth = 0;

	if (dwarf_child(unit, &scope[0]))
		return;
	for (;;) {
		int tag = dwarf_tag(&scope[depth]);

		if (++d->visits > VISITS_MAX ||
		    (tag == DW_TAG_variable && !variable_add(d, &scope[depth])))
			return;
		if (is_scope(tag) && depth + 1 < SCOPES_MAX &&
		    !dwarf_child(&scope[depth], &scope[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&scope[depth], &scope[depth])) {
			if (!depth--)
				return;
		}
	}
}

static int variable_compare(const void *x, const void *y)
{
	const struct data_variable *a = x, *b = y;
	const char *name = a->name ?: "", *other = b->name ?: "";

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return strcmp(name, other);
}

int debug_data_new(Elf *elf, Elf *alt, struct debug_data **ret_data)
{
	struct debug_data *d = calloc(1, sizeof(*d));
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (!d)
		return -ENOMEM;
	dwarf_file_open(elf, alt, &d->dwarf);
	while (d->dwarf.main &&
	       !dwarf_get_units(d->dwarf.main, unit, &unit, NULL, &type, &die, NULL))
		if (type == DW_UT_compile)
			unit_add_variables(d, &die);
	if (!d->count) {
		debug_data_free(d);
		return -ENODATA;
	}
	qsort(d->variable, d->count, sizeof(*d->variable), variable_compare);
	*ret_data = d;
	return 0;
}

struct debug_data *debug_data_free(struct debug_data *d)
{
	if (!d)
		return NULL;
	dwarf_file_close(&d->dwarf);
	free(d->variable);
	free(d);
	return NULL;
}

/* Return the last variable that begins at or before an address, if it contains the address. */
static struct data_variable *variable_find(const struct debug_data *d, u64 vaddr)
{
	u32 after = ARRAY_COUNT_LEADING(d->count, i, d->variable[i].low <= vaddr);

	return after && vaddr < d->variable[after - 1].high ? &d->variable[after - 1] : NULL;
}

/* ---- Names of types ---- */

static const char *get_keyword(Dwarf_Die *type)
{
	Dwarf_Die unit;
	int language = dwarf_srclang(dwarf_diecu(type, &unit, NULL, NULL));

	if (language != DW_LANG_C && language != DW_LANG_C89 && language != DW_LANG_C99 &&
	    language != DW_LANG_C11)
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
 * read; @failed: a limit is exceeded, or a member has no constant place
 */
struct field_search {
	char text[DEBUG_FIELD_SIZE];
	size_t length;
	u32 steps;
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
	/* A flexible array member has no size. */
	if (dwarf_aggregate_size(&member.type, &size))
		size = 0;
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

static void search_type(struct field_search *search, Dwarf_Die *type, u64 offset, u32 depth);

static void search_member(struct field_search *search, struct data_member *member, u64 offset,
			  u32 depth)
{
	if (member->name)
		path_append_part(search, member->name);
	if (!member->bits)
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
	} else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
		   tag == DW_TAG_union_type) {
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
	}
}

bool debug_data_find(const struct debug_data *d, u64 vaddr, struct debug_datum *ret_datum)
{
	struct data_variable *variable = variable_find(d, vaddr);
	struct field_search search = { .steps = 0 };
	struct debug_datum datum = { .type = "" };
	Dwarf_Die type;

	if (!variable || dwarf_peel_type(&variable->type, &type))
		return false;
	search_type(&search, &type, vaddr - variable->low, 0);
	if (!search.failed && !search.length) {
		path_append(&search, variable->name ?: "(anonymous)");
		if (dwarf_tag(&type) == DW_TAG_array_type)
			path_append(&search, "[]");
	}
	if (search.failed)
		return false;
	type_write_name(&variable->type, datum.type, sizeof(datum.type));
	memcpy(datum.field, search.text, sizeof(datum.field));
	*ret_datum = datum;
	return true;
}
