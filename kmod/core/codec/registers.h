/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SPE registers and their fields. The driver uses these names for the hardware and for the
 * emulated SPU.
 */
#ifndef SPE_CORE_REGISTERS_H
#define SPE_CORE_REGISTERS_H

#include "env.h"

/**
 * enum spe_reg - the registers of an SPU
 *
 * The names are those of EL1, which VHE kernels also use to access the registers of EL2 (E2H
 * redirection). PMSIDR and PMBIDR are read-only, and so is SPE_REG_PMSVER, which represents
 * ID_AA64DFR0_EL1.PMSVer.
 */
enum spe_reg {
	SPE_REG_PMSCR,
	SPE_REG_PMSICR,
	SPE_REG_PMSIRR,
	SPE_REG_PMSFCR,
	SPE_REG_PMSEVFR,
	SPE_REG_PMSNEVFR,
	SPE_REG_PMSLATFR,
	SPE_REG_PMSDSFR,
	SPE_REG_PMSIDR,
	SPE_REG_PMBLIMITR,
	SPE_REG_PMBPTR,
	SPE_REG_PMBSR,
	SPE_REG_PMBIDR,
	SPE_REG_PMSVER,
	SPE_REG_COUNT,
};

/* PMSCR_EL1: which Exception levels are sampled, and which data is collected (D17.6.9) */
#define SPE_PMSCR_E0SPE		SPE_BIT(0)
#define SPE_PMSCR_E1SPE		SPE_BIT(1)
#define SPE_PMSCR_CX		SPE_BIT(3)
#define SPE_PMSCR_PA		SPE_BIT(4)
#define SPE_PMSCR_TS		SPE_BIT(5)
#define SPE_PMSCR_PCT		SPE_MASK(7, 6)
#define SPE_PMSCR_PCT_VIRT	0
#define SPE_PMSCR_PCT_PHYS	1
#define SPE_PMSCR_PCT_OFFSET	3
#define SPE_PMSCR_EE		SPE_MASK(9, 8)
#define SPE_PMSCR_KE		SPE_BIT(10)

/* PMSICR_EL1, PMSIRR_EL1: the interval counters and their reload (D17.3). */
#define SPE_PMSICR_COUNT	SPE_MASK(31, 0)
#define SPE_PMSICR_ECOUNT	SPE_MASK(63, 56)
#define SPE_PMSIRR_RND		SPE_BIT(0)
#define SPE_PMSIRR_INTERVAL	SPE_MASK(31, 8)

/* PMSFCR_EL1: which filters apply; types and, with FEAT_SPE_EFT, type masks */
#define SPE_PMSFCR_FE		SPE_BIT(0)
#define SPE_PMSFCR_FT		SPE_BIT(1)
#define SPE_PMSFCR_FL		SPE_BIT(2)
#define SPE_PMSFCR_FNE		SPE_BIT(3)
#define SPE_PMSFCR_FDS		SPE_BIT(4)
#define SPE_PMSFCR_B		SPE_BIT(16)
#define SPE_PMSFCR_LD		SPE_BIT(17)
#define SPE_PMSFCR_ST		SPE_BIT(18)
#define SPE_PMSFCR_FP		SPE_BIT(19)
#define SPE_PMSFCR_SIMD		SPE_BIT(20)
#define SPE_PMSFCR_BM		SPE_BIT(48)
#define SPE_PMSFCR_LDM		SPE_BIT(49)
#define SPE_PMSFCR_STM		SPE_BIT(50)
#define SPE_PMSFCR_FPM		SPE_BIT(51)
#define SPE_PMSFCR_SIMDM	SPE_BIT(52)

#define SPE_PMSLATFR_MINLAT	SPE_MASK(15, 0)

/* PMSIDR_EL1: the features of the SPU. */
#define SPE_PMSIDR_FE		SPE_BIT(0)
#define SPE_PMSIDR_FT		SPE_BIT(1)
#define SPE_PMSIDR_FL		SPE_BIT(2)
#define SPE_PMSIDR_ARCHINST	SPE_BIT(3)
#define SPE_PMSIDR_LDS		SPE_BIT(4)
#define SPE_PMSIDR_ERND		SPE_BIT(5)
#define SPE_PMSIDR_FNE		SPE_BIT(6)
#define SPE_PMSIDR_FDS		SPE_BIT(7)
#define SPE_PMSIDR_INTERVAL	SPE_MASK(11, 8)
#define SPE_PMSIDR_MAXSIZE	SPE_MASK(15, 12)
#define SPE_PMSIDR_COUNTSIZE	SPE_MASK(19, 16)
#define SPE_PMSIDR_COUNTSIZE_12	2
#define SPE_PMSIDR_COUNTSIZE_16	3
#define SPE_PMSIDR_FORMAT	SPE_MASK(23, 20)
#define SPE_PMSIDR_PBT		SPE_BIT(24)
#define SPE_PMSIDR_CRR		SPE_BIT(25)
#define SPE_PMSIDR_EFT		SPE_BIT(26)
#define SPE_PMSIDR_FPF		SPE_BIT(27)
#define SPE_PMSIDR_ALTCLK	SPE_MASK(31, 28)
#define SPE_PMSIDR_SME		SPE_BIT(32)

/* PMBLIMITR_EL1, PMBPTR_EL1, PMBIDR_EL1: the profiling buffer (D17.8). */
#define SPE_PMBLIMITR_E		SPE_BIT(0)
#define SPE_PMBLIMITR_FM	SPE_MASK(2, 1)
#define SPE_PMBLIMITR_FM_FILL	0
#define SPE_PMBLIMITR_FM_DISCARD 2
#define SPE_PMBLIMITR_PMFZ	SPE_BIT(5)
#define SPE_PMBLIMITR_LIMIT	SPE_MASK(63, 12)
#define SPE_PMBIDR_ALIGN	SPE_MASK(3, 0)
#define SPE_PMBIDR_P		SPE_BIT(4)
#define SPE_PMBIDR_F		SPE_BIT(5)
#define SPE_PMBIDR_EA		SPE_MASK(11, 8)
#define SPE_PMBIDR_EA_IGNORED	1
#define SPE_PMBIDR_EA_SERROR	2

/* PMBSR_EL1: the syndrome of a profiling buffer management event (D17.8). */
#define SPE_PMBSR_MSS		SPE_MASK(15, 0)
#define SPE_PMBSR_BSC		SPE_MASK(5, 0)
#define SPE_PMBSR_BSC_NOT_ALLOWED 0
#define SPE_PMBSR_BSC_FULL	1
#define SPE_PMBSR_FSC		SPE_MASK(5, 0)
#define SPE_PMBSR_COLL		SPE_BIT(16)
#define SPE_PMBSR_S		SPE_BIT(17)
#define SPE_PMBSR_EA		SPE_BIT(18)
#define SPE_PMBSR_DL		SPE_BIT(19)
#define SPE_PMBSR_EC		SPE_MASK(31, 26)
#define SPE_PMBSR_EC_BUFFER	0x00
#define SPE_PMBSR_EC_GPC	0x1e
#define SPE_PMBSR_EC_IMPDEF	0x1f
#define SPE_PMBSR_EC_STAGE1	0x24
#define SPE_PMBSR_EC_STAGE2	0x25
#define SPE_PMBSR_ASSURED_ONLY	SPE_BIT(39)	/* a part of MSS2, with FEAT_THE */
#define SPE_PMBSR_TOP_LEVEL	SPE_BIT(40)

/* Fault status codes in PMBSR.FSC, the ones of data aborts (D17.8.3). */
#define SPE_FSC_ADDRESS_SIZE	0x00
#define SPE_FSC_TRANSLATION	0x04
#define SPE_FSC_ACCESS_FLAG	0x08
#define SPE_FSC_PERMISSION	0x0c
#define SPE_FSC_EXTERNAL_SYNC	0x10
#define SPE_FSC_EXTERNAL_ASYNC	0x11
#define SPE_FSC_EXTERNAL_WALK	0x12	/* on a walk at level -2; the low bits are the level */
#define SPE_FSC_EXTERNAL_WALK_END 0x18
#define SPE_FSC_ALIGNMENT	0x21
#define SPE_FSC_GPF_WALK	0x22	/* Granule Protection Fault on a walk, encoded like 0x12 */
#define SPE_FSC_GPF		0x28	/* Granule Protection Fault, not on a walk */
#define SPE_FSC_TLB_CONFLICT	0x30
#define SPE_FSC_ATOMIC_UPDATE	0x31	/* unsupported atomic hardware update */

/* Maximum size of a record in bytes: the architecture permits PMSIDR_EL1.MaxSize up to 11. */
#define SPE_MAX_RECORD		2048

#endif
