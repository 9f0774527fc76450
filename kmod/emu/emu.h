/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * speprof_emu.ko: an emulated SPU on each CPU, which samples the code that the CPU executes.
 */
#ifndef SPEPROF_EMU_H
#define SPEPROF_EMU_H

#include <linux/hrtimer.h>

#include "model/inject.h"
#include "model/opmodel.h"
#include "model/spu.h"

/* minimum period of the timer, so that it never uses the whole CPU */
#define EMU_TICK_MIN_US 50

/**
 * struct speprof_emu_cpu - the emulated SPU of one CPU; used on the CPU with interrupts off
 * @spu: the SPU model
 * @model: provides the properties of an operation that the CPU does not report
 * @inject: faults to inject
 * @number: number of the CPU
 * @profile: &enum spe_profile, how all programs are assumed to use memory and branches
 * @timer: expires when the next operation is to be sampled
 * @planned: number of operations of the sample population until @timer expires; 0 if @timer is not
 * set, or only handles an asserted interrupt request again
 * @planned_at: time at which @timer was set, CLOCK_MONOTONIC in ns
 * @ops_per_us: operations that the CPU is assumed to execute in a microsecond
 * @ticks: reads the counter of Timestamp packets
 * @interrupt: handles the interrupt request; called repeatedly while it is asserted
 */
struct speprof_emu_cpu {
	struct spe_spu spu;
	struct spe_operation_model model;
	struct spe_injector inject;
	unsigned int number;
	enum spe_profile profile;
	struct hrtimer timer;
	u64 planned;
	u64 planned_at;
	u32 ops_per_us;
	u64 (*ticks)(void);
	bool (*interrupt)(void);
};

/** speprof_emu_source_init() - initialize the timer of @cpu without starting it */
void speprof_emu_source_init(struct speprof_emu_cpu *cpu);

/**
 * speprof_emu_source_deinit() - cancel the timer
 *
 * Context: may sleep; the backend is unregistered.
 */
void speprof_emu_source_deinit(struct speprof_emu_cpu *cpu);

/**
 * speprof_emu_source_count_passed() - count the operations since the timer was set
 * @cpu: the emulated SPU of this CPU
 *
 * Call this before a register changes. The caller sets the timer again afterwards.
 */
void speprof_emu_source_count_passed(struct speprof_emu_cpu *cpu);

/**
 * speprof_emu_source_schedule() - set the timer to the time at which the next operation is sampled
 * @cpu: the emulated SPU of this CPU
 *
 * Call this after a register changed.
 */
void speprof_emu_source_schedule(struct speprof_emu_cpu *cpu);

/**
 * speprof_emu_debugfs_init() - create the files that inject faults, if the kernel has debugfs
 * @cpus: the emulated SPUs
 */
void speprof_emu_debugfs_init(struct speprof_emu_cpu __percpu *cpus);

/** speprof_emu_debugfs_deinit() - remove the files, and wait for their users */
void speprof_emu_debugfs_deinit(void);

#endif
