/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the functions and the build ID of an ELF file, which may be hostile. Only the sandboxed
 * reader uses it.
 */
#ifndef SPEPROF_ELF_FILE_H
#define SPEPROF_ELF_FILE_H

#include <gelf.h>

#include "attribution/maps.h"
#include "util/symtab.h"

#define ELF_SEGMENTS 32

/**
 * struct elf_segment - a PT_LOAD segment: @size bytes at @offset of the file are mapped at @vaddr
 * @memory: bytes in memory: @size, and the zeros after them
 * @code: the segment is executable
 */
struct elf_segment {
	u64 offset;
	u64 size;
	u64 vaddr;
	u64 memory;
	bool code;
};

/**
 * struct elf_object - the content of a file
 * @symbols: functions, or with @objects data, by virtual address; the caller sets its limit first
 * @segment, @segments: PT_LOAD segments with bytes in the file
 * @build_id, @build_id_size: build id; 0 bytes if the file has none
 * @full: true if the file has a .symtab, so that a debug file contains no more functions
 */
struct elf_object {
	struct symtab symbols;
	bool objects;
	struct elf_segment segment[ELF_SEGMENTS];
	u32 segments;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	bool full;
};

/**
 * elf_open() - open a file for libelf
 * @fd: the file; it must stay open until elf_end()
 * @ret_elf: close it with elf_end()
 *
 * Return: 0; -EBADMSG if it is invalid, or if it is neither a program nor a library; -EFBIG if it
 * is above the limits of elf-file.c; another negative errno if it cannot be read.
 */
int elf_open(int fd, Elf **ret_elf);

/**
 * elf_open_memory() - open a file in memory, and return the same errors as elf_open(); @bytes must
 * stay valid until elf_end()
 */
int elf_open_memory(void *bytes, size_t size, Elf **ret_elf);

/** elf_read_segments_and_build_id() - read segments and build id */
void elf_read_segments_and_build_id(Elf *elf, struct elf_object *object);

/**
 * elf_read_symbols() - add the functions, or with &elf_object.objects the data, of a file; call symtab_sort() after the last one
 *
 * Return: 0; -EBADMSG or -EFBIG if a section is invalid or too large. The functions of the sections
 * before the failed one were added.
 */
int elf_read_symbols(Elf *elf, struct elf_object *object);

/** elf_find_section() - return the first section with a name; NULL if there is none */
Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *ret_header);

/**
 * elf_get_section_bytes() - return the bytes of the section @name, valid until elf_end(); NULL if
 * the section does not exist, has no bytes in the file, or is compressed
 */
const u8 *elf_get_section_bytes(Elf *elf, const char *name, size_t *ret_size);

#endif
