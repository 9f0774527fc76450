/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of one ELF file. The file is hostile: it costs its names at most. */
#ifndef SPEPROF_ELF_FILE_H
#define SPEPROF_ELF_FILE_H

#include <gelf.h>

#include "attribution/maps.h"
#include "symtab.h"

#define ELF_SEGMENTS 32

/** struct elf_segment - a PT_LOAD: @size bytes of the file from @offset on, at @vaddr */
struct elf_segment {
	u64 offset;
	u64 size;
	u64 vaddr;
};

/**
 * struct elf_object - what is known of a file
 * @symbols: by its virtual addresses; limit to be set before elf_load()
 * @full: it has a .symtab, so that a debug file tells no more
 */
struct elf_object {
	struct symtab symbols;
	struct elf_segment segment[ELF_SEGMENTS];
	u32 segments;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	bool full;
};

/**
 * elf_load() - read segments, build-id and functions of the file @fd
 * @object: zeroed, but for the limit of its symbols; on failure it has none
 *
 * Return: 0; -EBADMSG if it is no ELF file of a program or library, or broken;
 * -EFBIG if its tables are larger than any sane one.
 */
int elf_load(int fd, struct elf_object *object);

/**
 * elf_open() - begin to read the file @fd, which stays open meanwhile; elf_end() ends it
 *
 * Return: as elf_load().
 */
int elf_open(int fd, Elf **ret_elf);

/** elf_open_memory() - the same of bytes, which stay there meanwhile */
int elf_open_memory(void *bytes, size_t size, Elf **ret_elf);

/** elf_read_head() - segments and build id */
void elf_read_head(Elf *elf, struct elf_object *object);

/** elf_read_symbols() - add its functions, for symtab_finish(), and whether those are all */
int elf_read_symbols(Elf *elf, struct elf_object *object);

/** elf_section() - the first section called @name, or NULL */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *ret_header);

/** elf_section_bytes() - its bytes as they are in the file; NULL if it has none there */
const u8 *elf_section_bytes(Elf *elf, const char *name, size_t *ret_size);

/** elf_vaddr() - virtual address of a file offset; false if it is not loaded */
bool elf_vaddr(const struct elf_object *object, u64 offset, u64 *ret_vaddr);

#endif
