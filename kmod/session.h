/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: one ring for each of its CPUs, and a sampling configuration.
 */
#ifndef SPEPROF_SESSION_H
#define SPEPROF_SESSION_H

#include <linux/cpumask.h>
#include <linux/kref.h>

#include <linux/speprof.h>

#include "ring.h"

struct speprof_cgroup_set;

/*
 * Minimum and maximum size of a data ring, in bytes. Both are powers of two and multiples of every
 * page size.
 */
#define SESSION_RING_MIN (64ULL << 10)
#define SESSION_RING_MAX (256ULL << 20)

enum speprof_session_state {
	SESSION_STOPPED,
	SESSION_STARTED,
};

/**
 * struct speprof_session - a session
 * @count: references: the session's descriptor, and the descriptors of its rings
 * @backend: the backend, with a reference on its module
 * @user: the user that is charged for locked memory; NULL if the caller was exempt
 * @charged: pages charged to @user
 * @rights: SPEPROF_RIGHT_*; constant
 * @cgroups: the sampled cgroups, protected by speprof_control; NULL: all tasks are sampled. Whether
 * it is NULL never changes
 * @link: in the list of all sessions; protected by speprof_control, like @generation to @programs
 * @command_bucket: limits the rate of commands through the session's descriptors
 * @generation: generation of the last program; 0 if no program was set
 * @state: whether the session samples
 * @privileged: whether only callers with CAP_PERFMON started it and set its cgroups, so that no
 * START of another session stops it
 * @sampling: the last sampling configuration from userspace
 * @programs: the program of each CPU
 * @rings: the ring of each CPU; NULL if the CPU is not in the session; constant
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
	struct speprof_sampling_program *programs;
	struct speprof_ring *rings[];
};

/**
 * speprof_session_new() - create a session, which is stopped
 * @config: configuration that was checked, except for values that depend on the SPUs
 * @cpus: its CPUs; if empty, it is filled with all CPUs that have an SPU
 * @cgroups: the cgroups to sample; NULL: all tasks. Owned by the session; freed on failure
 *
 * Context: may sleep; takes speprof_control, but not while it allocates rings.
 * Return: the session, with one reference, or an ERR_PTR: -ENODEV if a CPU of @cpus has no SPU or
 * no backend is registered; -ENOMEM if memory cannot be allocated or RLIMIT_MEMLOCK is exceeded;
 * -EINTR if a fatal signal is pending; -EOPNOTSUPP if this kernel cannot sample @cgroups.
 */
struct speprof_session *speprof_session_new(const struct speprof_session_config *config,
					    struct cpumask *cpus,
					    struct speprof_cgroup_set *cgroups);

/** speprof_session_get() - take a reference */
void speprof_session_get(struct speprof_session *session);

/**
 * speprof_session_put() - drop a reference; the last one stops and frees the session
 *
 * Context: may sleep.
 */
void speprof_session_put(struct speprof_session *session);

/*
 * The functions below may sleep and take speprof_control. Those that interrupt CPUs take a token
 * from the bucket of the session, or from that of the ring if they affect one CPU. If the bucket is
 * empty they return -EAGAIN and change nothing.
 */

/**
 * speprof_session_set_sampling() - set the sampling configuration, which a started session uses
 * immediately
 * @session: the session
 * @sampling: checked, except for what depends on the SPUs
 *
 * Limits and intervals of single CPUs are reset.
 *
 * Return: 0; -EPERM if it needs a right that the session does not have; -EAGAIN if the session's
 * bucket is empty; -ENOMEM if memory cannot be allocated; an error of
 * speprof_sampling_program_make().
 */
int speprof_session_set_sampling(struct speprof_session *session,
				 const struct speprof_sampling *sampling);

/**
 * speprof_session_tune_cpu() - set the interval and the limits of one CPU
 * @session: the session
 * @tune: the CPU; its interval, 0: no change; its limits
 *
 * Return: 0; -ENOENT if the CPU is not in the session; -ENODATA if there is no sampling
 * configuration; -EAGAIN if the ring's bucket is empty; an error of
 * speprof_sampling_program_make().
 */
int speprof_session_tune_cpu(struct speprof_session *session, const struct speprof_tune *tune);

/**
 * speprof_session_start() - start sampling; does nothing if started
 * @session: the session
 *
 * If the caller has CAP_PERFMON, the function stops the sessions that block this one, except those
 * with &speprof_session.privileged.
 *
 * Return: 0; -ENODATA if there is no sampling configuration; -ENODEV if the SPUs were removed;
 * -EBUSY if another session blocks this one; -ENOMEM if memory cannot be allocated; -EAGAIN if the
 * session's bucket is empty.
 */
int speprof_session_start(struct speprof_session *session);

/**
 * speprof_session_stop() - stop sampling and publish the records; does nothing if stopped
 * @session: the session
 *
 * The function takes no token, because START has already taken one.
 */
void speprof_session_stop(struct speprof_session *session);

/**
 * speprof_session_change_cgroups() - change the sampled cgroups, which a started session uses
 * immediately
 * @session: the session
 * @op: SPEPROF_CGROUPS_*
 * @by: the cgroups that are added to the set, are removed from it, or replace its members; owned by
 *	the caller
 *
 * Return: 0; -EPERM if the session does not have SPEPROF_RIGHT_CGROUPS; -EOPNOTSUPP if the session
 * samples all tasks; -EBUSY if another session blocks the new cgroups; -ENOMEM if memory cannot be
 * allocated; -EAGAIN if the session's bucket is empty; an error of speprof_cgroup_set_change().
 */
int speprof_session_change_cgroups(struct speprof_session *session, u32 op,
				   const struct speprof_cgroup_set *by);

/**
 * speprof_sessions_prune_cgroups() - remove deleted cgroups from all sessions, and report them by
 * events
 */
void speprof_sessions_prune_cgroups(void);

/**
 * speprof_session_find_ring() - find the ring of a CPU
 * @session: the session
 * @cpu: any value
 *
 * Context: any.
 * Return: the ring; NULL if the CPU is not in the session.
 */
struct speprof_ring *speprof_session_find_ring(struct speprof_session *session, u32 cpu);

/**
 * speprof_session_kick_ring() - record that a reader exists, and run speprof_ring_kick() if needed
 * @ring: a ring of a session
 *
 * The function takes a token only if the ring may be waiting for its reader.
 *
 * Return: 0; -ENXIO if the CPU is offline; -EAGAIN if the ring's bucket is empty.
 */
int speprof_session_kick_ring(struct speprof_ring *ring);

/**
 * speprof_session_flush_ring() - run speprof_ring_flush() on the ring's CPU
 * @ring: a ring of a session
 *
 * Return: 0; -ENXIO if the CPU is offline; -EAGAIN if the ring's bucket is empty.
 */
int speprof_session_flush_ring(struct speprof_ring *ring);

/**
 * speprof_session_get_ring_stats() - run speprof_ring_get_stats() on the ring's CPU
 * @ring: a ring of a session
 * @ret_stats: filled in
 *
 * Return: 0; -EAGAIN if the ring's bucket is empty.
 */
int speprof_session_get_ring_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats);

/**
 * speprof_session_take_snapshot() - run speprof_ring_take_snapshot() on the ring's CPU
 * @ring: a ring of a session
 * @owner: identifies the caller, which must release the claim with the same value; not NULL
 * @snapshot: as for speprof_ring_take_snapshot()
 *
 * Return: 0; -EAGAIN if the ring's bucket is empty; an error of speprof_ring_take_snapshot().
 */
int speprof_session_take_snapshot(struct speprof_ring *ring, const void *owner,
				  struct speprof_snapshot *snapshot);

/**
 * speprof_session_release_snapshot() - release the claim of @owner, if it has one
 * @ring: a ring of a session
 * @owner: as for speprof_session_take_snapshot()
 *
 * The function takes no token, because the snapshot has already taken one.
 *
 * Return: 0; -EOPNOTSUPP if @ring is a stream; -ENOENT if @owner has no claim.
 */
int speprof_session_release_snapshot(struct speprof_ring *ring, const void *owner);

#endif
