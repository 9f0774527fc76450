/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups with tasks of known TIDs, and sessions that sample them. */
#ifndef KCGROUP_H
#define KCGROUP_H

#include "ktest.h"

/** struct kcgroup - a cgroup below that of this test run */
struct kcgroup {
	char path[128];
	int fd;
};

/** kcgroup_make() - create a cgroup; @name may be below another one, as in "a/b" */
void kcgroup_make(struct kcgroup *cgroup, const char *name);

/** kcgroup_remove() - kill its tasks and remove it */
void kcgroup_remove(struct kcgroup *cgroup);

/** kcgroup_id() - return the id that events contain */
uint64_t kcgroup_id(const struct kcgroup *cgroup);

/** kcgroup_move() - move a process into @cgroup; return false with errno */
bool kcgroup_move(const struct kcgroup *cgroup, pid_t pid);

/** kcgroup_usage_us() - return the CPU time of all tasks that ran in it */
uint64_t kcgroup_usage_us(const struct kcgroup *cgroup);

/* The kind of a worker. */
enum kwork {
	KWORK_BURN,	/* at EL0, until killed */
	KWORK_SLEEP,	/* at EL0, with many short sleeps, until killed */
	KWORK_FORK,	/* children that burn for a moment */
	KWORK_THREADS,	/* three threads that burn and sleep */
};

/**
 * kwork_groups() - by TID, a bit for each group in which it may be sampled
 *
 * The memory is shared with all workers that start later. A TID without a bit is in no group.
 */
uint8_t *kwork_groups(void);

/** kwork_start() - start a worker on @cpu in @cgroup; its TIDs get @groups */
pid_t kwork_start(const struct kcgroup *cgroup, unsigned int cpu, enum kwork what, uint8_t groups);

/** struct kview - a session of cgroups with a ring of one CPU */
struct kview {
	int session;
	struct kring ring;
	struct ktally tally;
};

/** ksession_of() - create a session of @cgroups with all rights, not started */
int ksession_of(struct speprof_session_config config, const struct kcgroup *cgroups,
		unsigned int count);

/** ksession_cgroups() - call SPEPROF_SESSION_CGROUPS; return -1 with errno */
int ksession_cgroups(int session, uint32_t op, const struct kcgroup *cgroups, unsigned int count);

/** kview_begin() - start a session of @cgroup alone with @interval, and map the ring of @cpu */
void kview_begin(struct kview *view, const struct kcgroup *cgroup, unsigned int cpu,
		 uint32_t flags, uint64_t interval);

/**
 * kview_end() - stop, read the rest, check the counters, and that only TIDs with @group's bit
 * appear
 */
void kview_end(struct kview *view, const uint8_t *groups, uint8_t group);

/** kview_check() - check the TIDs so far */
void kview_check(const struct kview *view, const uint8_t *groups, uint8_t group);

#endif
