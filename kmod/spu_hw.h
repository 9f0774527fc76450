/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware backend on arm64: the registers and the interrupt of FEAT_SPE, also across CPU idle,
 * suspend, kexec and kdump.
 */
#ifndef SPEPROF_SPU_HW_H
#define SPEPROF_SPU_HW_H

#include <linux/kconfig.h>

#include "codec/registers.h"

/**
 * speprof_spu_hw_init() - register the driver for the SPUs that firmware describes
 *
 * Context: may sleep.
 * Return: 0, also if firmware describes no SPU; an error of platform_driver_register() or of the
 * registration of a notifier.
 */
int speprof_spu_hw_init(void);

/** speprof_spu_hw_deinit() - unregister the driver; no session exists */
void speprof_spu_hw_deinit(void);

/*
 * ---- spu_hw_regs.c -----------------------------------------------------------------
 *
 * All functions below run on the CPU of the SPU, with interrupts off, unless stated otherwise.
 */

/*
 * The kernel writes the TID to CONTEXTIDR only with this option. Otherwise the register has an
 * unknown value. SPEPROF_NO_CONTEXTIDR=1 compiles the module for tests as if the option were off.
 */
#if IS_ENABLED(CONFIG_PID_IN_CONTEXTIDR) && !defined(SPEPROF_NO_CONTEXTIDR)
#define SPU_HW_HAS_CONTEXT true
#else
#define SPU_HW_HAS_CONTEXT false
#endif

/**
 * spu_hw_pmscr_used_bits() - return the bits of PMSCR_EL1 that are ever set
 * @at_el2: whether the kernel runs at EL2
 *
 * - EE and KE are never set: management events are reported in PMBSR_EL1 and by the interrupt,
 * whatever FEAT_SPE_EXC would allow (RTSJRP).
 * - CX is set only if the kernel keeps a TID in CONTEXTIDR. Otherwise packets would contain the TID
 * of another task, which is worse than no packet.
 * - PCT is set only at EL2. A kernel below EL2 may be a guest: then windows are paired with the
 * virtual count, and the hypervisor may forbid the physical one (D17.6.9). On a host both are
 * equal.
 */
static inline u64 spu_hw_pmscr_used_bits(bool at_el2)
{
	return SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_PA | SPE_PMSCR_TS |
	       (at_el2 ? SPE_PMSCR_PCT : 0) | (SPU_HW_HAS_CONTEXT ? SPE_PMSCR_CX : 0);
}

/** speprof_spu_hw_read() - read a register; returns 0 if the SPU does not have it */
u64 speprof_spu_hw_read(enum spe_reg reg);

/**
 * speprof_spu_hw_write() - write a register; does nothing if the SPU does not have it or it is
 * read-only
 */
void speprof_spu_hw_write(enum spe_reg reg, u64 value);

/** speprof_spu_hw_synchronize() - return once earlier register writes are in effect (D17.3.5) */
void speprof_spu_hw_synchronize(void);

/**
 * speprof_spu_hw_drain() - return once all records are in memory, and PMBPTR and PMBSR are final
 *
 * The caller has disabled profiling, and then called speprof_spu_hw_synchronize().
 */
void speprof_spu_hw_drain(void);

/** speprof_spu_hw_read_timestamp() - return the count that Timestamp packets contain */
u64 speprof_spu_hw_read_timestamp(void);

/**
 * speprof_spu_hw_read_tick_hz() - return the rate of the count in Timestamp packets, in Hz; may be
 * called on any CPU
 */
u64 speprof_spu_hw_read_tick_hz(void);

#endif
