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
#define SPE_LAYOUTS 16

/**
 * struct spe_layout - where the packets of a record are
 * @match, @mask: bytes that must be as they are: headers, and padding within
 * @present: SPE_HAS_* of such a record
 * @address_mask, @counter_mask, @context_mask, @events_mask, @timestamp_mask,
 *	@source_mask, @subclass_mask: ones in the payload's size, 0 where there is none:
 *	so that every field is read without a branch
 * @address, @counter, @context, @events, @source, @subclass, @timestamp: offsets
 *	of payloads
 * @size: bytes through End or Timestamp
 */
struct spe_layout {
	u64 match[SPE_LAYOUT_WORDS];
	u64 mask[SPE_LAYOUT_WORDS];
	u64 present;
	u64 address_mask[8];
	u64 events_mask;
	u64 timestamp_mask;
	u32 context_mask[4];
	u16 counter_mask[8];
	u16 source_mask;
	u8 subclass_mask;
	u8 address[8];
	u8 counter[8];
	u8 context[4];
	u8 events;
	u8 source;
	u8 subclass;
	u8 timestamp;
	u8 op_class;
	u8 events_size;
	u8 source_size;
	u8 size;
};

/**
 * struct spe_layouts - the layouts learned so far; zero it before its first use.
 * May be kept over windows, and is best kept for each CPU.
 */
struct spe_layouts {
	struct spe_layout layout[SPE_LAYOUTS];
	u8 count;
	u8 next;	/* the one to replace where all places are taken */
	u8 key;		/* where records mostly differ: the Operation Type header */
	u8 by_key[256];	/* the layout that had this byte there the last time */
};

/**
 * spe_decoder_next_fast() - spe_decoder_next(), by the layouts where it can
 *
 * Same results, same ledger.
 */
enum spe_decode spe_decoder_next_fast(struct spe_decoder *decoder, struct spe_layouts *layouts,
				      struct spe_sample *ret_sample, struct spe_range *ret_range);

#endif
