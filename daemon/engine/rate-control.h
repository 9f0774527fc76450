/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rate control of the machine's session. Every few seconds rate_control_tick() measures the
 * activity of CPUs and the cost of sampling, and applies the intervals that rate-controller.h
 * computes.
 *
 * Context: the worker's thread.
 */
#ifndef SPEPROF_RATE_CONTROL_H
#define SPEPROF_RATE_CONTROL_H

#include "rate-controller.h"
#include "source/source.h"
#include "util/log-limit.h"
#include "worker.h"

/**
 * struct rate_control - state of the control
 * @rate_controller: the computation
 * @next_ns: end of the period, CLOCK_MONOTONIC
 * @began_ns: beginning of the period, CLOCK_MONOTONIC
 * @began: meter of the drain threads at the beginning of the period
 * @cpus: number of entries of each array; the arrays are indexed by CPU number
 * @before: totals at the beginning of the period
 * @now: totals now; samples and bytes count only the period
 * @costs: scratch memory for the costs that the source reports
 * @scales: memory for the state of each CPU in @rate_controller
 * @tuned: interval and limits that were applied to each CPU
 * @why: reason of the last change
 * @single: the source has one interval for all CPUs
 * @pace: limits the rate of log lines about changes
 * @logged_ns: interval at the last logged change
 * @logged_limited: number of CPUs with a longer interval at the last logged change
 */
struct rate_control {
	struct rate_controller rate_controller;
	u64 next_ns;
	u64 began_ns;
	struct drain_meter began;
	u32 cpus;
	struct rate_controller_cpu *before;
	struct rate_controller_cpu *now;
	struct source_cost *costs;
	struct rate_controller_scale *scales;
	struct source_tune *tuned;
	enum rate_change why;
	bool single;
	struct log_limit pace;
	u64 logged_ns;
	u32 logged_limited;
};

/** rate_control_new() - allocate rate control for CPU numbers below @cpus; returns 0 or -ENOMEM */
int rate_control_new(u32 cpus, struct rate_control **ret_rate_control);

/** rate_control_free() - free rate control; NULL is allowed; returns NULL */
struct rate_control *rate_control_free(struct rate_control *rate_control);

/**
 * rate_control_count_window() - count a window of the machine's session
 * @rate_control: NULL: does nothing
 * @cpu: CPU of the window; a drain thread counts only CPUs of its partition
 * @samples: number of samples in the window
 * @bytes: bytes of records in the window
 */
static inline void rate_control_count_window(struct rate_control *rate_control, u32 cpu,
					     u64 samples, u64 bytes)
{
	if (!rate_control || cpu >= rate_control->cpus)
		return;
	rate_control->now[cpu].samples += samples;
	rate_control->now[cpu].bytes += bytes;
}

/**
 * rate_control_configure() - set the goals of rate control
 * @state: the worker's
 * @arg: struct rate_controller_config. &rate_controller_config.nominal_ns already applies; if it is
 * 0, rate_control_get_target() is used
 *
 * Context: by worker_call(). Return: 0; -ENOENT: there is no rate control or no session.
 */
int rate_control_configure(struct worker_state *state, void *arg);

/**
 * rate_control_set_target() - restart rate control from an interval that a user has set
 * @state: state of the worker
 * @arg: u64, the interval in nanoseconds, which the source already uses. Rate control lengthens the
 *	interval only while the cost is too high
 *
 * Context: by worker_call(). Return: 0.
 */
int rate_control_set_target(struct worker_state *state, void *arg);

/**
 * rate_control_reapply() - apply all intervals again, because the machine's session has another
 * source
 */
void rate_control_reapply(struct worker_state *state);

/** rate_control_get_target() - return the nanoseconds between samples that the user set last */
u64 rate_control_get_target(struct worker_state *state);

/** rate_control_tick() - compute and apply intervals if a period has ended */
void rate_control_tick(struct worker_state *state, u64 now_ns);

/** rate_control_fill_header() - add the limited intervals and the cost to the header of a view */
void rate_control_fill_header(const struct worker_state *state, struct view_header *header);

/**
 * rate_control_describe() - write one sentence with the reason why the interval differs from the
 * setting; "" if it does not differ
 */
void rate_control_describe(const struct worker_state *state, char *ret, size_t size);

#endif
