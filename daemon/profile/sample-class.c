// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sample-class.h"

#include <errno.h>
#include <stddef.h>

#include "util/memory.h"

static_assert(SPE_HAS_OTHERS < SPE_BIT(25), "what is present has its place in the key");

static struct spe_sample key_to_sample(u64 events, u64 key)
{
	return (struct spe_sample){
		.present = key & SPE_MASK(24, 0),
		.events = events,
		.op_class = key >> 25 & 0x3,
		.op_subclass = (u8)(key >> 27),
		.source = (u16)(key >> 35),
	};
}

static bool has_more_contexts(const struct spe_sample *s)
{
	u64 both = SPE_HAS_CONTEXT(SPE_CONTEXT_EL1) | SPE_HAS_CONTEXT(SPE_CONTEXT_EL2);

	return spe_sample_has(s, both) || s->present & (SPE_HAS_CONTEXT(2) | SPE_HAS_CONTEXT(3));
}

static void class_set_counter(u8 *counts, size_t offset, unsigned int index)
{
	counts[offset / sizeof(u64) + index] = 1;
}

#define SET_COUNTER(counts, field, index) \
	class_set_counter(counts, offsetof(struct sample_counts, field), index)

/* Compute what the counters add for each sample of the class. */
static void fill_ones(struct sample_class *t, enum spe_op_kind kind)
{
	u8 ones[SAMPLE_COUNTS] = { 0 };

	for (unsigned int i = 0; i < SAMPLE_EVENTS; i++)
		if (t->events >> i & 1)
			SET_COUNTER(ones, event, i);
	SET_COUNTER(ones, kind, kind);
	if (t->flags & SAMPLE_CLASS_SIMD)
		SET_COUNTER(ones, simd, 0);
	if (kind == SPE_KIND_BRANCH && t->events >> SPE_EVENT_MISPREDICTED & 1)
		SET_COUNTER(ones, mispredicted, 0);
	if (kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE) {
		SET_COUNTER(ones, level, t->origin.level);
		for (unsigned int i = 0; i < SAMPLE_ORIGINS; i++)
			if (t->origin.flags >> i & 1)
				SET_COUNTER(ones, origin, i);
	}
	memcpy(t->ones, ones, sizeof(ones));
}

/*
 * Returns whether the access may have found its line in another core's cache. A Data Source packet
 * states this. Records without such a packet, such as those of stores, only state that the first
 * level cache missed.
 */
static bool may_be_shared(const struct spe_origin *origin)
{
	return !(origin->flags & SPE_ORIGIN_BY_SOURCE) || origin->level == SPE_LEVEL_LOCAL_CHIP ||
	       origin->flags & (SPE_ORIGIN_SNOOPED | SPE_ORIGIN_PEER);
}

static u8 get_memory_flags(const struct spe_sample *s, const struct spe_origin *origin)
{
	bool physical = spe_sample_has(s, SPE_HAS_ADDRESS(SPE_ADDRESS_PA));
	bool known = physical || spe_sample_has(s, SPE_HAS_ADDRESS(SPE_ADDRESS_VA));

	if (origin->level == SPE_LEVEL_L1)
		return 0;
	return (known && may_be_shared(origin) ? SAMPLE_CLASS_LINE : 0) |
	       (physical ? SAMPLE_CLASS_PAGE : 0) |
	       (spe_level_is_dram(origin->level) ? SAMPLE_CLASS_DRAM : 0);
}

void sample_class_fill(u64 events, u64 key, const struct spe_data_sources *sources,
		       struct sample_class *ret_sample_class)
{
	static const u8 counters[PROFILE_LATENCIES] = {
		SPE_COUNTER_TOTAL,
		SPE_COUNTER_ISSUE,
		SPE_COUNTER_TRANSLATION,
	};
	struct spe_sample sample = key_to_sample(events, key);
	enum spe_op_kind kind = spe_sample_kind(&sample);
	struct sample_class t = {
		.events = events,
		.key = key,
		.flags = (u8)kind,
		.used = true,
	};

	if (spe_sample_is_simd(&sample))
		t.flags |= SAMPLE_CLASS_SIMD;
	if (has_more_contexts(&sample))
		t.flags |= SAMPLE_CLASS_CONTEXTS;
	if (kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE) {
		t.origin = spe_sample_origin(sources, &sample);
		t.flags |= get_memory_flags(&sample, &t.origin);
	}
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		if (!spe_sample_has(&sample, SPE_HAS_COUNTER(counters[i])))
			t.absent[i] = HISTOGRAM_NONE;
	fill_ones(&t, kind);
	*ret_sample_class = t;
}

/*
 * Bit positions in a content, from the lowest: kind and simd, level, flags of the origin, absent
 * latencies.
 */
#define CONTENT_LEVEL	     4
#define CONTENT_ORIGIN	     9
#define CONTENT_MISPREDICTED 14
#define CONTENT_ABSENT	     15
#define CONTENT_BITS	     18

#define COUNTER_MISPREDICTED (offsetof(struct sample_counts, mispredicted) / sizeof(u64))

u32 sample_class_get_content(const struct sample_class *t)
{
	u8 ones[SAMPLE_COUNTS];
	u32 content;

	memcpy(ones, t->ones, sizeof(ones));
	content = (t->flags & (SAMPLE_CLASS_KIND | SAMPLE_CLASS_SIMD)) |
		  (u32)t->origin.level << CONTENT_LEVEL | (u32)t->origin.flags << CONTENT_ORIGIN |
		  (u32)ones[COUNTER_MISPREDICTED] << CONTENT_MISPREDICTED;
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		content |= (u32) !!t->absent[i] << (CONTENT_ABSENT + i);
	return content;
}

/* Return whether @key is the key that sample_class_restore() uses for the content of @t. */
static bool content_matches_key(const struct sample_class *t, u64 key)
{
	return key & SAMPLE_CLASS_CONTENT &&
	       key == (SAMPLE_CLASS_CONTENT | sample_class_get_content(t));
}

int sample_class_init(struct sample_class_catalog *catalog)
{
	catalog->at = zero_pages_new(((size_t)SAMPLE_CLASS_MAX + 1) * sizeof(*catalog->at));
	return catalog->at ? 0 : -ENOMEM;
}

void sample_class_deinit(struct sample_class_catalog *catalog)
{
	zero_pages_free(catalog->at, ((size_t)SAMPLE_CLASS_MAX + 1) * sizeof(*catalog->at));
	catalog->at = NULL;
}

void sample_class_clear(struct sample_class_catalog *catalog)
{
	zero_pages_clear(catalog->at, ((size_t)SAMPLE_CLASS_MAX + 1) * sizeof(*catalog->at));
	memset(catalog->guess, 0, sizeof(catalog->guess));
	memset(catalog->index, 0, sizeof(catalog->index));
	catalog->used = 0;
	catalog->whole = 0;
	catalog->full = false;
}

/*
 * Return the index entry of @events and @key, or the free entry for it. A class may have two
 * entries: one for its key and one for its content. At least half of the index is free.
 */
static u16 *index_find(struct sample_class_catalog *catalog, u64 events, u64 key)
{
	u32 mask = (1U << SAMPLE_CLASS_INDEX_BITS) - 1;
	u32 at = (u32)(sample_class_hash(events, key) >> (64 - SAMPLE_CLASS_INDEX_BITS));
	const struct sample_class *t;

	for (; catalog->index[at]; at = (at + 1) & mask) {
		t = &catalog->at[catalog->index[at]];
		if (t->events == events && (t->key == key || content_matches_key(t, key)))
			break;
	}
	return &catalog->index[at];
}

/*
 * Add an index entry so that sample_class_restore() finds a new class, unless another class has the
 * same content.
 */
static void index_add_content(struct sample_class_catalog *catalog, const struct sample_class *t)
{
	u16 *number =
		index_find(catalog, t->events, SAMPLE_CLASS_CONTENT | sample_class_get_content(t));

	if (!*number)
		*number = t->id;
}

u16 sample_class_find(struct sample_class_catalog *catalog, u64 events, u64 key,
		      const struct spe_data_sources *sources)
{
	u16 *number = index_find(catalog, events, key);

	if (!*number && catalog->whole < SAMPLE_CLASS_WITH_EVENTS_MAX &&
	    catalog->used < SAMPLE_CLASS_MAX) {
		catalog->whole++;
		*number = (u16)++catalog->used;
		sample_class_fill(events, key, sources, &catalog->at[*number]);
		catalog->at[*number].id = *number;
		index_add_content(catalog, &catalog->at[*number]);
	}
	catalog->full |= !*number;
	catalog->guess[sample_class_get_slot(events, key)] = *number;
	return *number;
}

static bool class_fill_from_content(u64 events, u32 content, struct sample_class *ret)
{
	enum spe_op_kind kind = content & SAMPLE_CLASS_KIND;
	struct sample_class t = {
		.events = events,
		.key = SAMPLE_CLASS_CONTENT | content,
		.flags = content & (SAMPLE_CLASS_KIND | SAMPLE_CLASS_SIMD),
		.origin = { .level = content >> CONTENT_LEVEL & 0x1f,
			    .flags = content >> CONTENT_ORIGIN & 0x1f },
		.used = true,
	};
	u8 ones[SAMPLE_COUNTS];

	if (kind >= SPE_KINDS || t.origin.level >= SPE_LEVELS || content >> CONTENT_BITS)
		return false;
	fill_ones(&t, kind);
	memcpy(ones, t.ones, sizeof(ones));
	ones[COUNTER_MISPREDICTED] = content >> CONTENT_MISPREDICTED & 1;
	memcpy(t.ones, ones, sizeof(ones));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		t.absent[i] = content >> (CONTENT_ABSENT + i) & 1 ? HISTOGRAM_NONE : 0;
	*ret = t;
	return true;
}

u16 sample_class_restore(struct sample_class_catalog *catalog, u64 events, u32 content)
{
	/*
	 * The key of a record does not have the bit SAMPLE_CLASS_CONTENT, so it never equals this
	 * key.
	 */
	u16 *number = index_find(catalog, events, SAMPLE_CLASS_CONTENT | content);
	struct sample_class t;

	if (*number)
		return *number;
	if (!class_fill_from_content(events, content, &t))
		return 0;
	if (catalog->used == SAMPLE_CLASS_MAX ||
	    (events && catalog->whole >= SAMPLE_CLASS_WITH_EVENTS_MAX)) {
		catalog->full = true;
		return SAMPLE_CLASS_OTHERS;
	}
	catalog->whole += events != 0;
	t.id = *number = (u16)++catalog->used;
	if (!events)
		t.coarse = t.id;
	catalog->at[t.id] = t;
	return t.id;
}

u16 sample_class_find_coarse(struct sample_class_catalog *catalog,
			     struct sample_class *sample_class)
{
	if (!sample_class->coarse)
		sample_class->coarse =
			sample_class_restore(catalog, 0, sample_class_get_content(sample_class));
	return sample_class->coarse;
}

bool sample_class_get_source(const struct sample_class *sample_class, u16 *ret_source)
{
	struct spe_sample sample = key_to_sample(sample_class->events, sample_class->key);

	if (!spe_sample_has(&sample, SPE_HAS_SOURCE))
		return false;
	*ret_source = sample.source;
	return true;
}
