/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of one ELF file. The file is hostile: it costs its names at most. */
#ifndef SPEPROF_ELF_FILE_H
#define SPEPROF_ELF_FILE_H

#include "maps.h"
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

/** elf_load_build_id() - as elf_load(), its build id alone; 0 also where it has none */
int elf_load_build_id(int fd, struct elf_object *object);

/** elf_vaddr() - virtual address of a file offset; false if it is not loaded */
bool elf_vaddr(const struct elf_object *object, u64 offset, u64 *ret_vaddr);

#endif
