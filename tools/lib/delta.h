/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What came to a profile between two views of it. The daemon's profile grows
 * from the start of sampling; a live view wants the last seconds.
 */
#ifndef SPEPROF_DELTA_H
#define SPEPROF_DELTA_H

#include "view/view.h"

/**
 * delta_view() - @now less @before, heaviest first
 * @before: rows of the same group; those of another, or of a profile that was
 *	reset since, count as none
 * @cut: @before lacks rows lighter than its lightest: what is new in @now may be
 *	old, by how much nobody knows, and waits for the next interval
 *
 * Where names were looked up in between, rows of places became rows of functions. What these had
 * before is taken from the rows of the same binary that grew, so that the rows of a binary add up to
 * what came to it; how it is divided among them is an estimate, of one interval.
 *
 * @ret_view: rows that grew; percentiles stay those of @now, since they cannot
 *	be subtracted
 *
 * Return: 0 or -ENOMEM.
 */
int delta_view(const struct view *now, const struct view *before, bool cut, enum view_sort sort,
	       struct view *ret_view);

#endif
