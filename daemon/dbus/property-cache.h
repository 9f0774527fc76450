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

/** struct machine_facts - of the session "machine" and its source */
struct machine_facts {
	const char *source;
	u8 backend;
	struct task_events_status task_status;
	bool running;
	u32 cpus;
	u64 interval_ns;
	u64 share[MEMORY_SHARES];
	char reason[256];
};

/** struct cpu_facts - of the CPU numbered @cpu.cpu; @told by its windows */
struct cpu_facts {
	struct source_cpu cpu;
	struct shared_source_cpu told;
	u8 backend;
};

/**
 * struct bus_facts - the last that was looked at of each kind; @*_ns: when, 0: is to be read
 * @names: until bus_facts_forget(), however long that is
 */
struct bus_facts {
	u64 machine_ns;
	struct machine_facts machine;
	u64 cpu_ns;
	struct cpu_facts cpu;
	u64 names_ns;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE]; /* of sessions; "" for none */
};

/** bus_facts_fresh() - does what was read at @at_ns still hold? */
bool bus_facts_fresh(u64 at_ns);

/** bus_facts_now() - CLOCK_MONOTONIC */
u64 bus_facts_now(void);

/** bus_facts_forget() - something changed */
void bus_facts_forget(struct bus_facts *facts);

/** bus_facts_machine() - valid until the next call */
const struct machine_facts *bus_facts_machine(struct bus_facts *facts, struct worker *worker);

/**
 * bus_facts_cpu() - of one CPU, which is the only one that is asked
 * @ret_facts: valid until the next call
 *
 * Return: 0; -ENOENT if the session "machine" samples no such CPU; other negative errno.
 */
int bus_facts_cpu(struct bus_facts *facts, struct worker *worker, u32 cpu,
		  const struct cpu_facts **ret_facts);

/**
 * bus_facts_session() - is there a session @name?
 *
 * What sd-bus asks of each call before it is known whose it is: the worker is not asked for it.
 */
bool bus_facts_session(struct bus_facts *facts, struct worker *worker, const char *name);

#endif
