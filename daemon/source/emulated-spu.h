/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver of an SPU that is emulated in process. It knows the SPU by its
 * registers and its interrupt only, as a kernel's driver does, and hands what
 * the SPU wrote to a sink, window by window.
 *
 * Time is that of the ticks, not of their drain: while the perf ring holds
 * ticks nothing is blind, however late they are drained.
 */
#ifndef SPEPROF_EMULATED_SPU_H
#define SPEPROF_EMULATED_SPU_H

#include "codec/env.h"
#include "source.h"
#include "model/spu.h"
#include "policy/window.h"

/* Operations, each of a nanosecond: what the CPU clock can do. */
#define SPU_DRIVER_INTERVAL_MIN 10000ULL
#define SPU_DRIVER_INTERVAL_MAX 4000000000ULL

/** struct spu_program - register values that a &struct source_config asks for */
struct spu_program {
	u64 pmscr;
	u64 pmsirr;
	u64 pmsfcr;
	u64 pmsevfr;
	u64 pmsnevfr;
	u64 pmslatfr;
	u64 pmsdsfr;
	u32 interval; /* mean operations from sample to sample (D17.3.4) */
};

/**
 * spu_program_make() - @config in register values
 * @spu: what the SPU can do
 * @ret_reason: why -EINVAL, one static sentence
 */
int spu_program_make(const struct source_config *config, const struct spe_spu_config *spu,
		     struct spu_program *ret_program, const char **ret_reason);

/** struct emulated_spu - of one CPU's SPU; fields are private */
struct emulated_spu {
	struct spe_spu spu;
	struct spe_ring_state ring;
	struct spe_window window;
	const struct spu_program *program;
	u8 *buffer;
	u64 start_ns;
	u64 end_ns; /* of the last window: blind since then, unless armed; 0: not enabled */
	u64 blind_ns; /* before the window that is armed */
	u64 blind_by[SOURCE_BLINDS];
	enum source_blind cause; /* why it is not armed, until it is */
	u64 written; /* stats.written when it was armed */
	u32 cpu;
	bool irq;
	bool armed;
	bool dead; /* a syndrome stopped it */
};

/**
 * emulated_spu_init() - a reset SPU and its profiling buffer, off
 * @program: kept, not copied
 * @driver: must not move afterwards
 *
 * Return: 0, -ENOMEM, or -EINVAL if the SPU cannot be so.
 */
int emulated_spu_init(struct emulated_spu *driver, u32 cpu, const struct spe_spu_config *config,
		      const struct spu_program *program, const char **ret_reason);

/** emulated_spu_deinit() - may be called on one that is all zero */
void emulated_spu_deinit(struct emulated_spu *driver);

/** emulated_spu_enable() - sampling is wanted; @since_ns: blind since then, 0 for not */
void emulated_spu_enable(struct emulated_spu *driver, u64 since_ns);

/** emulated_spu_set_blind_cause() - why it is blind until it is armed; a fault that stopped it goes first */
void emulated_spu_set_blind_cause(struct emulated_spu *driver, enum source_blind cause);

/** emulated_spu_arm() - arm a window; what passed since the last one ended was blind */
void emulated_spu_arm(struct emulated_spu *driver, u64 now_ns);

/** emulated_spu_samples_el() - whether operations at Exception level @el are sampled now */
bool emulated_spu_samples_el(const struct emulated_spu *driver, u8 el);

/**
 * emulated_spu_sample() - the mean interval passed on a busy CPU
 * @operation: what was selected
 * @sink: gets the window, if this filled it
 */
void emulated_spu_sample(struct emulated_spu *driver, const struct spe_operation *operation,
			 const struct source_sink *sink);

/**
 * emulated_spu_close() - end the window that is armed and hand it over, empty or
 * not; without one, hand over an empty one that carries the blind time so far
 */
void emulated_spu_close(struct emulated_spu *driver, u64 now_ns, const struct source_sink *sink);

/** emulated_spu_disable() - sampling is not wanted any more, or the CPU is gone: not blind, but off */
void emulated_spu_disable(struct emulated_spu *driver);

#endif
