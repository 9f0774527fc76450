/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sample classes: the properties of a sample apart from its task, location and latency. A class is
 * a combination of operation, events and data source. Samples have only few different classes, so
 * each class has a number, and samples are counted by that number. The class is decoded when the
 * counters are read.
 */
#ifndef SPEPROF_SAMPLE_CLASS_H
#define SPEPROF_SAMPLE_CLASS_H

#include "counters.h"

/*
 * The values that a sample adds to &struct sample_counts: bytes of 0 or 1 in the same order. Up to
 * SAMPLE_CLASS_FLUSH samples are summed in bytes, before the sums are added to wider counters.
 */
#define SAMPLE_CLASS_LANES (SAMPLE_COUNTS / 16)
#define SAMPLE_CLASS_FLUSH 255

typedef u8 sample_class_lanes __attribute__((vector_size(16)));

/* In &sample_class.flags: the kind of operation, and whether it is an SVE or SME operation. */
#define SAMPLE_CLASS_KIND 0x7
#define SAMPLE_CLASS_SIMD 0x8
/* Flag: the sample has contexts other than the one that identifies its task. */
#define SAMPLE_CLASS_CONTEXTS 0x10
/*
 * Flags of a load or store that missed the first level cache. LINE: other CPUs may share its cache
 * line. PAGE: its physical address is known.
 */
#define SAMPLE_CLASS_LINE 0x20
#define SAMPLE_CLASS_PAGE 0x40
/* Flag: DRAM served the access, as far as is known. */
#define SAMPLE_CLASS_DRAM 0x80

/**
 * struct sample_class - one combination of operation, events and data source
 * @events: payload of the Events packet
 * @key: all other properties, from sample_class_make_key()
 * @count: samples since the catalog's owner flushed it
 * @absent: HISTOGRAM_NONE for latencies that a record of this class does not have, else 0
 * @origin: what served the access of a load or store
 * @flags: SAMPLE_CLASS_* flags
 * @id: number of the class
 * @coarse: number of the class without events, used when a table of classes is full; 0 if not
 *	computed yet
 * @used: the entry is in use
 * @ones: values that a sample adds to the counters
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
 * Maximum number of classes (their numbers begin at 1), and maximum number of classes that include
 * events. Further combinations with events use the class without events.
 */
#define SAMPLE_CLASS_MAX   16383U
#define SAMPLE_CLASS_WITH_EVENTS_MAX 12287U
/* The class of samples for which no number is left. The properties of these samples are unknown. */
#define SAMPLE_CLASS_OTHERS UINT16_MAX

#define SAMPLE_CLASS_GUESS_BITS 10
#define SAMPLE_CLASS_INDEX_BITS 16

/**
 * struct sample_class_catalog - all classes of a profile
 * @at: classes, indexed by number; entry 0 is scratch memory for a combination without a number
 * @used, @whole: number of all classes, and number of classes that include events
 * @full: a combination got no number, because no number was left
 * @guess: indexed by sample_class_get_slot(): the number that was used last
 * @index: hash table of numbers with open addressing; 0 marks a free entry
 */
struct sample_class_catalog {
	struct sample_class *at;
	u32 used;
	u32 whole;
	bool full;
	u16 guess[1 << SAMPLE_CLASS_GUESS_BITS];
	u16 index[1 << SAMPLE_CLASS_INDEX_BITS];
};

/* Lowest bit of the encoding's index in a key. */
#define SAMPLE_CLASS_ENCODING 51

/* Marks keys of sample_class_get_content(); indices of encodings do not reach this bit. */
#define SAMPLE_CLASS_CONTENT (1ULL << 63)

/**
 * sample_class_make_key() - return the key of a combination, without its events
 *
 * @encoding is the index of the core's table of data sources, below 4096.
 */
static inline u64 sample_class_make_key(u64 present, u8 op_class, u8 op_subclass, u16 source,
					u32 encoding)
{
	return present | (u64)op_class << 25 | (u64)op_subclass << 27 | (u64)source << 35 |
	       (u64)encoding << SAMPLE_CLASS_ENCODING;
}

static inline u64 sample_class_hash(u64 events, u64 key)
{
	return (events ^ key * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
}

static inline u32 sample_class_get_slot(u64 events, u64 key)
{
	return (u32)(sample_class_hash(events, key) >> (64 - SAMPLE_CLASS_GUESS_BITS));
}

/** sample_class_init() - allocate an empty catalog; returns 0 or -ENOMEM */
int sample_class_init(struct sample_class_catalog *catalog);

/** sample_class_deinit() - free the memory; @catalog may be all zeros */
void sample_class_deinit(struct sample_class_catalog *catalog);

/** sample_class_clear() - remove all classes; their numbers become invalid */
void sample_class_clear(struct sample_class_catalog *catalog);

/**
 * sample_class_find() - return the number of the class of @events and @key, if
 * &sample_class_catalog.guess has another class
 * @sources: the core's table of data sources
 *
 * Return: 0 if the combination has no number and none is left. The caller then fills entry 0 with
 * sample_class_fill(), and uses the result of sample_class_find_coarse() as id.
 */
u16 sample_class_find(struct sample_class_catalog *catalog, u64 events, u64 key,
		      const struct spe_data_sources *sources);

/**
 * sample_class_get_content() - return the properties of @sample_class that the counters need,
 * except events, as a number
 *
 * sample_class_restore() restores the class from this number and the events, also in another
 * process.
 */
u32 sample_class_get_content(const struct sample_class *sample_class);

/**
 * sample_class_restore() - return the number of the class with @events and @content
 *
 * Return: 0 if @content is invalid; SAMPLE_CLASS_OTHERS if no number is left.
 */
u16 sample_class_restore(struct sample_class_catalog *catalog, u64 events, u32 content);

/**
 * sample_class_find_coarse() - return the number of @sample_class without events, or
 * SAMPLE_CLASS_OTHERS
 */
u16 sample_class_find_coarse(struct sample_class_catalog *catalog,
			     struct sample_class *sample_class);

/** sample_class_get_by_id() - return a class by its id; NULL for SAMPLE_CLASS_OTHERS */
static inline const struct sample_class *
sample_class_get_by_id(const struct sample_class_catalog *catalog, u16 id)
{
	return id == SAMPLE_CLASS_OTHERS ? NULL : &catalog->at[id];
}

/** sample_class_fill() - fill @ret_sample_class for @events and @key, with a count of 0 */
void sample_class_fill(u64 events, u64 key, const struct spe_data_sources *sources,
		       struct sample_class *ret_sample_class);

/**
 * sample_class_get_source() - get the payload of the Data Source packet; return false if there was
 * no such packet
 */
bool sample_class_get_source(const struct sample_class *sample_class, u16 *ret_source);

#endif
