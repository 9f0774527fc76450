/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The governor at work: measures what CPUs do and what sampling them costs, every some
 * seconds, and has the machine's session sample by what comes out. Of the worker's thread.
 */
#ifndef SPEPROF_RATE_CONTROL_H
#define SPEPROF_RATE_CONTROL_H

#include "rate-controller.h"
#include "source/source.h"
#include "util/log-limit.h"
#include "worker.h"

/**
 * struct rate_control
 * @next_ns: when the period ends, CLOCK_MONOTONIC
 * @began_ns, @began: when it began, and the meter of the drain threads then
 * @cpus: entries of the arrays, by number of CPU
 * @before, @now: totals at the beginning of the period and now; samples and bytes are of it
 * @tuned: by CPU, what its source was told
 * @single: the source has one interval for all
 * @why: of the last change
 * @pace: how often changes are told; @logged_ns, @logged_limited: interval and CPUs held back as of then
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

/** rate_control_new() - of a machine whose CPUs have numbers below @cpus */
int rate_control_new(u32 cpus, struct rate_control **ret_rate_control);
struct rate_control *rate_control_free(struct rate_control *rate_control);

/** rate_control_window() - a window of the machine's session had so many samples */
static inline void rate_control_window(struct rate_control *rate_control, u32 cpu, u64 samples,
				       u64 bytes)
{
	if (!rate_control || cpu >= rate_control->cpus)
		return;
	rate_control->now[cpu].samples += samples;
	rate_control->now[cpu].bytes += bytes;
}

/**
 * rate_control_configure() - by what; for worker_call(), struct rate_controller_config
 *
 * Its interval is the caller's, in force by now; 0: rate_control_target().
 */
int rate_control_configure(struct worker_state *state, void *arg);

/**
 * rate_control_set_target() - somebody has said how often the machine's session is to sample, and that is in
 * force: it is what is governed from now on; for worker_call(), u64 of ns
 */
int rate_control_set_target(struct worker_state *state, void *arg);

/** rate_control_reset() - the machine's session has another source, which nobody has told anything */
void rate_control_reset(struct worker_state *state);

/** rate_control_target() - the interval that the machine's session was asked for the last time, ns */
u64 rate_control_target(struct worker_state *state);

/** rate_control_tick() - at the end of a period, have the machine's session sample as it should */
void rate_control_tick(struct worker_state *state, u64 now_ns);

/** rate_control_header() - what was chosen, and what sampling costs; once @header says the interval */
void rate_control_header(const struct worker_state *state, struct view_header *header);

/** rate_control_describe() - for people, why the interval is what it is; "" where it is as asked for */
void rate_control_describe(const struct worker_state *state, char *ret, size_t size);

#endif
