/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects that a connection to the bus closed. Unlike sd_bus_track it never blocks on the driver. */
#ifndef SPEPROF_NAME_WATCH_H
#define SPEPROF_NAME_WATCH_H

#include <systemd/sd-bus.h>

/**
 * struct name_watch - a watched connection; zeroed it watches none
 * @match: the match for NameOwnerChanged; NULL: none is watched
 * @asked: the pending query NameHasOwner, for a connection that closed before the match
 * @gone: called with @ctx when the connection closed
 * @ctx: for @gone
 */
struct name_watch {
	sd_bus_slot *match;
	sd_bus_slot *asked;
	void (*gone)(void *ctx);
	void *ctx;
};

/**
 * name_watch_start() - watch a connection
 * @peer: watches none
 * @bus: connected
 * @name: the unique name of the connection
 * @gone: called once with @ctx when the connection closed, was closed before, or cannot be
 *	watched. The watch has stopped by then, so @gone may free @peer
 * @ctx: for @gone
 *
 * Return: 0 or negative errno; @gone is not called on failure.
 */
int name_watch_start(struct name_watch *peer, sd_bus *bus, const char *name,
		     void (*gone)(void *ctx), void *ctx);

/** name_watch_stop() - stop watching without a call of @gone; harmless if none is watched */
void name_watch_stop(struct name_watch *peer);

#endif
