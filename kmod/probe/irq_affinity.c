// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for platform_get_irq_affinity(), which returns the CPUs of a private interrupt; on older
 * kernels each set of CPUs has an interrupt number of its own.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/platform_device.h>

int probe(struct platform_device *device, irq_handler_t handler, struct cpumask *cpus,
	  void __percpu *cookie);
int probe(struct platform_device *device, irq_handler_t handler, struct cpumask *cpus,
	  void __percpu *cookie)
{
#if NEW
	const struct cpumask *affinity;

	return request_percpu_irq_affinity(platform_get_irq_affinity(device, 0, &affinity), handler,
					   "probe", cpus, cookie);
#else
	return irq_get_percpu_devid_partition(1, cpus) ?:
		       request_percpu_irq(1, handler, "probe", cookie);
#endif
}
