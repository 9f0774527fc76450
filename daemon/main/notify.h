/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Send status and watchdog messages to the service manager. */
#ifndef SPEPROF_NOTIFY_H
#define SPEPROF_NOTIFY_H

#include <systemd/sd-event.h>

#include "config/reload-status.h"
#include "engine/worker.h"
#include "health-log.h"

/* bytes of the status line, including its NUL */
#define STATUS_SIZE 1536

/**
 * struct notify_state - state of the messages
 * @worker: the worker that is watched; borrowed
 * @timer: fires every @period_us
 * @period_us: period in microseconds
 * @heartbeat: the worker's heartbeat in the last period
 * @watchdog: true if the service manager expects watchdog messages
 * @stuck: true if the worker had no heartbeat since the last period
 * @health: totals of problems
 * @health_log: the problems that were logged
 * @interval_ns: sampling interval in the last period
 * @changed: called with @ctx when the interval has changed
 * @ctx: argument for @changed
 * @reloaded: result of the last reload; borrowed
 * @status: the last status line
 */
struct notify_state {
	struct worker *worker;
	sd_event_source *timer;
	u64 period_us;
	u64 heartbeat;
	bool watchdog;
	bool stuck;
	struct daemon_health health;
	struct health_log health_log;
	u64 interval_ns;
	void (*changed)(void *ctx);
	void *ctx;
	const struct reload_status *reloaded;
	char status[STATUS_SIZE];
};

/**
 * notify_init() - start the timer for status and watchdog
 * @notify: the state, all of which is initialized. Set &notify_state.reloaded,
 * &notify_state.changed and &notify_state.ctx afterwards
 * @event: the main loop
 * @worker: borrowed, until notify_deinit(). While the worker has no heartbeat, no watchdog message
 * is sent
 *
 * Return: 0 or negative errno.
 */
int notify_init(struct notify_state *notify, sd_event *event, struct worker *worker);

/** notify_deinit() - stop the timer */
void notify_deinit(struct notify_state *notify);

/**
 * notify_ready() - report that the daemon is ready: after the start, and after notify_reloading()
 */
void notify_ready(struct notify_state *notify);

/** notify_reloading() - report that a reload has begun */
void notify_reloading(void);

/** notify_stopping() - report that the daemon is stopping */
void notify_stopping(void);

#endif
