/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU clock: a perf event that ticks on one CPU while it is busy, and the
 * ring in which the kernel says what each tick interrupted.
 */
#ifndef SPEPROF_CPU_CLOCK_H
#define SPEPROF_CPU_CLOCK_H

#include "codec/env.h"
#include "perf-ring.h"

/* What the kernel's timer holds for a period (perf_swevent_init_hrtimer). */
#define CPU_CLOCK_PERIOD_MIN 10000

/**
 * struct cpu_clock_config
 * @period_ns: from tick to tick, at least CPU_CLOCK_PERIOD_MIN
 * @ring_most: of its ring, bytes, a power of two, 64 KiB at least; 0 for 1 MiB
 * @kernel, @user: which ticks are wanted, by the mode they interrupt
 */
struct cpu_clock_config {
	u64 period_ns;
	u32 ring_most;
	bool kernel;
	bool user;
};

/** struct cpu_clock - of one CPU; fields are private but for @fd, -1 while closed */
struct cpu_clock {
	struct perf_ring ring;
	int fd;
};

#define CPU_CLOCK_INIT ((struct cpu_clock){ .fd = -1 })

enum cpu_clock_type {
	CPU_CLOCK_TICK,
	CPU_CLOCK_LOST, /* the ring was full: ticks before this were lost */
	CPU_CLOCK_THROTTLE, /* the kernel stopped the clock, at more ticks than it allows */
	CPU_CLOCK_UNTHROTTLE,
};

/**
 * struct cpu_clock_event - what the ring holds
 * @time_ns: CLOCK_MONOTONIC
 * @pc: of a tick: what was interrupted
 * @tid: of a tick: the task, as /proc of this process's PID namespace names it; 0 or
 *	-1 if it is not to be seen there or was gone
 * @el: of a tick: 0 user, 1 kernel
 * @type: &enum cpu_clock_type
 */
struct cpu_clock_event {
	u64 time_ns;
	u64 pc;
	s32 tid;
	u8 el;
	u8 type;
};

/**
 * cpu_clock_open() - the clock of @cpu, stopped
 * @ret_reason: on failure, one static sentence that says why
 *
 * Return: 0, or the negative errno of perf_event_open() or mmap(); -ENODEV if
 * @cpu is offline.
 */
int cpu_clock_open(struct cpu_clock *clock, u32 cpu, const struct cpu_clock_config *config,
		   const char **ret_reason);

/** cpu_clock_close() - may be called on a closed one */
void cpu_clock_close(struct cpu_clock *clock);

int cpu_clock_start(struct cpu_clock *clock);
void cpu_clock_stop(struct cpu_clock *clock);

/**
 * cpu_clock_begin() - see what is in the ring now
 *
 * Return: whether the ring was full, so that ticks after the last one in it
 * may be lost already.
 */
bool cpu_clock_begin(struct cpu_clock *clock);

/** cpu_clock_next() - the next event seen by cpu_clock_begin(); false after the last */
bool cpu_clock_next(struct cpu_clock *clock, struct cpu_clock_event *ret_event);

/** cpu_clock_end() - give the room back */
void cpu_clock_end(struct cpu_clock *clock);

/** cpu_clock_running() - ns the clock was counting; stands still once its CPU was offline */
u64 cpu_clock_running(const struct cpu_clock *clock);

#endif
