/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The series that are exported, the same in each format: families from one table,
 * labels, and a value or a histogram.
 */
#ifndef SPEPROF_SERIES_H
#define SPEPROF_SERIES_H

#include "accumulate.h"
#include "families.h"
#include "output/metrics.h"

/* Of the labels table, and two of the family's own. */
#define SERIES_LABELS (LABELS_MAX + 2)

struct series_label {
	const char *name;
	const char *value;
};

/**
 * struct series - one, or the CLASSIC_SERIES that a histogram is in text
 * @labels: of @label, which are valid as long as the acc is not updated
 * @start_ns: since when a counter or histogram counts, CLOCK_REALTIME
 */
struct series {
	const struct series_family *family;
	struct series_label label[SERIES_LABELS];
	u32 labels;
	double value;
	u64 start_ns;
	const struct metrics_histogram *histogram;
};

/** struct series_set - all of them, by family */
struct series_set {
	struct series *series;
	u32 count;
	u32 room;
};

/* Queries in a row that the daemon did not answer, from which on its series end. */
#define SERIES_MISSED 2

/**
 * struct series_self - what the exporter says of itself
 * @start_ns: since when the exporter's own counters count, CLOCK_REALTIME
 * @daemon_up: the daemon answered the last time
 * @missed: queries in a row that the daemon did not answer
 * @exportable: and its SPU is no emulated one, or that was allowed
 * @has_spe: a driver of this machine has an SPU
 */
struct series_self {
	u64 start_ns;
	bool daemon_up;
	bool exportable;
	bool has_spe;
	u32 missed;
	u64 scrapes;
	u64 refused;
	u64 query_errors;
	u64 cpu_ns;
	u64 memory;
	struct series_push {
		const char *destination;	/* NULL: there is none */
		u64 sent;
		u64 retried;
		u64 dropped;
		u64 queued_bytes;
		u64 rejected;	/* data points, where @rejects */
		bool rejects;
	} push[3];
};

/**
 * series_build() - the series of @acc and @self
 * @set: empty, or from before; its memory is used again
 *
 * Return: 0 or -ENOMEM.
 */
int series_build(struct series_set *set, const struct accumulator *acc, const struct series_self *self);
void series_deinit(struct series_set *set);

/* Series of the machine and the exporter, but for levels and latencies, at most. */
#define SERIES_FIXED 63

/** series_machine() - how many series there will be, at most, that are not of containers */
u32 series_machine(const struct accumulator *acc, const struct metrics *next);

/* Inclusive upper bounds of the classic buckets but the last, which is infinite. */
extern const u32 series_bounds[CLASSIC_BUCKETS - 1];

/** series_classic() - cumulative counts by series_bounds, and of all at the end */
void series_classic(const struct metrics_histogram *histogram, u64 ret_counts[CLASSIC_BUCKETS]);

/* Of native and exponential histograms: a bucket for each index, zero apart. */
#define SERIES_SCALE   2
#define SERIES_INDICES 65

/**
 * series_native() - counts by index: what is above 2^((index - 1) / 4) and at most 2^(index / 4)
 * @ret_zero: how many were 0
 */
void series_native(const struct metrics_histogram *histogram, u64 ret_counts[SERIES_INDICES],
		   u64 *ret_zero);

#endif
