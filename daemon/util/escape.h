/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hostile bytes to text that may be shown: names of tasks, cgroups and files. */
#ifndef SPEPROF_ESCAPE_H
#define SPEPROF_ESCAPE_H

#include "codec/env.h"

/**
 * escape_text() - @len bytes of @from as printable UTF-8
 * @to: receives the text, always NUL-terminated, never cut within a character or
 *	an escape
 * @size: bytes of @to, at least 1
 *
 * What is no printable UTF-8 becomes \xNN byte by byte: controls, invalid and
 * overlong sequences, and characters that reorder, hide or break a line. The
 * backslash stays as it is, since unit names are full of it; so escapes are for
 * reading, not for turning back.
 *
 * Return: bytes written, without the NUL.
 */
size_t escape_text(char *to, size_t size, const char *from, size_t len);

/** escape_string() - the same of a NUL-terminated string */
static inline size_t escape_string(char *to, size_t size, const char *from)
{
	return escape_text(to, size, from, strlen(from));
}

/** escape_is_utf8() - whether it is UTF-8 throughout, printable or not: what a bus has for a string */
bool escape_is_utf8(const char *text);

#endif
