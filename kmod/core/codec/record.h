/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records: sequences of packets that end with an End or a Timestamp packet (D18.1.2). The decoder
 * reads the records of a window, skips damaged bytes, and accounts for every byte.
 */
#ifndef SPE_CORE_RECORD_H
#define SPE_CORE_RECORD_H

#include "env.h"
#include "packet.h"
#include "registers.h"

/* Bits of &spe_sample.present: the fields that a record has */
#define SPE_HAS_ADDRESS(i)	SPE_BIT(i)		/* INDEX 0-7 */
#define SPE_HAS_COUNTER(i)	SPE_BIT(8 + (i))	/* INDEX 0-7 */
#define SPE_HAS_CONTEXT(i)	SPE_BIT(16 + (i))	/* INDEX 0-3 */
#define SPE_HAS_EVENTS		SPE_BIT(20)
#define SPE_HAS_OP		SPE_BIT(21)
#define SPE_HAS_SOURCE		SPE_BIT(22)
#define SPE_HAS_TIMESTAMP	SPE_BIT(23)
/*
 * The record has packets for which struct spe_sample has no field: unknown packets, or packets with
 * an INDEX above 7. They are only in &spe_sample.raw.
 */
#define SPE_HAS_OTHERS		SPE_BIT(24)

/**
 * struct spe_sample - one decoded record
 * @present: SPE_HAS_* bits of the fields that are valid; all other fields are zero
 * @address: Address payloads by INDEX, including NS, EL and tags
 * @events: the Events payload
 * @timestamp: the Timestamp payload, in ticks of the Generic Timer
 * @context: Context payloads by INDEX
 * @counter: Counter payloads by INDEX, in cycles, saturating
 * @source: the Data Source payload
 * @op_class: CLASS of the Operation Type packet
 * @op_subclass: payload of the Operation Type packet
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
 * enum spe_op_kind - the kind of an operation, for counting
 *
 * SVE and SME operations are also counted as loads, stores or other operations.
 */
enum spe_op_kind {
	SPE_KIND_LOAD,
	SPE_KIND_STORE,
	SPE_KIND_BRANCH,
	SPE_KIND_OTHER,
	SPE_KIND_NONE,	/* no Operation Type packet, or a reserved class */
	SPE_KINDS,
};

/** spe_sample_kind() - return the kind of @sample, which its Operation Type packet determines */
enum spe_op_kind spe_sample_kind(const struct spe_sample *sample);

/** spe_sample_is_simd() - check whether @sample is an SVE or SME operation */
bool spe_sample_is_simd(const struct spe_sample *sample);

/** spe_sample_has() - check whether @sample has all of @fields, a set of SPE_HAS_* */
static inline bool spe_sample_has(const struct spe_sample *sample, u64 fields)
{
	return (sample->present & fields) == fields;
}

/** spe_sample_has_event() - check whether bit @event of the Events payload is set */
static inline bool spe_sample_has_event(const struct spe_sample *sample, enum spe_event event)
{
	return sample->events >> event & 1;
}

/**
 * spe_address_va() - return the virtual address in the payload of a PC or branch target
 * @payload: payload of an Address packet
 *
 * The function sign-extends bits 55:0, because the top byte contains NS, EL and NSE instead of
 * address bits (D18.2.1).
 */
static inline u64 spe_address_va(u64 payload)
{
	return (u64)((s64)(payload << 8) >> 8);
}

/** spe_address_el() - return the Exception level (0-3) in the payload of a PC or branch target */
static inline u8 spe_address_el(u64 payload)
{
	return (u8)SPE_FIELD_GET(SPE_ADDRESS_EL, payload);
}

/**
 * spe_record_decode() - decode one record
 * @buf: its first header; padding before it is not part of a record
 * @len: bytes up to the end of the window
 * @max_size: size of the largest record in bytes, at most SPE_MAX_RECORD
 * @ret_sample: the sample; undefined on failure
 *
 * A record has an Events packet (D17.6.10), and at most one packet of each type and index. A second
 * packet means that the End or Timestamp packet between two records is damaged.
 *
 * Return: the size of the record in bytes; -ENODATA if the window ends inside it; -EBADMSG if the
 * bytes are no record.
 */
int spe_record_decode(const u8 *buf, size_t len, u32 max_size, struct spe_sample *ret_sample);

/**
 * spe_record_encode() - write a sample as a record without padding
 * @sample: the sample; &spe_sample.raw, &spe_sample.size and SPE_HAS_OTHERS are ignored
 * @buf: destination
 * @len: size of @buf in bytes
 *
 * The packets are in the order in which Arm's cores write them.
 *
 * Return: the size of the record in bytes; -ENOSPC if @buf is too small; -EINVAL if @sample has no
 * Events packet, or a size that a packet cannot have.
 */
int spe_record_encode(const struct spe_sample *sample, u8 *buf, size_t len);

/**
 * spe_record_reencode() - write a decoded record again, with changed fields and without padding
 * @sample: result of spe_record_decode(); &spe_sample.raw is still valid. The caller may have
 * changed all fields but &spe_sample.present and the sizes
 * @buf: destination; must not overlap the bytes at &spe_sample.raw
 * @len: size of @buf in bytes; &spe_sample.size suffices
 *
 * Headers are copied from &spe_sample.raw in their order, and payloads are taken from the fields.
 * Packets without a field (SPE_HAS_OTHERS) are copied from there, too. If no field was changed, the
 * result is equal to the decoded bytes without padding.
 *
 * Return: the size of the record in bytes; -ENOSPC if @buf is too small; -EINVAL if
 * &spe_sample.present or a size differs from the decoded record.
 */
int spe_record_reencode(const struct spe_sample *sample, u8 *buf, size_t len);

/**
 * struct spe_decoder_config - known properties of the records of a window
 * @max_size: size of the largest record in bytes (1 << PMSIDR.MaxSize); 0: unknown
 * @align: alignment of records in bytes (1 << PMBIDR.Align); 0: unknown, so the decoder derives it
 * from the offsets of records
 */
struct spe_decoder_config {
	u32 max_size;
	u32 align;
};

/**
 * struct spe_ledger - accounts for every byte of a window
 * @records: number of records that were decoded
 * @decoded: bytes of these records
 * @padding: zero bytes between records
 * @suspect: bytes that are not a record, including a partial last record
 * @suspect_ranges: number of contiguous ranges of @suspect
 * @partial: bytes of @suspect that begin a record which the end of the window cuts off
 *
 * @decoded + @padding + @suspect is the number of bytes read so far.
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
 * struct spe_decoder - the state of decoding one window
 * @buf: bytes of the window; they must stay valid while the decoder is used
 * @len: number of bytes at @buf
 * @pos: offset in @buf up to which bytes are no longer needed; may be read by the caller
 * @base: offset in the window at which @buf begins; 0 if @buf is the whole window
 * @suspect: offset in the window at which a suspect range began, with @broken
 * @ledger: up to @pos, without the suspect range that is open with @broken; may be read by the
 * caller
 * @max_size: size of the largest record in bytes
 * @align: alignment of records in bytes; 0 if it is not yet known
 * @starts: bitwise OR of the offsets of good records, from which @align is learned
 * @first: first byte of the last valid record; -1 if there was none
 * @open: whether more bytes follow those at @buf, see spe_decoder_set_chunk()
 * @broken: whether @pos is inside a suspect range
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
	u32 starts;
	s16 first;
	bool open;
	bool broken;
};

/* Results of the functions that decode */
enum spe_decode_result {
	SPE_DECODE_SAMPLE, /* one record */
	SPE_DECODE_SUSPECT, /* a range of bytes that is not a record, and was skipped */
	SPE_DECODE_END, /* the end of the window */
	SPE_DECODE_RUN, /* several records; only from spe_decoder_next_run() */
	SPE_DECODE_MORE, /* more bytes are needed; only after spe_decoder_set_chunk() */
};

/**
 * struct spe_range - a range of bytes in a window
 * @offset: offset of its first byte
 * @size: number of bytes
 */
struct spe_range {
	size_t offset;
	size_t size;
};

/**
 * spe_headers_alike() - check whether records with these first bytes can be from the same core
 * @a: first byte of a record
 * @b: first byte of another record
 *
 * A core begins all of its records with the same type of packet. The header of an Operation Type
 * packet includes its class.
 */
static inline bool spe_headers_alike(u8 a, u8 b)
{
	return a == b || ((a & 0xfc) == 0x48 && (b & 0xfc) == 0x48);
}

/**
 * spe_decoder_init() - begin to decode a window
 * @decoder: the decoder; needs no cleanup
 * @config: known properties of the records; copied
 * @buf: the first byte of the window, at which a record or padding begins
 * @len: bytes of the window
 */
void spe_decoder_init(struct spe_decoder *decoder, const struct spe_decoder_config *config,
		      const u8 *buf, size_t len);

/**
 * spe_decoder_next() - decode the next record, or skip the next suspect range
 * @decoder: the decoder
 * @ret_sample: the record, if SPE_DECODE_SAMPLE is returned
 * @ret_range: the range, if SPE_DECODE_SUSPECT is returned; may be NULL
 *
 * After bytes that are not a record, decoding resumes at the nearest aligned offset from which
 * SPE_RESYNC_RECORDS consecutive records are valid. Fewer valid records suffice if the end of the
 * window, or SPE_RESYNC_ZEROS zero bytes, follow them.
 *
 * Return: SPE_DECODE_SAMPLE, _SUSPECT, _END or _MORE.
 */
enum spe_decode_result spe_decoder_next(struct spe_decoder *decoder, struct spe_sample *ret_sample,
					struct spe_range *ret_range);

#define SPE_RESYNC_RECORDS 16
#define SPE_RESYNC_ZEROS   4096
/*
 * Within this number of bytes, the offset of a more likely record is preferred to a nearer offset.
 */
#define SPE_RESYNC_SPAN	   (2 * SPE_MAX_RECORD)

/* maximum number of bytes after &spe_decoder.pos of a decoder that returns SPE_DECODE_MORE */
#define SPE_DECODER_HELD \
	(SPE_RESYNC_SPAN + SPE_RESYNC_RECORDS * (SPE_MAX_RECORD + SPE_RESYNC_ZEROS))

/**
 * spe_decoder_set_chunk() - pass the next chunk of a window that is not in memory as a whole
 * @decoder: the decoder, for which spe_decoder_init() was called with 0 bytes, or which returned
 * SPE_DECODE_MORE
 * @buf: the bytes of the previous chunk from &spe_decoder.pos on, and new bytes after them
 * @len: number of bytes at @buf; with more than SPE_DECODER_HELD the decoder always makes progress
 * @last: whether this is the last chunk
 *
 * Records, suspect ranges and the ledger do not depend on where the window is cut into chunks. A
 * suspect range is reported when its end is known, so its first bytes may be in an earlier chunk.
 */
void spe_decoder_set_chunk(struct spe_decoder *decoder, const u8 *buf, size_t len, bool last);

#endif
