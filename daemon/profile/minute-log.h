/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of a profile since the last minute was written to disk. When a slot of the history
 * in memory ends, it is added to the log. Unlike a slot, the log has all containers and programs.
 *
 * The thread of the profile owns the log.
 */
#ifndef SPEPROF_MINUTE_LOG_H
#define SPEPROF_MINUTE_LOG_H

#include "history.h"

/* Capacity of &minute_log.program; samples of further programs count for PROGRAM_OTHER. */
#define MINUTE_PROGRAMS 4096
/* Entries of &minute_log.location, a power of two; the heaviest locations are stored. */
#define MINUTE_LOCATIONS 2048

/**
 * struct minute_latencies - the total latencies of a location, by histogram bucket
 * @mark: counts of the location's cell at its last minute_log_add_location()
 * @count: samples since minute_log_clear(): each call adds the growth of the cell's counts over
 *	@mark. The first call for a cell with older samples only sets @mark
 * @marked: @mark is set
 * @before: number of samples of the previous minute
 *
 * minute_log_clear() keeps @mark, so that the first call of the next minute can add the growth.
 */
struct minute_latencies {
	u32 mark[HISTOGRAM_BUCKETS];
	u32 count[HISTOGRAM_BUCKETS];
	bool marked;
	u32 before;
};

/**
 * struct minute_log - the counters since the last minute_log_clear()
 * @ledger: the ledgers
 * @machine: all samples
 * @containers, @programs: number of used rows of @container and @program
 * @container: all containers with samples
 * @program: all programs with samples; the upper half of &history_row.owner is the id
 * @location: the heaviest locations, in sets; an entry without samples is free, or was used in the
 *	previous minute
 * @latency: the latencies of each entry of @location
 * @container_slot, @program_slot: private: hash tables; a slot has a row number plus 1
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
	struct minute_latencies *latency;
	u32 *container_slot;
	u32 *program_slot;
	u32 container_limit;
};

/**
 * minute_log_new() - allocate an empty log
 * @containers: maximum number of containers
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

/** minute_log_add_machine() - add the counters of all samples, and the ledgers */
void minute_log_add_machine(struct minute_log *log, const struct history_counters *counters);
void minute_log_add_ledger(struct minute_log *log, const struct history_ledger *ledger);

/** minute_log_add_container() - add samples of a container; @index and @generation identify it */
void minute_log_add_container(struct minute_log *log, u32 index, u32 generation,
			      const struct history_counters *counters);

/**
 * minute_log_add_location() - add samples of a location, and of its program
 * @row: the samples
 * @latency: total latencies of all samples of the location's cell; NULL: unknown
 * @fresh: the cell has no samples that were counted before those of @row
 */
void minute_log_add_location(struct minute_log *log, const struct history_row *row,
			     const struct histogram *latency, bool fresh);

/**
 * minute_log_find_program() - return the index in &minute_log.program of the program of a location
 * @log: the log
 * @row: a row of &minute_log.location
 */
u32 minute_log_find_program(const struct minute_log *log, const struct history_row *row);

/** minute_log_add_slot() - add the containers and locations of a slot, its ledgers and its sum */
void minute_log_add_slot(struct minute_log *log, const struct history_slot *slot);

#endif
