// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check at reboot and kexec, after all devices were shut down, that no SPU runs: it would write to
 * memory of the next kernel.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>

#include "trap.h"

void trap_check_after_shutdown(void)
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
