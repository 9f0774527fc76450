/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile's figures in the form in which they leave the daemon. */
#ifndef SPEPROF_PROFILE_METRICS_H
#define SPEPROF_PROFILE_METRICS_H

#include "metrics.h"
#include "profile/profile.h"

/**
 * profile_metrics() - ledgers, all samples, and those of containers
 * @ret_metrics: allocated, for metrics_clear(); what only the daemon knows (epochs, source,
 *	state, trouble, cost) is left zero. Containers that METRICS_CONTAINERS leaves no room
 *	for are in the machine's figures alone
 *
 * Return: 0 or -ENOMEM.
 */
int profile_metrics(struct profile *profile, struct attributor *attributor,
		    struct metrics *ret_metrics);

#endif
