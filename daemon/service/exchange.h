/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module is exchanged for another version of it while the daemon runs: it lets go of all
 * that would keep it loaded, and takes up what is loaded then. Figures and sessions stay; the
 * time in between is blind.
 */
#ifndef SPEPROF_EXCHANGE_H
#define SPEPROF_EXCHANGE_H

#include "config.h"
#include "worker.h"

/**
 * struct exchange - argument of both calls
 * @config: borrowed
 * @sources: out: how many of them are away
 * @at_ns: out: by CLOCK_MONOTONIC, since when none of them is there, or one is there again: what
 *	each of their CPUs is booked as blind for is that and little more
 * @cpus: out of exchange_renew(): how many came that were not sampled
 * @away: out of exchange_renew(): of how many sources nothing was sampled before it
 * @gone_ns: out of exchange_renew(): for how long nothing was sampled
 * @reason: out: why a call failed, for people
 */
struct exchange {
	const struct config *config;
	u32 sources;
	u64 at_ns;
	u32 cpus;
	u32 away;
	u64 gone_ns;
	char reason[512];
};

/**
 * exchange_let_go() - count what is in the module's rings, and close them; for worker_call()
 *
 * What is not the module's goes on. Where it fails, some may be away: exchange_take_up().
 */
int exchange_let_go(struct worker_state *state, void *arg);

/**
 * exchange_take_up() - sessions of the module as they were, in the one that is loaded; for
 * worker_call()
 *
 * Where it fails, those without one go on waiting.
 */
int exchange_take_up(struct worker_state *state, void *arg);

/**
 * exchange_renew() - another session of the module for each that has no ring for a CPU that came
 * after it was made; for worker_call()
 *
 * What one that fails samples goes on being sampled; but where the other one, once made, cannot be
 * enabled nothing is: the next call tries again, as it does where exchange_take_up() has failed.
 */
int exchange_renew(struct worker_state *state, void *arg);

#endif
