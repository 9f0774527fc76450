/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series in protobuf, for scrapers, and native histograms, for remote write too. */
#ifndef SPEPROF_EXPOSE_PROTO_H
#define SPEPROF_EXPOSE_PROTO_H

#include "series.h"

struct protobuf;

/**
 * expose_proto() - encode series as delimited io.prometheus.client.MetricFamily
 * @set: the series
 * @ret_data: allocated
 * @ret_size: of @ret_data, in bytes
 *
 * Return: 0; -E2BIG above 16 MiB; -ENOMEM.
 */
int expose_proto(const struct series_set *set, char **ret_data, size_t *ret_size);

/**
 * struct native_fields - field numbers of a message with a native histogram
 * @packed: repeated numbers are packed, as proto3 has them
 *
 * A scrape and remote write have the same fields under different numbers.
 */
struct native_fields {
	u32 sum;
	u32 schema;
	u32 zero_threshold;
	u32 zero_count;
	u32 spans;
	u32 deltas;
	bool packed;
};

/**
 * native_add() - add the fields of a native histogram
 * @proto: the message, which is open
 * @fields: its field numbers
 * @histogram: the daemon's buckets
 */
void native_add(struct protobuf *proto, const struct native_fields *fields,
		const struct metrics_histogram *histogram);

#endif
