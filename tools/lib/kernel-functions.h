/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find the functions of the kernel in which a recording has samples. Kernel addresses change with
 * each boot (KASLR), so their names cannot be found on another machine, or after a reboot.
 */
#ifndef SPEPROF_KERNEL_FUNCTIONS_H
#define SPEPROF_KERNEL_FUNCTIONS_H

#include "util/symtab.h"

/**
 * kernel_functions_find() - find the functions of the running kernel with samples in a recording
 * @path: a recording that was made since this machine booted
 * @kallsyms: path of the kernel's list of functions, /proc/kallsyms
 * @ret_functions: a finished table of functions of the kernel and its modules; end it by
 *	symtab_clear()
 *
 * This function decodes the whole recording.
 *
 * Return: 0; -EACCES if the kernel hides the addresses of its functions (kernel.kptr_restrict is
 * set, or CAP_SYSLOG is missing); another negative errno.
 */
int kernel_functions_find(const char *path, const char *kallsyms, struct symtab *ret_functions);

#endif
