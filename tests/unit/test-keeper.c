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

/* Whether it is one that goes on without a process; of the last one that was made. */
static bool adopted;
static u32 released;
static bool spills;

static int played_session(const struct source *source)
{
	return ((const struct played *)source)->fd;
}

static void played_defer(struct source *source __attribute__((unused)), bool spill)
{
	spills = spill;
}

static u32 played_positions(const struct source *source __attribute__((unused)),
			    struct source_position *ret __attribute__((unused)),
			    u32 room __attribute__((unused)))
{
	return 0;
}

static int played_resume(struct source *source __attribute__((unused)),
			 const struct source_position *positions __attribute__((unused)),
			 u32 count __attribute__((unused)))
{
	/* Where it could not be saved, room was given back of what the positions do not know. */
	return spills ? 0 : -ESTALE;
}

static void played_release(struct source *source __attribute__((unused)))
{
	released++;
}

/* More than is waited for. */
static u32 played_held(const struct source *source __attribute__((unused)))
{
	return SOURCE_HELD_MOST;
}

static const struct source_lasting played_lasting = {
	.session = played_session,
	.defer = played_defer,
	.positions = played_positions,
	.resume = played_resume,
	.release = played_release,
	.held = played_held,
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

static int played_configure(struct source *source, const struct source_config *config,
			    const char **ret_reason __attribute__((unused)))
{
	source->interval_ns = config->interval_ns;
	return 0;
}

static const struct source_ops played_ops = {
	.name = "played",
	.configure = played_configure,
	.lasting = &played_lasting,
	.start = played_start,
	.stop = played_stop,
	.fd = played_fd,
	.drain = played_drain,
	.free = played_free,
};

/* Of the machine's source. */
static u8 backend = BACKEND_EMULATED;

static struct feed *feed_played(void)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	struct played *played = calloc(1, sizeof(*played));
	struct feed *feed;

	assert_non_null(played);
	*played = (struct played){ .source = {
		.ops = &played_ops,
		.cpus = 2,
		.backend = backend,
	} };
	played->fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(feed_new(&played->source, &sampling, &feed), 0);
	return feed;
}

static const struct config usual = CONFIG_DEFAULT;

/* One process: a worker with the machine's session by @configured, and what @fd has. */
static struct worker *process_by(const struct config *configured, int fd, struct keep **ret_keep,
				 struct keep_restore *ret_restore)
{
	const struct task_events_status told = { 0 };
	struct session_config config = { .name = SESSION_MACHINE, .feed = feed_played() };
	struct filter_error error;
	struct worker *worker;
	const char *reason;

	config.feed->sampling.interval_ns = 1000000000ULL / configured->samples_per_second;
	assert_int_equal(session_rule_new(NULL, configured->filter, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_new(NULL, NULL, &told, &worker), 0);
	assert_int_equal(worker_call(worker, worker_add, &config), 0);
	assert_int_equal(keep_new(fd, ret_keep, &reason), 0);
	assert_null(reason);
	*ret_restore = (struct keep_restore){ .keep = *ret_keep, .config = configured, .adopted = adopted };
	worker_call(worker, keep_restore, ret_restore);
	return worker;
}

static struct worker *process_new(int fd, struct keep **ret_keep, struct keep_restore *ret_restore)
{
	return process_by(&usual, fd, ret_keep, ret_restore);
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

/* As the bus does: a session with a buffer, one with a source of its own, and another rule. */
static int set_up(struct worker_state *state, void *arg)
{
	struct session_config flight = { .name = "flight", .shared = true, .keep = FLIGHT_MIN },
			      own = { .name = "own" };
	struct worker_change change = { .session = SESSION_MACHINE, .interval_ns = 5000000 };
	char *const cgroups[] = { (char *)"/user.slice", NULL };
	struct filter_error error;

	assert_int_equal(session_rule_new(NULL, NULL, NULL, &flight.rule, &error), 0);
	flight.feed = feed_get(worker_session(state, NULL)->feed);
	assert_int_equal(worker_add(state, &flight), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &own.rule, &error), 0);
	own.feed = feed_played();
	assert_int_equal(worker_add(state, &own), 0);
	assert_int_equal(session_rule_new(NULL, "op == store", cgroups, &change.rule, &error), 0);
	assert_int_equal(worker_change(state, &change), 0);
	return keep_leave(state, arg);
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
	size_t keep;
	u64 interval_ns;
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
	l->keep = session->flight ? flight_size(session->flight) : 0;
	l->interval_ns = session->feed->source->interval_ns;
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
	assert_true(restore.found && restore.restored && !restore.stopped && !*restore.dropped);
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

/* What the bus has set up is there again, or somebody is told. */
static void check_set(const struct config *later, int fd, bool rule, bool interval)
{
	struct ledgers machine = { .session = SESSION_MACHINE }, flight = { .session = "flight" },
		       own = { .session = "own" };
	struct keep_restore restore;
	struct worker *worker;
	struct keep *keep;

	worker = process_by(later, fd, &keep, &restore);
	assert_true(restore.restored);
	worker_call(worker, look, &machine);
	worker_call(worker, look, &flight);
	worker_call(worker, look, &own);
	print_message("in force: %s\nnot: %s\n", restore.settings, restore.overruled);
	assert_true(flight.there && flight.keep == FLIGHT_MIN && !own.there);
	assert_string_equal(restore.ended, "own");
	assert_string_equal(restore.dropped, "");
	assert_string_equal(machine.expression, rule ? "op == store" : later->filter);
	assert_string_equal(machine.cgroup, rule ? "/user.slice" : "");
	assert_true((machine.interval_ns == 5000000) == interval);
	assert_true(!strstr(restore.overruled, "op == store") == rule);
	assert_true(!strstr(restore.overruled, "5000 us") == interval);
	assert_true(!!strstr(restore.settings, "cgroups /user.slice") == rule);
	assert_true(!!strstr(restore.settings, "interval of 5000 us") == interval);
	worker_free(worker);
	keep_free(keep);
}

static void test_set_by_bus(void **state __attribute__((unused)))
{
	struct config filter = usual, rate = usual, lists = usual;
	const struct {
		const struct config *later;
		bool rule;
		bool interval;
	} rows[] = {
		{ &usual, true, true },
		{ &rate, true, false },
		{ &filter, false, true },
		{ &lists, false, true },
	};

	strcpy(filter.filter, "op == load");
	strcpy(lists.excluded, "secret");
	rate.samples_per_second = 100;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct keep_restore restore;
		struct keep *keep;
		struct worker *worker = process_new(-1, &keep, &restore);

		assert_int_equal(worker_call(worker, set_up, NULL), 0);
		check_set(rows[i].later, dup(keep_fd(keep)), rows[i].rule, rows[i].interval);
		worker_free(worker);
		keep_free(keep);
	}
}

static int save(struct worker_state *state, void *arg __attribute__((unused)))
{
	keep_save(state);
	return keep_due(state, state->keep->saved_ns + 1);
}

/* What could not be saved is not given back, until the rings are nearly full; then they spill. */
static void test_unsaved(void **state __attribute__((unused)))
{
	struct keep_restore restore;
	struct keep *keep;
	struct worker *worker = process_new(-1, &keep, &restore);
	u32 before;
	int fd;

	assert_true(worker_call(worker, save, NULL) && !spills);
	before = released;
	keep->room = 100;
	/* A ring that waits is no reason to try again and again. */
	assert_false(worker_call(worker, save, NULL));
	assert_true(keep->error == -ENOSPC && keep->unsaved == 1 && released == before && spills);
	worker_call(worker, save, NULL);
	assert_true(keep->unsaved == 2 && released == before);
	keep->room = 0;
	worker_call(worker, save, NULL);
	assert_true(!keep->error && released == before + 1 && !spills);
	fd = dup(keep_fd(keep));
	worker_free(worker);
	keep_free(keep);
	adopted = true;
	worker = process_new(fd, &keep, &restore);
	assert_true(restore.restored && !spills);
	worker_free(worker);
	keep_free(keep);
	adopted = false;
}

/* What was modelled and what was measured never become one sum. */
static void test_backend(void **state __attribute__((unused)))
{
	const struct {
		u8 before;
		u8 after;
		const char *refused;
	} rows[] = {
		{ BACKEND_EMULATED, BACKEND_HARDWARE, "of an emulated SPU" },
		{ BACKEND_HARDWARE, BACKEND_EMULATED, "of a hardware SPU" },
		{ BACKEND_HARDWARE, BACKEND_HARDWARE, NULL },
		{ BACKEND_UNKNOWN, BACKEND_HARDWARE, NULL },
	};
	u64 lost;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ledgers machine = { .session = SESSION_MACHINE },
			       loads = { .session = "loads" };
		struct keep_restore restore;
		struct worker *worker;
		struct keep *keep;
		int fd;

		backend = rows[i].before;
		fd = leave(&lost);
		backend = rows[i].after;
		worker = process_new(fd, &keep, &restore);
		worker_call(worker, look, &machine);
		worker_call(worker, look, &loads);
		assert_true(restore.found && restore.restored == !rows[i].refused);
		assert_true(loads.there == !rows[i].refused && !machine.lost == !!rows[i].refused);
		if (rows[i].refused)
			assert_non_null(strstr(restore.reason, rows[i].refused));
		worker_free(worker);
		keep_free(keep);
	}
	backend = BACKEND_EMULATED;
}

/* Change bytes of what is in the checkpoint, its sum made right. */
static void forge(int fd, unsigned int seed)
{
	struct checkpoint *checkpoint;
	struct blob_reader from;
	struct blob_writer to;
	const char *reason;

	assert_int_equal(checkpoint_adopt(dup(fd), CHECKPOINT_VERSION, &checkpoint, &reason), 0);
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
		cmocka_unit_test(test_set_by_bus),
		cmocka_unit_test(test_unsaved),
		cmocka_unit_test(test_backend),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
