/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An attributor finds the process of a TID, the container or unit of a process, and the binary that
 * is mapped at a PC. A live attributor serves samples of this machine; other attributors serve the
 * samples of a recording. A sample without a known task is unattributed: it is never assigned to
 * the task that ran before.
 */
#ifndef SPEPROF_ATTRIBUTOR_H
#define SPEPROF_ATTRIBUTOR_H

#include "codec/env.h"
#include "reader-lock.h"
#include "source/source.h"
#include "tasks/switch-ring.h"
#include "tasks/task-event.h"

#include <string.h>

/* the index that means that there is no entry, for processes and containers */
#define ATTRIBUTE_NONE UINT32_MAX
/*
 * The result while a background thread reads /proc; the sample has to wait
 * (attributor_config.background)
 */
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
 * for index 0
 * @path: cgroup path for display, escaped and truncated
 * @cgroup: the complete cgroup path, to be opened and compared; "" for none. The pointer is valid
 * while the entry belongs to this container, also in a copy of the structure
 * @generation: changes each time the entry is reused for another container
 */
struct attribute_container {
	char name[128];
	char runtime[16];
	char path[256];
	const char *cgroup;
	u32 generation;
};

/**
 * attribute_container_has_path() - return whether @path is the cgroup path of @container
 * @path: the complete path, or the path as displayed
 */
static inline bool attribute_container_has_path(const struct attribute_container *container,
						const char *path)
{
	return !strcmp(container->cgroup, path) || !strcmp(container->path, path);
}

/**
 * struct attribute_location - the location of a PC
 * @binary: path of the mapped file in the mount namespace of its process, or a name in brackets
 * such as "[kernel]", "[vdso]" and "[anon]". The bytes are raw: call escape_text() before showing
 * them
 * @offset: file offset. For the kernel it is the address. For memory without a file it is the
 * offset in the mapping (live) or the address (in a recording)
 * @pc: the address
 * @inode, @device: numbers of the mapped file, 0 if unknown; @binary may now be another file
 * @process: live: a number that identifies the process even if its PID is reused; else 0
 * @build_id, @build_id_size: build ID of the file; the size is 0 if it is unknown
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

struct pods_names;

/**
 * struct container_details - data about a container, besides its name, for readers that compare
 * several snapshots
 * @id: hash of the complete cgroup path; the same after a restart and after a change of the name
 * @empty_ns: time since the last process exited or moved, ns; 0 if it has processes or the time is
 * unknown
 * @pod: the Kubernetes names if they do not fit in &attribute_container.name; else empty names.
 * Valid until the entry is evicted
 */
struct container_details {
	u64 id;
	u64 empty_ns;
	const struct pods_names *pod;
};

/**
 * struct attributor_config - the configuration of an attributor
 * @live: look up tasks in /proc; otherwise only task events describe them
 * @processes: capacity; 0 for 8192 with @live, and for 262144 without
 * @threads, @containers: capacities; 0 for 32768 threads and 2048 containers
 * @map_bytes: limit of mappings and the paths of mapped files, bytes; 0 for 2048 per process
 * @saved_map_bytes: limit of mappings and paths in the output of attributor_save(), bytes; 0 for
 * 768 per process
 * @cgroup_bytes: limit of the cgroup paths that events reported, bytes; 0 for 512 per container.
 * The paths and names of containers have a second limit of the same size
 * @background: with @live: whether background threads read /proc, so that callers never wait for
 * it; attributor_apply_answers() applies their answers
 * @proc, @log: paths to use instead of /proc and /var/log; NULL for the defaults
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
	u64 lookups; /* number of lookups in /proc */
	/*
	 * number of lookups that failed because the queue was full, memory could not be allocated,
	 * or the timeout expired
	 */
	u64 unanswered;
	u64 unresolved; /* number of TIDs that were not found */
	u64 threads_evicted; /* number of TIDs that another TID replaced in a full bucket */
	/* number of processes evicted while living, or while samples might follow */
	u64 processes_evicted;
	/* number of lookups that returned "(other)" because a new container did not fit */
	u64 containers_overflow;
	u64 containers_evicted; /* number of reused entries of containers without a process */
	u64 mappings_dropped; /* number of mappings that did not fit, or were evicted */
	u64 mappings_unsaved; /* number of mappings that did not fit into the last checkpoint */
	u64 events; /* number of task events (live) */
	u64 events_lost; /* number of lost task events, which may include mappings */
	u64 mappings_lost; /* number of lost events about mappings (TASK_LOST_MAPS) */
	u64 memory; /* bytes in use */
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

/**
 * attributor_new_shared() - create an attributor for lookups of one more thread
 * @attributor: the attributor of a recording, to which all task events were applied. It must
 *	outlive the result
 * @ret_shared: an attributor with the same tables, which gets no events; free it with
 *	attributor_free()
 *
 * Several threads may query such attributors, and the original, at the same time: queries change
 * only private members of each attributor.
 *
 * Return: 0; -EINVAL if @attributor is live; -ENOMEM if memory cannot be allocated.
 */
int attributor_new_shared(struct attributor *attributor, struct attributor **ret_shared);

/** attributor_free() - free @attributor, which may be NULL; returns NULL */
struct attributor *attributor_free(struct attributor *attributor);

/**
 * attributor_find_process() - return the process of a thread
 * @tid: thread id in the initial PID namespace; 0 is the idle task
 *
 * A known @tid costs one hash lookup; an unknown one is looked up in /proc once (live). An
 * exited thread stays known until its TID or its entry is reused.
 *
 * Locking: the caller holds the write lock, or is the only thread. For a recording, each thread may
 * use its own attributor (attributor_new_shared()) without a lock.
 *
 * Return: index of the process, or ATTRIBUTE_NONE. With background threads also
 * ATTRIBUTE_PENDING: call again after attributor_apply_answers(). The query ends after at most
 * one second.
 */
u32 attributor_find_process(struct attributor *attributor, s32 tid);

/**
 * attributor_apply_event() - apply a task event
 * @event: live: an event of this machine; else of the recording. The function copies it
 *
 * Apply events in order of time. Live, apply all events up to the time of a sample before the
 * sample. In a recording, apply all events before the first sample.
 *
 * Locking: the caller holds the write lock, or is the only thread.
 */
void attributor_apply_event(struct attributor *attributor, const struct task_event *event);

/* a time after all events: the end of spans that have not ended */
#define ATTRIBUTE_AT_END UINT64_MAX

/**
 * attributor_has_event_times() - return whether task events had times
 *
 * If they had none, the result of attributor_find_process_at() does not depend on the time.
 */
bool attributor_has_event_times(const struct attributor *attributor);

/**
 * attributor_guess_process() - return the last known process of a thread
 * @tid: a thread for which attributor_find_process() returned ATTRIBUTE_PENDING
 *
 * Use it for samples that cannot wait for the answer. The process may have executed another
 * program or moved to another container since. Locking: the reader lock is sufficient.
 *
 * Return: index of a living process, or ATTRIBUTE_NONE.
 */
u32 attributor_guess_process(const struct attributor *attributor, s32 tid);

/** struct attribute_span - from @from to @to - 1, times of the events' clock */
struct attribute_span {
	u64 from;
	u64 to;
};

/**
 * attributor_find_process_at() - return the process of a thread at a time
 * @tid: thread id in the initial PID namespace; 0 is the idle task
 * @time_ns: on the events' clock; ATTRIBUTE_AT_END - 1 if a sample has no time
 * @ret_span: the times for which the result is valid; includes @time_ns
 *
 * It distinguishes processes that had the same TID at different times, and a process before and
 * after an exec or a move between containers.
 *
 * Locking: as attributor_find_process().
 *
 * Return: as attributor_find_process().
 */
u32 attributor_find_process_at(struct attributor *attributor, s32 tid, u64 time_ns,
			       struct attribute_span *ret_span);

/**
 * attributor_find_process_cached() - find the process of a thread without changing a table
 * @tid: as for attributor_find_process_at()
 * @time_ns: as for attributor_find_process_at(); ignored if !attributor_has_event_times()
 * @ret_index: the process, ATTRIBUTE_NONE or ATTRIBUTE_PENDING
 * @ret_span: as for attributor_find_process_at()
 *
 * Locking: the reader lock is sufficient (reader-lock.h).
 *
 * Return: true if the outputs are valid. If false, take the write lock and call
 * attributor_find_process_at(), or attributor_find_process() if !attributor_has_event_times().
 */
bool attributor_find_process_cached(struct attributor *attributor, s32 tid, u64 time_ns,
				    u32 *ret_index, struct attribute_span *ret_span);

/**
 * attributor_find_running_tid() - return the TID that ran on @cpu at @time_ns
 * @early_ns, @late_ns: live: possible error of @time_ns in each direction, ns
 *
 * Live, it uses the rings of attributor_set_switch_rings(); in a recording, TASK_SWITCH events.
 *
 * Return: the TID; -1 if it is unknown, or if several tasks ran within the error.
 */
s32 attributor_find_running_tid(struct attributor *attributor, u32 cpu, u64 time_ns, u64 early_ns,
				u64 late_ns);

/**
 * attributor_set_switch_rings() - set the source for attributor_find_running_tid() (live)
 * @rings: context switches, indexed by CPU number, @cpus entries; borrowed. NULL removes the source
 */
void attributor_set_switch_rings(struct attributor *attributor, struct switch_ring *rings,
				 u32 cpus);

/**
 * attributor_refresh() - compare some of the living processes with /proc (live)
 *
 * It finds PID reuse, exec, moves between cgroups and new mappings. Call it about once a second.
 * If events report all of that, it only searches for the names of containers, and reads mappings
 * again that lost events may have changed.
 *
 * Locking: as attributor_apply_event().
 */
void attributor_refresh(struct attributor *attributor);

/**
 * attributor_apply_answers() - apply the answers of the background threads
 *
 * It does not wait.
 *
 * Locking: as attributor_apply_event().
 */
void attributor_apply_answers(struct attributor *attributor);

/**
 * attributor_has_answers() - return whether there are answers for attributor_apply_answers()
 *
 * Locking: none; any thread.
 */
bool attributor_has_answers(const struct attributor *attributor);

/**
 * attributor_get_answers_fd() - return a descriptor that is readable if there may be answers
 *
 * Return: the descriptor, which the attributor owns; -1 without background threads.
 */
int attributor_get_answers_fd(const struct attributor *attributor);

/**
 * attributor_get_creation_count() - return the number of process entries that were created
 *
 * Results of attributor_find_process() stay valid until the count changes, or until the next event,
 * refresh or answer.
 */
u64 attributor_get_creation_count(const struct attributor *attributor);

/**
 * attributor_get_process() - return the process at @index
 *
 * Return: the entry, or NULL if it was never used. Its contents are valid until the next call that
 * needs the write lock.
 */
const struct attribute_process *attributor_get_process(const struct attributor *attributor,
						       u32 index);

/**
 * attributor_is_process_living() - return whether process @index has not exited, as far as is
 * known
 */
bool attributor_is_process_living(const struct attributor *attributor, u32 index);

/** attributor_get_container() - return the container at @index; NULL if the entry is not in use */
const struct attribute_container *attributor_get_container(const struct attributor *attributor,
							   u32 index);

/** attributor_get_container_limit() - return the upper bound (exclusive) of container indices */
u32 attributor_get_container_limit(const struct attributor *attributor);

/**
 * attributor_get_other_container() - return the index of "(other)"
 *
 * This entry counts the samples of evicted containers, and of containers that did not fit.
 */
u32 attributor_get_other_container(const struct attributor *attributor);

/**
 * attributor_get_container_details() - return the details of a container
 * @index: an index for which attributor_get_container() does not return NULL
 * @ret_details: the details
 */
void attributor_get_container_details(const struct attributor *attributor, u32 index,
				      struct container_details *ret_details);

/**
 * attributor_locate_pc() - find what is mapped at @pc
 * @process: index of the process; ATTRIBUTE_NONE for kernel addresses of unattributed samples
 * @pc: virtual address
 * @kernel: whether the operation was executed at EL1 or EL2, and not at EL0
 * @ret_location: its pointers are valid until the next call that needs the write lock, because that
 * may evict mappings
 *
 * If no mapping contains @pc, it may read the process's mappings from /proc (live), in the
 * background if configured.
 *
 * Locking: only one thread may call it at a time. With background threads the reader lock of this
 * thread is sufficient, because drain threads do not use what the function writes. Otherwise as
 * attributor_apply_event().
 *
 * Return: whether the location is known.
 */
bool attributor_locate_pc(struct attributor *attributor, u32 process, u64 pc, bool kernel,
			  struct attribute_location *ret_location);

/**
 * struct attribute_mapping - what was mapped at an address, in a form that callers can cache
 * @start, @end: addresses of the mapping, from @start to @end - 1
 * @bias: value to subtract from a PC, modulo 2^64, to get its offset in the binary. It is 0 for the
 * kernel and for memory without a file: their offsets are addresses
 * @span: the times for which the result is valid
 * @version: version of the process's mappings (attributor_get_map_version())
 * @binary: as in struct attribute_location
 * @inode, @device: numbers of the mapped file; 0 if unknown
 * @build_id, @build_id_size: build ID of the mapped file; the size is 0 if it is unknown
 * @anonymous: the mapping is memory without a file, such as JIT code, and belongs to this process
 * only
 */
struct attribute_mapping {
	u64 start;
	u64 end;
	u64 bias;
	struct attribute_span span;
	u64 version;
	const char *binary;
	u64 inode;
	u32 device;
	const u8 *build_id;
	u8 build_id_size;
	bool anonymous;
};

/**
 * attributor_find_mapping() - find what was mapped at @pc at a time
 * @process: index of the process; ATTRIBUTE_NONE for kernel addresses of unattributed samples
 * @pc: virtual address
 * @kernel: whether the operation was executed at EL1 or EL2, and not at EL0
 * @time_ns: time on the clock of the events; ATTRIBUTE_AT_END for the present mapping
 * @ret_mapping: its pointers are valid until the next call that needs the write lock
 *
 * Unlike attributor_locate_pc() it never reads /proc. Locking: the reader lock is sufficient.
 *
 * Return: whether the mapping is known.
 */
bool attributor_find_mapping(const struct attributor *attributor, u32 process, u64 pc, bool kernel,
			     u64 time_ns, struct attribute_mapping *ret_mapping);

/**
 * attributor_find_data_mapping() - find the code of the file with the data at an address
 * @process: index of the process
 * @address: virtual address of the data
 * @time_ns: as for attributor_find_mapping()
 * @ret_mapping: the mapping of the code below the address. &attribute_mapping.end is the first
 * address for which the result may differ. The address may be after the data of the file
 *
 * Locking: as for attributor_find_mapping().
 *
 * Return: whether the mapping is known, and is one of a file.
 */
bool attributor_find_data_mapping(const struct attributor *attributor, u32 process, u64 address,
				  u64 time_ns, struct attribute_mapping *ret_mapping);

/**
 * attributor_request_mappings() - request a read of the mappings of a process, because no known
 * mapping contains an address
 * @process, @generation: the process
 * @since_ns: CLOCK_MONOTONIC: a read that began earlier cannot include the mapping
 *
 * Reads of a process are at least 200 ms apart, so call it again while it returns true. Locking:
 * with background threads the reader lock is sufficient; else as attributor_apply_event().
 *
 * Return: whether a read may still find the mapping. False if the process has exited, or if its
 * mappings were read since @since_ns.
 */
bool attributor_request_mappings(struct attributor *attributor, u32 process, u32 generation,
				 u64 since_ns);

/** attributor_is_live() - return whether @attributor serves samples of this machine */
bool attributor_is_live(const struct attributor *attributor);

/**
 * attributor_has_final_executable() - return whether the result of attributor_get_executable() is
 * final
 *
 * The result can change while a living process has no known mapping and /proc was not read for it.
 */
bool attributor_has_final_executable(const struct attributor *attributor, u32 process);

/**
 * attributor_for_each_binary() - call @fn for the mapped files with a build id, in order of their
 * paths
 * @fn: the callback; it may read only the members of its mapping that describe the file: the
 * binary, inode, device and build id
 * @ctx: the first argument of @fn
 *
 * If memory cannot be allocated, @fn is not called.
 */
void attributor_for_each_binary(const struct attributor *attributor,
				void (*fn)(void *ctx, const struct attribute_mapping *mapping),
				void *ctx);

/**
 * attributor_get_map_changes() - return the number of changes of mappings of any process
 *
 * While it does not change, no attributor_get_map_version() changes.
 */
u64 attributor_get_map_changes(const struct attributor *attributor);

/**
 * attributor_get_map_version() - return the version of the mappings of a process; each change of
 * the mappings increases it
 * @process, @kernel: as for attributor_find_mapping()
 */
u64 attributor_get_map_version(const struct attributor *attributor, u32 process, bool kernel);

/**
 * attributor_get_executable() - return the executable of a process
 *
 * The executable is the file that is mapped at the lowest address, where executables are linked or
 * loaded on all architectures. If no mapped file is known, the result is the name of the process.
 * Kernel threads map no file, and the mappings of a process may be unknown
 * (attributor_has_final_executable()).
 *
 * Return: raw bytes, valid until the next call that needs the write lock; "" for an unknown index.
 */
const char *attributor_get_executable(const struct attributor *attributor, u32 process);

/** attributor_get_stats() - copy the statistics to @ret_stats */
void attributor_get_stats(const struct attributor *attributor, struct attributor_stats *ret_stats);

/**
 * attributor_export_tasks() - report all processes with samples as task events of a recording
 * @attributor: live
 * @sink: receives the task events of each process in order of time, with its threads, container and
 *	mappings. Processes that are no longer in /proc are included
 *
 * It reads only tables of the attributor, and no file.
 *
 * Return: 0 or -ENOMEM.
 */
int attributor_export_tasks(const struct attributor *attributor, const struct source_sink *sink);

#endif
