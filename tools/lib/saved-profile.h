/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles in files: "speprof save" writes one, and report, diff and export read it, also on another
 * machine. Documentation/reference/saved-profiles.md describes the format.
 */
#ifndef SPEPROF_SAVED_PROFILE_H
#define SPEPROF_SAVED_PROFILE_H

#include <stdio.h>

#include "row-set.h"

/** saved_profile_is() - return whether the file @path is a saved profile */
bool saved_profile_is(const char *path);

/**
 * saved_profile_read() - read a saved profile
 * @path: name of the file
 * @ret_set: the rows; free them with row_set_clear()
 * @ret_making: one line about how it was made
 * @size: bytes of @ret_making
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int saved_profile_read(const char *path, struct row_set *ret_set, char *ret_making, size_t size);

/**
 * saved_profile_write() - write a profile
 * @out: receives it
 * @header: the ledgers
 * @query: keys of the rows
 * @rows: the rows, at most ROW_SET_ROWS
 *
 * Return: 0 or -ENOMEM.
 */
int saved_profile_write(FILE *out, const struct view_header *header, const struct query *query,
			const struct query_rows *rows);

#endif
