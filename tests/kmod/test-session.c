// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the module's sessions on a stand-in kernel: which CPUs a descriptor may interrupt, and how
 * often.
 */
#include "test.h"

#include "kmod/arbiter.h"
#include "kmod/cgroups.h"
#include "kmod/cpu.h"
#include "kmod/kernel/stand-in.h"
#include "kmod/ring_internal.h"
#include "kmod/session.h"

#define CPUS 4
#define RATE 100
#define MS   NSEC_PER_MSEC

/* ---- CPUs, SPUs and cgroups ------------------------------------------------------ */

DEFINE_PER_CPU(struct speprof_cpu, speprof_cpus);
struct mutex speprof_control;

static u64 spus[CPUS][SPE_REG_COUNT];
static unsigned int backend_held;
static bool backend_removed;
static bool no_map_memory;
/* mask of the nodes for which maps were allocated */
static u64 map_nodes;

static u64 spu_read(enum spe_reg reg)
{
	return spus[stand_in_cpu][reg];
}

static void spu_write(enum spe_reg reg, u64 value)
{
	spus[stand_in_cpu][reg] = value;
}

static void spu_synchronize(void)
{
}

static u64 spu_read_ticks(void)
{
	return stand_in_now;
}

static const struct speprof_backend backend = {
	.id = SPEPROF_BACKEND_EMULATED,
	.read = spu_read,
	.write = spu_write,
	.synchronize = spu_synchronize,
	.drain = spu_synchronize,
	.ticks = spu_read_ticks,
};

const struct speprof_backend *speprof_backend_get(void)
{
	lockdep_assert_held(&speprof_control);
	backend_held++;
	return &backend;
}

bool speprof_backend_is_registered(const struct speprof_backend *held)
{
	lockdep_assert_held(&speprof_control);
	return held == &backend && !backend_removed;
}

void speprof_backend_put(const struct speprof_backend *held)
{
	assert_ptr_equal(held, &backend);
	backend_held--;
}

unsigned int speprof_cpus_count_spus(void)
{
	unsigned int cpu, count = 0;

	lockdep_assert_held(&speprof_control);
	for_each_possible_cpu(cpu)
		count += speprof_cpus[cpu].info.backend != SPEPROF_BACKEND_NONE;
	return count;
}

void speprof_cpu_call_function(unsigned int cpu, smp_call_func_t fn, void *arg)
{
	lockdep_assert_held(&speprof_control);
	if (smp_call_function_single(cpu, fn, arg, true))
		fn(arg);
}

/* A stub: a set is a list of numbers instead of cgroups. Nothing is removed from it. */
struct speprof_cgroup_map {
	unsigned int unused;
};

static struct speprof_cgroup_set *make_set(uintptr_t cgroup)
{
	struct speprof_cgroup_set *set = calloc(1, sizeof(*set) + sizeof(set->members[0]));

	set->count = 1;
	set->members[0] = (struct cgroup *)cgroup;
	return set;
}

struct speprof_cgroup_set *speprof_cgroup_set_change(const struct speprof_cgroup_set *set, u32 op,
						     const struct speprof_cgroup_set *by)
{
	assert_int_equal(op, SPEPROF_CGROUPS_REPLACE);
	return make_set((uintptr_t)by->members[0]);
}

void speprof_cgroup_set_free(struct speprof_cgroup_set *set)
{
	free(set);
}

bool speprof_cgroup_sets_overlap(const struct speprof_cgroup_set *a,
				 const struct speprof_cgroup_set *b)
{
	return a->members[0] == b->members[0];
}

u64 speprof_cgroup_set_remove_dead(struct speprof_cgroup_set *set)
{
	return 0;
}

struct speprof_cgroup_map *speprof_cgroup_map_new(unsigned int count, int node)
{
	map_nodes |= BIT(node);
	return no_map_memory ? NULL : calloc(1, sizeof(struct speprof_cgroup_map));
}

void speprof_cgroup_map_free(struct speprof_cgroup_map *map)
{
	free(map);
}

void speprof_cgroup_map_add(struct speprof_cgroup_map *map, const struct speprof_cgroup_set *set,
			    struct speprof_ring *ring)
{
}

struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task)
{
	return NULL;
}

bool speprof_cgroup_map_remove_ring(struct speprof_cgroup_map *map, const struct speprof_ring *ring)
{
	return false;
}

int speprof_cgroups_watch_get(void)
{
	return 0;
}

void speprof_cgroups_watch_put(void)
{
}

void speprof_cgroups_schedule_prune(void)
{
}

/* ---- Sessions --------------------------------------------------------------------- */

static const struct speprof_sampling sampling = {
	.flags = SPEPROF_SAMPLE_USER,
	.interval = 4096,
};

static const struct speprof_session_config plain = {
	.ring_size = SESSION_RING_MIN,
	.event_slots = 16,
	.rights = SPEPROF_RIGHT_CGROUPS,
};

static struct speprof_session *make_session(u32 mode, u64 mask, struct speprof_cgroup_set *cgroups)
{
	struct speprof_session_config config = plain;
	struct cpumask cpus = { mask };
	struct speprof_session *session;

	config.mode = mode;
	session = speprof_session_new(&config, &cpus, cgroups);
	assert_false(IS_ERR(session));
	return session;
}

static struct speprof_session *make_started_session(u32 mode, struct speprof_cgroup_set *cgroups)
{
	struct speprof_session *session = make_session(mode, 0, cgroups);

	assert_int_equal(speprof_session_set_sampling(session, &sampling), 0);
	return session;
}

/* Return the number of interrupts of all CPUs since the last call. */
static u64 take_interrupt_count(void)
{
	u64 count = 0;

	for (unsigned int cpu = 0; cpu < STAND_IN_CPUS_MAX; cpu++) {
		count += stand_in_calls[cpu];
		stand_in_calls[cpu] = 0;
	}
	return count;
}

static int set_up(void **state)
{
	static struct task_struct idle;
	unsigned int cpu;

	(void)state;
	stand_in_cpus = CPUS;
	stand_in_online = ~0ULL;
	stand_in_now += 10 * NSEC_PER_SEC;
	stand_in_current = &idle;
	stand_in_caller = (struct stand_in_caller){ .memlock = 1 << 30, .perfmon = true };
	speprof_arbiter_init();
	for_each_possible_cpu(cpu) {
		speprof_cpus[cpu].backend = &backend;
		speprof_cpus[cpu].info = (struct speprof_cpu_info){
			.cpu = cpu,
			.backend = backend.id,
			.interval_min = 256,
			.interval_max = 1 << 30,
			.record_align = 64,
			.record_max = 64,
		};
	}
	take_interrupt_count();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(backend_held, 0);
	assert_int_equal(stand_in_caller.user.locked_vm.value, 0);
	assert_false(speprof_control.held);
	assert_int_equal(stand_in_warnings, 0);
	return 0;
}

/* ---- New sessions -------------------------------------------------------------------- */

static unsigned int allocations;

/* The last CPU comes online for the first time while the first ring is allocated. */
static void cpu_comes_online(void)
{
	assert_false(speprof_control.held);
	allocations++;
	speprof_cpus[CPUS - 1].info.backend = backend.id;
}

/*
 * A session has rings for the CPUs for which memory was charged. Other sessions continue while it
 * allocates them.
 */
static void test_new_session_has_rings(void **state)
{
	const struct speprof_ring_config ring = { .size = plain.ring_size, .event_slots = 16 };
	struct speprof_session *session;

	(void)state;
	allocations = 0;
	speprof_cpus[CPUS - 1].info.backend = SPEPROF_BACKEND_NONE;
	stand_in_allocating = cpu_comes_online;
	session = make_session(SPEPROF_MODE_STREAM, 0, NULL);
	stand_in_allocating = NULL;
	assert_true(allocations > 0);
	assert_non_null(speprof_session_find_ring(session, CPUS - 2));
	assert_null(speprof_session_find_ring(session, CPUS - 1));
	assert_int_equal(stand_in_caller.user.locked_vm.value,
			 (CPUS - 1) * speprof_ring_count_pages(&ring));
	speprof_session_put(session);
}

static void caller_is_killed(void)
{
	allocations++;
	stand_in_caller.killed = true;
}

/* No further ring is allocated for a caller that is killed. */
static void test_killed_caller_gets_no_rings(void **state)
{
	struct speprof_ring_config ring = { .size = plain.ring_size, .event_slots = 16 };
	struct cpumask cpus = { 0 };
	unsigned int of_one_ring;

	(void)state;
	allocations = 0;
	stand_in_allocating = caller_is_killed;
	speprof_ring_free(speprof_ring_new(&ring));
	of_one_ring = allocations;
	stand_in_caller.killed = false;
	assert_ptr_equal(speprof_session_new(&plain, &cpus, NULL), ERR_PTR(-EINTR));
	stand_in_allocating = NULL;
	assert_true(of_one_ring > 0);
	assert_int_equal(allocations, 2 * of_one_ring);
}

/* A session that selects a CPU without an SPU is refused. */
static void test_cpu_without_spu_is_refused(void **state)
{
	struct cpumask cpus = { 1 << 1 | 1 << 2 };

	(void)state;
	speprof_cpus[2].info.backend = SPEPROF_BACKEND_NONE;
	assert_ptr_equal(speprof_session_new(&plain, &cpus, NULL), ERR_PTR(-ENODEV));
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		speprof_cpus[cpu].info.backend = SPEPROF_BACKEND_NONE;
	cpus.bits = 0;
	assert_ptr_equal(speprof_session_new(&plain, &cpus, NULL), ERR_PTR(-ENODEV));
	stand_in_caller.memlock = PAGE_SIZE;
	cpus.bits = 1;
	assert_ptr_equal(speprof_session_new(&plain, &cpus, NULL), ERR_PTR(-ENOMEM));
}

/*
 * STOP is not limited. A session that repeats START and STOP interrupts each CPU at most twice for
 * each permitted START, and STOP of a stopped session interrupts no CPU.
 */
static void test_stop_is_limited_by_start(void **state)
{
	struct speprof_session *session = make_started_session(SPEPROF_MODE_STREAM, NULL);
	unsigned int starts = 0, refused = 0;

	(void)state;
	take_interrupt_count();
	for (unsigned int i = 0; i < 10 * RATE; i++) {
		int ret = speprof_session_start(session);

		assert_true(!ret || ret == -EAGAIN);
		starts += !ret;
		refused += !!ret;
		speprof_session_stop(session);
		speprof_session_stop(session);
		assert_int_equal(speprof_session_find_ring(session, 0)->state, SPEPROF_RING_IDLE);
	}
	assert_true(starts <= RATE && refused >= 9 * RATE);
	assert_int_equal(take_interrupt_count(), 2 * starts * CPUS);
	speprof_session_put(session);
	assert_int_equal(take_interrupt_count(), 0);
}

/* ---- Programs ---------------------------------------------------------------------------- */

/* Context packets are enabled only if they would have the TID. */
static void test_context_needs_tid(void **state)
{
	const struct {
		u32 collect;
		u32 flags;
		u64 cx;
	} rows[] = {
		{ SPEPROF_COLLECT_CONTEXT, SPEPROF_CPU_CONTEXT, SPE_PMSCR_CX },
		{ SPEPROF_COLLECT_CONTEXT, 0, 0 },
		{ 0, SPEPROF_CPU_CONTEXT, 0 },
	};
	struct speprof_sampling sampling = { .flags = SPEPROF_SAMPLE_USER, .interval = 4096 };
	struct speprof_cpu_info spu = speprof_cpus[0].info;
	struct speprof_sampling_program program;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sampling.collect = rows[i].collect;
		spu.flags = rows[i].flags;
		assert_int_equal(speprof_sampling_program_make(&sampling, &spu, &program), 0);
		assert_int_equal(program.pmscr, SPE_PMSCR_E0SPE | rows[i].cx);
	}
}

/* ---- Yielding the SPU ------------------------------------------------------------------ */

static int start_with_perfmon(struct speprof_session *session, bool perfmon)
{
	stand_in_caller.perfmon = perfmon;
	return speprof_session_start(session);
}

/*
 * After its descriptor was passed to another process, a session yields to a caller with
 * CAP_PERFMON, and to no other.
 */
static void test_session_yields_to_perfmon(void **state)
{
	struct speprof_session *handed = make_started_session(SPEPROF_MODE_STREAM, NULL);
	struct speprof_session *privileged = make_started_session(SPEPROF_MODE_STREAM, NULL);

	(void)state;
	assert_int_equal(start_with_perfmon(handed, false), 0);
	assert_int_equal(start_with_perfmon(privileged, false), -EBUSY);
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_ARMED);
	assert_int_equal(start_with_perfmon(privileged, true), 0);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(speprof_session_find_ring(handed, cpu)->state, SPEPROF_RING_IDLE);
		assert_int_equal(speprof_session_find_ring(privileged, cpu)->state,
				 SPEPROF_RING_ARMED);
	}
	assert_int_equal(start_with_perfmon(handed, false), -EBUSY);
	assert_int_equal(start_with_perfmon(handed, true), -EBUSY);
	speprof_session_stop(privileged);
	assert_int_equal(start_with_perfmon(handed, false), 0);
	speprof_session_put(privileged);
	speprof_session_put(handed);
}

/* A START that fails because of one session must not stop another one. */
static void test_yields_all_or_none(void **state)
{
	struct speprof_session *handed = make_session(SPEPROF_MODE_STREAM, 1 << 0, NULL);
	struct speprof_session *privileged = make_session(SPEPROF_MODE_STREAM, 1 << 1, NULL);
	struct speprof_session *both = make_session(SPEPROF_MODE_STREAM, 1 << 0 | 1 << 1, NULL);

	(void)state;
	assert_int_equal(speprof_session_set_sampling(handed, &sampling), 0);
	assert_int_equal(speprof_session_set_sampling(privileged, &sampling), 0);
	assert_int_equal(speprof_session_set_sampling(both, &sampling), 0);
	assert_int_equal(start_with_perfmon(handed, false), 0);
	assert_int_equal(start_with_perfmon(privileged, true), 0);
	assert_int_equal(start_with_perfmon(both, true), -EBUSY);
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_ARMED);
	speprof_session_stop(privileged);
	assert_int_equal(start_with_perfmon(both, true), 0);
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_IDLE);
	speprof_session_put(both);
	speprof_session_put(privileged);
	speprof_session_put(handed);
}

static int replace_cgroups_with_perfmon(struct speprof_session *session, uintptr_t cgroup,
					bool perfmon)
{
	struct speprof_cgroup_set *set = make_set(cgroup);
	int ret;

	stand_in_caller.perfmon = perfmon;
	ret = speprof_session_change_cgroups(session, SPEPROF_CGROUPS_REPLACE, set);
	speprof_cgroup_set_free(set);
	return ret;
}

/*
 * A session yields if a caller without CAP_PERFMON chose its cgroups, even if another caller
 * started it.
 */
static void test_session_of_cgroups_yields(void **state)
{
	struct speprof_session *handed = make_started_session(SPEPROF_MODE_STREAM, make_set(1));
	struct speprof_session *privileged = make_started_session(SPEPROF_MODE_STREAM, make_set(2));

	(void)state;
	assert_int_equal(start_with_perfmon(handed, true), 0);
	assert_int_equal(start_with_perfmon(privileged, true), 0);
	assert_int_equal(replace_cgroups_with_perfmon(handed, 2, false), -EBUSY);
	assert_int_equal(replace_cgroups_with_perfmon(privileged, 1, true), -EBUSY);
	assert_int_equal(replace_cgroups_with_perfmon(handed, 3, false), 0);
	assert_int_equal(replace_cgroups_with_perfmon(privileged, 3, true), 0);
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_IDLE);
	assert_int_equal(speprof_session_find_ring(privileged, 0)->state, SPEPROF_RING_PARKED);
	speprof_session_put(privileged);
	speprof_session_put(handed);
}

/* The map of each CPU, which each context switch reads, is in the memory of the CPU's node. */
static void test_map_is_on_node_of_cpu(void **state)
{
	struct speprof_session *session = make_started_session(SPEPROF_MODE_STREAM, make_set(1));

	(void)state;
	map_nodes = 0;
	assert_int_equal(start_with_perfmon(session, true), 0);
	assert_int_equal(map_nodes, BIT(CPUS) - 1);
	map_nodes = 0;
	assert_int_equal(replace_cgroups_with_perfmon(session, 2, true), 0);
	assert_int_equal(map_nodes, BIT(CPUS) - 1);
	speprof_session_put(session);
}

/* A START that fails for lack of memory stops no other session. */
static void test_failed_start_stops_no_session(void **state)
{
	struct speprof_session *handed = make_started_session(SPEPROF_MODE_STREAM, make_set(1));
	struct speprof_session *privileged = make_started_session(SPEPROF_MODE_STREAM, make_set(1));
	struct speprof_session *other = make_started_session(SPEPROF_MODE_STREAM, make_set(2));

	(void)state;
	assert_int_equal(start_with_perfmon(handed, false), 0);
	no_map_memory = true;
	assert_int_equal(start_with_perfmon(privileged, true), -ENOMEM);
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_PARKED);
	no_map_memory = false;
	assert_int_equal(start_with_perfmon(other, true), 0);
	no_map_memory = true;
	assert_int_equal(replace_cgroups_with_perfmon(other, 1, true), -ENOMEM);
	no_map_memory = false;
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_PARKED);
	assert_int_equal(start_with_perfmon(privileged, true), 0);
	assert_int_equal(speprof_session_find_ring(handed, 0)->state, SPEPROF_RING_IDLE);
	speprof_session_put(other);
	speprof_session_put(privileged);
	speprof_session_put(handed);
}

/* The rings of a removed SPU can never be armed, so START fails with ENODEV. */
static void test_start_after_spu_is_removed(void **state)
{
	struct speprof_session *session = make_started_session(SPEPROF_MODE_STREAM, NULL);

	(void)state;
	backend_removed = true;
	assert_int_equal(start_with_perfmon(session, true), -ENODEV);
	assert_int_equal(speprof_session_find_ring(session, 0)->state, SPEPROF_RING_IDLE);
	backend_removed = false;
	assert_int_equal(start_with_perfmon(session, true), 0);
	speprof_session_put(session);
}

/* ---- The rate of commands --------------------------------------------------------------- */

/* The bucket permits a burst of as many commands as the rate, then as many in each second. */
static void test_token_bucket(void **state)
{
	struct speprof_command_bucket bucket = { 0 };
	u64 now = stand_in_now;
	unsigned int drawn;

	(void)state;
	for (drawn = 0; !speprof_command_bucket_take_token(&bucket, now); drawn++)
		assert_in_range(drawn, 0, RATE);
	assert_int_equal(drawn, RATE);
	assert_int_equal(speprof_command_bucket_take_token(&bucket, now + 9 * MS), -EAGAIN);
	assert_int_equal(speprof_command_bucket_take_token(&bucket, now + 10 * MS), 0);
	assert_int_equal(speprof_command_bucket_take_token(&bucket, now + 10 * MS), -EAGAIN);
	/* The clock value may be older than the one that another CPU used. */
	assert_int_equal(speprof_command_bucket_take_token(&bucket, now), -EAGAIN);
	now += 5 * NSEC_PER_SEC;
	for (drawn = 0; !speprof_command_bucket_take_token(&bucket, now); drawn++)
		assert_in_range(drawn, 0, RATE);
	assert_int_equal(drawn, RATE);
}

enum session_command {
	COMMAND_SAMPLE,
	COMMAND_START,
	COMMAND_CGROUPS,
	COMMAND_TUNE,
	COMMAND_FLUSH,
	COMMAND_STATS,
	COMMAND_SNAPSHOT,
	COMMANDS,
};

static int run_command(struct speprof_session *session, enum session_command command,
		       unsigned int n)
{
	struct speprof_tune tune = { .cpu = 1, .interval = n % 2 ? 4096 : 4352 };
	struct speprof_snapshot snapshot = { 0 };
	struct speprof_ring_stats stats;
	struct speprof_cgroup_set *set;
	int ret;

	switch (command) {
	case COMMAND_SAMPLE:
		return speprof_session_set_sampling(session, &sampling);
	case COMMAND_START:
		speprof_session_stop(session);
		return speprof_session_start(session);
	case COMMAND_CGROUPS:
		set = make_set(n);
		ret = speprof_session_change_cgroups(session, SPEPROF_CGROUPS_REPLACE, set);
		speprof_cgroup_set_free(set);
		return ret;
	case COMMAND_TUNE:
		return speprof_session_tune_cpu(session, &tune);
	case COMMAND_FLUSH:
		return speprof_session_flush_ring(speprof_session_find_ring(session, 1));
	case COMMAND_STATS:
		return speprof_session_get_ring_stats(speprof_session_find_ring(session, 1),
						      &stats);
	default:
		/*
		 * Nothing was written yet, so the result is ENODATA, although the CPU was
		 * interrupted.
		 */
		ret = speprof_session_take_snapshot(speprof_session_find_ring(session, 1), &stats,
						    &snapshot);
		assert_int_equal(ret == -EAGAIN ? -ENODATA : ret, -ENODATA);
		return ret == -ENODATA ? 0 : ret;
	}
}

/* Any number of commands interrupts CPUs no more often than the rate allows. */
static void check_command_is_limited(enum session_command command)
{
	u32 mode = command == COMMAND_SNAPSHOT ? SPEPROF_MODE_FLIGHT_RECORDER : SPEPROF_MODE_STREAM;
	struct speprof_session *session = make_started_session(mode, make_set(0));
	u64 per_call = command < COMMAND_TUNE ? CPUS : 1;
	unsigned int done;

	assert_int_equal(speprof_session_start(session), 0);
	stand_in_now += 2 * NSEC_PER_SEC;
	take_interrupt_count();
	for (done = 0; !run_command(session, command, done); done++)
		assert_in_range(done, 0, RATE);
	assert_int_equal(done, RATE);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(run_command(session, command, i), -EAGAIN);
	/*
	 * A START interrupts all CPUs twice: to stop and to start. The START that is refused only
	 * stops them.
	 */
	assert_int_equal(take_interrupt_count(),
			 command == COMMAND_START ? 2 * RATE * CPUS + CPUS : RATE * per_call);
	stand_in_now += 10 * MS;
	assert_int_equal(run_command(session, command, RATE), 0);
	assert_int_equal(run_command(session, command, RATE), -EAGAIN);
	speprof_session_put(session);
}

static void test_commands_are_limited(void **state)
{
	(void)state;
	for (enum session_command command = 0; command < COMMANDS; command++)
		check_command_is_limited(command);
}

/* STOP and RELEASE never fail, and interrupt no CPU without a reason. */
static void test_stop_and_release_are_not_limited(void **state)
{
	struct speprof_session *session = make_started_session(SPEPROF_MODE_FLIGHT_RECORDER, NULL);
	struct speprof_ring *ring = speprof_session_find_ring(session, 0);
	struct speprof_ring_stats stats;
	unsigned int i;

	(void)state;
	assert_int_equal(speprof_session_start(session), 0);
	while (!speprof_session_start(session))
		;
	while (!speprof_session_get_ring_stats(ring, &stats))
		;
	take_interrupt_count();
	for (i = 0; i < 1000; i++)
		assert_int_equal(speprof_session_release_snapshot(ring, ring), -ENOENT);
	assert_int_equal(take_interrupt_count(), 0);
	speprof_session_stop(session);
	assert_int_equal(take_interrupt_count(), CPUS);
	for (i = 0; i < 1000; i++)
		speprof_session_stop(session);
	assert_int_equal(take_interrupt_count(), 0);
	speprof_session_put(session);
}

/*
 * KICK interrupts a CPU only if its ring waits for a reader, and no more often than the rate
 * allows.
 */
static void test_kick_interrupts_waiting_ring(void **state)
{
	struct speprof_session *session = make_started_session(SPEPROF_MODE_STREAM, NULL);
	struct speprof_ring *ring = speprof_session_find_ring(session, 1);
	unsigned int kicks = 0;

	(void)state;
	assert_int_equal(speprof_session_start(session), 0);
	take_interrupt_count();
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(speprof_session_kick_ring(ring), 0);
	assert_int_equal(take_interrupt_count(), 0);
	assert_false(speprof_ring_is_unread(ring));

	stand_in_cpu = 1;
	speprof_ring_rotate_window(ring, SPEPROF_RING_FULL, NULL);
	stand_in_cpu = 0;
	assert_int_equal(speprof_session_kick_ring(ring), 0);
	assert_int_equal(take_interrupt_count(), 1);
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	while (!speprof_session_kick_ring(ring) && kicks++ < 2 * RATE) {
		stand_in_cpu = 1;
		speprof_ring_rotate_window(ring, SPEPROF_RING_FULL, NULL);
		stand_in_cpu = 0;
	}
	assert_in_range(take_interrupt_count(), 1, RATE);
	stand_in_online &= ~2ULL;
	assert_int_equal(speprof_session_kick_ring(ring), -ENXIO);
	stand_in_online |= 2;
	speprof_session_put(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_session_has_rings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_caller_gets_no_rings, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_cpu_without_spu_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_context_needs_tid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_session_yields_to_perfmon, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_yields_all_or_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_session_of_cgroups_yields, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop_is_limited_by_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_map_is_on_node_of_cpu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failed_start_stops_no_session, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_start_after_spu_is_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_token_bucket, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_commands_are_limited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop_and_release_are_not_limited, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_kick_interrupts_waiting_ring, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
