// SPDX-License-Identifier: GPL-2.0-only
/* CPU hotplug, interrupts and devices of the stand-in kernel */
#include <stdarg.h>
#include <stdio.h>

#include "devices.h"

bool stand_in_at_el2;
struct stand_in_irq stand_in_irqs[STAND_IN_IRQS];
struct platform_driver *stand_in_driver;
struct notifier_block *stand_in_cpu_pm;
struct notifier_block *stand_in_pm;
struct kprobe *stand_in_kprobe;

char stand_in_printed[256];

static stand_in_hotplug_fn hotplug_up, hotplug_down;

/* ---- CPUs -------------------------------------------------------------------------- */

static void call_on_cpu(unsigned int cpu, stand_in_hotplug_fn fn)
{
	unsigned int here = stand_in_cpu;

	stand_in_cpu = cpu;
	if (fn)
		fn(cpu);
	stand_in_cpu = here;
}

int cpuhp_setup_state(int state, const char *name, stand_in_hotplug_fn up,
		      stand_in_hotplug_fn down)
{
	unsigned int cpu;

	WARN_ON(hotplug_up);
	hotplug_up = up;
	hotplug_down = down;
	for_each_online_cpu(cpu)
		call_on_cpu(cpu, up);
	return state;
}

void cpuhp_remove_state(int state)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		call_on_cpu(cpu, hotplug_down);
	hotplug_up = hotplug_down = NULL;
}

void stand_in_cpu_up(unsigned int cpu)
{
	stand_in_online |= BIT(cpu);
	call_on_cpu(cpu, hotplug_up);
}

void stand_in_cpu_down(unsigned int cpu)
{
	call_on_cpu(cpu, hotplug_down);
	stand_in_online &= ~BIT(cpu);
}

void on_each_cpu_mask(const struct cpumask *mask, smp_call_func_t fn, void *arg, bool wait)
{
	unsigned int cpu;

	for_each_cpu(cpu, mask)
		smp_call_function_single(cpu, fn, arg, wait);
}

/* ---- Interrupts --------------------------------------------------------------------- */

int platform_get_irq_optional(struct platform_device *pdev, unsigned int index)
{
	return pdev->irq;
}

int platform_get_irq_affinity(struct platform_device *pdev, unsigned int index,
			      const struct cpumask **ret_cpus)
{
	if (pdev->irq >= 0)
		*ret_cpus = &stand_in_irqs[pdev->irq].cpus;
	return pdev->irq;
}

int request_percpu_irq_affinity(unsigned int irq, irq_handler_t handler, const char *name,
				const struct cpumask *cpus, void *dev)
{
	if (stand_in_irqs[irq].handler)
		return -EBUSY;
	WARN_ON(!dev || !cpumask_equal(cpus, &stand_in_irqs[irq].cpus));
	stand_in_irqs[irq].handler = handler;
	stand_in_irqs[irq].cookie = dev;
	return 0;
}

void free_percpu_irq(unsigned int irq, void *dev)
{
	WARN_ON(stand_in_irqs[irq].enabled || stand_in_irqs[irq].cookie != dev);
	stand_in_irqs[irq].handler = NULL;
}

void enable_percpu_irq(unsigned int irq, unsigned int type)
{
	WARN_ON(!stand_in_irqs[irq].handler);
	stand_in_irqs[irq].enabled |= BIT(stand_in_cpu);
}

void disable_percpu_irq(unsigned int irq)
{
	WARN_ON(!(stand_in_irqs[irq].enabled & BIT(stand_in_cpu)));
	stand_in_irqs[irq].enabled &= ~BIT(stand_in_cpu);
}

void stand_in_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(stand_in_printed, sizeof(stand_in_printed), format, args);
	va_end(args);
}

/* ---- Devices ------------------------------------------------------------------------- */

void stand_in_device_remove(struct platform_device *pdev)
{
	if (pdev->dev.action)
		pdev->dev.action(pdev->dev.action_data);
	free(pdev->dev.memory);
	pdev->dev = (struct device){ 0 };
}
