/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows as comma-separated values, as RFC 4180 defines them: a heading, then one line for each row,
 * ended by CR and LF. Names are quoted, numbers are not; unknown values are empty.
 */
#ifndef SPEPROF_EXPORT_CSV_H
#define SPEPROF_EXPORT_CSV_H

#include <stdio.h>

#include "export-rows.h"

/** csv_print_heading() - print the names of all columns */
void csv_print_heading(FILE *out, const struct export_columns *columns);

/**
 * csv_print_row() - print a row: its names, its share, every measure, the unit and the backend
 *
 * Containers and programs choose their names, and a spreadsheet executes a cell that begins with
 * "=", "+", "-" or "@". Such a name gets a "'" in front, also after each ";", which some
 * spreadsheets treat as the end of a cell.
 */
void csv_print_row(FILE *out, const struct export_columns *columns, const struct export_row *row);

#endif
