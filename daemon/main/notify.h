/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The service manager: what it is told, its watchdog. */
#ifndef SPEPROF_NOTIFY_H
#define SPEPROF_NOTIFY_H

#include <systemd/sd-event.h>

#include "config/reload-status.h"
#include "engine/worker.h"
#include "health-log.h"

#define STATUS_SIZE 1536

/**
 * struct notify
 * @heartbeat: of the worker, when it was looked at
 * @stuck: it has not come around since then
 * @trouble: what there was of it by then
 * @told: and was told of
 * @interval_ns: in force then
 * @changed: called with @ctx when that is another one
 * @reloaded: what became of the configuration's files; borrowed
 * @status: what was said last
 */
struct notify {
	struct worker *worker;
	sd_event_source *timer;
	u64 period_us;
	u64 heartbeat;
	bool watchdog;
	bool stuck;
	struct health trouble;
	struct health_log told;
	u64 interval_ns;
	void (*changed)(void *ctx);
	void *ctx;
	const struct reload_status *reloaded;
	char status[STATUS_SIZE];
};

/** notify_init() - the timer of status and watchdog: a worker that is stuck is not answered for */
int notify_init(struct notify *notify, sd_event *event, struct worker *worker);
void notify_deinit(struct notify *notify);

/** notify_ready() - it runs, or runs again after notify_reloading() */
void notify_ready(struct notify *notify);
void notify_reloading(void);
void notify_stopping(void);

#endif
