/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load all functions of an ELF file, and look them up, for tests and fuzzers. */
#ifndef SPEPROF_ELF_LOAD_H
#define SPEPROF_ELF_LOAD_H

#include "symbols/helper/elf-file.h"

/*
 * Load a file. The caller has set the limit. Return: 0 if a function was read, else a negative
 * errno.
 */
static inline int elf_load(int fd, struct elf_object *o)
{
	Elf *elf = NULL;
	int r = elf_open(fd, &elf);

	if (r < 0)
		return r;
	elf_read_segments_and_build_id(elf, o);
	r = elf_read_symbols(elf, o);
	symtab_sort(&o->symbols);
	elf_end(elf);
	return o->symbols.count ? 0 : r;
}

/* Convert a file offset to a virtual address. Return: false if no segment contains it. */
static inline bool elf_get_vaddr(const struct elf_object *o, u64 offset, u64 *ret_vaddr)
{
	for (u32 i = 0; i < o->segments; i++) {
		const struct elf_segment *s = &o->segment[i];

		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		*ret_vaddr = s->vaddr + (offset - s->offset);
		return true;
	}
	return false;
}

/* Return the name of the function that contains an address; NULL if there is none. */
static inline const char *symtab_find(const struct symtab *t, u64 addr)
{
	u64 start, size;

	return symtab_find_range(t, addr, &start, &size);
}

/* Return the memory in use, in bytes. */
static inline u64 symtab_get_memory(const struct symtab *t)
{
	return t->capacity * sizeof(*t->entry) + t->names_capacity;
}

#endif
