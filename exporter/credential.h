/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Secrets, as systemd hands them over: files in $CREDENTIALS_DIRECTORY. */
#ifndef SPEPROF_CREDENTIAL_H
#define SPEPROF_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * credential_read() - the credential speprof-exporter.@name
 * @ret_text: allocated, without white space at its end; NULL if there is none
 *
 * Return: 0; -EBADMSG if it is empty, longer than 64 KiB or has a NUL; other negative errno.
 */
int credential_read(const char *name, char **ret_text);

/** credential_is_line() - whether it has no control character, which would end a header */
bool credential_is_line(const char *text);

/** credential_path() - the path of the credential speprof-exporter.@name; "" if there is none */
void credential_path(const char *name, char *ret_path, size_t size);

#endif
