/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * speprof_emu.ko: the SPU model on each CPU, fed with what the CPU really runs.
 */
#ifndef SPEPROF_EMU_H
#define SPEPROF_EMU_H

#include <linux/hrtimer.h>

#include "model/inject.h"
#include "model/opmodel.h"
#include "model/spu.h"

/* Ticks no closer than this: the machine has its own work to do. */
#define EMU_TICK_MIN_US 50

/**
 * struct speprof_emu_cpu - one CPU's SPU; used on the CPU with interrupts off
 * @number: the CPU's
 * @planned: members of the population until the one that @timer stands for, 0 if none
 * @planned_at: when they began to pass, CLOCK_MONOTONIC
 * @ops_per_us: how many pass in a microsecond
 * @ticks: the count that Timestamp packets carry
 * @interrupt: the interrupt request is up; called again and again until it is not
 */
struct speprof_emu_cpu {
	struct spe_spu spu;
	struct spe_opmodel model;
	struct spe_inject inject;
	unsigned int number;
	enum spe_profile profile;
	struct hrtimer timer;
	u64 planned;
	u64 planned_at;
	u32 ops_per_us;
	u64 (*ticks)(void);
	bool (*interrupt)(void);
};

/** speprof_emu_source_init() - no tick yet */
void speprof_emu_source_init(struct speprof_emu_cpu *cpu);

/** speprof_emu_source_deinit() - the SPU is silent for good */
void speprof_emu_source_deinit(struct speprof_emu_cpu *cpu);

/** speprof_emu_source_count_passed() - count what passed; before a register changes */
void speprof_emu_source_count_passed(struct speprof_emu_cpu *cpu);

/** speprof_emu_source_schedule() - place the next tick; after a register changed */
void speprof_emu_source_schedule(struct speprof_emu_cpu *cpu);

/** speprof_emu_debugfs_init() - from here on, faults may be injected; without debugfs nobody can */
void speprof_emu_debugfs_init(struct speprof_emu_cpu __percpu *cpus);

/** speprof_emu_debugfs_deinit() - nobody injects any more */
void speprof_emu_debugfs_deinit(void);

#endif
