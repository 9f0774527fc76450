/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prometheus remote write 1.0: a WriteRequest, compressed by snappy. */
#ifndef SPEPROF_REMOTE_WRITE_H
#define SPEPROF_REMOTE_WRITE_H

#include "series.h"
#include "staleness.h"

#define REMOTE_WRITE_HEADERS                                                               \
	{                                                                                  \
		"Content-Type: application/x-protobuf", "Content-Encoding: snappy",        \
			"X-Prometheus-Remote-Write-Version: 0.1.0",                        \
	}

/**
 * struct remote_write
 * @host: the value of the label "instance"; "job" is "speprof"
 * @native: histograms as native ones, else as 14 series each
 * @last: series of the last request; staleness_clear() frees them
 */
struct remote_write {
	const char *host;
	bool native;
	struct staleness last;
};

/**
 * remote_write_encode() - all of @set as of one moment, and an end of each series that it lacks
 * @set: NULL: all have ended
 * @time_ms: CLOCK_REALTIME
 * @ret_data: allocated
 */
int remote_write_encode(struct remote_write *write, const struct series_set *set, s64 time_ms,
			char **ret_data, size_t *ret_size);

#endif
