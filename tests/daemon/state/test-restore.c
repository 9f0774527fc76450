// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that a worker resumes from the state that another one saved, and refuses data that no worker
 * saves.
 */
#include "test.h"

#include "codec/registers.h"
#include "engine/worker-internal.h"
#include "profile/profile-read.h"
#include "speprof-version.h"
#include "state/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A source without samples, in which time advances. @tail: number of windows that it delivered;
 * @foreign: whether its rings belong to another session.
 */
struct fake_source {
	struct source source;
	int fd;
	u64 tail;
	bool foreign;
	bool spills;
};

/* whether the last source was adopted from a former process */
static bool adopted;
static bool busy; /* whether another session holds the SPU, so that nothing can be started */
static u32 released;
static bool spills;
static u32 stopped;
static bool offline;

/* Number of bytes written to every ring: a position beyond it belongs to another ring. */
#define WRITTEN 1000

/* Faults of the sources that sessions own, and counters */
static struct {
	bool none; /* whether the service manager has not stored the descriptor */
	bool foreign; /* whether the rings belong to another session */
	bool refused; /* whether no new source can be opened either */
	bool stuck; /* whether the source cannot be started */
	u8 backend;
	u32 open_count; /* number of sources that were opened, and not adopted */
	struct source_config sampling;
	struct fake_source *last;
} own;

static int fake_get_session_fd(const struct source *source)
{
	return ((const struct fake_source *)source)->fd;
}

static void fake_defer(struct source *source, bool spill)
{
	((struct fake_source *)source)->spills = spills = spill;
}

static u32 fake_get_positions(const struct source *source, struct source_position *ret,
				u32 capacity)
{
	if (capacity)
		*ret = (struct source_position){
			.tail = ((const struct fake_source *)source)->tail,
			.offline = offline,
		};
	return capacity ? 1 : 0;
}

static int fake_resume(struct source *source, const struct source_position *positions, u32 count)
{
	/*
	 * If the state could not be saved, bytes were released that the positions do not include.
	 */
	if (!spills || count != 1 || positions->tail > WRITTEN ||
	    ((struct fake_source *)source)->foreign)
		return -ESTALE;
	((struct fake_source *)source)->tail = positions->tail;
	return 0;
}

static void fake_release(struct source *source __attribute__((unused)))
{
	released++;
}

/* Return more than the limit from which a ring releases unsaved bytes. */
static u32 fake_get_retained(const struct source *source __attribute__((unused)))
{
	return SOURCE_RETAINED_MAX;
}

static const struct source_persist_ops fake_persist_ops = {
	.session = fake_get_session_fd,
	.defer = fake_defer,
	.positions = fake_get_positions,
	.resume = fake_resume,
	.release = fake_release,
	.retained = fake_get_retained,
};

static int fake_start(struct source *source)
{
	return busy || (own.stuck && (struct fake_source *)source == own.last) ? -EBUSY : 0;
}

static void fake_stop(struct source *source __attribute__((unused)))
{
	stopped++;
}

static int fake_get_fd(struct source *source)
{
	return ((struct fake_source *)source)->fd;
}

static int fake_drain(struct source *source, const struct source_sink *sink)
{
	static const u8 nothing[1];
	const struct source_window window = {
		.data = nothing,
		.tid = -1,
		.armed_ns = 100,
		.blind_ns = 7,
		.lost_bytes = 3,
	};

	((struct fake_source *)source)->tail++;
	sink->window(sink->ctx, &window);
	return 0;
}

static void fake_free(struct source *source)
{
	struct fake_source *fake = (struct fake_source *)source;

	close(fake->fd);
	free(fake);
}

/* Describe CPUs 4 and 5. CPU 5 is offline. */
static int fake_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	if (cpu < 4 || cpu >= source->cpu_end)
		return -ENOENT;
	*ret_cpu = (struct source_cpu){ .cpu = cpu, .state = cpu == 5 ? "offline" : "stopped" };
	return 0;
}

static int fake_configure(struct source *source, const struct source_config *config,
			    const char **ret_reason __attribute__((unused)))
{
	source->interval_ns = config->interval_ns;
	return 0;
}

static const struct source_ops fake_ops = {
	.name = "fake",
	.configure = fake_configure,
	.cpu = fake_describe_cpu,
	.persist = &fake_persist_ops,
	.start = fake_start,
	.stop = fake_stop,
	.fd = fake_get_fd,
	.drain = fake_drain,
	.free = fake_free,
};

/* backend of the machine's source, and whether its rings differ from the stored ones */
static u8 backend = BACKEND_EMULATED;
static bool foreign;

static struct fake_source *fake_source_new(u8 of_backend)
{
	struct fake_source *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	*fake = (struct fake_source){ .source = {
						  .ops = &fake_ops,
						  .cpus = 2,
						  .cpu_end = 6,
						  .backend = of_backend,
					  } };
	fake->fd = eventfd(0, EFD_CLOEXEC);
	return fake;
}

static struct shared_source *open_shared_fake_source(void)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	struct fake_source *fake;
	struct shared_source *shared_source;

	fake = fake_source_new(backend);
	/* Data at a position in rings of another session must not count as read. */
	fake->foreign = foreign;
	assert_int_equal(shared_source_new(&fake->source, &sampling, &shared_source), 0);
	return shared_source;
}

static int open_own_source(void *ctx __attribute__((unused)), const char *name, bool kept,
			   struct source_config *sampling, struct source **ret_source,
			   char ret_reason[static RESTORE_REASON_SIZE])
{
	struct fake_source *fake;

	assert_true(session_name_valid(name));
	if (kept && own.none)
		return -ENOENT;
	if (!kept && own.refused) {
		strcpy(ret_reason, "there is no SPE here");
		return -ENODEV;
	}
	own.open_count += !kept;
	own.sampling = *sampling;
	own.last = fake = fake_source_new(own.backend ? own.backend : backend);
	fake->source.interval_ns = sampling->interval_ns;
	fake->source.cgroups = sampling->cgroups;
	fake->foreign = kept && own.foreign;
	*ret_source = &fake->source;
	return 0;
}

static const struct config usual = CONFIG_DEFAULT;

/* Return a plan of small tables: most of the time of a test is that of clearing them. */
static const struct memory_plan *make_small_plan(void)
{
	static struct memory_plan plan;
	const struct memory_request request = {
		.budget = 96ULL << 20,
		.cpus = 1,
		.page = 4096,
		.sources = MEMORY_EMULATED,
	};
	u64 least;

	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	return &plan;
}

/*
 * Start a process: a worker with the machine's session, configured by @configured, which restores
 * from @fd.
 */
static struct worker *process_new_with_config(const struct config *configured, int fd,
					      struct checkpoint **ret_keep,
					      struct restore_request *ret_restore)
{
	const struct task_events_status task_status = { 0 };
	struct session_config config = { .name = SESSION_MACHINE,
					 .shared_source = open_shared_fake_source() };
	struct filter_error error;
	struct worker *worker;
	const char *reason;

	config.shared_source->sampling.interval_ns = 1000000000ULL / configured->samples_per_second;
	assert_int_equal(session_rule_new(NULL, configured->filter, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_new(make_small_plan(), NULL, &task_status, &worker), 0);
	assert_int_equal(worker_call(worker, worker_add_session, &config), 0);
	assert_int_equal(checkpoint_new(fd, ret_keep, &reason), 0);
	assert_null(reason);
	*ret_restore = (struct restore_request){
		.checkpoint = *ret_keep,
		.config = configured,
		.open = open_own_source,
		.adopted = adopted,
	};
	worker_call(worker, restore_run, ret_restore);
	return worker;
}

static struct worker *process_new(int fd, struct checkpoint **ret_keep,
				  struct restore_request *ret_restore)
{
	return process_new_with_config(&usual, fd, ret_keep, ret_restore);
}

static int share_source(struct worker_state *state, void *arg)
{
	struct session_config config = { .name = arg, .shared = true };
	char *const cgroups[] = { (char *)"/", NULL };
	struct filter_error error;

	assert_int_equal(session_rule_new(NULL, "op == load", cgroups, &config.rule, &error), 0);
	config.shared_source = shared_source_get(worker_find_session(state, NULL)->shared_source);
	return worker_add_session(state, &config);
}

/*
 * Make the changes that clients of the bus make: a session with a buffer, one with a source of its
 * own, and another filter.
 */
static int make_bus_changes(struct worker_state *state, void *arg)
{
	struct session_config flight = { .name = "flight",
					 .shared = true,
					 .flight_bytes = FLIGHT_MIN },
			      alone = { .name = "own" };
	struct worker_change_request change = { .session = SESSION_MACHINE,
						.interval_ns = 5000000 };
	char *const cgroups[] = { (char *)"/", NULL };
	struct filter_error error;

	assert_int_equal(session_rule_new(NULL, NULL, NULL, &flight.rule, &error), 0);
	flight.shared_source = shared_source_get(worker_find_session(state, NULL)->shared_source);
	assert_int_equal(worker_add_session(state, &flight), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &alone.rule, &error), 0);
	alone.shared_source = open_shared_fake_source();
	assert_int_equal(worker_add_session(state, &alone), 0);
	assert_int_equal(session_rule_new(NULL, "op == store", cgroups, &change.rule, &error), 0);
	assert_int_equal(worker_change_session(state, &change), 0);
	return checkpoint_save_final(state, arg);
}

static int drain_all(struct worker_state *state, void *arg)
{
	worker_drain_session(state, worker_find_session(state, arg));
	return 0;
}

struct session_ledgers {
	const char *session;
	bool there;
	bool running;
	size_t flight_bytes;
	u64 interval_ns;
	u64 enabled_ns;
	u64 gap_ns;
	u64 lost;
	u64 tail;
	bool spills;
	char expression[32];
	char cgroup[32];
};

static int read_state(struct worker_state *state, void *arg)
{
	struct session_ledgers *l = arg;
	const struct session *session = worker_find_session(state, l->session);

	l->there = session;
	if (!session)
		return 0;
	l->running = session->running;
	l->flight_bytes = session->flight ? flight_recorder_get_size(session->flight) : 0;
	l->interval_ns = session->shared_source->source->interval_ns;
	l->enabled_ns = profile_get_header(session->profile)->enabled_ns;
	l->gap_ns = profile_get_header(session->profile)->blind_by[SOURCE_BLIND_RESTART];
	l->lost = profile_get_header(session->profile)->lost;
	l->tail = ((const struct fake_source *)session->shared_source->source)->tail;
	l->spills = ((const struct fake_source *)session->shared_source->source)->spills;
	snprintf(l->expression, sizeof(l->expression), "%s", session->rule->expression);
	snprintf(l->cgroup, sizeof(l->cgroup), "%s",
		 session->rule->cgroups ? session->rule->cgroups[0] : "");
	return 0;
}

/* Add a session with its own source, which samples what the machine's source does not. */
static int add_session_with_own_source(struct worker_state *state,
				       void *arg __attribute__((unused)))
{
	const struct source_config sampling = { .interval_ns = 3000000,
						.user = true,
						.physical = true };
	char *const cgroups[] = { (char *)"/", (char *)"/speprof-never-there", NULL };
	struct session_config alone = { .name = "own" };
	struct fake_source *fake = fake_source_new(backend);
	struct filter_error error;

	assert_int_equal(session_rule_new(NULL, "op == load", cgroups, &alone.rule, &error), 0);
	fake->source.cgroups = true;
	fake->source.health.faults = 9;
	assert_int_equal(shared_source_new(&fake->source, &sampling, &alone.shared_source), 0);
	assert_int_equal(worker_add_session(state, &alone), 0);
	return worker_start_session(state, (void *)"own");
}

/* Write a checkpoint of two sessions, one of which was running. Return: its descriptor. */
static int write_checkpoint(u64 *ret_lost, bool with_own)
{
	struct session_ledgers l = { .session = SESSION_MACHINE };
	struct restore_request restore;
	struct worker *worker;
	struct checkpoint *checkpoint;
	int fd;

	worker = process_new(-1, &checkpoint, &restore);
	assert_false(restore.found);
	assert_int_equal(worker_call(worker, share_source, (void *)"loads"), 0);
	assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
	if (with_own)
		assert_int_equal(worker_call(worker, add_session_with_own_source, NULL), 0);
	for (int i = 0; i < 5; i++)
		worker_call(worker, drain_all, NULL);
	worker_call(worker, read_state, &l);
	*ret_lost = l.lost;
	assert_int_equal(worker_call(worker, checkpoint_save_final, NULL), 0);
	fd = dup(checkpoint_get_fd(checkpoint));
	worker_free(worker);
	checkpoint_free(checkpoint);
	return fd;
}

static void test_sessions_continue(void **state __attribute__((unused)))
{
	struct session_ledgers machine = { .session = SESSION_MACHINE },
			       loads = { .session = "loads" };
	struct restore_request restore;
	struct worker *worker;
	struct checkpoint *checkpoint;
	u64 lost;

	worker = process_new(write_checkpoint(&lost, false), &checkpoint, &restore);
	assert_true(restore.found && restore.restored && !restore.stopped && !restore.note_count);
	assert_string_equal(restore.version, SPEPROF_VERSION);
	assert_true(restore.gap_ns > 0);
	worker_call(worker, read_state, &machine);
	worker_call(worker, read_state, &loads);
	/* Compare the statistics of the only CPU that is online. */
	assert_true(machine.running && machine.lost >= lost && machine.gap_ns == restore.gap_ns);
	assert_true(loads.there && !loads.running && !loads.lost);
	assert_string_equal(loads.expression, "op == load");
	assert_string_equal(loads.cgroup, "/");
	worker_free(worker);
	checkpoint_free(checkpoint);
}

/* Check that the settings made by clients of the bus are restored, or that their loss is logged. */
static void check_settings_of_bus(const struct config *later, int fd, bool rule, bool interval)
{
	struct session_ledgers machine = { .session = SESSION_MACHINE },
			       flight = { .session = "flight" }, alone = { .session = "own" };
	struct restore_request restore;
	struct worker *worker;
	struct checkpoint *checkpoint;

	worker = process_new_with_config(later, fd, &checkpoint, &restore);
	assert_true(restore.restored);
	worker_call(worker, read_state, &machine);
	worker_call(worker, read_state, &flight);
	worker_call(worker, read_state, &alone);
	print_message("in force: %s\nnot: %s\n", restore.settings, restore.overruled);
	assert_true(flight.there && flight.flight_bytes == FLIGHT_MIN && alone.there &&
		    !alone.running);
	assert_int_equal(restore.note_count, 1);
	assert_string_equal(restore.notes[0].text,
			    "session \"own\" is restored with 0 records, without a gap");
	assert_string_equal(machine.expression, rule ? "op == store" : later->filter);
	assert_string_equal(machine.cgroup, rule ? "/" : "");
	assert_true((machine.interval_ns == 5000000) == interval);
	assert_true(!strstr(restore.overruled, "op == store") == rule);
	assert_true(!strstr(restore.overruled, "5000 us") == interval);
	assert_true(!!strstr(restore.settings, "cgroups /") == rule);
	assert_true(!!strstr(restore.settings, "interval of 5000 us") == interval);
	worker_free(worker);
	checkpoint_free(checkpoint);
}

static void test_settings_of_bus_are_restored(void **state __attribute__((unused)))
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
		struct restore_request restore;
		struct checkpoint *checkpoint;
		struct worker *worker = process_new(-1, &checkpoint, &restore);

		assert_int_equal(worker_call(worker, make_bus_changes, NULL), 0);
		check_settings_of_bus(rows[i].later, dup(checkpoint_get_fd(checkpoint)),
				      rows[i].rule, rows[i].interval);
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
}

/* Save as after a drain that found a ring waiting for a checkpoint. */
static int save_checkpoint(struct worker_state *state, void *arg __attribute__((unused)))
{
	checkpoint_save(state);
	worker_drain_source(state, worker_find_session(state, NULL)->shared_source);
	return checkpoint_is_due(state, checkpoint_get_attached(state)->saved_ns + 1);
}

/* Unsaved bytes are released only when a ring is nearly full. */
static void test_unsaved_bytes_are_retained(void **state __attribute__((unused)))
{
	struct restore_request restore;
	struct checkpoint *checkpoint;
	struct worker *worker = process_new(-1, &checkpoint, &restore);
	u32 before;
	int fd;

	assert_true(worker_call(worker, save_checkpoint, NULL) && !spills);
	before = released;
	checkpoint->capacity = 100;
	/* A ring that waits does not cause a save in each iteration. */
	assert_false(worker_call(worker, save_checkpoint, NULL));
	assert_true(checkpoint->error == -ENOSPC && checkpoint->unsaved == 1 &&
		    released == before && spills);
	worker_call(worker, save_checkpoint, NULL);
	assert_true(checkpoint->unsaved == 2 && released == before);
	checkpoint->capacity = 0;
	worker_call(worker, save_checkpoint, NULL);
	assert_true(!checkpoint->error && released == before + 1 && !spills);
	fd = dup(checkpoint_get_fd(checkpoint));
	worker_free(worker);
	checkpoint_free(checkpoint);
	adopted = true;
	worker = process_new(fd, &checkpoint, &restore);
	assert_true(restore.restored && !spills);
	worker_free(worker);
	checkpoint_free(checkpoint);
	adopted = false;
}

/* Modelled and measured samples are never added up. */
static void test_backends_are_not_mixed(void **state __attribute__((unused)))
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
		struct session_ledgers machine = { .session = SESSION_MACHINE },
				       loads = { .session = "loads" };
		struct restore_request restore;
		struct worker *worker;
		struct checkpoint *checkpoint;
		int fd;

		backend = rows[i].before;
		fd = write_checkpoint(&lost, false);
		backend = rows[i].after;
		worker = process_new(fd, &checkpoint, &restore);
		worker_call(worker, read_state, &machine);
		worker_call(worker, read_state, &loads);
		assert_true(restore.found && restore.restored == !rows[i].refused);
		assert_true(loads.there == !rows[i].refused && !machine.lost == !!rows[i].refused);
		if (rows[i].refused)
			assert_non_null(strstr(restore.reason, rows[i].refused));
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
	backend = BACKEND_EMULATED;
}

static int read_health_of_own_source(struct worker_state *state, void *arg __attribute__((unused)))
{
	const struct session *session = worker_find_session(state, "own");

	return session ? (int)session->shared_source->source->health.faults : -ENOENT;
}

/*
 * Run a process with the machine's session and one with its own source, and kill it after some
 * windows. Return: the descriptor of its checkpoint.
 */
static int kill_process_with_own_source(struct session_ledgers *ret_own,
					struct session_ledgers *ret_machine)
{
	struct restore_request restore;
	struct checkpoint *checkpoint;
	struct worker *worker = process_new(-1, &checkpoint, &restore);
	int fd;

	assert_int_equal(worker_call(worker, add_session_with_own_source, NULL), 0);
	assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
	for (int i = 0; i < 5; i++) {
		worker_call(worker, drain_all, NULL);
		worker_call(worker, drain_all, (void *)"own");
	}
	worker_call(worker, checkpoint_save_final, NULL);
	*ret_own = (struct session_ledgers){ .session = "own" };
	*ret_machine = (struct session_ledgers){ .session = SESSION_MACHINE };
	worker_call(worker, read_state, ret_own);
	worker_call(worker, read_state, ret_machine);
	fd = dup(checkpoint_get_fd(checkpoint));
	worker_free(worker);
	checkpoint_free(checkpoint);
	return fd;
}

static bool restore_has_note(const struct restore_request *restore, bool warning, const char *text)
{
	for (u32 i = 0; i < restore->note_count; i++)
		if (strstr(restore->notes[i].text, text))
			return restore->notes[i].warning == warning;
	return false;
}

/* Check that the request to the new source equals the one to the former source. */
static void check_source_request(void)
{
	assert_true(own.sampling.interval_ns == 3000000 && own.sampling.user &&
		    own.sampling.physical && !own.sampling.kernel);
	assert_true(own.sampling.skip_missing_cgroups);
	assert_string_equal(own.sampling.cgroups[1], "/speprof-never-there");
	assert_int_equal(own.sampling.filter_types, SPE_PMSFCR_LD);
}

/*
 * Whatever happens to the source of one session, the machine's session continues, and so does that
 * session if possible.
 */
static void test_own_source_fails(void **state __attribute__((unused)))
{
	const struct {
		bool none, foreign, refused, stuck;
		u8 backend;
		bool there, gap;
		bool warning;
		const char *noted;
	} rows[] = {
		{ .there = true, .noted = "is restored with 0 records, without a gap" },
		{ .none = true,
		  .there = true,
		  .gap = true,
		  .noted = "its rings were lost with the process that owned them" },
		{ .foreign = true,
		  .there = true,
		  .gap = true,
		  .noted = "its rings are not those of the checkpoint" },
		{ .none = true,
		  .refused = true,
		  .warning = true,
		  .noted = "session \"own\" cannot be restored: there is no SPE here" },
		{ .none = true,
		  .backend = BACKEND_HARDWARE,
		  .warning = true,
		  .noted = "cannot be restored: its counters are of an emulated SPU" },
		{ .stuck = true,
		  .there = true,
		  .warning = true,
		  .noted = "session \"own\" stays stopped, as it cannot be started: Device or "
			   "resource busy" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct session_ledgers before, machine_before,
			after = { .session = "own" }, machine = { .session = SESSION_MACHINE };
		struct restore_request restore;
		struct worker *worker;
		struct checkpoint *checkpoint;
		int fd = kill_process_with_own_source(&before, &machine_before);

		memset(&own, 0, sizeof(own));
		own.none = rows[i].none;
		own.foreign = rows[i].foreign;
		own.refused = rows[i].refused;
		own.stuck = rows[i].stuck;
		own.backend = rows[i].backend;
		stopped = 0;
		offline = true;
		worker = process_new(fd, &checkpoint, &restore);
		offline = false;
		worker_call(worker, read_state, &after);
		worker_call(worker, read_state, &machine);
		for (u32 k = 0; k < restore.note_count; k++)
			print_message("%s\n", restore.notes[k].text);
		assert_true(restore.restored && machine.running &&
			    machine.lost == machine_before.lost);
		assert_true(after.there == rows[i].there);
		assert_true(restore_has_note(&restore, rows[i].warning, rows[i].noted));
		assert_int_equal(own.open_count,
				 rows[i].none && !rows[i].refused ? 1 : rows[i].foreign);
		/* A session that is not resumed does not sample. */
		assert_true(!!stopped == (rows[i].foreign || rows[i].backend));
		if (after.there) {
			check_source_request();
			/*
			 * The small rings of the session release unsaved bytes, while the rings of
			 * the machine's session wait for a checkpoint.
			 */
			assert_true(after.spills && !machine.spills);
			assert_true(restore_has_note(&restore, true,
						     "without cgroup \"/speprof-never-there\","));
			assert_true(after.running == !rows[i].stuck && after.lost == before.lost);
			assert_true((after.enabled_ns > before.enabled_ns) == rows[i].gap);
			assert_true(restore_has_note(&restore, false, "CPU 0 went offline") ==
				    !rows[i].gap);
			assert_true(rows[i].gap || (after.tail == before.tail && after.tail));
			assert_int_equal(worker_call(worker, read_health_of_own_source, NULL), 9);
		}
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
	memset(&own, 0, sizeof(own));
}

/* If the statistics of a session are refused, the session is dropped with its samples. */
static void test_refused_session_is_dropped(void **state __attribute__((unused)))
{
	struct session_ledgers before, machine;
	struct restore_request restore;
	struct worker *worker;
	struct checkpoint *checkpoint;
	int fd;

	fd = kill_process_with_own_source(&before, &machine);
	foreign = adopted = true;
	stopped = 0;
	worker = process_new(fd, &checkpoint, &restore);
	foreign = adopted = false;
	worker_call(worker, read_state, &before);
	assert_true(restore.found && !restore.restored && !before.there && stopped == 1);
	assert_string_equal(restore.reason, "it belongs to another session of the module than the stored one");
	assert_true(restore_has_note(
		&restore, true,
		"session \"own\" is removed, as its part of the checkpoint is not used either"));
	worker_free(worker);
	checkpoint_free(checkpoint);
}

static int read_profile_epoch(struct worker_state *state, void *arg)
{
	*(u64 *)arg = worker_find_session(state, NULL)->epoch;
	return 0;
}

/* After a checkpoint was refused, counters visibly restart from 0. */
static void test_refused_checkpoint_resets_epoch(void **state __attribute__((unused)))
{
	struct restore_request restore;
	u64 lost, epoch[2];
	struct worker *worker;
	struct checkpoint *checkpoint;
	int fd = write_checkpoint(&lost, false);

	for (u32 i = 0; i < 2; i++) {
		foreign = adopted = i;
		worker = process_new(dup(fd), &checkpoint, &restore);
		assert_true(restore.found && restore.restored == !i);
		worker_call(worker, read_profile_epoch, &epoch[i]);
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
	foreign = adopted = false;
	assert_true(epoch[0] != epoch[1]);
	close(fd);
}

/*
 * Another session holds the SPU when the process starts: statistics are restored, and the session
 * stays marked to run, also for the next process.
 */
static void test_busy_spu_keeps_session_running(void **state __attribute__((unused)))
{
	struct session_ledgers machine = { .session = SESSION_MACHINE },
			       own_one = { .session = "own" };
	struct restore_request restore;
	struct worker *worker;
	struct checkpoint *checkpoint;
	u64 lost;
	int fd = write_checkpoint(&lost, true), next;

	for (u32 i = 0; i < 3; i++) {
		busy = i < 2;
		worker = process_new(fd, &checkpoint, &restore);
		assert_true(restore.restored && !restore.stopped);
		worker_call(worker, read_state, &machine);
		worker_call(worker, read_state, &own_one);
		assert_true(machine.there && machine.running == !busy && machine.lost >= lost);
		assert_true(own_one.there && !own_one.running);
		assert_true(i || restore_has_note(&restore, true,
						  "session \"own\" stays stopped, as it"));
		next = dup(checkpoint_get_fd(checkpoint));
		worker_free(worker);
		checkpoint_free(checkpoint);
		fd = next;
	}
	/* A session that was stopped stays stopped after the restart. */
	worker = process_new(fd, &checkpoint, &restore);
	assert_int_equal(worker_call(worker, worker_stop_session, NULL), 0);
	next = dup(checkpoint_get_fd(checkpoint));
	worker_free(worker);
	checkpoint_free(checkpoint);
	worker = process_new(next, &checkpoint, &restore);
	assert_true(restore.restored && restore.stopped);
	worker_free(worker);
	checkpoint_free(checkpoint);
	memset(&own, 0, sizeof(own));
}

/* End @worker and @checkpoint, and start the next process from the state that they saved. */
static struct worker *process_next(struct worker *worker, struct checkpoint **checkpoint,
				   struct restore_request *restore)
{
	int fd = dup(checkpoint_get_fd(*checkpoint));

	worker_free(worker);
	checkpoint_free(*checkpoint);
	return process_new(fd, checkpoint, restore);
}

/*
 * A session that shares the machine's source and was running starts with it once the SPU is free:
 * also after another restart, and not if it was stopped meanwhile.
 */
static void test_shared_sessions_start_when_free(void **state __attribute__((unused)))
{
	struct session_ledgers loads = { .session = "loads" };
	struct restore_request restore;
	struct worker *worker;
	struct checkpoint *checkpoint;

	for (u32 stops = 0; stops < 2; stops++) {
		worker = process_new(-1, &checkpoint, &restore);
		assert_int_equal(worker_call(worker, share_source, (void *)"loads"), 0);
		assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
		assert_int_equal(worker_call(worker, worker_start_session, (void *)"loads"), 0);
		worker_call(worker, checkpoint_save_final, NULL);
		busy = true;
		for (u32 i = 0; i < 2; i++) {
			worker = process_next(worker, &checkpoint, &restore);
			worker_call(worker, read_state, &loads);
			assert_true(loads.there && !loads.running);
			assert_false(
				restore_has_note(&restore, true, "session \"loads\" is stopped"));
		}
		if (stops)
			assert_int_equal(worker_call(worker, worker_stop_session, (void *)"loads"),
					 0);
		busy = false;
		assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
		worker_call(worker, read_state, &loads);
		assert_int_equal(loads.running, !stops);
		assert_int_equal(worker_call(worker, worker_stop_session, (void *)"loads"),
				 stops ? -EALREADY : 0);
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
}

/* Change bytes in the checkpoint, and correct its checksum. */
static void checkpoint_change_bytes(int fd, unsigned int seed)
{
	struct checkpoint_slots *slots;
	struct deserializer from;
	struct serializer to;
	const char *reason;

	assert_int_equal(checkpoint_slots_adopt(dup(fd), CHECKPOINT_VERSION, &slots, &reason), 0);
	assert_int_equal(checkpoint_slots_read(slots, &from, &reason), 0);
	checkpoint_slots_begin(slots, &to);
	to.len = seed % 4 ? from.len : (size_t)rand_r(&seed) % from.len;
	memcpy(to.at, from.at, to.len);
	for (int i = rand_r(&seed) % 4; i >= 0 && to.len; i--)
		to.at[(size_t)rand_r(&seed) % to.len] = (u8)rand_r(&seed);
	assert_int_equal(checkpoint_slots_commit(slots, &to), 0);
	free((void *)from.at);
	checkpoint_slots_free(slots);
}

/*
 * Return a copy of the checkpoint @fd with the version @version, as if another speprofd had written
 * it. Close @fd.
 */
static int checkpoint_copy(int fd, u64 version)
{
	struct checkpoint_slots *slots, *copy;
	struct deserializer from;
	struct serializer to;
	const char *reason;

	assert_int_equal(checkpoint_slots_adopt(fd, CHECKPOINT_VERSION, &slots, &reason), 0);
	assert_int_equal(checkpoint_slots_read(slots, &from, &reason), 0);
	assert_int_equal(checkpoint_slots_new("older", version, &copy), 0);
	checkpoint_slots_begin(copy, &to);
	memcpy(to.at, from.at, from.len);
	to.len = from.len;
	assert_int_equal(checkpoint_slots_commit(copy, &to), 0);
	free((void *)from.at);
	checkpoint_slots_free(slots);
	fd = dup(checkpoint_slots_get_fd(copy));
	checkpoint_slots_free(copy);
	return fd;
}

/*
 * A checkpoint of an older or newer version is refused with a reason, and all tables are empty. The
 * next process finds a checkpoint of this version.
 */
static void test_other_version_is_refused(void **state __attribute__((unused)))
{
	static const u64 versions[] = { CHECKPOINT_VERSION - 1, CHECKPOINT_VERSION + 1, 0 };
	u64 lost;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct session_ledgers machine = { .session = SESSION_MACHINE },
				       loads = { .session = "loads" };
		struct restore_request restore;
		struct worker *worker;
		struct checkpoint *checkpoint;
		int fd = checkpoint_copy(write_checkpoint(&lost, false), versions[i]);

		worker = process_new(dup(fd), &checkpoint, &restore);
		test_row("version %llu", (unsigned long long)versions[i]);
		assert_row(restore.found && !restore.restored);
		assert_row(strstr(restore.reason, "another version of speprofd") != NULL);
		worker_call(worker, read_state, &machine);
		worker_call(worker, read_state, &loads);
		assert_row(lost && !machine.lost && !machine.enabled_ns && !loads.there);
		worker_free(worker);
		checkpoint_free(checkpoint);
		worker = process_new(fd, &checkpoint, &restore);
		assert_row(restore.found && restore.restored);
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
}

/* A refused checkpoint restores nothing: neither sessions nor statistics. */
static void test_changed_checkpoint_restores_nothing(void **state __attribute__((unused)))
{
	u32 refused = 0, rounds = 200;
	struct checkpoint_slots *slots;
	const char *reason;
	u64 lost;
	int fd, file = memfd_create("checkpoint", MFD_CLOEXEC);

	assert_true(file >= 0);
	fd = write_checkpoint(&lost, true);
	assert_int_equal(checkpoint_slots_adopt(fd, CHECKPOINT_VERSION, &slots, &reason), 0);
	assert_int_equal(checkpoint_slots_export(slots, file), 0);
	checkpoint_slots_free(slots);
	for (u32 i = 0; i < rounds; i++) {
		struct session_ledgers machine = { .session = SESSION_MACHINE },
				       loads = { .session = "loads" }, alone = { .session = "own" };
		struct restore_request restore;
		struct worker *worker;
		struct checkpoint *checkpoint;

		assert_int_equal(lseek(file, 0, SEEK_SET), 0);
		assert_int_equal(checkpoint_slots_import("checkpoint", file, &fd), 0);
		checkpoint_change_bytes(fd, i);
		worker = process_new(fd, &checkpoint, &restore);
		assert_true(restore.found);
		worker_call(worker, read_state, &machine);
		worker_call(worker, read_state, &loads);
		worker_call(worker, read_state, &alone);
		assert_true(machine.there);
		if (!restore.restored) {
			refused++;
			assert_non_null(restore.reason);
			assert_true(!loads.there && !alone.there && !machine.running &&
				    !machine.lost);
		}
		worker_free(worker);
		checkpoint_free(checkpoint);
	}
	close(file);
	print_message("%u of %u refused\n", refused, rounds);
	assert_true(refused > rounds / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions_continue),
		cmocka_unit_test(test_settings_of_bus_are_restored),
		cmocka_unit_test(test_unsaved_bytes_are_retained),
		cmocka_unit_test(test_backends_are_not_mixed),
		cmocka_unit_test(test_own_source_fails),
		cmocka_unit_test(test_refused_session_is_dropped),
		cmocka_unit_test(test_refused_checkpoint_resets_epoch),
		cmocka_unit_test(test_busy_spu_keeps_session_running),
		cmocka_unit_test(test_shared_sessions_start_when_free),
		cmocka_unit_test(test_other_version_is_refused),
		cmocka_unit_test(test_changed_checkpoint_restores_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
