/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of "report --pages" of a recording: the sets of pages of each container. */
#ifndef SPEPROF_PAGE_SET_TABLE_H
#define SPEPROF_PAGE_SET_TABLE_H

#include <json-c/json.h>
#include <stdio.h>

#include "codec/env.h"

/**
 * page_set_table_print() - print the containers, and then the heaviest ranges of each set
 * @out: where to print; lines fit the terminal
 * @root: object with the members of page_sets_add_json()
 * @limit: maximum number of ranges of each set, of all containers together
 */
void page_set_table_print(FILE *out, json_object *root, u32 limit);

#endif
