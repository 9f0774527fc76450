// SPDX-License-Identifier: LGPL-2.1-or-later
#include "traits.h"

#include <stddef.h>

static_assert(SPE_HAS_OTHERS < SPE_BIT(25), "what is present has its place in the key");

static struct spe_sample key_sample(u64 events, u64 key)
{
	return (struct spe_sample){
		.present = key & SPE_MASK(24, 0),
		.events = events,
		.op_class = key >> 25 & 0x3,
		.op_subclass = (u8)(key >> 27),
		.source = (u16)(key >> 35),
	};
}

/* Whether memory served it, as far as is known. */
static bool from_dram(const struct spe_origin *origin)
{
	return origin->level == SPE_LEVEL_DRAM || origin->level == SPE_LEVEL_BEYOND_LLC;
}

static bool has_more_contexts(const struct spe_sample *s)
{
	u64 both = SPE_HAS_CONTEXT(SPE_CONTEXT_EL1) | SPE_HAS_CONTEXT(SPE_CONTEXT_EL2);

	return spe_sample_has(s, both) || s->present & (SPE_HAS_CONTEXT(2) | SPE_HAS_CONTEXT(3));
}

static void set(u8 *ones, size_t offset, unsigned int index)
{
	ones[offset / sizeof(u64) + index] = 1;
}

#define SET(ones, field, index) set(ones, offsetof(struct figure_counts, field), index)

/* What figures count of it. */
static void fill_ones(struct traits *t, enum spe_op_kind kind)
{
	u8 ones[FIGURE_COUNTS] = { 0 };

	for (unsigned int i = 0; i < FIGURE_EVENTS; i++)
		if (t->events >> i & 1)
			SET(ones, event, i);
	SET(ones, kind, kind);
	if (t->flags & TRAITS_SIMD)
		SET(ones, simd, 0);
	if (t->counts & TALLY_ONE(TALLY_MISPREDICTED))
		SET(ones, mispredicted, 0);
	if (kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE) {
		SET(ones, level, t->origin.level);
		for (unsigned int i = 0; i < FIGURE_ORIGINS; i++)
			if (t->origin.flags >> i & 1)
				SET(ones, origin, i);
	}
	memcpy(t->ones, ones, sizeof(ones));
}

void traits_fill(u64 events, u64 key, const struct spe_data_sources *sources,
		 struct traits *ret_traits)
{
	static const u8 counters[PROFILE_LATENCIES] = {
		SPE_COUNTER_TOTAL,
		SPE_COUNTER_ISSUE,
		SPE_COUNTER_TRANSLATION,
	};
	struct spe_sample sample = key_sample(events, key);
	enum spe_op_kind kind = spe_sample_kind(&sample);
	struct traits t = {
		.events = events,
		.key = key,
		.flags = (u8)kind,
		.served = SERVED_QUIET,
		.used = true,
	};

	if (spe_sample_is_simd(&sample))
		t.flags |= TRAITS_SIMD;
	if (has_more_contexts(&sample))
		t.flags |= TRAITS_CONTEXTS;
	if (kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE) {
		t.origin = spe_sample_origin(sources, &sample);
		t.served = served_code(&t.origin);
		t.counts = TALLY_ONE(TALLY_MEMORY);
		if (from_dram(&t.origin))
			t.counts |= TALLY_ONE(TALLY_DRAM);
	} else if (kind == SPE_KIND_BRANCH) {
		t.counts = TALLY_ONE(TALLY_BRANCHES);
		if (spe_sample_event(&sample, SPE_EVENT_MISPREDICTED))
			t.counts |= TALLY_ONE(TALLY_MISPREDICTED);
	}
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		if (!spe_sample_has(&sample, SPE_HAS_COUNTER(counters[i])))
			t.absent[i] = HISTOGRAM_NONE;
	fill_ones(&t, kind);
	*ret_traits = t;
}

bool traits_source(const struct traits *traits, u16 *ret_source)
{
	struct spe_sample sample = key_sample(traits->events, traits->key);

	if (!spe_sample_has(&sample, SPE_HAS_SOURCE))
		return false;
	*ret_source = sample.source;
	return true;
}
