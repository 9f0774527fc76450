/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* C++'s and Rust's names as they were written. In the helper only: a name is hostile. */
#ifndef SPEPROF_DEMANGLE_H
#define SPEPROF_DEMANGLE_H

#include "codec/env.h"

/**
 * demangle() - @name without parameters, as perf shows it; @name itself if it is not mangled
 * @to: receives at most @size - 1 bytes and a NUL
 *
 * Return: bytes, without the NUL.
 */
size_t demangle(const char *name, char *to, size_t size);

#endif
