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

struct cgroup_set;

/* Of the data ring, in bytes; both powers of two and multiples of every page size. */
#define SESSION_RING_MIN (64ULL << 10)
#define SESSION_RING_MAX (256ULL << 20)

enum session_state {
	SESSION_STOPPED,
	SESSION_STARTED,
};

/**
 * struct session - counted by its descriptors and those of its rings
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
struct session {
	struct kref count;
	const struct speprof_backend *backend;
	struct user_struct *user;
	unsigned long charged;
	u32 rights;
	struct cgroup_set *cgroups;
	struct list_head link;
	struct throttle_bucket commands;
	u32 generation;
	enum session_state state;
	bool privileged;
	struct speprof_sampling sampling;
	struct program *programs;
	struct ring *rings[];
};

/**
 * session_new() - a stopped session; the caller holds it
 * @config: valid but for what depends on the SPUs
 * @cpus: its CPUs; if empty, filled with all that have an SPU now
 * @cgroups: whose tasks it samples, from here on the session's, whatever comes of it; or NULL
 *
 * Sleeps; takes speprof_control, but not while it allocates.
 *
 * Return: ERR_PTR of -ENODEV, -ENOMEM; -EINTR (a fatal signal); -EOPNOTSUPP (@cgroups).
 */
struct session *session_new(const struct speprof_session_config *config, struct cpumask *cpus,
			    struct cgroup_set *cgroups);

void session_get(struct session *session);
void session_put(struct session *session);

/*
 * The four below interrupt CPUs and draw from the bucket of the session, or of the ring in TUNE:
 * -EAGAIN, and nothing has changed. Each START has drawn for its STOP.
 */

/** session_sample() - set what is sampled, at once if started. -EPERM, program_make()'s errors */
int session_sample(struct session *session, const struct speprof_sampling *sampling);

/** session_tune() - one CPU's interval and bounds. -ENOENT, -ENODATA, program_make()'s errors */
int session_tune(struct session *session, const struct speprof_tune *tune);

/**
 * session_start() - sample, unless it is started
 *
 * A caller with CAP_PERFMON stops the sessions in its way that callers without it started.
 *
 * Return: -ENODATA: nothing set to sample; -EBUSY: another session is in its way; -ENOMEM.
 */
int session_start(struct session *session);

void session_stop(struct session *session);

/**
 * session_cgroups() - change whose tasks are sampled, at once
 * @op: SPEPROF_CGROUPS_*
 *
 * Return: -EPERM, -EOPNOTSUPP, -EBUSY, -ENOMEM, cgroup_set_change()'s errors.
 */
int session_cgroups(struct session *session, u32 op, const struct cgroup_set *by);

/** sessions_prune() - cgroups that were removed leave the sets they are in */
void sessions_prune(void);

/** session_ring() - the ring of @cpu, or NULL */
struct ring *session_ring(struct session *session, u32 cpu);

/*
 * A ring's commands from task context; they may sleep. Those that interrupt the ring's CPU draw
 * from the ring's bucket: -EAGAIN. KICK does so only where the ring may wait for its reader.
 */
int session_ring_kick(struct ring *ring);
int session_ring_flush(struct ring *ring);
int session_ring_stats(struct ring *ring, struct speprof_ring_stats *ret_stats);
int session_ring_snapshot(struct ring *ring, const void *owner, struct speprof_snapshot *snapshot);

/** session_ring_snapshot_end() - release @owner's snapshot. -EOPNOTSUPP; -ENOENT: it has none */
int session_ring_snapshot_end(struct ring *ring, const void *owner);

#endif
