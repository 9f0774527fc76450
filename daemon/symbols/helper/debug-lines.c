// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-lines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "dwarf-file.h"
#include "util/array.h"

/* Maximum number of ranges of functions and units of a file that are collected. */
#define RANGES_MAX (1U << 22)
#define LOOK_BACK  16 /* preceding ranges to check, because ranges may overlap */

/*
 * An address range: addresses from @low to @high - 1 belong to the unit with its first DIE at
 * offset @unit
 */
struct unit_range {
	u64 low;
	u64 high;
	Dwarf_Off unit;
};

struct debug_lines {
	struct dwarf_file dwarf;
	struct unit_range *range;
	u32 count;
	u32 capacity;
};

static bool range_add(struct debug_lines *d, u64 low, u64 high, Dwarf_Off unit)
{
	struct unit_range *grown;

	if (low >= high)
		return true;
	grown = array_reserve(d->range, &d->capacity, d->count + 1, sizeof(*grown), RANGES_MAX);
	if (!grown)
		return false;
	d->range = grown;
	d->range[d->count++] = (struct unit_range){ low, high, unit };
	return true;
}

static int range_compare(const void *x, const void *y)
{
	const struct unit_range *a = x, *b = y;

	return a->low != b->low ? (a->low > b->low) - (a->low < b->low) :
				  (a->high > b->high) - (a->high < b->high);
}

/*
 * Collect the address ranges of all units. The search function of libdw uses .debug_aranges
 * instead, which clang does not write, and which may be incomplete.
 */
static void collect_unit_ranges(struct debug_lines *d)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(d->dwarf.main, unit, &unit, NULL, &type, &die, NULL)) {
		Dwarf_Addr base, low, high;
		ptrdiff_t at = 0;

		if (type != DW_UT_compile)
			continue;
		while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0)
			if (!range_add(d, low, high, dwarf_dieoffset(&die)))
				return;
	}
}

int debug_lines_new(Elf *elf, Elf *alt, struct debug_lines **ret_lines)
{
	struct debug_lines *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	dwarf_file_open(elf, alt, &d->dwarf);
	if (d->dwarf.main)
		collect_unit_ranges(d);
	if (!d->count) {
		debug_lines_free(d);
		return -ENODATA;
	}
	qsort(d->range, d->count, sizeof(*d->range), range_compare);
	*ret_lines = d;
	return 0;
}

struct debug_lines *debug_lines_free(struct debug_lines *d)
{
	if (!d)
		return NULL;
	dwarf_file_close(&d->dwarf);
	free(d->range);
	free(d);
	return NULL;
}

static const struct unit_range *unit_range_find(const struct debug_lines *d, u64 addr)
{
	u32 after = ARRAY_COUNT_LEADING(d->count, i, d->range[i].low <= addr);

	for (u32 n = 0; n < LOOK_BACK && n < after; n++)
		if (addr < d->range[after - 1 - n].high)
			return &d->range[after - 1 - n];
	return NULL;
}

static const char *get_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

/* Collect the inlined functions that contain @die, from the innermost to the outermost. */
static void collect_inlined_functions(Dwarf_Die *die, struct debug_location *location)
{
	Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes_die(die, &scopes);

	for (int i = 0; i < n && location->count < DEBUG_INLINES; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name;

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		name = get_linkage_name(&scopes[i]);
		if (name)
			location->inlined[location->count++] = name;
	}
	free(scopes);
}

void debug_lines_find_location(const struct debug_lines *d, u64 vaddr,
			       struct debug_location *ret_location)
{
	const struct unit_range *range = unit_range_find(d, vaddr);
	Dwarf_Die unit, *scopes = NULL;
	Dwarf_Line *line;
	int n, number;

	*ret_location = (struct debug_location){ .file = NULL };
	if (!range || !dwarf_offdie(d->dwarf.main, range->unit, &unit))
		return;
	line = dwarf_getsrc_die(&unit, vaddr);
	if (line && !dwarf_lineno(line, &number) && number > 0) {
		ret_location->file = dwarf_linesrc(line, NULL, NULL);
		ret_location->line = ret_location->file ? (u32)number : 0;
	}
	n = dwarf_getscopes(&unit, vaddr, &scopes);
	/*
	 * Stop at the first function: the scopes after it enclose its definition, and not the code
	 * into which it was inlined.
	 */
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_inlined_subroutine)
			collect_inlined_functions(&scopes[i], ret_location);
		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
			break;
	}
	free(scopes);
}
