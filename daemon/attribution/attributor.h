/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attribution: a TID to its process, the process to its container or unit, a PC
 * to the binary that is mapped there. What cannot be resolved is unattributed;
 * nothing is given to the last task seen.
 */
#ifndef SPEPROF_ATTRIBUTOR_H
#define SPEPROF_ATTRIBUTOR_H

#include "codec/env.h"
#include "reader-lock.h"
#include "source/source.h"
#include "tasks/switch-ring.h"
#include "tasks/task-event.h"

#include <string.h>

#define ATTRIBUTE_NONE UINT32_MAX
/* A query to /proc is under way; the sample waits for its answer (attributor_config.background). */
#define ATTRIBUTE_PENDING (UINT32_MAX - 1)

/**
 * struct attribute_process - a process, living or dead
 * @pid: thread group id
 * @generation: differs each time the entry is given to another process
 * @container: index of its container, always valid (0 is "" : none)
 * @comm: name, escaped: printable UTF-8 only
 */
struct attribute_process {
	s32 pid;
	u32 generation;
	u32 container;
	char comm[64];
};

/**
 * struct attribute_container - a container, a systemd unit, or another cgroup
 * @name: what a person calls it, escaped: "web-1", "nginx.service", "demo-chase"
 * @runtime: "docker", "containerd", "crio", "podman", "lxc", "nspawn",
 *	"systemd", "cgroup"; "" for index 0
 * @path: the cgroup path, escaped and cut: to be shown
 * @cgroup: the same as it is, to be opened and compared; "" for none. As long as the entry is
 *	this container's: a copy of the structure does not keep it
 * @generation: differs each time the entry is given to another container
 */
struct attribute_container {
	char name[128];
	char runtime[16];
	char path[256];
	const char *cgroup;
	u32 generation;
};

/** attribute_container_is_at() - whether @path is @container's, as it is or as it is shown */
static inline bool attribute_container_is_at(const struct attribute_container *container,
					     const char *path)
{
	return !strcmp(container->cgroup, path) || !strcmp(container->path, path);
}

/**
 * struct attribute_location - where a PC is
 * @binary: path of the mapped file as its process sees it, "[kernel]", or ""
 *	(raw bytes: escape_text() before they are shown)
 * @offset: file offset (kernel, anonymous memory: the address itself)
 * @pc: the address
 * @inode, @device: of the file that was mapped, 0 if unknown: another one may have its path now
 * @process: live: a number that no other process has, though it had or gets the same PID; else 0
 * @build_id: of the mapping if known, else @build_id_size is 0
 */
struct attribute_location {
	const char *binary;
	u64 offset;
	u64 pc;
	u64 inode;
	u32 device;
	u64 process;
	const u8 *build_id;
	u8 build_id_size;
};

/**
 * struct attributor_config
 * @live: look tasks up in /proc; otherwise only what task events tell
 * @background: with @live: threads read /proc; attributor_apply_answers() takes what they found
 * @processes, @threads, @containers: capacities; 0 for the defaults (8192, without @live
 *	262144; 32768; 2048)
 * @map_bytes: for mappings and the paths of what is mapped; 0 for 2048 a process
 * @saved_map_bytes: of both in what attributor_save() writes; 0 for 768 a process
 * @cgroup_bytes: for paths of cgroups that were told by id, and as many for those of containers
 *	and their names; 0 for 512 a container
 * @proc, @log: where /proc and /var/log are; NULL for these
 */
struct attributor_config {
	bool live;
	u32 processes;
	u32 threads;
	u32 containers;
	u64 map_bytes;
	u64 saved_map_bytes;
	u64 cgroup_bytes;
	bool background;
	const char *proc;
	const char *log;
};

/**
 * struct attributor_stats - bounded tables, and what did not fit
 */
struct attributor_stats {
	u64 lookups;		/* in /proc */
	u64 unanswered;		/* lookups that were refused, or got no answer in time */
	u64 unresolved;		/* TIDs that were nowhere */
	u64 threads_evicted;
	u64 processes_evicted;	/* that lived, or whose samples may still come */
	u64 containers_overflow; /* lookups of one that did not fit, nor did its path: "(other)" */
	u64 containers_evicted; /* no process lived in them, and others needed their entries */
	u64 mappings_dropped; /* for which there was no room, or that gave way */
	u64 mappings_unsaved; /* in the last checkpoint, for which it had no room */
	u64 events;		/* of tasks (live) */
	u64 events_lost;	/* of those; with mappings where the side band tells all */
	u64 mappings_lost;	/* TASK_LOST_MAPS */
	u64 memory;		/* bytes held */
};

struct attributor;

int attributor_new(const struct attributor_config *config, struct attributor **ret_attributor);
struct attributor *attributor_free(struct attributor *attributor);

/**
 * attributor_task() - the process of a thread
 * @tid: thread id in the initial PID namespace; 0 is the idle task
 *
 * Looks in /proc once where it does not know @tid (live); a hit costs one hash
 * lookup. A dead thread stays known until its TID or its entry is used again.
 *
 * Return: index of the process, or ATTRIBUTE_NONE. In the background also ATTRIBUTE_PENDING:
 * call again after attributor_apply_answers(). That ends after a second, whether /proc answers or not.
 */
u32 attributor_task(struct attributor *attributor, s32 tid);

/**
 * attributor_event() - a task event, of a recording or (live) of this machine
 *
 * Events come in order of time; live, those up to a sample's before the sample, of a
 * recording all before the first.
 */
void attributor_event(struct attributor *attributor, const struct task_event *event);

#define ATTRIBUTE_AT_END UINT64_MAX

/** attributor_has_times() - whether task events said what was when: attributor_task_at() knows more */
bool attributor_has_times(const struct attributor *attributor);

/**
 * attributor_task_at() - the process of a thread at a time
 * @time_ns: of the events' clock, ATTRIBUTE_AT_END where a sample has none
 *
 * A TID that another process had later, or what a process was before it executed
 * another program or moved to another container, is told apart.
 *
 * Return: index of the process, or ATTRIBUTE_NONE.
 */
u32 attributor_task_at(struct attributor *attributor, s32 tid, u64 time_ns);

/**
 * attributor_task_provisional() - the process of a thread that is ATTRIBUTE_PENDING, as far as is known
 *
 * For samples that cannot wait. Its image or container may be another by now.
 *
 * Return: index of a living process, or ATTRIBUTE_NONE.
 */
u32 attributor_task_provisional(const struct attributor *attributor, s32 tid);

/** struct attribute_span - from @from to @to - 1, times of the events' clock */
struct attribute_span {
	u64 from;
	u64 to;
};

/**
 * attributor_task_during() - attributor_task_at(), and the times for which that holds
 * @time_ns: below ATTRIBUTE_AT_END, which is the end of a span without one
 * @ret_span: has @time_ns in it
 */
u32 attributor_task_during(struct attributor *attributor, s32 tid, u64 time_ns,
			   struct attribute_span *ret_span);

/**
 * attributor_task_cached() - attributor_task_during(), or attributor_task(), if that changes no table
 *
 * Several threads may ask side by side, each in its seat (reader-lock.h).
 *
 * Return: whether it is so; otherwise nothing is said.
 */
bool attributor_task_cached(struct attributor *attributor, s32 tid, u64 time_ns, u32 *ret_index,
			    struct attribute_span *ret_span);

/**
 * attributor_running() - the TID that ran on @cpu at @time_ns, or -1
 * @early_ns, @late_ns: live, by how much the time may be wrong: if another one ran in it, that is
 *	not known; recordings have no other switches than TASK_SWITCH
 */
s32 attributor_running(struct attributor *attributor, u32 cpu, u64 time_ns, u64 early_ns,
		       u64 late_ns);

/**
 * attributor_switches() - where attributor_running() looks (live)
 * @rings: of CPUs by number, @cpus of them; borrowed; NULL for none any more
 */
void attributor_switches(struct attributor *attributor, struct switch_ring *rings, u32 cpus);

/**
 * attributor_refresh() - look at living processes again (live): PID reuse, exec,
 * moves between cgroups, new mappings; call about once a second
 */
void attributor_refresh(struct attributor *attributor);

/**
 * attributor_apply_answers() - take what the background threads have read in /proc; never waits
 *
 * Locking: as attributor_event().
 */
void attributor_apply_answers(struct attributor *attributor);

/** attributor_answers_due() - whether there are some; any thread */
bool attributor_answers_due(const struct attributor *attributor);

/** attributor_answers_fd() - readable while there are some; -1 without background threads */
int attributor_answers_fd(const struct attributor *attributor);

/**
 * attributor_changes() - how often an entry was given to another process
 *
 * As long as it stays the same, and no event or refresh comes between, so does what
 * attributor_task() said.
 */
u64 attributor_changes(const struct attributor *attributor);

/** attributor_process() - the entry at @index, or NULL; valid until the next call above */
const struct attribute_process *attributor_process(const struct attributor *attributor, u32 index);

/** attributor_container() - the entry at @index, or NULL: free, or never used */
const struct attribute_container *attributor_container(const struct attributor *attributor,
							u32 index);
u32 attributor_containers(const struct attributor *attributor);

/** attributor_container_other() - index of "(other)", where the figures of those evicted belong */
u32 attributor_container_other(const struct attributor *attributor);

/**
 * attributor_locate() - what is mapped at @pc
 * @process: index; ATTRIBUTE_NONE for kernel addresses of unattributed samples
 * @pc: virtual address
 * @kernel: the operation was executed at EL1 or EL2 (or EL0: user)
 *
 * Return: whether it is known; pointers in @ret_location are valid until the next
 * call that may change any process: another's mappings may give way.
 */
bool attributor_locate(struct attributor *attributor, u32 process, u64 pc, bool kernel,
		       struct attribute_location *ret_location);

void attributor_stats(const struct attributor *attributor, struct attributor_stats *ret_stats);

#endif
