// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of the cost of sampling. A ring that exceeds a limit in one period is THROTTLED until the
 * next period. So the usage in any second never exceeds the limit by more than the limit for one
 * period.
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
		 "most windows that a CPU closes in a second, each with an interrupt; 0: no bound (2000)");

static unsigned long throttle_bytes = 64UL << 20;
module_param(throttle_bytes, ulong, 0644);
MODULE_PARM_DESC(throttle_bytes,
		 "most bytes that the SPU of a CPU writes in a second; 0: no bound (64 MiB)");

static unsigned int throttle_commands = 100;
module_param(throttle_commands, uint, 0644);
MODULE_PARM_DESC(throttle_commands,
		 "most commands in a second that interrupt CPUs, for each ring and for each session; "
		 "0: no bound (100)");

/* usage of each CPU by all rings; used on the CPU with interrupts off */
static DEFINE_PER_CPU(struct speprof_throttle_usage, throttles);

static bool exceeds_limit(u64 used, u64 each_second)
{
	return each_second && used > div_u64(each_second, PERIODS_PER_SECOND);
}

/* Return SPEPROF_THROTTLE_* if a limit is exceeded, or 0. */
static u32 usage_charge(struct speprof_throttle_usage *throttle, u64 now, u32 interrupts, u64 bytes,
			const struct speprof_throttle_limits *bound)
{
	/*
	 * The difference can be negative: a window of a parked ring may end before the period
	 * begins.
	 */
	if ((s64)(now - throttle->start) >= PERIOD_NS)
		*throttle = (struct speprof_throttle_usage){ .start = now };
	throttle->interrupts += interrupts;
	throttle->bytes += bytes;
	if (exceeds_limit(throttle->interrupts, READ_ONCE(bound->interrupts)))
		return SPEPROF_THROTTLE_INTERRUPTS;
	return exceeds_limit(throttle->bytes, READ_ONCE(bound->bytes)) ? SPEPROF_THROTTLE_BYTES : 0;
}

u64 speprof_throttle_charge(u64 now, u32 interrupts, u64 bytes,
			    const struct speprof_throttle_limits *bound,
			    struct speprof_throttle_usage *own, u32 *ret_cause)
{
	const struct speprof_throttle_limits cpu_bound = { READ_ONCE(throttle_interrupts),
							   READ_ONCE(throttle_bytes) };
	struct speprof_throttle_usage *throttle = this_cpu_ptr(&throttles);
	u32 cause = usage_charge(own, now, interrupts, bytes, bound);
	u64 until = cause ? own->start + PERIOD_NS : 0;
	u32 cpu_cause = usage_charge(throttle, now, interrupts, bytes, &cpu_bound);

	if (cpu_cause) {
		cause = cpu_cause;
		until = max(until, throttle->start + PERIOD_NS);
	}
	*ret_cause = cause;
	return until;
}

int speprof_command_bucket_take_token(struct speprof_command_bucket *bucket, u64 now)
{
	unsigned int each_second = READ_ONCE(throttle_commands);
	s64 full_at = atomic64_read(&bucket->full_at), next;

	if (!each_second)
		return 0;
	do {
		next = max_t(s64, full_at, now) + div_u64(NSEC_PER_SEC, each_second);
		if (next > (s64)(now + NSEC_PER_SEC))
			return -EAGAIN;
	} while (!atomic64_try_cmpxchg(&bucket->full_at, &full_at, next));
	return 0;
}
