/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convert a profile's counters into the metrics that the daemon exports. */
#ifndef SPEPROF_PROFILE_METRICS_H
#define SPEPROF_PROFILE_METRICS_H

#include "metrics.h"
#include "profile/profile.h"

/**
 * profile_get_metrics() - get the ledgers, and the counters of all samples and of containers
 * @profile: the profile; the caller runs on its thread
 * @attributor: attributor of the profile
 * @ret_metrics: the result; free it with metrics_clear(). Fields for which the profile has no value
 * (epochs, source, state, problems, cost) are 0. Containers beyond METRICS_CONTAINERS_MAX are
 * counted only in the counters of the machine
 *
 * Return: 0 or -ENOMEM.
 */
int profile_get_metrics(struct profile *profile, struct attributor *attributor,
			struct metrics_snapshot *ret_metrics);

#endif
