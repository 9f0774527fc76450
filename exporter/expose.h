/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encode series in the formats that Prometheus parses. */
#ifndef SPEPROF_EXPOSE_H
#define SPEPROF_EXPOSE_H

#include "series.h"

/**
 * enum expose_format - a format of the metrics
 * @EXPOSE_OPENMETRICS: application/openmetrics-text; version=1.0.0
 * @EXPOSE_TEXT: text/plain; version=0.0.4
 * @EXPOSE_PROTOBUF: delimited io.prometheus.client.MetricFamily; has native histograms and start
 * times
 * @EXPOSE_FORMATS: number of formats
 */
enum expose_format {
	EXPOSE_OPENMETRICS,
	EXPOSE_TEXT,
	EXPOSE_PROTOBUF,
	EXPOSE_FORMATS,
};

/**
 * expose_get_content_type() - return the value of Content-Type for a format
 * @format: the format
 */
const char *expose_get_content_type(enum expose_format format);

/**
 * expose_negotiate_format() - choose the format that a client prefers
 * @accept: Accept header of the client; NULL: none
 * @native: whether EXPOSE_PROTOBUF may be chosen
 *
 * Return: the format; EXPOSE_TEXT if the client names none of them.
 */
enum expose_format expose_negotiate_format(const char *accept, bool native);

/**
 * expose_series() - encode series
 * @set: the series
 * @format: the format
 * @ret_data: allocated
 * @ret_size: bytes of @ret_data
 *
 * Return: 0; -E2BIG if the result exceeds 16 MiB of protobuf or 64 MiB of text; -ENOMEM if memory
 * cannot be allocated.
 */
int expose_series(const struct series_set *set, enum expose_format format, char **ret_data,
		  size_t *ret_size);

#endif
