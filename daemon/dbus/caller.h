/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who a caller is. The driver of the bus knows, and its answer stands behind all that others
 * sent before: it is asked without waiting for it, once for each caller, and what the caller
 * sent waits here. Nobody else's calls do.
 */
#ifndef SPEPROF_CALLER_H
#define SPEPROF_CALLER_H

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "codec/env.h"

/* Callers that are remembered at once; others take the place of the oldest. */
#define BUS_CALLERS 256

/*
 * Calls that wait for who their caller is, of all and of one caller. One user may have 256
 * connections where nothing else is configured: those of one alone leave others a place.
 */
#define BUS_WAITING	   1024
#define BUS_CALLER_WAITING 64

/**
 * struct bus_caller - a connection to the bus
 * @name: its unique one, which no other ever gets: what is known of it stays true
 * @owner: root, or whoever the daemon runs as
 * @reads: in the group
 * @seen: for replacement
 */
struct bus_caller {
	char name[32];
	uid_t uid;
	bool owner;
	bool reads;
	u64 seen;
};

struct caller_lookup;

/** struct caller_waiting - @message is a reference; it is for @run, with @ctx, once @lookup is done */
struct caller_waiting {
	const struct caller_lookup *lookup;
	sd_bus_message *message;
	sd_bus_message_handler_t run;
	void *ctx;
};

/**
 * struct bus_callers
 * @group: whose members may read; (gid_t)-1: there is no such group
 * @lookups: what the driver is asked
 * @waiting: in the order in which they came
 */
struct bus_callers {
	gid_t group;
	u64 clock;
	struct bus_caller known[BUS_CALLERS];
	struct caller_lookup *lookups;
	u32 waiting_count;
	struct caller_waiting waiting[BUS_WAITING];
};

void bus_callers_init(struct bus_callers *callers, gid_t group);

/** bus_callers_deinit() - nobody who waits is answered */
void bus_callers_deinit(struct bus_callers *callers);

/**
 * bus_callers_find() - who sent @message
 * @run: is called with @message and @ctx, as sd-bus would, as soon as that is known, if it is
 * not yet; not at all if it cannot be known, which the caller is told
 * @ret_caller: valid until the next call
 *
 * Return: 1 if it is known; 0 if @message waits for it; negative errno with @ret_error set.
 */
int bus_callers_find(struct bus_callers *callers, sd_bus_message *message,
		     sd_bus_message_handler_t run, void *ctx, const struct bus_caller **ret_caller,
		     sd_bus_error *ret_error);

/** bus_reply_failure() - what a handler returned and set, if it failed, as the answer; frees @error */
void bus_reply_failure(sd_bus_message *message, int r, sd_bus_error *error);

#endif
