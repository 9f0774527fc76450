/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decode payloads: the fields of every Operation Type format (D18.2.7), and the bits of the Events
 * payload. The meaning of these bits depends on the version of the SPU and on the rest of the
 * record (D18.2.6).
 */
#ifndef SPE_CORE_PAYLOAD_H
#define SPE_CORE_PAYLOAD_H

#include "env.h"
#include "record.h"

/*
 * Fields of an Operation Type payload, as bits of &spe_op_fields.flags. The bit of a field is 0 if
 * the format of the payload does not have the field.
 */
#define SPE_OP_IS_LOAD		SPE_BIT(0)
#define SPE_OP_IS_STORE		SPE_BIT(1)
#define SPE_OP_IS_CONDITIONAL	SPE_BIT(2)
#define SPE_OP_IS_FP		SPE_BIT(3)
#define SPE_OP_IS_ASE		SPE_BIT(4)	/* Advanced SIMD */
#define SPE_OP_IS_PREDICATED	SPE_BIT(5)
#define SPE_OP_IS_SCATTERED	SPE_BIT(6)	/* gather load or scatter store */
#define SPE_OP_IS_ATOMIC	SPE_BIT(7)
#define SPE_OP_IS_EXCLUSIVE	SPE_BIT(8)
#define SPE_OP_IS_ORDERED	SPE_BIT(9)	/* acquire or release */
/* GCS access that belongs neither to a call nor to a return */
#define SPE_OP_IS_COMMON	SPE_BIT(10)
#define SPE_OP_IS_INDIRECT	SPE_BIT(11)
#define SPE_OP_IS_GCS		SPE_BIT(12)	/* branch with a GCS data access */
#define SPE_OP_IS_CALL		SPE_BIT(13)	/* branch with link */
#define SPE_OP_IS_RETURN	SPE_BIT(14)	/* procedure return */
#define SPE_OP_IS_NEITHER	SPE_BIT(15)	/* known to be neither a call nor a return */

/** enum spe_op_length - how to interpret &spe_op_fields.length */
enum spe_op_length {
	SPE_LENGTH_NONE,	/* the format has no length, or it is not recorded */
	SPE_LENGTH_EXACT,	/* @length bits, rounded up to a power of two */
	SPE_LENGTH_ABOVE,	/* more than @length bits */
	SPE_LENGTH_WHOLE_ZA,	/* the whole ZA array, whatever its size is */
	SPE_LENGTH_RESERVED,	/* a value that the architecture reserves */
};

/**
 * struct spe_op_fields - the fields of an Operation Type packet
 * @length: EVL or ETS in bits, to be interpreted by @length_kind; 0 if there is none
 * @flags: SPE_OP_IS_*
 * @format: &enum spe_op_format
 * @length_kind: &enum spe_op_length
 */
struct spe_op_fields {
	u32 length;
	u16 flags;
	u8 format;
	u8 length_kind;
};

/** spe_op_decode() - decode the fields of payload @subclass of CLASS @op_class (0-3) */
struct spe_op_fields spe_op_decode(u8 op_class, u8 subclass);

/** enum spe_space - the Security state of an instruction, or an address space (D18.2.1) */
enum spe_space {
	SPE_SPACE_SECURE,
	SPE_SPACE_NON_SECURE,
	SPE_SPACE_REALM,
	SPE_SPACE_RESERVED,
};

/**
 * spe_address_space() - return the address space of a PC, a branch target or a physical address
 * @payload: payload of an Address packet with INDEX 0, 1, 3 or 4, but not 2: data virtual addresses
 * contain a tag instead of an address space
 *
 * Without FEAT_RME the bit NSE is 0.
 */
static inline enum spe_space spe_address_space(u64 payload)
{
	if (payload & SPE_ADDRESS_NSE)
		return payload & SPE_ADDRESS_NS ? SPE_SPACE_REALM : SPE_SPACE_RESERVED;
	return payload & SPE_ADDRESS_NS ? SPE_SPACE_NON_SECURE : SPE_SPACE_SECURE;
}

/** enum spe_event_state - the kind of a bit of the Events payload */
enum spe_event_state {
	SPE_EVENT_DEFINED,	/* an &enum spe_event */
	SPE_EVENT_IMPDEF,	/* IMPLEMENTATION DEFINED: its meaning depends on the core */
	/* 0 in this version; if it is set, the record is damaged or from a newer version */
	SPE_EVENT_ZERO,
};

/**
 * spe_event_state() - return the kind of a bit of the Events payload
 * @pmsver: ID_AA64DFR0_EL1.PMSVer of the CPU; 0: unknown, treated as the newest
 * @bit: 0 to 63
 */
enum spe_event_state spe_event_state(u8 pmsver, u8 bit);

/**
 * spe_event_name() - return the name of an event, in lower case with underscores
 * @bit: bit of the Events payload
 *
 * Return: a static string; NULL if the architecture does not define the event.
 */
const char *spe_event_name(u8 bit);

/**
 * spe_sample_has_exception() - check whether the operation completed with an exception
 * @sample: the record
 *
 * E[0] has this meaning only if E[1] is 1; otherwise it is IMPLEMENTATION DEFINED (D18.2.6).
 */
bool spe_sample_has_exception(const struct spe_sample *sample);

/** spe_sample_is_not_taken() - check whether @sample represents a branch that was not taken */
bool spe_sample_is_not_taken(const struct spe_sample *sample);

/**
 * spe_sample_condition_failed() - check whether the condition of the operation was false
 * @sample: the record
 *
 * E[6] of a branch, and of a conditional select or compare, shows this.
 */
bool spe_sample_condition_failed(const struct spe_sample *sample);

#endif
