/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A clock that a test stops, so that no time limit expires because the machine is slow. The test is
 * linked with -Wl,--wrap=clock_gettime.
 */
#ifndef SPEPROF_TEST_HELD_CLOCK_H
#define SPEPROF_TEST_HELD_CLOCK_H

#include <stdbool.h>
#include <time.h>

/* the clocks CLOCK_REALTIME to CLOCK_TAI; CPU-time clocks of processes are never stopped */
#define HELD_CLOCKS 12

int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);

static struct {
	bool is_held;
	struct timespec times[HELD_CLOCKS];
} held_clock;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	if (!held_clock.is_held || clock < 0 || clock >= HELD_CLOCKS)
		return __real_clock_gettime(clock, ret_time);
	*ret_time = held_clock.times[clock];
	return 0;
}

/* Stop all clocks at the present time. It is a setup function of cmocka. */
static inline int held_clock_stop(void **state)
{
	(void)state;
	for (clockid_t i = 0; i < HELD_CLOCKS; i++)
		__real_clock_gettime(i, &held_clock.times[i]);
	held_clock.is_held = true;
	return 0;
}

/* Let the clocks run. It is a teardown function of cmocka. */
static inline int held_clock_run(void **state)
{
	(void)state;
	held_clock.is_held = false;
	return 0;
}

/* Advance the stopped clocks by @ns nanoseconds. */
static inline void held_clock_advance(long ns)
{
	for (clockid_t i = 0; i < HELD_CLOCKS; i++) {
		struct timespec *t = &held_clock.times[i];

		t->tv_nsec += ns % 1000000000;
		t->tv_sec += ns / 1000000000 + t->tv_nsec / 1000000000;
		t->tv_nsec %= 1000000000;
	}
}

#endif
