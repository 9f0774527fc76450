/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source lines, and what is inlined where, by DWARF: libdw reads it. In the helper only. */
#ifndef SPEPROF_DEBUG_LINES_H
#define SPEPROF_DEBUG_LINES_H

#include <elfutils/libdw.h>

#include "codec/env.h"

#define DEBUG_INLINES 16 /* functions within each other that are told */

/**
 * struct debug_location - strings are libdw's, as long as the &struct debug_lines
 * @file: NULL if not known
 * @inlined: functions that are inlined there, innermost first, as they are linked
 */
struct debug_location {
	const char *file;
	u32 line;
	u32 count;
	const char *inlined[DEBUG_INLINES];
};

struct debug_lines;

/**
 * debug_lines_new() - the units of @elf, which stays open meanwhile
 * @alt: what it shares with others (dwz), or NULL
 *
 * Return: 0; -ENODATA if it has none.
 */
int debug_lines_new(Elf *elf, Elf *alt, struct debug_lines **ret_lines);
struct debug_lines *debug_lines_free(struct debug_lines *lines);

/** debug_lines_find() - the place of a virtual address */
void debug_lines_find(const struct debug_lines *lines, u64 vaddr,
		      struct debug_location *ret_location);

/** debug_lines_alt() - build id of what @elf shares with others, 0 bytes for none */
size_t debug_lines_alt(Elf *elf, const void **ret_id);

#endif
