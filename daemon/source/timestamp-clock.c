// SPDX-License-Identifier: LGPL-2.1-or-later
#include "timestamp-clock.h"

#include <time.h>

/*
 * An interrupt between the two readings looks like a skew: measure up to SKEW_TRIES times, until
 * the result is at most SKEW_CLOSE_NS.
 */
#define SKEW_TRIES    3
#define SKEW_CLOSE_NS 2000

struct timestamp_clock timestamp_clock_make(u64 hz, u64 ticks, u64 ns)
{
	struct timestamp_clock clock = { .shift = 32 };
	u64 mult;

	if (!hz)
		return (struct timestamp_clock){ 0 };
	/* Find the largest shift for which the multiplier fits into 32 bits. */
	do {
		clock.shift--;
		mult = (u64)(((unsigned __int128)1000000000 << clock.shift) / hz);
	} while (mult > UINT32_MAX);
	clock.mult = (u32)mult;
	clock.zero = ns - (u64)((unsigned __int128)ticks * clock.mult >> clock.shift);
	return clock;
}

#ifdef __aarch64__
static u64 read_clocks(u64 *ret_ns)
{
	struct timespec ts;
	u64 ticks;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	/* Without ISB the counter could be read before the clock (D12.2.1). */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	*ret_ns = (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
	return ticks;
}

struct timestamp_clock timestamp_clock_read(void)
{
	u64 hz, ns, ticks;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	ticks = read_clocks(&ns);
	return timestamp_clock_make(hz, ticks, ns);
}

u32 timestamp_clock_measure_skew(const struct timestamp_clock *clock)
{
	u64 min = UINT32_MAX, ns, ticks, skew;

	if (!clock->mult)
		return 0;
	for (int i = 0; i < SKEW_TRIES && min > SKEW_CLOSE_NS; i++) {
		ticks = read_clocks(&ns);
		skew = clock->zero + (u64)((unsigned __int128)ticks * clock->mult >> clock->shift) -
		       ns;
		if ((s64)skew < 0)
			skew = -skew;
		min = skew < min ? skew : min;
	}
	return min ? (u32)min : 1;
}
#else
u32 timestamp_clock_measure_skew(const struct timestamp_clock *clock __attribute__((unused)))
{
	return 0;
}

struct timestamp_clock timestamp_clock_read(void)
{
	return (struct timestamp_clock){ 0 };
}
#endif
