/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens the debug information of an ELF file, and the shared one that it refers to (dwz). */
#ifndef SPEPROF_DWARF_FILE_H
#define SPEPROF_DWARF_FILE_H

#include <elfutils/libdw.h>

/**
 * struct dwarf_file - opened debug information
 * @main: debug information of the file; NULL if it has none
 * @shared: shared debug information; NULL if it has none
 */
struct dwarf_file {
	Dwarf *main;
	Dwarf *shared;
};

/**
 * dwarf_file_open() - open debug information
 * @elf: the file; borrowed until dwarf_file_close()
 * @shared: file with shared debug information; borrowed like @elf; NULL for none
 * @ret_file: close it with dwarf_file_close(). &dwarf_file.main is NULL if @elf has no readable debug
 *	information
 */
void dwarf_file_open(Elf *elf, Elf *shared, struct dwarf_file *ret_file);

/** dwarf_file_close() - free the debug information of @file, which may be all zeros */
void dwarf_file_close(struct dwarf_file *file);

#endif
