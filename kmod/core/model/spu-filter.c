// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Filters: PMSFCR_EL1, and the registers of the filters that it enables.
 */
#include "spu-internal.h"

/* The type bits of PMSFCR, and the distance in bits from each of them to its mask bit */
#define TYPES	   (SPE_PMSFCR_B | SPE_PMSFCR_LD | SPE_PMSFCR_ST | SPE_PMSFCR_FP | SPE_PMSFCR_SIMD)
#define MASK_SHIFT 32
static_assert(SPE_PMSFCR_B << MASK_SHIFT == SPE_PMSFCR_BM &&
		      SPE_PMSFCR_SIMD << MASK_SHIFT == SPE_PMSFCR_SIMDM,
	      "a mask bit stands 32 above its type");

static bool is_atomic(enum spe_op_format format, const struct spe_operation *operation)
{
	return format == SPE_OP_FORMAT_LS_EXTENDED && operation->op_subclass & SPE_OP_AT;
}

/*
 * Return the types that the flags of the operation or a bit of its packet specify.
 * operation_get_types() adds the types that its class and format imply.
 */
static u64 packet_get_types(enum spe_op_format format, const struct spe_operation *operation)
{
	u64 types = 0;

	if (operation->valid & SPE_OPERATION_FP)
		types |= SPE_PMSFCR_FP;
	if (operation->valid & SPE_OPERATION_SIMD)
		types |= SPE_PMSFCR_SIMD;
	if (operation->valid & SPE_OPERATION_LOAD)
		types |= SPE_PMSFCR_LD;
	if (operation->valid & SPE_OPERATION_STORE)
		types |= SPE_PMSFCR_ST;
	switch (format) {
	case SPE_OP_FORMAT_OTHER:
		if (operation->op_subclass & SPE_OP_FP)
			types |= SPE_PMSFCR_FP;
		if (operation->op_subclass & SPE_OP_ASE)
			types |= SPE_PMSFCR_SIMD;
		break;
	case SPE_OP_FORMAT_SVE:
	case SPE_OP_FORMAT_SME:
		if (operation->op_subclass & SPE_OP_FP)
			types |= SPE_PMSFCR_FP;
		fallthrough;
	case SPE_OP_FORMAT_LS_SVE:
		types |= SPE_PMSFCR_SIMD;
		break;
	default:
		break;
	}
	return types;
}

/* Return all types of an operation. */
static u64 operation_get_types(const struct spe_operation *operation)
{
	enum spe_op_format format = spe_op_format(operation->op_class, operation->op_subclass);
	u64 types = packet_get_types(format, operation);

	if (operation->op_class == SPE_OP_BRANCH)
		types |= SPE_PMSFCR_B;
	if (operation->op_class != SPE_OP_LOAD_STORE)
		return types;
	if (spe_operation_is_load(operation))
		types |= SPE_PMSFCR_LD;
	/* All stores and all atomics, including those that return a value, count as stores. */
	if (!spe_operation_is_load(operation) || is_atomic(format, operation))
		types |= SPE_PMSFCR_ST;
	return types;
}

/*
 * Check the types. Types with mask bit 0 are alternatives: the operation must have at least one
 * of them. A type with mask bit 1 (FEAT_SPE_EFT) must be present or absent, as its type bit
 * specifies. If there are no alternatives, only the types with a mask bit are checked.
 */
static bool passes_type_filter(const struct spe_spu *spu, const struct spe_operation *operation)
{
	u64 masked = spu->reg[SPE_REG_PMSFCR] >> MASK_SHIFT & TYPES;
	u64 wanted = spu->reg[SPE_REG_PMSFCR] & TYPES;
	u64 types = operation_get_types(operation);

	/*
	 * If no type bit is set, FEAT_SPE_EFT checks only the mask bits; without it, the behaviour
	 * is CONSTRAINED UNPREDICTABLE.
	 */
	if (!wanted && !(spu->config.features & SPE_PMSIDR_EFT))
		return spu->config.zero_filter == SPE_SPU_ZERO_FILTER_OFF;
	if ((types ^ wanted) & masked)
		return false;
	return !(wanted & ~masked) || types & wanted & ~masked;
}

static bool passes_event_filter(const struct spe_spu *spu, u64 events)
{
	u64 want = spu->reg[SPE_REG_PMSEVFR];

	if (!want)
		return spu->config.zero_filter == SPE_SPU_ZERO_FILTER_OFF;
	return (events & want) == want;
}

static bool passes_inverted_event_filter(const struct spe_spu *spu, u64 events)
{
	u64 unwanted = spu->reg[SPE_REG_PMSNEVFR];

	if (!unwanted)
		return spu->config.zero_filter == SPE_SPU_ZERO_FILTER_OFF;
	return !(events & unwanted);
}

static bool passes_latency_filter(const struct spe_spu *spu, u32 total)
{
	u64 min = spu->reg[SPE_REG_PMSLATFR];

	if (!min)
		return spu->config.zero_filter == SPE_SPU_ZERO_FILTER_OFF;
	return spe_spu_saturate_counter(spu, total) >= min;
}

/* PMSDSFR_EL1 filters loads that have a Data Source packet. */
static bool passes_source_filter(const struct spe_spu *spu, const struct spe_operation *operation)
{
	if (!spe_operation_is_load(operation) || !(operation->valid & SPE_OPERATION_SOURCE))
		return true;
	return spu->reg[SPE_REG_PMSDSFR] >> (operation->source & 0x3f) & 1;
}

/*
 * Check whether both event filters select the same event, and the configuration then turns both
 * filters off. The behaviour is CONSTRAINED UNPREDICTABLE (PMSFCR_EL1.FnE).
 */
static bool filters_overlap(const struct spe_spu *spu, u64 on)
{
	const u64 both = SPE_PMSFCR_FE | SPE_PMSFCR_FNE;

	return (on & both) == both && spu->reg[SPE_REG_PMSEVFR] & spu->reg[SPE_REG_PMSNEVFR] &&
	       spe_spu_has_choice(spu, SPE_CHOICE_FILTER_OVERLAP_OFF);
}

bool spe_spu_passes_filters(const struct spe_spu *spu, const struct spe_operation *operation)
{
	u64 on = spu->reg[SPE_REG_PMSFCR];

	if (!on)
		return true;
	if (filters_overlap(spu, on))
		on &= ~(SPE_PMSFCR_FE | SPE_PMSFCR_FNE);
	/* Return whether an operation passes all enabled filters (PMSFCR_EL1). */
	return (!(on & SPE_PMSFCR_FT) || passes_type_filter(spu, operation)) &&
	       (!(on & SPE_PMSFCR_FE) || passes_event_filter(spu, operation->events)) &&
	       (!(on & SPE_PMSFCR_FNE) || passes_inverted_event_filter(spu, operation->events)) &&
	       (!(on & SPE_PMSFCR_FL) || passes_latency_filter(spu, operation->total)) &&
	       (!(on & SPE_PMSFCR_FDS) || passes_source_filter(spu, operation));
}
