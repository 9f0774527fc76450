// SPDX-License-Identifier: LGPL-2.1-or-later
/* A worker goes on with what another one left, and with what nobody should have left. */
#include "test.h"

#include "keep.h"
#include "profile-read.h"
#include "speprof-version.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A source without samples, whose time passes. */
struct played {
	struct source source;
	int fd;
};

static int played_start(struct source *source __attribute__((unused)))
{
	return 0;
}

static void played_stop(struct source *source __attribute__((unused)))
{
}

static int played_fd(struct source *source)
{
	return ((struct played *)source)->fd;
}

static int played_drain(struct source *source __attribute__((unused)),
			const struct source_sink *sink)
{
	static const u8 nothing[1];
	const struct source_window window = {
		.data = nothing,
		.tid = -1,
		.armed_ns = 100,
		.blind_ns = 7,
		.lost_bytes = 3,
	};

	sink->window(sink->ctx, &window);
	return 0;
}

static void played_free(struct source *source)
{
	struct played *played = (struct played *)source;

	close(played->fd);
	free(played);
}

static const struct source_ops played_ops = {
	.name = "played",
	.start = played_start,
	.stop = played_stop,
	.fd = played_fd,
	.drain = played_drain,
	.free = played_free,
};

/* One process: a worker with the machine's session, and what @fd has. */
static struct worker *process_new(int fd, struct keep **ret_keep, struct keep_restore *ret_restore)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	const struct task_events_status told = { 0 };
	struct session_config config = { .name = SESSION_MACHINE };
	struct played *played = calloc(1, sizeof(*played));
	struct filter_error error;
	struct worker *worker;
	const char *reason;

	assert_non_null(played);
	*played = (struct played){ .source = { .ops = &played_ops, .cpus = 2 } };
	played->fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(feed_new(&played->source, &sampling, &config.feed), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_new(NULL, NULL, &told, &worker), 0);
	assert_int_equal(worker_call(worker, worker_add, &config), 0);
	assert_int_equal(keep_new(fd, ret_keep, &reason), 0);
	assert_null(reason);
	*ret_restore = (struct keep_restore){ .keep = *ret_keep };
	worker_call(worker, keep_restore, ret_restore);
	return worker;
}

static int share(struct worker_state *state, void *arg)
{
	struct session_config config = { .name = arg, .shared = true };
	char *const cgroups[] = { (char *)"/system.slice", NULL };
	struct filter_error error;

	assert_int_equal(session_rule_new(NULL, "op == load", cgroups, &config.rule, &error), 0);
	config.feed = feed_get(worker_session(state, NULL)->feed);
	return worker_add(state, &config);
}

static int drain(struct worker_state *state, void *arg)
{
	worker_drain(state, worker_session(state, arg));
	return 0;
}

struct ledgers {
	const char *session;
	bool there;
	bool running;
	u64 enabled_ns;
	u64 lost;
	char expression[32];
	char cgroup[32];
};

static int look(struct worker_state *state, void *arg)
{
	struct ledgers *l = arg;
	const struct session *session = worker_session(state, l->session);

	l->there = session;
	if (!session)
		return 0;
	l->running = session->running;
	l->enabled_ns = profile_header(session->profile)->enabled_ns;
	l->lost = profile_header(session->profile)->lost;
	snprintf(l->expression, sizeof(l->expression), "%s", session->rule->expression);
	snprintf(l->cgroup, sizeof(l->cgroup), "%s",
		 session->rule->cgroups ? session->rule->cgroups[0] : "");
	return 0;
}

/* Leaves a checkpoint of two sessions, one of which ran; returns a descriptor of it. */
static int leave(u64 *ret_lost)
{
	struct ledgers l = { .session = SESSION_MACHINE };
	struct keep_restore restore;
	struct worker *worker;
	struct keep *keep;
	int fd;

	worker = process_new(-1, &keep, &restore);
	assert_false(restore.found);
	assert_int_equal(worker_call(worker, share, (void *)"loads"), 0);
	assert_int_equal(worker_call(worker, worker_start, NULL), 0);
	for (int i = 0; i < 5; i++)
		worker_call(worker, drain, NULL);
	worker_call(worker, look, &l);
	*ret_lost = l.lost;
	assert_int_equal(worker_call(worker, keep_leave, NULL), 0);
	fd = dup(keep_fd(keep));
	worker_free(worker);
	keep_free(keep);
	return fd;
}

static void test_going_on(void **state __attribute__((unused)))
{
	struct ledgers machine = { .session = SESSION_MACHINE }, loads = { .session = "loads" };
	struct keep_restore restore;
	struct worker *worker;
	struct keep *keep;
	u64 lost;

	worker = process_new(leave(&lost), &keep, &restore);
	assert_true(restore.found && restore.restored && !restore.stopped && !restore.dropped);
	assert_string_equal(restore.version, SPEPROF_VERSION);
	assert_true(restore.gap_ns > 0);
	worker_call(worker, look, &machine);
	worker_call(worker, look, &loads);
	assert_true(machine.running && machine.lost >= lost &&
		    machine.enabled_ns >= 2 * restore.gap_ns);
	assert_true(loads.there && !loads.running && !loads.lost);
	assert_string_equal(loads.expression, "op == load");
	assert_string_equal(loads.cgroup, "/system.slice");
	worker_free(worker);
	keep_free(keep);
}

/* Change bytes of what is in the checkpoint, its sum made right. */
static void forge(int fd, unsigned int seed)
{
	struct checkpoint *checkpoint;
	struct blob_reader from;
	struct blob_writer to;
	const char *reason;

	assert_int_equal(checkpoint_adopt(dup(fd), &checkpoint, &reason), 0);
	assert_int_equal(checkpoint_read(checkpoint, &from, &reason), 0);
	checkpoint_begin(checkpoint, &to);
	to.len = seed % 4 ? from.len : (size_t)rand_r(&seed) % from.len;
	memcpy(to.at, from.at, to.len);
	for (int i = rand_r(&seed) % 4; i >= 0 && to.len; i--)
		to.at[(size_t)rand_r(&seed) % to.len] = (u8)rand_r(&seed);
	assert_int_equal(checkpoint_commit(checkpoint, &to), 0);
	free((void *)from.at);
	checkpoint_free(checkpoint);
}

/* All of it or nothing: what is refused leaves no session and no figure behind. */
static void test_forged(void **state __attribute__((unused)))
{
	u32 refused = 0, rounds = 60;

	for (u32 i = 0; i < rounds; i++) {
		struct ledgers machine = { .session = SESSION_MACHINE },
			       loads = { .session = "loads" };
		struct keep_restore restore;
		struct worker *worker;
		struct keep *keep;
		u64 lost;
		int fd = leave(&lost);

		forge(fd, i);
		worker = process_new(fd, &keep, &restore);
		assert_true(restore.found);
		worker_call(worker, look, &machine);
		worker_call(worker, look, &loads);
		assert_true(machine.there);
		if (!restore.restored) {
			refused++;
			assert_non_null(restore.reason);
			assert_true(!loads.there && !machine.running && !machine.lost);
		}
		worker_free(worker);
		keep_free(keep);
	}
	print_message("%u of %u refused\n", refused, rounds);
	assert_true(refused > rounds / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_going_on),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
