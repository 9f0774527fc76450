/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a profile counted since the last minute was written to disk. The slots of the history in
 * memory are added to it when they end. Unlike a slot, it has all containers and programs.
 *
 * One thread owns it, that of the profile.
 */
#ifndef SPEPROF_MINUTE_LOG_H
#define SPEPROF_MINUTE_LOG_H

#include "history.h"

/* Maximum of programs; samples of further ones count for PROGRAM_OTHER. */
#define MINUTE_PROGRAMS 4096
/* Maximum of locations, the heaviest; a power of two. */
#define MINUTE_LOCATIONS 2048

/**
 * struct minute_log - the counters since the last minute_log_clear()
 * @ledger: the ledgers
 * @machine: all samples
 * @containers, @programs: rows in use of @container and @program
 * @container: all containers with samples
 * @program: all programs with samples; the upper half of &history_row.owner is the id
 * @location: the heaviest locations, in sets; free entries have no samples
 * @container_slot, @program_slot: private: hash tables of row numbers, plus 1
 * @container_limit: capacity of @container
 */
struct minute_log {
	struct history_ledger ledger;
	struct history_counters machine;
	u32 containers;
	u32 programs;
	struct history_container *container;
	struct history_row *program;
	struct history_row *location;
	u32 *container_slot;
	u32 *program_slot;
	u32 container_limit;
};

/**
 * minute_log_new() - allocate an empty log
 * @containers: maximum of containers
 * @ret_log: the log; free it with minute_log_free()
 *
 * Return: 0 or -ENOMEM.
 */
int minute_log_new(u32 containers, struct minute_log **ret_log);

/** minute_log_free() - free @log, which may be NULL; returns NULL */
struct minute_log *minute_log_free(struct minute_log *log);

/** minute_log_clear() - remove all counters; @log may be NULL */
void minute_log_clear(struct minute_log *log);

/* The functions below add the counters of a slot to @log. */

/** minute_log_machine() - add all samples, and the ledgers */
void minute_log_machine(struct minute_log *log, const struct history_counters *counters);
void minute_log_ledger(struct minute_log *log, const struct history_ledger *ledger);

/** minute_log_container() - add samples of a container; @index and @generation identify it */
void minute_log_container(struct minute_log *log, u32 index, u32 generation,
			  const struct history_counters *counters);

/** minute_log_location() - add samples of a location, and of its program */
void minute_log_location(struct minute_log *log, const struct history_row *row);

/**
 * minute_log_find_program() - return the number of the row in @program of the program of a location
 * @row: a row of @location
 */
u32 minute_log_find_program(const struct minute_log *log, const struct history_row *row);

/** minute_log_slot() - add the containers and locations of a slot, its ledgers and its sum */
void minute_log_slot(struct minute_log *log, const struct history_slot *slot);

#endif
