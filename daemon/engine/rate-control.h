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
 * struct govern
 * @next_ns: when the period ends, CLOCK_MONOTONIC
 * @began_ns, @began: when it began, and the meter of the drain threads then
 * @cpus: entries of the arrays, by number of CPU
 * @before, @now: totals at the beginning of the period and now; samples and bytes are of it
 * @tuned: by CPU, what its source was told
 * @single: the source has one interval for all
 * @why: of the last change
 * @pace: how often changes are told; @told_ns, @told_held: interval and CPUs held back as of then
 */
struct govern {
	struct governor governor;
	u64 next_ns;
	u64 began_ns;
	struct drain_meter began;
	u32 cpus;
	struct governor_cpu *before;
	struct governor_cpu *now;
	struct source_cost *costs;
	struct governor_scale *scales;
	struct source_tune *tuned;
	enum governor_why why;
	bool single;
	struct log_limit pace;
	u64 told_ns;
	u32 told_held;
};

/** govern_new() - of a machine whose CPUs have numbers below @cpus */
int govern_new(u32 cpus, struct govern **ret_govern);
struct govern *govern_free(struct govern *govern);

/** govern_window() - a window of the machine's session had so many samples */
static inline void govern_window(struct govern *govern, u32 cpu, u64 samples, u64 bytes)
{
	if (!govern || cpu >= govern->cpus)
		return;
	govern->now[cpu].samples += samples;
	govern->now[cpu].bytes += bytes;
}

/**
 * govern_set() - by what; for worker_call(), struct governor_config
 *
 * Its interval is the caller's, in force by now; 0: govern_asked().
 */
int govern_set(struct worker_state *state, void *arg);

/**
 * govern_follow() - somebody has said how often the machine's session is to sample, and that is in
 * force: it is what is governed from now on; for worker_call(), u64 of ns
 */
int govern_follow(struct worker_state *state, void *arg);

/** govern_again() - the machine's session has another source, which nobody has told anything */
void govern_again(struct worker_state *state);

/** govern_asked() - the interval that the machine's session was asked for the last time, ns */
u64 govern_asked(struct worker_state *state);

/** govern_tick() - at the end of a period, have the machine's session sample as it should */
void govern_tick(struct worker_state *state, u64 now_ns);

/** govern_header() - what was chosen, and what sampling costs; once @header says the interval */
void govern_header(const struct worker_state *state, struct view_header *header);

/** govern_describe() - for people, why the interval is what it is; "" where it is as asked for */
void govern_describe(const struct worker_state *state, char *ret, size_t size);

#endif
