/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The details of a container or of the machine in the history: a JSON object. It contains the
 * counters of operations, events and levels that are not 0, and the histogram of the total latency.
 * SQL adds up the objects of several periods.
 */
#ifndef SPEPROF_DETAILS_H
#define SPEPROF_DETAILS_H

#include "profile/counters.h"

/* Maximum size of the JSON object of a row's details in bytes, with its NUL. */
#define DETAILS_SIZE 4096

/**
 * details_write() - write the details of a set of samples
 * @counters: the counters, after counters_sum_histograms()
 * @to: receives the object, NUL-terminated; DETAILS_SIZE bytes
 */
void details_write(const struct profile_counters *counters, char *to);

/**
 * details_add() - add the details of an object to counters
 * @text: an object; unknown keys are skipped. The text is untrusted: the function stops at invalid
 *	text
 * @to: receives all counters except the number of samples and the weights. Call
 *	counters_sum_histograms() afterwards
 *
 * Maxima of latencies become the upper bounds of the highest buckets in use.
 */
void details_add(const char *text, struct profile_counters *to);

/* Maximum size of the JSON object of a row's latencies in bytes, with its NUL. */
#define DETAILS_LATENCIES_SIZE 2048

/**
 * details_write_latencies() - write the numbers of samples by total latency
 * @bucket: number of samples in each histogram bucket
 * @to: receives the object, NUL-terminated; DETAILS_LATENCIES_SIZE bytes. Its keys are the largest
 *	values of the buckets with samples
 */
void details_write_latencies(const u64 bucket[static HISTOGRAM_BUCKETS], char *to);

/**
 * details_add_latencies() - add an object that details_write_latencies() wrote
 * @text: the object. The text is untrusted: the function stops at invalid text
 * @to: receives the buckets, and their number and maximum
 */
void details_add_latencies(const char *text, struct histogram *to);

#endif
