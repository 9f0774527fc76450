/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fast path of the codec. A core writes its records in a few layouts. If the header and padding
 * bytes of a record match a layout that was seen before, its fields are read at known offsets.
 * record.c decodes all other records. It is the reference: a fuzzer compares its results with those
 * of this path.
 */
#ifndef SPE_CORE_LAYOUT_H
#define SPE_CORE_LAYOUT_H

#include "env.h"
#include "record.h"

/*
 * Maximum size in bytes of a record that can have a layout. Records of Neoverse cores have 64
 * bytes.
 */
#define SPE_LAYOUT_BYTES 64
#define SPE_LAYOUT_WORDS (SPE_LAYOUT_BYTES / sizeof(u64))
#define SPE_LAYOUTS 24

/*
 * Number of indices of Address, Counter and Context packets that known cores write. Higher indices
 * are IMPLEMENTATION DEFINED or reserved (D18.2).
 */
#define SPE_LAYOUT_ADDRESSES 5
#define SPE_LAYOUT_COUNTERS 3
#define SPE_LAYOUT_CONTEXTS 2

/* Fields that spe_layout_read_rare() decodes, and spe_layout_read() does not. */
#define SPE_LAYOUT_RARE                                                                           \
	(SPE_HAS_ADDRESS(5) | SPE_HAS_ADDRESS(6) | SPE_HAS_ADDRESS(7) | SPE_HAS_COUNTER(3) |      \
	 SPE_HAS_COUNTER(4) | SPE_HAS_COUNTER(5) | SPE_HAS_COUNTER(6) | SPE_HAS_COUNTER(7) |      \
	 SPE_HAS_CONTEXT(2) | SPE_HAS_CONTEXT(3))

/*
 * struct spe_layout - where the packets of a record are
 * @match, @mask: a record has this layout if its bytes under @mask equal @match. These bytes are
 * the headers, the padding inside the record, and the padding after it up to @stride
 * @present: SPE_HAS_* of such a record
 * @address_mask, @counter_mask, @context_mask, @events_mask, @timestamp_mask, @source_mask,
 * @subclass_mask: mask with as many ones as the payload has bits; 0 if the record has no such
 * packet, so that every field is read without a branch
 * @address, @counter, @context, @events, @source, @subclass, @timestamp: offsets of payloads in
 * bytes; 0 if the record has no such packet
 * @size: bytes up to the end of the End or Timestamp packet
 * @stride: distance to the next record in bytes; the bytes from @size on are zero. Only @stride and
 * @mask change after the layout was created
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

/*
 * Number of headers that, together with the Operation Type packet, predict the layout of a record
 */
#define SPE_LAYOUT_HINTS 2

/*
 * struct spe_layouts - the known layouts; zero it before the first use. Keep one for each CPU and
 * reuse it for all windows of that CPU. The fields except @layout predict the layout of the next
 * record.
 * @by_key: index of the layout of the last record with the same key. The key is computed from the
 * payload of the Operation Type packet and from which of the headers in @hint the record has
 */
struct spe_layouts {
	struct spe_layout layout[SPE_LAYOUTS];
	u8 count;
	u8 next;	/* layout to replace if all slots are used */
	u8 key;		/* offset of the Operation Type payload */
	u8 hints; /* number of @hint that are used */
	struct {
		u8 at;
		u8 header;
	} hint[SPE_LAYOUT_HINTS];
	u8 by_key[256 << SPE_LAYOUT_HINTS];
};

/* maximum number of records that spe_decoder_next_run() returns */
#define SPE_RUN 32

/**
 * struct spe_layout_run - consecutive records with known layouts
 * @raw: first byte of each record, in the window
 * @layout: index of each record's layout in &spe_layouts.layout; valid until the next use of the
 * layouts
 * @count: number of records
 */
struct spe_layout_run {
	const u8 *raw[SPE_RUN];
	u8 layout[SPE_RUN];
	u32 count;
};

/**
 * spe_layout_read() - decode a record with a known layout
 * @l: its layout
 * @raw: first byte of the record; SPE_LAYOUT_BYTES bytes can be read
 * @ret_sample: the record; fields in SPE_LAYOUT_RARE are zeroed
 *
 * It is inline so that the compiler drops fields that the caller does not use.
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

/**
 * spe_layout_read_rare() - decode the fields of SPE_LAYOUT_RARE
 *
 * The parameters are those of spe_layout_read().
 */
void spe_layout_read_rare(const struct spe_layout *l, const u8 *raw,
			  struct spe_sample *ret_sample);

/**
 * spe_run_decode_sample() - decode record @i of @run into @ret_sample, as spe_record_decode()
 * would
 */
static inline void spe_run_decode_sample(const struct spe_layouts *layouts,
					 const struct spe_layout_run *run, unsigned int i,
					 struct spe_sample *ret_sample)
{
	const struct spe_layout *l = &layouts->layout[run->layout[i]];

	spe_layout_read(l, run->raw[i], ret_sample);
	if (l->present & SPE_LAYOUT_RARE)
		spe_layout_read_rare(l, run->raw[i], ret_sample);
}

/**
 * spe_decoder_next_fast() - decode the next record as spe_decoder_next() does, but faster if the
 * record has one of @layouts
 *
 * The results and the ledger are the same.
 */
enum spe_decode_result spe_decoder_next_fast(struct spe_decoder *decoder,
					     struct spe_layouts *layouts,
					     struct spe_sample *ret_sample,
					     struct spe_range *ret_range);

/**
 * spe_decoder_next_run() - decode a run of records with known layouts, or one item
 * @decoder: the decoder
 * @layouts: cache of layouts; the function adds new layouts
 * @ret_run: one record or more, if SPE_DECODE_RUN is returned
 * @ret_sample: the record, if SPE_DECODE_SAMPLE is returned
 * @ret_range: the range, if SPE_DECODE_SUSPECT is returned; may be NULL
 *
 * If the next record has no known layout, the function returns one item, like spe_decoder_next().
 * Both functions find the same records. Their ledgers are equal at the end of the data. Before
 * that, the ledger of this function already includes the padding after the last record of a run.
 */
enum spe_decode_result spe_decoder_next_run(struct spe_decoder *decoder,
					    struct spe_layouts *layouts,
					    struct spe_layout_run *ret_run,
					    struct spe_sample *ret_sample,
					    struct spe_range *ret_range);

#endif
