/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series as protocol buffers: what scrapers and receivers of remote write take. */
#ifndef SPEPROF_EXPOSE_PROTO_H
#define SPEPROF_EXPOSE_PROTO_H

#include "series.h"

struct protobuf;

/** expose_proto() - delimited io.prometheus.client.MetricFamily; @ret_data is allocated */
int expose_proto(const struct series_set *set, char **ret_data, size_t *ret_size);

/**
 * struct native_fields - where a message of native histograms has its fields
 *
 * Those of a scrape and of remote write say the same under different numbers.
 */
struct native_fields {
	u32 sum;
	u32 schema;
	u32 zero_threshold;
	u32 zero_count;
	u32 spans;
	u32 deltas;
	bool packed; /* numbers that repeat, as proto3 has them */
};

/** native_add() - the fields of @histogram to the message that is open */
void native_add(struct protobuf *proto, const struct native_fields *fields,
		const struct metrics_histogram *histogram);

#endif
