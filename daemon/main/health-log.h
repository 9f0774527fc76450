/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes wrong while it runs, in the journal: as often as log-limit.h allows. */
#ifndef SPEPROF_HEALTH_LOG_H
#define SPEPROF_HEALTH_LOG_H

#include "source/source.h"
#include "util/log-limit.h"

/**
 * struct health - how it is now
 * @unsaved: times that figures could not be saved (checkpoint.h)
 * @stuck: the worker has not come around; how many times that was seen
 * @stuck_s: for how long
 * @watchdog: the service manager's ends the process for that
 */
struct health {
	struct source_trouble source;
	u64 unsaved;
	u64 stuck;
	unsigned int stuck_s;
	bool watchdog;
};

/** struct health_log - what of it was taken up the last time, and how often it is told */
struct health_log {
	struct health last;
	struct log_limit faults;
	struct log_limit throttles;
	struct log_limit unsaved;
	struct log_limit stuck;
};

/** health_log_update() - what is new; to be called every few seconds, with CLOCK_MONOTONIC */
void health_log_update(struct health_log *told, const struct health *now, u64 now_ns);

#endif
