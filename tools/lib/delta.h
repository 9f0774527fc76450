/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compute the difference of two views of one profile. The daemon's profile grows from the start of
 * sampling; the live view shows what was counted in the last seconds.
 */
#ifndef SPEPROF_DELTA_H
#define SPEPROF_DELTA_H

#include "view/view.h"

/**
 * delta_compute_view() - subtract an earlier view from a later one, heaviest row first
 * @now: the later view
 * @before: the earlier view. It counts as empty if its rows are of another group, or the profile
 * was reset since then
 * @cut: @before has only its heaviest rows. A row that is only in @now may then have existed before
 * with an unknown count; it is omitted until the next interval
 * @sort: order of the rows
 * @ret_view: rows that grew; the caller clears it. Percentiles are those of @now, since they cannot
 * be subtracted
 *
 * If names were resolved between the views, rows of locations became rows of functions. The counts
 * of these locations are then subtracted from the rows of the same binary that grew. The sum of the
 * rows of a binary stays correct; for one interval, its distribution among these rows is an
 * estimate.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int delta_compute_view(const struct view *now, const struct view *before, bool cut,
		       enum view_sort sort, struct view *ret_view);

#endif
