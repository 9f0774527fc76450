/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cached values of the properties of the manager and of CPUs. sd-bus reads properties one by one,
 * and reading the state of an SPU interrupts its CPU. Therefore all values of an object are read at
 * once, and cached for a short time.
 */
#ifndef SPEPROF_PROPERTY_CACHE_H
#define SPEPROF_PROPERTY_CACHE_H

#include "engine/worker.h"

/*
 * Nanoseconds for which a cached value is valid, unless a call on the bus changes something earlier
 */
#define PROPERTY_CACHE_NS 100000000ULL

/**
 * struct machine_properties - properties of the session "machine" and of its source
 * @source: name of the kind of source
 * @backend: &enum sample_backend
 * @task_status: which task events are available
 * @running: true if the session samples
 * @cpus: number of CPUs that the source samples
 * @interval_ns: mean time between samples of a busy CPU
 * @memory_bytes: memory of each kind of tables, indexed by &enum memory_share
 * @reason: why a better source is not used; "": this is the best one
 */
struct machine_properties {
	const char *source;
	u8 backend;
	struct task_events_status task_status;
	bool running;
	u32 cpus;
	u64 interval_ns;
	u64 memory_bytes[MEMORY_SHARES];
	char reason[256];
};

/**
 * struct cpu_properties - properties of one CPU
 * @cpu: the description that the source returned; @cpu.cpu is the number of the CPU
 * @counts: sums over the CPU's windows
 * @backend: &enum sample_backend
 */
struct cpu_properties {
	struct source_cpu cpu;
	struct shared_source_cpu counts;
	u8 backend;
};

/**
 * struct property_cache - cached values of properties
 * @names: names of sessions, "" for a free entry. They are valid until property_cache_invalidate(),
 * because only calls on the bus create and remove sessions
 *
 * Each member *_ns is the CLOCK_MONOTONIC time at which a value was read; 0: that value is stale.
 */
struct property_cache {
	u64 machine_ns;
	struct machine_properties machine;
	u64 cpu_ns;
	struct cpu_properties cpu;
	u64 names_ns;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE];
};

/**
 * property_cache_is_fresh() - return true if a value that was read at @at_ns is still valid, and
 * false if @at_ns is 0
 */
bool property_cache_is_fresh(u64 at_ns);

/**
 * property_cache_invalidate() - mark all cached values as stale, so that they are read again at
 * their next use
 */
void property_cache_invalidate(struct property_cache *cache);

/**
 * property_cache_get_machine() - get the properties of the machine's session
 * @cache: the cache
 * @worker: queried if the cached values are stale
 *
 * Context: the main thread. Return: the properties, never NULL; valid until the next call of this
 * function.
 */
const struct machine_properties *property_cache_get_machine(struct property_cache *cache,
							    struct worker *worker);

/**
 * property_cache_get_cpu() - get the properties of one CPU
 * @cache: the cache, which contains one CPU at a time
 * @worker: queried if the cached values are stale; only the SPU of @cpu is read
 * @cpu: number of the CPU
 * @ret_properties: valid until the next call of this function
 *
 * Return: 0; -ENOENT if the session "machine" does not sample @cpu; other negative errno.
 */
int property_cache_get_cpu(struct property_cache *cache, struct worker *worker, u32 cpu,
			   const struct cpu_properties **ret_properties);

/**
 * property_cache_has_session() - return true if a session with a name exists
 * @cache: the cache
 * @worker: queried only after property_cache_invalidate()
 * @name: "machine", or the name that was passed to CreateSession
 *
 * sd-bus calls this for every call on a session, before the sender's permission and rate are
 * checked. So it must be cheap.
 */
bool property_cache_has_session(struct property_cache *cache, struct worker *worker,
				const char *name);

#endif
