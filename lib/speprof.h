/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libspeprof: read and write records of the Arm Statistical Profiling Extension (Arm Architecture
 * Reference Manual, chapter D18). See libspeprof(3).
 *
 * No function allocates memory, prints or exits. All state is in the caller's structures, so
 * threads may use different structures at the same time. The ABI has version 0 and may still
 * change: link with the version that you compiled with.
 */
#ifndef SPEPROF_H
#define SPEPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of &speprof_record.present: the fields that a record has */
#define SPEPROF_HAS_ADDRESS(i)	(UINT64_C(1) << (i))		/* INDEX 0-7 */
#define SPEPROF_HAS_COUNTER(i)	(UINT64_C(1) << (8 + (i)))	/* INDEX 0-7 */
#define SPEPROF_HAS_CONTEXT(i)	(UINT64_C(1) << (16 + (i)))	/* INDEX 0-3 */
#define SPEPROF_HAS_EVENTS	(UINT64_C(1) << 20)
#define SPEPROF_HAS_OP		(UINT64_C(1) << 21)
#define SPEPROF_HAS_SOURCE	(UINT64_C(1) << 22)
#define SPEPROF_HAS_TIMESTAMP	(UINT64_C(1) << 23)
/* packets for which struct speprof_record has no field; read them from &speprof_record.raw */
#define SPEPROF_HAS_OTHERS	(UINT64_C(1) << 24)

/* INDEX of addresses, counters and contexts (D18.2.1, D18.2.3, D18.2.2). */
#define SPEPROF_ADDRESS_PC		0
#define SPEPROF_ADDRESS_TARGET		1
#define SPEPROF_ADDRESS_VA		2
#define SPEPROF_ADDRESS_PA		3
#define SPEPROF_ADDRESS_PREV_TARGET	4
#define SPEPROF_COUNTER_TOTAL		0
#define SPEPROF_COUNTER_ISSUE		1
#define SPEPROF_COUNTER_TRANSLATION	2
#define SPEPROF_COUNTER_ALT_ISSUE	4
#define SPEPROF_CONTEXT_EL1		0
#define SPEPROF_CONTEXT_EL2		1

/**
 * struct speprof_record - a record
 * @present: SPEPROF_HAS_*; all other fields are zero
 * @address: Address payloads, indexed by INDEX, with their top byte (NS, EL, tags)
 * @events: the Events payload (D18.2.6)
 * @timestamp: in ticks of the Generic Timer
 * @raw: the first byte of the record, or of a range of bytes that is not a record, in the window
 * @size: number of bytes, including padding inside the record
 * @context: Context payloads, indexed by INDEX
 * @counter: Counter payloads, indexed by INDEX, in cycles; a counter stops at its maximum
 * @source: the Data Source payload; its values depend on the core
 * @op_class: CLASS of the Operation Type packet: 0 other, 1 load/store, 2 branch
 * @op_subclass: its payload, see speprof_op_decode()
 * @events_size: size of the Events payload in bytes: 1, 2, 4 or 8
 * @source_size: size of the Data Source payload in bytes: 1 or 2
 * @reserved: 0
 */
struct speprof_record {
	uint64_t present;
	uint64_t address[8];
	uint64_t events;
	uint64_t timestamp;
	const uint8_t *raw;
	size_t size;
	uint32_t context[4];
	uint16_t counter[8];
	uint16_t source;
	uint8_t op_class;
	uint8_t op_subclass;
	uint8_t events_size;
	uint8_t source_size;
	uint8_t reserved[2];
};

/**
 * struct speprof_window - bytes of records that an SPU wrote between two management events
 * @data: the bytes, which belong to the caller and must not change while they are decoded
 * @size: number of bytes
 * @max_record: size of the largest record in bytes (1 << PMSIDR_EL1.MaxSize); 0: unknown
 * @align: alignment of records in bytes (1 << PMBIDR_EL1.Align); 0: unknown
 */
struct speprof_window {
	const uint8_t *data;
	size_t size;
	uint32_t max_record;
	uint32_t align;
};

/**
 * struct speprof_ledger - accounts for every byte of a window
 * @records: records that were decoded
 * @decoded: bytes of these records
 * @padding: zero bytes between records
 * @suspect: bytes that are not a record
 * @partial: bytes of @suspect that begin a record which the end of the window cuts off
 *
 * At the end of a window @decoded + @padding + @suspect is equal to the size of the window.
 */
struct speprof_ledger {
	uint64_t records;
	uint64_t decoded;
	uint64_t padding;
	uint64_t suspect;
	uint64_t partial;
};

/**
 * struct speprof_decoder - the state of a decoder
 * @opaque: only this library uses it
 */
struct speprof_decoder {
	uint64_t opaque[1024];
};

/* Results of speprof_decoder_next() */
enum speprof_result {
	SPEPROF_END = 0,	/* the window has no more bytes */
	SPEPROF_RECORD = 1,	/* a record */
	SPEPROF_SHORT = 2,	/* the window ends inside the record at &speprof_record.raw */
	SPEPROF_MALFORMED = 3,	/* the bytes at &speprof_record.raw are no record; skipped */
};

/**
 * speprof_decoder_init() - initialise a decoder
 * @decoder: the caller's memory; needs no cleanup
 */
void speprof_decoder_init(struct speprof_decoder *decoder);

/**
 * speprof_decoder_window() - begin to decode a window
 * @decoder: the decoder; an earlier window need not be finished
 * @window: the window; copied, except for its bytes
 *
 * Use one decoder for all windows of a CPU: the decoder stores the layouts of the core's records,
 * and decodes records with a known layout faster.
 */
void speprof_decoder_window(struct speprof_decoder *decoder, const struct speprof_window *window);

/**
 * speprof_decoder_next() - decode the next record of the window
 * @decoder: the decoder
 * @ret_record: the record. With SPEPROF_SHORT and SPEPROF_MALFORMED only &speprof_record.raw and
 * &speprof_record.size are set, to the range of bytes that is not a record. With SPEPROF_END it is
 * not changed
 *
 * Return: a &enum speprof_result. After SPEPROF_MALFORMED, decoding resumes at the next record.
 */
enum speprof_result speprof_decoder_next(struct speprof_decoder *decoder,
					 struct speprof_record *ret_record);

/**
 * speprof_decoder_ledger() - get the ledger of the bytes of the window that were decoded so far
 * @decoder: the decoder
 * @ret_ledger: filled in
 */
void speprof_decoder_ledger(const struct speprof_decoder *decoder,
			    struct speprof_ledger *ret_ledger);

/**
 * speprof_record_encode() - write a record as bytes
 * @record: the record
 * @buf: destination; must not overlap the bytes at &speprof_record.raw
 * @len: size of @buf in bytes
 *
 * If &speprof_record.raw is set, the packets there are written in the same order. Their payloads
 * are taken from the fields of @record, which the caller may have changed. Otherwise packets are
 * written in the order in which Arm's cores write them. No padding is written.
 *
 * Return: the size in bytes; -ENOSPC if @buf is too small; -EINVAL if @record has no Events packet,
 * or a size that a packet cannot have.
 */
int speprof_record_encode(const struct speprof_record *record, uint8_t *buf, size_t len);

enum speprof_packet_type {
	SPEPROF_PACKET_PADDING,
	SPEPROF_PACKET_END,
	SPEPROF_PACKET_TIMESTAMP,
	SPEPROF_PACKET_EVENTS,
	SPEPROF_PACKET_DATA_SOURCE,
	SPEPROF_PACKET_CONTEXT,
	SPEPROF_PACKET_OP_TYPE,
	SPEPROF_PACKET_ADDRESS,
	SPEPROF_PACKET_COUNTER,
	SPEPROF_PACKET_UNKNOWN,
};

/**
 * struct speprof_packet - a packet of a record
 * @payload: the payload, zero-extended
 * @header: the bytes of the header, the first one in bits 7:0
 * @type: &enum speprof_packet_type
 * @index: INDEX of an Address, Counter or Context packet; CLASS of an Operation Type packet;
 *	otherwise 0
 * @header_size: size of the header in bytes: 1 or 2
 * @payload_size: size of the payload in bytes: 0, 1, 2, 4 or 8
 * @reserved: 0
 */
struct speprof_packet {
	uint64_t payload;
	uint16_t header;
	uint8_t type;
	uint8_t index;
	uint8_t header_size;
	uint8_t payload_size;
	uint8_t reserved[2];
};

/**
 * speprof_packet_decode() - decode one packet
 * @buf: its first byte
 * @len: bytes at @buf
 * @ret_packet: filled in on success
 *
 * Return: the size of the packet in bytes; -ENODATA if the packet is longer than @len; -EBADMSG if
 * the architecture defines no size for a packet with this header.
 */
int speprof_packet_decode(const uint8_t *buf, size_t len, struct speprof_packet *ret_packet);

/* Fields of an operation: bits of &speprof_op.flags. */
#define SPEPROF_OP_LOAD		(1U << 0)
#define SPEPROF_OP_STORE	(1U << 1)
#define SPEPROF_OP_CONDITIONAL	(1U << 2)
#define SPEPROF_OP_FP		(1U << 3)
#define SPEPROF_OP_ASE		(1U << 4)
#define SPEPROF_OP_PREDICATED	(1U << 5)
#define SPEPROF_OP_SCATTERED	(1U << 6)
#define SPEPROF_OP_ATOMIC	(1U << 7)
#define SPEPROF_OP_EXCLUSIVE	(1U << 8)
#define SPEPROF_OP_ORDERED	(1U << 9)
#define SPEPROF_OP_COMMON	(1U << 10)
#define SPEPROF_OP_INDIRECT	(1U << 11)
#define SPEPROF_OP_GCS		(1U << 12)
#define SPEPROF_OP_CALL		(1U << 13)
#define SPEPROF_OP_RETURN	(1U << 14)
#define SPEPROF_OP_NEITHER	(1U << 15)

enum speprof_op_format {
	SPEPROF_FORMAT_RESERVED,
	SPEPROF_FORMAT_OTHER,
	SPEPROF_FORMAT_SVE,
	SPEPROF_FORMAT_SME,
	SPEPROF_FORMAT_LS_GP,
	SPEPROF_FORMAT_LS_SIMD_FP,
	SPEPROF_FORMAT_LS_UNSPECIFIED,
	SPEPROF_FORMAT_LS_TAG,
	SPEPROF_FORMAT_LS_SYSREG,
	SPEPROF_FORMAT_LS_EXTENDED,
	SPEPROF_FORMAT_LS_SVE,
	SPEPROF_FORMAT_LS_MEMCPY,
	SPEPROF_FORMAT_LS_MEMSET,
	SPEPROF_FORMAT_LS_GCS,
	SPEPROF_FORMAT_BRANCH,
};

enum speprof_length {
	SPEPROF_LENGTH_NONE,
	SPEPROF_LENGTH_EXACT,
	SPEPROF_LENGTH_ABOVE,
	SPEPROF_LENGTH_WHOLE_ZA,
	SPEPROF_LENGTH_RESERVED,
};

/**
 * struct speprof_op - the fields of an Operation Type packet (D18.2.7)
 * @length: length of the vector or size of the tile in bits, to be interpreted by @length_kind
 * @flags: SPEPROF_OP_*
 * @format: &enum speprof_op_format
 * @length_kind: &enum speprof_length
 */
struct speprof_op {
	uint32_t length;
	uint16_t flags;
	uint8_t format;
	uint8_t length_kind;
};

/**
 * speprof_op_decode() - decode the fields of an Operation Type packet
 * @op_class: CLASS, as in &speprof_record.op_class
 * @op_subclass: SUBCLASS, as in &speprof_record.op_subclass
 */
struct speprof_op speprof_op_decode(uint8_t op_class, uint8_t op_subclass);

enum speprof_level {
	SPEPROF_LEVEL_UNKNOWN,
	SPEPROF_LEVEL_L1,
	SPEPROF_LEVEL_L2,
	SPEPROF_LEVEL_L3,
	SPEPROF_LEVEL_SYSTEM_CACHE,
	SPEPROF_LEVEL_PEER_CORE,
	SPEPROF_LEVEL_LOCAL_CLUSTER,
	SPEPROF_LEVEL_PEER_CLUSTER,
	SPEPROF_LEVEL_LOCAL_CHIP,
	SPEPROF_LEVEL_REMOTE_CACHE,
	SPEPROF_LEVEL_DRAM,
	SPEPROF_LEVEL_DEVICE,
	SPEPROF_LEVEL_RECENT,
	SPEPROF_LEVEL_LLC,
	SPEPROF_LEVEL_BEYOND_L1,
	SPEPROF_LEVEL_BEYOND_L2,
	SPEPROF_LEVEL_BEYOND_LLC,
};

#define SPEPROF_ORIGIN_REMOTE		(1U << 0)
#define SPEPROF_ORIGIN_SNOOPED		(1U << 1)
#define SPEPROF_ORIGIN_PEER		(1U << 2)
#define SPEPROF_ORIGIN_MODIFIED		(1U << 3)
#define SPEPROF_ORIGIN_BY_SOURCE	(1U << 4)

/**
 * struct speprof_origin - what served a load or store
 * @level: &enum speprof_level
 * @flags: SPEPROF_ORIGIN_*
 */
struct speprof_origin {
	uint8_t level;
	uint8_t flags;
};

/**
 * speprof_record_origin() - determine what served a load or store
 * @record: the record
 * @midr: MIDR_EL1 of its CPU; 0: unknown
 *
 * If the values of the core's Data Source packet are known, that packet determines the result, and
 * SPEPROF_ORIGIN_BY_SOURCE is set. Otherwise the events determine it.
 */
struct speprof_origin speprof_record_origin(const struct speprof_record *record, uint64_t midr);

/**
 * speprof_level_name() - return the name of a level, such as "l1" or "dram"
 * @level: the level
 *
 * Return: a static string.
 */
const char *speprof_level_name(enum speprof_level level);

/** speprof_version() - return the version of the library at run time, such as "0.1.0" */
const char *speprof_version(void);

/**
 * speprof_address_va() - extract the virtual address from the payload of a PC or branch target
 * @payload: &speprof_record.address[SPEPROF_ADDRESS_PC] or [SPEPROF_ADDRESS_TARGET]
 *
 * Bits 55:0 are sign-extended, as the CPU uses them.
 */
static inline uint64_t speprof_address_va(uint64_t payload)
{
	uint64_t address = payload & ((UINT64_C(1) << 56) - 1);

	return address >> 55 ? address | UINT64_C(0xff) << 56 : address;
}

/**
 * speprof_address_el() - extract the Exception level, 0 to 3, from the payload of an address
 * @payload: as for speprof_address_va()
 */
static inline unsigned int speprof_address_el(uint64_t payload)
{
	return (unsigned int)(payload >> 61 & 3);
}

#ifdef __cplusplus
}
#endif

#endif
