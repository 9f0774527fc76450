// SPDX-License-Identifier: LGPL-2.1-or-later
#include "statistics-text.h"

#include <inttypes.h>
#include <stdio.h>

#include "bus-json.h"
#include "codec/payload.h"
#include "text.h"

/* columns of the longest bar */
#define BAR_COLUMNS 40

/* Names in the order of &enum profile_latency */
static const struct {
	const char *key;
	const char *label;
} latencies[PROFILE_LATENCIES] = {
	[PROFILE_TOTAL] = { "latency_total", "total" },
	[PROFILE_ISSUE] = { "latency_issue", "issue" },
	[PROFILE_TRANSLATION] = { "latency_translation", "translation" },
};

static void add_counts(json_object *to, const char *key, const u64 *counts, u32 count,
		       const char *(*name)(u32 i))
{
	json_object *object = json_object_new_object();

	for (u32 i = 0; i < count; i++)
		if (counts[i] && name(i))
			json_object_object_add(object, name(i), json_object_new_uint64(counts[i]));
	json_object_object_add(to, key, object);
}

static void add_latency(json_object *to, const char *key, const struct histogram *h)
{
	json_object *latency = json_object_new_array(), *buckets = json_object_new_array(), *bucket;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		bucket = json_object_new_array();
		json_object_array_add(bucket, json_object_new_uint64(histogram_get_upper_bound(i)));
		json_object_array_add(bucket, json_object_new_uint64(h->bucket[i]));
		json_object_array_add(buckets, bucket);
	}
	json_object_array_add(latency, json_object_new_uint64(h->count));
	json_object_array_add(latency, json_object_new_uint64(h->sum));
	json_object_array_add(latency, buckets);
	json_object_object_add(to, key, latency);
}

static const char *get_event_name(u32 i)
{
	return spe_event_name((u8)i);
}

static const char *get_level_name(u32 i)
{
	return spe_level_name((enum spe_level)i);
}

json_object *statistics_json(const struct profile_counters *f, const char *backend)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "backend", json_object_new_string(backend));
	json_object_object_add(o, "samples", json_object_new_uint64(f->samples));
	json_object_object_add(o, "simd", json_object_new_uint64(f->counts.simd));
	json_object_object_add(o, "mispredicted", json_object_new_uint64(f->counts.mispredicted));
	json_object_object_add(
		o, "remote",
		json_object_new_uint64(counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE)));
	add_counts(o, "operations", f->counts.kind, SPE_KINDS, sample_kind_name);
	add_counts(o, "events", f->counts.event, SAMPLE_EVENTS, get_event_name);
	add_counts(o, "levels", f->counts.level, SPE_LEVELS, get_level_name);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		add_latency(o, latencies[i].key, &f->latency[i]);
	return o;
}

static void print_counts(const char *label, json_object *counts, u64 whole)
{
	char number[32], percent[32];

	if (!counts || !json_object_object_length(counts))
		return;
	printf("%s\n", label);
	json_object_object_foreach(counts, name, count)
	{
		u64 n = json_object_get_uint64(count);

		printf("  %-24s %14s %8s\n", name, text_format_count(number, n),
		       text_format_percent(percent, n, whole));
	}
}

u64 statistics_find_quantile(json_object *latency, u32 permille)
{
	json_object *buckets = json_object_array_get_idx(latency, 2);
	u64 count = json_object_get_uint64(json_object_array_get_idx(latency, 0)), seen = 0;

	for (size_t i = 0; i < json_object_array_length(buckets); i++) {
		json_object *bucket = json_object_array_get_idx(buckets, i);

		seen += json_object_get_uint64(json_object_array_get_idx(bucket, 1));
		if (seen * 1000 >= count * permille)
			return json_object_get_uint64(json_object_array_get_idx(bucket, 0));
	}
	return 0;
}

static void print_latency(const char *label, json_object *latency)
{
	u64 count = latency ? json_object_get_uint64(json_object_array_get_idx(latency, 0)) : 0;

	if (!count)
		return;
	printf("  %-24s mean %" PRIu64 ", p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64 "\n",
	       label, json_object_get_uint64(json_object_array_get_idx(latency, 1)) / count,
	       statistics_find_quantile(latency, 500), statistics_find_quantile(latency, 990),
	       statistics_find_quantile(latency, 999));
}

void statistics_print(json_object *object)
{
	u64 samples = json_number(object, "samples");
	char number[32];

	printf("  %-24s %14s\n", "samples", text_format_count(number, samples));
	printf("  %-24s %14s\n", "served by another chip",
	       text_format_count(number, json_number(object, "remote")));
	print_counts("Operations", json_get(object, "operations"), samples);
	print_counts("Events", json_get(object, "events"), samples);
	print_counts("Served by", json_get(object, "levels"), samples);
	puts("Latency, cycles");
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		print_latency(latencies[i].label, json_get(object, latencies[i].key));
}

static u64 get_bucket_number(json_object *buckets, size_t i, size_t which)
{
	return json_object_get_uint64(
		json_object_array_get_idx(json_object_array_get_idx(buckets, i), which));
}

static void print_histogram(const char *label, json_object *latency)
{
	json_object *buckets = latency ? json_object_array_get_idx(latency, 2) : NULL;
	size_t n = buckets ? json_object_array_length(buckets) : 0;
	char number[32], share[32];
	u64 whole = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		u64 count = get_bucket_number(buckets, i, 1);

		whole += count;
		most = count > most ? count : most;
	}
	if (!whole)
		return;
	printf("Histogram of %s latency, cycles\n", label);
	for (size_t i = 0; i < n; i++) {
		u64 count = get_bucket_number(buckets, i, 1);
		int bar = (int)((count * BAR_COLUMNS + most - 1) / most);

		printf("  <= %-10" PRIu64 " %25s %8s  %.*s\n", get_bucket_number(buckets, i, 0),
		       text_format_count(number, count), text_format_percent(share, count, whole),
		       bar, "########################################");
	}
}

void statistics_print_histograms(json_object *object)
{
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		print_histogram(latencies[i].label, json_get(object, latencies[i].key));
}
