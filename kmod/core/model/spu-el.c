// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Exception levels: PMSCR_EL2, PMBSR_EL2 and PMBSR_EL3, which exist in addition to the registers of
 * EL1; the register names that access them; and the effects of the controls of the PE.
 */
#include "spu-internal.h"

#define PMSCR_EL2_BITS                                                                    \
	(SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS | \
	 SPE_PMSCR_PCT)

static u8 pmscr_get_ee(u64 pmscr)
{
	return (u8)SPE_FIELD_GET(SPE_PMSCR_EE, pmscr);
}

void spe_spu_controls_derive(struct spe_spu *spu)
{
	struct spe_controls *controls = &spu->controls;
	u64 pmscr_el1 = spu->reg[SPE_REG_PMSCR];
	u64 pmscr_el2 = spu->pmscr_el2;

	controls->exc = spu->config.exc;
	controls->el2 = spu->config.el2;
	controls->el3 = spu->config.el3;
	controls->strict_ee = spu->config.strict_ee;
	if (spu->config.e2h) {
		/*
		 * A host under VHE uses only PMSCR_EL2, and accesses it by both names, PMSCR_EL1
		 * and PMSCR_EL2.
		 */
		pmscr_el2 = pmscr_el1;
		pmscr_el1 = 0;
		controls->el2 = controls->tge = controls->e2h = true;
		controls->e2pb = 0;
	}
	controls->el1_ee = pmscr_get_ee(pmscr_el1);
	controls->el1_ke = pmscr_el1 & SPE_PMSCR_KE;
	controls->el2_ee = pmscr_get_ee(pmscr_el2);
	controls->el2_ke = pmscr_el2 & SPE_PMSCR_KE;
	for (unsigned int el = 0; el < ARRAY_SIZE(spu->collect); el++)
		spu->collect[el] =
			spe_collection_for_el(controls, &spu->timers, pmscr_el1, pmscr_el2, el);
}

void spe_spu_timers_set(struct spe_spu *spu, const struct spe_timers *timers)
{
	spu->timers = *timers;
	spu->timers.stopped_unknown = spe_spu_has_choice(spu, SPE_CHOICE_TIME_UNKNOWN);
	spu->timers.pct_physical = spe_spu_has_choice(spu, SPE_CHOICE_PCT_PHYSICAL);
}

int spe_spu_set_controls(struct spe_spu *spu, const struct spe_controls *controls,
			 const struct spe_timers *timers)
{
	if (spu->config.e2h || controls->pmsee > 3 || controls->e2pb > 3 ||
	    controls->owner >= SPE_STATES || (controls->nse && !(spu->config.pe & SPE_PE_RME)))
		return -EINVAL;
	spu->controls = *controls;
	spe_spu_timers_set(spu, timers);
	spe_spu_controls_derive(spu);
	spe_spu_apply_registers(spu);
	return 0;
}
SPE_EXPORT(spe_spu_set_controls);

u64 *spe_spu_get_pmbsr(struct spe_spu *spu, unsigned int x)
{
	switch (x) {
	case 3:
		return &spu->pmbsr_el3;
	case 2:
		return &spu->pmbsr_el2;
	default:
		return &spu->reg[SPE_REG_PMBSR];
	}
}

/*
 * Check whether S in PMBSR_EL2 or PMBSR_EL3 stops profiling. S is ignored if the exception that it
 * would cause is disabled (tables D17-9 and D17-10).
 */
bool spe_spu_is_stopped_above_el1(const struct spe_spu *spu)
{
	const struct spe_pe_state pe = { 0 };

	return spe_spu_get_exception(spu, &pe, 2).state != SPE_EXCEPTION_DISABLED ||
	       spe_spu_get_exception(spu, &pe, 3).state != SPE_EXCEPTION_DISABLED;
}

/*
 * Return the writable bits of register @reg of Exception level @x; 0 if there is no such register.
 */
static u64 register_get_writable_bits(const struct spe_spu *spu, enum spe_reg reg, unsigned int x)
{
	const struct spe_spu_config *config = &spu->config;

	if (x == 2 && reg == SPE_REG_PMSCR && config->el2) {
		u64 bits = PMSCR_EL2_BITS | (config->exc ? SPE_PMSCR_KE | SPE_PMSCR_EE : 0);

		if (!(config->pe & SPE_PE_ECV))
			bits &= ~SPE_BIT(7);
		/* E2SPE and E0HSPE are RES0 while EL1 owns the buffer. */
		return spu->controls.e2pb ? bits & ~(SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE) : bits;
	}
	if (reg == SPE_REG_PMBSR && config->exc &&
	    ((x == 2 && config->el2) || (x == 3 && config->el3)))
		return spu->writable[SPE_REG_PMBSR];
	return 0;
}

/*
 * Check whether spe_spu_read() and spe_spu_write(), which name no Exception level, access this
 * register. For a host under VHE, PMSCR means PMSCR_EL2.
 */
static bool has_plain_name(const struct spe_spu *spu, enum spe_reg reg, unsigned int x)
{
	return x == (spu->config.e2h && reg == SPE_REG_PMSCR ? 2 : 1);
}

/*
 * Check whether the register is the PMSCR_EL1 of a guest, while the host under VHE uses PMSCR_EL2.
 * PMSCR_EL1 has no effect while HCR_EL2.TGE is 1.
 */
static bool is_guest_register(const struct spe_spu *spu, enum spe_reg reg, unsigned int x)
{
	return x == 1 && reg == SPE_REG_PMSCR && spu->config.e2h;
}

u64 spe_spu_read_at(const struct spe_spu *spu, enum spe_reg reg, unsigned int x)
{
	if (has_plain_name(spu, reg, x))
		return spe_spu_read(spu, reg);
	if (is_guest_register(spu, reg, x))
		return spu->pmscr_el12;
	if (!register_get_writable_bits(spu, reg, x))
		return 0;
	if (reg == SPE_REG_PMSCR)
		return spu->pmscr_el2 & register_get_writable_bits(spu, reg, x);
	return x == 2 ? spu->pmbsr_el2 : spu->pmbsr_el3;
}
SPE_EXPORT(spe_spu_read_at);

void spe_spu_write_at(struct spe_spu *spu, enum spe_reg reg, unsigned int x, u64 value)
{
	u64 writable = register_get_writable_bits(spu, reg, x);

	if (has_plain_name(spu, reg, x)) {
		spe_spu_write(spu, reg, value);
		return;
	}
	if (is_guest_register(spu, reg, x)) {
		spu->pmscr_el12 = value & spu->writable[reg];
		return;
	}
	if (!writable)
		return;
	spu->lag = 0;
	if (reg == SPE_REG_PMSCR) {
		spu->pmscr_el2 = (spu->pmscr_el2 & ~writable) | (value & writable);
		spe_spu_controls_derive(spu);
	} else {
		*spe_spu_get_pmbsr(spu, x) = value & writable;
	}
	spe_spu_apply_registers(spu);
}
SPE_EXPORT(spe_spu_write_at);

static struct spe_sysreg_features spu_get_sysreg_features(const struct spe_spu *spu)
{
	return (struct spe_sysreg_features){
		.fne = spu->config.features & SPE_PMSIDR_FNE,
		.fds = spu->config.features & SPE_PMSIDR_FDS,
		.rme = spu->config.pe & SPE_PE_RME,
	};
}

unsigned int spe_spu_resolve_name(const struct spe_spu *spu, enum spe_reg reg, unsigned int el,
				  bool el12)
{
	const struct spe_sysreg_features registers = spu_get_sysreg_features(spu);
	struct spe_controls controls = spu->controls;
	const struct spe_sysreg_traps traps = {
		.nspb = (u8)(1 | (controls.ns ? 2 : 0) | (controls.nse ? 4 : 0)),
		.en_pmsn = true,
		.en_pms3 = true,
	};
	const struct spe_sysreg_access access = {
		.reg = (u8)reg,
		.suffix = el12 ? SPE_SUFFIX_EL12 : SPE_SUFFIX_EL1,
		.el = (u8)el,
	};

	if ((unsigned int)reg >= SPE_REG_COUNT || el > 3)
		return 0;
	/*
	 * The result depends only on the name of the register. Make EL1 the owner of the buffer, so
	 * that no access traps to EL2.
	 */
	controls.e2pb = 3;
	return spe_sysreg_access_resolve(&controls, &traps, &registers, &access).x;
}
SPE_EXPORT(spe_spu_resolve_name);

struct spe_sysreg_result spe_spu_access_sysreg(struct spe_spu *spu,
					       const struct spe_sysreg_traps *traps,
					       const struct spe_sysreg_access *access, u64 *value)
{
	const struct spe_sysreg_features registers = spu_get_sysreg_features(spu);
	struct spe_sysreg_result reach =
		spe_sysreg_access_resolve(&spu->controls, traps, &registers, access);

	if (reach.how != SPE_SYSREG_REGISTER)
		return reach;
	if (access->write) {
		spe_spu_write_at(spu, access->reg, reach.x, *value);
		return reach;
	}
	*value = spe_spu_read_at(spu, access->reg, reach.x);
	/* PMBIDR_EL1.P depends on the Exception level that reads it. */
	if (access->reg == SPE_REG_PMBIDR && spe_sysreg_pmbidr_p(&spu->controls, access->el))
		*value |= SPE_PMBIDR_P;
	return reach;
}
SPE_EXPORT(spe_spu_access_sysreg);

struct spe_exception spe_spu_get_exception(const struct spe_spu *spu, const struct spe_pe_state *pe,
					   unsigned int x)
{
	u64 pmbsr = x == 3 ? spu->pmbsr_el3 : x == 2 ? spu->pmbsr_el2 : spu->reg[SPE_REG_PMBSR];

	if (!(pmbsr & SPE_PMBSR_S))
		return (struct spe_exception){ 0 };
	return spe_routing_get_exception(&spu->controls, pe, x);
}
SPE_EXPORT(spe_spu_get_exception);
