/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * User and group of the callers on the bus. The bus driver (org.freedesktop.DBus) knows them. Its
 * reply queues up behind all messages that were sent to us before, so a blocking query would let
 * one sender delay all others. The driver is therefore queried asynchronously, once for each
 * connection. Only the calls of that connection wait for the reply.
 */
#ifndef SPEPROF_CALLER_H
#define SPEPROF_CALLER_H

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "codec/env.h"

/* Connections in the cache of users; the least recently used one is evicted. */
#define BUS_CALLERS 256

/*
 * Calls that may wait for the driver: of all connections together, and of one. If all places are
 * taken, the newest call of the connection with most of them is refused.
 */
#define BUS_WAITING	   1024
#define BUS_CALLER_WAITING 64

/**
 * struct bus_caller - a connection to the bus
 * @name: its unique name. A bus never reuses one, so a cached entry cannot become wrong
 * @uid: its user
 * @owner: the user is root, or the one that the daemon runs as
 * @reads: the process is in the group speprof
 * @seen: value of bus_callers.clock at the last call, for eviction
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
 * struct caller_waiting - a call that waits for the driver
 * @lookup: the query for its sender
 * @message: a reference
 * @run: handles @message, with @ctx, once the sender is known
 * @ctx: for @run
 */
struct caller_waiting {
	const struct caller_lookup *lookup;
	sd_bus_message *message;
	sd_bus_message_handler_t run;
	void *ctx;
};

/**
 * struct bus_callers - cache of callers, and the calls that wait for it
 * @group: members may read; (gid_t)-1: there is no such group, so that only root may
 * @clock: counts calls
 * @known: the cache; "" is the name of a free entry
 * @lookups: open queries to the driver
 * @waiting_count: entries of @waiting
 * @waiting: calls in the order in which they arrived
 */
struct bus_callers {
	gid_t group;
	u64 clock;
	struct bus_caller known[BUS_CALLERS];
	struct caller_lookup *lookups;
	u32 waiting_count;
	struct caller_waiting waiting[BUS_WAITING];
};

/** bus_callers_init() - initialize with an empty cache; @group as in &struct bus_callers */
void bus_callers_init(struct bus_callers *callers, gid_t group);

/** bus_callers_deinit() - drop queries and waiting calls, which get no answer */
void bus_callers_deinit(struct bus_callers *callers);

/**
 * bus_callers_find() - find the sender of @message
 * @callers: initialized
 * @message: a method call
 * @run: called later with @message and @ctx, as sd-bus would, if the driver has to be queried.
 *	If the driver does not know the sender, the call is answered with an error instead
 * @ctx: for @run
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
 * bus_reply_failure() - answer a call after its handler failed; for handlers that sd-bus does not
 * run
 * @message: the call
 * @r: what the handler returned; if it is not negative, no answer is sent
 * @error: what the handler set, or a null error: @r says it; freed
 */
void bus_reply_failure(sd_bus_message *message, int r, sd_bus_error *error);

#endif
