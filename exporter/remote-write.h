/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prometheus remote write 1.0: a WriteRequest, compressed by snappy. */
#ifndef SPEPROF_REMOTE_WRITE_H
#define SPEPROF_REMOTE_WRITE_H

#include "series.h"

#define REMOTE_WRITE_HEADERS                                                               \
	{                                                                                  \
		"Content-Type: application/x-protobuf", "Content-Encoding: snappy",        \
			"X-Prometheus-Remote-Write-Version: 0.1.0",                        \
	}

/**
 * remote_write_encode() - all of @set as of one moment
 * @host: the value of the label "instance"; "job" is "speprof"
 * @time_ms: CLOCK_REALTIME
 * @native: histograms as native ones, else as 14 series each
 * @ret_data: allocated
 */
int remote_write_encode(const struct series_set *set, const char *host, s64 time_ms, bool native,
			char **ret_data, size_t *ret_size);

#endif
