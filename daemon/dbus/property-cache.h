/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What properties show of the machine's session and of CPUs. A message may ask for all of them, one
 * by one, and of an SPU each look is an interrupt of its CPU: so they are looked at once, and that
 * holds for a moment.
 */
#ifndef SPEPROF_PROPERTY_CACHE_H
#define SPEPROF_PROPERTY_CACHE_H

#include "engine/worker.h"

/* For so long; and not over a change that was asked for on the bus. */
#define BUS_FACTS_NS 100000000ULL

/** struct machine_properties - of the session "machine" and its source */
struct machine_properties {
	const char *source;
	u8 backend;
	struct task_events_status task_status;
	bool running;
	u32 cpus;
	u64 interval_ns;
	u64 share[MEMORY_SHARES];
	char reason[256];
};

/** struct cpu_properties - of the CPU numbered @cpu.cpu; @told by its windows */
struct cpu_properties {
	struct source_cpu cpu;
	struct shared_source_cpu told;
	u8 backend;
};

/**
 * struct property_cache - the last that was looked at of each kind; @*_ns: when, 0: is to be read
 * @names: until property_cache_invalidate(), however long that is
 */
struct property_cache {
	u64 machine_ns;
	struct machine_properties machine;
	u64 cpu_ns;
	struct cpu_properties cpu;
	u64 names_ns;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE]; /* of sessions; "" for none */
};

/** property_cache_fresh() - does what was read at @at_ns still hold? */
bool property_cache_fresh(u64 at_ns);

/** property_cache_invalidate() - something changed */
void property_cache_invalidate(struct property_cache *facts);

/** property_cache_machine() - valid until the next call */
const struct machine_properties *property_cache_machine(struct property_cache *facts,
							struct worker *worker);

/**
 * property_cache_cpu() - of one CPU, which is the only one that is asked
 * @ret_facts: valid until the next call
 *
 * Return: 0; -ENOENT if the session "machine" samples no such CPU; other negative errno.
 */
int property_cache_cpu(struct property_cache *facts, struct worker *worker, u32 cpu,
		       const struct cpu_properties **ret_facts);

/**
 * property_cache_session() - is there a session @name?
 *
 * What sd-bus asks of each call before it is known whose it is: the worker is not asked for it.
 */
bool property_cache_session(struct property_cache *facts, struct worker *worker, const char *name);

#endif
