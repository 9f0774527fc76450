/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The distinct names of a page, numbered in the order in which they first occur. */
#ifndef SPEPROF_PAGE_STRINGS_H
#define SPEPROF_PAGE_STRINGS_H

#include <json-c/json.h>

#include "codec/env.h"

/**
 * struct page_strings - a set of strings; all zeros is empty
 * @text: the strings, indexed by number
 * @count: number of strings
 * @capacity: private
 * @slots: private
 * @size: private
 */
struct page_strings {
	char **text;
	u32 count;
	u32 capacity;
	u32 *slots;
	u32 size;
};

/**
 * page_strings_add() - find a string, or add it
 *
 * Return: number of the string; -ENOMEM if memory cannot be allocated.
 */
s64 page_strings_add(struct page_strings *strings, const char *text);

/** page_strings_json() - return the strings as an array; NULL if memory cannot be allocated */
json_object *page_strings_json(const struct page_strings *strings);

/** page_strings_deinit() - free the memory; @strings is empty afterwards */
void page_strings_deinit(struct page_strings *strings);

#endif
