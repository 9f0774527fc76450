/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Other lists of containers, for all sessions at once: they are a part of each one's filter. */
#ifndef SPEPROF_CONTAINER_FILTER_H
#define SPEPROF_CONTAINER_FILTER_H

#include "worker.h"

/**
 * struct container_filter_change - argument of relist()
 * @change: of the session "machine", its rule with the lists already
 * @lists: of all others, from now on; NULL: as before
 * @why: "" or why it cannot be
 */
struct container_filter_change {
	struct worker_change change;
	const struct filter_lists *lists;
	char why[320];
};

/**
 * relist() - for worker_call(), struct container_filter_change: worker_change(), and the lists put before what each
 * session counts. All of it or nothing
 *
 * Return: 0; -EINVAL: a session's filter does not go together with the lists; as worker_change().
 */
int container_filter_apply(struct worker_state *state, void *arg);

#endif
