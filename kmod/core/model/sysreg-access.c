// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collection.h"
#include "sysreg-access.h"

static struct spe_sysreg_result make_result(enum spe_sysreg_outcome how)
{
	return (struct spe_sysreg_result){ .how = (u8)how };
}

static struct spe_sysreg_result make_register_result(unsigned int x)
{
	return (struct spe_sysreg_result){ .how = SPE_SYSREG_REGISTER, .x = (u8)x };
}

static bool is_id_register(unsigned int reg)
{
	return reg == SPE_REG_PMSIDR || reg == SPE_REG_PMBIDR || reg == SPE_REG_PMSVER;
}

static bool is_buffer_register(unsigned int reg)
{
	return reg == SPE_REG_PMBLIMITR || reg == SPE_REG_PMBPTR || reg == SPE_REG_PMBSR;
}

/*
 * Check whether a register name with this suffix exists. Most registers have only the name with
 * _EL1.
 */
static bool name_exists(const struct spe_controls *controls, const struct spe_sysreg_access *access)
{
	switch (access->suffix) {
	case SPE_SUFFIX_EL1:
		return true;
	case SPE_SUFFIX_EL2:
	case SPE_SUFFIX_EL12:
		return access->reg == SPE_REG_PMSCR ||
		       (access->reg == SPE_REG_PMBSR && controls->exc);
	case SPE_SUFFIX_EL3:
		return access->reg == SPE_REG_PMBSR && controls->exc && controls->el3;
	default:
		return false;
	}
}

static bool register_exists(const struct spe_controls *controls,
			    const struct spe_sysreg_features *spu,
			    const struct spe_sysreg_access *access)
{
	if (access->reg >= SPE_REG_COUNT || access->el < 1 || access->el > 3)
		return false;
	if (access->write && is_id_register(access->reg))
		return false;
	if (access->reg == SPE_REG_PMSNEVFR && !spu->fne)
		return false;
	if (access->reg == SPE_REG_PMSDSFR && !spu->fds)
		return false;
	return name_exists(controls, access);
}

/* CheckMDCR_EL3_NSPBTrap(): another Security state owns the buffer, or EL3 traps all accesses. */
static bool owner_traps_access(const struct spe_controls *controls,
			       const struct spe_sysreg_traps *traps,
			       const struct spe_sysreg_features *spu)
{
	if (!controls->el3)
		return false;
	return !(traps->nspb & 1) || !!(traps->nspb & 2) != controls->ns ||
	       (spu->rme && !!(traps->nspb & 4) != controls->nse);
}

static bool traps_to_el3(const struct spe_controls *controls, const struct spe_sysreg_traps *traps,
			 const struct spe_sysreg_features *spu,
			 const struct spe_sysreg_access *access)
{
	if (access->reg == SPE_REG_PMBIDR || access->reg == SPE_REG_PMSVER)
		return false;
	if (controls->el3 && access->reg == SPE_REG_PMSNEVFR && !traps->en_pmsn)
		return true;
	if (controls->el3 && access->reg == SPE_REG_PMSDSFR && !traps->en_pms3)
		return true;
	if (controls->el3 && access->reg == SPE_REG_PMBSR && access->suffix == SPE_SUFFIX_EL2 &&
	    !controls->pmsee)
		return true;
	return owner_traps_access(controls, traps, spu);
}

static bool traps_to_el2(const struct spe_controls *controls, const struct spe_sysreg_traps *traps,
			 const struct spe_sysreg_access *access)
{
	u32 fgt = access->write ? traps->fgt_write : traps->fgt_read;

	if (!spe_routing_el2_enabled(controls) || access->reg == SPE_REG_PMSVER)
		return false;
	if (fgt >> access->reg & 1)
		return true;
	if (is_buffer_register(access->reg))
		return !(controls->e2pb & 1);
	return access->reg != SPE_REG_PMBIDR && traps->tpms;
}

/* Return the offset of a register in the page at VNCR_EL2; 0 if the register is not in the page. */
static u16 get_vncr_page_offset(unsigned int reg)
{
	switch (reg) {
	case SPE_REG_PMBLIMITR:
		return 0x800;
	case SPE_REG_PMBPTR:
		return 0x810;
	case SPE_REG_PMBSR:
		return 0x820;
	case SPE_REG_PMSCR:
		return 0x828;
	case SPE_REG_PMSEVFR:
		return 0x830;
	case SPE_REG_PMSICR:
		return 0x838;
	case SPE_REG_PMSIRR:
		return 0x840;
	case SPE_REG_PMSLATFR:
		return 0x848;
	case SPE_REG_PMSNEVFR:
		return 0x850;
	case SPE_REG_PMSDSFR:
		return 0x858;
	default:
		return 0;
	}
}

/*
 * Check whether EL1 accesses a copy in memory that the hypervisor has created, instead of the
 * register (FEAT_NV2).
 */
static bool is_memory_access(const struct spe_controls *controls,
			     const struct spe_sysreg_traps *traps, unsigned int reg)
{
	bool nv2 = (traps->nv & 5) == 5, nv1 = traps->nv == 7;

	switch (reg) {
	case SPE_REG_PMSCR:
		return nv1;
	case SPE_REG_PMBSR:
		return nv2 && (nv1 || !spe_routing_el2_effective_ee(controls) || !controls->el1_ee);
	default:
		return nv2 && get_vncr_page_offset(reg);
	}
}

static struct spe_sysreg_result make_memory_result(unsigned int reg)
{
	return (struct spe_sysreg_result){ .how = SPE_SYSREG_MEMORY,
					   .offset = get_vncr_page_offset(reg) };
}

/* At EL1, names of EL2 registers are UNDEFINED unless FEAT_NV lets a nested hypervisor use them. */
static struct spe_sysreg_result access_higher_from_el1(const struct spe_sysreg_traps *traps,
						       const struct spe_sysreg_access *access)
{
	if (access->suffix == SPE_SUFFIX_EL3)
		return make_result(SPE_SYSREG_UNDEFINED);
	if (access->suffix == SPE_SUFFIX_EL12 && traps->nv == 5)
		return make_memory_result(access->reg);
	return make_result(traps->nv & 1 ? SPE_SYSREG_TRAP_EL2 : SPE_SYSREG_UNDEFINED);
}

static struct spe_sysreg_result access_from_el1(const struct spe_controls *controls,
						const struct spe_sysreg_traps *traps,
						const struct spe_sysreg_features *spu,
						const struct spe_sysreg_access *access)
{
	bool el3 = traps_to_el3(controls, traps, spu, access);

	if (access->suffix != SPE_SUFFIX_EL1)
		return access_higher_from_el1(traps, access);
	if (el3 && traps->sdd && traps->sdd_first)
		return make_result(SPE_SYSREG_UNDEFINED);
	if (traps_to_el2(controls, traps, access))
		return make_result(SPE_SYSREG_TRAP_EL2);
	if (el3)
		return make_result(traps->sdd ? SPE_SYSREG_UNDEFINED : SPE_SYSREG_TRAP_EL3);
	if (is_memory_access(controls, traps, access->reg))
		return make_memory_result(access->reg);
	return make_register_result(1);
}

static bool is_vhe_host(const struct spe_controls *controls)
{
	return spe_routing_el2_enabled(controls) && controls->e2h;
}

/* With E2H, names with _EL1 access the register of EL2 if there is one. */
static unsigned int get_redirected_level(const struct spe_controls *controls, unsigned int reg)
{
	if (!is_vhe_host(controls))
		return 1;
	if (reg == SPE_REG_PMSCR)
		return 2;
	return reg == SPE_REG_PMBSR && spe_routing_el2_effective_ee(controls) ? 2 : 1;
}

static struct spe_sysreg_result access_from_el2(const struct spe_controls *controls,
						const struct spe_sysreg_traps *traps,
						const struct spe_sysreg_features *spu,
						const struct spe_sysreg_access *access)
{
	if (access->suffix == SPE_SUFFIX_EL3 ||
	    (access->suffix == SPE_SUFFIX_EL12 && !is_vhe_host(controls)))
		return make_result(SPE_SYSREG_UNDEFINED);
	if (traps_to_el3(controls, traps, spu, access))
		return make_result(traps->sdd ? SPE_SYSREG_UNDEFINED : SPE_SYSREG_TRAP_EL3);
	if (access->suffix == SPE_SUFFIX_EL2)
		return make_register_result(2);
	return make_register_result(access->suffix == SPE_SUFFIX_EL12 ?
					    1 :
					    get_redirected_level(controls, access->reg));
}

static struct spe_sysreg_result access_from_el3(const struct spe_controls *controls,
						const struct spe_sysreg_access *access)
{
	switch (access->suffix) {
	case SPE_SUFFIX_EL3:
		return make_register_result(3);
	case SPE_SUFFIX_EL2:
		return make_register_result(2);
	case SPE_SUFFIX_EL12:
		return is_vhe_host(controls) ? make_register_result(1) :
					       make_result(SPE_SYSREG_UNDEFINED);
	default:
		return make_register_result(1);
	}
}

struct spe_sysreg_result spe_sysreg_access_resolve(const struct spe_controls *controls,
						   const struct spe_sysreg_traps *traps,
						   const struct spe_sysreg_features *spu,
						   const struct spe_sysreg_access *access)
{
	if (!register_exists(controls, spu, access))
		return make_result(SPE_SYSREG_UNDEFINED);
	switch (access->el) {
	case 3:
		return access_from_el3(controls, access);
	case 2:
		return access_from_el2(controls, traps, spu, access);
	default:
		return access_from_el1(controls, traps, spu, access);
	}
}
SPE_EXPORT(spe_sysreg_access_resolve);

u8 spe_sysreg_buffer_owner(const struct spe_controls *controls, u8 nspb)
{
	if (!controls->el3)
		return SPE_STATE_CURRENT;
	if (nspb & 4)
		return nspb & 2 ? SPE_STATE_REALM : SPE_STATE_SECURE;
	return nspb & 2 ? SPE_STATE_NONSECURE : SPE_STATE_SECURE;
}
SPE_EXPORT(spe_sysreg_buffer_owner);

bool spe_sysreg_pmbidr_p(const struct spe_controls *controls, unsigned int el)
{
	if (el > 2)
		return false;
	if (controls->owner != SPE_STATE_CURRENT &&
	    controls->owner != spe_routing_security_state(controls))
		return true;
	return el == 1 && spe_collection_owner(controls) == 2;
}
SPE_EXPORT(spe_sysreg_pmbidr_p);
