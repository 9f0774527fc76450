/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics for the administrator: tracepoints, and in debugfs (speprof/cpus) counters of each CPU
 * since the module was loaded. Neither is part of the ABI.
 *
 * All functions except the first two are called on the CPU that they count for, with interrupts
 * off. While that CPU is offline, they are called on any CPU under speprof_control and
 * cpus_read_lock().
 */
#ifndef SPEPROF_STATS_H
#define SPEPROF_STATS_H

#include <linux/types.h>

struct speprof_event;
struct speprof_window;

/** speprof_stats_init() - create the file in debugfs; does nothing if the kernel has no debugfs */
void speprof_stats_init(void);

/** speprof_stats_deinit() - remove the file */
void speprof_stats_deinit(void);

/** speprof_stats_count_interrupt() - count a buffer management interrupt of an ARMED ring */
void speprof_stats_count_interrupt(unsigned int cpu);

/**
 * speprof_stats_trace_arm() - trace the arming of a window
 * @cpu: the CPU
 * @start: position in the ring of the first byte that the SPU may write
 * @limit: position after the last one
 * @generation: generation of the program
 */
void speprof_stats_trace_arm(unsigned int cpu, u64 start, u64 limit, u32 generation);

/**
 * speprof_stats_count_window() - count and trace a window with records, after its header is
 * written
 */
void speprof_stats_count_window(unsigned int cpu, const struct speprof_window *window);

/** speprof_stats_count_event() - count and trace an event that is added to the event ring */
void speprof_stats_count_event(unsigned int cpu, const struct speprof_event *event);

/**
 * speprof_stats_count_handover() - trace that a task of a session's cgroups was scheduled in
 * @cpu: the CPU
 * @new: whether the SPU had the registers of another ring, or none; only then it is counted
 */
void speprof_stats_count_handover(unsigned int cpu, bool new);

/**
 * speprof_stats_count_snapshot() - count and trace a snapshot
 * @cpu: the CPU
 * @oldest: position of the oldest byte in the ring
 * @start: position of the snapshot's first byte
 * @end: position after its last byte
 */
void speprof_stats_count_snapshot(unsigned int cpu, u64 oldest, u64 start, u64 end);

#endif
