/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between supported kernels that concern only the trap. */
#ifndef SPEPROF_TRAP_COMPAT_H
#define SPEPROF_TRAP_COMPAT_H

#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/module.h>

#include "speprof-probes.h"

/*
 * Reduce @cpus to those with the interrupt @irq. Newer kernels use one number for the interrupts of
 * all partitions; there @cpus remains as it is. Return: 0, or a negative errno if @irq is not
 * private to each CPU.
 */
static inline int compat_trim_irq_cpus(unsigned int irq, struct cpumask *cpus)
{
#if SPEPROF_HAVE_IRQ_AFFINITY
	return 0;
#else
	return irq_get_percpu_devid_partition(irq, cpus);
#endif
}

/* Call @scan with the code of @module, then with its code for initialization. */
static inline void compat_scan_module(struct module *module,
				      void (*scan)(const struct module *module,
						   void *base, unsigned int size))
{
#if SPEPROF_HAVE_MODULE_MEM
	scan(module, module->mem[MOD_TEXT].base, module->mem[MOD_TEXT].size);
	scan(module, module->mem[MOD_INIT_TEXT].base, module->mem[MOD_INIT_TEXT].size);
#else
	scan(module, module->core_layout.base, module->core_layout.text_size);
	scan(module, module->init_layout.base, module->init_layout.text_size);
#endif
}

#endif
