// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz filter expressions: an error has a position in the text, and a parsed expression has exactly
 * one meaning.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/registers.h"
#include "filter/filter.h"

static const struct attribute_process process = { .pid = 7, .comm = "a" };
static const struct attribute_container container = { "web", "docker", "/docker/1", "/docker/1" };

/* a sample with all packets */
static const struct spe_sample full = {
	.present = SPE_BIT(25) - 1, .events = 0x8a, .events_size = 8, .source_size = 1,
	.op_class = SPE_OP_LOAD_STORE, .counter = { 300, 7, 2 }, .address = { 0x1000 },
};
static const struct spe_sample empty;

static void check_negation(const char *text, const struct filter *filter,
			   const struct filter_subject *subject)
{
	struct filter_error error;
	struct filter *negated = NULL;
	char *inside = malloc(strlen(text) + 4);

	fuzz_assert(inside);
	sprintf(inside, "!(%s)", text);
	/* A negated expression may exceed the limit of length or depth. */
	if (filter_new(inside, &negated, &error) >= 0)
		fuzz_assert(filter_match(negated, subject) != filter_match(filter, subject));
	filter_free(negated);
	free(inside);
}

/* Check that the SPU's filters pass each sample that matches the expression. */
static void check_hardware(const struct filter *filter, const struct filter_subject *subject)
{
	struct source_config config = { 0 };
	const struct spe_sample *s = subject->sample;

	filter_offload(filter, NULL, &config);
	if (!filter_match(filter, subject))
		return;
	fuzz_assert((s->events & config.filter_events) == config.filter_events);
	fuzz_assert(!(s->events & config.filter_events_not));
	fuzz_assert(!(config.filter_events & config.filter_events_not));
	fuzz_assert(!config.filter_latency || s->counter[0] >= config.filter_latency);
	fuzz_assert(!config.filter_types || (config.filter_types & SPE_PMSFCR_LD));
	/* The sample is a load that is neither SIMD nor FP nor atomic. */
	fuzz_assert(!(config.filter_masked & ~SPE_PMSFCR_BM));
}

/* Check the same for the filter by data source, on two kinds of cores. */
static void check_source_filter(const struct filter *filter)
{
	static const u64 midrs[] = { 0x413fd0c1, 0x480fd060 };
	static const u16 sources[] = { 0, 2, 8, 9, 13, 14, 18, 63 };
	struct source_config config = { 0 };
	struct filter_cores cores = { 0 };
	struct spe_sample load = full;
	struct filter_subject subject = { &load, { 0 }, 3, &process, &container };

	for (size_t i = 0; i < ARRAY_SIZE(midrs); i++)
		filter_cores_add(&cores, &(struct source_cpu){ .midr = midrs[i] });
	filter_offload(filter, &cores, &config);
	for (size_t i = 0; i < ARRAY_SIZE(sources) * ARRAY_SIZE(midrs); i++) {
		load.source = sources[i / ARRAY_SIZE(midrs)];
		subject.origin = spe_sample_origin(
			spe_data_sources_find(midrs[i % ARRAY_SIZE(midrs)]), &load);
		fuzz_assert(!(config.filter_sources_not >> load.source & 1) ||
			    !filter_match(filter, &subject));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct filter_subject some = { &full, { SPE_LEVEL_DRAM, 1 }, 3, &process, &container };
	const struct filter_subject none = { .sample = &empty };
	struct filter_error error = { 0 };
	struct filter *filter = NULL;
	char *text = strndup((const char *)data, size);

	fuzz_assert(text);
	if (filter_new(text, &filter, &error) < 0) {
		fuzz_assert(!filter && error.column >= 1 && error.column <= strlen(text) + 1);
		for (const char *c = error.text; *c; c++)
			fuzz_assert(*c >= ' ' && *c < 0x7f);
		fuzz_assert(*error.text);
	} else {
		check_negation(text, filter, &some);
		check_negation(text, filter, &none);
		check_hardware(filter, &some);
		check_source_filter(filter);
		filter_free(filter);
	}
	free(text);
	return 0;
}
