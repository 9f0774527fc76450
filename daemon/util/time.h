/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clocks in nanoseconds. */
#ifndef SPEPROF_TIME_H
#define SPEPROF_TIME_H

#include <time.h>

#include "codec/env.h"

#define NS_PER_SECOND 1000000000ULL

/** time_clock_ns() - return the time of @clock in nanoseconds; any thread */
static inline u64 time_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * NS_PER_SECOND + (u64)ts.tv_nsec;
}

/** time_now_ns() - return CLOCK_MONOTONIC in nanoseconds; any thread */
static inline u64 time_now_ns(void)
{
	return time_clock_ns(CLOCK_MONOTONIC);
}

#endif
