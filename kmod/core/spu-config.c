// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What an SPU implements: which configurations the architecture allows, and the
 * identification registers and RES0 bits that follow from one.
 */
#include "spu-internal.h"

#define FEATURES                                                                                \
	(SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL | SPE_PMSIDR_ARCHINST | SPE_PMSIDR_LDS | \
	 SPE_PMSIDR_ERND | SPE_PMSIDR_FNE | SPE_PMSIDR_FDS | SPE_PMSIDR_PBT | SPE_PMSIDR_CRR |  \
	 SPE_PMSIDR_EFT | SPE_PMSIDR_FPF)

/* All packets that one operation can bring (D18.2): a memory access brings most. */
static size_t largest_record(const struct spe_spu_config *config)
{
	/* PC, VA, PA, Timestamp; Operation Type; the counters. */
	size_t size = 4 * 9 + 2 + 3 * 3;

	/* Slots are made for 64 bytes, whatever comes. */
	if (config->layout == SPE_SPU_LAYOUT_SLOTS)
		return 64;
	size += config->el2 ? 2 * 5 : 5;
	size += 1 + (size_t)config->events_size + 1 + config->source_size;
	return size + (config->pbt_always ? 9 : 0);
}

/* The events that an Events packet can hold (D18.2.6); E[16] reads as zero. */
static u64 events_defined(u8 pmsver)
{
	u64 events = SPE_MASK(10, 0) | SPE_MASK(15, 12) | SPE_MASK(63, 48);

	if (pmsver >= SPE_PMSVER_V1P1)
		events |= SPE_BIT(SPE_EVENT_MISALIGNED) | SPE_MASK(18, 17);
	if (pmsver >= SPE_PMSVER_V1P4)
		events |= SPE_MASK(23, 19);
	else
		events |= SPE_MASK(31, 24);
	return events;
}

/* Those of them that PMSEVFR_EL1 and PMSNEVFR_EL1 can name. */
static u64 events_filterable(u8 pmsver)
{
	u64 events = events_defined(pmsver) & ~SPE_BIT(SPE_EVENT_EXCEPTION);

	if (pmsver < SPE_PMSVER_V1P2)
		events &= ~SPE_BIT(SPE_EVENT_NOT_TAKEN);
	if (pmsver < SPE_PMSVER_V1P4)
		events &= ~(SPE_BIT(SPE_EVENT_L1D_ACCESS) | SPE_BIT(SPE_EVENT_TLB_ACCESS) |
			    SPE_MASK(10, 8));
	return events;
}

static u64 events_output(const struct spe_spu_config *config)
{
	return events_defined(config->pmsver) & SPE_MASK(8 * config->events_size - 1, 0);
}

static const char *refuse_sizes(const struct spe_spu_config *config)
{
	if (config->max_size < 6 || config->max_size > 11)
		return "max_size: not 6 to 11 (PMSIDR_EL1.MaxSize)";
	if (config->align > config->max_size)
		return "align: above max_size, so no padded record could be written";
	if (config->count_size != SPE_PMSIDR_COUNTSIZE_12 &&
	    config->count_size != SPE_PMSIDR_COUNTSIZE_16)
		return "count_size: neither 2 (12 bits) nor 3 (16 bits)";
	if (config->events_size != 1 && config->events_size != 2 && config->events_size != 4 &&
	    config->events_size != 8)
		return "events_size: not 1, 2, 4 or 8 bytes (D18.2.6)";
	if (config->source_size != 1 && config->source_size != 2)
		return "source_size: neither 1 nor 2 bytes (D18.2.4)";
	if (config->write_granule > 11)
		return "write_granule: above 11, that is 2 KiB (D18.1.2)";
	if (!config->in_flight)
		return "in_flight: 0, so nothing could be sampled";
	return NULL;
}

static const char *refuse_choices(const struct spe_spu_config *config)
{
	if (config->layout >= SPE_SPU_LAYOUTS)
		return "layout: no such layout";
	if (config->layout == SPE_SPU_LAYOUT_SLOTS && config->events_size > 2)
		return "events_size: above 2 bytes, which the slots layout has no room for";
	if (config->zero_filter >= SPE_SPU_ZERO_FILTERS)
		return "zero_filter: no such choice";
	if (config->misaligned >= SPE_SPU_MISALIGNEDS)
		return "misaligned: no such choice";
	if (config->fault_dl >= SPE_SPU_FAULT_DLS)
		return "fault_dl: no such choice";
	if (config->incomplete >= SPE_SPU_INCOMPLETES)
		return "incomplete: no such choice";
	if (config->abort >= SPE_SPU_ABORTS)
		return "abort: no such choice";
	if (config->layout == SPE_SPU_LAYOUT_SLOTS && config->pbt_always)
		return "pbt_always: needs the packed layout, slots have no room for it";
	if (config->pbt_always && !(config->features & SPE_PMSIDR_PBT))
		return "pbt_always: features have no PBT";
	if (largest_record(config) > 1ULL << config->max_size)
		return "max_size: the largest record would not fit";
	return NULL;
}

static const char *refuse_levels(const struct spe_spu_config *config)
{
	if (config->e2h && config->el2)
		return "el2: with e2h, which stands for EL2's registers already";
	if (config->e2h && config->el3)
		return "el3: with e2h, which knows no controls of EL3";
	if (config->e2h && config->exc)
		return "exc: with e2h, which has one PMBSR; set el2 instead";
	if (config->strict_ee && !config->exc)
		return "strict_ee: nothing to be strict about without exc";
	return NULL;
}

static const char *refuse_features(const struct spe_spu_config *config)
{
	if (config->features & ~FEATURES)
		return "features: one that is not modelled";
	if (config->features & SPE_PMSIDR_FNE && config->pmsver < SPE_PMSVER_V1P2)
		return "features: FnE needs pmsver 3 (FEAT_SPEv1p2)";
	if (config->features & SPE_PMSIDR_EFT && !(config->features & SPE_PMSIDR_FT))
		return "features: EFT extends FT, which is not there";
	if (config->features & SPE_PMSIDR_FDS && !(config->features & SPE_PMSIDR_LDS))
		return "features: FDS filters on the data source, and LDS is not there";
	return NULL;
}

const char *spe_spu_config_refuse(const struct spe_spu_config *config)
{
	const char *reason;

	if (config->pmsver < 1 || config->pmsver > SPE_PMSVER_V1P5)
		return "pmsver: not 1 (FEAT_SPE) to 6 (FEAT_SPEv1p5)";
	if (config->interval == 1 || config->interval > 8)
		return "interval: reserved (PMSIDR_EL1.Interval is 0 or 2 to 8)";
	reason = refuse_sizes(config);
	if (!reason)
		reason = refuse_choices(config);
	if (!reason)
		reason = refuse_levels(config);
	if (!reason)
		reason = refuse_features(config);
	if (reason)
		return reason;
	if (config->sampled_events & ~events_filterable(config->pmsver))
		return "sampled_events: one that pmsver cannot filter on";
	if (config->sampled_events & ~events_output(config))
		return "sampled_events: one beyond events_size";
	if (config->sampled_events && !(config->features & (SPE_PMSIDR_FE | SPE_PMSIDR_FNE)))
		return "sampled_events: set, but features have neither FE nor FnE";
	return NULL;
}

static u64 pmsfcr_writable(const struct spe_spu_config *config)
{
	u64 mask = 0;

	if (config->features & SPE_PMSIDR_FE)
		mask |= SPE_PMSFCR_FE;
	if (config->features & SPE_PMSIDR_FT)
		mask |= SPE_PMSFCR_FT | SPE_PMSFCR_B | SPE_PMSFCR_LD | SPE_PMSFCR_ST;
	if (config->features & SPE_PMSIDR_FL)
		mask |= SPE_PMSFCR_FL;
	if (config->features & SPE_PMSIDR_FNE)
		mask |= SPE_PMSFCR_FNE;
	if (config->features & SPE_PMSIDR_FDS)
		mask |= SPE_PMSFCR_FDS;
	if (config->features & SPE_PMSIDR_EFT)
		mask |= SPE_PMSFCR_FP | SPE_PMSFCR_SIMD | SPE_PMSFCR_BM | SPE_PMSFCR_LDM |
			SPE_PMSFCR_STM | SPE_PMSFCR_FPM | SPE_PMSFCR_SIMDM;
	return mask;
}

static void writable_apply(struct spe_spu *spu)
{
	const struct spe_spu_config *config = &spu->config;
	u64 *mask = spu->writable;

	mask[SPE_REG_PMSCR] = SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA |
			      SPE_PMSCR_TS | SPE_PMSCR_PCT;
	if (config->exc)
		mask[SPE_REG_PMSCR] |= SPE_PMSCR_KE | SPE_PMSCR_EE;
	mask[SPE_REG_PMSICR] = SPE_PMSICR_COUNT;
	if (config->features & SPE_PMSIDR_ERND)
		mask[SPE_REG_PMSICR] |= SPE_PMSICR_ECOUNT;
	mask[SPE_REG_PMSIRR] = SPE_PMSIRR_RND | SPE_PMSIRR_INTERVAL;
	mask[SPE_REG_PMSFCR] = pmsfcr_writable(config);
	if (config->features & SPE_PMSIDR_FE)
		mask[SPE_REG_PMSEVFR] = config->sampled_events;
	if (config->features & SPE_PMSIDR_FNE)
		mask[SPE_REG_PMSNEVFR] = config->sampled_events;
	if (config->features & SPE_PMSIDR_FL)
		mask[SPE_REG_PMSLATFR] = config->count_size == SPE_PMSIDR_COUNTSIZE_12 ?
						 SPE_MASK(11, 0) :
						 SPE_PMSLATFR_MINLAT;
	if (config->features & SPE_PMSIDR_FDS)
		mask[SPE_REG_PMSDSFR] = ~0ULL;
	mask[SPE_REG_PMBLIMITR] = SPE_PMBLIMITR_E | SPE_PMBLIMITR_LIMIT;
	if (config->pmsver >= SPE_PMSVER_V1P2)
		mask[SPE_REG_PMBLIMITR] |= SPE_PMBLIMITR_FM | SPE_PMBLIMITR_PMFZ;
	mask[SPE_REG_PMBPTR] = ~0ULL;
	if (config->misaligned == SPE_SPU_MISALIGNED_RES0)
		mask[SPE_REG_PMBPTR] <<= config->align;
	mask[SPE_REG_PMBSR] = SPE_PMBSR_MSS | SPE_PMBSR_COLL | SPE_PMBSR_S | SPE_PMBSR_EA |
			      SPE_PMBSR_DL | SPE_PMBSR_EC;
}

/* IKDMQG: 0 where it is not described. */
static u64 abort_mechanism(const struct spe_spu_config *config)
{
	switch (config->abort) {
	case SPE_SPU_ABORT_SERROR:
		return SPE_PMBIDR_EA_SERROR;
	case SPE_SPU_ABORT_IGNORED:
		return SPE_PMBIDR_EA_IGNORED;
	default:
		return config->pmsver >= SPE_PMSVER_V1P3 ? SPE_PMBIDR_EA_IGNORED : 0;
	}
}

void spe_spu_config_apply(struct spe_spu *spu)
{
	const struct spe_spu_config *config = &spu->config;

	writable_apply(spu);
	spu->events = events_output(config);
	/* Format is 0: the only one (D18.1). */
	spu->reg[SPE_REG_PMSIDR] = config->features |
				   SPE_FIELD_PREP(SPE_PMSIDR_INTERVAL, config->interval) |
				   SPE_FIELD_PREP(SPE_PMSIDR_MAXSIZE, config->max_size) |
				   SPE_FIELD_PREP(SPE_PMSIDR_COUNTSIZE, config->count_size);
	spu->reg[SPE_REG_PMBIDR] = SPE_FIELD_PREP(SPE_PMBIDR_ALIGN, config->align);
	/* D17.8.3.1 */
	if (config->pmsver >= SPE_PMSVER_V1P3)
		spu->reg[SPE_REG_PMBIDR] |= SPE_PMBIDR_F;
	spu->reg[SPE_REG_PMBIDR] |= SPE_FIELD_PREP(SPE_PMBIDR_EA, abort_mechanism(config));
	spu->reg[SPE_REG_PMSVER] = config->pmsver;
}

void spe_spu_config_default(struct spe_spu_config *ret_config)
{
	*ret_config = (struct spe_spu_config){
		.pmsver = SPE_PMSVER_V1P1,
		.interval = 4,
		.max_size = 6,
		.align = 6,
		.count_size = SPE_PMSIDR_COUNTSIZE_12,
		.events_size = 2,
		.source_size = 1,
		.layout = SPE_SPU_LAYOUT_SLOTS,
		.zero_filter = SPE_SPU_ZERO_FILTER_OFF,
		.misaligned = SPE_SPU_MISALIGNED_FAULT,
		.fault_dl = SPE_SPU_FAULT_DL_UNCHANGED,
		.incomplete = SPE_SPU_INCOMPLETE_ALL,
		.in_flight = 1,
		.features = SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL | SPE_PMSIDR_LDS,
		.sampled_events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) |
				  SPE_BIT(SPE_EVENT_TLB_WALK) | SPE_BIT(SPE_EVENT_MISPREDICTED) |
				  SPE_BIT(SPE_EVENT_MISALIGNED),
	};
}
SPE_EXPORT(spe_spu_config_default);
