/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests of Prometheus remote write 1.0: a WriteRequest, compressed by snappy. */
#ifndef SPEPROF_REMOTE_WRITE_H
#define SPEPROF_REMOTE_WRITE_H

#include "series.h"
#include "staleness.h"

#define REMOTE_WRITE_HEADERS                                                        \
	{                                                                           \
		"Content-Type: application/x-protobuf", "Content-Encoding: snappy", \
			"X-Prometheus-Remote-Write-Version: 0.1.0",                 \
	}

/**
 * struct remote_write - state of the requests to one receiver
 * @host: value of the label "instance"; the label "job" is "speprof"
 * @native: whether to send native histograms instead of classic ones
 * @last: series of the last request; to be released by staleness_clear()
 */
struct remote_write {
	const char *host;
	bool native;
	struct staleness_list last;
};

/**
 * remote_write_encode() - encode the next request
 * @write: &remote_write.last is updated on success
 * @set: the series; NULL if all have ended
 * @time_ms: CLOCK_REALTIME in milliseconds, the time of all samples
 * @ret_data: allocated
 * @ret_size: bytes of @ret_data
 *
 * Each series of the last request that is missing in @set gets a stale marker.
 *
 * Return: 0; -E2BIG if the request exceeds 16 MiB before compression; -ENOMEM if memory cannot be
 * allocated.
 */
int remote_write_encode(struct remote_write *write, const struct series_set *set, s64 time_ms,
			char **ret_data, size_t *ret_size);

#endif
