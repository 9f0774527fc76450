// SPDX-License-Identifier: LGPL-2.1-or-later
#include "minute-log.h"

#include <errno.h>
#include <stdlib.h>

#include "cell-table.h"
#include "attribution/program-table.h"
#include "util/memory.h"

/* Entries of a set of &minute_log.location. */
#define MINUTE_LOCATION_WAYS 8
#define MINUTE_LOCATION_SETS (MINUTE_LOCATIONS / MINUTE_LOCATION_WAYS)

/*
 * Number of slots of &minute_log.program_slot: twice the number of rows, so that at most half of
 * the slots are in use.
 */
#define PROGRAM_SLOTS (2 * MINUTE_PROGRAMS)

static u32 compute_container_slots(u32 containers)
{
	u32 slots = 16;

	while (slots < 2 * containers)
		slots *= 2;
	return slots;
}

static void for_each_table(struct minute_log *log, void (*fn)(void *at, size_t size))
{
	fn(log->container, log->container_limit * sizeof(*log->container));
	fn(log->program, MINUTE_PROGRAMS * sizeof(*log->program));
	fn(log->container_slot,
	   compute_container_slots(log->container_limit) * sizeof(*log->container_slot));
	fn(log->program_slot, PROGRAM_SLOTS * sizeof(*log->program_slot));
}

int minute_log_new(u32 containers, struct minute_log **ret_log)
{
	struct minute_log *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	log->container_limit = containers;
	log->container = zero_pages_new(containers * sizeof(*log->container));
	log->program = zero_pages_new(MINUTE_PROGRAMS * sizeof(*log->program));
	log->location = zero_pages_new(MINUTE_LOCATIONS * sizeof(*log->location));
	log->latency = zero_pages_new(MINUTE_LOCATIONS * sizeof(*log->latency));
	log->container_slot =
		zero_pages_new(compute_container_slots(containers) * sizeof(*log->container_slot));
	log->program_slot = zero_pages_new(PROGRAM_SLOTS * sizeof(*log->program_slot));
	if (!log->container || !log->program || !log->location || !log->latency ||
	    !log->container_slot || !log->program_slot) {
		minute_log_free(log);
		return -ENOMEM;
	}
	*ret_log = log;
	return 0;
}

struct minute_log *minute_log_free(struct minute_log *log)
{
	if (!log)
		return NULL;
	for_each_table(log, zero_pages_free);
	zero_pages_free(log->location, MINUTE_LOCATIONS * sizeof(*log->location));
	zero_pages_free(log->latency, MINUTE_LOCATIONS * sizeof(*log->latency));
	free(log);
	return NULL;
}

/* Remove the counters of a location. Its entry keeps the mark of its latencies. */
static void location_clear(struct history_row *row, struct minute_latencies *latency)
{
	if (!row->samples && !latency->before)
		return;
	latency->before = row->samples;
	memset(latency->count, 0, sizeof(latency->count));
	*row = (struct history_row){ .owner = row->owner, .place = row->place };
}

void minute_log_clear(struct minute_log *log)
{
	if (!log)
		return;
	for_each_table(log, zero_pages_clear);
	for (u32 i = 0; i < MINUTE_LOCATIONS; i++)
		location_clear(&log->location[i], &log->latency[i]);
	log->containers = 0;
	log->programs = 0;
	log->ledger = (struct history_ledger){ 0 };
	memset(&log->machine, 0, sizeof(log->machine));
}

void minute_log_add_machine(struct minute_log *log, const struct history_counters *counters)
{
	history_counters_add(&log->machine, counters);
}

void minute_log_add_ledger(struct minute_log *log, const struct history_ledger *ledger)
{
	static const struct history_ledger nothing;

	history_ledger_add_increase(&log->ledger, ledger, &nothing);
}

void minute_log_add_container(struct minute_log *log, u32 index, u32 generation,
			      const struct history_counters *counters)
{
	u32 mask = compute_container_slots(log->container_limit) - 1;
	u64 hash = hash_mix_bits((u64)generation << 32 | index);
	u32 at;

	for (at = hash & mask; log->container_slot[at]; at = (at + 1) & mask) {
		struct history_container *c = &log->container[log->container_slot[at] - 1];

		if (c->index == index && c->generation == generation) {
			history_counters_add(&c->counters, counters);
			return;
		}
	}
	/*
	 * The log is full only if the attributor reused entries of containers within this minute.
	 * The samples are then in no row of a container, but only in &minute_log.machine.
	 */
	if (log->containers == log->container_limit)
		return;
	log->container[log->containers] = (struct history_container){
		.index = index,
		.generation = generation,
		.counters = *counters,
	};
	log->container_slot[at] = ++log->containers;
}

static void program_add(struct minute_log *log, u32 program, const struct history_row *row)
{
	u32 mask = PROGRAM_SLOTS - 1, at;
	struct history_row *p;

	for (at = hash_mix_bits(program) & mask; log->program_slot[at]; at = (at + 1) & mask) {
		p = &log->program[log->program_slot[at] - 1];
		if (p->owner >> 32 == program) {
			history_row_add(p, row);
			return;
		}
	}
	if (log->programs >= MINUTE_PROGRAMS - 1 && program != PROGRAM_OTHER) {
		program_add(log, PROGRAM_OTHER, row);
		return;
	}
	p = &log->program[log->programs];
	*p = *row;
	p->owner = cell_owner_make(program, 0);
	p->place = 0;
	log->program_slot[at] = ++log->programs;
}

static void latencies_add(struct minute_latencies *to, const struct histogram *latency, bool fresh)
{
	if (!latency)
		return;
	if (fresh)
		memset(to->mark, 0, sizeof(to->mark));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		u32 now = (u32)latency->bucket[i];

		if (fresh || to->marked)
			to->count[i] += now - to->mark[i];
		to->mark[i] = now;
	}
	to->marked = true;
}

/* Return the entry of a location; without one, an entry that the location may replace. */
static u32 location_find_entry(const struct minute_log *log, const struct history_row *row,
			       bool *ret_found)
{
	u64 hash = hash_mix_bits(row->place ^ hash_mix_bits(row->owner));
	u32 first = (u32)(hash % MINUTE_LOCATION_SETS * MINUTE_LOCATION_WAYS), least = first;

	*ret_found = false;
	for (u32 i = first; i < first + MINUTE_LOCATION_WAYS; i++) {
		const struct history_row *entry = &log->location[i];

		*ret_found = (entry->samples || log->latency[i].marked) &&
			     entry->owner == row->owner && entry->place == row->place;
		if (*ret_found)
			return i;
		if (entry->samples < log->location[least].samples ||
		    (entry->samples == log->location[least].samples &&
		     log->latency[i].before < log->latency[least].before))
			least = i;
	}
	return least;
}

void minute_log_add_location(struct minute_log *log, const struct history_row *row,
			     const struct histogram *latency, bool fresh)
{
	bool found;
	u32 entry = location_find_entry(log, row, &found);

	program_add(log, (u32)(row->owner >> 32), row);
	if (!found && log->location[entry].samples >= row->samples)
		return;
	if (!found) {
		log->location[entry] = (struct history_row){ .owner = row->owner,
							     .place = row->place };
		log->latency[entry] = (struct minute_latencies){ 0 };
	}
	history_row_add(&log->location[entry], row);
	latencies_add(&log->latency[entry], latency, fresh);
}

u32 minute_log_find_program(const struct minute_log *log, const struct history_row *row)
{
	u32 mask = PROGRAM_SLOTS - 1, program = (u32)(row->owner >> 32);

	for (u32 at = hash_mix_bits(program) & mask; log->program_slot[at]; at = (at + 1) & mask)
		if (log->program[log->program_slot[at] - 1].owner >> 32 == program)
			return log->program_slot[at] - 1;
	/* If the table of programs was full, the samples of the program count for PROGRAM_OTHER. */
	return program == PROGRAM_OTHER ?
		       0 :
		       minute_log_find_program(
			       log,
			       &(struct history_row){ .owner = cell_owner_make(PROGRAM_OTHER, 0) });
}

void minute_log_add_slot(struct minute_log *log, const struct history_slot *slot)
{
	minute_log_add_machine(log, &slot->machine);
	minute_log_add_ledger(log, &slot->ledger);
	for (u32 i = 0; i < slot->containers; i++)
		minute_log_add_container(log, slot->container[i].index,
					 slot->container[i].generation,
					 &slot->container[i].counters);
	for (u32 i = 0; i < slot->locations; i++)
		minute_log_add_location(log, &slot->place[i], NULL, false);
}
