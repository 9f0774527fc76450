// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: a ring for each of their CPUs. What concerns a ring is done on its CPU.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "cpu.h"
#include "session.h"

/* ---- Locked memory -------------------------------------------------------- */

static int session_charge(struct session *session, unsigned long pages)
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

static void session_uncharge(struct session *session)
{
	if (!session->user)
		return;
	atomic_long_sub((long)session->charged, &session->user->locked_vm);
	free_uid(session->user);
}

/* ---- On a ring's CPU ------------------------------------------------------ */

struct ring_call {
	struct ring *ring;
	const struct program *program;
	struct speprof_ring_stats *stats;
	struct speprof_snapshot *snapshot;
	const void *owner;
	int result;
};

static void start_here(void *arg)
{
	struct ring_call *call = arg;
	struct speprof_cpu *host = per_cpu_ptr(&speprof_cpus, call->ring->cpu);

	WRITE_ONCE(host->ring, call->ring);
	ring_start(call->ring, call->program, host->up);
}

static void stop_here(void *arg)
{
	struct ring_call *call = arg;

	ring_stop(call->ring);
	WRITE_ONCE(per_cpu_ptr(&speprof_cpus, call->ring->cpu)->ring, NULL);
}

static void reprogram_here(void *arg)
{
	struct ring_call *call = arg;

	ring_reprogram(call->ring, call->program);
}

static void kick_here(void *arg)
{
	struct ring_call *call = arg;

	call->result = ring_kick(call->ring);
}

static void flush_here(void *arg)
{
	struct ring_call *call = arg;

	call->result = ring_flush(call->ring);
}

static void stats_here(void *arg)
{
	struct ring_call *call = arg;

	ring_stats(call->ring, call->stats);
}

static void snapshot_here(void *arg)
{
	struct ring_call *call = arg;

	call->result = ring_snapshot(call->ring, call->owner, call->snapshot);
}

static void snapshot_end_here(void *arg)
{
	struct ring_call *call = arg;

	call->result = ring_snapshot_end(call->ring, call->owner);
}

int session_ring_kick(struct ring *ring)
{
	struct ring_call call = { .ring = ring };

	speprof_cpu_call(ring->cpu, kick_here, &call);
	return call.result;
}

int session_ring_flush(struct ring *ring)
{
	struct ring_call call = { .ring = ring };

	speprof_cpu_call(ring->cpu, flush_here, &call);
	return call.result;
}

void session_ring_stats(struct ring *ring, struct speprof_ring_stats *ret_stats)
{
	struct ring_call call = { .ring = ring, .stats = ret_stats };

	/* A ring whose CPU is down changes under this lock. */
	mutex_lock(&speprof_control);
	speprof_cpu_call(ring->cpu, stats_here, &call);
	mutex_unlock(&speprof_control);
}

int session_ring_snapshot(struct ring *ring, const void *owner, struct speprof_snapshot *snapshot)
{
	struct ring_call call = { .ring = ring, .owner = owner, .snapshot = snapshot };

	mutex_lock(&speprof_control);
	speprof_cpu_call(ring->cpu, snapshot_here, &call);
	mutex_unlock(&speprof_control);
	return call.result;
}

int session_ring_snapshot_end(struct ring *ring, const void *owner)
{
	struct ring_call call = { .ring = ring, .owner = owner };

	mutex_lock(&speprof_control);
	speprof_cpu_call(ring->cpu, snapshot_end_here, &call);
	mutex_unlock(&speprof_control);
	return call.result;
}

/* ---- Life ----------------------------------------------------------------- */

static u32 session_max_window(const struct speprof_session_config *config)
{
	return (u32)(config->watermark ?: config->ring_size / 4);
}

static int session_add_ring(struct session *session, unsigned int cpu,
			    const struct speprof_session_config *config)
{
	struct ring_config ring_config = {
		.backend = session->backend,
		.spu = per_cpu(speprof_cpus, cpu).info,
		.size = config->ring_size,
		.event_slots = config->event_slots,
		.max_window = session_max_window(config),
		.latency_ms = config->max_latency_ms,
		.flight = config->mode == SPEPROF_MODE_FLIGHT_RECORDER,
	};
	struct ring *ring;

	if (ring_config.spu.backend == SPEPROF_BACKEND_NONE)
		return -ENODEV;
	ring = ring_new(&ring_config);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	session->rings[cpu] = ring;
	return 0;
}

static int session_charge_rings(struct session *session, unsigned int rings,
				const struct speprof_session_config *config)
{
	struct ring_config ring_config = {
		.size = config->ring_size,
		.event_slots = config->event_slots,
	};

	/* As for other locked memory, whoever may lock any amount is not counted. */
	if (capable(CAP_IPC_LOCK))
		return 0;
	return session_charge(session, rings * ring_charge(&ring_config));
}

/* CPUs without an SPU are passed over where none are named. */
static int session_add_rings(struct session *session, const struct cpumask *cpus,
			     const struct speprof_session_config *config)
{
	unsigned int cpu, rings;
	bool all = cpumask_empty(cpus);
	int ret;

	rings = all ? speprof_cpu_count() : cpumask_weight(cpus);
	if (!rings)
		return -ENODEV;
	ret = session_charge_rings(session, rings, config);
	if (ret)
		return ret;

	for_each_possible_cpu(cpu) {
		if (!all && !cpumask_test_cpu(cpu, cpus))
			continue;
		if (all && per_cpu(speprof_cpus, cpu).info.backend == SPEPROF_BACKEND_NONE)
			continue;
		ret = session_add_ring(session, cpu, config);
		if (ret)
			return ret;
	}
	return 0;
}

/* Stopped, and nobody else knows it. */
static void session_free(struct session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		ring_free(session->rings[cpu]);
	session_uncharge(session);
	if (session->backend)
		speprof_backend_put(session->backend);
	kfree(session->programs);
	kfree(session);
}

struct session *session_new(const struct speprof_session_config *config,
			    const struct cpumask *cpus)
{
	struct session *session;
	int ret = -ENOMEM;

	session = kzalloc(struct_size(session, rings, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);
	kref_init(&session->count);
	session->rights = config->rights;
	session->programs = kcalloc(nr_cpu_ids, sizeof(*session->programs), GFP_KERNEL_ACCOUNT);
	if (!session->programs)
		goto fail;

	mutex_lock(&speprof_control);
	session->backend = speprof_backend_get();
	ret = session->backend ? session_add_rings(session, cpus, config) : -ENODEV;
	mutex_unlock(&speprof_control);
	if (!ret)
		return session;
fail:
	session_free(session);
	return ERR_PTR(ret);
}

void session_get(struct session *session)
{
	kref_get(&session->count);
}

static void session_release(struct kref *count)
{
	struct session *session = container_of(count, struct session, count);

	session_stop(session);
	session_free(session);
}

void session_put(struct session *session)
{
	kref_put(&session->count, session_release);
}

/* ---- Commands -------------------------------------------------------------- */

static int session_check_rights(const struct session *session,
				const struct speprof_sampling *sampling)
{
	u32 need = 0;

	if (sampling->flags & SPEPROF_SAMPLE_KERNEL)
		need |= SPEPROF_RIGHT_KERNEL;
	if (sampling->collect & SPEPROF_COLLECT_CONTEXT)
		need |= SPEPROF_RIGHT_CONTEXT;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_ADDRESS)
		need |= SPEPROF_RIGHT_PHYSICAL_ADDRESS;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_TIME)
		need |= SPEPROF_RIGHT_PHYSICAL_TIME;
	return need & ~session->rights ? -EPERM : 0;
}

/* Every ring's program into @programs, or none is of use. */
static int session_make_programs(struct session *session, const struct speprof_sampling *sampling,
				 struct program *programs)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		if (!session->rings[cpu])
			continue;
		ret = program_make(sampling, &session->rings[cpu]->config.spu, &programs[cpu]);
		if (ret)
			return ret;
		programs[cpu].generation = session->generation + 1;
	}
	return 0;
}

static void session_reprogram(struct session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct ring_call call = {
			.ring = session->rings[cpu],
			.program = &session->programs[cpu],
		};

		if (call.ring)
			speprof_cpu_call(cpu, reprogram_here, &call);
	}
}

int session_sample(struct session *session, const struct speprof_sampling *sampling)
{
	struct program *programs;
	int ret;

	ret = session_check_rights(session, sampling);
	if (ret)
		return ret;
	programs = kcalloc(nr_cpu_ids, sizeof(*programs), GFP_KERNEL);
	if (!programs)
		return -ENOMEM;

	mutex_lock(&speprof_control);
	ret = session_make_programs(session, sampling, programs);
	if (!ret) {
		swap(session->programs, programs);
		session->generation++;
		if (session->state == SESSION_STARTED)
			session_reprogram(session);
	}
	mutex_unlock(&speprof_control);
	kfree(programs);
	return ret;
}

static bool session_is_alone(const struct session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (session->rings[cpu] && READ_ONCE(per_cpu(speprof_cpus, cpu).ring))
			return false;
	return true;
}

int session_start(struct session *session)
{
	unsigned int cpu;
	int ret = 0;

	mutex_lock(&speprof_control);
	if (session->state == SESSION_STARTED)
		goto out;
	ret = -ENODATA;
	if (!session->generation)
		goto out;
	ret = -EBUSY;
	if (!session_is_alone(session))
		goto out;

	for_each_possible_cpu(cpu) {
		struct ring_call call = {
			.ring = session->rings[cpu],
			.program = &session->programs[cpu],
		};

		if (call.ring)
			speprof_cpu_call(cpu, start_here, &call);
	}
	session->state = SESSION_STARTED;
	ret = 0;
out:
	mutex_unlock(&speprof_control);
	return ret;
}

void session_stop(struct session *session)
{
	unsigned int cpu;

	mutex_lock(&speprof_control);
	if (session->state == SESSION_STARTED) {
		for_each_possible_cpu(cpu) {
			struct ring_call call = { .ring = session->rings[cpu] };

			if (call.ring)
				speprof_cpu_call(cpu, stop_here, &call);
		}
		session->state = SESSION_STOPPED;
	}
	mutex_unlock(&speprof_control);
}

struct ring *session_ring(struct session *session, u32 cpu)
{
	if (cpu >= nr_cpu_ids)
		return NULL;
	return session->rings[array_index_nospec(cpu, nr_cpu_ids)];
}
