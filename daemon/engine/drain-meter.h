/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU time that one drain thread spends on draining, from before it waits for its rings until
 * their windows are counted. Calls of the bus, task events and checkpoints are left out: a
 * longer interval does not lower their cost, and other users cause them.
 */
#ifndef SPEPROF_DRAIN_METER_H
#define SPEPROF_DRAIN_METER_H

#include <time.h>

#include "codec/env.h"
#include "util/time.h"

/**
 * struct drain_meter - of one thread, which alone writes it
 * @began_ns: CPU time of the thread when the measured section began
 * @ns: CPU time of all sections so far
 * @bytes: that windows held that were drained in them
 */
struct drain_meter {
	u64 began_ns;
	u64 ns;
	u64 bytes;
};

/** drain_meter_begin() - begin a section, of the calling thread; @meter may be NULL */
static inline void drain_meter_begin(struct drain_meter *meter)
{
	if (meter)
		meter->began_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/** drain_meter_end() - add the section to the sum; @meter may be NULL */
static inline void drain_meter_end(struct drain_meter *meter)
{
	if (meter)
		meter->ns += time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - meter->began_ns;
}

#endif
