// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU may spend on its SPU. Periods are of fixed length: what is over the bound in one
 * rests until the next, so no second sees more than its bound and one period's worth.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/time64.h>

#include <linux/speprof.h>

#include "throttle.h"

#define PERIODS_PER_SECOND 10
#define PERIOD_NS	   (NSEC_PER_SEC / PERIODS_PER_SECOND)

static unsigned int throttle_interrupts = 2000;
module_param(throttle_interrupts, uint, 0644);
MODULE_PARM_DESC(throttle_interrupts,
		 "SPU interrupts that a CPU takes in a second at most; 0: any number (2000)");

static unsigned long throttle_bytes = 64UL << 20;
module_param(throttle_bytes, ulong, 0644);
MODULE_PARM_DESC(throttle_bytes,
		 "bytes that the SPU of a CPU writes in a second at most; 0: any number (64 MiB)");

/*
 * struct throttle - a CPU's period; used there with interrupts off
 * @start: of the period
 */
struct throttle {
	u64 start;
	u64 interrupts;
	u64 bytes;
};

static DEFINE_PER_CPU(struct throttle, throttles);

static bool is_over(u64 spent, u64 each_second)
{
	return each_second && spent > div_u64(each_second, PERIODS_PER_SECOND);
}

u64 throttle_charge(u64 now, u32 interrupts, u64 bytes, const struct throttle_bound *bound,
		    u32 *ret_cause)
{
	struct throttle *throttle = this_cpu_ptr(&throttles);

	/* A window that was open while its ring was parked may have ended before the period began. */
	if ((s64)(now - throttle->start) >= PERIOD_NS)
		*throttle = (struct throttle){ .start = now };
	throttle->interrupts += interrupts;
	throttle->bytes += bytes;
	if (is_over(throttle->interrupts, READ_ONCE(throttle_interrupts)) ||
	    is_over(throttle->interrupts, READ_ONCE(bound->interrupts)))
		*ret_cause = SPEPROF_THROTTLE_INTERRUPTS;
	else if (is_over(throttle->bytes, READ_ONCE(throttle_bytes)) ||
		 is_over(throttle->bytes, READ_ONCE(bound->bytes)))
		*ret_cause = SPEPROF_THROTTLE_BYTES;
	else
		return 0;
	return throttle->start + PERIOD_NS;
}
