// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Determine which configurations the architecture permits, and the identification registers and
 * RES0 bits that follow from a configuration.
 */
#include "spu-internal.h"

#define FEATURES                                                                                \
	(SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL | SPE_PMSIDR_ARCHINST | SPE_PMSIDR_LDS | \
	 SPE_PMSIDR_ERND | SPE_PMSIDR_FNE | SPE_PMSIDR_FDS | SPE_PMSIDR_PBT | SPE_PMSIDR_CRR |  \
	 SPE_PMSIDR_EFT | SPE_PMSIDR_FPF | SPE_PMSIDR_SME)

/* Events that are optional for implementations (D18.2.6). */
#define OPTIONAL_EVENTS (SPE_MASK(11, 8) | SPE_MASK(23, 19))

/*
 * Return the maximum size of all packets that one operation can have (D18.2); a memory access has
 * the most.
 */
static size_t config_get_max_record_size(const struct spe_spu_config *config)
{
	/*
	 * Three Address packets (PC, VA, PA), three Counter packets, and 9 + 2 bytes of Timestamp
	 * and Operation Type
	 */
	size_t addresses = 3, counters = 3, size = 9 + 2;

	/* The layout with fixed offsets needs 64 bytes for every operation. */
	if (config->layout == SPE_SPU_LAYOUT_SLOTS)
		return 64;
	size += config->el2 ? 2 * 5 : 5;
	size += 1 + (size_t)config->events_size + 1 + config->source_size;
	/*
	 * A branch that accesses the Guarded Control Stack has the packets of a branch and of a
	 * load.
	 */
	addresses += config->pe & SPE_PE_GCS && config->pmsver >= SPE_PMSVER_V1P4;
	addresses += config->pbt_always || (config->features & SPE_PMSIDR_PBT && addresses > 3);
	size += addresses * 9 + counters * 3;
	if (config->choices & SPE_CHOICE_EXTENDED)
		size += addresses + counters;
	size += config->impdef_address ? 10 : 0;
	return size + (config->impdef_counter ? 4 : 0);
}

/* Return the events that an Events packet can contain (D18.2.6); E[16] reads as zero. */
static u64 config_get_defined_events(const struct spe_spu_config *config)
{
	u64 events = SPE_MASK(10, 0) | SPE_MASK(15, 12) | SPE_MASK(63, 48);

	if (config->pmsver >= SPE_PMSVER_V1P1)
		events |= SPE_BIT(SPE_EVENT_MISALIGNED);
	if (config->pmsver >= SPE_PMSVER_V1P1 && config->pe & (SPE_PE_SVE | SPE_PE_SME))
		events |= SPE_MASK(18, 17);
	if (config->pmsver >= SPE_PMSVER_V1P4)
		events |= SPE_MASK(23, 19);
	else
		events |= SPE_MASK(31, 24);
	if (config->features & SPE_PMSIDR_SME)
		events |= SPE_BIT(SPE_EVENT_STREAMING_SVE) | SPE_BIT(SPE_EVENT_SMCU);
	return events & (~OPTIONAL_EVENTS | config->optional_events);
}

/*
 * Return the events of config_get_defined_events() that PMSEVFR_EL1 and PMSNEVFR_EL1 can filter
 * on.
 */
static u64 config_get_filterable_events(const struct spe_spu_config *config)
{
	u64 events = config_get_defined_events(config) & ~SPE_BIT(SPE_EVENT_EXCEPTION);
	u8 pmsver = config->pmsver;

	if (pmsver < SPE_PMSVER_V1P2)
		events &= ~SPE_BIT(SPE_EVENT_NOT_TAKEN);
	if (pmsver < SPE_PMSVER_V1P4)
		events &= ~(SPE_BIT(SPE_EVENT_L1D_ACCESS) | SPE_BIT(SPE_EVENT_TLB_ACCESS) |
			    SPE_MASK(10, 8));
	return events;
}

static u64 config_get_output_events(const struct spe_spu_config *config)
{
	return config_get_defined_events(config) & SPE_MASK(8 * config->events_size - 1, 0);
}

static const char *find_sizes_error(const struct spe_spu_config *config)
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

static const char *find_choices_error(const struct spe_spu_config *config)
{
	if (config->layout >= SPE_SPU_LAYOUTS)
		return "layout: no such layout";
	if (config->layout == SPE_SPU_LAYOUT_SLOTS && config->events_size > 2)
		return "events_size: above 2 bytes, the maximum of the slots layout";
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
	if (config->walk_abort >= SPE_SPU_WALK_ABORTS)
		return "walk_abort: no such choice";
	if (config->walk_abort == SPE_SPU_WALK_ABORT_REPORTED && config->pmsver >= SPE_PMSVER_V1P3)
		return "walk_abort: not reported from pmsver 4 on (FEAT_SPEv1p3, ITCPLL)";
	if (config->not_allowed >= SPE_SPU_NOT_ALLOWEDS)
		return "not_allowed: no such choice";
	if (config->choices & ~SPE_CHOICE_ALL)
		return "choices: a bit that impdef.h does not have";
	if (config->layout == SPE_SPU_LAYOUT_SLOTS && config->choices & SPE_CHOICE_EXTENDED)
		return "choices: extended headers need the packed layout";
	if (config->layout == SPE_SPU_LAYOUT_SLOTS && config->pbt_always)
		return "pbt_always: needs the packed layout; slots have no space for it";
	if (config->pbt_always && !(config->features & SPE_PMSIDR_PBT))
		return "pbt_always: features have no PBT";
	return NULL;
}

static const char *find_levels_error(const struct spe_spu_config *config)
{
	if (config->e2h && config->el2)
		return "el2: with e2h, which stands for EL2's registers already";
	if (config->e2h && config->el3)
		return "el3: with e2h, which has no controls of EL3";
	if (config->e2h && config->exc)
		return "exc: with e2h, which has one PMBSR; set el2 instead";
	if (config->strict_ee && !config->exc)
		return "strict_ee: nothing to be strict about without exc";
	return NULL;
}

static const char *find_packets_error(const struct spe_spu_config *config)
{
	const u64 impdef = SPE_MASK(7, 6) | SPE_MASK(31, 16);
	bool slots = config->layout == SPE_SPU_LAYOUT_SLOTS;

	if (config->impdef_address &&
	    (config->impdef_address > 31 || !(impdef >> config->impdef_address & 1)))
		return "impdef_address: not 6, 7 or 16 to 31 (D18.2.1)";
	if (config->impdef_counter &&
	    (config->impdef_counter > 31 || !(impdef >> config->impdef_counter & 1)))
		return "impdef_counter: not 6, 7 or 16 to 31 (D18.2.3)";
	if (slots && (config->impdef_address || config->impdef_counter))
		return config->impdef_address ?
			       "impdef_address: needs the packed layout; slots have no space" :
			       "impdef_counter: needs the packed layout; slots have no space";
	if (config->omit_counters > 7)
		return "omit_counters: a counter that is not INDEX 0 to 2";
	if (config->unconditional >> SPE_CONDITIONS)
		return "unconditional: no such conditional operation";
	if (config->other_info & ~(SPE_OPERATION_VA | SPE_OPERATION_PA | SPE_OPERATION_SOURCE |
				   SPE_OPERATION_TRANSLATION | SPE_OTHER_INFO_EVENTS))
		return "other_info: not a part of what a load records (D17.6.8)";
	if (config->optional_events & ~OPTIONAL_EVENTS)
		return "optional_events: one that is not optional (D18.2.6)";
	if (config->altclk != SPE_ALTCLK_NONE && config->altclk != SPE_ALTCLK_SMCU &&
	    config->altclk != SPE_ALTCLK_IMPDEF)
		return "altclk: reserved (PMSIDR_EL1.ALTCLK is 0, 1 or 15)";
	if (config->altclk == SPE_ALTCLK_SMCU && !(config->features & SPE_PMSIDR_SME))
		return "altclk: the SMCU's clock, and features have no SME (D17.6.1)";
	if (config_get_max_record_size(config) > 1ULL << config->max_size)
		return "max_size: the largest record would not fit";
	return NULL;
}

static const char *find_pe_error(const struct spe_spu_config *config)
{
	if (config->pe & ~SPE_PE_ALL)
		return "pe: a feature that is not modelled";
	if (config->features & SPE_PMSIDR_SME && !(config->pe & SPE_PE_SME))
		return "features: SME (FEAT_SPE_SME), and pe has no SME";
	if (config->pe & SPE_PE_GCS && config->layout == SPE_SPU_LAYOUT_SLOTS)
		return "pe: GCS needs the packed layout; slots have no space for a branch's access";
	if (config->pe & SPE_PE_NV2 && !config->el2)
		return "pe: NV2 needs el2";
	if (config->pe & SPE_PE_RME && !config->el3)
		return "pe: RME needs el3";
	if (config->fault_lag && config->pmsver < SPE_PMSVER_V1P5)
		return "fault_lag: faults are synchronous before pmsver 6 (FEAT_SPEv1p5, RWVKFM)";
	return NULL;
}

static const char *find_features_error(const struct spe_spu_config *config)
{
	if (config->features & ~FEATURES)
		return "features: one that is not modelled";
	if (~config->features & (SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL))
		return "features: FE, FT and FL read as one (PMSIDR_EL1)";
	if (config->features & SPE_PMSIDR_FNE && config->pmsver < SPE_PMSVER_V1P2)
		return "features: FnE needs pmsver 3 (FEAT_SPEv1p2)";
	if (config->features & SPE_PMSIDR_FDS && !(config->features & SPE_PMSIDR_LDS))
		return "features: FDS filters on the data source, and LDS is not there";
	if (config->features & SPE_PMSIDR_FDS && config->pmsver < SPE_PMSVER_V1P4)
		return "features: FDS needs pmsver 5 (FEAT_SPEv1p4)";
	return NULL;
}

const char *spe_spu_config_find_error(const struct spe_spu_config *config)
{
	const char *reason;

	if (config->pmsver < 1 || config->pmsver > SPE_PMSVER_V1P5)
		return "pmsver: not 1 (FEAT_SPE) to 6 (FEAT_SPEv1p5)";
	if (config->interval == 1 || config->interval > 8)
		return "interval: reserved (PMSIDR_EL1.Interval is 0 or 2 to 8)";
	reason = find_sizes_error(config);
	if (!reason)
		reason = find_choices_error(config);
	if (!reason)
		reason = find_levels_error(config);
	if (!reason)
		reason = find_packets_error(config);
	if (!reason)
		reason = find_pe_error(config);
	if (!reason)
		reason = find_features_error(config);
	if (reason)
		return reason;
	if (config->sampled_events & ~config_get_filterable_events(config))
		return "sampled_events: one that this SPU does not have or cannot filter on";
	if (config->sampled_events & ~config_get_output_events(config))
		return "sampled_events: one beyond events_size";
	return NULL;
}

static u64 get_pmsfcr_writable_bits(const struct spe_spu_config *config)
{
	u64 mask = SPE_PMSFCR_FE | SPE_PMSFCR_FT | SPE_PMSFCR_FL | SPE_PMSFCR_B | SPE_PMSFCR_LD |
		   SPE_PMSFCR_ST;

	if (config->features & SPE_PMSIDR_FNE)
		mask |= SPE_PMSFCR_FNE;
	if (config->features & SPE_PMSIDR_FDS)
		mask |= SPE_PMSFCR_FDS;
	if (config->features & SPE_PMSIDR_EFT)
		mask |= SPE_PMSFCR_FP | SPE_PMSFCR_SIMD | SPE_PMSFCR_BM | SPE_PMSFCR_LDM |
			SPE_PMSFCR_STM | SPE_PMSFCR_FPM | SPE_PMSFCR_SIMDM;
	return mask;
}

static void set_writable_bits(struct spe_spu *spu)
{
	const struct spe_spu_config *config = &spu->config;
	u64 *mask = spu->writable;

	mask[SPE_REG_PMSCR] =
		SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS;
	/* Without EL2, PMSCR.PCT reads as 0b01. Its upper bit exists only with FEAT_ECV. */
	if (config->el2 || config->e2h)
		mask[SPE_REG_PMSCR] |= config->pe & SPE_PE_ECV ? SPE_PMSCR_PCT : SPE_BIT(6);
	if (config->exc)
		mask[SPE_REG_PMSCR] |= SPE_PMSCR_KE | SPE_PMSCR_EE;
	mask[SPE_REG_PMSICR] = SPE_PMSICR_COUNT;
	if (config->features & SPE_PMSIDR_ERND)
		mask[SPE_REG_PMSICR] |= SPE_PMSICR_ECOUNT;
	mask[SPE_REG_PMSIRR] = SPE_PMSIRR_RND | SPE_PMSIRR_INTERVAL;
	mask[SPE_REG_PMSFCR] = get_pmsfcr_writable_bits(config);
	mask[SPE_REG_PMSEVFR] = config->sampled_events;
	/*
	 * If only operations that retire are sampled, a filter on E[1] (retired) has no effect, so
	 * the bit is RAZ/WI.
	 */
	if (config->choices & SPE_CHOICE_NO_MISSPECULATED)
		mask[SPE_REG_PMSEVFR] &= ~SPE_BIT(SPE_EVENT_RETIRED);
	if (config->features & SPE_PMSIDR_FNE)
		mask[SPE_REG_PMSNEVFR] = mask[SPE_REG_PMSEVFR];
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
	if (config->pe & SPE_PE_THE)
		mask[SPE_REG_PMBSR] |= SPE_PMBSR_TOP_LEVEL | SPE_PMBSR_ASSURED_ONLY;
}

/*
 * Return the value of PMBIDR.EA, which describes how External aborts are reported. 0 means that the
 * field does not describe how they are reported (IKDMQG).
 */
static u64 config_get_abort_mechanism(const struct spe_spu_config *config)
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

	set_writable_bits(spu);
	spu->events = config_get_output_events(config);
	/* PMSIDR.Format stays 0, the only format that the architecture defines (D18.1). */
	spu->reg[SPE_REG_PMSIDR] = config->features |
				   SPE_FIELD_PREP(SPE_PMSIDR_INTERVAL, config->interval) |
				   SPE_FIELD_PREP(SPE_PMSIDR_MAXSIZE, config->max_size) |
				   SPE_FIELD_PREP(SPE_PMSIDR_COUNTSIZE, config->count_size) |
				   SPE_FIELD_PREP(SPE_PMSIDR_ALTCLK, config->altclk);
	if (!config->el2 && !config->e2h)
		spu->reg[SPE_REG_PMSCR] = SPE_FIELD_PREP(SPE_PMSCR_PCT, SPE_PMSCR_PCT_PHYS);
	spu->reg[SPE_REG_PMBIDR] = SPE_FIELD_PREP(SPE_PMBIDR_ALIGN, config->align);
	/* D17.8.3.1: the SPU manages the Access flag and the dirty state of its buffer's pages. */
	if (config->pmsver >= SPE_PMSVER_V1P3 || config->choices & SPE_CHOICE_MANAGES)
		spu->reg[SPE_REG_PMBIDR] |= SPE_PMBIDR_F;
	spu->reg[SPE_REG_PMBIDR] |=
		SPE_FIELD_PREP(SPE_PMBIDR_EA, config_get_abort_mechanism(config));
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
		.pe = SPE_PE_SVE | SPE_PE_ECV,
		.other_info = SPE_OPERATION_VA | SPE_OPERATION_PA | SPE_OPERATION_TRANSLATION |
			      (u32)SPE_OTHER_INFO_EVENTS,
		.optional_events = OPTIONAL_EVENTS,
		.features = SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL | SPE_PMSIDR_LDS,
		.sampled_events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) |
				  SPE_BIT(SPE_EVENT_TLB_WALK) | SPE_BIT(SPE_EVENT_MISPREDICTED) |
				  SPE_BIT(SPE_EVENT_MISALIGNED),
	};
}
SPE_EXPORT(spe_spu_config_default);
