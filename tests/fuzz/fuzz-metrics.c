// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the exporter's input: snapshots of arbitrary bytes are parsed, accumulated twice, and
 * written in each format.
 */
#include "fuzz.h"

#include <string.h>

#include "accumulator.h"
#include "expose.h"
#include "labels.h"
#include "otlp.h"
#include "output/metrics.h"
#include "remote-write.h"
#include "series.h"

#define SERIES 400

static void check_text(const char *text, size_t size)
{
	fuzz_assert(size && text[size - 1] == '\n');
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		fuzz_assert(c == '\n' || c >= ' ');
		if (!i || text[i - 1] == '\n')
			fuzz_assert(c == '#' || c == 's');
	}
}

static void check_series_set(const struct series_set *set)
{
	const struct otlp_config otlp = { 0 };
	u32 count = 0;
	size_t size;
	char *data;

	for (u32 i = 0; i < set->count; i++)
		count += set->series[i].histogram ? CLASSIC_SERIES : 1;
	fuzz_assert(count <= SERIES);
	for (unsigned int f = 0; f < EXPOSE_FORMATS; f++) {
		fuzz_assert(expose_series(set, f, &data, &size) >= 0);
		if (f != EXPOSE_PROTOBUF)
			check_text(data, size);
		free(data);
	}
	for (unsigned int native = 0; native < 2; native++) {
		struct remote_write write = { .host = "host", .native = native };

		for (unsigned int ends = 0; ends < 2; ends++) {
			fuzz_assert(remote_write_encode(&write, ends ? NULL : set, 1, &data, &size) >= 0);
			fuzz_assert(ends ? !write.last.count : write.last.count >= set->count);
			free(data);
		}
	}
	fuzz_assert(otlp_encode(set, &otlp, "host", 2, &data, &size) >= 0);
	free(data);
}

/* Make a snapshot with the values of @data in machine and containers. */
static struct metrics_snapshot make_snapshot(const uint8_t *data, size_t size)
{
	struct metrics_snapshot m = { 0 };
	size_t n = sizeof(m.machine);

	m.count = size % 7;
	m.containers = calloc(m.count + 1, sizeof(*m.containers));
	fuzz_assert(m.containers);
	memcpy(&m.machine, data, size < n ? size : n);
	for (u32 i = 0; i < m.count; i++) {
		struct metrics_container *c = &m.containers[i];

		n = size / (i + 1) < sizeof(*c) ? size / (i + 1) : sizeof(*c);
		memcpy(c, data + size - n, n);
		c->name[sizeof(c->name) - 1] = 0;
		c->runtime[sizeof(c->runtime) - 1] = 0;
		c->path[sizeof(c->path) - 1] = 0;
		c->tally.latency[i % 3].bucket[size % METRICS_BUCKETS] = size;
	}
	m.machine.version[sizeof(m.machine.version) - 1] = 0;
	m.machine.source[sizeof(m.machine.source) - 1] = 0;
	return m;
}

/* Parse the same bytes as a collector's reply. */
static void check_collector_reply(const uint8_t *data, size_t size)
{
	char why[64];

	otlp_count_rejected(data, size, why, sizeof(why));
	fuzz_assert(strlen(why) < sizeof(why));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct series_self self = { .daemon_up = true, .exportable = true };
	struct series_set set = { 0 };
	struct metrics_snapshot m = { 0 };
	struct label_config labels;
	const char *why = NULL;
	struct accumulator acc;
	const char *right;

	labels_set_defaults(&labels);
	labels_set_label(&labels, "unit", "unit", &right);
	labels_set_label(&labels, "pod", "pod", &right);
	check_collector_reply(data, size);
	accumulator_init(&acc, &labels, 7, size % 2);
	if (metrics_parse(data, size, &m, &why) < 0) {
		fuzz_assert(why);
		m = make_snapshot(data, size);
	}
	for (unsigned int round = 0; round < 2; round++) {
		u32 machine = series_count_machine(&acc, &m);

		fuzz_assert(accumulator_update(&acc, &m, SERIES - machine, 1 + round) >= 0);
		fuzz_assert(series_build(&set, &acc, &self) >= 0);
		check_series_set(&set);
		m = make_snapshot(data, size / 2);
	}
	metrics_clear(&m);
	series_deinit(&set);
	accumulator_deinit(&acc);
	return 0;
}
