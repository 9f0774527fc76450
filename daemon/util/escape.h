/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Escapes untrusted names of tasks, cgroups and files for terminals and logs. */
#ifndef SPEPROF_ESCAPE_H
#define SPEPROF_ESCAPE_H

#include "codec/env.h"

/**
 * escape_text() - convert untrusted bytes to printable UTF-8
 * @to: receives the text, always with a NUL; the text is never cut within a character or an escape
 * @size: bytes of @to, at least 1
 * @from: the bytes
 * @len: number of bytes at @from
 *
 * Bytes that are not printable UTF-8 become \xNN: controls, invalid and overlong sequences, and
 * characters that reorder, hide or break a line. Backslashes are copied unchanged, because many
 * unit names contain them. Therefore the conversion cannot be reversed.
 *
 * Return: bytes written, without the NUL.
 */
size_t escape_text(char *to, size_t size, const char *from, size_t len);

/**
 * escape_string() - convert a NUL-terminated string as escape_text() does; returns the number of
 * bytes written
 */
static inline size_t escape_string(char *to, size_t size, const char *from)
{
	return escape_text(to, size, from, strlen(from));
}

/**
 * escape_is_utf8() - return true if @text is valid UTF-8, which D-Bus requires; it may be
 * unprintable
 */
bool escape_is_utf8(const char *text);

#endif
