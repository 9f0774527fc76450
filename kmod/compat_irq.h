/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between supported kernels in interrupts that are private to each CPU */
#ifndef SPEPROF_COMPAT_IRQ_H
#define SPEPROF_COMPAT_IRQ_H

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/platform_device.h>

#include "speprof-probes.h"

/*
 * Get the interrupt of @pdev, which must be private to each CPU, and the CPUs that it serves.
 * Return: its number; -EINVAL if it is not private to each CPU; another negative errno if the
 * device has none.
 */
static inline int compat_get_percpu_irq(struct platform_device *pdev, struct cpumask *ret_cpus)
{
#if SPEPROF_HAVE_IRQ_AFFINITY
	const struct cpumask *cpus = NULL;
	int irq = platform_get_irq_affinity(pdev, 0, &cpus);

	if (irq >= 0 && (!cpus || !irq_is_percpu(irq)))
		return -EINVAL;
	if (irq >= 0)
		cpumask_copy(ret_cpus, cpus);
	return irq;
#else
	int irq = platform_get_irq_optional(pdev, 0);

	if (irq >= 0 && (!irq_is_percpu(irq) || irq_get_percpu_devid_partition(irq, ret_cpus)))
		return -EINVAL;
	return irq;
#endif
}

/*
 * Request @irq on @cpus, which must stay valid until free_percpu_irq(). If several devices share an
 * interrupt number, each needs a @cookie of its own.
 */
static inline int compat_request_percpu_irq(int irq, irq_handler_t handler,
					    const struct cpumask *cpus, void __percpu *cookie)
{
#if SPEPROF_HAVE_IRQ_AFFINITY
	return request_percpu_irq_affinity(irq, handler, KBUILD_MODNAME, cpus, cookie);
#else
	return request_percpu_irq(irq, handler, KBUILD_MODNAME, cookie);
#endif
}

#endif
