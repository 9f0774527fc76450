/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The running kernel's functions, and its modules': /proc/kallsyms. */
#ifndef SPEPROF_KALLSYMS_H
#define SPEPROF_KALLSYMS_H

#include "symtab.h"

/**
 * kallsyms_load() - read @fd, from where it stands, into @table, whose limit is set
 *
 * Names of modules' functions are "name [module]".
 *
 * Return: 0; -EACCES if all addresses are hidden (kernel.kptr_restrict);
 * -EFBIG if they do not fit, since the table would give wrong names then.
 */
int kallsyms_load(int fd, struct symtab *table);

#endif
