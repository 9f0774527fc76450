/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns the daemon's counters into counters that only grow. The daemon's counters go back when it
 * restarts, containers appear and end, and only the heaviest containers have series. So each
 * exported counter grows by the difference between two snapshots. All containers and "other"
 * together grow by what the machine grows by.
 */
#ifndef SPEPROF_ACCUMULATE_H
#define SPEPROF_ACCUMULATE_H

#include <stddef.h>

#include "labels.h"
#include "output/metrics.h"

/* Series of a container end when it was empty for this long: Prometheus' look-back period. */
#define ACCUMULATOR_END_NS 300000000000ULL

/**
 * struct accumulator_group - the containers that have the same labels
 * @set: these labels
 * @hash: of @set
 * @weight: recent operations, or samples (see &accumulator.unit); halves every ten minutes
 * @levels: levels and units that it has samples of, by tally_bits()
 * @kinds: latencies that it has samples of, as bits
 * @seen: it is in the snapshot that is being added
 * @ended: for ACCUMULATOR_END_NS its containers had no process and did not grow
 * @alive_ns: when it last had a process or grew, CLOCK_REALTIME
 * @start_ns: since when @sum counts, CLOCK_REALTIME
 * @sum: the exported counters; NULL if it has no series
 * @delta: what it grew by in the snapshot that is being added; NULL between two calls
 */
struct accumulator_group {
	struct label_set set;
	u64 hash;
	double weight;
	u32 levels;
	u32 kinds;
	bool seen;
	bool ended;
	u64 alive_ns;
	u64 start_ns;
	struct metrics_tally *sum;
	struct metrics_tally *delta;
};

/**
 * struct accumulator - the exported counters of a machine and its containers
 * @labels: the caller's
 * @kinds: latencies that containers have series of, as bits
 * @other_set: labels of @other
 * @latest: the last snapshot, with the daemon's counters
 * @any: true after the first snapshot
 * @begun_ns: CLOCK_REALTIME at accumulator_init(): what a daemon counted before is not exported
 * @start_ns: since when @machine and @other count, CLOCK_REALTIME
 * @latest_ns: CLOCK_REALTIME of @latest
 * @unit: unit of the groups' weights, &enum sample_unit; METRICS_UNITS: weights are samples
 * @machine: the exported counters, from &metrics_machine.records on
 * @other: the exported counters of all containers without series
 * @other_levels: levels and units that the machine has samples of, by tally_bits()
 * @groups: @count of them; the first @shown have series
 * @count: of @groups
 * @capacity: allocated length of @groups
 * @shown: how many groups have series
 * @unshown: how many groups have none, without those that have ended
 * @series_needed: how many series it would take to show all groups
 */
struct accumulator {
	const struct labels *labels;
	u32 kinds;
	struct label_set other_set;
	struct metrics latest;
	bool any;
	u64 begun_ns;
	u64 start_ns;
	u64 latest_ns;
	unsigned int unit;
	struct metrics_machine machine;
	struct metrics_tally other;
	u32 other_levels;
	struct accumulator_group *groups;
	u32 count;
	u32 capacity;
	u32 shown;
	u32 unshown;
	u64 series_needed;
};

/**
 * accumulator_init() - begin with all counters at 0
 * @acc: to be released by accumulator_deinit()
 * @labels: must outlive @acc and must not change
 * @kinds: latencies that containers have series of, as bits
 * @now_ns: CLOCK_REALTIME
 *
 * A receiver that has counters of an earlier process sees a counter reset.
 */
void accumulator_init(struct accumulator *acc, const struct labels *labels, u32 kinds, u64 now_ns);

/**
 * accumulator_deinit() - release all memory
 * @acc: zeroed
 */
void accumulator_deinit(struct accumulator *acc);

/**
 * accumulator_update() - add what the counters grew by since the last snapshot
 * @acc: the counters
 * @metrics: the new snapshot; taken over and zeroed, also on failure
 * @series: how many series the containers may have, those of "other" included
 * @now_ns: CLOCK_REALTIME
 *
 * The first snapshot is only the base of later ones if its daemon began to count before
 * accumulator_init(). If the daemon began later, all that it counted is added. The same holds for a
 * new daemon, which has another epoch.
 *
 * Return: 0, or -ENOMEM, which leaves the counters as they were.
 */
int accumulator_update(struct accumulator *acc, struct metrics *metrics, u32 series, u64 now_ns);

/**
 * accumulator_follow_clock() - move start times into the past after the clock was set back
 * @acc: the counters
 * @now_ns: CLOCK_REALTIME of the export that follows
 *
 * Call it before each export. A start time that is not before @now_ns becomes @now_ns - 1 and stays
 * so: receivers take each change of a start time for a counter reset.
 */
void accumulator_follow_clock(struct accumulator *acc, u64 now_ns);

/**
 * tally_bits() - list the levels and units that a tally has
 * @tally: the tally
 *
 * Return: a bit for each level with a counter above 0, followed by one for each such unit.
 */
u32 tally_bits(const struct metrics_tally *tally);

/* A classic histogram: its buckets, and its series, which are the buckets, a sum and a count. */
#define CLASSIC_BUCKETS 12
#define CLASSIC_SERIES	(CLASSIC_BUCKETS + 2)

/*
 * Series of a container beside levels, units and latencies: samples, remote, branches,
 * mispredicted.
 */
#define CONTAINER_COUNTERS 4

/**
 * container_series() - count the series of a container
 * @levels: its levels and units, by tally_bits()
 * @kinds: its latencies, as bits
 *
 * Return: how many series it has in text.
 */
u32 container_series(u32 levels, u32 kinds);

#endif
