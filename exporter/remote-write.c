// SPDX-License-Identifier: LGPL-2.1-or-later
/* The field numbers are those of tests/exporter/schema/remote.proto, which protoc checks. */
#include "remote-write.h"

#include <errno.h>
#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>

#include "buffer.h"
#include "expose-proto.h"
#include "util/protobuf.h"

#define BOUND (16U << 20)

/* prometheus */
enum {
	REQUEST_SERIES = 1,
	SERIES_LABEL = 1,
	SERIES_SAMPLE = 2,
	SERIES_NATIVE = 4,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE_VALUE = 1,
	SAMPLE_TIME = 2,
	NATIVE_COUNT = 1,
	NATIVE_TIME = 15,
};

/* The stale marker of remote write 1.0: a NaN with these bits. */
#define STALE 0x7ff0000000000002ULL

static const struct native_histogram_fields write_fields = {
	.sum = 3,
	.schema = 4,
	.zero_threshold = 5,
	.zero_count = 6,
	.spans = 11,
	.deltas = 12,
	.packed = true,
};

struct write_request {
	struct protobuf proto;
	const char *host;
	s64 time_ms;
	struct staleness_list series;
};

static int compare_labels(const void *a, const void *b)
{
	const struct series_label *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/*
 * Begin a series. Receivers expect labels sorted by name. &write_request.series receives a copy of
 * the encoded labels.
 */
static void open_series(struct write_request *r, const struct metric_series *s, const char *suffix,
			const char *le, bool native)
{
	struct series_label labels[SERIES_LABELS + 4];
	char name[128];
	size_t start;
	u32 count = 0;

	snprintf(name, sizeof(name), "%s%s", s->family->name, suffix);
	labels[count++] = (struct series_label){ "__name__", name };
	labels[count++] = (struct series_label){ "instance", r->host };
	labels[count++] = (struct series_label){ "job", "speprof" };
	if (le)
		labels[count++] = (struct series_label){ "le", le };
	for (u32 i = 0; i < s->labels; i++)
		labels[count++] = s->label[i];
	qsort(labels, count, sizeof(*labels), compare_labels);
	protobuf_open_message(&r->proto, REQUEST_SERIES);
	start = r->proto.size;
	for (u32 i = 0; i < count; i++) {
		protobuf_open_message(&r->proto, SERIES_LABEL);
		protobuf_write_string(&r->proto, LABEL_NAME, labels[i].name);
		protobuf_write_string(&r->proto, LABEL_VALUE, labels[i].value);
		protobuf_close_message(&r->proto);
	}
	if (!r->proto.error)
		staleness_add_series(&r->series, r->proto.data + start, r->proto.size - start,
				     native);
}

static void add_sample(struct write_request *r, const struct metric_series *s, const char *suffix,
		       const char *le, double value)
{
	open_series(r, s, suffix, le, false);
	protobuf_open_message(&r->proto, SERIES_SAMPLE);
	protobuf_write_double(&r->proto, SAMPLE_VALUE, value);
	protobuf_write_varint(&r->proto, SAMPLE_TIME, (u64)r->time_ms);
	protobuf_close_message(&r->proto);
	protobuf_close_message(&r->proto);
}

static void add_classic_histogram(struct write_request *r, const struct metric_series *s)
{
	u64 counts[CLASSIC_BUCKETS];
	char le[16];

	series_to_classic_buckets(s->histogram, counts);
	for (unsigned int i = 0; i < CLASSIC_BUCKETS; i++) {
		if (i < CLASSIC_BUCKETS - 1)
			snprintf(le, sizeof(le), "%" PRIu32 ".0", series_bounds[i]);
		else
			strcpy(le, "+Inf");
		add_sample(r, s, "_bucket", le, (double)counts[i]);
	}
	add_sample(r, s, "_sum", NULL, (double)s->histogram->sum);
	add_sample(r, s, "_count", NULL, (double)counts[CLASSIC_BUCKETS - 1]);
}

static void add_native_histogram(struct write_request *r, const struct metric_series *s)
{
	u64 counts[CLASSIC_BUCKETS];

	series_to_classic_buckets(s->histogram, counts);
	open_series(r, s, "", NULL, true);
	protobuf_open_message(&r->proto, SERIES_NATIVE);
	protobuf_write_varint(&r->proto, NATIVE_COUNT, counts[CLASSIC_BUCKETS - 1]);
	expose_proto_add_native(&r->proto, &write_fields, s->histogram);
	protobuf_write_varint(&r->proto, NATIVE_TIME, (u64)r->time_ms);
	protobuf_close_message(&r->proto);
	protobuf_close_message(&r->proto);
}

/* Add a stale marker. In a native histogram the sum is the marker, and other fields are ignored. */
static void add_stale_marker(void *ctx, const u8 *labels, size_t size, bool native)
{
	struct write_request *r = ctx;
	struct protobuf *p = &r->proto;

	protobuf_open_message(p, REQUEST_SERIES);
	protobuf_write_encoded(p, labels, size);
	protobuf_open_message(p, native ? SERIES_NATIVE : SERIES_SAMPLE);
	protobuf_write_fixed64(p, native ? write_fields.sum : SAMPLE_VALUE, STALE);
	protobuf_write_varint(p, native ? NATIVE_TIME : SAMPLE_TIME, (u64)r->time_ms);
	protobuf_close_message(p);
	protobuf_close_message(p);
}

static int compress_body(const struct protobuf *proto, char **ret_data, size_t *ret_size)
{
	size_t size = snappy_max_compressed_length(proto->size);
	char *data = malloc(size);

	if (!data)
		return -ENOMEM;
	if (snappy_compress((const char *)proto->data, proto->size, data, &size) != SNAPPY_OK) {
		free(data);
		return -EIO;
	}
	*ret_data = buffer_shrink_allocation(data, size);
	*ret_size = size;
	return 0;
}

int remote_write_encode(struct remote_write *write, const struct series_set *set, s64 time_ms,
			char **ret_data, size_t *ret_size)
{
	struct write_request request = { .host = write->host, .time_ms = time_ms };
	int r;

	protobuf_init(&request.proto, BOUND);
	for (u32 i = 0; set && i < set->count; i++) {
		const struct metric_series *s = &set->series[i];

		if (!s->histogram)
			add_sample(&request, s, s->family->type == SERIES_COUNTER ? "_total" : "",
				   NULL, s->value);
		else if (write->native)
			add_native_histogram(&request, s);
		else
			add_classic_histogram(&request, s);
	}
	staleness_report_ended(&write->last, &request.series, add_stale_marker, &request);
	r = request.proto.error < 0 ? request.proto.error :
				      compress_body(&request.proto, ret_data, ret_size);
	protobuf_deinit(&request.proto);
	if (r < 0) {
		staleness_clear(&request.series);
		return r;
	}
	staleness_clear(&write->last);
	write->last = request.series;
	return 0;
}
