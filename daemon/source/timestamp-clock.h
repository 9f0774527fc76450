/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The generic timer, as the source of Timestamp packets: the driver of Linux sets PMSCR_EL1.PCT to
 * the virtual counter.
 */
#ifndef SPEPROF_TIMESTAMP_CLOCK_H
#define SPEPROF_TIMESTAMP_CLOCK_H

#include "source.h"

/**
 * timestamp_clock_read() - read the virtual counter and CLOCK_MONOTONIC together
 *
 * Return: the conversion between the two; on architectures other than arm64 the conversion is
 * unknown.
 */
struct timestamp_clock timestamp_clock_read(void);

/**
 * timestamp_clock_measure_skew() - measure the difference between @clock and CLOCK_MONOTONIC
 *
 * Return: the absolute difference in ns, at least 1; 0: unknown.
 */
u32 timestamp_clock_measure_skew(const struct timestamp_clock *clock);

/**
 * timestamp_clock_make() - compute a conversion from one pair of readings
 * @hz: ticks a second; 0: the conversion is unknown
 * @ticks: reading of the counter
 * @ns: reading of the clock at the same time
 */
struct timestamp_clock timestamp_clock_make(u64 hz, u64 ticks, u64 ns);

#endif
