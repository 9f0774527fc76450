/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of a profile's counters into the metrics that leave the daemon. */
#ifndef SPEPROF_PROFILE_METRICS_H
#define SPEPROF_PROFILE_METRICS_H

#include "metrics.h"
#include "profile/profile.h"

/**
 * profile_metrics() - get the ledgers and the counters of all samples and of containers
 * @profile: the profile; the caller is its thread
 * @attributor: the profile's attributor
 * @ret_metrics: the result; free it with metrics_clear(). The fields that only the daemon knows
 *	(epochs, source, state, trouble, cost) are 0. Containers beyond METRICS_CONTAINERS
 *	count only in the machine's counters
 *
 * Return: 0 or -ENOMEM.
 */
int profile_metrics(struct profile *profile, struct attributor *attributor,
		    struct metrics *ret_metrics);

#endif
