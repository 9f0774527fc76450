/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the names of rows from the JSON that query_json_write() writes. */
#ifndef SPEPROF_ROW_NAMES_H
#define SPEPROF_ROW_NAMES_H

#include <json-c/json.h>

#include "query/query-result.h"

/** row_names_read() - set the names of a row; the other members become 0 */
void row_names_read(json_object *json, struct query_row *ret_row);

/**
 * row_names_unnamed() - return whether the function of a row is an offset in its binary, because no
 * symbol has its name
 */
bool row_names_unnamed(const struct query_row *row);

#endif
