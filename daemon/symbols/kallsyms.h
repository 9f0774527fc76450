/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the functions of the running kernel and its modules from /proc/kallsyms. */
#ifndef SPEPROF_KALLSYMS_H
#define SPEPROF_KALLSYMS_H

#include "util/symtab.h"

/**
 * kallsyms_load() - read a table of functions
 * @fd: /proc/kallsyms, at its beginning
 * @table: receives the functions; the caller has set its limit. Empty on failure
 *
 * Names of functions of modules are "name [module]".
 *
 * Return: 0; -EACCES if all addresses are hidden (kernel.kptr_restrict); -EFBIG if not all
 * functions fit, because names from an incomplete table would be wrong; another negative errno.
 */
int kallsyms_load(int fd, struct symtab *table);

#endif
