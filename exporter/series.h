/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of series to export, which all formats use */
#ifndef SPEPROF_SERIES_H
#define SPEPROF_SERIES_H

#include "accumulator.h"
#include "families.h"
#include "output/metrics.h"

/* entries of &metric_series.label: the labels of [Labels], and two that the metric adds */
#define SERIES_LABELS (LABELS_MAX + 2)

/** struct series_label - a label "NAME=VALUE"; it does not own the texts */
struct series_label {
	const char *name;
	const char *value;
};

/**
 * struct metric_series - a series; a histogram is one series here, and CLASSIC_SERIES in text
 * formats
 * @family: its metric
 * @label: labels of the series; valid until the accumulator is updated
 * @labels: number of @label
 * @value: value of a counter or gauge
 * @start_ns: time from which a counter or histogram counts, CLOCK_REALTIME
 * @histogram: buckets of a histogram, valid until the accumulator is updated; NULL: none
 */
struct metric_series {
	const struct series_family *family;
	struct series_label label[SERIES_LABELS];
	u32 labels;
	double value;
	u64 start_ns;
	const struct metrics_histogram *histogram;
};

/**
 * struct series_set - a list of series, sorted by family
 * @count: number of series
 * @capacity: allocated length of the list
 */
struct series_set {
	struct metric_series *series;
	u32 count;
	u32 capacity;
};

/* number of consecutive unanswered queries after which the series of the daemon end */
#define SERIES_MISSED 2

/**
 * struct series_push - counters of the exporter for one receiver
 * @destination: value of the label "destination"; NULL if the receiver is not configured
 * @sent: number of requests that it accepted
 * @retried: number of attempts that failed and are repeated
 * @dropped: number of requests that were dropped, as in &push_counters.dropped, and of profiles
 * that were not queued
 * @queued_bytes: bytes of requests that wait
 * @rejected: number of data points that it rejected
 * @rejects: whether the receiver reports @rejected
 */
struct series_push {
	const char *destination;
	u64 sent;
	u64 retried;
	u64 dropped;
	u64 queued_bytes;
	u64 rejected;
	bool rejects;
};

/**
 * struct series_self - facts about the exporter itself and the machine
 * @start_ns: time from which the exporter's own counters count, CLOCK_REALTIME
 * @daemon_up: whether the daemon answered the last query
 * @exportable: whether the last answer was about a hardware SPU, or EXPORT_EMULATED is set
 * @emulated: whether @exportable counters are modelled and get names with "emulated"
 * @has_spe: whether a driver of this machine has an SPU
 * @missed: number of consecutive queries that the daemon did not answer, up to SERIES_MISSED
 * @scrapes: number of HTTP requests that were answered with metrics
 * @refused: number of HTTP requests that were refused
 * @query_errors: number of queries that the daemon did not answer
 * @cpu_ns: CPU time of the exporter
 * @memory: its resident memory in bytes
 * @push: counters, indexed by &enum receiver_kind
 */
struct series_self {
	u64 start_ns;
	bool daemon_up;
	bool exportable;
	bool emulated;
	bool has_spe;
	u32 missed;
	u64 scrapes;
	u64 refused;
	u64 query_errors;
	u64 cpu_ns;
	u64 memory;
	struct series_push push[3];
};

/**
 * series_build() - list all series
 * @set: all zero, or an earlier list, to reuse its memory; to be released by series_deinit()
 * @acc: counters of the daemon
 * @self: counters of the exporter
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int series_build(struct series_set *set, const struct accumulator *acc,
		 const struct series_self *self);

/**
 * series_deinit() - release the memory of a list
 * @set: zeroed
 */
void series_deinit(struct series_set *set);

/*
 * maximum number of series of the machine and the exporter, except those of levels, units and
 * latencies
 */
#define SERIES_FIXED 64

/**
 * series_count_machine() - compute the number of series that do not belong to containers
 * @acc: counters so far
 * @next: the snapshot that will be added
 *
 * Return: an upper bound.
 */
u32 series_count_machine(const struct accumulator *acc, const struct metrics_snapshot *next);

/* inclusive upper bounds of the classic buckets; the last bucket has no bound */
extern const u32 series_bounds[CLASSIC_BUCKETS - 1];

/**
 * series_to_classic_buckets() - convert to classic buckets
 * @histogram: the daemon's buckets
 * @ret_counts: cumulative counts, indexed as series_bounds; the last one counts all values
 */
void series_to_classic_buckets(const struct metrics_histogram *histogram,
			       u64 ret_counts[CLASSIC_BUCKETS]);

/* Schema of Prometheus' native histograms and scale of OTLP's exponential ones: base 2^(1/4). */
#define SERIES_SCALE   2
#define SERIES_INDICES 65

/**
 * series_to_native_buckets() - convert to buckets of native and exponential histograms
 * @histogram: the daemon's buckets
 * @ret_counts: element "index" counts the values above 2^((index - 1) / 4), up to and including
 * 2^(index / 4)
 * @ret_zero: count of the value 0
 */
void series_to_native_buckets(const struct metrics_histogram *histogram,
			      u64 ret_counts[SERIES_INDICES], u64 *ret_zero);

#endif
