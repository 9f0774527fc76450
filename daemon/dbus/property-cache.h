/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values behind the properties of the manager and of CPUs. sd-bus reads properties one by one, and
 * reading the state of an SPU interrupts its CPU. So all values of an object are read at once and
 * cached for a moment.
 */
#ifndef SPEPROF_PROPERTY_CACHE_H
#define SPEPROF_PROPERTY_CACHE_H

#include "engine/worker.h"

/* Nanoseconds for which a value is valid, unless a call on the bus changes something before. */
#define PROPERTY_CACHE_NS 100000000ULL

/**
 * struct machine_properties - of the session "machine" and its source
 * @source: name of the kind of source
 * @backend: &enum backend
 * @task_status: which task events are in use
 * @running: the session samples
 * @cpus: CPUs that the source samples
 * @interval_ns: mean time between samples of a busy CPU
 * @share: bytes of memory for each &enum memory_share
 * @reason: why the source is not a better one; "": it is the best
 */
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

/**
 * struct cpu_properties - of one CPU
 * @cpu: what the source reports; @cpu.cpu is the CPU's number
 * @counts: what the CPU's windows reported
 * @backend: &enum backend
 */
struct cpu_properties {
	struct source_cpu cpu;
	struct shared_source_cpu counts;
	u8 backend;
};

/**
 * struct property_cache - cached values of properties
 * @names: names of sessions, "" for a free entry. They are valid until property_cache_invalidate(),
 *	as only calls on the bus create and remove sessions
 *
 * Each member *_ns is the CLOCK_MONOTONIC time at which its value was read; 0: the value is stale.
 */
struct property_cache {
	u64 machine_ns;
	struct machine_properties machine;
	u64 cpu_ns;
	struct cpu_properties cpu;
	u64 names_ns;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE];
};

/** property_cache_fresh() - whether a value that was read at @at_ns is still valid; 0 never is */
bool property_cache_fresh(u64 at_ns);

/** property_cache_invalidate() - read all values again when they are next used */
void property_cache_invalidate(struct property_cache *cache);

/**
 * property_cache_machine() - get the values of the machine's session
 * @cache: the cache
 * @worker: queried if the cache is stale
 *
 * Context: the main thread. Return: never NULL; valid until the next call.
 */
const struct machine_properties *property_cache_machine(struct property_cache *cache,
							struct worker *worker);

/**
 * property_cache_cpu() - get the values of one CPU
 * @cache: the cache, which holds one CPU at a time
 * @worker: queried if the cache is stale; only the SPU of @cpu is read
 * @cpu: its number
 * @ret_properties: valid until the next call
 *
 * Return: 0; -ENOENT if the session "machine" samples no such CPU; other negative errno.
 */
int property_cache_cpu(struct property_cache *cache, struct worker *worker, u32 cpu,
		       const struct cpu_properties **ret_properties);

/**
 * property_cache_session() - whether there is a session @name
 * @cache: the cache
 * @worker: queried only after property_cache_invalidate()
 * @name: "machine", or as CreateSession has it
 *
 * sd-bus calls this for every call on a session, before the sender's right and rate are checked. So
 * it must be cheap.
 */
bool property_cache_session(struct property_cache *cache, struct worker *worker, const char *name);

#endif
