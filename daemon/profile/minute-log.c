// SPDX-License-Identifier: LGPL-2.1-or-later
#include "minute-log.h"

#include <errno.h>
#include <stdlib.h>

#include "cell-table.h"
#include "attribution/program-table.h"
#include "util/memory.h"

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
	fn(log->location, MINUTE_LOCATIONS * sizeof(*log->location));
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
	log->container_slot =
		zero_pages_new(compute_container_slots(containers) * sizeof(*log->container_slot));
	log->program_slot = zero_pages_new(PROGRAM_SLOTS * sizeof(*log->program_slot));
	if (!log->container || !log->program || !log->location || !log->container_slot ||
	    !log->program_slot) {
		minute_log_free(log);
		return -ENOMEM;
	}
	*ret_log = log;
	return 0;
}

struct minute_log *minute_log_free(struct minute_log *log)
{
	if (log)
		for_each_table(log, zero_pages_free);
	free(log);
	return NULL;
}

void minute_log_clear(struct minute_log *log)
{
	if (!log)
		return;
	for_each_table(log, zero_pages_clear);
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
	 * The samples are then in no row of a container, but only in @machine.
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

void minute_log_add_location(struct minute_log *log, const struct history_row *row)
{
	u64 hash = hash_mix_bits(row->place ^ hash_mix_bits(row->owner));
	struct history_row *set =
		&log->location[hash % MINUTE_LOCATION_SETS * MINUTE_LOCATION_WAYS];
	struct history_row *least = set;

	program_add(log, (u32)(row->owner >> 32), row);
	for (u32 i = 0; i < MINUTE_LOCATION_WAYS; i++) {
		if (set[i].samples && set[i].owner == row->owner && set[i].place == row->place) {
			history_row_add(&set[i], row);
			return;
		}
		if (set[i].samples < least->samples)
			least = &set[i];
	}
	if (least->samples < row->samples)
		*least = *row;
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
		minute_log_add_location(log, &slot->place[i]);
}
