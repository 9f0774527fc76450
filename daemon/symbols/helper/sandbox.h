/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sandboxes of both helpers, which they enter before they receive the first request. */
#ifndef SPEPROF_SANDBOX_H
#define SPEPROF_SANDBOX_H

#include "codec/env.h"

/**
 * sandbox_enter_reader() - enter the sandbox of the reader
 * @last: descriptors from 3 to @last stay open; 0, 1 and 2 become /dev/null
 *
 * The process loses all capabilities and cannot open files, use the network or affect other
 * processes. Its memory and CPU time are limited.
 *
 * Return: 0; a negative errno if the kernel lacks a necessary feature. The process must exit then.
 */
int sandbox_enter_reader(int last);

/**
 * sandbox_enter_opener() - enter the sandbox of the opener, which opens files but reads none
 * @last: as for sandbox_enter_reader()
 *
 * The process can open files, and retains those of its capabilities that give access to files of
 * other processes. Its memory and CPU time are limited.
 *
 * Return: as sandbox_enter_reader().
 */
int sandbox_enter_opener(int last);

/** sandbox_lower_priority() - set a nice value of 10 */
void sandbox_lower_priority(void);

#endif
