// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for hrtimer_setup(), which takes the callback. With the older hrtimer_init(), the caller
 * assigns the callback to the timer.
 */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*expired)(struct hrtimer *timer));
void probe(struct hrtimer *timer, enum hrtimer_restart (*expired)(struct hrtimer *timer))
{
#if NEW
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = expired;
#endif
}
