// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create the device that arm64 kernels make from the MADT's SPE interrupts, with the same name, the
 * interrupt as a resource, and no firmware node. QEMU's MADT has no SPE interrupt, so a device tree
 * node without a driver provides it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ioport.h>
#include <linux/of.h>
#include <linux/of_irq.h>
#include <linux/platform_device.h>

#include "trap.h"

static struct platform_device *acpi_device;

int trap_acpi_init(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, TRAP_ACPI_NODE);
	struct resource interrupt = { .flags = IORESOURCE_IRQ };

	if (!node)
		return 0;
	interrupt.start = interrupt.end = irq_of_parse_and_map(node, 0);
	of_node_put(node);
	acpi_device = platform_device_register_simple("arm,spe-v1", PLATFORM_DEVID_NONE,
						      &interrupt, 1);
	return PTR_ERR_OR_ZERO(acpi_device);
}

void trap_acpi_exit(void)
{
	platform_device_unregister(acpi_device);
}
