/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The measures of a row: rows are sorted by a measure, and their shares are shares of a measure. A
 * measure has the same name on the command line and in JSON.
 */
#ifndef SPEPROF_MEASURE_H
#define SPEPROF_MEASURE_H

#include "profile/counters.h"

/**
 * enum measure - a number that is computed from &struct profile_counters
 *
 * MEASURE_LEVEL + &enum spe_level is the number of loads and stores that this level served.
 * MEASURE_EVENT + a bit number of the Events packet is the number of samples with that event.
 */
enum measure {
	MEASURE_OPERATIONS, /* operations that the samples represent, or samples */
	MEASURE_SAMPLES,
	MEASURE_LATENCY, /* sum of total latencies */
	MEASURE_MEAN,
	MEASURE_P50,
	MEASURE_P99,
	MEASURE_ISSUE,
	MEASURE_ISSUE_P99,
	MEASURE_TRANSLATION,
	MEASURE_TRANSLATION_P99,
	MEASURE_MEMORY,
	MEASURE_LOADS,
	MEASURE_STORES,
	MEASURE_BRANCHES,
	MEASURE_MISPREDICTED,
	MEASURE_SIMD,
	MEASURE_DRAM,
	MEASURE_REMOTE,
	MEASURE_SNOOPED,
	MEASURE_PEER,
	MEASURE_MODIFIED,
	MEASURES_NAMED,
	MEASURE_LEVEL = MEASURES_NAMED,
	MEASURE_EVENT = MEASURE_LEVEL + SPE_LEVELS,
	MEASURES = MEASURE_EVENT + SAMPLE_EVENTS,
};

/* All names, for error messages about an unknown name. */
#define MEASURE_LIST                                                                           \
	"operations, samples, latency, mean, p50, p99, issue, issue_p99, translation, "        \
	"translation_p99, memory, loads, stores, branches, mispredicted, simd, dram, remote, " \
	"snooped, peer, modified, or the name of a level or event"

/* Maximum size of the name or heading of a measure in bytes, with its NUL. */
#define MEASURE_NAME_SIZE 40

/**
 * measure_parse() - find a measure by its name
 * @name: the name. "level.NAME" and "event.NAME" select a level or an event with a plain name that
 *	means something else, such as "event.mispredicted"
 * @ret_measure: the measure
 *
 * Return: 0, or -EINVAL for an unknown name.
 */
int measure_parse(const char *name, enum measure *ret_measure);

/**
 * measure_format_name() - write the name of a measure, which measure_parse() accepts
 * @to: receives the name; MEASURE_NAME_SIZE bytes
 */
void measure_format_name(enum measure measure, char *to);

/**
 * measure_format_heading() - write the heading of a column with the measure to @to,
 * MEASURE_NAME_SIZE bytes
 */
void measure_format_heading(enum measure measure, char *to);

/**
 * measure_is_sum() - return whether the values of two sets of samples add up
 *
 * Means and percentiles do not add up, and therefore have no share.
 */
bool measure_is_sum(enum measure measure);

/**
 * measure_is_issue_or_translation() - return whether @measure is about issue or translation
 * latency
 */
bool measure_is_issue_or_translation(enum measure measure);

/**
 * measure_is_known_for_period() - return whether @measure is known for the locations of a period
 * (&struct history_row)
 */
bool measure_is_known_for_period(enum measure measure);

/* Names of the measures of measure_is_known_for_period(), for error messages. */
#define MEASURE_PERIOD_LIST \
	"operations, samples, latency, memory, dram, remote, branches and mispredicted"

/**
 * measure_compute() - compute a measure
 * @counters: the counters of the samples, after counters_sum_histograms()
 * @unit: &enum sample_unit of MEASURE_OPERATIONS. If it is UNITS, MEASURE_OPERATIONS is the number
 *	of samples
 *
 * Return: a count, or cycles.
 */
double measure_compute(enum measure measure, const struct profile_counters *counters,
		       unsigned int unit);

#endif
