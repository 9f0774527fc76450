/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where snapshots come from: the daemon, asked over the bus, or a file that stands for
 * one. Nothing here makes the daemon wait, and nothing of it makes the exporter wait.
 */
#ifndef SPEPROF_FEED_H
#define SPEPROF_FEED_H

#include <systemd/sd-event.h>

#include "labels.h"
#include "output/metrics.h"

struct daemon_client;

/* Why there is nothing: a number for each cause, as sentences have names and sizes in them. */
enum daemon_client_fault {
	CLIENT_FAULT_FILE = 1,
	CLIENT_FAULT_SNAPSHOT,
	CLIENT_FAULT_REFUSED,
	CLIENT_FAULT_TOO_OLD,
	CLIENT_FAULT_ANSWER,
	CLIENT_FAULT_BUS,
};
#define DAEMON_CLIENT_CAUSE(fault, error) ((u64)(fault) << 32 | (u32)(error))

/**
 * struct daemon_client_config
 * @address: of a private bus; NULL for the system's
 * @file: a snapshot's path instead, read anew each time; NULL for the bus
 * @interval: seconds
 * @take: gets each snapshot, which is its own then; NULL, DAEMON_CLIENT_CAUSE() and why, if there is none
 * @profile_seconds: how long profiles take, one after the other; 0 for none
 * @labels: whose names profiles may have, by its patterns
 * @take_profile: gets each, which is closed behind it, and the backend's name; -1, @cause and
 *	@why, where a daemon that is there gave none
 */
struct daemon_client_config {
	const char *address;
	const char *file;
	u32 interval;
	void (*take)(void *ctx, struct metrics *metrics, u64 cause, const char *why);
	u32 profile_seconds;
	const struct labels *labels;
	void (*take_profile)(void *ctx, int fd, const char *backend, u64 cause, const char *why);
	void *ctx;
};

/** daemon_client_new() - ask once at once, and then each interval; a bus that is not there is tried again */
int daemon_client_new(const struct daemon_client_config *config, sd_event *event,
		      struct daemon_client **ret_shared_source);
struct daemon_client *daemon_client_free(struct daemon_client *client);

#endif
