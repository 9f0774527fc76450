// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "payload.h"

/* A bit of a payload, and its meaning if it is set */
struct op_field {
	u8 mask;
	u16 flag;
};

#define FIELDS 3

/* The bits of each format. LDST, EVL, ETS and CR are handled by functions. */
static const struct op_field format_fields[SPE_OP_FORMATS][FIELDS] = {
	[SPE_OP_FORMAT_OTHER] = { { SPE_OP_COND, SPE_OP_IS_CONDITIONAL },
				  { SPE_OP_FP, SPE_OP_IS_FP },
				  { SPE_OP_ASE, SPE_OP_IS_ASE } },
	[SPE_OP_FORMAT_SVE] = { { SPE_OP_FP, SPE_OP_IS_FP },
				{ SPE_OP_PRED, SPE_OP_IS_PREDICATED } },
	[SPE_OP_FORMAT_SME] = { { SPE_OP_FP, SPE_OP_IS_FP } },
	[SPE_OP_FORMAT_LS_EXTENDED] = { { SPE_OP_AT, SPE_OP_IS_ATOMIC },
					{ SPE_OP_EXCL, SPE_OP_IS_EXCLUSIVE },
					{ SPE_OP_AR, SPE_OP_IS_ORDERED } },
	[SPE_OP_FORMAT_LS_SVE] = { { SPE_OP_PRED, SPE_OP_IS_PREDICATED },
				   { SPE_OP_SG, SPE_OP_IS_SCATTERED } },
	[SPE_OP_FORMAT_LS_GCS] = { { SPE_OP_GCS_COMM, SPE_OP_IS_COMMON } },
	[SPE_OP_FORMAT_BRANCH] = { { SPE_OP_COND, SPE_OP_IS_CONDITIONAL },
				   { SPE_OP_BR_IND, SPE_OP_IS_INDIRECT },
				   { SPE_OP_BR_GCS, SPE_OP_IS_GCS } },
};

static u16 op_decode_call_return(u8 subclass)
{
	switch (SPE_FIELD_GET(SPE_OP_BR_CR, subclass)) {
	case 1:
		return SPE_OP_IS_CALL;
	case 2:
		return SPE_OP_IS_RETURN;
	case 3:
		return SPE_OP_IS_NEITHER;
	default:
		return 0;
	}
}

/* Decode EVL: powers of two from 32 to 2048 bits. The last value means more than that. */
static void op_decode_vector_length(struct spe_op_fields *op, u8 subclass)
{
	u32 evl = (u32)SPE_FIELD_GET(SPE_OP_EVL, subclass);

	op->length_kind = evl == 7 ? SPE_LENGTH_ABOVE : SPE_LENGTH_EXACT;
	op->length = evl == 7 ? 2048 : 32U << evl;
}

/*
 * Decode ETS, bits 6:4 and 2: powers of two from 128 bits to 256 Kbit. The last value means all of
 * ZA.
 */
static void op_decode_tile_length(struct spe_op_fields *op, u8 subclass)
{
	u32 ets = (u32)SPE_FIELD_GET(SPE_OP_EVL, subclass) << 1 | (subclass & SPE_OP_PRED ? 1 : 0);

	if (ets <= 11) {
		op->length_kind = SPE_LENGTH_EXACT;
		op->length = 128U << ets;
	} else {
		op->length_kind = ets == 15 ? SPE_LENGTH_WHOLE_ZA : SPE_LENGTH_RESERVED;
	}
}

struct spe_op_fields spe_op_decode(u8 op_class, u8 subclass)
{
	struct spe_op_fields op = { .format = (u8)spe_op_format(op_class, subclass) };
	const struct op_field *fields = format_fields[op.format];
	unsigned int i;

	/*
	 * Bit 0 is LDST in all formats of the class, including reserved ones, as spe_sample_kind()
	 * assumes.
	 */
	if (op_class == SPE_OP_LOAD_STORE)
		op.flags = subclass & SPE_OP_LDST ? SPE_OP_IS_STORE : SPE_OP_IS_LOAD;
	for (i = 0; i < FIELDS; i++)
		if (subclass & fields[i].mask)
			op.flags |= fields[i].flag;
	if (op.format == SPE_OP_FORMAT_BRANCH)
		op.flags |= op_decode_call_return(subclass);
	if (op.format == SPE_OP_FORMAT_SVE || op.format == SPE_OP_FORMAT_LS_SVE)
		op_decode_vector_length(&op, subclass);
	else if (op.format == SPE_OP_FORMAT_SME)
		op_decode_tile_length(&op, subclass);
	return op;
}
SPE_EXPORT(spe_op_decode);

/* ID_AA64DFR0_EL1.PMSVer. */
#define V1P1 2
#define V1P4 5

enum spe_event_state spe_event_state(u8 pmsver, u8 bit)
{
	u8 version = pmsver ? pmsver : U8_MAX;

	switch (bit) {
	case SPE_EVENT_EXCEPTION ... SPE_EVENT_REMOTE_ACCESS:
	/* an event of FEAT_TME, which was removed from the architecture */
	case SPE_EVENT_TRANSACTIONAL:
		return SPE_EVENT_DEFINED;
	case SPE_EVENT_MISALIGNED:
	case SPE_EVENT_PARTIAL_PREDICATE:
	case SPE_EVENT_EMPTY_PREDICATE:
		return version >= V1P1 ? SPE_EVENT_DEFINED : SPE_EVENT_ZERO;
	case SPE_EVENT_L2D_ACCESS ... SPE_EVENT_DATA_SNOOPED:
		return version >= V1P4 ? SPE_EVENT_DEFINED : SPE_EVENT_ZERO;
	case SPE_EVENT_STREAMING_SVE:
	case SPE_EVENT_SMCU:
		return version >= V1P4 ? SPE_EVENT_DEFINED : SPE_EVENT_IMPDEF;
	case 26 ... 31:
		return version >= V1P4 ? SPE_EVENT_ZERO : SPE_EVENT_IMPDEF;
	case 12 ... 15:
	case 48 ... 63:
		return SPE_EVENT_IMPDEF;
	default:
		return SPE_EVENT_ZERO;
	}
}
SPE_EXPORT(spe_event_state);

const char *spe_event_name(u8 bit)
{
	static const char *const names[] = {
		[SPE_EVENT_EXCEPTION] = "exception",
		[SPE_EVENT_RETIRED] = "retired",
		[SPE_EVENT_L1D_ACCESS] = "l1d_access",
		[SPE_EVENT_L1D_REFILL] = "l1d_refill",
		[SPE_EVENT_TLB_ACCESS] = "tlb_access",
		[SPE_EVENT_TLB_WALK] = "tlb_walk",
		[SPE_EVENT_NOT_TAKEN] = "not_taken",
		[SPE_EVENT_MISPREDICTED] = "mispredicted",
		[SPE_EVENT_LLC_ACCESS] = "llc_access",
		[SPE_EVENT_LLC_MISS] = "llc_miss",
		[SPE_EVENT_REMOTE_ACCESS] = "remote_access",
		[SPE_EVENT_MISALIGNED] = "misaligned",
		[SPE_EVENT_TRANSACTIONAL] = "transactional",
		[SPE_EVENT_PARTIAL_PREDICATE] = "partial_predicate",
		[SPE_EVENT_EMPTY_PREDICATE] = "empty_predicate",
		[SPE_EVENT_L2D_ACCESS] = "l2d_access",
		[SPE_EVENT_L2D_MISS] = "l2d_miss",
		[SPE_EVENT_CACHE_DATA_MODIFIED] = "cache_data_modified",
		[SPE_EVENT_RECENTLY_FETCHED] = "recently_fetched",
		[SPE_EVENT_DATA_SNOOPED] = "data_snooped",
		[SPE_EVENT_STREAMING_SVE] = "streaming_sve",
		[SPE_EVENT_SMCU] = "smcu",
	};

	return bit < ARRAY_SIZE(names) ? names[bit] : NULL;
}
SPE_EXPORT(spe_event_name);

bool spe_sample_has_exception(const struct spe_sample *sample)
{
	return spe_sample_has_event(sample, SPE_EVENT_RETIRED) &&
	       spe_sample_has_event(sample, SPE_EVENT_EXCEPTION);
}
SPE_EXPORT(spe_sample_has_exception);

bool spe_sample_is_not_taken(const struct spe_sample *sample)
{
	return spe_sample_kind(sample) == SPE_KIND_BRANCH &&
	       spe_sample_has_event(sample, SPE_EVENT_NOT_TAKEN);
}
SPE_EXPORT(spe_sample_is_not_taken);

bool spe_sample_condition_failed(const struct spe_sample *sample)
{
	struct spe_op_fields op;

	if (!spe_sample_has(sample, SPE_HAS_OP) ||
	    !spe_sample_has_event(sample, SPE_EVENT_NOT_TAKEN))
		return false;
	op = spe_op_decode(sample->op_class, sample->op_subclass);
	return op.flags & SPE_OP_IS_CONDITIONAL;
}
SPE_EXPORT(spe_sample_condition_failed);
