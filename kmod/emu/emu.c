// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof_emu.ko: a backend with an emulated SPU on each CPU, for machines without SPE. It is never
 * loaded automatically, and each of its windows is marked as emulated.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/speprof.h>

#include "kmod/backend.h"
#include "model/impdef.h"
#include "emu.h"

static unsigned int ops_per_us = 1000;
module_param(ops_per_us, uint, 0444);
MODULE_PARM_DESC(ops_per_us, "operations that a CPU is assumed to execute in a microsecond, 1-100000");

static unsigned int align = 6;
module_param(align, uint, 0444);
MODULE_PARM_DESC(align, "PMBIDR_EL1.Align: log2 of the alignment of records, 0-11");

static unsigned int max_size = 6;
module_param(max_size, uint, 0444);
MODULE_PARM_DESC(max_size, "PMSIDR_EL1.MaxSize: log2 of the largest record, 6-11");

static unsigned int pmsver;
module_param(pmsver, uint, 0444);
MODULE_PARM_DESC(pmsver, "ID_AA64DFR0_EL1.PMSVer, 1-6; 0: the model's default");

static unsigned long long features;
module_param(features, ullong, 0444);
MODULE_PARM_DESC(features, "bits of PMSIDR_EL1 that are set in addition to the model's default");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of all random choices");

static char *profile = "mixed";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "what programs are assumed to do: mixed, pointer_chase, stream, branchy, shared_line");

static char *choices = "";
module_param(choices, charp, 0444);
MODULE_PARM_DESC(choices,
		 "IMPLEMENTATION DEFINED choices that differ from the default: names from "
		 "Documentation/reference/spu-choices.md, separated by commas");

static struct speprof_emu_cpu __percpu *emu_cpus;

/* ---- Registers and barriers --------------------------------------------------- */

static u64 emu_read(enum spe_reg reg)
{
	return spe_spu_read(&this_cpu_ptr(emu_cpus)->spu, reg);
}

static void emu_write(enum spe_reg reg, u64 value)
{
	struct speprof_emu_cpu *cpu = this_cpu_ptr(emu_cpus);

	speprof_emu_source_count_passed(cpu);
	spe_spu_write(&cpu->spu, reg, value);
	speprof_emu_source_schedule(cpu);
}

/* The model applies every register write immediately, so a barrier has nothing to do. */
static void emu_barrier_noop(void)
{
}

static u64 emu_read_ticks(void)
{
	return ktime_get_ns();
}

static u64 emu_count_records(void)
{
	return this_cpu_ptr(emu_cpus)->spu.stats.written;
}

static struct speprof_backend emu_backend = {
	.owner = THIS_MODULE,
	.name = "emulated",
	.id = SPEPROF_BACKEND_EMULATED,
	.cpus = cpu_possible_mask,
	.read = emu_read,
	.write = emu_write,
	.synchronize = emu_barrier_noop,
	.drain = emu_barrier_noop,
	.ticks = emu_read_ticks,
	.records = emu_count_records,
	.tick_hz = NSEC_PER_SEC,
	.has_context = true,
};

/* ---- Module ------------------------------------------------------------------- */

static u32 emu_buffer_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	/* The address comes from PMBPTR, which speprof.ko has written. */
	memcpy((void *)(uintptr_t)addr, data, len);
	return 0;
}

static int emu_cpu_init(struct speprof_emu_cpu *cpu, unsigned int number, enum spe_profile program,
			u64 choice_bits)
{
	struct spe_spu_io io = { .write = emu_buffer_write };
	struct spe_spu_config config;
	const char *reason = NULL;
	int ret;

	spe_spu_config_default(&config);
	config.align = (u8)align;
	config.max_size = (u8)max_size;
	config.choices = choice_bits;
	config.features |= features;
	if (pmsver)
		config.pmsver = (u8)pmsver;
	config.seed = ((u64)seed << 32) + number;
	ret = spe_spu_init(&cpu->spu, &config, &io, &reason);
	if (ret) {
		pr_err("align=%u max_size=%u pmsver=%u features=%#llx: no such SPU: %s\n", align,
		       max_size, pmsver, features, reason);
		return ret;
	}
	spe_opmodel_init(&cpu->model, config.seed);
	spe_inject_init(&cpu->inject, config.seed);
	cpu->number = number;
	cpu->profile = program;
	cpu->ops_per_us = ops_per_us;
	cpu->ticks = emu_read_ticks;
	cpu->interrupt = speprof_handle_interrupt;
	speprof_emu_source_init(cpu);
	return 0;
}

static int emu_check_parameters(enum spe_profile *ret_profile)
{
	if (!ops_per_us || ops_per_us > 100000) {
		pr_err("ops_per_us=%u: must be 1 to 100000\n", ops_per_us);
		return -EINVAL;
	}
	if (align > 11 || max_size > 11) {
		pr_err("align=%u max_size=%u: must be 0 to 11\n", align, max_size);
		return -EINVAL;
	}
	if (pmsver > 6) {
		pr_err("pmsver=%u: must be 0 to 6\n", pmsver);
		return -EINVAL;
	}
	if (spe_profile_from_name(profile, ret_profile)) {
		pr_err("profile=%s: must be mixed, pointer_chase, stream, branchy or shared_line\n", profile);
		return -EINVAL;
	}
	return 0;
}

/*
 * Convert the module parameter `choices`, names separated by commas, to SPE_CHOICE_* bits.
 * Return: 0, or -EINVAL if a name is unknown.
 */
static int emu_parse_choices(u64 *ret_bits)
{
	char *list = kstrdup(choices, GFP_KERNEL), *rest = list, *name;
	int bit = 0;

	if (!list)
		return -ENOMEM;
	*ret_bits = 0;
	while ((name = strsep(&rest, ","))) {
		if (!*name)
			continue;
		bit = spe_impdef_find(name);
		if (bit < 0) {
			pr_err("choices=%s: there is no choice \"%s\": must be a name from Documentation/reference/spu-choices.md\n",
			       choices, name);
			break;
		}
		*ret_bits |= SPE_BIT(bit);
	}
	kfree(list);
	return bit < 0 ? -EINVAL : 0;
}

static int __init emu_init(void)
{
	struct speprof_emu_cpu __percpu *cpus;
	enum spe_profile program;
	u64 choice_bits = 0;
	unsigned int cpu;
	int ret;

	ret = emu_check_parameters(&program);
	if (!ret)
		ret = emu_parse_choices(&choice_bits);
	if (ret)
		return ret;
	cpus = alloc_percpu(struct speprof_emu_cpu);
	if (!cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		ret = emu_cpu_init(per_cpu_ptr(cpus, cpu), cpu, program, choice_bits);
		if (ret)
			goto no_cpus;
	}
	emu_cpus = cpus;
	emu_backend.interval_min = (u64)EMU_TICK_MIN_US * ops_per_us;
	ret = speprof_backend_register(&emu_backend);
	if (ret) {
		pr_err("cannot register the emulated SPU with speprof: error %d (%s)\n", ret,
		       ret == -EBUSY ? "another backend is in use" : "CPU hotplug");
		goto no_cpus;
	}
	speprof_emu_debugfs_init(cpus);
	return 0;

no_cpus:
	free_percpu(cpus);
	return ret;
}

static void __exit emu_exit(void)
{
	unsigned int cpu;

	speprof_emu_debugfs_deinit();
	speprof_backend_unregister(&emu_backend);
	for_each_possible_cpu(cpu)
		speprof_emu_source_deinit(per_cpu_ptr(emu_cpus, cpu));
	free_percpu(emu_cpus);
}

module_init(emu_init);
module_exit(emu_exit);

MODULE_DESCRIPTION("Emulated Statistical Profiling Unit: PC, TID and time are real, the rest is modelled");
MODULE_AUTHOR("The speprof project");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_IMPORT_NS(SPE_NAMESPACE(SPEPROF));
