// SPDX-License-Identifier: LGPL-2.1-or-later
#include "caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Microseconds after which a query to the bus driver fails; only calls of the queried sender wait
 * for the reply.
 */
#define LOOKUP_TIMEOUT_US 120000000ULL

/* Maximum number of groups of a user. A user in more groups is not treated as a member. */
#define GROUPS_MAX 1024

/**
 * struct caller_lookup - a pending query to the bus driver about a sender
 * @next: next query in bus_callers.lookups
 * @callers: the struct that owns the query
 * @slot: the pending call of the driver
 * @name: unique name of the sender's connection
 * @count: number of calls that wait for the reply, at least one
 */
struct caller_lookup {
	struct caller_lookup *next;
	struct bus_callers *callers;
	sd_bus_slot *slot;
	char name[sizeof(((struct bus_caller *)0)->name)];
	u32 count;
};

void bus_reply_failure(sd_bus_message *message, int r, sd_bus_error *error)
{
	if (r < 0 && sd_bus_error_is_set(error))
		sd_bus_reply_method_error(message, error);
	else if (r < 0)
		sd_bus_reply_method_errno(message, r, NULL);
	sd_bus_error_free(error);
}

/* Set the error for a sender that could not be looked up because of @r. */
static int set_lookup_error(int r, sd_bus_error *ret_error)
{
	if (r == -ETIMEDOUT || r == -ENOBUFS)
		return sd_bus_error_set(
			ret_error, SD_BUS_ERROR_LIMITS_EXCEEDED,
			"The bus did not report the user of this connection in time; retry.");
	return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
				"The bus does not know the user of this connection.");
}

/* ---- Replies of the bus driver ------------------------------------------- */

/* If the driver does not report groups, look the user up in the group database. */
static bool is_user_in_group(uid_t uid, gid_t group)
{
	const struct passwd *user = getpwuid(uid);
	gid_t groups[GROUPS_MAX];
	int n = GROUPS_MAX;

	if (!user || getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0)
		return false;
	for (int i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	return false;
}

static int read_groups(sd_bus_message *reply, gid_t group, bool *ret_member)
{
	const void *groups;
	size_t size;
	int r;

	r = sd_bus_message_enter_container(reply, 'v', "au");
	if (r >= 0)
		r = sd_bus_message_read_array(reply, 'u', &groups, &size);
	for (size_t i = 0; r >= 0 && i < size / sizeof(u32); i++)
		*ret_member |= ((const u32 *)groups)[i] == (u32)group;
	return r < 0 ? r : sd_bus_message_exit_container(reply);
}

/* Read the reply of GetConnectionCredentials, "a{sv}". */
static int read_credentials(sd_bus_message *reply, gid_t group, u32 *ret_uid, bool *ret_member)
{
	bool has_groups = false, known = false;
	const char *key;
	int r;

	*ret_member = false;
	r = sd_bus_message_enter_container(reply, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
		r = sd_bus_message_read(reply, "s", &key);
		if (r < 0)
			return r;
		if (!strcmp(key, "UnixUserID")) {
			r = sd_bus_message_read(reply, "v", "u", ret_uid);
			known = true;
		} else if (!strcmp(key, "UnixGroupIDs")) {
			r = read_groups(reply, group, ret_member);
			has_groups = true;
		} else {
			r = sd_bus_message_skip(reply, "v");
		}
		if (r >= 0)
			r = sd_bus_message_exit_container(reply);
	}
	if (r < 0)
		return r;
	if (!known)
		return -ENODATA;
	if (!has_groups)
		*ret_member = is_user_in_group(*ret_uid, group);
	return 0;
}

static struct bus_caller *find_cached_caller(struct bus_callers *callers, const char *name)
{
	for (u32 i = 0; i < BUS_CALLERS; i++)
		if (!strcmp(callers->known[i].name, name))
			return &callers->known[i];
	return NULL;
}

static struct bus_caller *find_oldest_caller(struct bus_callers *callers)
{
	struct bus_caller *found = &callers->known[0];

	for (u32 i = 1; i < BUS_CALLERS; i++)
		if (callers->known[i].seen < found->seen)
			found = &callers->known[i];
	return found;
}

static int cache_caller(struct bus_callers *callers, const char *name, sd_bus_message *reply)
{
	struct bus_caller *caller;
	bool member;
	u32 uid;
	int r;

	if (sd_bus_message_is_method_error(reply, NULL))
		return -sd_bus_message_get_errno(reply);
	r = read_credentials(reply, callers->group, &uid, &member);
	if (r < 0)
		return r;
	caller = find_oldest_caller(callers);
	*caller = (struct bus_caller){
		.uid = uid,
		.owner = uid == 0 || uid == geteuid(),
		.reads = member && callers->group != (gid_t)-1,
		.seen = ++callers->clock,
	};
	snprintf(caller->name, sizeof(caller->name), "%s", name);
	return 0;
}

/* ---- Calls that wait for a reply ----------------------------------------- */

static struct waiting_call waiting_call_remove(struct bus_callers *callers, u32 i)
{
	struct waiting_call waiting = callers->waiting[i];

	callers->waiting_count--;
	memmove(&callers->waiting[i], &callers->waiting[i + 1],
		(callers->waiting_count - i) * sizeof(callers->waiting[0]));
	return waiting;
}

static void refuse_waiting_call(struct waiting_call *waiting, int why)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;

	bus_reply_failure(waiting->message, set_lookup_error(why, &error), &error);
	sd_bus_message_unref(waiting->message);
}

static void run_waiting_call(struct waiting_call *waiting)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = waiting->run(waiting->message, waiting->ctx, &error);

	bus_reply_failure(waiting->message, r, &error);
	sd_bus_message_unref(waiting->message);
}

static void lookup_free(struct caller_lookup *lookup)
{
	sd_bus_slot_unref(lookup->slot);
	free(lookup);
}

static int on_credentials(sd_bus_message *reply, void *userdata,
			  sd_bus_error *error __attribute__((unused)))
{
	struct caller_lookup *lookup = userdata, **at;
	struct bus_callers *callers = lookup->callers;
	struct waiting_call waiting;
	int r = cache_caller(callers, lookup->name, reply);
	u32 i = 0;

	for (at = &callers->lookups; *at != lookup; at = &(*at)->next)
		;
	*at = lookup->next;
	/* Run all waiting calls now, so that no later call of the same sender overtakes them. */
	while (i < callers->waiting_count) {
		if (callers->waiting[i].lookup != lookup) {
			i++;
			continue;
		}
		waiting = waiting_call_remove(callers, i);
		if (r < 0)
			refuse_waiting_call(&waiting, r);
		else
			run_waiting_call(&waiting);
	}
	lookup_free(lookup);
	return 1;
}

static int query_driver(struct caller_lookup *lookup, sd_bus *bus)
{
	sd_bus_message *call = NULL;
	int r;

	r = sd_bus_message_new_method_call(bus, &call, "org.freedesktop.DBus",
					   "/org/freedesktop/DBus", "org.freedesktop.DBus",
					   "GetConnectionCredentials");
	if (r >= 0)
		r = sd_bus_message_append(call, "s", lookup->name);
	if (r >= 0)
		r = sd_bus_call_async(bus, &lookup->slot, call, on_credentials, lookup,
				      LOOKUP_TIMEOUT_US);
	sd_bus_message_unref(call);
	return r;
}

static int lookup_new(struct bus_callers *callers, sd_bus *bus, const char *name,
		      struct caller_lookup **ret_lookup)
{
	struct caller_lookup *lookup = calloc(1, sizeof(*lookup));
	int r;

	if (!lookup)
		return -ENOMEM;
	lookup->callers = callers;
	snprintf(lookup->name, sizeof(lookup->name), "%s", name);
	r = query_driver(lookup, bus);
	if (r < 0) {
		lookup_free(lookup);
		return r;
	}
	lookup->next = callers->lookups;
	callers->lookups = lookup;
	*ret_lookup = lookup;
	return 0;
}

/*
 * Make space for a new call: refuse the newest call of the sender with the most waiting calls.
 * Refuse nothing, and return false, if the sender of the new call would have at least as many
 * waiting calls as that sender. @own: number of calls of the new call's sender that wait already.
 */
static bool refuse_newest_call(struct bus_callers *callers, u32 own)
{
	struct caller_lookup *busiest = callers->lookups;
	struct waiting_call waiting;
	u32 i = callers->waiting_count;

	for (struct caller_lookup *l = busiest; l; l = l->next)
		if (l->count > busiest->count)
			busiest = l;
	if (!busiest || busiest->count <= own + 1)
		return false;
	while (callers->waiting[--i].lookup != busiest)
		;
	waiting = waiting_call_remove(callers, i);
	busiest->count--;
	refuse_waiting_call(&waiting, -ENOBUFS);
	return true;
}

static int queue_waiting_call(struct bus_callers *callers, const char *name,
			      sd_bus_message *message, sd_bus_message_handler_t handler, void *ctx)
{
	struct caller_lookup *lookup = callers->lookups;
	u32 own;
	int r;

	while (lookup && strcmp(lookup->name, name))
		lookup = lookup->next;
	own = lookup ? lookup->count : 0;
	if (own >= BUS_CALLER_WAITING ||
	    (callers->waiting_count >= BUS_WAITING && !refuse_newest_call(callers, own)))
		return -ENOBUFS;
	if (!lookup) {
		r = lookup_new(callers, sd_bus_message_get_bus(message), name, &lookup);
		if (r < 0)
			return r;
	}
	lookup->count++;
	callers->waiting[callers->waiting_count++] = (struct waiting_call){
		.lookup = lookup,
		.message = sd_bus_message_ref(message),
		.run = handler,
		.ctx = ctx,
	};
	return 0;
}

void bus_callers_init(struct bus_callers *callers, gid_t group)
{
	*callers = (struct bus_callers){ .group = group };
}

void bus_callers_deinit(struct bus_callers *callers)
{
	struct caller_lookup *lookup;

	while (callers->waiting_count)
		sd_bus_message_unref(callers->waiting[--callers->waiting_count].message);
	while ((lookup = callers->lookups)) {
		callers->lookups = lookup->next;
		lookup_free(lookup);
	}
}

int bus_callers_find(struct bus_callers *callers, sd_bus_message *message,
		     sd_bus_message_handler_t handler, void *ctx,
		     const struct bus_caller **ret_caller, sd_bus_error *ret_error)
{
	const char *name = sd_bus_message_get_sender(message);
	struct bus_caller *caller;
	int r;

	if (!name || !*name || strlen(name) >= sizeof(caller->name))
		return set_lookup_error(-EPERM, ret_error);
	caller = find_cached_caller(callers, name);
	if (!caller) {
		r = queue_waiting_call(callers, name, message, handler, ctx);
		return r < 0 ? set_lookup_error(r, ret_error) : 0;
	}
	caller->seen = ++callers->clock;
	*ret_caller = caller;
	return 1;
}
