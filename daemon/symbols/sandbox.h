/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the helper gives up before it reads the first hostile byte. */
#ifndef SPEPROF_SANDBOX_H
#define SPEPROF_SANDBOX_H

#include "env.h"

/**
 * sandbox_enter() - no capability, no file, no network, no other process, bounded memory
 * @keep: the one descriptor that stays open, besides 0, 1 and 2, which become /dev/null
 *
 * Return: 0; a negative errno where the kernel has not what it takes: then nothing hostile
 * may be read.
 */
int sandbox_enter(int keep);

/** sandbox_yield() - run after most else that wants to (nice 10) */
void sandbox_yield(void);

#endif
