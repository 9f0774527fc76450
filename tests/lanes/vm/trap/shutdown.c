// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check at reboot and kexec, after all devices were shut down, that no SPU runs: it would write to
 * memory of the next kernel.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>
#include <linux/syscore_ops.h>

#include "speprof-probes.h"
#include "trap.h"

static void shutdown_check(void)
{
	unsigned int number;

	for_each_possible_cpu(number) {
		const struct trap_cpu *cpu = per_cpu_ptr(&trap_cpus, number);

		if (spe_spu_read(&cpu->emu.spu, SPE_REG_PMBLIMITR) & SPE_PMBLIMITR_E ||
		    spe_spu_read(&cpu->emu.spu, SPE_REG_PMSCR) &
			    (SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE))
			pr_emerg("BUG: the SPU of CPU %u outlives the kernel\n", number);
		else
			pr_emerg("CPU %u: the SPU is silent at the end\n", number);
	}
}

#if SPEPROF_HAVE_SYSCORE

static void shutdown_called(void *unused)
{
	shutdown_check();
}

static const struct syscore_ops shutdown_ops = { .shutdown = shutdown_called };
static struct syscore shutdown_syscore = { .ops = &shutdown_ops };

void trap_shutdown_init(void)
{
	register_syscore(&shutdown_syscore);
}

void trap_shutdown_exit(void)
{
	unregister_syscore(&shutdown_syscore);
}

#else

static struct syscore_ops shutdown_ops = { .shutdown = shutdown_check };

void trap_shutdown_init(void)
{
	register_syscore_ops(&shutdown_ops);
}

void trap_shutdown_exit(void)
{
	unregister_syscore_ops(&shutdown_ops);
}

#endif
