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
 * What counts of a sample, as bytes of 0 or 1 in the order of &struct sample_counts: all
 * of them are added up at once, SAMPLE_CLASS_FLUSH times at most until they are carried over.
 */
#define SAMPLE_CLASS_LANES (SAMPLE_COUNTS / 16)
#define SAMPLE_CLASS_FLUSH 255

typedef u8 sample_class_lanes __attribute__((vector_size(16)));

/* In traits.flags: the kind, and whether it is an SVE or SME operation. */
#define SAMPLE_CLASS_KIND 0x7
#define SAMPLE_CLASS_SIMD 0x8
/* It has more contexts than the one that tells whose it is. */
#define SAMPLE_CLASS_CONTEXTS 0x10
/*
 * A load or store that its first level cache did not serve: of a line that may be shared,
 * and of a known physical address.
 */
#define SAMPLE_CLASS_LINE 0x20
#define SAMPLE_CLASS_PAGE 0x40
/* Memory served it, as far as is known. */
#define SAMPLE_CLASS_DRAM 0x80

/**
 * struct sample_class - a combination
 * @events: the Events payload
 * @key: all else, by sample_class_key()
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
struct sample_class {
	u64 events;
	u64 key;
	u64 count;
	u8 absent[PROFILE_LATENCIES];
	struct spe_origin origin;
	u8 flags;
	u16 id;
	u16 coarse;
	bool used;
	sample_class_lanes ones[SAMPLE_CLASS_LANES];
};

/*
 * Combinations that have numbers, from 1 on, and of these the ones that are whole. What comes
 * then has no number of its own, but that of the one without its events.
 */
#define SAMPLE_CLASS_MAX   16383U
#define SAMPLE_CLASS_WHOLE 12287U
/* What has no number at all: it is not known what it was. */
#define SAMPLE_CLASS_OTHERS UINT16_MAX

#define SAMPLE_CLASS_BITS	10
#define SAMPLE_CLASS_INDEX_BITS 15

/**
 * struct sample_class_catalog
 * @at: by number; the first is the one without a number of its own that came last
 * @used, @whole: how many have numbers, and how many of them have their events
 * @guess: the number, by sample_class_slot(): of the one that was there the last time
 * @index: numbers by hash, open addressing; 0 is free
 */
struct sample_class_catalog {
	struct sample_class *at;
	u32 used;
	u32 whole;
	u16 guess[1 << SAMPLE_CLASS_BITS];
	u16 index[1 << SAMPLE_CLASS_INDEX_BITS];
};

/* Where in a key the index of the encoding is. */
#define SAMPLE_CLASS_ENCODING 51

/* Of keys by sample_class_content(): encodings do not come so far. */
#define SAMPLE_CLASS_CONTENT (1ULL << 63)

/** sample_class_key() - @encoding is the index of a core's data sources, below 4096 */
static inline u64 sample_class_key(u64 present, u8 op_class, u8 op_subclass, u16 source,
				   u32 encoding)
{
	return present | (u64)op_class << 25 | (u64)op_subclass << 27 | (u64)source << 35 |
	       (u64)encoding << SAMPLE_CLASS_ENCODING;
}

static inline u64 sample_class_hash(u64 events, u64 key)
{
	return (events ^ key * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
}

static inline u32 sample_class_slot(u64 events, u64 key)
{
	return (u32)(sample_class_hash(events, key) >> (64 - SAMPLE_CLASS_BITS));
}

/** sample_class_init() - 0 or -ENOMEM */
int sample_class_init(struct sample_class_catalog *catalog);

/** sample_class_deinit() - also of one that is all zeros */
void sample_class_deinit(struct sample_class_catalog *catalog);

/** sample_class_clear() - forget all of them, and their numbers */
void sample_class_clear(struct sample_class_catalog *catalog);

/**
 * sample_class_find() - the number of @events and @key, where its guess was wrong
 *
 * Return: 0 if it has none and there is no room: then the first entry is to be filled by
 * sample_class_fill(), and has sample_class_coarse() for an id.
 */
u16 sample_class_find(struct sample_class_catalog *catalog, u64 events, u64 key,
		      const struct spe_data_sources *sources);

/**
 * sample_class_content() - what figures count of @sample_class, but for events, as a number
 *
 * sample_class_restore() makes traits of it and of events, in another process too.
 */
u32 sample_class_content(const struct sample_class *sample_class);

/** sample_class_restore() - its number; 0 if @content is none; SAMPLE_CLASS_OTHERS if there is no room */
u16 sample_class_restore(struct sample_class_catalog *catalog, u64 events, u32 content);

/** sample_class_coarse() - the number of what @sample_class count as without their events, or SAMPLE_CLASS_OTHERS */
u16 sample_class_coarse(struct sample_class_catalog *catalog, struct sample_class *sample_class);

/** sample_class_of() - by id; NULL for SAMPLE_CLASS_OTHERS */
static inline const struct sample_class *sample_class_of(const struct sample_class_catalog *catalog,
							 u16 id)
{
	return id == SAMPLE_CLASS_OTHERS ? NULL : &catalog->at[id];
}

/** sample_class_fill() - @ret_sample_class is of @events and @key, and has counted nothing */
void sample_class_fill(u64 events, u64 key, const struct spe_data_sources *sources,
		       struct sample_class *ret_sample_class);

/** sample_class_source() - the Data Source payload; false if there is none */
bool sample_class_source(const struct sample_class *sample_class, u16 *ret_source);

#endif
