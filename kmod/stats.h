/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver shows of itself: tracepoints, and counters of each CPU since the module was
 * loaded in debugfs (speprof/cpus). Called on the CPU with interrupts off, or for a CPU that is down.
 */
#ifndef SPEPROF_OBSERVE_H
#define SPEPROF_OBSERVE_H

#include <linux/types.h>

struct speprof_event;
struct speprof_window;

/** speprof_stats_init() - debugfs is a courtesy: without it there is none */
void speprof_stats_init(void);
void speprof_stats_deinit(void);

void speprof_stats_interrupt(unsigned int cpu);
void speprof_stats_arm(unsigned int cpu, u64 start, u64 limit, u32 generation);

/** speprof_stats_window() - a window with records, and its header, is written */
void speprof_stats_window(unsigned int cpu, const struct speprof_window *window);

/** speprof_stats_event() - an event goes into the event ring */
void speprof_stats_event(unsigned int cpu, const struct speprof_event *event);
/** speprof_stats_handover() - a task of a session's cgroups came; @new: the SPU held another's program */
void speprof_stats_handover(unsigned int cpu, bool new);
void speprof_stats_snapshot(unsigned int cpu, u64 oldest, u64 start, u64 end);

#endif
