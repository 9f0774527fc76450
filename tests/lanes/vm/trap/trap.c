// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof_trap.ko: emulate SPUs on arm64 CPUs without one. Load it before the driver that uses
 * them, and unload it after that driver.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/of.h>
#include <linux/of_irq.h>
#include <linux/smp.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "trap-compat.h"
#include "trap.h"

static char *knobs = "";
module_param(knobs, charp, 0444);
MODULE_PARM_DESC(knobs, "of the SPUs: [CPU:]NAME=VALUE,...");

static char *program = "";
module_param(program, charp, 0444);
MODULE_PARM_DESC(program, "the synthetic program to sample; without one, what the CPU really runs");

static unsigned int ops_per_us = 1000;
module_param(ops_per_us, uint, 0444);
MODULE_PARM_DESC(ops_per_us, "operations that a CPU is taken to execute in a microsecond");

static char *profile = "mixed";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "what programs are taken to do, without a synthetic one");

DEFINE_PER_CPU(struct trap_cpu, trap_cpus);

/* ---- The register file --------------------------------------------------------- */

static void trap_schedule_source(struct trap_cpu *cpu)
{
	if (cpu->synthetic)
		trap_program_schedule(cpu);
	else
		speprof_emu_source_schedule(&cpu->emu);
}

u64 trap_read(struct trap_cpu *cpu, enum spe_reg reg, unsigned int x)
{
	u64 value = spe_spu_read_at(&cpu->emu.spu, reg, x);

	if (reg == SPE_REG_PMSIDR && cpu->pmsidr)
		return cpu->pmsidr;
	if (reg == SPE_REG_PMBIDR && cpu->pmbidr)
		return cpu->pmbidr;
	/* If PMBSR.S is 1 when a driver reads it, the interrupt must still be asserted. */
	if (reg == SPE_REG_PMBSR && value & SPE_PMBSR_S)
		trap_set_interrupt(cpu, true);
	return value;
}

void trap_write(struct trap_cpu *cpu, enum spe_reg reg, unsigned int x, u64 value)
{
	if (!cpu->synthetic)
		speprof_emu_source_count_passed(&cpu->emu);
	if (reg == SPE_REG_PMSCR && cpu->no_context)
		value &= ~SPE_PMSCR_CX;
	spe_spu_write_at(&cpu->emu.spu, reg, x, value);
	if (reg == SPE_REG_PMBSR)
		trap_set_interrupt(cpu, value & SPE_PMBSR_S);
	trap_schedule_source(cpu);
}

void trap_set_interrupt(struct trap_cpu *cpu, bool level)
{
	if (cpu->irq)
		irq_set_irqchip_state(cpu->irq, IRQCHIP_STATE_PENDING, level);
}

static void spu_set_irq(void *ctx, bool level)
{
	trap_set_interrupt(ctx, level);
}

static bool source_raise_interrupt(void)
{
	trap_set_interrupt(this_cpu_ptr(&trap_cpus), true);
	return true;
}

static u64 source_read_ticks(void)
{
	return get_cycles();
}

/* If PMBPTR is not mapped, report a fault to the SPU instead of causing one in the kernel. */
static u32 spu_write(void *ctx, u64 address, const u8 *data, size_t length)
{
	u8 *to = (u8 *)(uintptr_t)address;
	size_t i;

	for (i = 0; i < length; i++)
		__put_kernel_nofault(to + i, data + i, u8, fault);
	return 0;
fault:
	return spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION | 3);
}

/* ---- Actions of a test on an SPU -------------------------------------------------- */

/*
 * Simulate an idle state in which the SPU loses its state: afterwards its registers have arbitrary
 * values. Do it in a task, as real idle states do. In an interrupt, the interrupt controller would
 * lose the running priority.
 */
static long sleep_on_cpu(void *unused)
{
	struct trap_cpu *cpu;
	unsigned long flags;
	unsigned int reg;
	int ret;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&trap_cpus);
	ret = cpu_pm_enter();
	if (!ret) {
		cpu->sleeps++;
		for (reg = SPE_REG_PMSICR; reg < SPE_REG_COUNT; reg++)
			trap_write(cpu, reg,
				   spe_spu_resolve_name(&cpu->emu.spu, reg, trap_get_kernel_el(),
							false),
				   reg == SPE_REG_PMBSR ? 0 : 0xdeadbeef00ULL);
		ret = cpu_pm_exit();
	}
	local_irq_restore(flags);
	return ret;
}

/* Parse the number of an online CPU. The caller holds cpus_read_lock(). */
static int parse_cpu_number(const char *text, u32 *ret_number)
{
	u32 number;
	int ret = kstrtou32(text, 0, &number);

	if (ret)
		return ret;
	if (number >= nr_cpu_ids || !cpu_online(number))
		return -ENXIO;
	*ret_number = number;
	return 0;
}

static int request_sleep(const char *text, const struct kernel_param *param)
{
	u32 number;
	int ret;

	cpus_read_lock();
	ret = parse_cpu_number(text, &number);
	if (!ret)
		ret = (int)work_on_cpu((int)number, sleep_on_cpu, NULL);
	cpus_read_unlock();
	return ret;
}

static const struct kernel_param_ops sleep_ops = { .set = request_sleep };
module_param_cb(sleep, &sleep_ops, NULL, 0200);
MODULE_PARM_DESC(sleep, "CPU: it loses power for a moment, by way of cpu_pm");

static void interrupt_raise_on_cpu(void *arg)
{
	trap_set_interrupt(this_cpu_ptr(&trap_cpus), true);
}

static int request_spurious_interrupt(const char *text, const struct kernel_param *param)
{
	u32 number;
	int ret;

	cpus_read_lock();
	ret = parse_cpu_number(text, &number);
	if (!ret)
		ret = smp_call_function_single((int)number, interrupt_raise_on_cpu, NULL, true);
	cpus_read_unlock();
	return ret;
}

static const struct kernel_param_ops spurious_ops = { .set = request_spurious_interrupt };
module_param_cb(spurious, &spurious_ops, NULL, 0200);
MODULE_PARM_DESC(spurious, "CPU: its SPE interrupt, without a reason");

static int print_stats(char *buffer, const struct kernel_param *param)
{
	unsigned int number;
	int at = 0;

	for_each_possible_cpu(number) {
		const struct trap_cpu *cpu = per_cpu_ptr(&trap_cpus, number);
		const struct spe_spu_stats *stats = &cpu->emu.spu.stats;

		at += sysfs_emit_at(buffer, at,
				    "%u selected=%llu collisions=%llu filtered=%llu discarded=%llu written=%llu bytes=%llu cut=%llu accesses=%llu access_ns=%llu sleeps=%llu\n",
				    number, stats->selected, stats->collisions, stats->filtered,
				    stats->discarded, stats->written, stats->bytes, stats->cut,
				    cpu->accesses, cpu->access_ns, cpu->sleeps);
	}
	return at;
}

static const struct kernel_param_ops stats_ops = { .get = print_stats };
module_param_cb(stats, &stats_ops, NULL, 0400);
MODULE_PARM_DESC(stats, "what the SPUs counted, a line for each CPU");

static int print_exception_cost(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%llu\n", trap_measure_exception_ns());
}

static const struct kernel_param_ops exception_ops = { .get = print_exception_cost };
module_param_cb(exception_ns, &exception_ops, NULL, 0400);
MODULE_PARM_DESC(exception_ns,
		 "cost of an access in ns without its emulation, on the CPU that reads this");

/* ---- Init and exit -------------------------------------------------------------------- */

static int trap_cpu_init(struct trap_cpu *cpu, unsigned int number)
{
	struct spe_spu_io io = { .write = spu_write, .irq = spu_set_irq, .ctx = cpu };
	struct spe_spu_config config;
	const char *reason = NULL;
	int ret;

	spe_spu_config_default(&config);
	config.e2h = is_kernel_in_hyp_mode();
	config.seed = number;
	ret = trap_knobs_apply(knobs, number, cpu, &config);
	if (!ret)
		ret = spe_spu_init(&cpu->emu.spu, &config, &io, &reason);
	if (ret) {
		pr_err("knobs: no such SPU: %s\n", reason ?: "see above");
		return ret;
	}
	spe_opmodel_init(&cpu->emu.model, config.seed);
	spe_inject_init(&cpu->emu.inject, config.seed);
	cpu->emu.number = number;
	cpu->emu.ops_per_us = ops_per_us;
	cpu->emu.ticks = source_read_ticks;
	cpu->emu.interrupt = source_raise_interrupt;
	speprof_emu_source_init(&cpu->emu);
	if (spe_profile_from_name(profile, &cpu->emu.profile))
		return -EINVAL;
	cpu->synthetic = *program;
	return cpu->synthetic ? trap_program_init(cpu, number, program) : 0;
}

/* Find PMBIRQ in the same way as the drivers. Some test nodes have no interrupt. */
static void trap_find_interrupts(const char *compatible)
{
	struct device_node *node;

	for_each_compatible_node(node, NULL, compatible) {
		unsigned int irq = irq_of_parse_and_map(node, 0), number;
		struct cpumask cpus = *cpu_possible_mask;

		if (!irq)
			continue;
		if (compat_trim_irq_cpus(irq, &cpus))
			continue;
		for_each_cpu(number, &cpus)
			per_cpu(trap_cpus, number).irq = irq;
	}
}

static int __init trap_module_init(void)
{
	unsigned int number;
	int ret;

	if (!ops_per_us)
		return -EINVAL;
	for_each_possible_cpu(number) {
		ret = trap_cpu_init(per_cpu_ptr(&trap_cpus, number), number);
		if (ret)
			return ret;
	}
	trap_find_interrupts("arm,statistical-profiling-extension-v1");
	trap_find_interrupts(TRAP_ACPI_NODE);
	ret = trap_undef_init();
	if (ret)
		return ret;
	ret = trap_pmsver_init();
	if (ret)
		goto no_pmsver;
	ret = trap_acpi_init();
	if (ret)
		goto no_device;
	speprof_emu_debugfs_init(&trap_cpus.emu);
	trap_shutdown_init();
	return 0;

no_device:
	trap_pmsver_exit();
no_pmsver:
	trap_undef_exit();
	return ret;
}

static void __exit trap_module_exit(void)
{
	unsigned int number;

	trap_shutdown_exit();
	speprof_emu_debugfs_deinit();
	trap_acpi_exit();
	trap_pmsver_exit();
	trap_undef_exit();
	for_each_possible_cpu(number) {
		struct trap_cpu *cpu = per_cpu_ptr(&trap_cpus, number);

		speprof_emu_source_deinit(&cpu->emu);
		if (cpu->synthetic)
			hrtimer_cancel(&cpu->timer);
	}
}

module_init(trap_module_init);
module_exit(trap_module_exit);

MODULE_DESCRIPTION("For tests: SPUs for arm64 CPUs without FEAT_SPE, by trapping their instructions");
MODULE_AUTHOR("The speprof project");
MODULE_LICENSE("GPL");
