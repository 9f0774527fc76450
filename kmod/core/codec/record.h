/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records: a sequence of packets that an End or a Timestamp packet closes
 * (D18.1.2), and the decoder that walks a window of them, contains damage and
 * keeps the byte ledger.
 */
#ifndef SPE_CORE_RECORD_H
#define SPE_CORE_RECORD_H

#include "env.h"
#include "packet.h"
#include "registers.h"

/* What a record held, as bits of &spe_sample.present. */
#define SPE_HAS_ADDRESS(i)	SPE_BIT(i)		/* INDEX 0-7 */
#define SPE_HAS_COUNTER(i)	SPE_BIT(8 + (i))	/* INDEX 0-7 */
#define SPE_HAS_CONTEXT(i)	SPE_BIT(16 + (i))	/* INDEX 0-3 */
#define SPE_HAS_EVENTS		SPE_BIT(20)
#define SPE_HAS_OP		SPE_BIT(21)
#define SPE_HAS_SOURCE		SPE_BIT(22)
#define SPE_HAS_TIMESTAMP	SPE_BIT(23)
/* Packets that @raw holds and the fields do not: unknown, or INDEX above 7. */
#define SPE_HAS_OTHERS		SPE_BIT(24)

/**
 * struct spe_sample - one decoded record
 * @present: SPE_HAS_*: which fields below are valid, the others are zero
 * @address: Address payloads by INDEX, raw (NS, EL, tags included)
 * @events: the Events payload
 * @timestamp: the Timestamp payload, in ticks of the Generic Timer
 * @context: Context payloads by INDEX
 * @counter: Counter payloads by INDEX, in cycles, saturating
 * @source: the Data Source payload
 * @op_class: CLASS of the Operation Type packet
 * @op_subclass: its payload
 * @events_size: bytes of the Events payload
 * @source_size: bytes of the Data Source payload
 * @size: bytes of the record, from its first header through End or Timestamp
 * @raw: the record's first byte, in the caller's buffer
 */
struct spe_sample {
	u64 present;
	u64 address[8];
	u64 events;
	u64 timestamp;
	u32 context[4];
	u16 counter[8];
	u16 source;
	u8 op_class;
	u8 op_subclass;
	u8 events_size;
	u8 source_size;
	u16 size;
	const u8 *raw;
};

/**
 * enum spe_op_kind - what an operation counts as
 *
 * SVE and SME operations count under load, store or other like all others.
 */
enum spe_op_kind {
	SPE_KIND_LOAD,
	SPE_KIND_STORE,
	SPE_KIND_BRANCH,
	SPE_KIND_OTHER,
	SPE_KIND_NONE,	/* no Operation Type packet, or a reserved class */
	SPE_KINDS,
};

/** spe_sample_kind() - what @sample counts as, by its Operation Type packet */
enum spe_op_kind spe_sample_kind(const struct spe_sample *sample);

/** spe_sample_is_simd() - whether @sample is an SVE or SME operation */
bool spe_sample_is_simd(const struct spe_sample *sample);

static inline bool spe_sample_has(const struct spe_sample *sample, u64 fields)
{
	return (sample->present & fields) == fields;
}

static inline bool spe_sample_event(const struct spe_sample *sample, enum spe_event event)
{
	return sample->events >> event & 1;
}

/**
 * spe_address_va() - a virtual address as the CPU uses it
 * @payload: payload of a PC or branch target Address packet
 *
 * Bits 55:0 sign-extended from bit 55, as the NS, EL and NSE bits stand in the
 * place of the top byte (D18.2.1).
 */
static inline u64 spe_address_va(u64 payload)
{
	return (u64)((s64)(payload << 8) >> 8);
}

/** spe_address_el() - the Exception level (0-3) of a PC or branch target payload */
static inline u8 spe_address_el(u64 payload)
{
	return (u8)SPE_FIELD_GET(SPE_ADDRESS_EL, payload);
}

/**
 * spe_record_decode() - read the record at @buf
 * @buf: the record's first header; padding before it is not part of it
 * @len: bytes to the end of the window
 * @max_size: bound on a record's size, at most SPE_MAX_RECORD
 * @ret_sample: the sample; contents undefined on failure
 *
 * A record holds an Events packet (D17.6.10) and each kind and index at most
 * once: a second one can only mean that the End or Timestamp between two
 * records is damaged.
 *
 * Return: its size in bytes, -ENODATA if the window ends within the record,
 * -EBADMSG if it is no record.
 */
int spe_record_decode(const u8 *buf, size_t len, u32 max_size, struct spe_sample *ret_sample);

/**
 * spe_record_encode() - write @sample as a record, packets in ascending order
 * of their usual place, without padding
 * @sample: what to write; @raw, @size and SPE_HAS_OTHERS are ignored
 * @buf: where to
 * @len: the room there
 *
 * Return: its size in bytes, -ENOSPC if it does not fit, -EINVAL if it is no
 * record (no Events packet, or a size that a packet cannot have).
 */
int spe_record_encode(const struct spe_sample *sample, u8 *buf, size_t len);

/**
 * spe_record_rewrite() - write the record of @sample again, as it was, without
 * the padding inside
 * @sample: as spe_record_decode() gave it, with @raw still there. Its fields may
 *	have been changed since, but not @present and the sizes
 * @buf: where to; may not overlap @raw
 * @len: the room there; @size of the sample is enough
 *
 * Order and headers are those of @raw, payloads those of the fields; what no
 * field holds (SPE_HAS_OTHERS) is taken from @raw. So nothing of a record is
 * lost: decoding and rewriting gives the same bytes, but for padding.
 *
 * Return: its size in bytes, -ENOSPC if it does not fit, -EINVAL if @present or
 * a size is not that of the record at @raw.
 */
int spe_record_rewrite(const struct spe_sample *sample, u8 *buf, size_t len);

/**
 * struct spe_decoder_config - what is known of a window before it is read
 * @max_size: bound on a record in bytes (1 << PMSIDR.MaxSize); 0 if unknown
 * @align: alignment of records in bytes (1 << PMBIDR.Align); 0 if unknown, then
 *	it is learned from the records themselves
 */
struct spe_decoder_config {
	u32 max_size;
	u32 align;
};

/**
 * struct spe_ledger - where the bytes of a window went
 *
 * What was read is @decoded + @padding + @suspect.
 *
 * @records: records decoded
 * @decoded: their bytes
 * @padding: zero bytes between records
 * @suspect: bytes that were no record, a partial last record among them
 * @suspect_ranges: runs of suspect bytes
 * @partial: those of @suspect that a window's end cut off
 */
struct spe_ledger {
	u64 records;
	u64 decoded;
	u64 padding;
	u64 suspect;
	u64 suspect_ranges;
	u64 partial;
};

/**
 * struct spe_decoder - a walk over one window; the caller's to keep, no pointer
 * in it outlives the window. Fields are private but for these, which are to be read.
 * @pos: how far it is in @buf: what is before it will not be asked for again
 * @base: where in the window @buf begins; 0 of a window that is there as a whole
 * @open: more bytes follow those of @buf, see spe_decoder_part()
 * @ledger: up to @pos, but for the suspect range that goes on there if @broken
 * @broken: @pos is within a suspect range, which began at @suspect of the window
 */
struct spe_decoder {
	const u8 *buf;
	size_t len;
	size_t pos;
	size_t base;
	size_t suspect;
	struct spe_ledger ledger;
	u32 max_size;
	u32 align;
	u32 starts;	/* OR of the offsets of good records, to learn @align */
	s16 first;	/* first header byte of the last good record, -1 before it */
	bool open;
	bool broken;
};

enum spe_decode {
	SPE_DECODE_SAMPLE,	/* a sample is there */
	SPE_DECODE_SUSPECT,	/* a range was skipped: @ret_range */
	SPE_DECODE_END,		/* the window is read */
	SPE_DECODE_RUN,		/* several samples: of spe_decoder_next_run() only */
	SPE_DECODE_MORE,	/* of an open window only: more of its bytes are needed */
};

/** struct spe_range - bytes of a window: from @offset in it, @size of them */
struct spe_range {
	size_t offset;
	size_t size;
};

/**
 * spe_headers_alike() - whether two records that begin so may be one core's
 *
 * Cores begin all records alike; an operation's class is part of its header.
 */
static inline bool spe_headers_alike(u8 a, u8 b)
{
	return a == b || ((a & 0xfc) == 0x48 && (b & 0xfc) == 0x48);
}

/** spe_decoder_init() - begin at the start of a window, which is sure */
void spe_decoder_init(struct spe_decoder *decoder, const struct spe_decoder_config *config,
		      const u8 *buf, size_t len);

/**
 * spe_decoder_next() - the next record, or the next suspect range
 * @decoder: the walk
 * @ret_sample: valid if SPE_DECODE_SAMPLE is returned
 * @ret_range: valid if SPE_DECODE_SUSPECT is returned; may be NULL
 *
 * After bytes that do not parse, goes on at the nearest aligned place from
 * which a run of SPE_RESYNC_RECORDS records parses, or all records up to the
 * window's end, or to SPE_RESYNC_ZEROS zeros.
 */
enum spe_decode spe_decoder_next(struct spe_decoder *decoder, struct spe_sample *ret_sample,
				 struct spe_range *ret_range);

#define SPE_RESYNC_RECORDS 16
#define SPE_RESYNC_ZEROS   4096
/* How far a plausible place to go on from is preferred to a nearer one. */
#define SPE_RESYNC_SPAN	   (2 * SPE_MAX_RECORD)

/* The most bytes behind @pos of a decoder that says SPE_DECODE_MORE. */
#define SPE_DECODER_HELD \
	(SPE_RESYNC_SPAN + SPE_RESYNC_RECORDS * (SPE_MAX_RECORD + SPE_RESYNC_ZEROS))

/**
 * spe_decoder_part() - go on with a window that comes in parts
 * @decoder: begun by spe_decoder_init() with no bytes; then as it was when it
 *	said SPE_DECODE_MORE
 * @buf: the bytes that it was not through with, from &spe_decoder.pos of the part
 *	before on, and those that follow them
 * @len: of @buf; with more than SPE_DECODER_HELD of them it gets on in any case
 * @last: no more follow
 *
 * Records, suspect ranges and ledger are those of the whole window in one piece,
 * wherever it is cut: until @last nothing is decided that bytes to come could change.
 * A suspect range is told when its end is known; its bytes may be gone then.
 */
void spe_decoder_part(struct spe_decoder *decoder, const u8 *buf, size_t len, bool last);

#endif
