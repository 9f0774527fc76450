/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Create cgroups with tasks of known TIDs, and sessions that sample them. */
#ifndef KCGROUP_H
#define KCGROUP_H

#include "ktest.h"

/** struct kcgroup - a cgroup below the cgroup of this test run */
struct kcgroup {
	char path[128];
	int fd;
};

/** kcgroup_make() - create a cgroup; @name may be below another one, as in "a/b" */
void kcgroup_make(struct kcgroup *cgroup, const char *name);

/** kcgroup_remove() - kill the tasks of @cgroup and remove it */
void kcgroup_remove(struct kcgroup *cgroup);

/** kcgroup_read_id() - return the id of @cgroup that events contain */
uint64_t kcgroup_read_id(const struct kcgroup *cgroup);

/** kcgroup_move() - move a process into @cgroup; return false and set errno on failure */
bool kcgroup_move(const struct kcgroup *cgroup, pid_t pid);

/**
 * kcgroup_read_usage_us() - return the CPU time of all tasks that ran in @cgroup, in microseconds
 */
uint64_t kcgroup_read_usage_us(const struct kcgroup *cgroup);

/* The work that a worker repeats until it is killed */
enum kwork {
	KWORK_BURN,	/* spin at EL0 */
	KWORK_SLEEP,	/* run at EL0, with many short sleeps */
	KWORK_FORK,	/* create children that spin for a moment */
	KWORK_THREADS,	/* run three threads that spin and sleep */
};

/**
 * kwork_get_groups() - return, by TID, a bit for each group in which the task may be sampled
 *
 * The memory is shared with all workers that start later. A TID without a bit is in no group.
 */
uint8_t *kwork_get_groups(void);

/** kwork_start() - start a worker on @cpu in @cgroup; its TIDs get @groups */
pid_t kwork_start(const struct kcgroup *cgroup, unsigned int cpu, enum kwork what, uint8_t groups);

/** kwork_count_threads() - get the current number of threads of process @pid */
unsigned int kwork_count_threads(pid_t pid);

/** struct kview - a session of cgroups, the ring of one CPU, and what was read from it */
struct kview {
	int session;
	struct kring ring;
	struct ktally tally;
};

/**
 * ksession_new_of_cgroups() - create a session of @cgroups with all permissions, without starting
 * it
 */
int ksession_new_of_cgroups(struct speprof_session_config config, const struct kcgroup *cgroups,
			    unsigned int count);

/** ksession_change_cgroups() - call SPEPROF_SESSION_CGROUPS; return -1 and set errno on failure */
int ksession_change_cgroups(int session, uint32_t op, const struct kcgroup *cgroups,
			    unsigned int count);

/** kview_begin() - start a session of @cgroup alone with @interval, and map the ring of @cpu */
void kview_begin(struct kview *view, const struct kcgroup *cgroup, unsigned int cpu,
		 uint32_t flags, uint64_t interval);

/**
 * kview_end() - stop the session, read the rest, and check the counters and TIDs
 *
 * Only TIDs with the bit of @group may appear.
 */
void kview_end(struct kview *view, const uint8_t *groups, uint8_t group);

/** kview_check() - check the TIDs that were read so far */
void kview_check(const struct kview *view, const uint8_t *groups, uint8_t group);

#endif
