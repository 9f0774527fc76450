/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encode series in protobuf for scrapers, and native histograms also for remote write. */
#ifndef SPEPROF_EXPOSE_PROTO_H
#define SPEPROF_EXPOSE_PROTO_H

#include "series.h"

struct protobuf;

/**
 * expose_protobuf() - encode series as delimited io.prometheus.client.MetricFamily
 * @set: the series
 * @ret_data: allocated
 * @ret_size: bytes of @ret_data
 *
 * Return: 0; -E2BIG if the result exceeds 16 MiB; -ENOMEM if memory cannot be allocated.
 */
int expose_protobuf(const struct series_set *set, char **ret_data, size_t *ret_size);

/**
 * struct native_histogram_fields - field numbers of a message with a native histogram
 * @packed: whether repeated numbers are packed, as in proto3
 *
 * A scrape and a remote write have the same fields with different numbers.
 */
struct native_histogram_fields {
	u32 sum;
	u32 schema;
	u32 zero_threshold;
	u32 zero_count;
	u32 spans;
	u32 deltas;
	bool packed;
};

/**
 * expose_proto_add_native() - add the fields of a native histogram to a message
 * @proto: the message, which is open
 * @fields: field numbers of @proto
 * @histogram: the daemon's buckets
 */
void expose_proto_add_native(struct protobuf *proto, const struct native_histogram_fields *fields,
			     const struct metrics_histogram *histogram);

#endif
