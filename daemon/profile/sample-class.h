/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a sample is, whoever's, wherever and however long it took: operation, events,
 * data source. Few combinations make up all samples, so each has a number by which it is
 * counted, and is taken apart when the counts are looked at.
 */
#ifndef SPEPROF_SAMPLE_CLASS_H
#define SPEPROF_SAMPLE_CLASS_H

#include "counters.h"

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
/*
 * A load or store that its first level cache did not serve: of a line that may be shared,
 * and of a known physical address.
 */
#define TRAITS_LINE 0x20
#define TRAITS_PAGE 0x40
/* Memory served it, as far as is known. */
#define TRAITS_DRAM 0x80

/**
 * struct traits - a combination
 * @events: the Events payload
 * @key: all else, by traits_key()
 * @count: samples of it since the catalog's owner took that away
 * @absent: HISTOGRAM_NONE for latencies that such a record does not have, else 0
 * @origin: what served it, if it is a load or store
 * @flags: TRAITS_*
 * @id: its number
 * @coarse: the number of what it counts as where there is no room for all that there are:
 *	the same without its events; 0 if that was not asked for yet
 * @used: whether there is one
 * @ones: for figures
 */
struct traits {
	u64 events;
	u64 key;
	u64 count;
	u8 absent[PROFILE_LATENCIES];
	struct spe_origin origin;
	u8 flags;
	u16 id;
	u16 coarse;
	bool used;
	traits_lanes ones[TRAITS_LANES];
};

/*
 * Combinations that have numbers, from 1 on, and of these the ones that are whole. What comes
 * then has no number of its own, but that of the one without its events.
 */
#define TRAITS_MAX   16383U
#define TRAITS_WHOLE 12287U
/* What has no number at all: it is not known what it was. */
#define TRAITS_OTHERS UINT16_MAX

#define TRAITS_BITS	  10
#define TRAITS_INDEX_BITS 15

/**
 * struct traits_catalog
 * @at: by number; the first is the one without a number of its own that came last
 * @used, @whole: how many have numbers, and how many of them have their events
 * @guess: the number, by traits_slot(): of the one that was there the last time
 * @index: numbers by hash, open addressing; 0 is free
 */
struct traits_catalog {
	struct traits *at;
	u32 used;
	u32 whole;
	u16 guess[1 << TRAITS_BITS];
	u16 index[1 << TRAITS_INDEX_BITS];
};

/* Where in a key the index of the encoding is. */
#define TRAITS_ENCODING 51

/* Of keys by traits_content(): encodings do not come so far. */
#define TRAITS_CONTENT (1ULL << 63)

/** traits_key() - @encoding is the index of a core's data sources, below 4096 */
static inline u64 traits_key(u64 present, u8 op_class, u8 op_subclass, u16 source, u32 encoding)
{
	return present | (u64)op_class << 25 | (u64)op_subclass << 27 | (u64)source << 35 |
	       (u64)encoding << TRAITS_ENCODING;
}

static inline u64 traits_hash(u64 events, u64 key)
{
	return (events ^ key * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
}

static inline u32 traits_slot(u64 events, u64 key)
{
	return (u32)(traits_hash(events, key) >> (64 - TRAITS_BITS));
}

/** traits_init() - 0 or -ENOMEM */
int traits_init(struct traits_catalog *catalog);

/** traits_deinit() - also of one that is all zeros */
void traits_deinit(struct traits_catalog *catalog);

/** traits_clear() - forget all of them, and their numbers */
void traits_clear(struct traits_catalog *catalog);

/**
 * traits_find() - the number of @events and @key, where its guess was wrong
 *
 * Return: 0 if it has none and there is no room: then the first entry is to be filled by
 * traits_fill(), and has traits_coarse() for an id.
 */
u16 traits_find(struct traits_catalog *catalog, u64 events, u64 key,
		const struct spe_data_sources *sources);

/**
 * traits_content() - what figures count of @traits, but for events, as a number
 *
 * traits_restore() makes traits of it and of events, in another process too.
 */
u32 traits_content(const struct traits *traits);

/** traits_restore() - its number; 0 if @content is none; TRAITS_OTHERS if there is no room */
u16 traits_restore(struct traits_catalog *catalog, u64 events, u32 content);

/** traits_coarse() - the number of what @traits count as without their events, or TRAITS_OTHERS */
u16 traits_coarse(struct traits_catalog *catalog, struct traits *traits);

/** traits_of() - by id; NULL for TRAITS_OTHERS */
static inline const struct traits *traits_of(const struct traits_catalog *catalog, u16 id)
{
	return id == TRAITS_OTHERS ? NULL : &catalog->at[id];
}

/** traits_fill() - @ret_traits is of @events and @key, and has counted nothing */
void traits_fill(u64 events, u64 key, const struct spe_data_sources *sources,
		 struct traits *ret_traits);

/** traits_source() - the Data Source payload; false if there is none */
bool traits_source(const struct traits *traits, u16 *ret_source);

#endif
