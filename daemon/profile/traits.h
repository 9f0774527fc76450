/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a sample is, whoever's, wherever and however long it took: operation, events,
 * data source. Few combinations make up most samples, so they are counted as such,
 * and taken apart into the machine's counters when those are looked at.
 */
#ifndef SPEPROF_PROFILE_TRAITS_H
#define SPEPROF_PROFILE_TRAITS_H

#include "figures.h"
#include "served.h"
#include "table.h"

/*
 * What counts of a sample, as bytes of 0 or 1 in the order of &struct figure_counts: all
 * of them are added up at once, TRAITS_FLUSH times at most until they are carried over.
 */
#define TRAITS_LANES (FIGURE_COUNTS / 16)
#define TRAITS_FLUSH 255

typedef u8 traits_lanes __attribute__((vector_size(16)));

/* In traits.flags: the kind, and whether it is an SVE or SME operation. */
#define TRAITS_KIND 0x7
#define TRAITS_SIMD 0x8
/* It has more contexts than the one that tells whose it is. */
#define TRAITS_CONTEXTS 0x10

/**
 * struct traits - a combination
 * @events: the Events payload
 * @key: all else, by traits_key()
 * @count: samples of it since it was flushed
 * @counts: as in &struct sample_facts
 * @absent: HISTOGRAM_NONE for latencies that such a record does not have, else 0
 * @origin: what served it, if it is a load or store
 * @served: what rows count of @origin, by served_code()
 * @flags: TRAITS_*
 * @used: whether there is one
 * @ones: for figures
 */
struct traits {
	u64 events;
	u64 key;
	u64 count;
	u32 counts;
	u8 absent[PROFILE_LATENCIES];
	struct spe_origin origin;
	u8 flags;
	u8 served;
	bool used;
	traits_lanes ones[TRAITS_LANES];
};

#define TRAITS_BITS 10

/* Where in a key the index of the encoding is. */
#define TRAITS_ENCODING 51

/** traits_key() - @encoding is the index of a core's data sources, below 4096 */
static inline u64 traits_key(u64 present, u8 op_class, u8 op_subclass, u16 source, u32 encoding)
{
	return present | (u64)op_class << 25 | (u64)op_subclass << 27 | (u64)source << 35 |
	       (u64)encoding << TRAITS_ENCODING;
}

static inline u32 traits_slot(u64 events, u64 key)
{
	return (u32)(((events ^ key * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL) >>
		     (64 - TRAITS_BITS));
}

/** traits_fill() - @ret_traits is of @events and @key, and has counted nothing */
void traits_fill(u64 events, u64 key, const struct spe_data_sources *sources,
		 struct traits *ret_traits);

/** traits_source() - the Data Source payload; false if there is none */
bool traits_source(const struct traits *traits, u16 *ret_source);

#endif
