/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples CPUs that were added after the daemon opened its sources. The module creates the rings of
 * a session together with the session, one for each SPU that exists then. To sample an SPU that
 * was added later, the daemon opens a new session of the module and closes the old one.
 */
#ifndef SPEPROF_SOURCE_HOTPLUG_H
#define SPEPROF_SOURCE_HOTPLUG_H

#include "config/config.h"
#include "worker.h"

/**
 * struct source_new_cpus - argument of source_sample_new_cpus()
 * @config: configuration with which sources are opened; borrowed
 * @ret_cpus: number of CPUs that have an SPU and that the old sources did not sample
 * @ret_replaced: number of sources that were replaced
 * @ret_blind_ns: duration in which no CPU of a replaced source was sampled, nanoseconds
 * @ret_reason: after a failure, one sentence for the journal with the reason
 */
struct source_new_cpus {
	const struct config *config;
	u32 ret_cpus;
	u32 ret_replaced;
	u64 ret_blind_ns;
	char ret_reason[512];
};

/**
 * source_sample_new_cpus() - replace each source of the module that lacks the ring of a CPU which
 * has an SPU
 * @state: the worker's state
 * @arg: struct source_new_cpus
 *
 * The new source is opened before the old one is stopped. The time between the last sample of the
 * old source and the first of the new one is counted as blind time with the cause "restart". If the
 * new source cannot be opened or started, the old one continues to sample.
 *
 * Context: the worker's thread, by worker_call().
 * Return: 0, also if no source was replaced; -EBUSY for a partitioned source, which only a restart
 * of the daemon replaces; -ESTALE if the new source has another backend; else the negative errno of
 * opening or starting the new source.
 */
int source_sample_new_cpus(struct worker_state *state, void *arg);

#endif
