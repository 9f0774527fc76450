/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver of an SPU that this process emulates. Like a driver in the kernel it uses only the
 * registers and the interrupt of the SPU, and it delivers the bytes that the SPU wrote, one window
 * at a time.
 *
 * All times are those of the ticks, not of the drains. So the time for which a tick waits in the
 * perf ring is not blind time.
 */
#ifndef SPEPROF_EMULATED_SPU_H
#define SPEPROF_EMULATED_SPU_H

#include "codec/env.h"
#include "source.h"
#include "model/instruction.h"
#include "model/spu.h"
#include "policy/window.h"

/*
 * Limits of the interval in ns; an operation of the emulated SPU takes 1 ns. The minimum is that of
 * perf's event cpu-clock. The maximum fits into PMSIRR_EL1.INTERVAL: 24 bits, in units of 256.
 */
#define SPU_DRIVER_INTERVAL_MIN 10000ULL
#define SPU_DRIVER_INTERVAL_MAX 4000000000ULL

/* The mask bits of operation types in &spu_program.pmsfcr (FEAT_SPE_EFT). */
#define SPU_PROGRAM_MASKS \
	(SPE_PMSFCR_BM | SPE_PMSFCR_LDM | SPE_PMSFCR_STM | SPE_PMSFCR_FPM | SPE_PMSFCR_SIMDM)

/** struct spu_program - the register values for a &struct source_config */
struct spu_program {
	u64 pmscr;
	u64 pmsirr;
	u64 pmsfcr;
	u64 pmsevfr;
	u64 pmsnevfr;
	u64 pmslatfr;
	u64 pmsdsfr;
	u32 interval; /* mean number of operations between two samples (D17.3.4) */
};

/**
 * spu_program_make() - translate a configuration to register values
 * @config: what to sample
 * @spu: the features of the SPU
 * @ret_program: the register values
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -EINVAL for an invalid @config.
 */
int spu_program_make(const struct source_config *config, const struct spe_spu_config *spu,
		     struct spu_program *ret_program, const char **ret_reason);

/**
 * struct emulated_spu - the SPU of one CPU, and the state of its driver; all members are private
 * @spu: the model
 * @ring: the state of @buffer
 * @window: the current window in @buffer
 * @program: register values
 * @buffer: the profiling buffer; NULL: not initialized
 * @start_ns: start of the current window
 * @end_ns: end of the last window; the CPU has been blind since then unless a window is armed; 0:
 * sampling is disabled
 * @blind_ns: blind time before the current window
 * @blind_by: @blind_ns, indexed by cause
 * @cause: cause of the blind time from @end_ns until a window is armed
 * @written: records that the SPU had written when the window was armed
 * @cpu: number of the CPU
 * @irq: level of the management interrupt
 * @armed: a window is armed
 * @dead: a fault stopped the SPU
 */
struct emulated_spu {
	struct spe_spu spu;
	struct spe_ring_state ring;
	struct spe_window_position window;
	const struct spu_program *program;
	u8 *buffer;
	u64 start_ns;
	u64 end_ns;
	u64 blind_ns;
	u64 blind_by[SOURCE_BLINDS];
	enum source_blind cause;
	u64 written;
	u32 cpu;
	bool irq;
	bool armed;
	bool dead;
};

/**
 * emulated_spu_init() - reset an SPU and allocate its profiling buffer
 * @driver: the driver, disabled; it must not move in memory
 * @cpu: number of the CPU
 * @config: the features of the SPU
 * @program: register values; must stay valid
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -ENOMEM; -EINVAL if the architecture permits no SPU with these features.
 */
int emulated_spu_init(struct emulated_spu *driver, u32 cpu, const struct spe_spu_config *config,
		      const struct spu_program *program, const char **ret_reason);

/** emulated_spu_deinit() - free the buffer; does nothing for a zeroed @driver */
void emulated_spu_deinit(struct emulated_spu *driver);

/**
 * emulated_spu_enable() - enable sampling; the CPU has been blind since @since_ns; 0: it has not
 * been blind
 */
void emulated_spu_enable(struct emulated_spu *driver, u64 since_ns);

/**
 * emulated_spu_set_blind_cause() - set the cause of the blind time until the next window
 *
 * The call has no effect if a fault stopped the SPU: the fault remains the cause.
 */
void emulated_spu_set_blind_cause(struct emulated_spu *driver, enum source_blind cause);

/** emulated_spu_arm_window() - arm a window at @now_ns; the time since the last window was blind */
void emulated_spu_arm_window(struct emulated_spu *driver, u64 now_ns);

/** emulated_spu_samples_el() - return true if operations at Exception level @el are sampled now */
bool emulated_spu_samples_el(const struct emulated_spu *driver, u8 el);

/**
 * emulated_spu_sample() - sample one operation; the interval of a busy CPU has elapsed
 * @driver: the driver
 * @operation: the sampled operation
 * @sink: receives the window if the record filled it
 */
void emulated_spu_sample(struct emulated_spu *driver, const struct spe_operation *operation,
			 const struct source_sink *sink);

/**
 * emulated_spu_execute() - execute an instruction; the SPU samples it if the interval has elapsed
 * @driver: the driver; a window is armed
 * @instruction: the instruction; &spe_instruction.timestamp is at least that of the previous one
 * @each: sample this instruction even if the interval has not elapsed
 * @sink: receives the window if the record filled it
 */
void emulated_spu_execute(struct emulated_spu *driver, const struct spe_instruction *instruction,
			  bool each, const struct source_sink *sink);

/**
 * emulated_spu_close_window() - close the current window and deliver it
 * @driver: the driver
 * @now_ns: end of the window
 * @sink: receives the window, which may be empty
 *
 * If no window is armed, an empty one reports the blind time up to @now_ns.
 */
void emulated_spu_close_window(struct emulated_spu *driver, u64 now_ns,
			       const struct source_sink *sink);

/** emulated_spu_disable() - disable sampling; the time from now on is not blind time */
void emulated_spu_disable(struct emulated_spu *driver);

#endif
