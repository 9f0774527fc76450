/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convert the daemon's counters into counters that never decrease. The daemon's counters decrease
 * when it restarts, containers appear and end, and only the heaviest containers have series. So
 * each exported counter grows by the difference between two snapshots. All containers and "other"
 * together grow by as many samples and operations as the machine.
 */
#ifndef SPEPROF_ACCUMULATOR_H
#define SPEPROF_ACCUMULATOR_H

#include <stddef.h>

#include "labels.h"
#include "output/metrics.h"

/*
 * The series of a group end when none of its containers has had a process or has grown for this
 * time: five minutes, the look-back period of Prometheus.
 */
#define ACCUMULATOR_END_NS 300000000000ULL

/**
 * struct accumulator_group - the containers that have the same labels
 * @set: these labels
 * @hash: hash of @set
 * @weight: recent operations, or samples (see &accumulator.unit); halves every ten minutes
 * @levels: levels and units for which it has samples, as accumulator_get_tally_bits() returns them
 * @kinds: latencies for which it has samples, as bits
 * @seen: whether the group is in the snapshot that is being added
 * @ended: whether for ACCUMULATOR_END_NS its containers had no process and did not grow
 * @alive_ns: last time at which it had a process or grew, CLOCK_REALTIME
 * @start_ns: time from which @sum counts, CLOCK_REALTIME
 * @sum: the exported counters; NULL if it has no series
 * @delta: growth in the snapshot that is being added; NULL between two calls
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
	struct metrics_counters *sum;
	struct metrics_counters *delta;
};

/**
 * struct accumulator - the exported counters of a machine and its containers
 * @labels: labels to export; owned by the caller
 * @kinds: latencies for which containers have series, as bits
 * @other_set: labels of @other
 * @latest: the last snapshot, with the daemon's counters
 * @any: whether there was a snapshot
 * @begun_ns: CLOCK_REALTIME of accumulator_init(): what the daemon counted before is not exported
 * @start_ns: time from which @machine and @other count, CLOCK_REALTIME
 * @latest_ns: CLOCK_REALTIME of @latest
 * @unit: unit of the groups' weights, &enum sample_unit; METRICS_UNITS: weights are samples
 * @machine: the exported counters, from &metrics_machine.records on
 * @other: the exported counters of all containers without series
 * @other_levels: levels and units for which the machine has samples, as
 *	accumulator_get_tally_bits() returns them
 * @groups: the groups; the first @shown of them have series
 * @count: number of @groups
 * @capacity: allocated length of @groups
 * @shown: number of groups with series
 * @unshown: number of groups without series that have not ended
 * @series_needed: number of series that all groups together would need
 */
struct accumulator {
	const struct label_config *labels;
	u32 kinds;
	struct label_set other_set;
	struct metrics_snapshot latest;
	bool any;
	u64 begun_ns;
	u64 start_ns;
	u64 latest_ns;
	unsigned int unit;
	struct metrics_machine machine;
	struct metrics_counters other;
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
 * @labels: labels to export; must outlive @acc and must not change
 * @kinds: latencies for which containers have series, as bits
 * @now_ns: CLOCK_REALTIME
 *
 * A receiver that has counters of an earlier process sees a counter reset.
 */
void accumulator_init(struct accumulator *acc, const struct label_config *labels, u32 kinds,
		      u64 now_ns);

/**
 * accumulator_deinit() - release all memory
 * @acc: set to zero
 */
void accumulator_deinit(struct accumulator *acc);

/**
 * accumulator_update() - add the growth of the counters since the last snapshot
 * @acc: the counters
 * @metrics: the new snapshot; the function owns it and sets it to zero, also on failure
 * @series: maximum number of series of containers, including those of "other"
 * @now_ns: CLOCK_REALTIME
 *
 * If the daemon of the first snapshot began to count before accumulator_init(), that snapshot is
 * only the base of later ones. If the daemon began later, all its counts are added. The same holds
 * for a new daemon, which has another epoch.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated, which leaves the counters unchanged.
 */
int accumulator_update(struct accumulator *acc, struct metrics_snapshot *metrics, u32 series,
		       u64 now_ns);

/**
 * accumulator_correct_start_times() - move start times into the past after the clock was set back
 * @acc: the counters
 * @now_ns: CLOCK_REALTIME of the export that follows
 *
 * Call it before each export. A start time that is not before @now_ns becomes @now_ns - 1
 * permanently: receivers treat each change of a start time as a counter reset.
 */
void accumulator_correct_start_times(struct accumulator *acc, u64 now_ns);

/**
 * accumulator_get_tally_bits() - list the levels and units that a tally counts
 * @tally: the tally
 *
 * Return: a bit for each level with a counter above 0, and above these bits one for each unit with
 * a weight above 0.
 */
u32 accumulator_get_tally_bits(const struct metrics_counters *tally);

/*
 * The number of buckets of a classic histogram, and the number of its series: one for each bucket,
 * the sum and the count
 */
#define CLASSIC_BUCKETS 12
#define CLASSIC_SERIES	(CLASSIC_BUCKETS + 2)

/*
 * number of series of a container besides levels, units and latencies: samples, remote, branches,
 * mispredicted
 */
#define CONTAINER_COUNTERS 4

/**
 * accumulator_count_series() - return the number of series of a container
 * @levels: its levels and units, as accumulator_get_tally_bits() returns them
 * @kinds: its latencies, as bits
 *
 * Return: the number of series in a text format.
 */
u32 accumulator_count_series(u32 levels, u32 kinds);

#endif
