/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where snapshots come from: the daemon, asked over the bus, or a file that stands for
 * one. Nothing here makes the daemon wait, and nothing of it makes the exporter wait.
 */
#ifndef SPEPROF_FEED_H
#define SPEPROF_FEED_H

#include <systemd/sd-event.h>

#include "labels.h"
#include "metrics.h"

struct feed;

/* Why there is nothing: a number for each cause, as sentences have names and sizes in them. */
enum feed_fault {
	FEED_FILE = 1,
	FEED_SNAPSHOT,
	FEED_REFUSED,
	FEED_TOO_OLD,
	FEED_ANSWER,
	FEED_BUS,
};
#define FEED_CAUSE(fault, error) ((u64)(fault) << 32 | (u32)(error))

/**
 * struct feed_config
 * @address: of a private bus; NULL for the system's
 * @file: a snapshot's path instead, read anew each time; NULL for the bus
 * @interval: seconds
 * @take: gets each snapshot, which is its own then; NULL, FEED_CAUSE() and why, if there is none
 * @profile_seconds: how long profiles take, one after the other; 0 for none
 * @labels: whose names profiles may have, by its patterns
 * @take_profile: gets each, which is closed behind it, and the backend's name; -1, @cause and
 *	@why, where a daemon that is there gave none
 */
struct feed_config {
	const char *address;
	const char *file;
	u32 interval;
	void (*take)(void *ctx, struct metrics *metrics, u64 cause, const char *why);
	u32 profile_seconds;
	const struct labels *labels;
	void (*take_profile)(void *ctx, int fd, const char *backend, u64 cause, const char *why);
	void *ctx;
};

/** feed_new() - ask once at once, and then each interval; a bus that is not there is tried again */
int feed_new(const struct feed_config *config, sd_event *event, struct feed **ret_feed);
struct feed *feed_free(struct feed *feed);

#endif
