// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulate ID_AA64DFR0_EL1.PMSVer. The register exists on every CPU, so reading it does not trap:
 * each such instruction in the drivers' modules gets a kprobe that adds PMSVer to the value.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <asm/sysreg.h>

#include "trap-compat.h"
#include "trap.h"

#define MRS_ID_AA64DFR0 0xd5380500U
#define PMSVER_SHIFT 32
#define PROBES 16

static const char *const drivers[] = { "speprof", "arm_spe_pmu" };

static struct kprobe probes[PROBES];
static const struct module *probed_module[PROBES];
static DEFINE_MUTEX(probes_lock);

static int emulate_pmsver_read(struct kprobe *probe, struct pt_regs *regs)
{
	const struct trap_cpu *cpu = this_cpu_ptr(&trap_cpus);
	unsigned int rt = probe->opcode & 31;
	u64 value = read_sysreg_s(sys_reg(3, 0, 0, 5, 0)) & ~(0xfULL << PMSVER_SHIFT);

	if (!cpu->hidden)
		value |= spe_spu_read(&cpu->emu.spu, SPE_REG_PMSVER) << PMSVER_SHIFT;
	if (rt != 31)
		regs->regs[rt] = value;
	instruction_pointer_set(regs, instruction_pointer(regs) + 4);
	/* The instruction was emulated, so the kernel must not execute it. */
	return 1;
}
NOKPROBE_SYMBOL(emulate_pmsver_read);

static void add_probe(const struct module *module, u32 *at)
{
	unsigned int i;

	for (i = 0; i < PROBES && probed_module[i]; i++)
		;
	if (i == PROBES) {
		pr_err("%s: more than %u reads of ID_AA64DFR0_EL1\n", module->name, PROBES);
		return;
	}
	probes[i] = (struct kprobe){ .addr = (kprobe_opcode_t *)at,
				     .pre_handler = emulate_pmsver_read };
	if (register_kprobe(&probes[i]))
		pr_err("%s: no probe on its read of ID_AA64DFR0_EL1\n", module->name);
	else
		probed_module[i] = module;
}

static void scan_for_pmsver_reads(const struct module *module, void *base, unsigned int size)
{
	u32 *end = base + size, *at;

	for (at = base; at < end; at++)
		if ((le32_to_cpu(*(__force __le32 *)at) & ~31U) == MRS_ID_AA64DFR0)
			add_probe(module, at);
}

static void remove_probes(const struct module *module)
{
	unsigned int i;

	for (i = 0; i < PROBES; i++) {
		if (!probed_module[i] || (module && probed_module[i] != module))
			continue;
		unregister_kprobe(&probes[i]);
		probed_module[i] = NULL;
	}
}

static bool is_driver(const struct module *module)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(module->name, drivers[i]))
			return true;
	return false;
}

static int handle_module_change(struct notifier_block *block, unsigned long state, void *data)
{
	struct module *module = data;

	if (!is_driver(module))
		return NOTIFY_DONE;
	mutex_lock(&probes_lock);
	if (state == MODULE_STATE_COMING) {
		compat_scan_module(module, scan_for_pmsver_reads);
	} else if (state == MODULE_STATE_GOING) {
		remove_probes(module);
	}
	mutex_unlock(&probes_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_block = { .notifier_call = handle_module_change };

int trap_pmsver_init(void)
{
	return register_module_notifier(&module_block);
}

void trap_pmsver_exit(void)
{
	unregister_module_notifier(&module_block);
	remove_probes(NULL);
}
