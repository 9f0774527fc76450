/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attribution finds the process of a TID, the container or unit of a process, and the binary
 * that is mapped at a PC. A sample that cannot be resolved is unattributed. It is never assigned
 * to the last task seen.
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
/* A query of /proc is pending; the sample waits for its result (attributor_config.background). */
#define ATTRIBUTE_PENDING (UINT32_MAX - 1)

/**
 * struct attribute_process - a process, living or exited
 * @pid: thread group id
 * @generation: changes each time the entry is reused for another process
 * @container: index of its container, always valid; 0 is "", no container
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
 * @name: readable name, escaped: "web-1", "nginx.service", "demo-chase"
 * @runtime: "docker", "containerd", "crio", "podman", "lxc", "nspawn", "systemd" or "cgroup"; ""
 *	for index 0
 * @path: cgroup path for display, escaped and truncated
 * @cgroup: the complete cgroup path, to be opened and compared; "" for none. The pointer is
 *	valid while the entry belongs to this container; a copy of the structure does not
 *	extend that
 * @generation: changes each time the entry is reused for another container
 */
struct attribute_container {
	char name[128];
	char runtime[16];
	char path[256];
	const char *cgroup;
	u32 generation;
};

/** attribute_container_is_at() - return whether @path is @container's, complete or as displayed */
static inline bool attribute_container_is_at(const struct attribute_container *container,
					     const char *path)
{
	return !strcmp(container->cgroup, path) || !strcmp(container->path, path);
}

/**
 * struct attribute_location - the location of a PC
 * @binary: path of the mapped file as its process sees it, "[kernel]" or "". The bytes are raw:
 *	call escape_text() before showing them
 * @offset: file offset; for the kernel and anonymous memory the address itself
 * @pc: the address
 * @inode, @device: of the file that was mapped, 0 if unknown; another file may have its path now
 * @process: live: a number that identifies the process even if its PID is reused; else 0
 * @build_id, @build_id_size: of the mapping; the size is 0 if it is unknown
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
 * struct attributor_config - the configuration of an attributor
 * @live: look up tasks in /proc; otherwise only task events describe them
 * @processes, @threads, @containers: capacities; 0 for the defaults (8192, without @live 262144;
 *	32768; 2048)
 * @map_bytes: limit of mappings and the paths of mapped files, bytes; 0 for 2048 per process
 * @saved_map_bytes: limit of both in the output of attributor_save(), bytes; 0 for 768 per
 *	process
 * @cgroup_bytes: limit of cgroup paths that events reported, bytes, and the same for the paths
 *	and names of containers; 0 for 512 per container
 * @background: with @live: threads read /proc, and attributor_apply_answers() applies the
 *	results
 * @proc, @log: the directories /proc and /var/log; NULL for these
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

/** struct attributor_stats - statistics of the bounded tables */
struct attributor_stats {
	u64 lookups;		/* lookups in /proc */
	u64 unanswered;		/* lookups that were rejected, or got no result in time */
	u64 unresolved;		/* TIDs that were not found */
	u64 threads_evicted;
	u64 processes_evicted;	/* evicted while living, or while samples might follow */
	u64 containers_overflow; /* lookups of a container that found no free entry: "(other)" */
	u64 containers_evicted; /* reused entries of containers without a process */
	u64 mappings_dropped; /* mappings that did not fit, or were evicted */
	u64 mappings_unsaved; /* mappings that did not fit in the last checkpoint */
	u64 events;		/* task events (live) */
	u64 events_lost;	/* task events lost; may include mappings */
	u64 mappings_lost;	/* TASK_LOST_MAPS */
	u64 memory;		/* bytes in use */
};

struct attributor;

/**
 * attributor_new() - allocate an attributor
 * @config: the configuration, copied
 * @ret_attributor: the attributor; free it with attributor_free()
 *
 * Return: 0 or negative errno.
 */
int attributor_new(const struct attributor_config *config, struct attributor **ret_attributor);

/** attributor_free() - free @attributor, which may be NULL; returns NULL */
struct attributor *attributor_free(struct attributor *attributor);

/**
 * attributor_task() - return the process of a thread
 * @tid: thread id in the initial PID namespace; 0 is the idle task
 *
 * A known @tid costs one hash lookup; an unknown one is looked up in /proc once (live). An
 * exited thread stays known until its TID or its entry is reused.
 *
 * Locking: the caller holds the write lock, or is the only thread.
 *
 * Return: index of the process, or ATTRIBUTE_NONE. With background threads also
 * ATTRIBUTE_PENDING: call again after attributor_apply_answers(). The query ends after at most
 * one second.
 */
u32 attributor_task(struct attributor *attributor, s32 tid);

/**
 * attributor_event() - apply a task event of a recording or (live) of this machine
 *
 * Events must arrive in order of time. Live, all events up to a sample's time precede the
 * sample; in a recording all precede the first sample.
 *
 * Locking: the caller holds the write lock, or is the only thread.
 */
void attributor_event(struct attributor *attributor, const struct task_event *event);

#define ATTRIBUTE_AT_END UINT64_MAX

/**
 * attributor_has_times() - return whether task events had times, so that attributor_task_at() is
 * precise
 */
bool attributor_has_times(const struct attributor *attributor);

/**
 * attributor_task_at() - return the process of a thread at a time
 * @time_ns: on the events' clock; ATTRIBUTE_AT_END if a sample has no time
 *
 * It distinguishes processes that had the same TID at different times, and a process before and
 * after an exec or a move between containers.
 *
 * Return: index of the process, or ATTRIBUTE_NONE.
 */
u32 attributor_task_at(struct attributor *attributor, s32 tid, u64 time_ns);

/**
 * attributor_task_provisional() - return the last known process of a thread that is
 * ATTRIBUTE_PENDING
 *
 * It is for samples that cannot wait. The process may have executed another program or moved
 * since.
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
 * attributor_task_during() - attributor_task_at(), and the times for which the result is valid
 * @time_ns: below ATTRIBUTE_AT_END, which ends a span without a known end
 * @ret_span: a span that includes @time_ns
 */
u32 attributor_task_during(struct attributor *attributor, s32 tid, u64 time_ns,
			   struct attribute_span *ret_span);

/**
 * attributor_task_cached() - attributor_task_during() or attributor_task(), if that changes no
 * table
 *
 * Several threads may call it at the same time, each with its reader lock (reader-lock.h).
 *
 * Return: true if the outputs are valid; false if the query needs the write lock.
 */
bool attributor_task_cached(struct attributor *attributor, s32 tid, u64 time_ns, u32 *ret_index,
			    struct attribute_span *ret_span);

/**
 * attributor_running() - return the TID that ran on @cpu at @time_ns
 * @early_ns, @late_ns: live: possible error of the time in each direction. Recordings know only
 *	the switches of TASK_SWITCH events
 *
 * Return: the TID; -1 if it is unknown, or if several tasks ran within the error.
 */
s32 attributor_running(struct attributor *attributor, u32 cpu, u64 time_ns, u64 early_ns,
		       u64 late_ns);

/**
 * attributor_switches() - set the context switches that attributor_running() uses (live)
 * @rings: rings by CPU number, @cpus of them; borrowed; NULL to remove them
 */
void attributor_switches(struct attributor *attributor, struct switch_ring *rings, u32 cpus);

/**
 * attributor_refresh() - check the living processes in /proc (live)
 *
 * It finds PID reuse, exec, moves between cgroups and new mappings. Call it about once a second.
 */
void attributor_refresh(struct attributor *attributor);

/**
 * attributor_apply_answers() - apply what the background threads read from /proc; never waits
 *
 * Locking: as attributor_event().
 */
void attributor_apply_answers(struct attributor *attributor);

/** attributor_answers_due() - return whether there are results to apply; any thread may call it */
bool attributor_answers_due(const struct attributor *attributor);

/**
 * attributor_answers_fd() - return a descriptor that is readable while there are results
 *
 * Return: the descriptor, which the attributor owns; -1 without background threads.
 */
int attributor_answers_fd(const struct attributor *attributor);

/**
 * attributor_changes() - return how many times an entry was reused for another process
 *
 * While it does not change, and there is no event or refresh, results of attributor_task() stay
 * valid.
 */
u64 attributor_changes(const struct attributor *attributor);

/** attributor_process() - return the entry at @index, or NULL; valid until the next call above */
const struct attribute_process *attributor_process(const struct attributor *attributor, u32 index);

/** attributor_container() - return the entry at @index; NULL if it is free or was never used */
const struct attribute_container *attributor_container(const struct attributor *attributor,
							u32 index);

/** attributor_containers() - return the upper bound (exclusive) of container indices */
u32 attributor_containers(const struct attributor *attributor);

/**
 * attributor_container_other() - return the index of "(other)", which counts for evicted
 * containers
 */
u32 attributor_container_other(const struct attributor *attributor);

/**
 * attributor_locate() - find what is mapped at @pc
 * @process: index of the process; ATTRIBUTE_NONE for kernel addresses of unattributed samples
 * @pc: virtual address
 * @kernel: the operation was executed at EL1 or EL2; false: at EL0
 * @ret_location: its pointers are valid until the next call that may change any process, because
 *	that may evict mappings
 *
 * Return: whether the location is known.
 */
bool attributor_locate(struct attributor *attributor, u32 process, u64 pc, bool kernel,
		       struct attribute_location *ret_location);

/** attributor_stats() - copy the statistics */
void attributor_stats(const struct attributor *attributor, struct attributor_stats *ret_stats);

#endif
