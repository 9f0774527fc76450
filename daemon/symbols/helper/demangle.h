/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Demangle C++ and Rust names. Only the sandboxed reader uses it, because names may be hostile. */
#ifndef SPEPROF_DEMANGLE_H
#define SPEPROF_DEMANGLE_H

#include "codec/env.h"

/**
 * demangle() - demangle a name, without parameters, as perf does
 * @name: the linkage name
 * @ret_text: receives the demangled name, or @name if it is not mangled; truncated, NUL-terminated
 * @size: size of @ret_text, bytes
 *
 * Return: length of @ret_text, bytes.
 */
size_t demangle(const char *name, char *ret_text, size_t size);

#endif
