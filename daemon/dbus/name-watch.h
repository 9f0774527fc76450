/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether somebody on the bus is still there; unlike sd_bus_track, without waiting for the driver. */
#ifndef SPEPROF_NAME_WATCH_H
#define SPEPROF_NAME_WATCH_H

#include <systemd/sd-bus.h>

/**
 * struct name_watch - who is followed, or zeroes
 * @match: of the signal that tells; NULL if nobody is followed
 * @asked: whether the peer was there still when that was asked for
 */
struct name_watch {
	sd_bus_slot *match;
	sd_bus_slot *asked;
	void (*gone)(void *ctx);
	void *ctx;
};

/**
 * name_watch_start() - from now on
 * @name: its unique one
 * @gone: called with @ctx, once, when it is not there, or when the bus does not tell; nobody
 * is followed any more then
 */
int name_watch_start(struct name_watch *peer, sd_bus *bus, const char *name,
		     void (*gone)(void *ctx), void *ctx);

void name_watch_stop(struct name_watch *peer);

#endif
