/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes sampling intervals with two control loops. The first adjusts the rate of samples to
 * SamplesPerSecond=, with one interval for all CPUs. The second lowers the cost below Overhead=,
 * for each CPU separately: the interval of a CPU with a low cost does not change. This file only
 * computes; the caller measures and applies.
 */
#ifndef SPEPROF_RATE_CONTROLLER_H
#define SPEPROF_RATE_CONTROLLER_H

#include "cost-fit.h"
#include "codec/env.h"

/* The whole CPU time of the machine, for &rate_controller_config.overhead; 1 % is 1000. */
#define RATE_CONTROLLER_WHOLE 100000

/**
 * struct rate_controller_config - goals
 * @nominal_ns: mean time between samples of a busy CPU that the user set
 * @overhead: allowed cost, in units of 1/RATE_CONTROLLER_WHOLE; 0: no limit
 * @rate: control the rate of samples. Set for hardware: its interval counts operations, but the
 *	number of operations a nanosecond is unknown
 * @filtered: the SPU filters samples, so a low rate is not corrected
 * @single: the source has one interval for all CPUs: the longest that any CPU needs
 */
struct rate_controller_config {
	u64 nominal_ns;
	u32 overhead;
	bool rate;
	bool filtered;
	bool single;
};

/**
 * struct rate_controller_cpu - measurements of a CPU in a period
 * @busy_ns: time in which it was not idle
 * @handling_ns: CPU time for its SPU: interrupts and context switches
 * @interrupts: number of interrupts of its SPU
 * @samples: number of samples that it took
 * @bytes: bytes of these samples; the cost of draining is divided among CPUs in proportion to them
 * @offline: it does not exist or is offline, so it adds nothing to the machine's CPU time
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
 * struct rate_controller_drain - measurements of the drain threads in a period
 * @ns: CPU time that they spent on draining
 * @bytes: bytes that they drained in this time, without windows that were drained because of a
 *	D-Bus call
 */
struct rate_controller_drain {
	u64 ns;
	u64 bytes;
};

/**
 * struct rate_controller_scale - state of the cost loop for a CPU
 * @scale: factor of its interval, in units of 1/RATE_CONTROLLER_ONE
 * @demand: bytes a second that the CPU would write with a factor of 1, smoothed
 * @cost: cost of the last periods, smoothed; in units of 1/RATE_CONTROLLER_WHOLE of this CPU's time
 * @fixed: the part of @cost that no interval lowers
 * @handling: cost of interrupts and context switches
 * @interrupts: limit of interrupts a second, a power of two; 0: no limit
 * @bytes: limit of bytes a second, a power of two; 0: no limit
 * @cheap: consecutive periods in which a shorter interval would have been allowed
 * @offline: the CPU was offline in the last period; its state is reset when it comes online
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

/**
 * enum rate_change - reason for the change of an interval
 * @RATE_CONTROLLER_STAYS: the interval did not change
 * @RATE_CONTROLLER_RATE: there were more or fewer samples than the user set
 * @RATE_CONTROLLER_OVERHEAD: the cost was above the limit, or far below it
 */
enum rate_change {
	RATE_CONTROLLER_STAYS,
	RATE_CONTROLLER_RATE,
	RATE_CONTROLLER_OVERHEAD,
};

/**
 * struct rate_controller - state of both loops
 * @config: the goals
 * @rate_scale: factor of the nominal interval, in units of 1/RATE_CONTROLLER_ONE
 * @cpu: state of each CPU, @cpus entries; borrowed
 * @cpus: CPU numbers are below this
 * @online: number of CPUs that are online
 * @measured: a period has ended, so @cost is known
 * @cost: cost of the last periods, smoothed; in units of 1/RATE_CONTROLLER_WHOLE of the machine's
 *	CPU time
 * @fixed: the part of @cost that no interval lowers
 * @drain: cost of the drain threads
 * @rate: samples in a busy second of the busiest CPU of the last period, as if it had not been
 *	limited; 0: no CPU was busy enough
 * @off: consecutive periods in which the rate was wrong
 * @exhausted: the cost is above the limit, and a longer interval would not lower it enough
 */
struct rate_controller {
	struct rate_controller_config config;
	u64 rate_scale;
	struct rate_controller_scale *cpu;
	u32 cpus;
	u32 online;
	bool measured;
	u64 cost;
	u64 fixed;
	struct cost_fit drain;
	u64 rate;
	u32 off;
	bool exhausted;
};

/* The factor 1 of an interval. */
#define RATE_CONTROLLER_ONE 1024

/**
 * rate_controller_init() - start at the nominal interval
 * @rate_controller: initialized
 * @config: the goals; copied
 * @cpu: array of @cpus entries; borrowed
 * @cpus: CPU numbers are below this
 */
void rate_controller_init(struct rate_controller *rate_controller,
			  const struct rate_controller_config *config,
			  struct rate_controller_scale *cpu, u32 cpus);

/** rate_controller_change() - replace the goals; keep the measurements of earlier periods */
void rate_controller_change(struct rate_controller *rate_controller,
			    const struct rate_controller_config *config);

/**
 * rate_controller_get_interval() - return the interval in ns on CPUs that are not limited by their
 * cost
 */
u64 rate_controller_get_interval(const struct rate_controller *rate_controller);

/** rate_controller_get_cpu_interval() - return the interval in ns on @cpu */
u64 rate_controller_get_cpu_interval(const struct rate_controller *rate_controller, u32 cpu);

/**
 * rate_controller_count_limited_cpus() - count the CPUs that have a longer interval because of
 * their cost
 */
u32 rate_controller_count_limited_cpus(const struct rate_controller *rate_controller);

/**
 * rate_controller_step() - compute intervals from the measurements of a period
 * @rate_controller: the state
 * @cpu: measurements of each CPU in the period
 * @drain: measurements of the drain threads in the period
 * @period_ns: length of the period in nanoseconds; not 0
 *
 * Return: the reason for the change of an interval, or RATE_CONTROLLER_STAYS.
 */
enum rate_change rate_controller_step(struct rate_controller *rate_controller,
				      const struct rate_controller_cpu *cpu,
				      const struct rate_controller_drain *drain, u64 period_ns);

#endif
