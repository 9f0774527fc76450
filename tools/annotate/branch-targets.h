/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Count the targets of the branches in a listing. */
#ifndef SPEPROF_BRANCH_TARGETS_H
#define SPEPROF_BRANCH_TARGETS_H

#include "lib/input.h"
#include "listing.h"

/**
 * branch_targets_count() - read a recording once more, and count the targets of branches
 * @request: the recording, as for input_load()
 * @input: the result of input_load()
 * @symbols: resolver of names; lookups in it block
 * @listing: the lines of branches with samples receive their targets
 *
 * Return: 0 or negative errno.
 */
int branch_targets_count(const struct input_request *request, struct input_recording *input,
			 struct symbols_cache *symbols, struct listing *listing);

#endif
