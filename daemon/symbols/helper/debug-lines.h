/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find source lines and inlined functions in DWARF, by libdw. Only the sandboxed reader uses it. */
#ifndef SPEPROF_DEBUG_LINES_H
#define SPEPROF_DEBUG_LINES_H

#include <elfutils/libdw.h>

#include "codec/env.h"

#define DEBUG_INLINES 16 /* entries of &debug_location.inlined: depth of inlined functions */

/**
 * struct debug_location - the source position of an address; strings are valid until
 * debug_lines_free()
 * @file: path of the source file; NULL if unknown
 * @line: line number; 0 if unknown
 * @count: number of @inlined
 * @inlined: linkage names of the functions that are inlined at the address, innermost first
 */
struct debug_location {
	const char *file;
	u32 line;
	u32 count;
	const char *inlined[DEBUG_INLINES];
};

/* Maximum number of nested functions at an address */
#define DEBUG_FRAMES (DEBUG_INLINES + 1)

/**
 * struct debug_frame - a function at an address
 * @name: linkage name; NULL if unknown; valid until debug_lines_free()
 * @start_line: line at which the function is declared; 0 if unknown
 * @line: line of the code, or of the call of the next frame; 0 if unknown
 * @discriminator: discriminator of @line, which distinguishes blocks in one line
 */
struct debug_frame {
	const char *name;
	u32 start_line;
	u32 line;
	u32 discriminator;
};

/**
 * struct debug_frames - the functions at an address, the outermost first
 * @entry: the outermost function begins at the address
 */
struct debug_frames {
	struct debug_frame frame[DEBUG_FRAMES];
	u32 count;
	bool entry;
};

struct debug_lines;

/**
 * debug_lines_new() - read the compilation units of a file
 * @elf: the file; it must stay open until debug_lines_free()
 * @alt: the file with debug information that several files share (dwz); it must also stay open;
 * NULL: none
 * @ret_lines: free it with debug_lines_free()
 *
 * Return: 0; -ENODATA if there are no units; -ENOMEM.
 */
int debug_lines_new(Elf *elf, Elf *alt, struct debug_lines **ret_lines);

/** debug_lines_free() - free @lines, which may be NULL; always returns NULL */
struct debug_lines *debug_lines_free(struct debug_lines *lines);

/**
 * debug_lines_find_location() - find the source position of a virtual address; all zeros if
 * unknown
 */
void debug_lines_find_location(const struct debug_lines *lines, u64 vaddr,
			       struct debug_location *ret_location);

/**
 * debug_lines_find_frames() - find the functions at a virtual address
 *
 * No frame is set if the line or the function is unknown, or if more than DEBUG_FRAMES functions
 * are nested.
 */
void debug_lines_find_frames(const struct debug_lines *lines, u64 vaddr,
			     struct debug_frames *ret_frames);

#endif
