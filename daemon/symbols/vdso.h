/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vdso: every 64-bit process has the same one, so ours tells of all. */
#ifndef SPEPROF_VDSO_H
#define SPEPROF_VDSO_H

#include "codec/env.h"

/**
 * vdso_open() - a file in memory that holds this process's vdso
 *
 * Return: a descriptor; -ENOENT if this kernel has none.
 */
int vdso_open(void);

#endif
