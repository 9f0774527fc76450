/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The task events that BPF programs, the side band of perf, and recordings report. */
#ifndef SPEPROF_TASK_EVENT_H
#define SPEPROF_TASK_EVENT_H

#include "codec/env.h"

/**
 * enum task_event_type - the kind of a task event. Lower-case names with @ are members of &struct
 * task_event
 * @TASK_COMM: the thread @tid has the name @name; @exec: it got the name by execve()
 * @TASK_FORK: @parent_pid created the thread @tid of the process @pid
 * @TASK_EXIT: the thread @tid exited; @last: the process exited with it
 * @TASK_MMAP: @pid mapped @size bytes of the file @name, from @offset on, executable at @start
 * @TASK_CGROUP: the cgroup with the number @cgroup has the path @name
 * @TASK_LOST: @size events before this one were lost (live only). Mappings that TASK_LOST_MAPS
 *	reports are not included
 * @TASK_SWITCH: @tid runs on @cpu from now on; -1: an unknown task (recordings only)
 * @TASK_ATTACH: all @size threads of @pid moved to @cgroup with the path @name; @cgroup is 0 if the
 *	move was in a hierarchy of cgroup v1 (BPF only)
 * @TASK_CGROUP_REMOVED: @cgroup was removed (BPF only)
 * @TASK_SEED: the thread @tid of the process @pid exists. @name is the process's name, @start and
 *	@offset are the addresses of code and stack of its image (BPF only)
 * @TASK_SEEDED: every task that existed at the start was reported, and from now on every change is
 * reported; @size is a set of TASK_REPORTS_* (BPF only)
 * @TASK_LOST_MAPS: @size TASK_MMAP of @pid were lost; @pid 0: of unknown processes (live only)
 */
enum task_event_type {
	TASK_COMM,
	TASK_FORK,
	TASK_EXIT,
	TASK_MMAP,
	TASK_CGROUP,
	TASK_LOST,
	TASK_SWITCH,
	TASK_ATTACH,
	TASK_CGROUP_REMOVED,
	TASK_SEED,
	TASK_SEEDED,
	TASK_LOST_MAPS,
};

#define TASK_REPORTS_MAPS    (1U << 0)	/* executable mappings are reported, too */
#define TASK_REPORTS_CGROUPS (1U << 1)	/* cgroup v1 is not mounted: events have all cgroups */

/**
 * device_number() - combine the two numbers of a file system's device
 * @major: as /proc/PID/maps, perf and BPF report it for a mapping
 * @minor: as @major
 *
 * The result only distinguishes mapped files with the same inode number. It must not be compared
 * with st_dev of stat(), which is another number on btrfs and overlayfs.
 */
static inline u32 device_number(u32 major, u32 minor)
{
	return major << 20 | (minor & 0xfffff);
}

/**
 * struct task_event - one event; which members are valid depends on @type
 * @name: NUL-terminated bytes that a task may have chosen; valid during the call only
 * @time_ns: live: CLOCK_MONOTONIC. In a recording: time of its clock; 0 if the event happened
 * before its start, or if the time is unknown
 * @start_ns: when the process @pid started, CLOCK_BOOTTIME; 0: unknown
 * @start, @size, @offset: for TASK_MMAP, address, size and file offset in bytes; &enum
 * task_event_type describes them for other types
 * @cgroup: the cgroup's number; 0: none
 * @inode, @device: of TASK_MMAP, 0: unknown; @device is a device_number()
 * @pid: the process; -1: the kernel, for TASK_MMAP
 * @tid: the thread
 * @parent_pid: of TASK_FORK
 * @cpu: of TASK_SWITCH
 * @type: &enum task_event_type
 * @exec: of TASK_COMM
 * @last: of TASK_EXIT
 * @build_id: of TASK_MMAP, @build_id_size bytes; NULL: unknown
 */
struct task_event {
	const char *name;
	u64 time_ns;
	u64 start_ns;
	u64 start;
	u64 size;
	u64 offset;
	u64 cgroup;
	u64 inode;
	u32 device;
	s32 pid;
	s32 tid;
	s32 parent_pid;
	u32 cpu;
	u8 type;
	bool exec;
	bool last;
	const u8 *build_id;
	u8 build_id_size;
};

/**
 * struct task_sink - the receiver of events: @task is called with @ctx for each event, in order of
 * time
 */
struct task_sink {
	void (*task)(void *ctx, const struct task_event *event);
	void *ctx;
};

#endif
