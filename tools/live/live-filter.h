/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter of rows in the live view, such as "web* dram>1000 binary!=*libc*". Each word is a
 * condition, and a row must meet all of them.
 */
#ifndef SPEPROF_LIVE_FILTER_H
#define SPEPROF_LIVE_FILTER_H

#include "view/view.h"

/* Size of &live_filter.text, a filter or a text to search for, in bytes with the NUL. */
#define LIVE_TEXT_SIZE 128
/* Entries of &live_filter.word. */
#define LIVE_WORDS_MAX 8

/** struct live_condition - a condition; its fields are private to live-filter.c */
struct live_condition {
	u8 kind;
	u8 field;
	bool negated;
	u64 number;
	char glob[LIVE_TEXT_SIZE + 2];
};

/**
 * struct live_filter - a filter; if it has no words, it accepts all rows
 * @text: the words as typed; "" for none
 */
struct live_filter {
	char text[LIVE_TEXT_SIZE];
	struct live_condition word[LIVE_WORDS_MAX];
	u32 count;
};

/**
 * live_filter_parse() - parse a filter
 * @text: words of at most LIVE_TEXT_SIZE bytes:
 *	- GLOB: a name of the row matches; without *, ? and [ it contains the text
 *	- KEY=GLOB, KEY!=GLOB: the name matches, or not; keys are container, program, process,
 *	  function, binary and file
 *	- MEASURE>NUMBER, MEASURE<NUMBER: the measures by which rows are sorted
 *	- "!" in front of any of these: the opposite
 * @ret_filter: the filter; unchanged on failure
 * @ret_error: set on failure: one sentence, at most @size bytes
 *
 * Upper and lower case are not distinguished.
 *
 * Return: 0 or -EINVAL.
 */
int live_filter_parse(const char *text, struct live_filter *ret_filter, char *ret_error,
		      size_t size);

/** live_filter_accepts() - return whether @row meets all conditions of @filter */
bool live_filter_accepts(const struct live_filter *filter, const struct view_row *row);

/** live_row_contains() - return whether a name of @row contains @text, without regard to case */
bool live_row_contains(const struct view_row *row, const char *text);

#endif
