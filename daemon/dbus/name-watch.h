/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detect that a connection to the bus closed. Unlike sd_bus_track this never blocks on the bus
 * driver.
 */
#ifndef SPEPROF_NAME_WATCH_H
#define SPEPROF_NAME_WATCH_H

#include <systemd/sd-bus.h>

/**
 * struct name_watch - a watched connection; all zero: none is watched
 * @match: the match for NameOwnerChanged; NULL: none is watched
 * @slot: the pending query NameHasOwner, which detects that the connection closed before the match
 * was added
 * @on_lost: called with @ctx when the connection has closed
 * @ctx: argument for @on_lost
 */
struct name_watch {
	sd_bus_slot *match;
	sd_bus_slot *slot;
	void (*on_lost)(void *ctx);
	void *ctx;
};

/**
 * name_watch_start() - watch a connection
 * @peer: the watch; it watches no connection yet
 * @bus: connected
 * @name: unique name of the connection
 * @on_lost: called once with @ctx when the connection has closed, also if it had closed before, or
 * if it cannot be watched. The watch stops before it calls @on_lost, so @on_lost may free @peer
 * @ctx: argument for @on_lost
 *
 * Return: 0 or negative errno; @on_lost is not called on failure.
 */
int name_watch_start(struct name_watch *peer, sd_bus *bus, const char *name,
		     void (*on_lost)(void *ctx), void *ctx);

/**
 * name_watch_stop() - stop watching without calling &name_watch.on_lost; does nothing if none is
 * watched
 */
void name_watch_stop(struct name_watch *peer);

#endif
