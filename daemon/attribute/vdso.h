/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vdso: every 64-bit process has the same one, so ours tells of all. */
#ifndef SPEPROF_VDSO_H
#define SPEPROF_VDSO_H

#include "elf-file.h"

/**
 * vdso_load() - the functions of this process's vdso
 * @object: as for elf_load()
 *
 * Return: 0; -ENOENT if this kernel has none.
 */
int vdso_load(struct elf_object *object);

#endif
