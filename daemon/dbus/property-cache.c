// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property-cache.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "engine/drain-threads.h"
#include "util/time.h"

bool property_cache_is_fresh(u64 at_ns)
{
	return at_ns && time_now_ns() - at_ns < PROPERTY_CACHE_NS;
}

void property_cache_invalidate(struct property_cache *cache)
{
	cache->machine_ns = 0;
	cache->cpu_ns = 0;
	cache->names_ns = 0;
}

/* ---- The machine's session ------------------------------------------------- */

static int read_machine(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_find_session(state, NULL);
	const struct source *source = machine->shared_source->source;
	struct machine_properties *properties = arg;

	*properties = (struct machine_properties){
		.source = source->ops->name,
		.backend = source->backend,
		.task_status = state->task_status,
		.running = machine->running,
		.cpus = source->cpus,
		.interval_ns = source->interval_ns,
	};
	memcpy(properties->memory_bytes, state->plan.share, sizeof(properties->memory_bytes));
	memcpy(properties->reason, source->reason, sizeof(properties->reason));
	return 0;
}

const struct machine_properties *property_cache_get_machine(struct property_cache *cache,
							    struct worker *worker)
{
	if (!property_cache_is_fresh(cache->machine_ns)) {
		worker_call_readonly(worker, read_machine, &cache->machine);
		cache->machine_ns = time_now_ns();
	}
	return &cache->machine;
}

/* ---- CPUs ------------------------------------------------------------------ */

/* Query the state of @cpu. Meanwhile only the drain thread of the CPU's partition has to wait. */
static int query_source(struct worker_state *state, struct source *source, u32 cpu,
			struct source_cpu *ret)
{
	u32 part = source->partitions ? cpu % source->partitions : 0;
	int r;

	if (!source->ops->cpu)
		return -ENOENT;
	drain_threads_lock_partition(state->drain_threads, part);
	r = source->ops->cpu(source, cpu, ret);
	drain_threads_unlock_partition(state->drain_threads, part);
	return r;
}

static int read_cpu(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_find_session(state, NULL);
	const struct shared_source *shared_source = machine->shared_source;
	struct cpu_properties *properties = arg;
	u32 wanted = properties->cpu.cpu;
	int r;

	*properties = (struct cpu_properties){ .backend = shared_source->source->backend };
	r = query_source(state, shared_source->source, wanted, &properties->cpu);
	if (r < 0)
		return r;
	drain_threads_lock_common(state->drain_threads);
	if (wanted < shared_source->cpu_count)
		properties->counts = shared_source->cpus[wanted];
	drain_threads_unlock_common(state->drain_threads);
	if (!properties->cpu.midr)
		properties->cpu.midr = properties->counts.midr;
	if (!properties->cpu.pmsver)
		properties->cpu.pmsver = properties->counts.pmsver;
	/* If a source does not measure the times itself, they are the sums over its windows. */
	if (!properties->cpu.has_time_ledger) {
		properties->cpu.armed_ns = properties->counts.armed_ns;
		memcpy(properties->cpu.blind_ns, properties->counts.blind_by,
		       sizeof(properties->cpu.blind_ns));
	}
	return 0;
}

int property_cache_get_cpu(struct property_cache *cache, struct worker *worker, u32 cpu,
			   const struct cpu_properties **ret_properties)
{
	int r;

	if (!property_cache_is_fresh(cache->cpu_ns) || cache->cpu.cpu.cpu != cpu) {
		cache->cpu_ns = 0;
		cache->cpu.cpu.cpu = cpu;
		r = worker_call_readonly(worker, read_cpu, &cache->cpu);
		if (r < 0)
			return r;
		cache->cpu_ns = time_now_ns();
	}
	*ret_properties = &cache->cpu;
	return 0;
}

/* ---- Sessions' names ------------------------------------------------------- */

static int read_names(struct worker_state *state, void *arg)
{
	struct property_cache *cache = arg;
	struct session *session = NULL;
	u32 n = 0;

	memset(cache->names, 0, sizeof(cache->names));
	while ((session = worker_get_next_session(state, session)) && n < WORKER_SESSIONS)
		snprintf(cache->names[n++], sizeof(cache->names[0]), "%s", session->name);
	return 0;
}

bool property_cache_has_session(struct property_cache *cache, struct worker *worker,
				const char *name)
{
	/* Only calls on the bus create and remove sessions, and they invalidate the cache. */
	if (!cache->names_ns) {
		worker_call_readonly(worker, read_names, cache);
		cache->names_ns = time_now_ns();
	}
	for (u32 i = 0; i < WORKER_SESSIONS; i++)
		if (*cache->names[i] && !strcmp(cache->names[i], name))
			return true;
	return false;
}
