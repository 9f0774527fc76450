/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * speprof_trap.ko, for tests: an arm64 CPU without FEAT_SPE (QEMU's) executes the
 * SPE instructions all the same. They are undefined there; the exception ends here and the
 * SPU model answers, so a driver runs unchanged, down to its instruction encodings.
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
 * struct trap_cpu - one CPU's SPU; used on the CPU with interrupts off
 * @emu: the model, and the live source of operations
 * @program: the synthetic source, used if @synthetic
 * @timer: of the synthetic source
 * @synthetic: which source
 * @irq: Linux's number of PMBIRQ here, 0 without one
 * @pmsidr: what reads as PMSIDR_EL1 in place of the model's, if not 0
 * @pmbidr: value of PMBIDR_EL1 instead of the model's, if not 0
 * @hidden: ID_AA64DFR0_EL1.PMSVer reads as 0
 * @accesses: MRS and MSR answered
 * @access_ns: what the answers took, without the exception
 * @sleeps: how often the power went
 */
struct trap_cpu {
	struct speprof_emu_cpu emu;
	struct spe_synthetic program;
	struct hrtimer timer;
	bool synthetic;
	unsigned int irq;
	u64 pmsidr;
	u64 pmbidr;
	bool hidden;
	u64 accesses;
	u64 access_ns;
	u64 sleeps;
};

DECLARE_PER_CPU(struct trap_cpu, trap_cpus);

/* ---- trap.c ------------------------------------------------------------------- */

/** trap_read() - MRS on this CPU, with interrupts off */
u64 trap_read(struct trap_cpu *cpu, enum spe_reg reg, unsigned int x);
void trap_write(struct trap_cpu *cpu, enum spe_reg reg, unsigned int x, u64 value);

/** trap_level() - the Exception level that the kernel runs at */
static inline unsigned int trap_level(void)
{
	return is_kernel_in_hyp_mode() ? 2 : 1;
}

/** trap_interrupt() - set PMBIRQ to the level of PMBSR.S */
void trap_interrupt(struct trap_cpu *cpu, bool level);

/* ---- undef.c: MRS and MSR of SPE registers -------------------------------------- */

int trap_undef_init(void);
void trap_undef_exit(void);

/** trap_exception_ns() - the cost of an access without its emulation, on this CPU */
u64 trap_exception_ns(void);

/* ---- pmsver.c: ID_AA64DFR0_EL1, which does not trap ------------------------------ */

int trap_pmsver_init(void);
void trap_pmsver_exit(void);

/* ---- acpi.c: the device that ACPI's kernels make ---------------------------------- */

#define TRAP_ACPI_NODE "speprof,spe-of-acpi"

/** trap_acpi_init() - create the device if the device tree asks for it */
int trap_acpi_init(void);
void trap_acpi_exit(void);

/* ---- shutdown.c: SPUs that run when the kernel ends ------------------------------- */

void trap_shutdown_init(void);
void trap_shutdown_exit(void);

/* ---- program.c: the synthetic source --------------------------------------------- */

/**
 * trap_program_init() - set up program @name on CPU @number; all SPUs with this number run the same
 * program
 */
int trap_program_init(struct trap_cpu *cpu, unsigned int number, const char *name);
void trap_program_plan(struct trap_cpu *cpu);

/* ---- knobs.c ---------------------------------------------------------------------- */

/**
 * trap_knobs_apply() - what of @text is for CPU @number, into its configuration
 * @text: "[CPU:]NAME=VALUE,..."
 *
 * Return: 0, or -EINVAL for what is no knob, with a line in the log.
 */
int trap_knobs_apply(const char *text, unsigned int number, struct trap_cpu *cpu,
		     struct spe_spu_config *config);

#endif
