/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows as folded stacks, which programs for flame graphs read: the names with semicolons between
 * them, a space, and the sort measure, such as "web;nginx;/usr/sbin/nginx;ngx_parse 1024".
 */
#ifndef SPEPROF_EXPORT_FOLDED_H
#define SPEPROF_EXPORT_FOLDED_H

#include <stdio.h>

#include "export-rows.h"

/**
 * folded_print_row() - print a row; a row without the measure is omitted
 *
 * A ";" in a name becomes "\x3b". Rows of an emulated SPU begin with the frame "[emulated]".
 */
void folded_print_row(FILE *out, const struct export_columns *columns,
		      const struct export_row *row);

/** folded_print_rest() - print the frame "[other]" with @value, if @value is at least 1 */
void folded_print_rest(FILE *out, const struct export_columns *columns, double value);

#endif
