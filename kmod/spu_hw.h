/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware backend, on arm64: FEAT_SPE's registers, its interrupt, and
 * what becomes of both when a CPU sleeps or the kernel ends.
 */
#ifndef SPEPROF_SPU_HW_H
#define SPEPROF_SPU_HW_H

#include <linux/kconfig.h>

#include "codec/registers.h"

/** speprof_spu_hw_init() - take the SPUs that firmware describes; none is no error */
int speprof_spu_hw_init(void);
void speprof_spu_hw_deinit(void);

/* ---- spu_hw_regs.c: all on the CPU whose SPU it is, with interrupts off ---- */

/**
 * spu_hw_pmscr_used() - the bits of PMSCR_EL1 that are ever written
 * @at_el2: the kernel runs at EL2
 *
 * Never EE or KE: management events are reported in PMBSR_EL1 and by the interrupt, whatever
 * FEAT_SPE_EXC would allow (RTSJRP). CX only where the kernel keeps a TID in CONTEXTIDR: no packet
 * is better than one that names another task. PCT at EL2 only: a kernel below EL2 may be a guest,
 * and then the physical count is not the one that windows are paired with, nor is it known whether
 * the hypervisor allows it (D17.6.9). On a host both counts are the same.
 */
static inline u64 spu_hw_pmscr_used(bool at_el2)
{
	return SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_PA | SPE_PMSCR_TS |
	       (at_el2 ? SPE_PMSCR_PCT : 0) |
	       (IS_ENABLED(CONFIG_PID_IN_CONTEXTIDR) ? SPE_PMSCR_CX : 0);
}

u64 speprof_spu_hw_read(enum spe_reg reg);
void speprof_spu_hw_write(enum spe_reg reg, u64 value);
void speprof_spu_hw_synchronize(void);
void speprof_spu_hw_drain(void);
u64 speprof_spu_hw_ticks(void);
u64 speprof_spu_hw_tick_hz(void);

#endif
