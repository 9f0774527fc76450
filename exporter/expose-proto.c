// SPDX-License-Identifier: LGPL-2.1-or-later
/* The field numbers are those of tests/exporter/schema/metrics.proto, which protoc checks. */
#include "expose-proto.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/protobuf.h"

#define BOUND (16U << 20)

/* io.prometheus.client */
enum {
	FAMILY_NAME = 1,
	FAMILY_HELP = 2,
	FAMILY_TYPE = 3,
	FAMILY_METRIC = 4,
	METRIC_LABEL = 1,
	METRIC_GAUGE = 2,
	METRIC_COUNTER = 3,
	METRIC_HISTOGRAM = 7,
	COUNTER_CREATED = 3,
	HISTOGRAM_CREATED = 15,
	TIMESTAMP_SECONDS = 1,
	TIMESTAMP_NANOS = 2,
	PAIR_NAME = 1,
	PAIR_VALUE = 2,
	VALUE = 1, /* field "value" of a gauge, and of a counter */
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_BUCKET = 3,
	BUCKET_COUNT = 1,
	BUCKET_BOUND = 2,
	SPAN_OFFSET = 1,
	SPAN_LENGTH = 2,
};

/* io.prometheus.client.MetricType */
static const u64 type_numbers[] = {
	[SERIES_COUNTER] = 0,
	[SERIES_GAUGE] = 1,
	[SERIES_HISTOGRAM] = 4,
};

static const struct native_histogram_fields scrape_fields = {
	.sum = 2,
	.schema = 5,
	.zero_threshold = 6,
	.zero_count = 7,
	.spans = 12,
	.deltas = 13,
};

/*
 * For this number of empty buckets, starting a new span takes fewer bytes than continuing the old
 * one.
 */
#define SPAN_GAP 3

/* Return the end of the span that begins at @from, where the count is not 0. */
static unsigned int span_end(const u64 *counts, unsigned int from)
{
	unsigned int end = from, empty = 0;

	for (unsigned int i = from; i < SERIES_INDICES && empty < SPAN_GAP; i++) {
		empty = counts[i] ? 0 : empty + 1;
		if (counts[i])
			end = i + 1;
	}
	return end;
}

static unsigned int span_start(const u64 *counts, unsigned int from)
{
	while (from < SERIES_INDICES && !counts[from])
		from++;
	return from;
}

static void add_spans(struct protobuf *p, const struct native_histogram_fields *fields,
		      const u64 *counts)
{
	unsigned int at = 0, start, end;

	for (;; at = end) {
		start = span_start(counts, at);
		if (start == SERIES_INDICES)
			return;
		end = span_end(counts, start);
		protobuf_open_message(p, fields->spans);
		protobuf_write_zigzag(p, SPAN_OFFSET, (s64)start - (s64)at);
		protobuf_write_varint(p, SPAN_LENGTH, end - start);
		protobuf_close_message(p);
	}
}

static void add_deltas(struct protobuf *p, const struct native_histogram_fields *fields,
		       const u64 *counts)
{
	unsigned int start, end;
	u64 before = 0;

	if (fields->packed)
		protobuf_open_message(p, fields->deltas);
	for (start = span_start(counts, 0); start < SERIES_INDICES;
	     start = span_start(counts, end)) {
		end = span_end(counts, start);
		for (unsigned int i = start; i < end; i++) {
			if (fields->packed)
				protobuf_append_packed_zigzag(p, (s64)(counts[i] - before));
			else
				protobuf_write_zigzag(p, fields->deltas, (s64)(counts[i] - before));
			before = counts[i];
		}
	}
	if (fields->packed)
		protobuf_close_message(p);
}

void expose_proto_add_native(struct protobuf *proto, const struct native_histogram_fields *fields,
			     const struct metrics_histogram *histogram)
{
	u64 counts[SERIES_INDICES], zero;

	series_to_native_buckets(histogram, counts, &zero);
	protobuf_write_double(proto, fields->sum, (double)histogram->sum);
	protobuf_write_zigzag(proto, fields->schema, SERIES_SCALE);
	/*
	 * Write a threshold other than 0: a parser would treat a histogram without other buckets
	 * and with a threshold of 0 as a classic histogram.
	 */
	protobuf_write_double(proto, fields->zero_threshold, 0x1p-128);
	protobuf_write_varint(proto, fields->zero_count, zero);
	add_spans(proto, fields, counts);
	add_deltas(proto, fields, counts);
}

/* Add the time from which @s counts, which is the time of the last counter reset. */
static void add_created_time(struct protobuf *p, u32 field, const struct metric_series *s)
{
	protobuf_open_message(p, field);
	protobuf_write_varint(p, TIMESTAMP_SECONDS, s->start_ns / 1000000000);
	protobuf_write_varint(p, TIMESTAMP_NANOS, s->start_ns % 1000000000);
	protobuf_close_message(p);
}

static void add_histogram(struct protobuf *p, const struct metric_series *s)
{
	const struct metrics_histogram *h = s->histogram;
	u64 counts[CLASSIC_BUCKETS];

	series_to_classic_buckets(h, counts);
	protobuf_open_message(p, METRIC_HISTOGRAM);
	protobuf_write_varint(p, HISTOGRAM_COUNT, counts[CLASSIC_BUCKETS - 1]);
	for (unsigned int i = 0; i < CLASSIC_BUCKETS; i++) {
		protobuf_open_message(p, HISTOGRAM_BUCKET);
		protobuf_write_varint(p, BUCKET_COUNT, counts[i]);
		protobuf_write_double(p, BUCKET_BOUND,
				      i < CLASSIC_BUCKETS - 1 ? (double)series_bounds[i] :
								INFINITY);
		protobuf_close_message(p);
	}
	expose_proto_add_native(p, &scrape_fields, h);
	add_created_time(p, HISTOGRAM_CREATED, s);
	protobuf_close_message(p);
}

static void add_metric(struct protobuf *p, const struct metric_series *s)
{
	protobuf_open_message(p, FAMILY_METRIC);
	for (u32 i = 0; i < s->labels; i++) {
		protobuf_open_message(p, METRIC_LABEL);
		protobuf_write_string(p, PAIR_NAME, s->label[i].name);
		protobuf_write_string(p, PAIR_VALUE, s->label[i].value);
		protobuf_close_message(p);
	}
	if (s->histogram) {
		add_histogram(p, s);
	} else {
		protobuf_open_message(p, s->family->type == SERIES_COUNTER ? METRIC_COUNTER :
									     METRIC_GAUGE);
		protobuf_write_double(p, VALUE, s->value);
		if (s->family->type == SERIES_COUNTER)
			add_created_time(p, COUNTER_CREATED, s);
		protobuf_close_message(p);
	}
	protobuf_close_message(p);
}

static void add_family_name(struct protobuf *p, const struct series_family *f)
{
	char name[128];
	size_t n = strlen(f->name);

	if (f->type != SERIES_COUNTER) {
		protobuf_write_string(p, FAMILY_NAME, f->name);
		return;
	}
	/*
	 * The names in series_families[], and those of family_get_emulated(), fit into the buffer.
	 */
	memcpy(name, f->name, n);
	memcpy(name + n, "_total", sizeof("_total"));
	protobuf_write_string(p, FAMILY_NAME, name);
}

int expose_protobuf(const struct series_set *set, char **ret_data, size_t *ret_size)
{
	const struct series_family *family = NULL;
	struct protobuf p;

	protobuf_init(&p, BOUND);
	for (u32 i = 0; i < set->count; i++) {
		const struct metric_series *s = &set->series[i];

		if (!family || s->family != family) {
			if (family)
				protobuf_close_message(&p);
			family = s->family;
			protobuf_open_delimited(&p);
			add_family_name(&p, family);
			protobuf_write_string(&p, FAMILY_HELP, family->help);
			protobuf_write_varint(&p, FAMILY_TYPE, type_numbers[family->type]);
		}
		add_metric(&p, s);
	}
	if (family)
		protobuf_close_message(&p);
	if (p.error < 0) {
		int r = p.error;

		protobuf_deinit(&p);
		return r;
	}
	*ret_data = (char *)p.data;
	*ret_size = p.size;
	return 0;
}
