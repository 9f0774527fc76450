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
 * Get the CPUs of @irq, which platform_get_irq_optional() returned for @pdev.
 * Return: 0; -EINVAL if the interrupt is not private to each CPU.
 */
static inline int compat_irq_get_cpus(struct platform_device *pdev, int irq,
				      struct cpumask *ret_cpus)
{
#if SPEPROF_HAVE_IRQ_AFFINITY
	const struct cpumask *cpus = NULL;

	if (!irq_is_percpu(irq) || platform_get_irq_affinity(pdev, 0, &cpus) != irq)
		return -EINVAL;
	cpumask_copy(ret_cpus, cpus);
	return 0;
#else
	if (!irq_is_percpu(irq) || irq_get_percpu_devid_partition(irq, ret_cpus))
		return -EINVAL;
	return 0;
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
