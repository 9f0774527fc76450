/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the names that the linker uses for functions, and virtual addresses. linkage_names_read()
 * blocks; it starts two helper processes, and stops them before it returns. Only commands use it;
 * the daemon does not.
 */
#ifndef SPEPROF_LINKAGE_NAMES_H
#define SPEPROF_LINKAGE_NAMES_H

#include "attribution/attributor.h"
#include "symbol-folders.h"

/**
 * struct linkage_name - the name of a location
 * @offset: the location: an offset in the file
 * @address: its virtual address in the ELF file; UINT64_MAX if no segment contains it
 * @function: virtual address of the function that contains it
 * @name: name of that function, not demangled, untrusted; "" without a function
 * @local: 0 for a global or weak function; else the number of the function among the local functions
 *	of the same name, in the order of their addresses, from 1
 */
struct linkage_name {
	u64 offset;
	u64 address;
	u64 function;
	const char *name;
	u32 local;
};

/**
 * struct linkage_names - the names of locations of a file; all zeros: none
 * @name: @count names in the order of their offsets
 * @machine: e_machine of the ELF file
 * @code_offset, @code_size, @code_address: bytes of the first executable segment in the file, and
 *	its virtual address; 0 if there is none
 * @text: memory of @texts strings, to which @name refers
 * @reason: a sentence that explains why the file was not read; "" if it was read
 */
struct linkage_names {
	struct linkage_name *name;
	u32 count;
	u16 machine;
	u64 code_offset;
	u64 code_size;
	u64 code_address;
	char **text;
	u32 texts;
	char reason[192];
};

/**
 * linkage_names_read() - find the names of locations of a file
 * @file: path and build id of the file; a file with another build id is not read
 * @folders: where the file is searched
 * @offset, @count: offsets in the file, in ascending order without duplicates
 * @ret_names: a name for each offset; free it with linkage_names_clear(), also on failure
 *
 * Names in separate debug files are not used.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; another negative errno if the file was not
 * read: &linkage_names.reason has the reason.
 */
int linkage_names_read(const struct attribute_location *file, const struct symbol_folders *folders,
		       const u64 *offset, u32 count, struct linkage_names *ret_names);

/** linkage_names_find() - return the name of an offset; NULL if it was not requested */
const struct linkage_name *linkage_names_find(const struct linkage_names *names, u64 offset);

/** linkage_names_clear() - free the names */
void linkage_names_clear(struct linkage_names *names);

#endif
