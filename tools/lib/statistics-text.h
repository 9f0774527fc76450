/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Print statistics of a container, process or function as JSON and as text. The JSON has the same
 * format for the daemon and for a recording.
 */
#ifndef SPEPROF_STATISTICS_TEXT_H
#define SPEPROF_STATISTICS_TEXT_H

#include <json-c/json.h>

#include "profile/counters.h"

/* A line that is printed if all values but the number of samples come from a model */
#define STATISTICS_MODELLED "An emulated SPU: all but the number of samples is modelled."

/**
 * statistics_json() - convert counters to JSON
 * @counters: the counters
 * @backend: name of the backend
 *
 * Return: an object with the keys of D-Bus GetFigures, which the caller frees by json_object_put();
 * NULL if memory cannot be allocated.
 */
json_object *statistics_json(const struct profile_counters *counters, const char *backend);

/**
 * statistics_print() - print counts, and means and percentiles of latencies
 * @object: an object from statistics_json()
 */
void statistics_print(json_object *object);

/**
 * statistics_find_quantile() - return the upper bound of the bucket that contains a quantile
 * @latency: an array of count, sum and buckets, such as the member "latency_total" of
 * statistics_json()
 * @permille: the quantile, 0 to 1000
 */
u64 statistics_find_quantile(json_object *latency, u32 permille);

/** statistics_print_histograms() - print a histogram of each latency of @object */
void statistics_print_histograms(json_object *object);

#endif
