// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tick-clock.h"

#include <time.h>

struct tick_clock tick_clock_scale(u64 hz, u64 ticks, u64 ns)
{
	struct tick_clock clock = { .shift = 32 };
	u64 mult;

	if (!hz)
		return (struct tick_clock){ 0 };
	/* The largest shift whose multiplier still fits 32 bits. */
	do {
		clock.shift--;
		mult = (u64)(((unsigned __int128)1000000000 << clock.shift) / hz);
	} while (mult > UINT32_MAX);
	clock.mult = (u32)mult;
	clock.zero = ns - (u64)((unsigned __int128)ticks * clock.mult >> clock.shift);
	return clock;
}

#ifdef __aarch64__
struct tick_clock tick_clock_now(void)
{
	struct timespec ts;
	u64 hz, ticks;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	/* isb: the counter may be read ahead of what stands before it (D12.2.1). */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return tick_clock_scale(hz, ticks, (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec);
}
#else
struct tick_clock tick_clock_now(void)
{
	return (struct tick_clock){ 0 };
}
#endif
