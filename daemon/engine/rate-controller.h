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

/* Of machine CPU time, for &rate_controller_config.overhead: 1 % is 1000. */
#define RATE_CONTROLLER_WHOLE 100000

/**
 * struct rate_controller_config
 * @nominal_ns: mean time between samples of a busy CPU that is asked for
 * @overhead: part of the machine's CPU time, of RATE_CONTROLLER_WHOLE; 0: no bound
 * @rate: close the loop over the rate: an interval counts operations, and how many a
 *	nanosecond has is not known (hardware)
 * @filtered: the SPU leaves out some of what it samples: a low rate says nothing
 * @single: all CPUs have the interval of the dearest, as the source has but one
 */
struct rate_controller_config {
	u64 nominal_ns;
	u32 overhead;
	bool rate;
	bool filtered;
	bool single;
};

/**
 * struct rate_controller_cpu - what a CPU did in a period
 * @busy_ns: not idle
 * @handling_ns: spent on its SPU: interrupts, switches
 * @interrupts: of its SPU
 * @samples: taken
 * @bytes: of them, by which it shares in the cost of draining
 * @offline: it is not there, or offline: of the machine's CPU time it has none to spend
 */
struct rate_controller_cpu {
	u64 busy_ns;
	u64 handling_ns;
	u64 interrupts;
	u64 samples;
	u64 bytes;
	bool offline;
};

/**
 * struct rate_controller_drain - what the drain threads did in a period
 * @ns: CPU time that they spent on draining
 * @bytes: that they drained in this time. Windows that a call drained are not among them
 */
struct rate_controller_drain {
	u64 ns;
	u64 bytes;
};

/**
 * struct rate_controller_scale - what a CPU has of the interval
 * @scale: by what it is multiplied for the cost, of RATE_CONTROLLER_ONE
 * @demand: bytes a second that it would have at a @scale of RATE_CONTROLLER_ONE, smoothed
 * @cost: of the last periods, smoothed, of RATE_CONTROLLER_WHOLE of this CPU
 * @fixed: the part of @cost that no interval lowers
 * @handling: cost of its SPU's interrupts and switches
 * @interrupts, @bytes: that it may come to in a second, powers of two; 0: no bound
 * @cheap: periods in a row in which it could have had a shorter one
 * @offline: as of the last period; begins anew when it comes
 */
struct rate_controller_scale {
	u64 scale;
	double demand;
	u64 cost;
	u64 fixed;
	struct cost_fit handling;
	u64 interrupts;
	u64 bytes;
	u32 cheap;
	bool offline;
};

enum rate_change {
	RATE_CONTROLLER_STAYS,
	RATE_CONTROLLER_RATE, /* more or fewer samples than asked for */
	RATE_CONTROLLER_OVERHEAD, /* more, or much less, than sampling may cost */
};

/**
 * struct rate_controller
 * @rate_scale: by what the nominal interval is multiplied, of RATE_CONTROLLER_ONE
 * @cpu: @cpus of them, the caller's
 * @online: of these, how many are there
 * @cost: of the last periods, smoothed, of RATE_CONTROLLER_WHOLE of the machine
 * @fixed: the part of @cost that no interval lowers
 * @drain: cost of the drain threads
 * @rate: of the last period's busiest CPU, samples a second of its busy time, had it not been
 *	held back; 0: none was
 * @off: periods in a row in which the rate was off
 * @exhausted: sampling costs more than it may, and a longer interval would not help
 */
struct rate_controller {
	struct rate_controller_config config;
	u64 rate_scale;
	struct rate_controller_scale *cpu;
	u32 cpus;
	u32 online;
	u64 cost;
	u64 fixed;
	struct cost_fit drain;
	u64 rate;
	u32 off;
	bool exhausted;
};

#define RATE_CONTROLLER_ONE 1024

/** rate_controller_init() - at the nominal interval: one operation a nanosecond; @cpu is borrowed */
void rate_controller_init(struct rate_controller *rate_controller,
			  const struct rate_controller_config *config,
			  struct rate_controller_scale *cpu, u32 cpus);

/** rate_controller_change() - another configuration; what was found out of the machine stays */
void rate_controller_change(struct rate_controller *rate_controller,
			    const struct rate_controller_config *config);

/** rate_controller_interval() - of CPUs that cost little, ns */
u64 rate_controller_interval(const struct rate_controller *rate_controller);

/** rate_controller_interval_of() - of one CPU */
u64 rate_controller_interval_of(const struct rate_controller *rate_controller, u32 cpu);

/** rate_controller_limited_cpus() - how many CPUs have a longer one */
u32 rate_controller_limited_cpus(const struct rate_controller *rate_controller);

/**
 * rate_controller_step() - a period is over
 * @cpu: of each CPU
 * @drain: of all drain threads
 * @period_ns: length of the period
 */
enum rate_change rate_controller_step(struct rate_controller *rate_controller,
				      const struct rate_controller_cpu *cpu,
				      const struct rate_controller_drain *drain, u64 period_ns);

#endif
