/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: a ring for each of its CPUs, and what they sample.
 */
#ifndef SPEPROF_SESSION_H
#define SPEPROF_SESSION_H

#include <linux/cpumask.h>
#include <linux/kref.h>

#include <linux/speprof.h>

#include "ring.h"

struct speprof_cgroup_set;

/* Of the data ring, in bytes; both powers of two and multiples of every page size. */
#define SESSION_RING_MIN (64ULL << 10)
#define SESSION_RING_MAX (256ULL << 20)

enum speprof_session_state {
	SESSION_STOPPED,
	SESSION_STARTED,
};

/**
 * struct speprof_session - counted by its descriptors and those of its rings
 * @backend: held
 * @user: whom @charged pages of locked memory are charged to; NULL if exempt
 * @rights: SPEPROF_RIGHT_*, for good
 * @cgroups: whose tasks it samples; NULL: everybody's. Under speprof_control, but for
 *	whether it is NULL, which is for good
 * @link: to all others. Under speprof_control
 * @state: under speprof_control
 * @privileged: callers with CAP_PERFMON started it and gave it its cgroups: no other session's
 *	START stops it. Under speprof_control
 * @commands: that its descriptors have left
 * @generation: of the last program; 0: there is none yet. Under speprof_control
 * @sampling: of the last program, as it was asked for. Under speprof_control
 * @programs: what each ring's SPU is to sample, by CPU. Under speprof_control
 * @rings: by CPU; NULL where the CPU is not in the session. Constant
 */
struct speprof_session {
	struct kref count;
	const struct speprof_backend *backend;
	struct user_struct *user;
	unsigned long charged;
	u32 rights;
	struct speprof_cgroup_set *cgroups;
	struct list_head link;
	struct speprof_command_bucket command_bucket;
	u32 generation;
	enum speprof_session_state state;
	bool privileged;
	struct speprof_sampling sampling;
	struct speprof_program *programs;
	struct speprof_ring *rings[];
};

/**
 * speprof_session_new() - a stopped session; the caller holds it
 * @config: valid but for what depends on the SPUs
 * @cpus: its CPUs; if empty, filled with all that have an SPU now
 * @cgroups: whose tasks it samples, from here on the session's, whatever comes of it; or NULL
 *
 * Sleeps; takes speprof_control, but not while it allocates.
 *
 * Return: ERR_PTR of -ENODEV, -ENOMEM; -EINTR (a fatal signal); -EOPNOTSUPP (@cgroups).
 */
struct speprof_session *speprof_session_new(const struct speprof_session_config *config,
					    struct cpumask *cpus,
					    struct speprof_cgroup_set *cgroups);

void speprof_session_get(struct speprof_session *session);
void speprof_session_put(struct speprof_session *session);

/*
 * The four below interrupt CPUs and draw from the bucket of the session, or of the ring in TUNE:
 * -EAGAIN, and nothing has changed. Each START has drawn for its STOP.
 */

/** speprof_session_set_sampling() - set what is sampled, at once if started. -EPERM, speprof_program_make()'s errors */
int speprof_session_set_sampling(struct speprof_session *session,
				 const struct speprof_sampling *sampling);

/** speprof_session_tune_cpu() - one CPU's interval and bounds. -ENOENT, -ENODATA, speprof_program_make()'s errors */
int speprof_session_tune_cpu(struct speprof_session *session, const struct speprof_tune *tune);

/**
 * speprof_session_start() - sample, unless it is started
 *
 * A caller with CAP_PERFMON stops the sessions in its way that callers without it started.
 *
 * Return: -ENODATA: nothing set to sample; -EBUSY: another session is in its way; -ENOMEM.
 */
int speprof_session_start(struct speprof_session *session);

void speprof_session_stop(struct speprof_session *session);

/**
 * speprof_session_change_cgroups() - change whose tasks are sampled, at once
 * @op: SPEPROF_CGROUPS_*
 *
 * Return: -EPERM, -EOPNOTSUPP, -EBUSY, -ENOMEM, speprof_cgroup_set_change()'s errors.
 */
int speprof_session_change_cgroups(struct speprof_session *session, u32 op,
				   const struct speprof_cgroup_set *by);

/** speprof_sessions_prune_cgroups() - cgroups that were removed leave the sets they are in */
void speprof_sessions_prune_cgroups(void);

/** speprof_session_ring() - the ring of @cpu, or NULL */
struct speprof_ring *speprof_session_ring(struct speprof_session *session, u32 cpu);

/*
 * A ring's commands from task context; they may sleep. Those that interrupt the ring's CPU draw
 * from the ring's bucket: -EAGAIN. KICK does so only where the ring may wait for its reader.
 */
int speprof_session_kick_ring(struct speprof_ring *ring);
int speprof_session_flush_ring(struct speprof_ring *ring);
int speprof_session_ring_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats);
int speprof_session_take_snapshot(struct speprof_ring *ring, const void *owner,
				  struct speprof_snapshot *snapshot);

/** speprof_session_release_snapshot() - release @owner's snapshot. -EOPNOTSUPP; -ENOENT: it has none */
int speprof_session_release_snapshot(struct speprof_ring *ring, const void *owner);

#endif
