// SPDX-License-Identifier: GPL-2.0-only
/* Implement sessions. All functions that change a ring run on the CPU of the ring. */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "arbiter.h"
#include "cgroups.h"
#include "cpu.h"
#include "session.h"

/* all sessions; protected by speprof_control */
static LIST_HEAD(sessions);

/* ---- Locked memory -------------------------------------------------------- */

static int session_charge_pages(struct speprof_session *session, unsigned long pages)
{
	struct user_struct *user = get_uid(current_user());
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long locked;

	locked = atomic_long_add_return((long)pages, &user->locked_vm);
	if (locked < 0 || (unsigned long)locked > limit) {
		atomic_long_sub((long)pages, &user->locked_vm);
		free_uid(user);
		return -ENOMEM;
	}
	session->user = user;
	session->charged = pages;
	return 0;
}

static void session_uncharge_pages(struct speprof_session *session)
{
	if (!session->user)
		return;
	atomic_long_sub((long)session->charged, &session->user->locked_vm);
	free_uid(session->user);
}

/* ---- On a ring's CPU ------------------------------------------------------ */

/*
 * struct ring_call - arguments and results of a call on a ring's CPU; each function uses only some
 * of the fields
 * @map: in: the new map; out: a map that the caller frees, or NULL
 * @removed_id: ID of a removed cgroup
 * @cgroups_remaining: number of cgroups that the session still has
 */
struct ring_call {
	struct speprof_ring *ring;
	const struct speprof_sampling_program *program;
	struct speprof_ring_stats *stats;
	struct speprof_snapshot *snapshot;
	const void *owner;
	struct speprof_cgroup_map *map;
	u64 removed_id;
	u32 cgroups_remaining;
	int result;
};

static struct speprof_cpu *call_get_cpu(const struct ring_call *call)
{
	return per_cpu_ptr(&speprof_cpus, call->ring->cpu);
}

static void ring_start_on_cpu(void *arg)
{
	struct ring_call *call = arg;
	struct speprof_cpu *cpu_state = call_get_cpu(call);

	call->map = speprof_arbiter_add_ring(cpu_state, call->ring, call->map);
	speprof_ring_start(call->ring, call->program,
			   speprof_arbiter_can_sample(cpu_state, call->ring));
	speprof_arbiter_reevaluate(cpu_state);
}

static void ring_stop_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	speprof_ring_stop(call->ring);
	call->map = speprof_arbiter_remove_ring(call_get_cpu(call), call->ring);
	speprof_arbiter_reevaluate(call_get_cpu(call));
}

static void ring_swap_map_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	call->map = speprof_arbiter_swap_map(call_get_cpu(call), call->map);
	speprof_arbiter_reevaluate(call_get_cpu(call));
}

static void ring_report_cgroup_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	speprof_ring_report_cgroup_removed(call->ring, call->removed_id, call->cgroups_remaining);
}

static void ring_reprogram_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	speprof_ring_reprogram(call->ring, call->program);
	speprof_arbiter_reevaluate(call_get_cpu(call));
}

static void ring_kick_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	call->result = speprof_ring_kick(call->ring);
}

static void ring_flush_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	call->result = speprof_ring_flush(call->ring);
	speprof_arbiter_reevaluate(call_get_cpu(call));
}

static void ring_get_stats_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	speprof_ring_get_stats(call->ring, call->stats);
}

static void ring_take_snapshot_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	call->result = speprof_ring_take_snapshot(call->ring, call->owner, call->snapshot);
	speprof_arbiter_reevaluate(call_get_cpu(call));
}

static void ring_release_snapshot_on_cpu(void *arg)
{
	struct ring_call *call = arg;

	call->result = speprof_ring_release_snapshot(call->ring, call->owner);
}

/* Take a token for a command that interrupts CPUs. Return: 0; -EAGAIN if the bucket is empty. */
static int bucket_take_token(struct speprof_command_bucket *bucket)
{
	return speprof_command_bucket_take_token(bucket, ktime_get_ns());
}

/* Return -ENXIO for an offline CPU, because its ring may only be used under speprof_control. */
int speprof_session_kick_ring(struct speprof_ring *ring)
{
	struct ring_call call = { .ring = ring };

	if (!cpu_online(ring->cpu) || READ_ONCE(ring->state) == SPEPROF_RING_OFFLINE)
		return -ENXIO;
	if (!speprof_ring_note_reader(ring))
		return 0;
	return bucket_take_token(&ring->command_bucket) ?:
	       smp_call_function_single((int)ring->cpu, ring_kick_on_cpu, &call, true) ?:
	       call.result;
}

int speprof_session_flush_ring(struct speprof_ring *ring)
{
	struct ring_call call = { .ring = ring };

	return bucket_take_token(&ring->command_bucket) ?:
	       smp_call_function_single((int)ring->cpu, ring_flush_on_cpu, &call, true) ?:
	       call.result;
}

/* Call @fn on the ring's CPU under speprof_control, which the ring of an offline CPU needs. */
static int ring_call_on_cpu_locked(struct ring_call *call, smp_call_func_t fn)
{
	int ret = bucket_take_token(&call->ring->command_bucket);

	if (ret)
		return ret;
	mutex_lock(&speprof_control);
	speprof_cpu_call_function(call->ring->cpu, fn, call);
	mutex_unlock(&speprof_control);
	return call->result;
}

int speprof_session_get_ring_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats)
{
	struct ring_call call = { .ring = ring, .stats = ret_stats };

	return ring_call_on_cpu_locked(&call, ring_get_stats_on_cpu);
}

int speprof_session_take_snapshot(struct speprof_ring *ring, const void *owner,
				  struct speprof_snapshot *snapshot)
{
	struct ring_call call = { .ring = ring, .owner = owner, .snapshot = snapshot };

	return ring->flight ? ring_call_on_cpu_locked(&call, ring_take_snapshot_on_cpu) :
			      -EOPNOTSUPP;
}

int speprof_session_release_snapshot(struct speprof_ring *ring, const void *owner)
{
	struct ring_call call = { .ring = ring, .owner = owner, .result = -ENOENT };

	if (!ring->flight)
		return -EOPNOTSUPP;
	mutex_lock(&speprof_control);
	/*
	 * Claims only change under this lock. Interrupt the CPU only if there is a claim to
	 * release.
	 */
	if (spe_flight_has_claim(ring->flight, (uintptr_t)owner))
		speprof_cpu_call_function(ring->cpu, ring_release_snapshot_on_cpu, &call);
	mutex_unlock(&speprof_control);
	return call.result;
}

/* ---- Allocation ----------------------------------------------------------- */

static u32 session_get_max_window(const struct speprof_session_config *config)
{
	return (u32)(config->watermark ?: config->ring_size / 4);
}

static int session_add_ring(struct speprof_session *session, unsigned int cpu,
			    const struct speprof_session_config *config)
{
	struct speprof_ring_config ring_config = {
		.backend = session->backend,
		.size = config->ring_size,
		.event_slots = config->event_slots,
		.max_window = session_get_max_window(config),
		.latency_ms = config->max_latency_ms,
		.flight = config->mode == SPEPROF_MODE_FLIGHT_RECORDER,
		.for_cgroups = session->cgroups,
	};
	struct speprof_ring *ring;

	/* Prevent the hotplug callback from changing this structure while it is read. */
	cpus_read_lock();
	ring_config.spu = per_cpu(speprof_cpus, cpu).info;
	cpus_read_unlock();
	if (ring_config.spu.backend == SPEPROF_BACKEND_NONE)
		return -ENODEV;
	ring = speprof_ring_new(&ring_config);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	session->rings[cpu] = ring;
	return 0;
}

static int session_charge_rings(struct speprof_session *session, unsigned int rings,
				const struct speprof_session_config *config)
{
	struct speprof_ring_config ring_config = {
		.size = config->ring_size,
		.event_slots = config->event_slots,
	};

	/* As for mlock(2), callers with CAP_IPC_LOCK are exempt. */
	if (capable(CAP_IPC_LOCK))
		return 0;
	return session_charge_pages(session, rings * speprof_ring_count_pages(&ring_config));
}

/* Take a reference on the backend. If @cpus is empty, set it to all CPUs that have an SPU. */
static int session_choose_cpus(struct speprof_session *session, struct cpumask *cpus)
{
	unsigned int cpu;

	mutex_lock(&speprof_control);
	session->backend = speprof_backend_get();
	cpus_read_lock();
	if (session->backend && cpumask_empty(cpus))
		for_each_possible_cpu(cpu)
			if (per_cpu(speprof_cpus, cpu).info.backend != SPEPROF_BACKEND_NONE)
				cpumask_set_cpu(cpu, cpus);
	cpus_read_unlock();
	mutex_unlock(&speprof_control);
	return cpumask_empty(cpus) || !session->backend ? -ENODEV : 0;
}

/*
 * Add the rings. This runs without speprof_control, because allocating many large rings takes long.
 */
static int session_add_rings(struct speprof_session *session, const struct cpumask *cpus,
			     const struct speprof_session_config *config)
{
	unsigned int cpu;
	int ret;

	ret = session_charge_rings(session, cpumask_weight(cpus), config);
	if (ret)
		return ret;
	for_each_possible_cpu(cpu) {
		if (!cpumask_test_cpu(cpu, cpus))
			continue;
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = session_add_ring(session, cpu, config);
		if (ret)
			return ret;
	}
	return 0;
}

/* Free a session that is stopped and not in the list of sessions. */
static void session_free(struct speprof_session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		speprof_ring_free(session->rings[cpu]);
	session_uncharge_pages(session);
	if (session->backend)
		speprof_backend_put(session->backend);
	speprof_cgroup_set_free(session->cgroups);
	kfree(session->programs);
	kfree(session);
}

static int session_register(struct speprof_session *session)
{
	int ret;

	mutex_lock(&speprof_control);
	ret = session->cgroups ? speprof_cgroups_watch_get() : 0;
	if (!ret)
		list_add(&session->link, &sessions);
	mutex_unlock(&speprof_control);
	/* A cgroup may have been removed before the tracepoint was registered. */
	if (!ret && session->cgroups)
		speprof_cgroups_schedule_prune();
	return ret;
}

struct speprof_session *speprof_session_new(const struct speprof_session_config *config,
					    struct cpumask *cpus,
					    struct speprof_cgroup_set *cgroups)
{
	struct speprof_session *session;
	int ret = -ENOMEM;

	session = kzalloc(struct_size(session, rings, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!session) {
		speprof_cgroup_set_free(cgroups);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&session->count);
	session->rights = config->rights;
	session->cgroups = cgroups;
	session->programs = kcalloc(nr_cpu_ids, sizeof(*session->programs), GFP_KERNEL_ACCOUNT);
	if (session->programs)
		ret = session_choose_cpus(session, cpus) ?:
		      session_add_rings(session, cpus, config) ?:
		      session_register(session);
	if (ret) {
		session_free(session);
		return ERR_PTR(ret);
	}
	return session;
}

void speprof_session_get(struct speprof_session *session)
{
	kref_get(&session->count);
}

static void session_release(struct kref *count)
{
	struct speprof_session *session = container_of(count, struct speprof_session, count);

	speprof_session_stop(session);
	mutex_lock(&speprof_control);
	list_del(&session->link);
	if (session->cgroups)
		speprof_cgroups_watch_put();
	mutex_unlock(&speprof_control);
	session_free(session);
}

void speprof_session_put(struct speprof_session *session)
{
	kref_put(&session->count, session_release);
}

/* ---- Commands -------------------------------------------------------------- */

static int session_check_rights(const struct speprof_session *session,
				const struct speprof_sampling *sampling)
{
	u32 required = 0;

	if (sampling->flags & SPEPROF_SAMPLE_KERNEL)
		required |= SPEPROF_RIGHT_KERNEL;
	if (sampling->collect & SPEPROF_COLLECT_CONTEXT)
		required |= SPEPROF_RIGHT_CONTEXT;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_ADDRESS)
		required |= SPEPROF_RIGHT_PHYSICAL_ADDRESS;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_TIME)
		required |= SPEPROF_RIGHT_PHYSICAL_TIME;
	return required & ~session->rights ? -EPERM : 0;
}

/* Compute the program of every ring. If an error is returned, @programs is incomplete. */
static int session_make_programs(struct speprof_session *session,
				 const struct speprof_sampling *sampling,
				 struct speprof_sampling_program *programs)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		if (!session->rings[cpu])
			continue;
		ret = speprof_sampling_program_make(sampling, &session->rings[cpu]->config.spu,
						    &programs[cpu]);
		if (ret)
			return ret;
		programs[cpu].generation = session->generation + 1;
	}
	return 0;
}

static void session_reprogram(struct speprof_session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct ring_call call = {
			.ring = session->rings[cpu],
			.program = &session->programs[cpu],
		};

		if (call.ring)
			speprof_cpu_call_function(cpu, ring_reprogram_on_cpu, &call);
	}
}

/* Remove the limits of single CPUs. */
static void session_clear_bounds(struct speprof_session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!session->rings[cpu])
			continue;
		WRITE_ONCE(session->rings[cpu]->bound.interrupts, 0);
		WRITE_ONCE(session->rings[cpu]->bound.bytes, 0);
	}
}

int speprof_session_set_sampling(struct speprof_session *session,
				 const struct speprof_sampling *sampling)
{
	struct speprof_sampling_program *programs;
	int ret;

	ret = session_check_rights(session, sampling) ?:
	      bucket_take_token(&session->command_bucket);
	if (ret)
		return ret;
	programs = kcalloc(nr_cpu_ids, sizeof(*programs), GFP_KERNEL);
	if (!programs)
		return -ENOMEM;

	mutex_lock(&speprof_control);
	ret = session_make_programs(session, sampling, programs);
	if (!ret) {
		swap(session->programs, programs);
		session->sampling = *sampling;
		session_clear_bounds(session);
		session->generation++;
		if (session->state == SESSION_STARTED)
			session_reprogram(session);
	}
	mutex_unlock(&speprof_control);
	kfree(programs);
	return ret;
}

/* Change the interval of one CPU. */
static int session_set_interval(struct speprof_session *session, struct speprof_ring *ring,
				u64 interval)
{
	struct speprof_sampling sampling = session->sampling;
	struct speprof_sampling_program *current_program = &session->programs[ring->cpu];
	struct speprof_sampling_program program;
	struct ring_call call = { .ring = ring, .program = current_program };
	int ret;

	sampling.interval = interval;
	ret = speprof_sampling_program_make(&sampling, &ring->config.spu, &program);
	if (ret || program.interval == current_program->interval)
		return ret;
	program.generation = ++session->generation;
	*current_program = program;
	if (session->state == SESSION_STARTED)
		speprof_cpu_call_function(ring->cpu, ring_reprogram_on_cpu, &call);
	return 0;
}

int speprof_session_tune_cpu(struct speprof_session *session, const struct speprof_tune *tune)
{
	struct speprof_ring *ring = speprof_session_find_ring(session, tune->cpu);
	int ret;

	if (!ring)
		return -ENOENT;
	ret = bucket_take_token(&ring->command_bucket);
	if (ret)
		return ret;
	mutex_lock(&speprof_control);
	if (!session->generation)
		ret = -ENODATA;
	else if (tune->interval)
		ret = session_set_interval(session, ring, tune->interval);
	if (!ret) {
		WRITE_ONCE(ring->bound.interrupts, tune->throttle_interrupts);
		WRITE_ONCE(ring->bound.bytes, tune->throttle_bytes);
	}
	mutex_unlock(&speprof_control);
	return ret;
}

/* ---- Sessions that block each other ------------------------------------------- */

static bool sessions_share_cpu(const struct speprof_session *a, const struct speprof_session *b)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (a->rings[cpu] && b->rings[cpu])
			return true;
	return false;
}

/*
 * Return true if @other is started and prevents @session from sampling @cgroups; NULL means all
 * tasks.
 */
static bool session_blocks(const struct speprof_session *other,
			   const struct speprof_session *session,
			   const struct speprof_cgroup_set *cgroups)
{
	if (other == session || other->state != SESSION_STARTED ||
	    !sessions_share_cpu(session, other))
		return false;
	return !cgroups || !other->cgroups || speprof_cgroup_sets_overlap(cgroups, other->cgroups);
}

static void session_stop_locked(struct speprof_session *session)
{
	unsigned int cpu;

	lockdep_assert_held(&speprof_control);
	for_each_possible_cpu(cpu) {
		struct ring_call call = { .ring = session->rings[cpu] };

		if (!call.ring)
			continue;
		speprof_cpu_call_function(cpu, ring_stop_on_cpu, &call);
		speprof_cgroup_map_free(call.map);
	}
	session->state = SESSION_STOPPED;
}

/*
 * Return -EBUSY if a session blocks @session that the caller may not stop. @privileged: whether the
 * caller may stop sessions that unprivileged callers started.
 */
static int session_check_not_blocked(const struct speprof_session *session,
				  const struct speprof_cgroup_set *cgroups, bool privileged)
{
	struct speprof_session *other;

	lockdep_assert_held(&speprof_control);
	list_for_each_entry(other, &sessions, link)
		if (session_blocks(other, session, cgroups) && (!privileged || other->privileged))
			return -EBUSY;
	return 0;
}

static void session_stop_conflicting(const struct speprof_session *session,
				     const struct speprof_cgroup_set *cgroups)
{
	struct speprof_session *other;

	list_for_each_entry(other, &sessions, link)
		if (session_blocks(other, session, cgroups))
			session_stop_locked(other);
}

/*
 * Return the cgroups that @other will sample on @cpu after @session is started with @cgroups; NULL
 * if there are none.
 */
static const struct speprof_cgroup_set *session_get_cgroups(const struct speprof_session *other,
							    unsigned int cpu,
							    const struct speprof_session *session,
							    const struct speprof_cgroup_set *cgroups)
{
	if (!other->rings[cpu])
		return NULL;
	if (other == session)
		return cgroups;
	if (other->state != SESSION_STARTED || session_blocks(other, session, cgroups))
		return NULL;
	return other->cgroups;
}

/*
 * Create the map that @cpu will have after @session is started with @cgroups. Return NULL if memory
 * cannot be allocated.
 */
static struct speprof_cgroup_map *session_make_map(unsigned int cpu,
						   const struct speprof_session *session,
						   const struct speprof_cgroup_set *cgroups)
{
	const struct speprof_cgroup_set *set;
	const struct speprof_session *other;
	unsigned int count = 0;
	struct speprof_cgroup_map *map;

	list_for_each_entry(other, &sessions, link) {
		set = session_get_cgroups(other, cpu, session, cgroups);
		count += set ? set->count : 0;
	}
	map = speprof_cgroup_map_new(count, cpu_to_node(cpu));
	if (!map)
		return NULL;
	list_for_each_entry(other, &sessions, link) {
		set = session_get_cgroups(other, cpu, session, cgroups);
		if (set)
			speprof_cgroup_map_add(map, set, other->rings[cpu]);
	}
	return map;
}

static void maps_free(struct speprof_cgroup_map **maps)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		speprof_cgroup_map_free(maps[cpu]);
	kfree(maps);
}

/* Create a map for each CPU of the session. The maps are NULL if @cgroups is NULL. */
static struct speprof_cgroup_map **session_make_maps(const struct speprof_session *session,
						     const struct speprof_cgroup_set *cgroups)
{
	struct speprof_cgroup_map **maps = kcalloc(nr_cpu_ids, sizeof(*maps), GFP_KERNEL);
	unsigned int cpu;

	if (!maps)
		return ERR_PTR(-ENOMEM);
	for_each_possible_cpu(cpu) {
		if (!session->rings[cpu] || !cgroups)
			continue;
		maps[cpu] = session_make_map(cpu, session, cgroups);
		if (!maps[cpu]) {
			maps_free(maps);
			return ERR_PTR(-ENOMEM);
		}
	}
	return maps;
}

/* Call @fn on each CPU of the session with its map. Free @maps, and the maps that @fn returns. */
static void session_call_with_maps(struct speprof_session *session, smp_call_func_t fn,
			      struct speprof_cgroup_map **maps)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct ring_call call = {
			.ring = session->rings[cpu],
			.program = &session->programs[cpu],
			.map = maps[cpu],
		};

		if (!call.ring)
			continue;
		speprof_cpu_call_function(cpu, fn, &call);
		maps[cpu] = call.map;
	}
	maps_free(maps);
}

/*
 * Create the maps for starting @session with @cgroups, then stop the sessions that block it.
 * After this function, starting cannot fail. Otherwise a session would have been stopped although
 * @session does not start.
 */
static struct speprof_cgroup_map **session_prepare_start(const struct speprof_session *session,
						     const struct speprof_cgroup_set *cgroups,
						     bool privileged)
{
	int ret = session_check_not_blocked(session, cgroups, privileged);
	struct speprof_cgroup_map **maps;

	if (ret)
		return ERR_PTR(ret);
	maps = session_make_maps(session, cgroups);
	if (!IS_ERR(maps))
		session_stop_conflicting(session, cgroups);
	return maps;
}

static int session_start_locked(struct speprof_session *session)
{
	bool privileged = perfmon_capable();
	struct speprof_cgroup_map **maps;

	if (!session->generation)
		return -ENODATA;
	/*
	 * The rings would stay OFFLINE if the backend with which they were created is not
	 * registered.
	 */
	if (!speprof_backend_is_registered(session->backend))
		return -ENODEV;
	maps = session_prepare_start(session, session->cgroups, privileged);
	if (IS_ERR(maps))
		return PTR_ERR(maps);
	session_call_with_maps(session, ring_start_on_cpu, maps);
	session->state = SESSION_STARTED;
	session->privileged = privileged;
	return 0;
}

int speprof_session_start(struct speprof_session *session)
{
	int ret = bucket_take_token(&session->command_bucket);

	if (ret)
		return ret;
	mutex_lock(&speprof_control);
	if (session->state != SESSION_STARTED)
		ret = session_start_locked(session);
	mutex_unlock(&speprof_control);
	return ret;
}

/*
 * STOP takes no token, so that a session can always be stopped. It interrupts CPUs only after a
 * START, and each START takes a token of the session.
 */
void speprof_session_stop(struct speprof_session *session)
{
	mutex_lock(&speprof_control);
	if (session->state == SESSION_STARTED)
		session_stop_locked(session);
	mutex_unlock(&speprof_control);
}

/* Make the session sample @set. On success the session owns @set; on failure nothing changes. */
static int session_set_cgroups(struct speprof_session *session, struct speprof_cgroup_set *set)
{
	bool privileged = perfmon_capable();
	struct speprof_cgroup_map **maps;

	if (session->state == SESSION_STARTED) {
		maps = session_prepare_start(session, set, privileged);
		if (IS_ERR(maps))
			return PTR_ERR(maps);
		session_call_with_maps(session, ring_swap_map_on_cpu, maps);
	}
	speprof_cgroup_set_free(session->cgroups);
	session->cgroups = set;
	session->privileged &= privileged;
	return 0;
}

int speprof_session_change_cgroups(struct speprof_session *session, u32 op,
				   const struct speprof_cgroup_set *by)
{
	struct speprof_cgroup_set *set;
	int ret;

	if (!(session->rights & SPEPROF_RIGHT_CGROUPS))
		return -EPERM;
	/*
	 * No lock is needed: whether a session samples cgroups never changes.
	 */
	if (!READ_ONCE(session->cgroups))
		return -EOPNOTSUPP;
	ret = bucket_take_token(&session->command_bucket);
	if (ret)
		return ret;
	mutex_lock(&speprof_control);
	set = speprof_cgroup_set_change(session->cgroups, op, by);
	ret = PTR_ERR_OR_ZERO(set);
	if (!ret) {
		ret = session_set_cgroups(session, set);
		if (ret)
			speprof_cgroup_set_free(set);
	}
	mutex_unlock(&speprof_control);
	if (!ret)
		speprof_cgroups_schedule_prune();
	return ret;
}

/* Remove dead cgroups from the session's set. Each of its rings reports them. */
static void session_prune_cgroups(struct speprof_session *session)
{
	struct ring_call call = { 0 };
	unsigned int cpu;

	while ((call.removed_id = speprof_cgroup_set_remove_dead(session->cgroups))) {
		call.cgroups_remaining = session->cgroups->count;
		for_each_possible_cpu(cpu) {
			call.ring = session->rings[cpu];
			if (call.ring)
				speprof_cpu_call_function(cpu, ring_report_cgroup_on_cpu, &call);
		}
	}
}

void speprof_sessions_prune_cgroups(void)
{
	struct speprof_session *session;

	mutex_lock(&speprof_control);
	list_for_each_entry(session, &sessions, link)
		if (session->cgroups)
			session_prune_cgroups(session);
	mutex_unlock(&speprof_control);
}

struct speprof_ring *speprof_session_find_ring(struct speprof_session *session, u32 cpu)
{
	if (cpu >= nr_cpu_ids)
		return NULL;
	return session->rings[array_index_nospec(cpu, nr_cpu_ids)];
}
