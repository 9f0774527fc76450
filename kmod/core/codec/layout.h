/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fast path of the record codec. Cores write their records in a few layouts
 * over and over: a record whose header and padding bytes are those of a layout
 * seen before is read by offset. What matches none takes the general path, which is
 * the truth; a differential fuzzer holds the two equal.
 */
#ifndef SPE_CORE_LAYOUT_H
#define SPE_CORE_LAYOUT_H

#include "env.h"
#include "record.h"

/* Layouts of at most so many bytes are learned: Neoverse's are 64. */
#define SPE_LAYOUT_BYTES 64
#define SPE_LAYOUT_WORDS (SPE_LAYOUT_BYTES / sizeof(u64))
#define SPE_LAYOUTS 24

/* Packets that cores write: the other indices are IMPLEMENTATION DEFINED or reserved. */
#define SPE_LAYOUT_ADDRESSES 5
#define SPE_LAYOUT_COUNTERS 3
#define SPE_LAYOUT_CONTEXTS 2

/* What spe_layout_read() leaves to spe_layout_read_rare(). */
#define SPE_LAYOUT_RARE                                                                           \
	(SPE_HAS_ADDRESS(5) | SPE_HAS_ADDRESS(6) | SPE_HAS_ADDRESS(7) | SPE_HAS_COUNTER(3) |      \
	 SPE_HAS_COUNTER(4) | SPE_HAS_COUNTER(5) | SPE_HAS_COUNTER(6) | SPE_HAS_COUNTER(7) |      \
	 SPE_HAS_CONTEXT(2) | SPE_HAS_CONTEXT(3))

/**
 * struct spe_layout - where the packets of a record are
 * @match, @mask: bytes that must be as they are: headers, padding within, and the
 *	padding behind it up to @stride
 * @present: SPE_HAS_* of such a record
 * @address_mask, @counter_mask, @context_mask, @events_mask, @timestamp_mask,
 *	@source_mask, @subclass_mask: ones in the payload's size, 0 where there is none:
 *	so that every field is read without a branch
 * @address, @counter, @context, @events, @source, @subclass, @timestamp: offsets
 *	of payloads, 0 where there is none
 * @size: bytes through End or Timestamp
 * @stride: from this record to the next, as far as it is zero between them; the
 *	only field that may change while the layout is known
 */
struct spe_layout {
	u64 match[SPE_LAYOUT_WORDS];
	u64 mask[SPE_LAYOUT_WORDS];
	u64 present;
	u64 address_mask[SPE_LAYOUT_ADDRESSES];
	u64 events_mask;
	u64 timestamp_mask;
	u32 context_mask[SPE_LAYOUT_CONTEXTS];
	u16 counter_mask[SPE_LAYOUT_COUNTERS];
	u16 source_mask;
	u8 address[8];
	u8 counter[8];
	u8 context[4];
	u8 events;
	u8 source;
	u8 subclass;
	u8 timestamp;
	u8 subclass_mask;
	u8 op_class;
	u8 events_size;
	u8 source_size;
	u8 size;
	u8 stride;
};

/* Headers that tell layouts apart where the operation does not. */
#define SPE_LAYOUT_TELLS 2

/**
 * struct spe_layouts - the layouts learned so far; zero it before its first use.
 * May be kept over windows, and is best kept for each CPU. All but @layout is to guess
 * which one a record has: @by_key has the one that was right the last time for that
 * operation, and for those of the headers @tell that were there.
 */
struct spe_layouts {
	struct spe_layout layout[SPE_LAYOUTS];
	u8 count;
	u8 next;	/* the one to replace where all places are taken */
	u8 key;		/* where records mostly differ: the Operation Type packet */
	u8 tells;	/* how many of @tell are known */
	struct {
		u8 at;
		u8 header;
	} tell[SPE_LAYOUT_TELLS];
	u8 by_key[256 << SPE_LAYOUT_TELLS];
};

/* The most records that spe_decoder_next_run() finds at once. */
#define SPE_RUN 32

/**
 * struct spe_run - records found by their layouts, one behind the other
 * @raw: their first bytes, in the window
 * @layout: indices in &spe_layouts.layout; valid until its next use by a decoder
 * @count: how many
 */
struct spe_run {
	const u8 *raw[SPE_RUN];
	u8 layout[SPE_RUN];
	u32 count;
};

/**
 * spe_layout_read() - the fields of the record at @raw, which has layout @l
 * @raw: SPE_LAYOUT_BYTES of it can be read
 * @ret_sample: all but what SPE_LAYOUT_RARE names, which is zeroed
 *
 * Inline, so that of a sample that is used for a few fields no other is read.
 */
static inline void spe_layout_read(const struct spe_layout *l, const u8 *raw,
				   struct spe_sample *ret_sample)
{
	unsigned int i;

	for (i = 0; i < SPE_LAYOUT_ADDRESSES; i++)
		ret_sample->address[i] = spe_get_le64(raw + l->address[i]) & l->address_mask[i];
	for (; i < ARRAY_SIZE(ret_sample->address); i++)
		ret_sample->address[i] = 0;
	for (i = 0; i < SPE_LAYOUT_COUNTERS; i++)
		ret_sample->counter[i] = spe_get_le16(raw + l->counter[i]) & l->counter_mask[i];
	for (; i < ARRAY_SIZE(ret_sample->counter); i++)
		ret_sample->counter[i] = 0;
	for (i = 0; i < SPE_LAYOUT_CONTEXTS; i++)
		ret_sample->context[i] = spe_get_le32(raw + l->context[i]) & l->context_mask[i];
	for (; i < ARRAY_SIZE(ret_sample->context); i++)
		ret_sample->context[i] = 0;
	ret_sample->present = l->present;
	ret_sample->events = spe_get_le64(raw + l->events) & l->events_mask;
	ret_sample->timestamp = spe_get_le64(raw + l->timestamp) & l->timestamp_mask;
	ret_sample->source = spe_get_le16(raw + l->source) & l->source_mask;
	ret_sample->op_class = l->op_class;
	ret_sample->op_subclass = raw[l->subclass] & l->subclass_mask;
	ret_sample->events_size = l->events_size;
	ret_sample->source_size = l->source_size;
	ret_sample->size = l->size;
	ret_sample->raw = raw;
}

/** spe_layout_read_rare() - the fields that SPE_LAYOUT_RARE names */
void spe_layout_read_rare(const struct spe_layout *l, const u8 *raw,
			  struct spe_sample *ret_sample);

/** spe_run_sample() - the sample of record @i of @run, as the general path has it */
static inline void spe_run_sample(const struct spe_layouts *layouts, const struct spe_run *run,
				  unsigned int i, struct spe_sample *ret_sample)
{
	const struct spe_layout *l = &layouts->layout[run->layout[i]];

	spe_layout_read(l, run->raw[i], ret_sample);
	if (l->present & SPE_LAYOUT_RARE)
		spe_layout_read_rare(l, run->raw[i], ret_sample);
}

/**
 * spe_decoder_next_fast() - spe_decoder_next(), by the layouts where it can
 *
 * Same results, same ledger.
 */
enum spe_decode spe_decoder_next_fast(struct spe_decoder *decoder, struct spe_layouts *layouts,
				      struct spe_sample *ret_sample, struct spe_range *ret_range);

/**
 * spe_decoder_next_run() - as many records as have a layout, or what
 * spe_decoder_next() gives
 * @ret_run: valid if SPE_DECODE_RUN is returned: at least one record
 * @ret_sample: valid if SPE_DECODE_SAMPLE is returned: a record by the general path
 *
 * Same records, same ledger at the end. In between a run's last record has its
 * padding counted with it.
 */
enum spe_decode spe_decoder_next_run(struct spe_decoder *decoder, struct spe_layouts *layouts,
				     struct spe_run *ret_run, struct spe_sample *ret_sample,
				     struct spe_range *ret_range);

#endif
