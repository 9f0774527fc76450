// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dwarf-file.h"

void dwarf_file_open(Elf *elf, Elf *shared, struct dwarf_file *ret_file)
{
	*ret_file = (struct dwarf_file){ .main = dwarf_begin_elf(elf, DWARF_C_READ, NULL) };
	if (ret_file->main && shared)
		ret_file->shared = dwarf_begin_elf(shared, DWARF_C_READ, NULL);
	if (ret_file->shared)
		dwarf_setalt(ret_file->main, ret_file->shared);
}

void dwarf_file_close(struct dwarf_file *file)
{
	dwarf_end(file->main);
	dwarf_end(file->shared);
}
