/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often to sample: two loops over the interval. The true rate of samples is brought to
 * what SamplesPerSecond= asks for, and what sampling costs below what Overhead= allows.
 * Figures come in, an interval goes out; clocks and sources are the caller's.
 */
#ifndef SPEPROF_GOVERNOR_H
#define SPEPROF_GOVERNOR_H

#include "env.h"

/* Of machine CPU time, for &governor_config.overhead: 1 % is 1000. */
#define GOVERNOR_WHOLE 100000

/**
 * struct governor_config
 * @nominal_ns: mean time between samples of a busy CPU that is asked for
 * @overhead: part of the machine's CPU time, of GOVERNOR_WHOLE; 0: no bound
 * @rate: close the loop over the rate: an interval counts operations, and how many a
 *	nanosecond has is not known (hardware)
 * @filtered: the SPU leaves out some of what it samples: a low rate says nothing
 */
struct governor_config {
	u64 nominal_ns;
	u32 overhead;
	bool rate;
	bool filtered;
};

/**
 * struct governor_cpu - what a CPU did in a period
 * @busy_ns: not idle
 * @handling_ns: spent on its SPU: interrupts, switches
 * @samples: taken
 */
struct governor_cpu {
	u64 busy_ns;
	u64 handling_ns;
	u64 samples;
};

enum governor_why {
	GOVERNOR_STAYS,
	GOVERNOR_RATE, /* more or fewer samples than asked for */
	GOVERNOR_OVERHEAD, /* more, or much less, than sampling may cost */
};

/**
 * struct governor
 * @rate_scale, @cost_scale: by what the nominal interval is multiplied, of GOVERNOR_ONE
 * @cost: of the last periods, smoothed, of GOVERNOR_WHOLE
 * @rate: of the last period's busiest CPU, samples a second of its busy time; 0: none was
 * @off, @cheap: periods in a row in which the rate was off, the cost low
 * @exhausted: the interval is as long as it gets, and sampling costs too much
 */
struct governor {
	struct governor_config config;
	u64 rate_scale;
	u64 cost_scale;
	u64 cost;
	u64 rate;
	u32 off;
	u32 cheap;
	bool exhausted;
};

#define GOVERNOR_ONE 1024

/** governor_init() - at the nominal interval: one operation a nanosecond */
void governor_init(struct governor *governor, const struct governor_config *config);

/** governor_change() - another configuration; what was found out of the machine stays */
void governor_change(struct governor *governor, const struct governor_config *config);

/** governor_interval() - in force, ns */
u64 governor_interval(const struct governor *governor);

/**
 * governor_step() - a period is over
 * @cpu: @cpus of them
 * @daemon_ns: CPU time of this process
 * @period_ns: length of the period
 */
enum governor_why governor_step(struct governor *governor, const struct governor_cpu *cpu, u32 cpus,
				u64 daemon_ns, u64 period_ns);

#endif
