// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property-cache.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "engine/shards.h"
#include "util/time.h"

bool property_cache_fresh(u64 at_ns)
{
	return at_ns && time_now_ns() - at_ns < BUS_FACTS_NS;
}

void property_cache_invalidate(struct property_cache *facts)
{
	facts->machine_ns = 0;
	facts->cpu_ns = 0;
	facts->names_ns = 0;
}

/* ---- The machine's session ------------------------------------------------- */

static int read_machine(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_session(state, NULL);
	const struct source *source = machine->shared_source->source;
	struct machine_properties *facts = arg;

	*facts = (struct machine_properties){
		.source = source->ops->name,
		.backend = source->backend,
		.task_status = state->task_status,
		.running = machine->running,
		.cpus = source->cpus,
		.interval_ns = source->interval_ns,
	};
	memcpy(facts->share, state->plan.share, sizeof(facts->share));
	memcpy(facts->reason, source->reason, sizeof(facts->reason));
	return 0;
}

const struct machine_properties *property_cache_machine(struct property_cache *facts,
							struct worker *worker)
{
	if (!property_cache_fresh(facts->machine_ns)) {
		worker_read(worker, read_machine, &facts->machine);
		facts->machine_ns = time_now_ns();
	}
	return &facts->machine;
}

/* ---- CPUs ------------------------------------------------------------------ */

/* Locks out the drain thread that owns @cpu, and no other. */
static int ask_source(struct worker_state *state, struct source *source, u32 cpu,
		      struct source_cpu *ret)
{
	u32 part = source->parts ? cpu % source->parts : 0;
	int r;

	if (!source->ops->cpu_by_id)
		return -ENOENT;
	shards_lock_part(state->shards, part);
	r = source->ops->cpu_by_id(source, cpu, ret);
	shards_unlock_part(state->shards, part);
	return r;
}

static int read_cpu(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_session(state, NULL);
	const struct shared_source *shared_source = machine->shared_source;
	struct cpu_properties *facts = arg;
	u32 wanted = facts->cpu.cpu;
	int r;

	*facts = (struct cpu_properties){ .backend = shared_source->source->backend };
	r = ask_source(state, shared_source->source, wanted, &facts->cpu);
	if (r < 0)
		return r;
	shards_common_lock(state->shards);
	if (wanted < shared_source->cpu_count)
		facts->told = shared_source->cpus[wanted];
	shards_common_unlock(state->shards);
	if (!facts->cpu.midr)
		facts->cpu.midr = facts->told.midr;
	if (!facts->cpu.pmsver)
		facts->cpu.pmsver = facts->told.pmsver;
	/* A source without a ledger of times reports them with its windows. */
	if (!facts->cpu.has_time_ledger) {
		facts->cpu.armed_ns = facts->told.armed_ns;
		memcpy(facts->cpu.blind_ns, facts->told.blind_by, sizeof(facts->cpu.blind_ns));
	}
	return 0;
}

int property_cache_cpu(struct property_cache *facts, struct worker *worker, u32 cpu,
		       const struct cpu_properties **ret_facts)
{
	int r;

	if (!property_cache_fresh(facts->cpu_ns) || facts->cpu.cpu.cpu != cpu) {
		facts->cpu_ns = 0;
		facts->cpu.cpu.cpu = cpu;
		r = worker_read(worker, read_cpu, &facts->cpu);
		if (r < 0)
			return r;
		facts->cpu_ns = time_now_ns();
	}
	*ret_facts = &facts->cpu;
	return 0;
}

/* ---- Sessions' names ------------------------------------------------------- */

static int read_names(struct worker_state *state, void *arg)
{
	struct property_cache *facts = arg;
	struct session *session = NULL;
	u32 n = 0;

	memset(facts->names, 0, sizeof(facts->names));
	while ((session = worker_next(state, session)) && n < WORKER_SESSIONS)
		snprintf(facts->names[n++], sizeof(facts->names[0]), "%s", session->name);
	return 0;
}

bool property_cache_session(struct property_cache *facts, struct worker *worker, const char *name)
{
	/* Only calls on the bus make and remove sessions, and they invalidate the cache. */
	if (!facts->names_ns) {
		worker_read(worker, read_names, facts);
		facts->names_ns = time_now_ns();
	}
	for (u32 i = 0; i < WORKER_SESSIONS; i++)
		if (*facts->names[i] && !strcmp(facts->names[i], name))
			return true;
	return false;
}
