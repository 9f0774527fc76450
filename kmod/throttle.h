/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU may spend on its SPU: interrupts and bytes, whoever they are for, and what of it
 * for one; and how often the holder of a descriptor may interrupt CPUs by commands.
 */
#ifndef SPEPROF_THROTTLE_H
#define SPEPROF_THROTTLE_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct speprof_throttle_bound - beside the module's parameters; 0: no more than those
 * @interrupts, @bytes: of a CPU, in a second
 */
struct speprof_throttle_bound {
	u64 interrupts;
	u64 bytes;
};

/**
 * struct speprof_throttle - what was spent in a period
 * @start: of the period
 */
struct speprof_throttle {
	u64 start;
	u64 interrupts;
	u64 bytes;
};

/**
 * speprof_throttle_charge() - account for a window that this CPU closed; interrupts off
 * @now: CLOCK_MONOTONIC, when it was
 * @interrupts: that it took: 1; 0: nothing was closed, the caller only asks
 * @bytes: that the SPU wrote
 * @bound: of whom it was for; may be written to meanwhile
 * @own: what they have spent, to which @bound applies; theirs on this CPU, zero at first
 * @ret_cause: SPEPROF_THROTTLE_*, if the CPU has to rest
 *
 * Return: when it may sample again; 0: at once.
 */
u64 speprof_throttle_charge(u64 now, u32 interrupts, u64 bytes,
			    const struct speprof_throttle_bound *bound,
			    struct speprof_throttle *own, u32 *ret_cause);

/**
 * struct speprof_command_bucket - the commands that a session or a ring has left
 * @full_at: CLOCK_MONOTONIC at which none is missing; zero at first
 */
struct speprof_command_bucket {
	atomic64_t full_at;
};

/**
 * speprof_command_bucket_draw() - draw one command from @bucket
 * @now: CLOCK_MONOTONIC in ns
 *
 * The module parameter throttle_commands says how many may be drawn at once, and as many come back
 * in each second. From any context; takes no lock.
 *
 * Return: 0; -EAGAIN: none is left.
 */
int speprof_command_bucket_draw(struct speprof_command_bucket *bucket, u64 now);

#endif
