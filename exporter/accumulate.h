/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the daemon's counters to those that are exported. The daemon's begin anew with it,
 * containers come and go, and only the heaviest have series: what is exported grows by the
 * differences between two snapshots, so that each counter only ever grows, and what all
 * containers and "other" grow by is what the machine does.
 */
#ifndef SPEPROF_FOLD_H
#define SPEPROF_FOLD_H

#include <stddef.h>

#include "labels.h"
#include "output/metrics.h"

/* After which series of containers that are gone end: as long as Prometheus looks back. */
#define ACCUMULATOR_GONE_NS 300000000000ULL

/**
 * struct accumulator_group - containers with the same labels
 * @hash: of @set
 * @weight: operations lately, or samples: halved every ten minutes
 * @levels: which levels and units it has, by tally_bits()
 * @kinds: which latencies, as bits
 * @gone: nobody has lived in its containers for ACCUMULATOR_GONE_NS, nor did it grow
 * @alive_ns: when that was last otherwise, CLOCK_REALTIME
 * @start_ns: since when @sum counts, CLOCK_REALTIME
 * @sum: what is exported; NULL if it has no series
 * @delta: of the snapshot that is being folded
 */
struct accumulator_group {
	struct label_set set;
	u64 hash;
	double weight;
	u32 levels;
	u32 kinds;
	bool seen;
	bool gone;
	u64 alive_ns;
	u64 start_ns;
	struct metrics_tally *sum;
	struct metrics_tally *delta;
};

/**
 * struct accumulator - the exporter's counters
 * @kinds: latencies that containers have series of, as bits
 * @other_set: labels of @other
 * @latest: the last snapshot; its counters are the daemon's
 * @any: whether there was one
 * @begun_ns: CLOCK_REALTIME at accumulator_init(): what a daemon counted before is not exported
 * @start_ns: since when @machine and @other count, CLOCK_REALTIME
 * @taken_ns: when @latest was, CLOCK_REALTIME
 * @unit: of which groups' weights are, METRICS_UNITS: they are of samples
 * @machine: counters from &metrics_machine.records on, and @all: the exporter's
 * @other: of containers that have no series
 * @groups: @count of them; those with series have a @sum
 * @shown: how many have, in front
 * @unshown: of those that are not gone, how many have none
 * @series_wanted: how many series all of them would have had
 */
struct accumulator {
	const struct labels *labels;
	u32 kinds;
	struct label_set other_set;
	struct metrics latest;
	bool any;
	u64 begun_ns;
	u64 start_ns;
	u64 taken_ns;
	unsigned int unit;
	struct metrics_machine machine;
	struct metrics_tally other;
	u32 other_levels;
	struct accumulator_group *groups;
	u32 count;
	u32 room;
	u32 shown;
	u32 unshown;
	u64 series_wanted;
};

/**
 * accumulator_init() - begin all counters at 0
 * @labels: must outlive @acc and must not change
 * @kinds: latencies that containers have series of, as bits
 * @now_ns: CLOCK_REALTIME
 *
 * A receiver that saw the counters of an earlier process takes this for the counter reset that it is.
 */
void accumulator_init(struct accumulator *acc, const struct labels *labels, u32 kinds, u64 now_ns);
void accumulator_deinit(struct accumulator *acc);

/**
 * accumulator_update() - add what @metrics grew by since the snapshot before it
 * @metrics: taken over whatever is returned
 * @series: bound on the series of containers, those of "other" included
 * @now_ns: CLOCK_REALTIME
 *
 * The first snapshot is only the base of the next ones if its daemon began to count before
 * accumulator_init(). If it began later, all of its counts are added. The same holds for a daemon that
 * takes the place of the one before.
 *
 * Return: 0 or -ENOMEM, which leaves counters as they were.
 */
int accumulator_update(struct accumulator *acc, struct metrics *metrics, u32 series, u64 now_ns);

/**
 * accumulator_follow_clock() - move starts that a clock which was set back has left in the future
 * @now_ns: CLOCK_REALTIME
 *
 * To be called before each export. A start that is not before @now_ns becomes a nanosecond before
 * it, for good: receivers take each change of a start for a reset of the counter.
 */
void accumulator_follow_clock(struct accumulator *acc, u64 now_ns);

/** tally_bits() - a bit for each of @tally's levels and units that are not 0 */
u32 tally_bits(const struct metrics_tally *tally);

/** container_series() - how many series a container has, with these levels and latencies */
u32 container_series(u32 levels, u32 kinds);

/* Series of a classic histogram: 12 buckets, sum and count. */
#define CLASSIC_BUCKETS   12
#define CLASSIC_SERIES (CLASSIC_BUCKETS + 2)

/* Of a container beside levels and latencies: samples, remote, branches, mispredicted. */
#define CONTAINER_COUNTERS 4

#endif
