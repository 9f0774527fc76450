/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Print the cache lines that several threads share. */
#ifndef SPEPROF_SHARING_TABLE_H
#define SPEPROF_SHARING_TABLE_H

#include <json-c/json.h>
#include <stdio.h>

/**
 * sharing_table_print() - print a table of lines and their users, and advice about each line
 * @out: where to print
 * @root: the JSON of "speprof sharing -j" (Documentation/reference/json.md)
 */
void sharing_table_print(FILE *out, json_object *root);

#endif
