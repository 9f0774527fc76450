/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The throttle limits the cost of sampling: interrupts and bytes of each CPU, and the rate of
 * commands by which the user of a descriptor may interrupt CPUs.
 */
#ifndef SPEPROF_THROTTLE_H
#define SPEPROF_THROTTLE_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct speprof_throttle_limits - limits of one ring, in addition to the module's parameters
 * @interrupts: limit of interrupts on its CPU in a second; 0: the ring adds no limit
 * @bytes: limit of bytes that its SPU writes in a second; 0: the ring adds no limit
 */
struct speprof_throttle_limits {
	u64 interrupts;
	u64 bytes;
};

/**
 * struct speprof_throttle_usage - usage in the current period
 * @start: start of the period, CLOCK_MONOTONIC in ns
 * @interrupts: interrupts since then
 * @bytes: bytes since then
 */
struct speprof_throttle_usage {
	u64 start;
	u64 interrupts;
	u64 bytes;
};

/**
 * speprof_throttle_charge() - charge a closed window to this CPU and to its ring
 * @now: CLOCK_MONOTONIC in ns
 * @interrupts: 1 to charge a window; 0 to check the limits without charging
 * @bytes: bytes that the SPU wrote
 * @bound: limits of the ring; other CPUs may change them concurrently
 * @own: usage of the ring; zeroed at first
 * @ret_cause: SPEPROF_THROTTLE_*, if a bound is exceeded
 *
 * Context: on the CPU of the ring, with interrupts off.
 * Return: 0 if no limit is exceeded; otherwise the time from which the ring may sample again,
 * CLOCK_MONOTONIC in ns.
 */
u64 speprof_throttle_charge(u64 now, u32 interrupts, u64 bytes,
			    const struct speprof_throttle_limits *bound,
			    struct speprof_throttle_usage *own, u32 *ret_cause);

/**
 * struct speprof_command_bucket - a token bucket that limits the commands of a session or a ring
 * @full_at: time at which the bucket is full, CLOCK_MONOTONIC in ns; initially 0
 */
struct speprof_command_bucket {
	atomic64_t full_at;
};

/**
 * speprof_command_bucket_take_token() - take one token
 * @bucket: the bucket
 * @now: CLOCK_MONOTONIC in ns
 *
 * The module parameter throttle_commands is both the capacity and the tokens added in a second.
 *
 * Context: any; takes no lock.
 * Return: 0, or -EAGAIN if the bucket is empty.
 */
int speprof_command_bucket_take_token(struct speprof_command_bucket *bucket, u64 now);

#endif
