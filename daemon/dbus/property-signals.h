/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Send PropertiesChanged signals for sessions. If several sessions share a source, a change of its
 * sampling or of its filters changes the properties of all these sessions.
 */
#ifndef SPEPROF_PROPERTY_SIGNALS_H
#define SPEPROF_PROPERTY_SIGNALS_H

#include "bus-core.h"

/**
 * struct bus_sharing_sessions - names of the sessions that share a source
 * @count: number of names
 */
struct bus_sharing_sessions {
	u32 count;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE];
};

/**
 * bus_find_sharing_sessions() - list the sessions that share a source
 * @bus: initialized
 * @session: one of them; NULL: list all sessions of all sources
 * @ret_sharers: includes @session; empty if there is no such session
 */
void bus_find_sharing_sessions(const struct bus_service *bus, const char *session,
			       struct bus_sharing_sessions *ret_sharers);

/**
 * bus_signal_sharing_sessions() - signal that a property of each of @sharers changed
 * @bus: initialized
 * @sharers: result of bus_find_sharing_sessions(); may include sessions that were removed since
 * @but: name of a session for which no signal is sent; NULL: none
 * @property: name of a property of the session interface
 */
void bus_signal_sharing_sessions(struct bus_service *bus,
				 const struct bus_sharing_sessions *sharers, const char *but,
				 const char *property);

/**
 * bus_signal_interval() - signal a new interval for @session and all sessions that share its
 * source
 */
void bus_signal_interval(struct bus_service *bus, const char *session);

/**
 * bus_signal_machine_interval() - signal a new interval of the machine's session
 * @bus: initialized
 *
 * Call it after a change that no call on the bus made, for instance a change by rate control.
 */
void bus_signal_machine_interval(struct bus_service *bus);

/**
 * bus_signal_configuration() - signal that the configuration changed how sessions sample and count
 */
void bus_signal_configuration(struct bus_service *bus);

/** bus_signal_reload() - signal the result of a reload of the configuration files */
void bus_signal_reload(struct bus_service *bus);

#endif
