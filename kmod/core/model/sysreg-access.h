/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determine what an MRS or MSR of an SPE register accesses: that register, another one (E2H
 * redirection, names with _EL12), memory (nested virtualization), or nothing, because it traps to
 * EL2 or EL3 or is UNDEFINED. The rules are those of the register descriptions (DDI 0487, D24.7).
 * Results depend only on the arguments.
 */
#ifndef SPE_CORE_SYSREG_ACCESS_H
#define SPE_CORE_SYSREG_ACCESS_H

#include "codec/env.h"
#include "codec/registers.h"
#include "event-routing.h"

/* The end of the register's name in the instruction */
enum spe_sysreg_suffix {
	SPE_SUFFIX_EL1,
	SPE_SUFFIX_EL2,
	SPE_SUFFIX_EL3,
	SPE_SUFFIX_EL12,
	SPE_SUFFIXES,
};

/**
 * struct spe_sysreg_traps - Effective values of the controls that trap
 * @fgt_read: fine-grained traps of reads at EL1, a bit for each &enum spe_reg: HDFGRTR_EL2 and
 *	HDFGRTR2_EL2 with the SCR_EL3 bits that enable them, nPMSNEVFR_EL1 and nPMSDSFR_EL1
 *	inverted
 * @fgt_write: fine-grained traps of writes at EL1, like @fgt_read but from HDFGWTR_EL2 and
 * HDFGWTR2_EL2
 * @nspb: MDCR_EL3.{NSPBE, NSPB}, NSPBE in bit 2
 * @nv: HCR_EL2.{NV2, NV1, NV}, NV2 in bit 2
 * @tpms: MDCR_EL2.TPMS
 * @en_pmsn: MDCR_EL3.EnPMSN: if 0, accesses to PMSNEVFR_EL1 trap to EL3
 * @en_pms3: MDCR_EL3.EnPMS3: if 0, accesses to PMSDSFR_EL1 trap to EL3
 * @sdd: whether the PE is in Debug state with EDSCR.SDD set: accesses that would trap to EL3 are
 * UNDEFINED
 * @sdd_first: whether @sdd is checked before traps to EL2, which is IMPLEMENTATION DEFINED
 */
struct spe_sysreg_traps {
	u32 fgt_read;
	u32 fgt_write;
	u8 nspb;
	u8 nv;
	bool tpms;
	bool en_pmsn;
	bool en_pms3;
	bool sdd;
	bool sdd_first;
};

/**
 * struct spe_sysreg_access - one MRS or MSR
 * @reg: &enum spe_reg, the register
 * @suffix: &enum spe_sysreg_suffix
 * @el: the Exception level that executes it, 0-3
 * @write: true for an MSR, false for an MRS
 */
struct spe_sysreg_access {
	u8 reg;
	u8 suffix;
	u8 el;
	bool write;
};

/* The result of an access */
enum spe_sysreg_outcome {
	SPE_SYSREG_REGISTER,
	SPE_SYSREG_UNDEFINED,
	SPE_SYSREG_TRAP_EL2,
	SPE_SYSREG_TRAP_EL3,
	SPE_SYSREG_MEMORY, /* accesses the page at VNCR_EL2 (FEAT_NV2) */
};

/**
 * struct spe_sysreg_result - what an access does
 * @how: &enum spe_sysreg_outcome
 * @x: the Exception level of the accessed register, for spe_spu_read_at(); 0: none
 * @offset: offset in the page at VNCR_EL2, with SPE_SYSREG_MEMORY
 */
struct spe_sysreg_result {
	u8 how;
	u8 x;
	u16 offset;
};

/**
 * struct spe_sysreg_features - features that decide which registers exist
 * @fne: PMSNEVFR_EL1 exists
 * @fds: PMSDSFR_EL1 exists
 * @rme: FEAT_RME is implemented
 */
struct spe_sysreg_features {
	bool fne;
	bool fds;
	bool rme;
};

/**
 * spe_sysreg_access_resolve() - determine what an access does
 * @controls: controls of the PE
 * @traps: controls that trap
 * @spu: which registers exist
 * @access: the access
 */
struct spe_sysreg_result spe_sysreg_access_resolve(const struct spe_controls *controls,
						   const struct spe_sysreg_traps *traps,
						   const struct spe_sysreg_features *spu,
						   const struct spe_sysreg_access *access);

/**
 * spe_sysreg_buffer_owner() - return the owner of the buffer, &enum spe_security_state, by
 * MDCR_EL3.{NSPBE, NSPB} (RBWRVP)
 */
u8 spe_sysreg_buffer_owner(const struct spe_controls *controls, u8 nspb);

/**
 * spe_sysreg_pmbidr_p() - return PMBIDR_EL1.P: whether a higher Exception level owns the buffer
 * @controls: controls of the PE
 * @el: the Exception level that reads it
 */
bool spe_sysreg_pmbidr_p(const struct spe_controls *controls, unsigned int el);

#endif
