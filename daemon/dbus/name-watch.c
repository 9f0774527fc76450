// SPDX-License-Identifier: LGPL-2.1-or-later
#include "name-watch.h"

#include <errno.h>
#include <stdio.h>

#define DRIVER "org.freedesktop.DBus"

/* The match for the signal by which the bus driver reports that the name %s has another owner. */
#define MATCH                                                                               \
	"type='signal',sender='" DRIVER "',path='/org/freedesktop/DBus',interface='" DRIVER \
	"',member='NameOwnerChanged',arg0='%s'"

void name_watch_stop(struct name_watch *peer)
{
	sd_bus_slot_unref(peer->slot);
	sd_bus_slot_unref(peer->match);
	*peer = (struct name_watch){ 0 };
}

static void report_lost_connection(struct name_watch *peer)
{
	void (*on_lost)(void *ctx) = peer->on_lost;
	void *ctx = peer->ctx;

	name_watch_stop(peer);
	on_lost(ctx);
}

static int on_owner_changed(sd_bus_message *signal, void *userdata,
			    sd_bus_error *error __attribute__((unused)))
{
	const char *name, *old, *new;

	if (sd_bus_message_read(signal, "sss", &name, &old, &new) < 0 || !*new)
		report_lost_connection(userdata);
	return 0;
}

/* A timeout is no failure: the driver still adds the match, and answers NameHasOwner after that. */
static int on_match_reply(sd_bus_message *reply, void *userdata,
			  sd_bus_error *error __attribute__((unused)))
{
	if (sd_bus_message_is_method_error(reply, NULL) &&
	    sd_bus_message_get_errno(reply) != ETIMEDOUT)
		report_lost_connection(userdata);
	return 1;
}

static int on_owner_reply(sd_bus_message *reply, void *userdata,
			  sd_bus_error *error __attribute__((unused)))
{
	int has_owner;

	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_read(reply, "b", &has_owner) < 0 || !has_owner)
		report_lost_connection(userdata);
	return 1;
}

static int query_owner(struct name_watch *peer, sd_bus *bus, const char *name)
{
	sd_bus_message *call = NULL;
	int r;

	r = sd_bus_message_new_method_call(bus, &call, DRIVER, "/org/freedesktop/DBus", DRIVER,
					   "NameHasOwner");
	if (r >= 0)
		r = sd_bus_message_append(call, "s", name);
	if (r >= 0)
		r = sd_bus_call_async(bus, &peer->slot, call, on_owner_reply, peer, UINT64_MAX);
	sd_bus_message_unref(call);
	return r;
}

int name_watch_start(struct name_watch *peer, sd_bus *bus, const char *name,
		     void (*on_lost)(void *ctx), void *ctx)
{
	char match[512];
	int r;

	*peer = (struct name_watch){ .on_lost = on_lost, .ctx = ctx };
	r = snprintf(match, sizeof(match), MATCH, name);
	if (r < 0 || (size_t)r >= sizeof(match))
		return -EINVAL;
	r = sd_bus_add_match_async(bus, &peer->match, match, on_owner_changed, on_match_reply,
				   peer);
	/*
	 * The connection may have closed before the match was added, so query the owner of its
	 * name, too. The driver handles both calls in order, so no change is missed.
	 */
	if (r >= 0)
		r = query_owner(peer, bus, name);
	if (r < 0)
		name_watch_stop(peer);
	return r < 0 ? r : 0;
}
