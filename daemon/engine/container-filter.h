/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes the lists of containers (Containers=), which are a part of the rule of each session. */
#ifndef SPEPROF_CONTAINER_FILTER_H
#define SPEPROF_CONTAINER_FILTER_H

#include "worker.h"

/**
 * struct container_filter_change - argument of container_filter_apply()
 * @change: change of the session "machine"; the new rule contains the new lists already
 * @lists: new lists for all other sessions; NULL: unchanged
 * @why: on failure, a sentence with the reason; else ""
 */
struct container_filter_change {
	struct worker_change_request change;
	const struct filter_lists *lists;
	char why[320];
};

/**
 * container_filter_apply() - change the session "machine" as worker_change_session() does, and
 * replace the lists of containers of all sessions; on failure nothing has changed
 * @state: the worker's
 * @arg: struct container_filter_change
 *
 * Context: the worker's thread, through worker_call().
 * Return: 0; -EINVAL: the filter of a session cannot be combined with the lists; other errors of
 * worker_change_session().
 */
int container_filter_apply(struct worker_state *state, void *arg);

#endif
