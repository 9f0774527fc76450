/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the CPU time that one drain thread spends on draining: from the poll() of its rings
 * until their windows are counted. D-Bus calls, task events and checkpoints are not measured,
 * because a longer sampling interval does not lower their cost.
 */
#ifndef SPEPROF_DRAIN_METER_H
#define SPEPROF_DRAIN_METER_H

#include <time.h>

#include "codec/env.h"
#include "util/time.h"

/**
 * struct drain_meter - the meter of one drain thread; no other thread writes it
 * @began_ns: CPU time of the thread when the measured section began
 * @ns: CPU time of all sections so far
 * @bytes: bytes of the windows that were drained in these sections
 */
struct drain_meter {
	u64 began_ns;
	u64 ns;
	u64 bytes;
};

/** drain_meter_begin() - begin to measure a section of the calling thread; @meter may be NULL */
static inline void drain_meter_begin(struct drain_meter *meter)
{
	if (meter)
		meter->began_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/** drain_meter_end() - end the section and add its time to the sum; @meter may be NULL */
static inline void drain_meter_end(struct drain_meter *meter)
{
	if (meter)
		meter->ns += time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - meter->began_ns;
}

#endif
