/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The users and groups of callers on the bus, which the bus driver (org.freedesktop.DBus) reports.
 * The reply of the driver arrives after all messages that were sent to the daemon before it, so
 * with a blocking query one sender could delay all others. The driver is therefore queried
 * asynchronously, once for each connection, and only the calls of that connection wait for the
 * reply.
 */
#ifndef SPEPROF_CALLER_H
#define SPEPROF_CALLER_H

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "codec/env.h"

/* entries of &bus_callers.known; the least recently used connection is evicted */
#define BUS_CALLERS 256

/*
 * Limits of calls that wait for the bus driver: for all connections together, and for one. When the
 * first limit is reached, the newest call of the connection with the most waiting calls is refused.
 */
#define BUS_WAITING	   1024
#define BUS_CALLER_WAITING 64

/**
 * struct bus_caller - a connection to the bus, and the user of its process
 * @name: unique name of the connection; a bus never reuses a unique name, so a cached entry stays
 *	valid
 * @uid: user ID
 * @owner: true if the user is root, or the user that runs the daemon
 * @reads: true if the process is in the group speprof
 * @seen: value of bus_callers.clock at its last call, for eviction
 */
struct bus_caller {
	char name[32];
	uid_t uid;
	bool owner;
	bool reads;
	u64 seen;
};

struct caller_lookup;

/**
 * struct waiting_call - a call that waits for the bus driver
 * @lookup: the query about its sender
 * @message: the call; a reference
 * @run: function that handles @message when the sender is known
 * @ctx: argument for @run
 */
struct waiting_call {
	const struct caller_lookup *lookup;
	sd_bus_message *message;
	sd_bus_message_handler_t run;
	void *ctx;
};

/**
 * struct bus_callers - cache of callers, and the calls that wait for an entry
 * @group: members of this group may read; (gid_t)-1: no such group, so only root may
 * @clock: number of calls so far
 * @known: the cache; a free entry has the name ""
 * @lookups: pending queries to the bus driver
 * @waiting_count: number of entries of @waiting
 * @waiting: waiting calls in the order in which they arrived
 */
struct bus_callers {
	gid_t group;
	u64 clock;
	struct bus_caller known[BUS_CALLERS];
	struct caller_lookup *lookups;
	u32 waiting_count;
	struct waiting_call waiting[BUS_WAITING];
};

/** bus_callers_init() - initialize an empty cache; @group as in &struct bus_callers */
void bus_callers_init(struct bus_callers *callers, gid_t group);

/** bus_callers_deinit() - drop pending queries and waiting calls, which get no answer */
void bus_callers_deinit(struct bus_callers *callers);

/**
 * bus_callers_find() - find the sender of @message
 * @callers: initialized
 * @message: a method call
 * @run: if the bus driver has to be queried, called later with @message and @ctx, as sd-bus would
 * call it. If the driver reports no user for the sender, the call is answered with an error instead
 * @ctx: argument for @run
 * @ret_caller: the sender; valid until the next call of this function
 * @ret_error: set on failure: AccessDenied, or LimitsExceeded if too many calls wait
 *
 * Calls of one connection keep their order, also those that wait.
 *
 * Return: 1 if the sender is cached; 0 if @message waits; negative errno with @ret_error set.
 */
int bus_callers_find(struct bus_callers *callers, sd_bus_message *message,
		     sd_bus_message_handler_t run, void *ctx, const struct bus_caller **ret_caller,
		     sd_bus_error *ret_error);

/**
 * bus_reply_failure() - send an error reply to a call, if its handler failed
 * @message: the call
 * @r: return value of the handler, negative errno if it failed; otherwise no reply is sent
 * @error: error that the handler set; freed. If none is set, the reply is derived from @r
 *
 * sd-bus sends this reply itself for the handlers that it calls. The daemon calls the handler of a
 * call that waited for the bus driver, so the daemon has to send the reply with this function.
 */
void bus_reply_failure(sd_bus_message *message, int r, sd_bus_error *error);

#endif
