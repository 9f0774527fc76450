/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of the sample record format, version 0 (D18.2). A packet has a header of one or two
 * bytes, which determines the size of the payload that follows.
 */
#ifndef SPE_CORE_PACKET_H
#define SPE_CORE_PACKET_H

#include "env.h"

enum spe_packet_type {
	SPE_PACKET_PADDING,
	SPE_PACKET_END,
	SPE_PACKET_TIMESTAMP,
	SPE_PACKET_EVENTS,
	SPE_PACKET_DATA_SOURCE,
	SPE_PACKET_CONTEXT,
	SPE_PACKET_OP_TYPE,
	SPE_PACKET_ADDRESS,
	SPE_PACKET_COUNTER,
	SPE_PACKET_UNKNOWN,
	SPE_PACKET_TYPES,
};

/* INDEX of an Address packet (D18.2.1). The values 6, 7 and 16-31 are IMPLEMENTATION DEFINED. */
enum spe_address {
	SPE_ADDRESS_PC = 0,
	SPE_ADDRESS_TARGET = 1,
	SPE_ADDRESS_VA = 2,
	SPE_ADDRESS_PA = 3,
	SPE_ADDRESS_PREV_TARGET = 4,
};

/* INDEX of a Counter packet (D18.2.3). The values 6, 7 and 16-31 are IMPLEMENTATION DEFINED. */
enum spe_counter {
	SPE_COUNTER_TOTAL = 0,
	SPE_COUNTER_ISSUE = 1,
	SPE_COUNTER_TRANSLATION = 2,
	SPE_COUNTER_ALT_ISSUE = 4,
};

/* INDEX of a Context packet (D18.2.2). */
enum spe_context {
	SPE_CONTEXT_EL1 = 0,
	SPE_CONTEXT_EL2 = 1,
};

/* CLASS of an Operation Type packet (D18.2.7); 3 is reserved. */
enum spe_op_class {
	SPE_OP_OTHER = 0,
	SPE_OP_LOAD_STORE = 1,
	SPE_OP_BRANCH = 2,
};

/* Bits of an Events packet (D18.2.6). All others are IMPLEMENTATION DEFINED or reserved. */
enum spe_event {
	SPE_EVENT_EXCEPTION = 0,
	SPE_EVENT_RETIRED = 1,
	SPE_EVENT_L1D_ACCESS = 2,
	SPE_EVENT_L1D_REFILL = 3,
	SPE_EVENT_TLB_ACCESS = 4,
	SPE_EVENT_TLB_WALK = 5,
	SPE_EVENT_NOT_TAKEN = 6,
	SPE_EVENT_MISPREDICTED = 7,
	SPE_EVENT_LLC_ACCESS = 8,
	SPE_EVENT_LLC_MISS = 9,
	SPE_EVENT_REMOTE_ACCESS = 10,
	SPE_EVENT_MISALIGNED = 11,
	SPE_EVENT_TRANSACTIONAL = 16,
	SPE_EVENT_PARTIAL_PREDICATE = 17,
	SPE_EVENT_EMPTY_PREDICATE = 18,
	SPE_EVENT_L2D_ACCESS = 19,
	SPE_EVENT_L2D_MISS = 20,
	SPE_EVENT_CACHE_DATA_MODIFIED = 21,
	SPE_EVENT_RECENTLY_FETCHED = 22,
	SPE_EVENT_DATA_SNOOPED = 23,
	SPE_EVENT_STREAMING_SVE = 24,
	SPE_EVENT_SMCU = 25,
};

/* Fields of an Address payload's top byte (D18.2.1). */
#define SPE_ADDRESS_NS		SPE_BIT(63)
#define SPE_ADDRESS_EL		SPE_MASK(62, 61)
#define SPE_ADDRESS_NSE		SPE_BIT(60)
#define SPE_ADDRESS_PA_CH	SPE_BIT(62)
#define SPE_ADDRESS_PA_PAT	SPE_MASK(59, 56)
#define SPE_ADDRESS_TAG		SPE_MASK(63, 56)
#define SPE_ADDRESS_BITS	SPE_MASK(55, 0)

/* Fields of an Operation Type payload, by format (D18.2.7). */
#define SPE_OP_COND		SPE_BIT(0)
#define SPE_OP_FP		SPE_BIT(1)
#define SPE_OP_ASE		SPE_BIT(2)
#define SPE_OP_PRED		SPE_BIT(2)
#define SPE_OP_EVL		SPE_MASK(6, 4)
#define SPE_OP_LDST		SPE_BIT(0)
#define SPE_OP_AT		SPE_BIT(2)
#define SPE_OP_EXCL		SPE_BIT(3)
#define SPE_OP_AR		SPE_BIT(4)
#define SPE_OP_SG		SPE_BIT(7)
#define SPE_OP_GCS_COMM		SPE_BIT(2)
#define SPE_OP_BR_IND		SPE_BIT(1)
#define SPE_OP_BR_GCS		SPE_BIT(2)
#define SPE_OP_BR_CR		SPE_MASK(4, 3)

/**
 * enum spe_op_format - the payload formats of the Operation Type packet
 *
 * CLASS and SUBCLASS determine the format. Reserved values have the format SPE_OP_FORMAT_RESERVED,
 * and are not errors (D18.1.3).
 */
enum spe_op_format {
	SPE_OP_FORMAT_RESERVED,
	SPE_OP_FORMAT_OTHER,
	SPE_OP_FORMAT_SVE,
	SPE_OP_FORMAT_SME,
	SPE_OP_FORMAT_LS_GP,
	SPE_OP_FORMAT_LS_SIMD_FP,
	SPE_OP_FORMAT_LS_UNSPECIFIED,
	SPE_OP_FORMAT_LS_TAG,
	SPE_OP_FORMAT_LS_SYSREG,
	SPE_OP_FORMAT_LS_EXTENDED,
	SPE_OP_FORMAT_LS_SVE,
	SPE_OP_FORMAT_LS_MEMCPY,
	SPE_OP_FORMAT_LS_MEMSET,
	SPE_OP_FORMAT_LS_GCS,
	SPE_OP_FORMAT_BRANCH,
	SPE_OP_FORMATS,
};

/**
 * struct spe_packet - a packet
 * @payload: the payload, zero-extended
 * @type: &enum spe_packet_type
 * @index: INDEX of an Address, Counter or Context packet (0-31), CLASS of an
 *	Operation Type packet; otherwise 0
 * @header: bytes of the header, the first one in bits 7:0
 * @header_size: size of the header in bytes: 1 or 2
 * @payload_size: size of the payload in bytes: 0, 1, 2, 4 or 8
 */
struct spe_packet {
	u64 payload;
	u16 header;
	u8 type;
	u8 index;
	u8 header_size;
	u8 payload_size;
};

/**
 * spe_packet_decode() - decode one packet
 * @buf: its first byte
 * @len: bytes at @buf
 * @ret_packet: the packet; unchanged on failure
 *
 * The header of an unknown packet specifies the size of the packet (D18.1.3), so the packet is
 * decoded as SPE_PACKET_UNKNOWN. D18.1.1 defines no size for an extended header with a second
 * byte of 0x20 to 0x3f.
 *
 * Return: the size of the packet in bytes; -ENODATA if it is longer than @len; -EBADMSG if its
 * header defines no size.
 */
int spe_packet_decode(const u8 *buf, size_t len, struct spe_packet *ret_packet);

/**
 * spe_packet_encode() - write a packet as bytes
 * @packet: the packet. &spe_packet.header and &spe_packet.header_size are ignored: Address and
 * Counter packets get the short format if INDEX permits it
 * @buf: destination
 * @len: size of @buf in bytes
 *
 * Return: the number of bytes written; -ENOSPC if @buf is too small; -EINVAL if a packet of that
 * type cannot have that index or payload size. On failure nothing is written.
 */
int spe_packet_encode(const struct spe_packet *packet, u8 *buf, size_t len);

/**
 * spe_packet_write_same_header() - write a packet with the header from which it was decoded
 * @packet: result of spe_packet_decode(); the caller may have changed the payload
 * @buf: destination, at least @packet->header_size + @packet->payload_size bytes
 */
void spe_packet_write_same_header(const struct spe_packet *packet, u8 *buf);

/**
 * spe_op_format() - return the format of an Operation Type payload
 * @op_class: CLASS, 0-3
 * @subclass: the payload
 *
 * Section D18.2.7 defines the formats. If several patterns match, the most specific one decides.
 */
enum spe_op_format spe_op_format(u8 op_class, u8 subclass);

#endif
