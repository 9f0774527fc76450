/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ABI of /dev/speprof, between speprof.ko and userspace.
 *
 * There are three kinds of file descriptors. Any process that has a descriptor may use it:
 *  - the device, from open(2), describes the machine and creates sessions;
 *  - a session, from SPEPROF_SESSION_NEW, controls what is sampled on which CPUs;
 *  - a ring, from SPEPROF_RING_OPEN, provides the records and events of one CPU.
 *
 * A session exists until all descriptors and mappings of it and of its rings are closed. The
 * module cannot be unloaded while any is open.
 *
 * Structures begin with their size in the version of the ABI that the caller was built with. New
 * versions add fields at the end, as for openat2(2). If the caller's structure is larger than the
 * kernel's, its additional bytes must be zero, otherwise the call fails with E2BIG. If it is
 * smaller, the missing fields count as zero. If it is smaller than in the first version, the call
 * fails with EINVAL. In output structures the kernel writes at most the caller's size, sets
 * additional bytes to zero, and sets the size to that of its own version.
 *
 * The rate of commands that interrupt CPUs is limited, so that a descriptor may be passed to a
 * container. Each session and each ring has a bucket of 100 tokens, to which 100 tokens per second
 * are added (module parameter throttle_commands). SAMPLE, START and CGROUPS take one token from the
 * session; FLUSH, STATS, SNAPSHOT and TUNE take one from the ring. If the bucket is empty the
 * command fails with EAGAIN and has no effect; retry after 10 ms. KICK takes a token only if its
 * ring waits for a reader. STOP and RELEASE take no token.
 *
 * Fields have fixed widths and natural alignment without implicit padding. Pointers are __u64.
 * Reserved fields and undefined flags must be zero, otherwise the call fails with EINVAL. Integers
 * are in the byte order of the machine.
 */
#ifndef _UAPI_LINUX_SPEPROF_H
#define _UAPI_LINUX_SPEPROF_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes only if a program that was built with an older header would misinterpret data. */
#define SPEPROF_ABI_VERSION	1

#define SPEPROF_DEVICE_PATH	"/dev/speprof"

/* ---- The device ---------------------------------------------------------- */

/* The command numbers do not encode sizes, because the structures contain their sizes. */
#define SPEPROF_IOC_MAGIC	0xbe

#define SPEPROF_DEVICE_INFO	_IO(SPEPROF_IOC_MAGIC, 0x00) /* struct speprof_device_info */
#define SPEPROF_CPU_INFO	_IO(SPEPROF_IOC_MAGIC, 0x01) /* struct speprof_cpu_info */
#define SPEPROF_SESSION_NEW	_IO(SPEPROF_IOC_MAGIC, 0x02) /* struct speprof_session_config */

/* What writes the records. A program must not present emulated records as measured. */
#define SPEPROF_BACKEND_NONE		0	/* this CPU has no SPU */
#define SPEPROF_BACKEND_HARDWARE	1	/* FEAT_SPE */
#define SPEPROF_BACKEND_EMULATED	2	/* a model; PC, context and time are real */

/* The unit of an interval (PMSIDR_EL1.ArchInst). */
#define SPEPROF_UNIT_MICRO_OPS		0
#define SPEPROF_UNIT_INSTRUCTIONS	1

/**
 * struct speprof_device_info - SPEPROF_DEVICE_INFO: describe the module and the machine
 * @size: sizeof(struct speprof_device_info)
 * @abi_version: out: SPEPROF_ABI_VERSION of the module
 * @cpus: out: upper bound of CPU numbers, exclusive; not every number below it has a CPU
 * @spus: out: number of CPUs that have a usable SPU
 * @modes: out: mask of the accepted modes: bit n is set if mode n is accepted
 * @min_ring_size: out: smallest data ring in bytes
 * @max_ring_size: out: largest data ring in bytes
 * @page_size: out: page size of the kernel in bytes
 *
 * Needs no capability. Errors: EFAULT, EINVAL, E2BIG.
 */
struct speprof_device_info {
	__u32 size;
	__u32 abi_version;
	__u32 cpus;
	__u32 spus;
	__u32 modes;
	__u32 page_size;
	__u64 min_ring_size;
	__u64 max_ring_size;
};

/* speprof_cpu_info.flags */
#define SPEPROF_CPU_ONLINE	(1U << 0)
#define SPEPROF_CPU_BUSY	(1U << 1)	/* a started session samples it */
/*
 * SPEPROF_COLLECT_CONTEXT adds the TID to each record. If this flag is not set, it has no effect,
 * because a kernel without CONFIG_PID_IN_CONTEXTIDR does not write CONTEXTIDR. Older modules never
 * set the flag.
 */
#define SPEPROF_CPU_CONTEXT	(1U << 2)

/**
 * struct speprof_cpu_info - SPEPROF_CPU_INFO: describe the SPU of one CPU
 * @size: sizeof(struct speprof_cpu_info)
 * @cpu: in: the CPU
 * @flags: out: SPEPROF_CPU_*
 * @backend: out: SPEPROF_BACKEND_*; if it is NONE, all fields below are zero
 * @midr: out: MIDR_EL1 of the CPU; 0 on other architectures than arm64
 * @pmsidr: out: PMSIDR_EL1
 * @pmbidr: out: PMBIDR_EL1
 * @pmsver: out: ID_AA64DFR0_EL1.PMSVer: 1 FEAT_SPE, 2 FEAT_SPEv1p1 ...
 * @interval_unit: out: SPEPROF_UNIT_*
 * @interval_min: out: smallest interval accepted, in @interval_unit
 * @interval_max: out: largest interval accepted, in @interval_unit
 * @record_align: out: alignment of records in bytes (PMBIDR_EL1.Align)
 * @record_max: out: size of the largest record in bytes (PMSIDR_EL1.MaxSize)
 * @events: out: mask of the events that the SPU can filter by (PMSEVFR_EL1)
 * @tick_hz: out: rate of the count in Timestamp packets, in Hz
 *
 * If the CPU was never online since the module was loaded, @backend is NONE. Needs no capability.
 * Errors: EFAULT, EINVAL (no such CPU), E2BIG.
 */
struct speprof_cpu_info {
	__u32 size;
	__u32 cpu;
	__u32 flags;
	__u32 backend;
	__u64 midr;
	__u64 pmsidr;
	__u64 pmbidr;
	__u32 pmsver;
	__u32 interval_unit;
	__u64 interval_min;
	__u64 interval_max;
	__u32 record_align;
	__u32 record_max;
	__u64 events;
	__u64 tick_hz;
};

/* speprof_session_config.mode */
#define SPEPROF_MODE_STREAM		0	/* a full ring stops sampling until there is free space */
#define SPEPROF_MODE_FLIGHT_RECORDER	1	/* a full ring overwrites its oldest windows and events */

/* speprof_session_config.rights: what the session may later sample and change. */
#define SPEPROF_RIGHT_KERNEL		(1U << 0)	/* SPEPROF_SAMPLE_KERNEL */
#define SPEPROF_RIGHT_CONTEXT		(1U << 1)	/* SPEPROF_COLLECT_CONTEXT */
#define SPEPROF_RIGHT_PHYSICAL_ADDRESS	(1U << 2)	/* SPEPROF_COLLECT_PHYSICAL_ADDRESS */
#define SPEPROF_RIGHT_PHYSICAL_TIME	(1U << 3)	/* SPEPROF_COLLECT_PHYSICAL_TIME */
#define SPEPROF_RIGHT_CGROUPS		(1U << 4)	/* SPEPROF_SESSION_CGROUPS */

/* speprof_session_config.flags */
#define SPEPROF_SESSION_OF_CGROUPS	(1U << 0)	/* samples only tasks in its cgroups */

/* Maximum number of cgroups in a session. */
#define SPEPROF_CGROUPS_MAX	256

/**
 * struct speprof_session_config - SPEPROF_SESSION_NEW: create a session. Only the set of cgroups
 * can be changed later
 * @size: sizeof(struct speprof_session_config)
 * @mode: SPEPROF_MODE_*, one of those in speprof_device_info.modes
 * @cpus: address of a bit mask of CPUs: CPU n is bit n % 8 of byte n / 8. 0
 *	with @cpus_size 0 means every CPU that has an SPU
 * @cpus_size: size of the mask in bytes; CPUs beyond it are not in the session
 * @rights: SPEPROF_RIGHT_*: what any process with the descriptor may do
 * @ring_size: size of each data ring in bytes, a power of two between the device's min_ring_size
 *	and max_ring_size
 * @event_slots: slots of each event ring, a power of two, 16 to 65536
 * @watermark: a window is closed and published after this many bytes of records; at most half of
 * @ring_size; 0: a quarter of @ring_size. It is rounded up to at least two records and to a
 * multiple of 4 KiB
 * @max_latency_ms: a window with records is closed and published at most this many milliseconds
 *	after the previous window, 1 to 60000; 0: no limit
 * @cgroups: with SPEPROF_SESSION_OF_CGROUPS: address of @cgroups_count descriptors (__s32) of
 *	cgroup v2 directories, as in struct speprof_cgroups. Otherwise 0
 * @cgroups_count: 0 to SPEPROF_CGROUPS_MAX
 * @flags: SPEPROF_SESSION_*
 *
 * Rings, event rings and control pages are charged to RLIMIT_MEMLOCK of the caller's user, unless
 * it has CAP_IPC_LOCK, and to its memory cgroup.
 *
 * Needs CAP_PERFMON or CAP_SYS_ADMIN. Fails under lockdown in confidentiality mode. Returns the
 * descriptor of a session, which is stopped; the descriptor is close-on-exec.
 * Errors: EPERM; EFAULT, EINVAL, E2BIG; EOPNOTSUPP (mode); ENODEV (a CPU of the
 * mask, or every CPU, has no SPU); ENOMEM (RLIMIT_MEMLOCK, memory); EMFILE, ENFILE;
 * and for the cgroups those of SPEPROF_SESSION_CGROUPS.
 */
struct speprof_session_config {
	__u32 size;
	__u32 mode;
	__u64 cpus;
	__u32 cpus_size;
	__u32 rights;
	__u64 ring_size;
	__u32 event_slots;
	__u32 max_latency_ms;
	__u64 watermark;
	__u64 cgroups;
	__u32 cgroups_count;
	__u32 flags;
};

/* ---- A session ----------------------------------------------------------- */

#define SPEPROF_SESSION_SAMPLE	_IO(SPEPROF_IOC_MAGIC, 0x10) /* struct speprof_sampling */
#define SPEPROF_SESSION_START	_IO(SPEPROF_IOC_MAGIC, 0x11) /* argument 0 */
#define SPEPROF_SESSION_STOP	_IO(SPEPROF_IOC_MAGIC, 0x12) /* argument 0 */
#define SPEPROF_RING_OPEN	_IO(SPEPROF_IOC_MAGIC, 0x13) /* struct speprof_ring_open */
#define SPEPROF_SESSION_CGROUPS	_IO(SPEPROF_IOC_MAGIC, 0x14) /* struct speprof_cgroups */
#define SPEPROF_SESSION_TUNE	_IO(SPEPROF_IOC_MAGIC, 0x15) /* struct speprof_tune */

/* speprof_sampling.flags */
#define SPEPROF_SAMPLE_USER	(1U << 0)	/* EL0 */
#define SPEPROF_SAMPLE_KERNEL	(1U << 1)	/* EL1; EL2 if the kernel runs there */
#define SPEPROF_SAMPLE_JITTER	(1U << 2)	/* random perturbation (PMSIRR_EL1.RND) */

/* speprof_sampling.collect (D17.6.9) */
#define SPEPROF_COLLECT_TIMESTAMP		(1U << 0)
/*
 * With TIMESTAMP: the physical count (PMSCR_EL1.PCT). If the kernel runs below EL2, it may be a
 * guest: packets and start_ticks then contain the virtual count even with this flag. On a host both
 * counts are equal.
 */
#define SPEPROF_COLLECT_PHYSICAL_TIME		(1U << 1)
/* CONTEXTIDR: the TID in the root PID namespace. It has no effect without SPEPROF_CPU_CONTEXT. */
#define SPEPROF_COLLECT_CONTEXT			(1U << 2)
#define SPEPROF_COLLECT_PHYSICAL_ADDRESS	(1U << 3)

/* speprof_sampling.types; an operation passes if it has any of these types. */
#define SPEPROF_TYPE_BRANCH	(1U << 0)
#define SPEPROF_TYPE_LOAD	(1U << 1)
#define SPEPROF_TYPE_STORE	(1U << 2)

/**
 * struct speprof_sampling - SPEPROF_SESSION_SAMPLE: set what a session samples
 * @size: sizeof(struct speprof_sampling)
 * @flags: SPEPROF_SAMPLE_*, with USER or KERNEL or both
 * @interval: operations between two samples: from interval_min to interval_max of struct
 *	speprof_cpu_info, for each CPU of the session. It is rounded down to a multiple of 256; the
 *	header of each window contains the actual mean
 * @collect: SPEPROF_COLLECT_*
 * @types: record operations of these types, SPEPROF_TYPE_*; 0: all
 * @events: record operations that have all of these events; 0: all
 * @events_not: record operations that have none of these events (PMSNEVFR_EL1); 0: all
 * @min_latency: record operations of at least this total latency in cycles; 0: all
 * @reserved: 0
 * @sources_not: do not record loads from these data sources: bit n is the value n of bits 5:0 of
 *	the Data Source packet. Operations without that packet pass. 0: record all. This is
 *	PMSDSFR_EL1 inverted, and needs FEAT_SPE_FDS (speprof_cpu_info.pmsidr bit 7). The first
 *	version of the ABI does not have this field
 *
 * May be called before and after START. In a started session each CPU closes its window and samples
 * with the new program. Headers of windows contain the generation of the program. If the call
 * fails, nothing changes. Errors: EFAULT, EINVAL, E2BIG; ERANGE (@interval, @min_latency); EPERM
 * (the session lacks a right); EOPNOTSUPP (a CPU of the session lacks a filter); EAGAIN (rate).
 */
struct speprof_sampling {
	__u32 size;
	__u32 flags;
	__u64 interval;
	__u32 collect;
	__u32 types;
	__u64 events;
	__u64 events_not;
	__u32 min_latency;
	__u32 reserved;
	__u64 sources_not;
};

/*
 * SPEPROF_SESSION_START: begin to sample on every CPU of the session. CPUs that are offline begin
 * when they come online. If the session is already started, nothing changes. Errors: EINVAL
 * (argument); ENODATA (no SPEPROF_SESSION_SAMPLE yet); EBUSY (a started session has one of the
 * CPUs, and one task could belong to both); ENODEV (the SPUs were removed); ENOMEM; EAGAIN (rate).
 * Two sessions of cgroups may share CPUs if no cgroup of one is, or lies below, a cgroup of the
 * other. If the caller has CAP_PERFMON, START and CGROUPS do not fail with EBUSY because of an
 * unprivileged session. Instead they stop that session, which may be started again later. A session
 * is unprivileged if a caller without CAP_PERFMON started it, or changed its cgroups.
 *
 * SPEPROF_SESSION_STOP: close and publish every window, and stop sampling. After it returns, only
 * SPEPROF_EVENT_CGROUP may still be written to the rings. If the session is already stopped,
 * nothing changes.
 */

/*
 * SAMPLE, START, STOP, CGROUPS and TUNE are also io_uring commands: IORING_OP_URING_CMD with the
 * same number in cmd_op. The first 8 bytes of cmd contain the address of the structure, or 0; the
 * other bytes are 0. Worker threads of io_uring run these commands.
 */

/**
 * struct speprof_tune - SPEPROF_SESSION_TUNE: set the interval and the limits of one CPU
 * @size: sizeof(struct speprof_tune)
 * @cpu: a CPU of the session
 * @interval: as in struct speprof_sampling, for this CPU alone; 0: no change
 * @throttle_interrupts: maximum number of windows, each with an interrupt, that the CPU closes for
 * this session in a second, in addition to the module parameter of that name; 0: no further limit
 * @throttle_bytes: maximum number of bytes that the CPU's SPU writes for this session in a second,
 * in addition to the module parameter of that name; 0: no further limit
 *
 * The settings apply until the next TUNE of the CPU, or until SPEPROF_SESSION_SAMPLE, which resets
 * all CPUs. May be called before and after START. If the interval of a CPU changes, the CPU closes
 * its window and samples with a new program; headers of windows contain its generation and
 * interval. If the call fails, nothing changes. Errors: EFAULT, EINVAL, E2BIG; ENOENT (@cpu is not
 * in the session); ENODATA (no SPEPROF_SESSION_SAMPLE yet); ERANGE (@interval); EAGAIN (rate).
 * ENOTTY if the module is older.
 */
struct speprof_tune {
	__u32 size;
	__u32 cpu;
	__u64 interval;
	__u64 throttle_interrupts;
	__u64 throttle_bytes;
};

/* speprof_cgroups.op */
#define SPEPROF_CGROUPS_ADD	1
#define SPEPROF_CGROUPS_REMOVE	2
#define SPEPROF_CGROUPS_REPLACE	3

/**
 * struct speprof_cgroups - SPEPROF_SESSION_CGROUPS: set which cgroups a session samples
 * @size: sizeof(struct speprof_cgroups)
 * @op: SPEPROF_CGROUPS_*
 * @fds: address of @count descriptors (__s32) of cgroup v2 directories
 * @count: number of descriptors, 0 to SPEPROF_CGROUPS_MAX; REPLACE with 0 makes the set empty
 * @reserved: 0
 *
 * A cgroup in the set selects all tasks that are in it or in its descendants at the time of
 * sampling. Idle tasks are never sampled. A set may contain both a cgroup and a descendant of it.
 * May be called before and after START. After the call returns, no task outside of the set is
 * sampled, and the descriptors may be closed. If the call fails, nothing changes.
 *
 * If a cgroup is deleted, the module removes it from the set and reports that by
 * SPEPROF_EVENT_CGROUP. A session with an empty set remains started and samples nothing.
 *
 * Errors: EFAULT, EINVAL, E2BIG; EPERM (no SPEPROF_RIGHT_CGROUPS); EOPNOTSUPP (the
 * session samples all tasks, or the kernel lacks a tracepoint); EBADF (a descriptor that is
 * not open); ENOTDIR (not of a cgroup v2 directory); ENODEV (the cgroup was removed); EEXIST
 * (named twice, or already in the set); ENOENT (REMOVE: not in the set); ENOSPC (more than
 * SPEPROF_CGROUPS_MAX); EBUSY (as for SPEPROF_SESSION_START); ENOMEM; EAGAIN (rate).
 */
struct speprof_cgroups {
	__u32 size;
	__u32 op;
	__u64 fds;
	__u32 count;
	__u32 reserved;
};

/* speprof_ring_open.flags */
#define SPEPROF_RING_NONBLOCK	(1U << 0)	/* as O_NONBLOCK */

/* Offsets for mmap(2) on a ring; multiples of every page size. */
#define SPEPROF_MMAP_CONTROL	0x000000000ULL	/* PROT_READ | PROT_WRITE, MAP_SHARED */
#define SPEPROF_MMAP_EVENTS	0x100000000ULL	/* PROT_READ only */
#define SPEPROF_MMAP_DATA	0x200000000ULL	/* PROT_READ only */

/**
 * struct speprof_ring_open - SPEPROF_RING_OPEN: open the ring of one CPU
 * @size: sizeof(struct speprof_ring_open)
 * @cpu: in: a CPU of the session
 * @flags: in: SPEPROF_RING_*
 * @event_slots: out: slots of the event ring
 * @control_bytes: out: bytes that can be mapped at SPEPROF_MMAP_CONTROL
 * @event_bytes: out: bytes that can be mapped at SPEPROF_MMAP_EVENTS
 * @data_bytes: out: size of the data ring: bytes that can be mapped at SPEPROF_MMAP_DATA
 *
 * A ring may be opened any number of times. Its descriptors share all state, including the tails.
 * Mappings begin at the offsets above and are MAP_SHARED. Returns the descriptor; it is
 * close-on-exec. Errors: EFAULT, EINVAL, E2BIG; ENOENT (@cpu is not in the session); EMFILE,
 * ENFILE, ENOMEM.
 */
struct speprof_ring_open {
	__u32 size;
	__u32 cpu;
	__u32 flags;
	__u32 event_slots;
	__u64 control_bytes;
	__u64 event_bytes;
	__u64 data_bytes;
};

/* ---- A ring -------------------------------------------------------------- */

/*
 * The bytes from tail to head are windows without gaps. head and tail count bytes since the ring
 * was created and never wrap: byte n is at offset n % data_bytes of the data ring. No window
 * crosses the end of the ring. In a flight recorder, the bytes of a SKIP window may cross the end,
 * but its header never does.
 *
 * To read by mmap, load head with acquire, read the windows from tail on, and store tail with
 * release (or call SPEPROF_RING_ADVANCE). Read events in the same way; their heads and tails count
 * events. read(2) returns the same bytes of the data ring as a stream, and moves the tail itself.
 *
 * poll(2): EPOLLIN while head != tail; EPOLLPRI while event_head != event_tail;
 * EPOLLERR while the state is SPEPROF_RING_FAULTED.
 *
 * read(2) blocks while the ring is empty, or fails with EAGAIN with O_NONBLOCK or RWF_NOWAIT. If
 * the ring is empty and the session is stopped, it returns 0.
 *
 * A flight recorder overwrites its oldest windows and events without waiting for readers. The bytes
 * from oldest to head are windows. To read by mmap, load oldest, then head, both with acquire, and
 * copy the windows from oldest on. Then, after an acquire fence, load oldest again: bytes before it
 * may be overwritten, and must be discarded. Read events in the same way, from event_oldest on. The
 * tails only affect poll(2), and read(2) fails with EINVAL. Windows of a snapshot are not
 * overwritten.
 *
 * If a ring that is not a flight recorder has unread bytes, and its reader makes no progress for 60
 * s (module parameter unread_ms), the ring stops sampling. It becomes FULL, sets
 * SPEPROF_CONTROL_UNREAD and writes an event. It samples again when a tail advances, also by
 * read(2), or after KICK.
 *
 * ADVANCE, KICK, FLUSH, SNAPSHOT and RELEASE are ioctls and io_uring commands: IORING_OP_URING_CMD
 * with the same number in cmd_op. The 16 bytes of cmd contain struct speprof_advance for ADVANCE.
 * For SNAPSHOT, the first 8 bytes contain the address of its structure. All other bytes are 0, also
 * for the other commands. ADVANCE completes immediately; worker threads of io_uring run the other
 * commands.
 */
#define SPEPROF_RING_ADVANCE	_IO(SPEPROF_IOC_MAGIC, 0x20) /* struct speprof_advance */
#define SPEPROF_RING_KICK	_IO(SPEPROF_IOC_MAGIC, 0x21) /* argument 0 */
#define SPEPROF_RING_FLUSH	_IO(SPEPROF_IOC_MAGIC, 0x22) /* argument 0 */
#define SPEPROF_RING_STATS	_IO(SPEPROF_IOC_MAGIC, 0x23) /* struct speprof_ring_stats; ioctl only */
#define SPEPROF_RING_SNAPSHOT	_IO(SPEPROF_IOC_MAGIC, 0x24) /* struct speprof_snapshot */
#define SPEPROF_RING_RELEASE	_IO(SPEPROF_IOC_MAGIC, 0x25) /* argument 0 */

/**
 * struct speprof_advance - SPEPROF_RING_ADVANCE: set both tails
 * @tail: bytes consumed: not below the current tail, and not above head
 * @event_tail: events consumed: not below the current event tail, and not above event_head
 *
 * The structure has no size field, so that it fits into an SQE of 64 bytes. Errors: EFAULT; ERANGE
 * (a tail is out of range). If the call fails, nothing changes.
 *
 * SPEPROF_RING_KICK: read the tails from the control page, and sample again if the ring was FULL
 * and has free space now. A ring that becomes FULL at the same time may miss the KICK. It then
 * resumes by its timer a little later, as it does without KICK. SPEPROF_RING_FLUSH: close and
 * publish the window that is being written, if it has records; head is after it afterwards. Both
 * fail with ENXIO while the CPU is offline, and with EAGAIN (rate). When a CPU goes offline, its
 * window is published.
 */
struct speprof_advance {
	__u64 tail;
	__u64 event_tail;
};

/**
 * struct speprof_snapshot - SPEPROF_RING_SNAPSHOT: protect the newest windows of a flight recorder
 * from being overwritten
 * @size: sizeof(struct speprof_snapshot)
 * @reserved: 0
 * @max_bytes: maximum size of the snapshot in bytes; 0: half of the ring
 * @start: out: position of the first window of the snapshot
 * @end: out: position after the last window of the snapshot
 * @time_ns: out: CLOCK_MONOTONIC at @end
 *
 * The call closes the current window and protects the newest windows: the writer skips their
 * memory. Windows are protected in chunks of a 64th of the ring or more; the first window is always
 * a RECORDS window. The snapshot lasts until SPEPROF_RING_RELEASE by the same descriptor or a
 * duplicate of it, or until that descriptor is closed and unmapped. A descriptor has at most one
 * snapshot, a ring at most eight. Snapshots may share windows.
 *
 * Sampling continues in the rest of the ring. If there is no free space for a window the ring is
 * FULL, an event reports that, and RELEASE makes the ring sample again. The call also works while
 * the CPU is offline and after STOP. If the call fails, nothing is protected. Errors: EFAULT,
 * EINVAL, E2BIG; EOPNOTSUPP (the ring is a stream); EBUSY (this descriptor has a snapshot); ENOSPC
 * (the ring has eight); ENODATA (nothing was written, or the newest chunk is larger than
 * @max_bytes); EAGAIN (rate).
 *
 * SPEPROF_RING_RELEASE: end the snapshot. Errors: EOPNOTSUPP (the ring is a stream); ENOENT (this
 * descriptor has no snapshot).
 */
struct speprof_snapshot {
	__u32 size;
	__u32 reserved;
	__u64 max_bytes;
	__u64 start;
	__u64 end;
	__u64 time_ns;
};

/*
 * States of a ring. speprof_ring_stats.state_ns contains the time in each state, except that the
 * time in PARKED is in parked_ns. A session is enabled on a CPU while it should sample there; a
 * session of cgroups is enabled while one of its tasks runs on the CPU. Enabled time is the time in
 * ARMED plus blind time. Blind time is the time in HANDLING, FULL, FAULTED, THROTTLED and HANDOVER.
 */
#define SPEPROF_RING_IDLE	0	/* the session is stopped */
#define SPEPROF_RING_OFFLINE	1	/* started; CPU offline, SPU removed, or suspend */
#define SPEPROF_RING_ARMED	2	/* the SPU writes a window */
#define SPEPROF_RING_HANDLING	3	/* between two windows, from PMSCR = 0 on */
#define SPEPROF_RING_FULL	4	/* waits for free data or event slots, or for a reader */
#define SPEPROF_RING_FAULTED	5	/* stopped by a syndrome until STOP and START */
#define SPEPROF_RING_THROTTLED	6	/* sampling cost too much; resumes by itself */
#define SPEPROF_RING_HANDOVER	7	/* a task of its cgroups runs; SPU not loaded yet */
#define SPEPROF_RING_STATES	8	/* number of states above */
#define SPEPROF_RING_PARKED	8	/* no task of its cgroups runs; may be full too */

#define SPEPROF_CONTROL_MAGIC	0x43455053	/* "SPEC" */

/* speprof_control.flags */
#define SPEPROF_CONTROL_UNREAD	(1U << 0)	/* FULL without a reader */

/**
 * struct speprof_control - the control page of a ring
 * @magic: SPEPROF_CONTROL_MAGIC
 * @size: sizeof(struct speprof_control) of the module
 * @cpu: the CPU
 * @state: SPEPROF_RING_* at the last change
 * @generation: generation of the current sampling program, from 1
 * @flags: SPEPROF_CONTROL_*
 * @data_bytes: size of the data ring
 * @event_slots: slots of the event ring
 * @reserved1: 0
 * @head: bytes published; load with acquire
 * @event_head: events published; load with acquire
 * @oldest: in a flight recorder: bytes before this are overwritten; otherwise 0
 * @event_oldest: in a flight recorder: events before this are overwritten; otherwise 0
 * @reserved2: 0
 * @tail: bytes consumed; stored by userspace with release
 * @event_tail: events consumed; stored by userspace with release
 * @reserved3: 0
 *
 * Userspace writes @tail and @event_tail and nothing else. The module writes all other fields and
 * never reads them. It ignores a tail that decreases or exceeds its head, and counts it in
 * speprof_ring_stats.bad_tails. Heads and tails are in separate cache lines of 128 bytes.
 */
struct speprof_control {
	__u32 magic;
	__u32 size;
	__u32 cpu;
	__u32 state;
	__u32 generation;
	__u32 flags;
	__u64 data_bytes;
	__u32 event_slots;
	__u32 reserved1[23];

	__u64 head;
	__u64 event_head;
	__u64 oldest;
	__u64 event_oldest;
	__u64 reserved2[12];

	__u64 tail;
	__u64 event_tail;
	__u64 reserved3[14];
};

#define SPEPROF_WINDOW_MAGIC	0x57455053	/* "SPEW" */

/* Positions and spans of windows are multiples of this. */
#define SPEPROF_WINDOW_ALIGN	64

/* speprof_window.kind; skip unknown kinds by their span. */
#define SPEPROF_WINDOW_RECORDS	1
#define SPEPROF_WINDOW_SKIP	2	/* bytes without content before the next window */

/* Bytes of a SKIP window's header: the fields up to speprof_window.position. */
#define SPEPROF_WINDOW_SKIP_SIZE 64

/* speprof_window.flags */
#define SPEPROF_WINDOW_TRUNCATED (1U << 0)	/* PMBSR.DL: the last record may be incomplete */
#define SPEPROF_WINDOW_PARTIAL	(1U << 1)	/* closed before it was full: flush, latency, stop */
#define SPEPROF_WINDOW_COLLIDED	(1U << 2)	/* PMBSR.COLL: samples collided */
#define SPEPROF_WINDOW_FAULTED	(1U << 3)	/* it ended in a syndrome other than buffer full */
#define SPEPROF_WINDOW_SUSPECT	(1U << 4)	/* no record in it may be used */
#define SPEPROF_WINDOW_COUNTED	(1U << 5)	/* @records is valid: the SPU is emulated */
#define SPEPROF_WINDOW_CAUSES	(1U << 6)	/* @blind_share is valid */

/*
 * Indices of speprof_window.blind_share: the state of the ring. The remaining time was spent in
 * HANDLING.
 */
#define SPEPROF_BLIND_FULL	0
#define SPEPROF_BLIND_FAULTED	1
#define SPEPROF_BLIND_THROTTLED	2
#define SPEPROF_BLIND_HANDOVER	3
#define SPEPROF_BLINDS		4

/* speprof_window.clock */
#define SPEPROF_CLOCK_MONOTONIC	1	/* CLOCK_MONOTONIC, as bpf_ktime_get_ns() */

/**
 * struct speprof_window - the header of a window in the data ring
 * @magic: SPEPROF_WINDOW_MAGIC
 * @header_size: size of this header in bytes, a multiple of 64: at least 64 for SKIP; otherwise at
 *	least sizeof(struct speprof_window) of the first version of the ABI
 * @kind: SPEPROF_WINDOW_RECORDS or _SKIP
 * @span: bytes from this header to the next, a multiple of 64
 * @seq: number of the header, from 0; headers of both kinds are numbered without gaps
 * @position: position of this header: bytes since the ring was created
 * @data_size: bytes that the SPU wrote (PMBPTR's advance); 0 for SKIP
 * @data_offset: bytes from this header to the first record
 * @flags: SPEPROF_WINDOW_*
 * @cpu: the CPU
 * @backend: SPEPROF_BACKEND_*
 * @generation: generation of the sampling program, from 1
 * @pmsver: ID_AA64DFR0_EL1.PMSVer
 *
 * @midr: MIDR_EL1, or 0
 * @pmsidr: PMSIDR_EL1; MaxSize is the maximum size of a record
 * @pmbidr: PMBIDR_EL1; Align is the alignment of records
 * @pmbsr: PMBSR_EL1 at the end of the window
 * @interval: actual mean interval in @interval_unit: 256 x INTERVAL + 1; with jitter but without
 * FEAT_SPE_ERnd it is 256 x INTERVAL + 128 (D17.3.4)
 * @interval_unit: SPEPROF_UNIT_*
 * @clock: SPEPROF_CLOCK_*: the clock of @start_ns and @end_ns
 * @start_ns: time at which the window was armed, in ns
 * @end_ns: time at which the last record was written, in ns; profiling was disabled just before
 * @start_ticks: value at @start_ns of the count that Timestamp packets contain
 * @tick_hz: rate of that count in Hz; 0 if unknown. The time of a packet with count t is @start_ns
 *	plus (t - @start_ticks) / @tick_hz seconds. With SPEPROF_BACKEND_EMULATED the count is
 *	@clock in nanoseconds, read shortly after @start_ns
 * @armed_ns: time in ARMED from the end of the last RECORDS window of this ring to the end of this
 * one, in ns. It is longer than @end_ns - @start_ns if windows without records were closed in
 * between
 * @blind_ns: blind time in the same period, up to @end_ns, in ns. The sum of @armed_ns and
 * @blind_ns of all windows is the enabled time
 * @records: records written, with COUNTED; otherwise 0
 * @parked_ns: time in PARKED in the same period, up to @end_ns, in ns; it is not part of the
 * enabled time
 * @blind_share: with CAUSES: fraction of @blind_ns for each cause, indexed by SPEPROF_BLIND_*, in
 * units of 2^-32, rounded down; 2^32 - 1 means all of @blind_ns. The time of a cause is
 * (@blind_ns * share + 2^32 - 1) / 2^32 ns, which is exact up to four seconds. Without CAUSES: 0
 *
 * The first 64 bytes are the same in both kinds. A SKIP header has no others.
 */
struct speprof_window {
	__u32 magic;
	__u16 header_size;
	__u16 kind;
	__u64 span;
	__u64 seq;
	__u64 position;
	__u64 data_size;
	__u32 data_offset;
	__u32 flags;
	__u32 cpu;
	__u32 backend;
	__u32 generation;
	__u32 pmsver;

	__u64 midr;
	__u64 pmsidr;
	__u64 pmbidr;
	__u64 pmbsr;
	__u64 interval;
	__u32 interval_unit;
	__u32 clock;
	__u64 start_ns;
	__u64 end_ns;
	__u64 start_ticks;
	__u64 tick_hz;
	__u64 armed_ns;
	__u64 blind_ns;
	__u64 records;
	__u64 parked_ns;
	__u32 blind_share[SPEPROF_BLINDS];
};

/* speprof_event.type */
#define SPEPROF_EVENT_SYNDROME	1	/* a management event other than a plain buffer full */
#define SPEPROF_EVENT_STATE	2	/* ARMED to FULL, FAULTED or THROTTLED, FULL to ARMED,
					 * THROTTLED to FULL, IDLE or OFFLINE to THROTTLED:
					 * @arg0 from, @arg1 to */
#define SPEPROF_EVENT_THROTTLE	3	/* THROTTLED ends: @arg0 its ns; @arg1 SPEPROF_THROTTLE_* */
#define SPEPROF_EVENT_SWITCH	4	/* reserved: context switch */
#define SPEPROF_EVENT_UNREAD	5	/* FULL without a reader: @arg0 for how many ns, @arg1 unread
					 * bytes; not repeated while no slot is free */
/*
 * A cgroup was removed, also from the session's set. @arg0 is its ID (inode number). Bits 31:0 of
 * @arg1: number of cgroups that remain in the set. Bits 63:32: number of cgroups that were removed
 * since the last such event; it is above 1 if the ring had no free slot.
 */
#define SPEPROF_EVENT_CGROUP	6

/*
 * speprof_event.arg1 of THROTTLE: which limit was exceeded, of the module or of struct speprof_tune
 */
#define SPEPROF_THROTTLE_INTERRUPTS	1	/* module parameter throttle_interrupts */
#define SPEPROF_THROTTLE_BYTES		2	/* throttle_bytes */

/* speprof_event.action, for SYNDROME */
#define SPEPROF_ACTION_CONTINUE		0
#define SPEPROF_ACTION_DROP_TAIL	1	/* window flagged TRUNCATED */
#define SPEPROF_ACTION_DROP_WINDOW	2	/* window flagged SUSPECT */
#define SPEPROF_ACTION_STOP_CPU		3	/* the ring is FAULTED */
#define SPEPROF_ACTION_STOP_SESSION	4	/* reserved: this version never does it */

/* speprof_event.syndrome, for SYNDROME (D17.8) */
#define SPEPROF_SYNDROME_NONE		0	/* S is 0, but PMBPTR was outside of the window */
#define SPEPROF_SYNDROME_FULL		1
#define SPEPROF_SYNDROME_NOT_ALLOWED	2
#define SPEPROF_SYNDROME_FAULT		3
#define SPEPROF_SYNDROME_EXTERNAL_SYNC	4
#define SPEPROF_SYNDROME_EXTERNAL_ASYNC	5
#define SPEPROF_SYNDROME_GPC		6
#define SPEPROF_SYNDROME_IMPDEF		7
#define SPEPROF_SYNDROME_UNKNOWN	8

/**
 * struct speprof_event - an event in the event ring
 * @seq: number of the event, from 0; its slot is @seq % event_slots
 * @time_ns: CLOCK_MONOTONIC in ns
 * @type: SPEPROF_EVENT_*; ignore events of unknown types
 * @cpu: the CPU
 * @syndrome: SPEPROF_SYNDROME_* for SYNDROME; otherwise 0
 * @action: SPEPROF_ACTION_* for SYNDROME; otherwise 0
 * @position: the head of the ring after publishing the window to which the event belongs
 * @arg0: SYNDROME: PMBSR_EL1
 * @arg1: SYNDROME: PMBPTR_EL1 minus the address of the window's first record; all ones if
 *	PMBPTR_EL1 is outside of the window
 * @reserved: 0
 *
 * In a stream no event is lost: slots are reserved before a window is armed, and a ring without
 * free slots is FULL. A flight recorder overwrites its oldest events.
 */
struct speprof_event {
	__u64 seq;
	__u64 time_ns;
	__u32 type;
	__u32 cpu;
	__u32 syndrome;
	__u32 action;
	__u64 position;
	__u64 arg0;
	__u64 arg1;
	__u64 reserved;
};

/**
 * struct speprof_ring_stats - SPEPROF_RING_STATS: the ledgers of a ring at one moment. Userspace
 * cannot change them. Errors: EFAULT, EINVAL, E2BIG; EAGAIN (rate)
 * @size: sizeof(struct speprof_ring_stats)
 * @state: out: SPEPROF_RING_*
 * @head: out: bytes published
 * @tail: out: bytes consumed, when the module last read the tails
 * @event_head: out: events published
 * @event_tail: out: events consumed
 * @data_bytes: out: bytes that the SPU wrote: the sum of data_size over all windows
 * @header_bytes: out: bytes of headers, and of alignment after headers and records
 * @skip_bytes: out: bytes of SKIP windows. @head = @data_bytes + @header_bytes + @skip_bytes
 * @windows: out: RECORDS windows published
 * @skips: out: SKIP windows published
 * @records: out: records written, if the SPU can count them; otherwise 0
 * @state_ns: out: time in each SPEPROF_RING_* state up to now. Unlike @data_bytes and @records it
 *	includes the window that is being written
 * @interrupts: out: interrupts of the SPU
 * @resumes: out: number of times that FULL ended
 * @bad_tails: out: tails in the control page that were ignored
 * @wakeups: out: number of times that readers were woken
 * @throttles: out: number of times that THROTTLED was entered
 * @unreads: out: number of times that the ring stopped because its reader was missing
 * @oldest: out: as in struct speprof_control
 * @event_oldest: out: as in struct speprof_control
 * @overwritten_bytes: out: number of bytes of @data_bytes that were overwritten and never in a
 * snapshot
 * @overwritten_records: out: number of @records that were overwritten and never in a snapshot
 * @claimed_bytes: out: number of bytes of @data_bytes that were in a snapshot; each byte counts
 * once. All other bytes are between @oldest and @head
 * @claimed_records: out: number of @records that were in a snapshot
 * @snapshots: out: number of snapshots that exist now
 * @parked_ns: out: time in SPEPROF_RING_PARKED up to now
 * @entries: out: number of times that a task of the cgroups was scheduled in
 * @handovers: out: number of those times at which the SPU had the registers of another session, or
 * of none
 */
struct speprof_ring_stats {
	__u32 size;
	__u32 state;
	__u64 head;
	__u64 tail;
	__u64 event_head;
	__u64 event_tail;
	__u64 data_bytes;
	__u64 header_bytes;
	__u64 skip_bytes;
	__u64 windows;
	__u64 skips;
	__u64 records;
	__u64 state_ns[SPEPROF_RING_STATES];
	__u64 interrupts;
	__u64 resumes;
	__u64 bad_tails;
	__u64 wakeups;
	__u64 throttles;
	__u64 unreads;
	__u64 oldest;
	__u64 event_oldest;
	__u64 overwritten_bytes;
	__u64 overwritten_records;
	__u64 claimed_bytes;
	__u64 claimed_records;
	__u64 snapshots;
	__u64 parked_ns;
	__u64 entries;
	__u64 handovers;
};

#endif
