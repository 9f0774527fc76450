/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describe a comparison in words: by how many cycles the mean latency of loads changed, and in
 * which functions. If a side has only sums of latencies (&diff_counts.brief), describe the share of
 * DRAM and the 99th percentile instead.
 */
#ifndef SPEPROF_DIFF_WORDS_H
#define SPEPROF_DIFF_WORDS_H

#include "query/diff.h"

/* Entries of &diff_words.line; each line describes one container. */
#define DIFF_WORDS_LINES 4

/** struct diff_words - the lines; @count is their number */
struct diff_words {
	char line[DIFF_WORDS_LINES][1024];
	u32 count;
};

/**
 * diff_words_make() - describe the changes that exceed chance
 * @diff: a finished comparison; keys begin with the name of the container and a line break
 * @containers: whether the names of containers in the keys are not empty
 * @place: callback that writes the function and source line of a row
 * @ctx: argument of @place
 * @ret_words: the lines, at least one; if nothing exceeds chance, one line states that
 *
 * Return: 0 or -ENOMEM.
 */
int diff_words_make(const struct diff *diff, bool containers,
		    void (*place)(void *ctx, const struct diff_row *row, char *to, size_t size),
		    void *ctx, struct diff_words *ret_words);

#endif
