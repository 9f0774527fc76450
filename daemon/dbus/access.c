// SPDX-License-Identifier: LGPL-2.1-or-later
#include "access.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <time.h>

#include "name-watch.h"
#include "util/time.h"

#define GROUP "speprof"

#define POLKIT_NAME	 "org.freedesktop.PolicyKit1"
#define POLKIT_PATH	 "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"

/* Long enough for a user to type a password */
#define POLKIT_TIMEOUT_US  300000000ULL
#define POLKIT_INTERACTIVE 1U

/* number of rows of an answer that cost one token */
#define ROWS_PER_TOKEN 64

/**
 * struct polkit_query - a pending query to polkit
 * @next: next query in the list of @access
 * @access: the struct that owns the query
 * @message: the call that waits; a reference
 * @retry: function of access_check(); called with @message after polkit has answered
 * @ctx: argument for @retry
 * @level: the permission that polkit is queried for
 * @caller: sender of @message; a copy, because the cache of callers may evict its entry meanwhile
 * @peer: watches the sender until polkit answers; the query is dropped when the sender disconnects
 * @slot: the pending call of polkit
 * @done: true if polkit has answered
 * @error: the error for the caller; null if polkit authorized it
 */
struct polkit_query {
	struct polkit_query *next;
	struct access_control *access;
	sd_bus_message *message;
	sd_bus_message_handler_t retry;
	void *ctx;
	enum access_level level;
	struct bus_caller caller;
	struct name_watch peer;
	sd_bus_slot *slot;
	bool done;
	sd_bus_error error;
};

void access_init(struct access_control *access)
{
	const struct group *group = getgrnam(GROUP);

	*access = (struct access_control){ .now_ns = time_now_ns };
	bus_callers_init(&access->callers, group ? group->gr_gid : (gid_t)-1);
}

static void query_free(struct polkit_query *query)
{
	name_watch_stop(&query->peer);
	sd_bus_slot_unref(query->slot);
	sd_bus_message_unref(query->message);
	sd_bus_error_free(&query->error);
	free(query);
}

void access_deinit(struct access_control *access)
{
	struct polkit_query *query;

	bus_callers_deinit(&access->callers);
	while ((query = access->queries)) {
		access->queries = query->next;
		query_free(query);
	}
}

/* ---- Rate limit ---------------------------------------------------------- */

static int charge_call(struct access_control *access, const struct bus_caller *caller, u32 tokens,
		       sd_bus_error *ret_error)
{
	u32 retry_s;
	int r;

	if (caller->owner)
		return 0;
	r = rate_limit_take(&access->limit, caller->uid, caller->reads, tokens, access->now_ns(),
			    &retry_s);
	if (r >= 0)
		return 0;
	if (caller->reads)
		return sd_bus_error_setf(ret_error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "Rate limit exceeded for this user; retry in %u s", retry_s);
	return sd_bus_error_setf(ret_error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				 "Rate limit exceeded for %s; retry in %u s, or join the group " GROUP,
				 r == -EUSERS ? "all users outside the group " GROUP : "this user",
				 retry_s);
}

void access_charge_rows(struct access_control *access, const struct bus_caller *caller, u64 rows)
{
	u64 tokens = rows / ROWS_PER_TOKEN;

	if (!caller->owner && tokens)
		rate_limit_charge(&access->limit, caller->uid, caller->reads,
				  tokens < UINT32_MAX ? (u32)tokens : UINT32_MAX, access->now_ns());
}

/* ---- polkit -------------------------------------------------------------- */

static const char *get_polkit_action(enum access_level level)
{
	return level == ACCESS_RAW    ? "org.speprof1.read-raw" :
	       level == ACCESS_RELOAD ? "org.speprof1.reload" :
					"org.speprof1.manage";
}

/*
 * Evaluate polkit's reply "(bba{ss})", or its error, to the query for @action. Return 0 if polkit
 * authorized the caller, else a negative errno with @ret_error set.
 */
static int polkit_reply_to_error(sd_bus_message *reply, const char *action, sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	int authorized = 0, challenge = 0, r;

	if (error && (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
		      sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER)))
		return sd_bus_error_set(
			ret_error, SD_BUS_ERROR_ACCESS_DENIED,
			"Only root may do this, because polkit (" POLKIT_NAME
			") is not running. Start it so that other users can authenticate.");
	if (error)
		return sd_bus_error_setf(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					 "polkit did not answer the query for authorization: %s.",
					 error->message ? error->message : error->name);
	r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
	if (r >= 0)
		r = sd_bus_message_read(reply, "bb", &authorized, &challenge);
	if (r < 0)
		return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					"polkit sent a reply of an unknown format.");
	if (authorized)
		return 0;
	if (challenge)
		return sd_bus_error_setf(ret_error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
					 "polkit requires authentication for %s: run the call as "
					 "root, or allow interactive authorization.",
					 action);
	return sd_bus_error_setf(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
				 "polkit denied this call, which needs %s.", action);
}

static void query_unlink(struct polkit_query *query)
{
	struct polkit_query **at = &query->access->queries;

	while (*at != query)
		at = &(*at)->next;
	*at = query->next;
	query->access->query_count--;
}

/* Return the answered query for @message, or NULL. */
static struct polkit_query *find_answered_query(const struct access_control *access,
						const sd_bus_message *message)
{
	struct polkit_query *query = access->queries;

	while (query && (query->message != message || !query->done))
		query = query->next;
	return query;
}

/*
 * Call the handler again; its access_check() then finds the answer of polkit. Do not let sd-bus
 * dispatch the message again: if the object of the message has been removed, sd-bus calls no
 * handler, and the query is never freed.
 */
static int on_polkit(sd_bus_message *reply, void *userdata,
		     sd_bus_error *unused __attribute__((unused)))
{
	struct polkit_query *query = userdata;
	struct access_control *access = query->access;
	sd_bus_message *message = sd_bus_message_ref(query->message);
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r;

	polkit_reply_to_error(reply, get_polkit_action(query->level), &query->error);
	query->done = true;
	name_watch_stop(&query->peer);
	r = sd_bus_message_rewind(message, true);
	if (r >= 0)
		r = query->retry(message, query->ctx, &error);
	query = find_answered_query(access, message);
	if (query) {
		query_unlink(query);
		query_free(query);
	}
	bus_reply_failure(message, r, &error);
	sd_bus_message_unref(message);
	return 1;
}

/* The sender disconnected: drop its query, so that a late answer of polkit has no effect. */
static void on_sender_lost(void *ctx)
{
	query_unlink(ctx);
	query_free(ctx);
}

static int send_query(struct polkit_query *query)
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
					  get_polkit_action(query->level), 0,
					  interactive ? POLKIT_INTERACTIVE : 0U, "");
	if (r >= 0)
		r = sd_bus_call_async(bus, &query->slot, call, on_polkit, query, POLKIT_TIMEOUT_US);
	sd_bus_message_unref(call);
	return r;
}

/*
 * Check that @caller may have one more pending query. Return: 0; a negative errno if a limit is
 * reached, with @error set.
 */
static int query_check_limits(const struct access_control *access, const struct bus_caller *caller,
			      sd_bus_error *error)
{
	u32 own = 0, others = 0;

	for (const struct polkit_query *q = access->queries; q; q = q->next) {
		own += q->caller.uid == caller->uid;
		others += !q->caller.reads;
	}
	if (own >= ACCESS_USER_QUERIES)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%u calls of this user already wait for polkit. Retry "
					 "when one of them is complete.",
					 own);
	if (access->query_count >= ACCESS_QUERIES ||
	    (!caller->reads && others >= ACCESS_OTHERS_QUERIES))
		return sd_bus_error_setf(
			error, SD_BUS_ERROR_LIMITS_EXCEEDED,
			"%u calls already wait for polkit. Retry when one of them is complete.",
			access->query_count);
	return 0;
}

/*
 * Send a query to polkit. @like: contains the message, its handler and sender, and the permission.
 */
static int query_new(struct access_control *access, const struct polkit_query *like,
		     sd_bus_error *error)
{
	struct polkit_query *query;
	int r;

	r = query_check_limits(access, &like->caller, error);
	if (r < 0)
		return r;
	query = calloc(1, sizeof(*query));
	if (!query)
		return -ENOMEM;
	*query = (struct polkit_query){
		.access = access,
		.message = sd_bus_message_ref(like->message),
		.retry = like->retry,
		.ctx = like->ctx,
		.level = like->level,
		.caller = like->caller,
	};
	r = send_query(query);
	if (r >= 0)
		r = name_watch_start(&query->peer, sd_bus_message_get_bus(query->message),
				     query->caller.name, on_sender_lost, query);
	if (r < 0) {
		query_free(query);
		return r;
	}
	query->next = access->queries;
	access->queries = query;
	access->query_count++;
	return 0;
}

static enum access_level get_required_level(sd_bus_message *message,
					    const struct access_requirement *need, void *ctx)
{
	return need->level_of ? need->level_of(message, ctx) : need->level;
}

/* Finish access_check() for a call that polkit has answered. */
static int check_answered_query(struct access_control *access, struct polkit_query *query,
				const struct access_requirement *need,
				struct bus_caller *ret_caller, sd_bus_error *ret_error)
{
	int r = 1;

	query_unlink(query);
	if (sd_bus_error_is_set(&query->error)) {
		r = sd_bus_error_copy(ret_error, &query->error);
	} else if (query->level == ACCESS_MANAGE &&
		   get_required_level(query->message, need, query->ctx) == ACCESS_MANAGE_RAW) {
		query->level = ACCESS_RAW;
		r = query_new(access, query, ret_error);
	}
	*ret_caller = query->caller;
	query_free(query);
	return r;
}

int access_check(struct access_control *access, sd_bus_message *message,
		 const struct access_requirement *need, sd_bus_message_handler_t retry, void *ctx,
		 struct bus_caller *ret_caller, sd_bus_error *ret_error)
{
	struct polkit_query *query = find_answered_query(access, message);
	const struct bus_caller *caller;
	enum access_level level;
	int r;

	/*
	 * Handle the answer of polkit before bus_callers_find(): if the cache of callers has
	 * evicted the sender, that function would return before the query is freed.
	 */
	if (query)
		return check_answered_query(access, query, need, ret_caller, ret_error);
	r = bus_callers_find(&access->callers, message, retry, ctx, &caller, ret_error);
	if (r <= 0)
		return r;
	*ret_caller = *caller;
	if (caller->owner)
		return 1;
	r = charge_call(access, caller, need->tokens, ret_error);
	if (r < 0)
		return r;
	level = get_required_level(message, need, ctx);
	if (level == ACCESS_ANYONE || (level == ACCESS_READ && caller->reads))
		return 1;
	if (level == ACCESS_OWNER)
		return sd_bus_error_set(ret_error, SD_BUS_ERROR_ACCESS_DENIED,
					"Only root may do this.");
	if (level == ACCESS_READ)
		return sd_bus_error_set(
			ret_error, SD_BUS_ERROR_ACCESS_DENIED,
			"Only root and the group " GROUP
			" may see this machine's profile; GetContainers and GetContainer show the "
			"containers in cgroups that are delegated to you.");
	return query_new(access,
			 &(struct polkit_query){
				 .message = message,
				 .retry = retry,
				 .ctx = ctx,
				 .level = level == ACCESS_MANAGE_RAW ? ACCESS_MANAGE : level,
				 .caller = *caller,
			 },
			 ret_error);
}
