/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PropertiesChanged signals of sessions. Several sessions may share a source; how it samples, and
 * what its SPUs filter, then changes for all of them.
 */
#ifndef SPEPROF_PROPERTY_SIGNALS_H
#define SPEPROF_PROPERTY_SIGNALS_H

#include "bus-core.h"

/** struct bus_sharers - names of sessions that share a source, @count of them */
struct bus_sharers {
	u32 count;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE];
};

/**
 * bus_find_sharers() - list the sessions that share a source
 * @bus: initialized
 * @session: one of them; NULL: list all sessions of all sources
 * @ret_sharers: includes @session; empty if there is no such session
 */
void bus_find_sharers(const struct bus *bus, const char *session, struct bus_sharers *ret_sharers);

/**
 * bus_signal_sharers() - signal that @property changed for each of @sharers
 * @bus: initialized
 * @sharers: from bus_find_sharers(); sessions removed since then are harmless
 * @but: no signal for this one; NULL: for all
 * @property: of the session interface
 */
void bus_signal_sharers(struct bus *bus, const struct bus_sharers *sharers, const char *but,
			const char *property);

/** bus_interval_changed() - signal another interval for @session and all that share its source */
void bus_interval_changed(struct bus *bus, const char *session);

/**
 * bus_sampling_changed() - signal that the machine's session samples by another interval
 * @bus: initialized
 *
 * For changes that no call on the bus made, such as those of the rate control.
 */
void bus_sampling_changed(struct bus *bus);

/** bus_configured() - signal that the configuration changed how sessions sample and count */
void bus_configured(struct bus *bus);

/** bus_reloaded() - signal the result of reading the configuration's files again */
void bus_reloaded(struct bus *bus);

#endif
