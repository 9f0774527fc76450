/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a scraper gets: series in the formats that Prometheus understands. */
#ifndef SPEPROF_EXPOSE_H
#define SPEPROF_EXPOSE_H

#include "series.h"

enum expose_format {
	EXPOSE_OPENMETRICS,	/* application/openmetrics-text; version=1.0.0 */
	EXPOSE_TEXT,		/* text/plain; version=0.0.4 */
	EXPOSE_PROTOBUF,	/* io.prometheus.client.MetricFamily, delimited: native histograms */
	EXPOSE_FORMATS,
};

/** expose_type() - of @format, for Content-Type */
const char *expose_type(enum expose_format format);

/**
 * expose_negotiate() - the format that an Accept header likes best
 * @accept: of whoever asks, or NULL
 * @native: whether protobuf is offered
 */
enum expose_format expose_negotiate(const char *accept, bool native);

/**
 * expose_series() - @set in @format
 * @ret_data: allocated
 *
 * Return: 0 or negative errno: -E2BIG above 16 MiB of protobuf, or 64 MiB of text.
 */
int expose_series(const struct series_set *set, enum expose_format format, char **ret_data,
		  size_t *ret_size);

#endif
