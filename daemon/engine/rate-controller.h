/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often to sample: two loops over the interval. The true rate of samples is brought to
 * what SamplesPerSecond= asks for, on all CPUs alike, and what sampling costs below what
 * Overhead= allows, by CPU: who costs little pays for nobody else.
 * Figures come in, intervals go out; clocks and sources are the caller's.
 */
#ifndef SPEPROF_RATE_CONTROLLER_H
#define SPEPROF_RATE_CONTROLLER_H

#include "cost-fit.h"
#include "codec/env.h"

/* Of machine CPU time, for &governor_config.overhead: 1 % is 1000. */
#define GOVERNOR_WHOLE 100000

/**
 * struct governor_config
 * @nominal_ns: mean time between samples of a busy CPU that is asked for
 * @overhead: part of the machine's CPU time, of GOVERNOR_WHOLE; 0: no bound
 * @rate: close the loop over the rate: an interval counts operations, and how many a
 *	nanosecond has is not known (hardware)
 * @filtered: the SPU leaves out some of what it samples: a low rate says nothing
 * @single: all CPUs have the interval of the dearest, as the source has but one
 */
struct governor_config {
	u64 nominal_ns;
	u32 overhead;
	bool rate;
	bool filtered;
	bool single;
};

/**
 * struct governor_cpu - what a CPU did in a period
 * @busy_ns: not idle
 * @handling_ns: spent on its SPU: interrupts, switches
 * @interrupts: of its SPU
 * @samples: taken
 * @bytes: of them, by which it shares in the cost of draining
 * @away: it is not there, or offline: of the machine's CPU time it has none to spend
 */
struct governor_cpu {
	u64 busy_ns;
	u64 handling_ns;
	u64 interrupts;
	u64 samples;
	u64 bytes;
	bool away;
};

/**
 * struct governor_drain - what the drain threads did in a period
 * @ns: CPU time that they spent on draining
 * @bytes: that they drained in this time. Windows that a call drained are not among them
 */
struct governor_drain {
	u64 ns;
	u64 bytes;
};

/**
 * struct governor_scale - what a CPU has of the interval
 * @scale: by what it is multiplied for the cost, of GOVERNOR_ONE
 * @demand: bytes a second that it would have at a @scale of GOVERNOR_ONE, smoothed
 * @cost: of the last periods, smoothed, of GOVERNOR_WHOLE of this CPU
 * @fixed: the part of @cost that no interval lowers
 * @handling: cost of its SPU's interrupts and switches
 * @interrupts, @bytes: that it may come to in a second, powers of two; 0: no bound
 * @cheap: periods in a row in which it could have had a shorter one
 * @away: as of the last period; begins anew when it comes
 */
struct governor_scale {
	u64 scale;
	double demand;
	u64 cost;
	u64 fixed;
	struct cost_fit handling;
	u64 interrupts;
	u64 bytes;
	u32 cheap;
	bool away;
};

enum governor_why {
	GOVERNOR_STAYS,
	GOVERNOR_RATE, /* more or fewer samples than asked for */
	GOVERNOR_OVERHEAD, /* more, or much less, than sampling may cost */
};

/**
 * struct governor
 * @rate_scale: by what the nominal interval is multiplied, of GOVERNOR_ONE
 * @cpu: @cpus of them, the caller's
 * @online: of these, how many are there
 * @cost: of the last periods, smoothed, of GOVERNOR_WHOLE of the machine
 * @fixed: the part of @cost that no interval lowers
 * @drain: cost of the drain threads
 * @rate: of the last period's busiest CPU, samples a second of its busy time, had it not been
 *	held back; 0: none was
 * @off: periods in a row in which the rate was off
 * @exhausted: sampling costs more than it may, and a longer interval would not help
 */
struct governor {
	struct governor_config config;
	u64 rate_scale;
	struct governor_scale *cpu;
	u32 cpus;
	u32 online;
	u64 cost;
	u64 fixed;
	struct cost_fit drain;
	u64 rate;
	u32 off;
	bool exhausted;
};

#define GOVERNOR_ONE 1024

/** governor_init() - at the nominal interval: one operation a nanosecond; @cpu is borrowed */
void governor_init(struct governor *governor, const struct governor_config *config,
		   struct governor_scale *cpu, u32 cpus);

/** governor_change() - another configuration; what was found out of the machine stays */
void governor_change(struct governor *governor, const struct governor_config *config);

/** governor_interval() - of CPUs that cost little, ns */
u64 governor_interval(const struct governor *governor);

/** governor_interval_of() - of one CPU */
u64 governor_interval_of(const struct governor *governor, u32 cpu);

/** governor_held() - how many CPUs have a longer one */
u32 governor_held(const struct governor *governor);

/**
 * governor_step() - a period is over
 * @cpu: of each CPU
 * @drain: of all drain threads
 * @period_ns: length of the period
 */
enum governor_why governor_step(struct governor *governor, const struct governor_cpu *cpu,
				const struct governor_drain *drain, u64 period_ns);

#endif
