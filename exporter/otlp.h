/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OTLP/HTTP: the environment variables that configure it, its requests and its answers */
#ifndef SPEPROF_OTLP_H
#define SPEPROF_OTLP_H

#include "series.h"

#define OTLP_HEADERS	16
#define OTLP_ATTRIBUTES 32

/** struct otlp_attribute - an attribute of the resource; both texts are printable UTF-8 */
struct otlp_attribute {
	char name[128];
	char value[256];
};

/**
 * struct otlp_config - the variables of OpenTelemetry; "" and 0: not set
 * @url: URL to which metrics are sent
 * @headers: headers of the form "Name: value"
 * @header_count: number of @headers
 * @attributes: attributes in OTEL_RESOURCE_ATTRIBUTES, each name once
 * @attribute_count: number of @attributes
 * @service: OTEL_SERVICE_NAME
 * @authorities: path of a file with certificate authorities
 * @certificate: path of the client's certificate
 * @key: path of the certificate's key
 * @interval: seconds between two requests
 * @timeout: seconds after which a request fails
 * @gzip: whether to compress requests
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

/**
 * otlp_config_is_set() - return whether the environment sets an endpoint of OTLP
 */
bool otlp_config_is_set(void);

/**
 * otlp_config_find_variable() - find a variable of OpenTelemetry
 *
 * Return: the first one that is not empty, as "NAME=VALUE" in environ; NULL if there is none.
 */
const char *otlp_config_find_variable(void);

/**
 * otlp_config_read() - read the environment
 * @ret_config: untouched on failure
 * @url: has precedence over the environment's endpoint; "" for none
 * @ret_why: on failure, which variable is wrong, and the accepted values
 * @why_size: bytes of @ret_why
 *
 * OTEL_EXPORTER_OTLP_METRICS_* have precedence over OTEL_EXPORTER_OTLP_*.
 *
 * Return: 0; -EINVAL if a variable is wrong.
 */
int otlp_config_read(struct otlp_config *ret_config, const char *url, char *ret_why,
		     size_t why_size);

/**
 * otlp_encode() - encode an ExportMetricsServiceRequest
 * @set: the series
 * @config: attributes of the resource, and compression
 * @host: value of host.name and service.instance.id of the resource, unless @config sets these
 * attributes
 * @time_ns: CLOCK_REALTIME, the time of all points; all start times are before it
 * @ret_data: allocated
 * @ret_size: bytes of @ret_data
 *
 * Return: 0; -E2BIG if the request exceeds 16 MiB before compression; -ENOMEM if memory cannot be
 * allocated.
 */
int otlp_encode(const struct series_set *set, const struct otlp_config *config, const char *host,
		u64 time_ns, char **ret_data, size_t *ret_size);

/**
 * otlp_count_rejected() - parse an ExportMetricsServiceResponse
 * @data: body of an answer with status 200; any bytes
 * @data_size: bytes of @data
 * @ret_message: why the collector rejected data points, printable; "": no reason
 * @size: bytes of @ret_message
 *
 * Return: number of rejected data points; 0 if the answer cannot be parsed.
 */
u64 otlp_count_rejected(const u8 *data, size_t data_size, char *ret_message, size_t size);

#endif
