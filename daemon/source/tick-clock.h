/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The generic timer that Timestamp packets of a stock kernel carry (PMSCR.PCT virtual). */
#ifndef SPEPROF_TICK_CLOCK_H
#define SPEPROF_TICK_CLOCK_H

#include "source.h"

/**
 * tick_clock_now() - how its count goes with CLOCK_MONOTONIC at this moment
 *
 * Return: the pair; on other architectures, whose counter it is not, an unknown clock.
 */
struct tick_clock tick_clock_now(void);

/**
 * tick_clock_skew() - by how much @clock and CLOCK_MONOTONIC differ at this moment
 *
 * Return: ns, at least 1; 0 if that is not known.
 */
u32 tick_clock_skew(const struct tick_clock *clock);

/** tick_clock_scale() - @hz ticks a second, of which @ticks are @ns now */
struct tick_clock tick_clock_scale(u64 hz, u64 ticks, u64 ns);

#endif
