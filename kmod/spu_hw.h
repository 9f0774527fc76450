/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware backend, on arm64: FEAT_SPE's registers, its interrupt, and
 * what becomes of both when a CPU sleeps or the kernel ends.
 */
#ifndef SPEPROF_SPU_HW_H
#define SPEPROF_SPU_HW_H

#include "regs.h"

/** spu_hw_init() - take the SPUs that firmware describes; none is no error */
int spu_hw_init(void);
void spu_hw_exit(void);

/* ---- spu_hw_regs.c: all on the CPU whose SPU it is, with interrupts off ---- */

u64 spu_hw_read(enum spe_reg reg);
void spu_hw_write(enum spe_reg reg, u64 value);
void spu_hw_synchronize(void);
void spu_hw_drain(void);
u64 spu_hw_ticks(void);
u64 spu_hw_tick_hz(void);

#endif
