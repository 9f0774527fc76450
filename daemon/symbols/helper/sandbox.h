/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the helper gives up before it reads the first hostile byte. */
#ifndef SPEPROF_SANDBOX_H
#define SPEPROF_SANDBOX_H

#include "codec/env.h"

/**
 * sandbox_enter() - no capability, no file, no network, no other process, bounded memory
 * @last: descriptors from 3 to @last stay open, and 0, 1 and 2, which become /dev/null
 *
 * Return: 0; a negative errno where the kernel has not what it takes: then nothing hostile
 * may be read.
 */
int sandbox_enter(int last);

/**
 * sandbox_enter_opener() - the same for the helper that opens files, and reads none of them
 *
 * It keeps files, and of the capabilities those that lead to files of other processes.
 */
int sandbox_enter_opener(int last);

/** sandbox_yield() - run after most else that wants to (nice 10) */
void sandbox_yield(void);

#endif
