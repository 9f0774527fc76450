/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * speprof_trap.ko, for tests: emulate the SPE instructions on an arm64 CPU without FEAT_SPE, such
 * as QEMU's, where they are undefined. The module handles the exception and accesses the SPU model,
 * so that a driver runs unchanged, including its instruction encodings.
 */
#ifndef SPEPROF_TRAP_H
#define SPEPROF_TRAP_H

#include <linux/hrtimer.h>
#include <linux/percpu-defs.h>
#include <linux/ptrace.h>

#include <asm/virt.h>

#include "kmod/emu/emu.h"
#include "model/synthetic.h"

/**
 * struct trap_cpu - the SPU of one CPU; used on the CPU with interrupts off
 * @emu: the SPU model, and the live source of operations
 * @program: the synthetic source, used if @synthetic is set
 * @timer: timer of the synthetic source
 * @synthetic: whether the synthetic source is used
 * @irq: Linux interrupt number of PMBIRQ on this CPU; 0 if there is none
 * @pmsidr: value of PMSIDR_EL1 instead of the model's; 0: the model's
 * @pmbidr: value of PMBIDR_EL1 instead of the model's; 0: the model's
 * @hidden: whether ID_AA64DFR0_EL1.PMSVer reads as 0
 * @no_context: whether PMSCR_EL1.CX is always 0, so that records have no Context packet
 * @accesses: number of MRS and MSR that were emulated
 * @access_ns: time of their emulation, without the exceptions
 * @sleeps: number of times that the SPU lost its power
 */
struct trap_cpu {
	struct speprof_emu_cpu emu;
	struct spe_synthetic_program program;
	struct hrtimer timer;
	bool synthetic;
	unsigned int irq;
	u64 pmsidr;
	u64 pmbidr;
	bool hidden;
	bool no_context;
	u64 accesses;
	u64 access_ns;
	u64 sleeps;
};

DECLARE_PER_CPU(struct trap_cpu, trap_cpus);

/* ---- trap.c ------------------------------------------------------------------- */

/** trap_read() - emulate an MRS on this CPU, with interrupts off */
u64 trap_read(struct trap_cpu *cpu, enum spe_reg reg, unsigned int x);
void trap_write(struct trap_cpu *cpu, enum spe_reg reg, unsigned int x, u64 value);

/** trap_get_kernel_el() - return the Exception level at which the kernel runs */
static inline unsigned int trap_get_kernel_el(void)
{
	return is_kernel_in_hyp_mode() ? 2 : 1;
}

/** trap_set_interrupt() - set the level of PMBIRQ of this CPU to @level */
void trap_set_interrupt(struct trap_cpu *cpu, bool level);

/* ---- undef.c: MRS and MSR of SPE registers -------------------------------------- */

int trap_undef_init(void);
void trap_undef_exit(void);

/** trap_measure_exception_ns() - return the cost of an access without its emulation, on this CPU */
u64 trap_measure_exception_ns(void);

/* ---- pmsver.c: ID_AA64DFR0_EL1, which does not trap when it is read ---------------- */

int trap_pmsver_init(void);
void trap_pmsver_exit(void);

/* ---- acpi.c: the device that kernels with ACPI create ----------------------------- */

#define TRAP_ACPI_NODE "speprof,spe-of-acpi"

/** trap_acpi_init() - create the device if the device tree has the node for it */
int trap_acpi_init(void);
void trap_acpi_exit(void);

/* ---- shutdown.c: check for SPUs that run at shutdown ------------------------------- */

/** trap_check_after_shutdown() - report for each CPU whether its SPU runs, in the kernel's log */
void trap_check_after_shutdown(void);

/* trap-compat.c: call trap_check_after_shutdown() after all devices are shut down. */
void trap_shutdown_init(void);
void trap_shutdown_exit(void);

/* ---- program.c: the synthetic source --------------------------------------------- */

/**
 * trap_program_init() - set up program @name on CPU @number
 *
 * All SPUs with this number run the same program.
 */
int trap_program_init(struct trap_cpu *cpu, unsigned int number, const char *name);
void trap_program_schedule(struct trap_cpu *cpu);

/* ---- knobs.c ---------------------------------------------------------------------- */

/**
 * trap_knobs_apply() - write the settings for CPU @number in @text to its configuration
 * @text: "[CPU:]NAME=VALUE,..."
 *
 * Return: 0; -EINVAL, and a line in the log, if @text has an unknown name.
 */
int trap_knobs_apply(const char *text, unsigned int number, struct trap_cpu *cpu,
		     struct spe_spu_config *config);

#endif
