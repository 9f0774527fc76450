/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describe a comparison in words: what the mean latency of loads changed by, and in which functions.
 */
#ifndef SPEPROF_DIFF_WORDS_H
#define SPEPROF_DIFF_WORDS_H

#include "query/diff.h"

/* Maximum of lines: a container each. */
#define DIFF_WORDS_LINES 4

/** struct diff_words - the lines, @count of them */
struct diff_words {
	char line[DIFF_WORDS_LINES][1024];
	u32 count;
};

/**
 * diff_words_make() - describe the changes that exceed chance
 * @diff: finished; keys begin with the name of the container and a line break
 * @containers: whether the names are not empty
 * @place: callback that names the code of a row
 * @ctx: argument of @place
 * @ret_words: the lines, at least one: that nothing exceeds chance is one as well
 *
 * Return: 0 or -ENOMEM.
 */
int diff_words_make(const struct diff *diff, bool containers,
		    void (*place)(void *ctx, const struct diff_row *row, char *to, size_t size),
		    void *ctx, struct diff_words *ret_words);

#endif
