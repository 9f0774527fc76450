/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Log problems of the running daemon, limited in rate by log-limit.h. */
#ifndef SPEPROF_HEALTH_LOG_H
#define SPEPROF_HEALTH_LOG_H

#include "source/source.h"
#include "util/log-limit.h"

/**
 * struct daemon_health - totals of problems
 * @source: counters of the machine's source
 * @unsaved: number of checkpoints that failed
 * @stuck: number of periods without a heartbeat of the worker
 * @stuck_s: seconds since the last heartbeat
 * @watchdog: true if the watchdog of the service manager will end the process if no heartbeat
 * follows
 */
struct daemon_health {
	struct source_health source;
	u64 unsaved;
	u64 stuck;
	unsigned int stuck_s;
	bool watchdog;
};

/** struct health_log - the totals at the last update, and a rate limit for each kind of problem */
struct health_log {
	struct daemon_health last;
	struct log_limit faults;
	struct log_limit throttles;
	struct log_limit unsaved;
	struct log_limit stuck;
};

/**
 * health_log_update() - log new problems, and the end of old ones
 * @log: state; zeroed before the first call
 * @now: present totals
 * @now_ns: CLOCK_MONOTONIC
 *
 * Context: the main thread, every few seconds.
 */
void health_log_update(struct health_log *log, const struct daemon_health *now, u64 now_ns);

#endif
