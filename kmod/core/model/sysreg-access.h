/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an MRS or MSR of an SPE register comes to: the register itself, another one (E2H
 * redirection, _EL12 names), memory (nested virtualization), a trap to EL2 or EL3, or an
 * UNDEFINED exception. By the accessor descriptions of the registers (DDI 0487, D24.7). Pure
 * functions of the controls.
 */
#ifndef SPE_CORE_REACH_H
#define SPE_CORE_REACH_H

#include "codec/env.h"
#include "codec/registers.h"
#include "event-routing.h"

/* How the name in the instruction ends. */
enum spe_suffix {
	SPE_SUFFIX_EL1,
	SPE_SUFFIX_EL2,
	SPE_SUFFIX_EL3,
	SPE_SUFFIX_EL12,
	SPE_SUFFIXES,
};

/**
 * struct spe_traps - Effective values of the controls that trap
 * @fgt_read: fine-grained traps of reads at EL1, a bit for each &enum spe_reg: HDFGRTR_EL2 and
 *	HDFGRTR2_EL2 with the SCR_EL3 bits that enable them, nPMSNEVFR_EL1 and nPMSDSFR_EL1
 *	inverted
 * @fgt_write: of writes
 * @nspb: MDCR_EL3.{NSPBE, NSPB}, NSPBE in bit 2
 * @nv: HCR_EL2.{NV2, NV1, NV}, NV2 in bit 2
 * @tpms: MDCR_EL2.TPMS
 * @en_pmsn: MDCR_EL3.EnPMSN, which lets PMSNEVFR_EL1 through
 * @en_pms3: MDCR_EL3.EnPMS3, which lets PMSDSFR_EL1 through
 * @sdd: Debug state with EDSCR.SDD: what would trap to EL3 is UNDEFINED
 * @sdd_first: and is so before traps to EL2 are looked at, as implementations may
 */
struct spe_traps {
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
 * struct spe_access_to - one MRS or MSR
 * @reg: which register
 * @suffix: &enum spe_suffix
 * @el: the Exception level that executes it, 0-3
 * @write: MSR
 */
struct spe_access_to {
	u8 reg;
	u8 suffix;
	u8 el;
	bool write;
};

enum spe_reach_how {
	SPE_REACH_REGISTER,
	SPE_REACH_UNDEFINED,
	SPE_REACH_TRAP_EL2,
	SPE_REACH_TRAP_EL3,
	SPE_REACH_MEMORY, /* VNCR_EL2's page (FEAT_NV2) */
};

/**
 * struct spe_reach - where an access goes
 * @how: &enum spe_reach_how
 * @x: of the register that is reached, as spe_spu_read_at() takes it; 0 for none
 * @offset: into VNCR_EL2's page
 */
struct spe_reach {
	u8 how;
	u8 x;
	u16 offset;
};

/** struct spe_reach_spu - which registers there are */
struct spe_reach_spu {
	bool fne;
	bool fds;
	bool rme;
};

/** spe_reach() - where @access goes */
struct spe_reach spe_reach(const struct spe_controls *controls, const struct spe_traps *traps,
			   const struct spe_reach_spu *spu, const struct spe_access_to *access);

/** spe_reach_owner() - &enum spe_state by MDCR_EL3.{NSPBE, NSPB} (RBWRVP) */
u8 spe_reach_owner(const struct spe_controls *controls, u8 nspb);

/** spe_reach_p() - PMBIDR_EL1.P as read at Exception level @el: programming is not allowed */
bool spe_reach_p(const struct spe_controls *controls, unsigned int el);

#endif
