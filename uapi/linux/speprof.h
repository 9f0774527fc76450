/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ABI of /dev/speprof: the whole contract between speprof.ko and userspace.
 *
 * Three kinds of file descriptor, each a capability:
 *  - the device, from open(2): what the machine can do; makes sessions
 *  - a session, from SPEPROF_SESSION_NEW: what is sampled, on which CPUs
 *  - a ring, from SPEPROF_RING_OPEN: the records and events of one CPU
 *
 * A session lives until the last descriptor of it and of its rings is closed,
 * mappings included. The module cannot be unloaded while any is open.
 *
 * Structures begin with their size, as the caller knows it, and grow at their
 * end (as openat2(2)'s do): a kernel that knows less accepts a longer one if
 * what it does not know is zero, and fails with E2BIG otherwise; a kernel that
 * knows more takes what is missing as zero. Shorter than the first version is
 * EINVAL. In structures that the kernel fills, it writes at most the caller's
 * size, zeroes what it does not know and sets the size to what it knows.
 *
 * Commands that interrupt CPUs are limited in rate, so that a descriptor may be handed to a
 * container. SAMPLE, START and CGROUPS draw from the session, FLUSH, STATS, SNAPSHOT and TUNE from
 * the ring: 100 at once, and 100 in each second after (module parameter throttle_commands). When
 * none is left the command fails with EAGAIN and has done nothing: try again 10 ms later. KICK
 * draws only where its ring waits for a reader. STOP and RELEASE never fail so.
 *
 * Every field is of fixed width and naturally aligned, pointers are __u64, there is
 * no implicit padding, and every "reserved" field and undefined flag must be
 * zero (EINVAL). Integers are in the machine's byte order.
 */
#ifndef _UAPI_LINUX_SPEPROF_H
#define _UAPI_LINUX_SPEPROF_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changed only when a program built against an older header would misread. */
#define SPEPROF_ABI_VERSION	1

#define SPEPROF_DEVICE_PATH	"/dev/speprof"

/* ---- The device ---------------------------------------------------------- */

/* The magic is enough to tell our ioctls; sizes are in the structures. */
#define SPEPROF_IOC_MAGIC	0xbe

#define SPEPROF_DEVICE_INFO	_IO(SPEPROF_IOC_MAGIC, 0x00) /* struct speprof_device_info */
#define SPEPROF_CPU_INFO	_IO(SPEPROF_IOC_MAGIC, 0x01) /* struct speprof_cpu_info */
#define SPEPROF_SESSION_NEW	_IO(SPEPROF_IOC_MAGIC, 0x02) /* struct speprof_session_config */

/* Who writes the records. Modelled facts must never pass for measured ones. */
#define SPEPROF_BACKEND_NONE		0	/* this CPU has no SPU */
#define SPEPROF_BACKEND_HARDWARE	1	/* FEAT_SPE */
#define SPEPROF_BACKEND_EMULATED	2	/* the model: PC, context and time are true */

/* What an interval counts (PMSIDR_EL1.ArchInst). */
#define SPEPROF_UNIT_MICRO_OPS		0
#define SPEPROF_UNIT_INSTRUCTIONS	1

/**
 * struct speprof_device_info - SPEPROF_DEVICE_INFO: what this module is
 * @size: sizeof(struct speprof_device_info)
 * @abi_version: out: SPEPROF_ABI_VERSION of the module
 * @cpus: out: CPU numbers are below this (possible CPUs, some may be absent)
 * @spus: out: how many CPUs have an SPU now
 * @modes: out: bit n: SPEPROF_MODE_n is accepted
 * @min_ring_size: out: smallest data ring in bytes, of the rings this machine needs
 * @max_ring_size: out: largest data ring in bytes
 * @page_size: out: the kernel's page size in bytes: granule of mmap
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

/**
 * struct speprof_cpu_info - SPEPROF_CPU_INFO: one CPU's SPU
 * @size: sizeof(struct speprof_cpu_info)
 * @cpu: in: the CPU
 * @flags: out: SPEPROF_CPU_*
 * @backend: out: SPEPROF_BACKEND_*; with NONE all that follows is zero
 * @midr: out: MIDR_EL1 of the CPU; 0 where the architecture has none (an
 *	emulated SPU on another architecture)
 * @pmsidr: out: PMSIDR_EL1
 * @pmbidr: out: PMBIDR_EL1
 * @pmsver: out: ID_AA64DFR0_EL1.PMSVer: 1 FEAT_SPE, 2 FEAT_SPEv1p1 ...
 * @interval_unit: out: SPEPROF_UNIT_*
 * @interval_min: out: smallest interval accepted, in @interval_unit
 * @interval_max: out: largest
 * @record_align: out: bytes records are aligned to (PMBIDR_EL1.Align)
 * @record_max: out: bytes of the largest record (PMSIDR_EL1.MaxSize)
 * @events: out: mask of events that filters may name (PMSEVFR_EL1)
 * @tick_hz: out: rate of Timestamp packets
 *
 * A CPU that has not been online since the module was loaded shows NONE.
 * Needs no capability. Errors: EFAULT, EINVAL (no such CPU), E2BIG.
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
#define SPEPROF_MODE_STREAM		0	/* a full ring stops its CPU until there is room */
#define SPEPROF_MODE_FLIGHT_RECORDER	1	/* a full ring overwrites its oldest windows and events */

/* speprof_session_config.rights: what speprof_sampling may ever ask for. */
#define SPEPROF_RIGHT_KERNEL		(1U << 0)	/* SPEPROF_SAMPLE_KERNEL */
#define SPEPROF_RIGHT_CONTEXT		(1U << 1)	/* SPEPROF_COLLECT_CONTEXT */
#define SPEPROF_RIGHT_PHYSICAL_ADDRESS	(1U << 2)	/* SPEPROF_COLLECT_PHYSICAL_ADDRESS */
#define SPEPROF_RIGHT_PHYSICAL_TIME	(1U << 3)	/* SPEPROF_COLLECT_PHYSICAL_TIME */
#define SPEPROF_RIGHT_CGROUPS		(1U << 4)	/* SPEPROF_SESSION_CGROUPS */

/* speprof_session_config.flags */
#define SPEPROF_SESSION_OF_CGROUPS	(1U << 0)	/* samples the tasks of its cgroups alone */

/* How many cgroups a session may have. */
#define SPEPROF_CGROUPS_MAX	256

/**
 * struct speprof_session_config - SPEPROF_SESSION_NEW: what stays as it is for
 * the life of a session
 * @size: sizeof(struct speprof_session_config)
 * @mode: SPEPROF_MODE_*; what speprof_device_info.modes lacks is EOPNOTSUPP
 * @cpus: address of a bit mask of CPUs: CPU n is bit n % 8 of byte n / 8. 0
 *	with @cpus_size 0 means every CPU that has an SPU
 * @cpus_size: bytes of the mask; missing ones are zero
 * @rights: SPEPROF_RIGHT_*; fixed here, whoever holds the descriptor later
 * @ring_size: bytes of each data ring, a power of two between the device's
 *	min_ring_size and max_ring_size
 * @event_slots: events in each event ring, a power of two, 16 to 65536
 * @watermark: bytes of records in a window after which it is closed,
 *	published, and readers are woken; at most half of @ring_size; 0: a
 *	quarter. Raised to what two records and the 4 KiB granule need
 * @max_latency_ms: a window with records is closed and published this many
 *	milliseconds after the last at the latest, 1 to 60000; 0: no bound
 * @cgroups: with OF_CGROUPS: address of @cgroups_count descriptors (__s32) of cgroup v2
 *	directories: the first set; else 0. See speprof_cgroups
 * @cgroups_count: 0 to SPEPROF_CGROUPS_MAX
 * @flags: SPEPROF_SESSION_*
 *
 * The memory (rings, event rings, control pages) is charged to RLIMIT_MEMLOCK
 * of the caller's user (CAP_IPC_LOCK is exempt) and to its memory cgroup.
 *
 * Needs CAP_PERFMON (or CAP_SYS_ADMIN), and no lockdown in confidentiality mode.
 * Returns the descriptor of a session, close-on-exec, stopped.
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
#define SPEPROF_SAMPLE_KERNEL	(1U << 1)	/* EL1; EL2 where the kernel runs there */
#define SPEPROF_SAMPLE_JITTER	(1U << 2)	/* random perturbation (PMSIRR_EL1.RND) */

/* speprof_sampling.collect (D17.6.9) */
#define SPEPROF_COLLECT_TIMESTAMP		(1U << 0)
/*
 * With TIMESTAMP: PMSCR_EL1.PCT. On a kernel below EL2, which may be a guest, packets keep the
 * virtual count, which start_ticks is of; on a host both are the same.
 */
#define SPEPROF_COLLECT_PHYSICAL_TIME		(1U << 1)
#define SPEPROF_COLLECT_CONTEXT			(1U << 2) /* CONTEXTIDR: TID in the root namespace */
#define SPEPROF_COLLECT_PHYSICAL_ADDRESS	(1U << 3)

/* speprof_sampling.types; an operation passes if it is of any type named. */
#define SPEPROF_TYPE_BRANCH	(1U << 0)
#define SPEPROF_TYPE_LOAD	(1U << 1)
#define SPEPROF_TYPE_STORE	(1U << 2)

/**
 * struct speprof_sampling - SPEPROF_SESSION_SAMPLE: what a session samples
 * @size: sizeof(struct speprof_sampling)
 * @flags: SPEPROF_SAMPLE_*; USER or KERNEL at least
 * @interval: operations between two samples, between speprof_cpu_info's
 *	interval_min and interval_max on each CPU of the session. Rounded down to
 *	a multiple of 256; the true mean is in each window
 * @collect: SPEPROF_COLLECT_*
 * @types: SPEPROF_TYPE_* to keep; 0: all
 * @events: keep records that have all of these events; 0: no such filter
 * @events_not: keep records that have none of these (PMSNEVFR_EL1); 0: no such filter
 * @min_latency: keep records of at least so many cycles of total latency; 0: all
 * @reserved: 0
 * @sources_not: leave out loads whose Data Source packet has in its bits 5:0 the number of a bit
 *	that is set here (PMSDSFR_EL1 inverted: FEAT_SPE_FDS, speprof_cpu_info.pmsidr bit 7);
 *	what has no such packet is not concerned; 0: no such filter. Not in the first version
 *
 * Before START, and at any time while the session runs: then each CPU closes
 * its window and goes on with the new program; windows carry its generation.
 * On failure nothing has changed.
 * Errors: EFAULT, EINVAL, E2BIG; ERANGE (@interval, @min_latency); EPERM (not
 * in the session's rights); EOPNOTSUPP (a CPU of the session cannot filter so); EAGAIN (rate).
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
 * SPEPROF_SESSION_START: begin to sample on every CPU of the session; those
 * offline begin when they come online. No effect on a started session.
 * Errors: EINVAL (argument); ENODATA (no SPEPROF_SESSION_SAMPLE yet); EBUSY
 * (another started session has one of the CPUs, and not both are of cgroups, or a cgroup
 * of one is, or lies below, a cgroup of the other); ENODEV (its SPUs were removed); ENOMEM; EAGAIN
 * (rate).
 * A session that a caller without CAP_PERFMON started, or changed the cgroups of since, yields:
 * START and CGROUPS by a caller with CAP_PERFMON stop it instead of failing with EBUSY. Its holder
 * may start it again once the other has ended.
 *
 * SPEPROF_SESSION_STOP: close and publish every window, stop sampling. On
 * return no more is written to the rings, but for SPEPROF_EVENT_CGROUP. No effect on a
 * stopped session.
 */

/*
 * SAMPLE, START, STOP, CGROUPS and TUNE are io_uring commands, too (IORING_OP_URING_CMD with cmd_op
 * the same number; the structure's address, or 0, in the first 8 bytes of cmd, 0 in the others).
 * They run from io_uring's worker.
 */

/**
 * struct speprof_tune - SPEPROF_SESSION_TUNE: how often one CPU of a session samples
 * @size: sizeof(struct speprof_tune)
 * @cpu: a CPU of the session
 * @interval: as in speprof_sampling, for this CPU alone; 0: as it is
 * @throttle_interrupts: windows that the CPU closes in a second at most for this session, each
 *	by an interrupt, beside the module's parameter of that name; 0: no more than that
 * @throttle_bytes: likewise bytes that its SPU writes
 *
 * Until the next TUNE, or SPEPROF_SESSION_SAMPLE, which is for all CPUs and without such bounds.
 * Before START, and at any time while the session runs: a CPU whose interval changes closes its
 * window and goes on with a new program; windows carry its generation and interval.
 * On failure nothing has changed.
 * Errors: EFAULT, EINVAL, E2BIG; ENOENT (@cpu is not one of the session's); ENODATA (no
 * SPEPROF_SESSION_SAMPLE yet); ERANGE (@interval); EAGAIN (rate). A module that does not know it:
 * ENOTTY.
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
 * struct speprof_cgroups - SPEPROF_SESSION_CGROUPS: whom a session of cgroups samples
 * @size: sizeof(struct speprof_cgroups)
 * @op: SPEPROF_CGROUPS_*
 * @fds: address of @count descriptors (__s32) of cgroup v2 directories
 * @count: 0 to SPEPROF_CGROUPS_MAX; with REPLACE and 0 the set becomes empty
 * @reserved: 0
 *
 * A cgroup stands for all tasks in it and below it, whenever they came there. The idle
 * task is nobody's. A set may hold a cgroup and one below it. At any time: on return no
 * task that left the set is sampled. The descriptors may be closed after. On failure
 * nothing has changed.
 *
 * A cgroup that is removed leaves the set by itself: SPEPROF_EVENT_CGROUP says so. A
 * session with an empty set stays started and samples nothing.
 *
 * Errors: EFAULT, EINVAL, E2BIG; EPERM (no SPEPROF_RIGHT_CGROUPS); EOPNOTSUPP (the
 * session is not OF_CGROUPS, or the kernel tells nobody of context switches); EBADF (a
 * descriptor that is not open); ENOTDIR (not of a cgroup v2 directory); ENODEV (of one
 * that was removed); EEXIST (named twice, or already in the set); ENOENT (REMOVE: not in
 * it); ENOSPC (more than SPEPROF_CGROUPS_MAX); EBUSY (as SPEPROF_SESSION_START); ENOMEM;
 * EAGAIN (rate).
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
 * struct speprof_ring_open - SPEPROF_RING_OPEN: a descriptor for one CPU's ring
 * @size: sizeof(struct speprof_ring_open)
 * @cpu: in: a CPU of the session
 * @flags: in: SPEPROF_RING_*
 * @event_slots: out: events in the event ring
 * @control_bytes: out: to map at SPEPROF_MMAP_CONTROL
 * @event_bytes: out: to map at SPEPROF_MMAP_EVENTS
 * @data_bytes: out: to map at SPEPROF_MMAP_DATA: the size of the data ring
 *
 * May be called as often as one likes; all descriptors share the ring, its
 * tails included. mmap maps from the offsets above, at most so many bytes, shared.
 * Returns the descriptor, close-on-exec. Errors: EFAULT, EINVAL, E2BIG; ENOENT
 * (@cpu is not one of the session's); EMFILE, ENFILE, ENOMEM.
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
 * Bytes between tail and head are windows, one after the other; @head and @tail
 * count bytes since the ring was made and never wrap, so the byte at count n
 * is at n % data_bytes of the data ring. No window straddles the ring's end; the header
 * of a SKIP window never does, in flight recorder mode what it skips may.
 *
 * Reading by mmap: load head with acquire, walk the windows from tail, store
 * tail with release (or SPEPROF_RING_ADVANCE). Events likewise, counted in
 * entries. read(2) gives the same bytes of the data ring as a stream, and
 * moves the tail itself.
 *
 * poll(2): EPOLLIN while head != tail; EPOLLPRI while event_head != event_tail;
 * EPOLLERR while the state is SPEPROF_RING_FAULTED.
 *
 * read(2) blocks while the ring is empty: EAGAIN with O_NONBLOCK (or
 * RWF_NOWAIT); returns 0 (end) if it is empty and the session is stopped.
 *
 * In flight recorder mode the writer asks nobody: bytes between oldest and head are windows.
 * Reading by mmap: load oldest, then head, both with acquire; walk the windows from oldest, copy;
 * then, after an acquire fence, load oldest again: what is before it may be torn, and is to be
 * thrown away. Events are overwritten likewise, from event_oldest. Tails mean nothing to the writer
 * and serve poll(2) alone, read(2) is EINVAL. A snapshot holds windows as they are.
 *
 * A stream's ring that has something to read and of which nobody reads for 60 s (module
 * parameter unread_ms) stops sampling: FULL, with SPEPROF_CONTROL_UNREAD and an event. The
 * advance of a tail (also by read(2)) and KICK are signs of a reader, and make it go on.
 *
 * ADVANCE, KICK, FLUSH, SNAPSHOT and RELEASE are ioctls and io_uring commands
 * (IORING_OP_URING_CMD with cmd_op the same number; ADVANCE's structure stands in the SQE's 16
 * bytes of cmd, SNAPSHOT's address in the first 8, the rest is zero). ADVANCE completes inline, the
 * others run from io_uring's worker.
 */
#define SPEPROF_RING_ADVANCE	_IO(SPEPROF_IOC_MAGIC, 0x20) /* struct speprof_advance */
#define SPEPROF_RING_KICK	_IO(SPEPROF_IOC_MAGIC, 0x21) /* argument 0 */
#define SPEPROF_RING_FLUSH	_IO(SPEPROF_IOC_MAGIC, 0x22) /* argument 0 */
#define SPEPROF_RING_STATS	_IO(SPEPROF_IOC_MAGIC, 0x23) /* struct speprof_ring_stats; ioctl only */
#define SPEPROF_RING_SNAPSHOT	_IO(SPEPROF_IOC_MAGIC, 0x24) /* struct speprof_snapshot */
#define SPEPROF_RING_RELEASE	_IO(SPEPROF_IOC_MAGIC, 0x25) /* argument 0 */

/**
 * struct speprof_advance - SPEPROF_RING_ADVANCE: all before these is consumed
 * @tail: count of bytes, from the current tail to head
 * @event_tail: count of events, from the current event tail to event head
 *
 * Of fixed size (it must fit a 64-byte SQE). Errors: EFAULT; ERANGE: nothing changed.
 *
 * SPEPROF_RING_KICK: take the tails from the control page; if the ring was full and has
 * room now, sample on. SPEPROF_RING_FLUSH: close and publish the window that
 * is being written, if it has records; on return head covers it. Both: ENXIO
 * while the CPU is offline (its window was published when it went); EAGAIN (rate).
 * A KICK that comes while its ring becomes full may find it not yet full: then the ring
 * samples on by itself, as without KICK.
 */
struct speprof_advance {
	__u64 tail;
	__u64 event_tail;
};

/**
 * struct speprof_snapshot - SPEPROF_RING_SNAPSHOT: hold what a flight recorder has
 * @size: sizeof(struct speprof_snapshot)
 * @reserved: 0
 * @max_bytes: of the ring, the newest, at most; 0: half of it
 * @start: out: position of the first window held
 * @end: out: position after the last
 * @time_ns: out: CLOCK_MONOTONIC of @end
 *
 * Closes the window being written, then holds the newest windows up to it; the writer skips their
 * memory. Rounded down to runs of windows of a 64th of the ring or more, the first of
 * which is always a RECORDS window. They stay as they are until SPEPROF_RING_RELEASE by the same
 * descriptor (or one duplicated from it), or until it is closed, mappings included. A descriptor
 * holds one snapshot at a time, a ring eight. Snapshots may share windows.
 *
 * With half of the ring held, sampling goes on in the other. Where snapshots leave no room for a
 * window the ring is FULL, an event says so, and RELEASE makes it go on.
 * Also while the CPU is offline and after STOP. On failure nothing is held.
 * Errors: EFAULT, EINVAL, E2BIG; EOPNOTSUPP (mode); EBUSY (this descriptor holds one); ENOSPC
 * (eight are held); ENODATA (nothing is written, or no run of windows is within @max_bytes);
 * EAGAIN (rate).
 *
 * SPEPROF_RING_RELEASE: let go of the snapshot. Errors: EOPNOTSUPP (mode); ENOENT (none is held).
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
 * States of a ring. Time in each is in speprof_ring_stats.state_ns (PARKED's in parked_ns),
 * so that the ledger of time closes by construction: enabled = ARMED + blind, and blind =
 * HANDLING + FULL + FAULTED + THROTTLED + HANDOVER. A session of cgroups is enabled while
 * one of its tasks runs on the CPU, else PARKED.
 */
#define SPEPROF_RING_IDLE	0	/* the session is stopped */
#define SPEPROF_RING_OFFLINE	1	/* it is started; CPU offline, SPU removed, or a suspend */
#define SPEPROF_RING_ARMED	2	/* the SPU writes a window */
#define SPEPROF_RING_HANDLING	3	/* between two windows, from PMSCR = 0 on */
#define SPEPROF_RING_FULL	4	/* waits for room (data, event slots), or to be read */
#define SPEPROF_RING_FAULTED	5	/* a syndrome stopped it: see the events; STOP and START again */
#define SPEPROF_RING_THROTTLED	6	/* the CPU spent too much on its SPU: goes on by itself */
#define SPEPROF_RING_HANDOVER	7	/* a task of its cgroups runs, the SPU is yet to be given it */
#define SPEPROF_RING_STATES	8	/* of those above */
#define SPEPROF_RING_PARKED	8	/* no task of its cgroups runs here; it may be full, too */

#define SPEPROF_CONTROL_MAGIC	0x43455053	/* "SPEC" */

/* speprof_control.flags */
#define SPEPROF_CONTROL_UNREAD	(1U << 0)	/* FULL because nobody reads */

/**
 * struct speprof_control - the control page of a ring
 * @magic: SPEPROF_CONTROL_MAGIC
 * @size: sizeof(struct speprof_control) of the module
 * @cpu: the CPU
 * @state: SPEPROF_RING_* at the last change
 * @generation: of the sampling program in force, from 1
 * @flags: SPEPROF_CONTROL_*
 * @data_bytes: size of the data ring
 * @event_slots: entries of the event ring
 * @reserved1: 0
 * @head: bytes published; loaded with acquire
 * @event_head: events published; loaded with acquire
 * @oldest: in flight recorder mode: no byte before this is there any more; else 0
 * @event_oldest: likewise of events
 * @reserved2: 0
 * @tail: bytes consumed; stored by userspace with release
 * @event_tail: events consumed; stored by userspace with release
 * @reserved3: 0
 *
 * Userspace writes @tail and @event_tail and nothing else. The module only
 * writes the rest and never reads it back. A tail that went back, or beyond head, is ignored
 * and counted (speprof_ring_stats.bad_tails). @head and @tail have two 64-byte
 * lines of their own each.
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

/* Headers begin at multiples of this, and spans are multiples of it. */
#define SPEPROF_WINDOW_ALIGN	64

/* speprof_window.kind; unknown kinds are to be skipped by their span. */
#define SPEPROF_WINDOW_RECORDS	1
#define SPEPROF_WINDOW_SKIP	2	/* nothing here: the way to where a window may begin */

/* Bytes of a SKIP window's header: the fields up to @position. */
#define SPEPROF_WINDOW_SKIP_SIZE 64

/* speprof_window.flags */
#define SPEPROF_WINDOW_TRUNCATED (1U << 0)	/* PMBSR.DL: the last record may be incomplete */
#define SPEPROF_WINDOW_PARTIAL	(1U << 1)	/* closed before it was full: flush, latency, stop */
#define SPEPROF_WINDOW_COLLIDED	(1U << 2)	/* PMBSR.COLL: samples collided */
#define SPEPROF_WINDOW_FAULTED	(1U << 3)	/* it ended in a syndrome other than buffer full */
#define SPEPROF_WINDOW_SUSPECT	(1U << 4)	/* no byte may be taken for valid */
#define SPEPROF_WINDOW_COUNTED	(1U << 5)	/* @records is true: the SPU is the model */
#define SPEPROF_WINDOW_CAUSES	(1U << 6)	/* @blind_share is true */

/* Places of speprof_window.blind_share, by the state it was blind in; the rest is HANDLING. */
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
 * @header_size: bytes of this header, a multiple of 64: at least 64 for SKIP, at
 *	least sizeof(struct speprof_window) of the ABI's first version else
 * @kind: SPEPROF_WINDOW_RECORDS or _SKIP
 * @span: bytes from this header to the next, a multiple of 64
 * @seq: counts headers of both kinds from 0; no number is missing
 * @position: the ring's free-running count of bytes at this header
 * @data_size: bytes that the SPU wrote (PMBPTR's advance); 0 for SKIP
 * @data_offset: bytes from this header to the first record
 * @flags: SPEPROF_WINDOW_*
 * @cpu: the CPU
 * @backend: SPEPROF_BACKEND_*
 * @generation: of the sampling program that it was written under, from 1
 * @pmsver: ID_AA64DFR0_EL1.PMSVer
 *
 * @midr: MIDR_EL1, or 0
 * @pmsidr: PMSIDR_EL1; MaxSize bounds a record
 * @pmbidr: PMBIDR_EL1; Align is the alignment of records
 * @pmbsr: PMBSR_EL1 as read at the window's end
 * @interval: true mean interval: 256 x INTERVAL + 1, or + 128 (D17.3.4)
 * @interval_unit: SPEPROF_UNIT_*
 * @clock: SPEPROF_CLOCK_*: of the times below
 * @start_ns: when the window was armed
 * @end_ns: when the last record was written: profiling was disabled just before
 * @start_ticks: the count that Timestamp packets carry, at @start_ns
 * @tick_hz: its rate: a packet's t is at @start_ns + (t - @start_ticks) / @tick_hz;
 *	0 where no rate is known. SPEPROF_BACKEND_EMULATED counts the nanoseconds of @clock:
 *	there t is the time itself, and the two are apart by as long as reading them took
 * @armed_ns: how long the SPU was enabled since the end of the last RECORDS window of this ring,
 *	until profiling was disabled to close it: more than @end_ns - @start_ns where windows
 *	without records were closed in between
 * @blind_ns: how long the session was enabled and the SPU was not, up to @end_ns. The sums of both
 *	over all windows are the enabled time
 * @records: records written, where COUNTED is set, else 0
 * @parked_ns: how long the ring was PARKED, up to @end_ns; not enabled time
 * @blind_share: where CAUSES is set, how much of @blind_ns has which cause, in parts of 2^32,
 *	rounded down (all of it: 2^32 - 1): ns are (@blind_ns * share + 2^32 - 1) / 2^32, true to
 *	the nanosecond up to four seconds, and to as many of 2^32 parts beyond. Else 0
 *
 * The first 64 bytes are the same in both kinds.
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
#define SPEPROF_EVENT_UNREAD	5	/* FULL because nobody reads: @arg0 for how many ns, @arg1 bytes;
					 * not told again where the slots are full, too */
/*
 * A cgroup was removed and so left the session's set: @arg0 its ID (inode number), @arg1 how
 * many are left in bits 31 to 0, and in bits 63 to 32 how many went since the last such event:
 * more than one where the ring had no slot free.
 */
#define SPEPROF_EVENT_CGROUP	6

/* speprof_event.arg1, for THROTTLE: what of a CPU's SPU was over its bound, or speprof_tune's */
#define SPEPROF_THROTTLE_INTERRUPTS	1	/* module parameter throttle_interrupts */
#define SPEPROF_THROTTLE_BYTES		2	/* throttle_bytes */

/* speprof_event.action, for SYNDROME */
#define SPEPROF_ACTION_CONTINUE		0
#define SPEPROF_ACTION_DROP_TAIL	1	/* window flagged TRUNCATED */
#define SPEPROF_ACTION_DROP_WINDOW	2	/* window flagged SUSPECT */
#define SPEPROF_ACTION_STOP_CPU		3	/* the ring is FAULTED */
#define SPEPROF_ACTION_STOP_SESSION	4	/* reserved: not taken by this version */

/* speprof_event.syndrome, for SYNDROME (D17.8) */
#define SPEPROF_SYNDROME_NONE		0	/* S is 0: PMBPTR was not where it may be */
#define SPEPROF_SYNDROME_FULL		1
#define SPEPROF_SYNDROME_NOT_ALLOWED	2
#define SPEPROF_SYNDROME_FAULT		3
#define SPEPROF_SYNDROME_EXTERNAL_SYNC	4
#define SPEPROF_SYNDROME_EXTERNAL_ASYNC	5
#define SPEPROF_SYNDROME_GPC		6
#define SPEPROF_SYNDROME_IMPDEF		7
#define SPEPROF_SYNDROME_UNKNOWN	8

/**
 * struct speprof_event - an entry of the event ring
 * @seq: counts events of this ring from 0; the entry's place is @seq % event_slots
 * @time_ns: CLOCK_MONOTONIC
 * @type: SPEPROF_EVENT_*; unknown ones are to be ignored
 * @cpu: the CPU
 * @syndrome: SPEPROF_SYNDROME_*, else 0
 * @action: SPEPROF_ACTION_*, else 0
 * @position: the ring's head (count of bytes) once the window it is about is published
 * @arg0: SYNDROME: PMBSR_EL1
 * @arg1: SYNDROME: PMBPTR_EL1 less the address of the window's first record; all ones if
 *	PMBPTR_EL1 is outside of the window
 * @reserved: 0
 *
 * Slots are reserved before a window is armed: none is lost, a stream's ring without
 * free slots is FULL. A flight recorder's oldest events are overwritten.
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
 * struct speprof_ring_stats - SPEPROF_RING_STATS: the ledgers, from the
 * module's own memory, consistent with each other. EAGAIN (rate)
 * @size: sizeof(struct speprof_ring_stats)
 * @state: out: SPEPROF_RING_*
 * @head: out: bytes published
 * @tail: out: bytes consumed, as far as the module has taken note
 * @event_head: out: events published
 * @event_tail: out: events consumed
 * @data_bytes: out: PMBPTR's advance in all published windows: the sum of data_size
 * @header_bytes: out: headers, alignment after them and after records
 * @skip_bytes: out: SKIP windows. @head = @data_bytes + @header_bytes + @skip_bytes
 * @windows: out: RECORDS windows published
 * @skips: out: SKIP windows published
 * @records: out: records written, where the SPU can count; else 0
 * @state_ns: out: time in each SPEPROF_RING_* state, up to now; it includes the window
 *	being written, which @data_bytes and @records do not
 * @interrupts: out: SPU interrupts taken
 * @resumes: out: times that FULL was left
 * @bad_tails: out: tails in the control page that were ignored
 * @wakeups: out: times that readers were woken
 * @throttles: out: times that THROTTLED was entered
 * @unreads: out: times that the ring stopped because nobody read
 * @oldest: out: in flight recorder mode, see struct speprof_control; else 0
 * @event_oldest: out: likewise
 * @overwritten_bytes: out: of @data_bytes, what was overwritten and never held by a snapshot
 * @overwritten_records: out: of @records, likewise
 * @claimed_bytes: out: of @data_bytes, what snapshots held, each byte counted once. The rest
 *	stands between @oldest and @head
 * @claimed_records: out: of @records, likewise
 * @snapshots: out: how many are held
 * @parked_ns: out: time in SPEPROF_RING_PARKED, up to now
 * @entries: out: times that PARKED was left because a task of the cgroups came
 * @handovers: out: those of them that found the SPU with another session, or empty
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
