// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-data.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwarf-file.h"
#include "function-values.h"
#include "util/array.h"

/* Maximum number of variables of a file that are collected. */
#define VARIABLES_MAX (1U << 22)
#define FUNCTIONS_MAX (1U << 22) /* maximum number of ranges of functions that are collected */
#define VISITS_MAX    (1U << 25) /* maximum number of DIEs that are read to collect variables */
#define SCOPES_MAX    64 /* maximum depth of nested scopes */

/* A variable: addresses from @low to @high - 1; its declared type is the DIE @type. */
struct data_variable {
	u64 low;
	u64 high;
	Dwarf_Die type;
	const char *name;
};

/** struct data_function - a range of code, from @low to @high - 1, of the DW_TAG_subprogram @die */
struct data_function {
	u64 low;
	u64 high;
	Dwarf_Die die;
};

/**
 * struct debug_data - variables and functions
 * @variable, @count, @capacity: variables, in the order of their addresses
 * @function, @functions, @function_capacity: ranges of functions, in the order of their addresses
 * @visits: number of DIEs that were read
 * @last: DIE of the last analyzed function; NULL for none
 * @values: its analysis; NULL if it exceeds a limit
 */
struct debug_data {
	struct dwarf_file dwarf;
	struct data_variable *variable;
	u32 count;
	u32 capacity;
	struct data_function *function;
	u32 functions;
	u32 function_capacity;
	u32 visits;
	void *last;
	struct function_values *values;
};

/* ---- Variables ---- */

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

	if (!variable.low || !debug_type_get_declared(die, &variable.type) ||
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

/* ---- Functions ---- */

static bool function_add(struct debug_data *d, Dwarf_Die *die)
{
	struct data_function *grown;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (++d->visits > VISITS_MAX)
			return false;
		if (low >= high)
			continue;
		grown = array_reserve(d->function, &d->function_capacity, d->functions + 1,
				      sizeof(*grown), FUNCTIONS_MAX);
		if (!grown)
			return false;
		d->function = grown;
		d->function[d->functions++] = (struct data_function){ low, high, *die };
	}
	return true;
}

static int function_compare(const void *x, const void *y)
{
	const struct data_function *a = x, *b = y;

	return a->low != b->low ? compare_u64(a->low, b->low) : compare_u64(a->high, b->high);
}

/* Return the last function that begins at or before an address, if it contains the address. */
static struct data_function *function_find(const struct debug_data *d, u64 vaddr)
{
	u32 after = ARRAY_COUNT_LEADING(d->functions, i, d->function[i].low <= vaddr);

	return after && vaddr < d->function[after - 1].high ? &d->function[after - 1] : NULL;
}

/* ---- Units ---- */

/* Return whether a DIE may contain variables. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
	       tag == DW_TAG_module || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Add what is below a unit. Use no recursion, because the depth is not trusted. */
static void unit_add_entries(struct debug_data *d, Dwarf_Die *unit)
{
	Dwarf_Die scope[SCOPES_MAX];
	u32 depth = 0;

	if (dwarf_child(unit, &scope[0]))
		return;
	for (;;) {
		int tag = dwarf_tag(&scope[depth]);

		if (++d->visits > VISITS_MAX ||
		    (tag == DW_TAG_variable && !variable_add(d, &scope[depth])) ||
		    (tag == DW_TAG_subprogram && !function_add(d, &scope[depth])))
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
			unit_add_entries(d, &die);
	if (!d->count && !d->functions) {
		debug_data_free(d);
		return -ENODATA;
	}
	if (d->count)
		qsort(d->variable, d->count, sizeof(*d->variable), variable_compare);
	if (d->functions)
		qsort(d->function, d->functions, sizeof(*d->function), function_compare);
	*ret_data = d;
	return 0;
}

struct debug_data *debug_data_free(struct debug_data *d)
{
	if (!d)
		return NULL;
	function_values_free(d->values);
	dwarf_file_close(&d->dwarf);
	free(d->function);
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

bool debug_data_find(const struct debug_data *d, u64 vaddr, struct debug_datum *ret_datum)
{
	struct data_variable *variable = variable_find(d, vaddr);

	return variable && debug_type_describe(&variable->type, vaddr - variable->low,
					       variable->name ?: "(anonymous)", ret_datum);
}

/* ---- Accesses ---- */

static bool find_global(void *ctx, u64 address, Dwarf_Die *ret_type, u64 *ret_offset)
{
	struct data_variable *variable = variable_find(ctx, address);

	if (!variable)
		return false;
	*ret_type = variable->type;
	*ret_offset = address - variable->low;
	return true;
}

static bool find_function_at(void *ctx, u64 address, Dwarf_Die *ret_function)
{
	struct data_function *function = function_find(ctx, address);

	if (!function || function->low != address)
		return false;
	*ret_function = function->die;
	return true;
}

/* Return whether a function may catch exceptions. In C, this needs an option of the compiler. */
static bool function_unwinds(Dwarf_Die *function)
{
	const char *producer = NULL;
	Dwarf_Attribute attr;
	Dwarf_Die unit;

	if (!debug_type_is_c(function))
		return true;
	if (dwarf_diecu(function, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_producer, &attr))
		producer = dwarf_formstring(&attr);
	return !producer || strstr(producer, "-fexceptions");
}

/* Analyze the function, unless it is the last one. */
static void analyze_function(struct debug_data *d, const struct debug_code *code, Dwarf_Die *die)
{
	const struct values_source source = {
		.read_code = code->read,
		.find_global = find_global,
		.find_function = find_function_at,
		.outlines = code->outlines,
		.unwinds = code->handlers && function_unwinds(die),
		.ctx = code->ctx,
		.data = d,
	};

	if (d->last == die->addr)
		return;
	d->last = die->addr;
	d->values = function_values_free(d->values);
	function_values_new(die, &source, &d->values);
}

enum debug_access debug_data_find_access(struct debug_data *d, const struct debug_code *code,
					 u64 vaddr, struct debug_datum *ret_datum)
{
	struct data_function *function = function_find(d, vaddr);
	char name[DEBUG_FIELD_SIZE];
	struct access_target target;

	if (!function)
		return DEBUG_ACCESS_NO_DATA;
	analyze_function(d, code, &function->die);
	if (!d->values)
		return DEBUG_ACCESS_NO_DATA;
	function_values_find_access(d->values, vaddr, &target);
	if (target.kind == ACCESS_STACK)
		return DEBUG_ACCESS_STACK;
	if (target.kind == ACCESS_GLOBAL)
		return debug_data_find(d, target.offset, ret_datum) ? DEBUG_ACCESS_FOUND :
								      DEBUG_ACCESS_UNKNOWN;
	snprintf(name, sizeof(name), "%s%s", target.pointer ? "*" : "", target.name ?: "");
	return target.kind == ACCESS_TYPED &&
			       debug_type_describe(&target.type, target.offset, name, ret_datum) ?
		       DEBUG_ACCESS_FOUND :
		       DEBUG_ACCESS_UNKNOWN;
}
