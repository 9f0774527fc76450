/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OTLP/HTTP: series as OpenTelemetry's metrics, and the variables that it is set up by. */
#ifndef SPEPROF_OTLP_H
#define SPEPROF_OTLP_H

#include "series.h"

#define OTLP_HEADERS	16
#define OTLP_ATTRIBUTES 32

/** struct otlp_attribute - of the resource, printable */
struct otlp_attribute {
	char name[128];
	char value[256];
};

/**
 * struct otlp_config - what OTEL_EXPORTER_OTLP_* say; empty strings for nothing
 * @url: of metrics
 * @headers: "Name: value"
 * @attributes: OTEL_RESOURCE_ATTRIBUTES, @attribute_count of them, each name once
 * @service: OTEL_SERVICE_NAME
 * @interval: seconds; 0 for nothing
 * @timeout: seconds; 0 for nothing
 */
struct otlp_config {
	char url[900];
	char headers[OTLP_HEADERS][512];
	unsigned int header_count;
	struct otlp_attribute attributes[OTLP_ATTRIBUTES];
	unsigned int attribute_count;
	char service[128];
	char authorities[256];
	char certificate[256];
	char key[256];
	u32 interval;
	u32 timeout;
	bool gzip;
};

/** otlp_config_wanted() - whether the environment has an endpoint */
bool otlp_config_wanted(void);

/** otlp_config_any() - the first variable of OpenTelemetry's that says anything, NAME=VALUE, or NULL */
const char *otlp_config_any(void);

/**
 * otlp_config_read() - from the environment; the variables of metrics go first
 * @url: goes before the environment's; "" for none
 * @ret_why: on failure, which variable should be what
 *
 * Return: 0 or -EINVAL.
 */
int otlp_config_read(struct otlp_config *ret_config, const char *url, char *ret_why,
		     size_t why_size);

/**
 * otlp_encode() - an ExportMetricsServiceRequest
 * @host: the resource's host.name and service.instance.id, where its attributes have none
 * @time_ns: CLOCK_REALTIME, the time of the points; all starts are before it
 * @ret_data: allocated; compressed if @config->gzip
 */
int otlp_encode(const struct series_set *set, const struct otlp_config *config, const char *host,
		u64 time_ns, char **ret_data, size_t *ret_size);

/**
 * otlp_rejected() - what of a request was not taken, by an answer that is none of failure
 * @data: of the answer; nothing of it is trusted
 * @ret_message: why, printable; "" for nothing
 *
 * Return: data points; 0 also for what is no answer.
 */
u64 otlp_rejected(const u8 *data, size_t data_size, char *ret_message, size_t size);

#endif
