/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The service manager: what it is told, what it keeps for the next process, its watchdog. */
#ifndef SPEPROF_NOTIFY_H
#define SPEPROF_NOTIFY_H

#include <systemd/sd-event.h>

#include "reload.h"
#include "source-parts.h"
#include "trouble.h"
#include "worker.h"

/* Names in its store of descriptors; of a session's second part with "-2" behind it, and so on. */
#define STORE_SESSION	 "session-" SESSION_MACHINE
#define STORE_CHECKPOINT "speprofd-checkpoint"

/**
 * struct stored - what another process left there; -1 for what it did not
 * @session: by part of the source
 */
struct stored {
	int session[SOURCE_PARTS];
	int checkpoint;
};

/** stored_take() - once, at the start; what has no use here is closed, and taken out of the store */
void stored_take(struct stored *ret_stored);

/** store_put(), store_drop() - keep a descriptor, which stays the caller's, or no longer */
void store_put(const char *name, int fd);
void store_drop(const char *name);

/** store_sessions() - the session of each part of @source, whose rings outlive this process */
void store_sessions(struct source *source);

/** stored_drop_sessions() - those that were left and have no use; closed as well */
void stored_drop_sessions(struct stored *stored);

#define STATUS_SIZE 1536

/**
 * struct notify
 * @beat: of the worker, when it was looked at
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
	u64 beat;
	bool watchdog;
	bool stuck;
	struct trouble trouble;
	struct trouble_told told;
	u64 interval_ns;
	void (*changed)(void *ctx);
	void *ctx;
	const struct reload *reloaded;
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
