/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of metrics. scripts/metrics-reference writes it to Documentation/reference/metrics.md.
 */
#ifndef SPEPROF_FAMILIES_H
#define SPEPROF_FAMILIES_H

/** enum family_id - index into series_families[], in the order of the output */
enum family_id {
	FAMILY_DAEMON_UP,
	FAMILY_SPE_AVAILABLE,
	FAMILY_BUILD,
	FAMILY_CPUS,
	FAMILY_CPUS_STOPPED,
	FAMILY_INTERVAL,
	FAMILY_RECORDS,
	FAMILY_WRITTEN,
	FAMILY_FILTERED,
	FAMILY_BYTES,
	FAMILY_ENABLED,
	FAMILY_BLIND,
	FAMILY_UNHANDLED,
	FAMILY_UNATTRIBUTED,
	FAMILY_EVICTED,
	FAMILY_EVICTIONS,
	FAMILY_EVENTS_LOST,
	FAMILY_MAPPINGS_LOST,
	FAMILY_LOOKUPS_UNANSWERED,
	FAMILY_FAULTS,
	FAMILY_HELD_BACK,
	FAMILY_DAEMON_CPU,
	FAMILY_DAEMON_MEMORY,
	FAMILY_OPERATIONS,
	FAMILY_ACCESSES,
	FAMILY_REMOTE,
	FAMILY_FALSE_SHARING,
	FAMILY_BRANCHES,
	FAMILY_MISPREDICTED,
	FAMILY_LATENCY,
	FAMILY_CONTAINER_SAMPLES,
	FAMILY_CONTAINER_OPERATIONS,
	FAMILY_CONTAINER_ACCESSES,
	FAMILY_CONTAINER_REMOTE,
	FAMILY_CONTAINER_BRANCHES,
	FAMILY_CONTAINER_MISPREDICTED,
	FAMILY_CONTAINER_LATENCY,
	FAMILY_SELF_CPU,
	FAMILY_SELF_MEMORY,
	FAMILY_SELF_SERIES,
	FAMILY_SELF_CONTAINERS,
	FAMILY_SELF_SCRAPES,
	FAMILY_SELF_QUERY_ERRORS,
	FAMILY_PUSH_SENT,
	FAMILY_PUSH_RETRIED,
	FAMILY_PUSH_DROPPED,
	FAMILY_PUSH_REJECTED,
	FAMILY_PUSH_QUEUED,
	FAMILY_COUNT,
};

enum series_type {
	SERIES_COUNTER,
	SERIES_GAUGE,
	SERIES_HISTOGRAM,
};

/**
 * struct series_family - a metric: all series with one name
 * @name: name without the "_total" of counters; if there is a unit, the name ends with the unit
 * @unit: unit as OpenMetrics names it: "seconds", "bytes" or "cycles"; "": none
 * @help: a sentence, for HELP and the reference
 * @type: type of all its series
 * @labels: for the reference: labels that the metric has besides those of [Labels], as "NAME:
 * VALUES", separated by "; "; NULL: none
 */
struct series_family {
	const char *name;
	const char *unit;
	const char *help;
	enum series_type type;
	const char *labels;
};

/* all metrics, indexed by &enum family_id */
extern const struct series_family series_families[FAMILY_COUNT];

/**
 * family_get_emulated() - return a metric with the name under which modelled data is served
 * @id: the metric
 *
 * Metrics of the daemon are then named "speprof_emulated_...". Metrics of the exporter itself, and
 * those that show whether there are a daemon and an SPE, are no modelled data and keep their names.
 */
const struct series_family *family_get_emulated(enum family_id id);

#endif
