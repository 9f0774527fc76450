/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU clock: a perf event that ticks on one CPU while the CPU is busy. For each tick, the ring
 * of the event contains the time, and the task and PC that the tick interrupted.
 */
#ifndef SPEPROF_CPU_CLOCK_H
#define SPEPROF_CPU_CLOCK_H

#include "codec/env.h"
#include "perf-event.h"

/* The shortest period of the kernel's timer, in ns (perf_swevent_init_hrtimer()). */
#define CPU_CLOCK_PERIOD_MIN 10000

/**
 * struct cpu_clock_config - the settings of a CPU clock
 * @period_ns: time between two ticks, ns, at least CPU_CLOCK_PERIOD_MIN
 * @ring_max: limit of the size of the ring in bytes, a power of two of at least 64 KiB; 0: 1 MiB
 * @kernel: tick in kernel mode
 * @user: tick in user mode
 */
struct cpu_clock_config {
	u64 period_ns;
	u32 ring_max;
	bool kernel;
	bool user;
};

/**
 * struct cpu_clock - the clock of one CPU
 * @ring: private
 * @fd: the perf event; -1: closed
 */
struct cpu_clock {
	struct perf_ring ring;
	int fd;
};

#define CPU_CLOCK_INIT ((struct cpu_clock){ .fd = -1 })

enum cpu_clock_type {
	CPU_CLOCK_TICK,
	CPU_CLOCK_LOST, /* the ring was full, and ticks before this event were lost */
	CPU_CLOCK_THROTTLE, /* the kernel stopped the clock because of too many ticks */
	CPU_CLOCK_UNTHROTTLE, /* the kernel started the clock again */
};

/**
 * struct cpu_clock_event - a tick, or another event of the clock
 * @time_ns: CLOCK_MONOTONIC
 * @pc: address that the tick interrupted
 * @tid: TID of the interrupted task in the PID namespace of this process; 0 or -1 if the task has
 *	no TID in that namespace, or has exited
 * @el: Exception level that the tick interrupted: 0 user, 1 kernel
 * @type: &enum cpu_clock_type; @pc, @tid and @el are valid for CPU_CLOCK_TICK only
 */
struct cpu_clock_event {
	u64 time_ns;
	u64 pc;
	s32 tid;
	u8 el;
	u8 type;
};

/**
 * cpu_clock_open() - open the clock of a CPU
 * @clock: the clock, stopped
 * @cpu: the CPU
 * @config: its settings
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -ENODEV if @cpu is offline; the negative errno of perf_event_open() or mmap().
 */
int cpu_clock_open(struct cpu_clock *clock, u32 cpu, const struct cpu_clock_config *config,
		   const char **ret_reason);

/** cpu_clock_close() - close a clock; does nothing if it is closed */
void cpu_clock_close(struct cpu_clock *clock);

/** cpu_clock_start() - start the clock; returns 0 or negative errno */
int cpu_clock_start(struct cpu_clock *clock);

/** cpu_clock_stop() - stop the clock; its ring can still be read */
void cpu_clock_stop(struct cpu_clock *clock);

/**
 * cpu_clock_begin_read() - start reading the events that are in the ring now
 *
 * Return: true if the ring is full: ticks after the last event in it may be lost already.
 */
bool cpu_clock_begin_read(struct cpu_clock *clock);

/**
 * cpu_clock_read_event() - read the next event; false after the last that cpu_clock_begin_read()
 * found
 */
bool cpu_clock_read_event(struct cpu_clock *clock, struct cpu_clock_event *ret_event);

/** cpu_clock_end_read() - free the space of all events that cpu_clock_begin_read() found */
void cpu_clock_end_read(struct cpu_clock *clock);

#endif
