// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-access.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <time.h>

#define GROUP "speprof"

#define POLKIT_NAME	 "org.freedesktop.PolicyKit1"
#define POLKIT_PATH	 "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"

/* A person may have to find a password. */
#define POLKIT_TIMEOUT_US  300000000ULL
#define POLKIT_INTERACTIVE 1U

/*
 * CPU time a user may have spent at once, and how much of that runs off in a second: a
 * quarter of a CPU for those who read, a twentieth for others.
 */
#define READER_BURST_NS 2000000000ULL
#define READER_RATE_NS	250000000ULL
#define OTHER_BURST_NS	500000000ULL
#define OTHER_RATE_NS	50000000ULL

/* What a call costs at the least: the bus, and looking who it is. */
#define CALL_NS 20000ULL

/**
 * struct access_query - a question to polkit
 * @message: waits for it; a reference
 * @level: what was asked
 * @done: the answer is there: @error, or none if it is yes
 */
struct access_query {
	struct access_query *next;
	sd_bus_message *message;
	enum access_level level;
	sd_bus_slot *slot;
	bool done;
	sd_bus_error error;
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

void access_init(struct access *access)
{
	const struct group *group = getgrnam(GROUP);

	*access = (struct access){ 0 };
	bus_callers_init(&access->callers, group ? group->gr_gid : (gid_t)-1);
}

static void query_free(struct access_query *query)
{
	sd_bus_slot_unref(query->slot);
	sd_bus_message_unref(query->message);
	sd_bus_error_free(&query->error);
	free(query);
}

void access_deinit(struct access *access)
{
	struct access_query *query;

	bus_callers_deinit(&access->callers);
	while ((query = access->queries)) {
		access->queries = query->next;
		query_free(query);
	}
}

/* ---- How much ------------------------------------------------------------ */

/* The user's place, run off up to now. */
static struct access_user *user_of(struct access *access, const struct bus_caller *caller)
{
	u64 rate = caller->reads ? READER_RATE_NS : OTHER_RATE_NS, now = now_ns(), gone;
	struct access_user *user = NULL, *quiet = NULL;

	for (u32 i = 0; i < ACCESS_USERS; i++) {
		struct access_user *u = &access->users[i];

		if (u->used && u->uid == caller->uid)
			user = u;
		/* Who has questions open keeps the place: they are counted there. */
		if (!u->queries && (!quiet || !u->used || (quiet->used && u->at_ns < quiet->at_ns)))
			quiet = u;
	}
	if (!user && !quiet)
		return NULL;
	if (!user) {
		user = quiet;
		*user = (struct access_user){ .uid = caller->uid, .used = true, .at_ns = now };
	}
	gone = (now - user->at_ns) / 1000 * (rate / 1000000);
	user->spent_ns -= gone < user->spent_ns ? gone : user->spent_ns;
	user->at_ns = now;
	return user;
}

void access_charge(struct access *access, const struct bus_caller *caller, u64 spent_ns)
{
	struct access_user *user = caller->owner ? NULL : user_of(access, caller);

	if (user)
		user->spent_ns += spent_ns + CALL_NS;
}

static int afford(const struct bus_caller *caller, const struct access_user *user,
		  sd_bus_error *ret_error)
{
	if (user && user->spent_ns <= (caller->reads ? READER_BURST_NS : OTHER_BURST_NS))
		return 0;
	return sd_bus_error_setf(ret_error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				 "Too much was done for user %u lately: ask again later.",
				 (unsigned int)caller->uid);
}

int access_afford(struct access *access, const struct bus_caller *caller, sd_bus_error *ret_error)
{
	return caller->owner ? 0 : afford(caller, user_of(access, caller), ret_error);
}

/* ---- What polkit says ---------------------------------------------------- */

static const char *action_of(enum access_level level)
{
	return level == ACCESS_RAW    ? "org.speprof1.read-raw" :
	       level == ACCESS_RELOAD ? "org.speprof1.reload" :
					"org.speprof1.manage";
}

/* The reply "(bba{ss})", or an error, as the error for the caller; none if it is yes. */
static int polkit_verdict(sd_bus_message *reply, sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	int authorized = 0, challenge = 0, r;

	if (error && (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
		      sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER)))
		return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					"Only root may do this: polkit (" POLKIT_NAME
					") is not running, which would ask for others.");
	if (error)
		return sd_bus_error_setf(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					 "polkit did not decide: %s.",
					 error->message ? error->message : error->name);
	r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
	if (r >= 0)
		r = sd_bus_message_read(reply, "bb", &authorized, &challenge);
	if (r < 0)
		return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					"polkit answered in a way that is not understood.");
	if (authorized)
		return 0;
	if (challenge)
		return sd_bus_error_set(
			ret_error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
			"polkit asks for authentication, which this call does not allow.");
	return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED, "polkit denied this.");
}

static int on_polkit(sd_bus_message *reply, void *userdata,
		     sd_bus_error *error __attribute__((unused)))
{
	struct access_query *query = userdata;
	int r;

	polkit_verdict(reply, &query->error);
	query->done = true;
	/* The message is dispatched again, and finds the answer. */
	r = sd_bus_message_rewind(query->message, true);
	if (r >= 0)
		r = sd_bus_enqueue_for_read(sd_bus_message_get_bus(query->message), query->message);
	return r < 0 ? r : 1;
}

static int send_query(struct access_query *query, enum access_level level)
{
	sd_bus *bus = sd_bus_message_get_bus(query->message);
	bool interactive = sd_bus_message_get_allow_interactive_authorization(query->message) > 0;
	sd_bus_message *call = NULL;
	int r;

	r = sd_bus_message_new_method_call(bus, &call, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
					   "CheckAuthorization");
	if (r >= 0)
		r = sd_bus_message_append(call, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name",
					  "s", sd_bus_message_get_sender(query->message),
					  action_of(level), 0,
					  interactive ? POLKIT_INTERACTIVE : 0U, "");
	if (r >= 0)
		r = sd_bus_call_async(bus, &query->slot, call, on_polkit, query, POLKIT_TIMEOUT_US);
	sd_bus_message_unref(call);
	return r;
}

static int query_new(struct access *access, sd_bus_message *message, enum access_level level,
		     struct access_user *user, sd_bus_error *error)
{
	struct access_query *query;
	int r;

	if (!user || user->queries >= ACCESS_USER_QUERIES || access->query_count >= ACCESS_QUERIES)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%u calls of this user wait for polkit already.",
					 user ? user->queries : 0);
	query = calloc(1, sizeof(*query));
	if (!query)
		return -ENOMEM;
	query->message = sd_bus_message_ref(message);
	query->level = level;
	r = send_query(query, level);
	if (r < 0) {
		query_free(query);
		return r;
	}
	query->next = access->queries;
	access->queries = query;
	access->query_count++;
	user->queries++;
	return 0;
}

/* The answer for @message: 1, to @ret_level, or an error; 0 if it was not asked for. */
static int take_answer(struct access *access, const sd_bus_message *message,
		       struct access_user *user, enum access_level *ret_level, sd_bus_error *error)
{
	struct access_query **at = &access->queries, *query;
	int r = 1;

	while (*at && (*at)->message != message)
		at = &(*at)->next;
	query = *at;
	if (!query || !query->done)
		return 0;
	*at = query->next;
	access->query_count--;
	if (user)
		user->queries--;
	*ret_level = query->level;
	if (sd_bus_error_is_set(&query->error))
		r = sd_bus_error_copy(error, &query->error);
	query_free(query);
	return r;
}

int access_check(struct access *access, sd_bus_message *message, enum access_level level,
		 sd_bus_message_handler_t again, void *ctx, struct bus_caller *ret_caller,
		 sd_bus_error *ret_error)
{
	const struct bus_caller *caller;
	enum access_level granted;
	struct access_user *user;
	int r;

	r = bus_callers_find(&access->callers, message, again, ctx, &caller, ret_error);
	if (r <= 0)
		return r;
	*ret_caller = *caller;
	if (caller->owner)
		return 1;
	user = user_of(access, caller);
	r = take_answer(access, message, user, &granted, ret_error);
	if (r > 0 && level == ACCESS_MANAGE_RAW && granted == ACCESS_MANAGE)
		return query_new(access, message, ACCESS_RAW, user, ret_error);
	if (r)
		return r;
	r = afford(caller, user, ret_error);
	if (r < 0)
		return r;
	access_charge(access, caller, 0);
	if (level == ACCESS_ANYONE || (level == ACCESS_READ && caller->reads))
		return 1;
	if (level == ACCESS_OWNER)
		return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					"Only root may do this.");
	if (level == ACCESS_READ)
		return sd_bus_error_set(
			ret_error, SD_BUS_ERROR_ACCESS_DENIED,
			"Only root and the group " GROUP
			" may see this machine's profile; GetContainers and GetContainer "
			"show what runs in cgroups that were delegated to you.");
	return query_new(access, message, level == ACCESS_MANAGE_RAW ? ACCESS_MANAGE : level, user,
			 ret_error);
}
