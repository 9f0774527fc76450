// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test callers of the bus: their identity, whether they are still connected, and the decisions of
 * polkit. The simulated bus driver and polkit also send replies that real ones never send.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dbus/access.h"
#include "dbus/name-watch.h"

#define OBJECT	"/org/speprof1"
#define GUARDED "/org/speprof1/guarded"
#define GROUP  4711
#define OTHER  ((u32)geteuid() + 1)

/* maximum number of unanswered queries to the driver and to polkit */
#define QUESTIONS 8

static struct {
	sd_bus *driver, *bus;
	sd_bus_message *questions[QUESTIONS];
	u32 question_count;
	struct bus_callers callers;
	/* caller of the last call that was run, and the number of calls */
	struct bus_caller caller;
	u32 runs;
	/* name of the last error; empty if there was none */
	char answer[128];
	char message[160];
	u32 answers;
	u32 lost_count;
	/* access that calls to the object GUARDED need */
	struct access_control access;
	sd_bus_slot *guarded;
	enum access_level level;
	u32 tokens;
	u32 looks; /* number of calls of the access function */
	u64 now_ns;
} fake;

static int on_driver(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)userdata;
	(void)error;
	if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus", NULL) &&
	    !sd_bus_message_is_method_call(m, NULL, "CheckAuthorization"))
		return 0;
	if (sd_bus_message_is_method_call(m, NULL, "Hello"))
		return sd_bus_reply_method_return(m, "s", ":1.0");
	if (sd_bus_message_is_method_call(m, NULL, "RemoveMatch"))
		return 1;
	assert_true(fake.question_count < QUESTIONS);
	fake.questions[fake.question_count++] = sd_bus_message_ref(m);
	return 1;
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct bus_caller *caller;
	int r;

	r = bus_callers_find(&fake.callers, m, on_call, userdata, &caller, error);
	if (r <= 0)
		return r < 0 ? r : 1;
	fake.caller = *caller;
	fake.runs++;
	return sd_bus_reply_method_return(m, NULL);
}

static u64 fake_now(void)
{
	return fake.now_ns;
}

static enum access_level get_needed_access(sd_bus_message *m, void *ctx)
{
	(void)m;
	(void)ctx;
	fake.looks++;
	return fake.level;
}

static int on_guarded(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct access_requirement need = { .tokens = fake.tokens,
						 .level_of = get_needed_access };
	int r = access_check(&fake.access, m, &need, on_guarded, userdata, &fake.caller, error);

	if (r <= 0)
		return r < 0 ? r : 1;
	fake.runs++;
	return sd_bus_reply_method_return(m, NULL);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const sd_bus_error *answer = sd_bus_message_get_error(m);

	(void)userdata;
	(void)error;
	snprintf(fake.answer, sizeof(fake.answer), "%s", answer ? answer->name : "");
	snprintf(fake.message, sizeof(fake.message), "%s", answer ? answer->message : "");
	fake.answers++;
	return 1;
}

/* Process events until neither side has any. */
static void process_all(void)
{
	int r, done;

	do {
		done = 0;
		r = sd_bus_process(fake.driver, NULL);
		assert_true(r >= 0);
		done |= r;
		r = sd_bus_process(fake.bus, NULL);
		assert_true(r >= 0);
		done |= r;
	} while (done);
}

static void call_as(const char *sender, const char *object)
{
	sd_bus_message *m;

	assert_true(sd_bus_message_new_method_call(fake.driver, &m, ":1.0", object, "a.b", "C") >=
		    0);
	assert_true(sd_bus_message_set_sender(m, sender) >= 0);
	assert_true(sd_bus_call_async(fake.driver, NULL, m, on_reply, NULL, UINT64_MAX) >= 0);
	sd_bus_message_unref(m);
	process_all();
}

static void call_from_sender(u32 sender, const char *object)
{
	char name[32];

	snprintf(name, sizeof(name), ":1.%u", sender);
	call_as(name, object);
}

static void send_call(u32 sender)
{
	call_from_sender(sender, OBJECT);
}

/* Take the oldest unanswered query, which must call @member. */
static sd_bus_message *pop_query(const char *member)
{
	sd_bus_message *m = fake.questions[0];

	assert_true(fake.question_count > 0);
	assert_true(sd_bus_message_is_method_call(m, NULL, member));
	fake.question_count--;
	memmove(fake.questions, fake.questions + 1, fake.question_count * sizeof(m));
	return m;
}

static void reply_error(const char *member, const char *name)
{
	sd_bus_message *m = pop_query(member);

	assert_true(sd_bus_reply_method_errorf(m, name, "as the test has it") >= 0);
	sd_bus_message_unref(m);
	process_all();
}

/* @group: the user's group; 0: the user is in no group */
static void reply_user(u32 uid, u32 group)
{
	sd_bus_message *m = pop_query("GetConnectionCredentials");

	if (group)
		assert_true(sd_bus_reply_method_return(m, "a{sv}", 3, "ProcessID", "u", 7,
						       "UnixGroupIDs", "au", 2, 1, group,
						       "UnixUserID", "u", uid) >= 0);
	else
		assert_true(sd_bus_reply_method_return(m, "a{sv}", 2, "UnixUserID", "u", uid,
						       "UnixGroupIDs", "au", 0) >= 0);
	sd_bus_message_unref(m);
	process_all();
}

static int setup(void **state)
{
	sd_id128_t id = { .bytes = { 1 } };
	int fds[2];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	bus_callers_init(&fake.callers, GROUP);
	access_init(&fake.access);
	fake.access.now_ns = fake_now;
	fake.access.callers.group = GROUP;
	fake.level = ACCESS_MANAGE;
	fake.tokens = 1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	assert_true(sd_bus_new(&fake.driver) >= 0 && sd_bus_new(&fake.bus) >= 0);
	assert_true(sd_bus_set_fd(fake.driver, fds[0], fds[0]) >= 0);
	assert_true(sd_bus_set_server(fake.driver, 1, id) >= 0);
	assert_true(sd_bus_set_fd(fake.bus, fds[1], fds[1]) >= 0);
	assert_true(sd_bus_set_bus_client(fake.bus, 1) >= 0);
	assert_true(sd_bus_add_filter(fake.driver, NULL, on_driver, NULL) >= 0);
	assert_true(sd_bus_add_object(fake.bus, NULL, OBJECT, on_call, NULL) >= 0);
	assert_true(sd_bus_add_object(fake.bus, &fake.guarded, GUARDED, on_guarded, NULL) >= 0);
	assert_true(sd_bus_start(fake.driver) >= 0 && sd_bus_start(fake.bus) >= 0);
	process_all();
	assert_int_equal(sd_bus_is_ready(fake.bus), 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	while (fake.question_count)
		sd_bus_message_unref(fake.questions[--fake.question_count]);
	bus_callers_deinit(&fake.callers);
	access_deinit(&fake.access);
	sd_bus_slot_unref(fake.guarded);
	sd_bus_close_unref(fake.driver);
	sd_bus_close_unref(fake.bus);
	return 0;
}

static void test_identity_is_queried_once(void **state)
{
	(void)state;
	send_call(1);
	send_call(1);
	send_call(2);
	send_call(1);
	assert_int_equal(fake.question_count, 2);
	assert_int_equal(fake.runs, 0);
	assert_int_equal(fake.answers, 0);
	reply_user(OTHER, GROUP);
	assert_int_equal(fake.runs, 3);
	assert_int_equal(fake.answers, 3);
	assert_string_equal(fake.caller.name, ":1.1");
	assert_true(fake.caller.reads && !fake.caller.owner && fake.caller.uid == OTHER);
	reply_user(geteuid(), 0);
	assert_int_equal(fake.runs, 4);
	assert_true(fake.caller.owner && !fake.caller.reads);
	send_call(1);
	send_call(2);
	assert_int_equal(fake.question_count, 0);
	assert_int_equal(fake.runs, 6);
	/*
	 * Call as a user in other groups, as one in no group, and on a machine without the group.
	 */
	send_call(3);
	reply_user(OTHER, GROUP + 1);
	assert_false(fake.caller.reads || fake.caller.owner);
	send_call(4);
	reply_user(OTHER, 0);
	assert_false(fake.caller.reads || fake.caller.owner);
	fake.callers.group = (gid_t)-1;
	send_call(5);
	reply_user(OTHER, (u32)-1);
	assert_false(fake.caller.reads || fake.caller.owner);
	assert_int_equal(fake.runs, 9);
}

/* If the reply is not a user ID the call is refused, and the next call queries the driver again. */
static void test_no_user_id(void **state)
{
	static const struct {
		const char *error, *name;
	} rows[] = {
		{ "org.freedesktop.DBus.Error.NameHasNoOwner", "AccessDenied" },
		{ "org.freedesktop.DBus.Error.Failed", "AccessDenied" },
		{ "org.freedesktop.DBus.Error.NoReply", "LimitsExceeded" },
		{ "org.freedesktop.DBus.Error.LimitsExceeded", "LimitsExceeded" },
	};
	sd_bus_message *m;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].error);
		send_call(1);
		reply_error("GetConnectionCredentials", rows[i].error);
		assert_row(strstr(fake.answer, rows[i].name));
		assert_row(fake.answers == i + 1);
	}
	send_call(1);
	m = pop_query("GetConnectionCredentials");
	assert_true(sd_bus_reply_method_return(m, "a{sv}", 1, "UnixGroupIDs", "au", 1, GROUP) >= 0);
	sd_bus_message_unref(m);
	process_all();
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	send_call(1);
	m = pop_query("GetConnectionCredentials");
	assert_true(sd_bus_reply_method_return(m, "a{sv}", 1, "UnixUserID", "s", "0") >= 0);
	sd_bus_message_unref(m);
	process_all();
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	send_call(1);
	m = pop_query("GetConnectionCredentials");
	assert_true(sd_bus_reply_method_return(m, "u", 0) >= 0);
	sd_bus_message_unref(m);
	process_all();
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	assert_int_equal(fake.runs, 0);
	assert_int_equal(fake.answers, ARRAY_SIZE(rows) + 3);
	/* Call with a name that is longer than any unique name. */
	call_as(":1.00000000000000000000000000000000000000000000", OBJECT);
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	assert_int_equal(fake.question_count, 0);
}

static void test_oldest_caller_is_evicted(void **state)
{
	(void)state;
	for (u32 i = 1; i <= BUS_CALLERS; i++) {
		send_call(i);
		reply_user(OTHER, GROUP);
	}
	/* The first caller was used last, so the second one is the oldest. */
	send_call(1);
	send_call(BUS_CALLERS + 1);
	reply_user(OTHER, GROUP);
	assert_int_equal(fake.runs, BUS_CALLERS + 2);
	send_call(1);
	assert_int_equal(fake.question_count, 0);
	send_call(2);
	assert_int_equal(fake.question_count, 1);
}

/* Freeing the object cancels its queries first. */
static void test_deinit_while_pending(void **state)
{
	(void)state;
	send_call(1);
	send_call(2);
	send_call(2);
	bus_callers_deinit(&fake.callers);
	reply_user(0, 0);
	reply_user(0, 0);
	assert_int_equal(fake.runs, 0);
}

/* ---- Following a peer ------------------------------------------------------ */

static void on_disconnect(void *ctx)
{
	assert_ptr_equal(ctx, &fake);
	fake.lost_count++;
}

static void reply_value(const char *member, const char *type, int value)
{
	sd_bus_message *m = pop_query(member);

	assert_true(sd_bus_reply_method_return(m, type, value) >= 0);
	sd_bus_message_unref(m);
	process_all();
}

static void signal_owner_change(const char *name, const char *old, const char *new)
{
	sd_bus_message *m;

	assert_true(sd_bus_message_new_signal(fake.driver, &m, "/org/freedesktop/DBus",
					      "org.freedesktop.DBus", "NameOwnerChanged") >= 0);
	assert_true(sd_bus_message_set_sender(m, "org.freedesktop.DBus") >= 0);
	assert_true(sd_bus_message_append(m, "sss", name, old, new) >= 0);
	assert_true(sd_bus_send(fake.driver, m, NULL) >= 0);
	sd_bus_message_unref(m);
	process_all();
}

static void watch_peer(struct name_watch *peer)
{
	assert_int_equal(name_watch_start(peer, fake.bus, ":1.7", on_disconnect, &fake), 0);
	process_all();
	/* The daemon sends both queries without waiting for the first reply. */
	assert_int_equal(fake.question_count, 2);
	assert_non_null(peer->match);
}

static void test_peer_disconnects(void **state)
{
	struct name_watch peer;

	(void)state;
	watch_peer(&peer);
	reply_value("AddMatch", NULL, 0);
	reply_value("NameHasOwner", "b", 1);
	signal_owner_change(":1.8", ":1.8", "");
	assert_int_equal(fake.lost_count, 0);
	signal_owner_change(":1.7", ":1.7", "");
	assert_int_equal(fake.lost_count, 1);
	assert_null(peer.match);
	/* The peer disconnected before the match was added, so its signal was missed. */
	watch_peer(&peer);
	reply_value("AddMatch", NULL, 0);
	assert_int_equal(fake.lost_count, 1);
	reply_value("NameHasOwner", "b", 0);
	assert_int_equal(fake.lost_count, 2);
	assert_null(peer.match);
}

static void test_missed_disconnect_is_detected(void **state)
{
	struct name_watch peer;

	(void)state;
	watch_peer(&peer);
	reply_error("AddMatch", "org.freedesktop.DBus.Error.LimitsExceeded");
	assert_int_equal(fake.lost_count, 1);
	assert_null(peer.match);
	/* The query was cancelled. */
	reply_error("NameHasOwner", "org.freedesktop.DBus.Error.Failed");
	assert_int_equal(fake.lost_count, 1);
	watch_peer(&peer);
	/* A slow bus driver may still add the match after the time-out. */
	reply_error("AddMatch", "org.freedesktop.DBus.Error.NoReply");
	assert_int_equal(fake.lost_count, 1);
	assert_non_null(peer.match);
	reply_error("NameHasOwner", "org.freedesktop.DBus.Error.Failed");
	assert_int_equal(fake.lost_count, 2);
	assert_null(peer.match);
}

static void test_unwatch_cancels_query(void **state)
{
	struct name_watch peer;

	(void)state;
	watch_peer(&peer);
	name_watch_stop(&peer);
	reply_value("AddMatch", NULL, 0);
	reply_value("NameHasOwner", "b", 0);
	signal_owner_change(":1.7", ":1.7", "");
	assert_int_equal(fake.lost_count, 0);
	assert_null(peer.match);
}

/* ---- polkit ---------------------------------------------------------------- */

/* Answer the oldest query, which must be for @sender and @action, with @authorized. */
static void reply_polkit(const char *sender, const char *action, bool authorized)
{
	sd_bus_message *m = pop_query("CheckAuthorization");
	const char *kind, *key, *name, *action_id;

	assert_true(sd_bus_message_read(m, "(sa{sv})s", &kind, 1, &key, "s", &name, &action_id) >
		    0);
	assert_string_equal(name, sender);
	assert_string_equal(action_id, action);
	/* Before it queries polkit, the daemon began to watch the caller's name. */
	reply_value("AddMatch", NULL, 0);
	reply_value("NameHasOwner", "b", 1);
	assert_true(sd_bus_reply_method_return(m, "(bba{ss})", authorized, 0, 0) >= 0);
	sd_bus_message_unref(m);
	process_all();
}

static void test_polkit(void **state)
{
	(void)state;
	call_from_sender(1, GUARDED);
	reply_user(OTHER, 0);
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.runs, 1);
	call_from_sender(1, GUARDED);
	reply_polkit(":1.1", "org.speprof1.manage", false);
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	/* The call needs both permissions, and polkit may deny either of them. */
	fake.level = ACCESS_MANAGE_RAW;
	call_from_sender(1, GUARDED);
	reply_polkit(":1.1", "org.speprof1.manage", false);
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	call_from_sender(1, GUARDED);
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.runs, 1);
	reply_polkit(":1.1", "org.speprof1.read-raw", false);
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	call_from_sender(1, GUARDED);
	reply_polkit(":1.1", "org.speprof1.manage", true);
	reply_polkit(":1.1", "org.speprof1.read-raw", true);
	assert_int_equal(fake.runs, 2);
	assert_int_equal(fake.access.query_count, 0);
	/* Calls of root need no decision of polkit. */
	call_from_sender(2, GUARDED);
	reply_user(0, 0);
	assert_int_equal(fake.runs, 3);
	assert_int_equal(fake.question_count, 0);
}

/*
 * While polkit decides, another call sets a filter, so that the pending call needs more
 * permissions.
 */
static void test_permissions_grow_while_pending(void **state)
{
	(void)state;
	call_from_sender(1, GUARDED);
	reply_user(OTHER, 0);
	fake.level = ACCESS_MANAGE_RAW;
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.runs, 0);
	reply_polkit(":1.1", "org.speprof1.read-raw", false);
	assert_int_equal(fake.runs, 0);
	assert_string_equal(fake.answer, SD_BUS_ERROR_ACCESS_DENIED);
	assert_int_equal(fake.access.query_count, 0);
}

/* Check that a slot becomes free if its caller disconnects while a query is pending. */
static void test_unknown_caller_frees_slot(void **state)
{
	(void)state;
	call_from_sender(1, GUARDED);
	reply_user(OTHER, 0);
	assert_int_equal(fake.access.query_count, 1);
	memset(fake.access.callers.known, 0, sizeof(fake.access.callers.known));
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.question_count, 0);
	assert_int_equal(fake.access.query_count, 0);
	assert_int_equal(fake.runs, 1);
	assert_string_equal(fake.caller.name, ":1.1");
	assert_true(fake.caller.uid == OTHER && !fake.caller.owner && !fake.caller.reads);
}

/*
 * The session of a pending call is removed while polkit decides: the call fails, and its query is
 * cancelled.
 */
static void test_session_removed_while_pending(void **state)
{
	(void)state;
	call_from_sender(1, GUARDED);
	reply_user(OTHER, 0);
	fake.guarded = sd_bus_slot_unref(fake.guarded);
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.access.query_count, 0);
	assert_int_equal(fake.answers, 1);
}

/*
 * A caller disconnects while polkit decides: its slot becomes free, and a permission that arrives
 * later is dropped.
 */
static void test_disconnect_while_pending(void **state)
{
	sd_bus_message *m;

	(void)state;
	call_from_sender(1, GUARDED);
	reply_user(OTHER, 0);
	call_from_sender(1, GUARDED);
	assert_int_equal(fake.access.query_count, 2);
	m = pop_query("CheckAuthorization");
	reply_value("AddMatch", NULL, 0);
	reply_value("NameHasOwner", "b", 1);
	signal_owner_change(":1.1", ":1.1", "");
	assert_int_equal(fake.access.query_count, 1);
	assert_true(sd_bus_reply_method_return(m, "(bba{ss})", 1, 0, 0) >= 0);
	sd_bus_message_unref(m);
	process_all();
	assert_int_equal(fake.runs, 0);
	/* The other caller had disconnected before the daemon followed it. */
	sd_bus_message_unref(pop_query("CheckAuthorization"));
	reply_value("AddMatch", NULL, 0);
	assert_int_equal(fake.access.query_count, 1);
	reply_value("NameHasOwner", "b", 0);
	assert_int_equal(fake.access.query_count, 0);
	assert_int_equal(fake.runs, 0);
}

/*
 * The arguments of a call are read only after the caller was identified, the rate limit was
 * checked, and polkit has decided.
 */
static void test_arguments_are_read_last(void **state)
{
	(void)state;
	fake.tokens = 50;
	call_from_sender(1, GUARDED);
	assert_int_equal(fake.looks, 0);
	reply_user(OTHER, 0);
	assert_int_equal(fake.looks, 1);
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.looks, 2);
	assert_int_equal(fake.runs, 1);
	/*
	 * A call takes 50 of 400 tokens, and 300 more are charged for rows; the next call takes 50.
	 */
	access_charge_rows(&fake.access, &fake.caller, 300 * 64 + 63);
	call_from_sender(1, GUARDED);
	reply_polkit(":1.1", "org.speprof1.manage", true);
	assert_int_equal(fake.runs, 2);
	call_from_sender(1, GUARDED);
	assert_string_equal(fake.answer, SD_BUS_ERROR_LIMITS_EXCEEDED);
	assert_string_equal(fake.message, "Rate limit exceeded for this user; retry in 2 s, or join "
					  "the group speprof");
	assert_int_equal(fake.looks, 4);
	assert_int_equal(fake.question_count, 0);
	/* Another user has tokens until both users have used up the shared ones. */
	call_from_sender(2, GUARDED);
	reply_user(OTHER + 1, 0);
	reply_polkit(":1.2", "org.speprof1.manage", true);
	access_charge_rows(&fake.access, &fake.caller, 320 * 64);
	call_from_sender(3, GUARDED);
	reply_user(OTHER + 2, 0);
	assert_string_equal(fake.message, "Rate limit exceeded for all users outside the group speprof; "
					  "retry in 1 s, or join the group speprof");
	fake.now_ns += 1000000000;
	call_from_sender(3, GUARDED);
	assert_int_equal(fake.question_count, 3);
}

/*
 * Members of the group have more tokens, and their error does not advise to join the group. Root
 * has no limit.
 */
static void test_group_members_have_higher_limit(void **state)
{
	(void)state;
	fake.level = ACCESS_READ;
	fake.tokens = 50;
	call_from_sender(1, GUARDED);
	reply_user(OTHER, GROUP);
	for (u32 i = 1; i < 20; i++)
		call_from_sender(1, GUARDED);
	assert_int_equal(fake.runs, 20);
	call_from_sender(1, GUARDED);
	assert_string_equal(fake.message, "Rate limit exceeded for this user; retry in 1 s");
	assert_int_equal(fake.runs, 20);
	call_from_sender(2, GUARDED);
	reply_user(0, 0);
	access_charge_rows(&fake.access, &fake.caller, 1000000000);
	for (u32 i = 1; i < 100; i++)
		call_from_sender(2, GUARDED);
	assert_int_equal(fake.runs, 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_identity_is_queried_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_user_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_oldest_caller_is_evicted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deinit_while_pending, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_disconnects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missed_disconnect_is_detected, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unwatch_cancels_query, setup, teardown),
		cmocka_unit_test_setup_teardown(test_polkit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_permissions_grow_while_pending, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unknown_caller_frees_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arguments_are_read_last, setup, teardown),
		cmocka_unit_test_setup_teardown(test_group_members_have_higher_limit, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_session_removed_while_pending, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_disconnect_while_pending, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
