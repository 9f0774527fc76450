// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-lines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "dwarf-file.h"
#include "util/array.h"

/* Maximum number of ranges of functions and units of a file that are collected. */
#define RANGES_MAX (1U << 22)
/* The discriminator of a call that was inlined, an attribute of LLVM and GCC */
#define DW_AT_GNU_discriminator 0x2136

#define LOOK_BACK 16 /* preceding ranges to check, because ranges may overlap */

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

/* Return a positive number of at most 31 bits; 0 if there is none. */
static u32 get_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &value) ||
	    value > INT32_MAX)
		return 0;
	return (u32)value;
}

/* Find the functions that contain an address, from the innermost on, and what encloses them. */
static int find_functions(Dwarf_Die *unit, u64 vaddr, Dwarf_Die **ret_scopes)
{
	Dwarf_Die *scopes = NULL, innermost = { 0 };
	int n = dwarf_getscopes(unit, vaddr, &scopes);
	bool found = false;

	for (int i = 0; i < n && !found; i++) {
		int tag = dwarf_tag(&scopes[i]);

		found = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram;
		innermost = scopes[i];
	}
	free(scopes);
	return found ? dwarf_getscopes_die(&innermost, ret_scopes) : 0;
}

/*
 * Set the frames from scopes, innermost first, and the first frame's line. Return false if the
 * functions are too deep, or the outermost is missing.
 */
static bool set_frames(Dwarf_Die *scopes, int n, u64 vaddr, u32 line, u32 discriminator,
		       struct debug_frames *frames)
{
	Dwarf_Addr base, start, end;

	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		if (frames->count == DEBUG_FRAMES)
			return false;
		frames->frame[frames->count++] = (struct debug_frame){
			.name = get_linkage_name(&scopes[i]),
			.start_line = get_number(&scopes[i], DW_AT_decl_line),
			.line = line,
			.discriminator = discriminator,
		};
		if (tag == DW_TAG_subprogram) {
			/* A function in several parts has no entry address, but its first range. */
			frames->entry = dwarf_ranges(&scopes[i], 0, &base, &start, &end) > 0 &&
					start == vaddr;
			return true;
		}
		line = get_number(&scopes[i], DW_AT_call_line);
		discriminator = get_number(&scopes[i], DW_AT_GNU_discriminator);
	}
	return false;
}

void debug_lines_find_frames(const struct debug_lines *d, u64 vaddr,
			     struct debug_frames *ret_frames)
{
	const struct unit_range *range = unit_range_find(d, vaddr);
	struct debug_frames frames = { .count = 0 };
	unsigned int discriminator = 0;
	Dwarf_Die unit, *scopes = NULL;
	Dwarf_Line *line;
	int n, number;

	*ret_frames = frames;
	if (!range || !dwarf_offdie(d->dwarf.main, range->unit, &unit))
		return;
	line = dwarf_getsrc_die(&unit, vaddr);
	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return;
	dwarf_linediscriminator(line, &discriminator);
	n = find_functions(&unit, vaddr, &scopes);
	if (set_frames(scopes, n, vaddr, (u32)number, discriminator, &frames)) {
		for (u32 i = 0; i < frames.count; i++)
			ret_frames->frame[i] = frames.frame[frames.count - 1 - i];
		ret_frames->count = frames.count;
		ret_frames->entry = frames.entry;
	}
	free(scopes);
}
