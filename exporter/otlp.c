// SPDX-License-Identifier: LGPL-2.1-or-later
/* The field numbers are those of tests/exporter/schema/otlp.proto, which protoc checks. */
#include "otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "buffer.h"
#include "util/protobuf.h"
#include "speprof-version.h"

#define BOUND (16U << 20)

/* opentelemetry.proto.metrics.v1 and related packages */
enum {
	REQUEST_RESOURCE = 1,
	RESOURCE_RESOURCE = 1,
	RESOURCE_SCOPE = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_SCOPE = 1,
	SCOPE_METRICS = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_GAUGE = 5,
	METRIC_SUM = 7,
	METRIC_EXPONENTIAL = 10,
	DATA_POINTS = 1,
	DATA_TEMPORALITY = 2,
	DATA_MONOTONIC = 3,
	CUMULATIVE = 2,
	NUMBER_START = 2,
	NUMBER_TIME = 3,
	NUMBER_DOUBLE = 4,
	NUMBER_ATTRIBUTES = 7,
	HISTOGRAM_ATTRIBUTES = 1,
	HISTOGRAM_START = 2,
	HISTOGRAM_TIME = 3,
	HISTOGRAM_COUNT = 4,
	HISTOGRAM_SUM = 5,
	HISTOGRAM_SCALE = 6,
	HISTOGRAM_ZERO = 7,
	HISTOGRAM_POSITIVE = 8,
	BUCKETS_OFFSET = 1,
	BUCKETS_COUNTS = 2,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
};

struct otlp_request {
	struct protobuf proto;
	u64 time_ns;
};

static void add_attribute(struct protobuf *p, u32 field, const char *key, const char *value)
{
	protobuf_open_message(p, field);
	protobuf_write_string(p, PAIR_KEY, key);
	protobuf_open_message(p, PAIR_VALUE);
	protobuf_write_string(p, VALUE_STRING, value);
	protobuf_close_message(p);
	protobuf_close_message(p);
}

static bool has_attribute(const struct otlp_config *config, const char *name)
{
	for (unsigned int i = 0; i < config->attribute_count; i++)
		if (!strcmp(config->attributes[i].name, name))
			return true;
	return false;
}

/* Add each attribute once, by precedence: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, defaults. */
static void add_resource(struct protobuf *p, const struct otlp_config *config, const char *host)
{
	const struct otlp_attribute *a = config->attributes;
	const struct {
		const char *name;
		const char *value;
	} known[] = {
		{ "service.name", "speprof" },
		{ "service.instance.id", host },
		{ "host.name", host },
	};

	protobuf_open_message(p, RESOURCE_RESOURCE);
	if (*config->service)
		add_attribute(p, RESOURCE_ATTRIBUTES, "service.name", config->service);
	for (unsigned int i = 0; i < config->attribute_count; i++)
		if (!*config->service || strcmp(a[i].name, "service.name"))
			add_attribute(p, RESOURCE_ATTRIBUTES, a[i].name, a[i].value);
	for (unsigned int i = *config->service ? 1 : 0; i < ARRAY_SIZE(known); i++)
		if (!has_attribute(config, known[i].name))
			add_attribute(p, RESOURCE_ATTRIBUTES, known[i].name, known[i].value);
	protobuf_close_message(p);
}

static void add_number_point(struct otlp_request *r, const struct metric_series *s)
{
	struct protobuf *p = &r->proto;

	protobuf_open_message(p, DATA_POINTS);
	if (s->family->type == SERIES_COUNTER)
		protobuf_write_fixed64(p, NUMBER_START, s->start_ns);
	protobuf_write_fixed64(p, NUMBER_TIME, r->time_ns);
	protobuf_write_double(p, NUMBER_DOUBLE, s->value);
	for (u32 i = 0; i < s->labels; i++)
		add_attribute(p, NUMBER_ATTRIBUTES, s->label[i].name, s->label[i].value);
	protobuf_close_message(p);
}

/*
 * Add the buckets of Prometheus' schema 2. Prometheus numbers a bucket by the exponent of its upper
 * bound, OpenTelemetry by the exponent of its lower bound, so the offset is one less.
 */
static void add_buckets(struct protobuf *p, const u64 *counts)
{
	unsigned int first = 0, end = SERIES_INDICES;

	while (first < SERIES_INDICES && !counts[first])
		first++;
	while (end > first && !counts[end - 1])
		end--;
	protobuf_open_message(p, HISTOGRAM_POSITIVE);
	protobuf_write_zigzag(p, BUCKETS_OFFSET, (s64)first - 1);
	protobuf_open_message(p, BUCKETS_COUNTS);
	for (unsigned int i = first; i < end; i++)
		protobuf_append_packed(p, counts[i]);
	protobuf_close_message(p);
	protobuf_close_message(p);
}

static void add_histogram(struct otlp_request *r, const struct metric_series *s)
{
	u64 counts[SERIES_INDICES], zero, sum;
	struct protobuf *p = &r->proto;

	series_to_native_buckets(s->histogram, counts, &zero);
	sum = zero;
	for (unsigned int i = 0; i < SERIES_INDICES; i++)
		sum += counts[i];
	protobuf_open_message(p, DATA_POINTS);
	for (u32 i = 0; i < s->labels; i++)
		add_attribute(p, HISTOGRAM_ATTRIBUTES, s->label[i].name, s->label[i].value);
	protobuf_write_fixed64(p, HISTOGRAM_START, s->start_ns);
	protobuf_write_fixed64(p, HISTOGRAM_TIME, r->time_ns);
	protobuf_write_fixed64(p, HISTOGRAM_COUNT, sum);
	protobuf_write_double(p, HISTOGRAM_SUM, (double)s->histogram->sum);
	protobuf_write_zigzag(p, HISTOGRAM_SCALE, SERIES_SCALE);
	protobuf_write_fixed64(p, HISTOGRAM_ZERO, zero);
	add_buckets(p, counts);
	protobuf_close_message(p);
}

/*
 * Return the unit in UCUM notation. Metrics without a unit have "" and not "1": a collector appends
 * "_ratio" to the name of a gauge with "1" when it exports to Prometheus.
 */
static const char *get_ucum_unit(const struct series_family *f)
{
	if (!strcmp(f->unit, "seconds"))
		return "s";
	if (!strcmp(f->unit, "bytes"))
		return "By";
	return !strcmp(f->unit, "cycles") ? "{cycle}" : "";
}

/* Add a metric: all series of the family of @s. Return: the number of these series. */
static u32 add_metric(struct otlp_request *r, const struct metric_series *s, u32 count)
{
	static const u32 kinds[] = {
		[SERIES_COUNTER] = METRIC_SUM,
		[SERIES_GAUGE] = METRIC_GAUGE,
		[SERIES_HISTOGRAM] = METRIC_EXPONENTIAL,
	};
	const struct series_family *f = s->family;
	struct protobuf *p = &r->proto;
	u32 n;

	protobuf_open_message(p, SCOPE_METRICS);
	protobuf_write_string(p, METRIC_NAME, f->name);
	protobuf_write_string(p, METRIC_DESCRIPTION, f->help);
	protobuf_write_string(p, METRIC_UNIT, get_ucum_unit(f));
	protobuf_open_message(p, kinds[f->type]);
	for (n = 0; n < count && s[n].family == f; n++) {
		if (s[n].histogram)
			add_histogram(r, &s[n]);
		else
			add_number_point(r, &s[n]);
	}
	if (f->type != SERIES_GAUGE)
		protobuf_write_varint(p, DATA_TEMPORALITY, CUMULATIVE);
	if (f->type == SERIES_COUNTER)
		protobuf_write_varint(p, DATA_MONOTONIC, 1);
	protobuf_close_message(p);
	protobuf_close_message(p);
	return n;
}

static int compress_body(const struct protobuf *proto, char **ret_data, size_t *ret_size)
{
	z_stream z = { .next_in = proto->data, .avail_in = (uInt)proto->size };
	size_t size;
	char *data;
	int r;

	/* 15: log2 of the compression window; + 16: the format of gzip */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	size = deflateBound(&z, proto->size);
	data = malloc(size);
	z.next_out = (Bytef *)data;
	z.avail_out = (uInt)size;
	r = data ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
	*ret_size = z.total_out;
	deflateEnd(&z);
	if (r != Z_STREAM_END) {
		free(data);
		return -ENOMEM;
	}
	*ret_data = buffer_shrink_allocation(data, *ret_size);
	return 0;
}

int otlp_encode(const struct series_set *set, const struct otlp_config *config, const char *host,
		u64 time_ns, char **ret_data, size_t *ret_size)
{
	struct otlp_request request = { .time_ns = time_ns };
	struct protobuf *p = &request.proto;
	int r;

	protobuf_init(p, BOUND);
	protobuf_open_message(p, REQUEST_RESOURCE);
	add_resource(p, config, host);
	protobuf_open_message(p, RESOURCE_SCOPE);
	protobuf_open_message(p, SCOPE_SCOPE);
	protobuf_write_string(p, SCOPE_NAME, "speprof");
	protobuf_write_string(p, SCOPE_VERSION, SPEPROF_VERSION);
	protobuf_close_message(p);
	for (u32 i = 0; i < set->count;)
		i += add_metric(&request, &set->series[i], set->count - i);
	protobuf_close_message(p);
	protobuf_close_message(p);
	r = p->error;
	if (r >= 0 && config->gzip) {
		r = compress_body(p, ret_data, ret_size);
	} else if (r >= 0) {
		*ret_data = buffer_shrink_allocation((char *)p->data, p->size);
		*ret_size = p->size;
		return 0;
	}
	protobuf_deinit(p);
	return r;
}
