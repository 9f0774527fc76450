// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recognize virtual machines and clouds by the fields of SMBIOS in /sys/class/dmi/id. */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define DMI "/sys/class/dmi/id/"

/*
 * Vendors of virtual machines. @metal: the vendor's bare-metal machines have the same name,
 * so the product name or SMBIOS has to distinguish them from virtual ones. Clouds come before the
 * hypervisor that they use.
 */
static const struct {
	const char *field;
	const char *text;
	const char *name;
	bool metal;
} vendors[] = {
	{ "chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "Azure", false },
	{ "product_name", "vServer", "Hetzner Cloud", false },
	{ "sys_vendor", "Amazon EC2", "Amazon EC2", true },
	{ "bios_vendor", "Amazon EC2", "Amazon EC2", true },
	{ "board_vendor", "Amazon EC2", "Amazon EC2", true },
	{ "product_name", "Google Compute Engine", "Google Compute Engine", true },
	{ "product_name", "Alibaba Cloud ECS", "Alibaba Cloud", true },
	{ NULL, "KVM", "KVM", false },
	{ NULL, "QEMU", "QEMU", false },
	{ NULL, "VMware", "VMware", false },
	{ NULL, "Xen", "Xen", false },
	{ NULL, "Parallels", "Parallels", false },
	{ NULL, "OpenStack", "OpenStack", false },
	{ NULL, "Virtual Machine", "Hyper-V", false },
	{ NULL, "Apple Virtualization", "Apple", false },
};

/* The fields that are compared for an entry that names no field. */
static const char *const fields[] = { "product_name", "sys_vendor", "board_vendor", "bios_vendor" };

/* SMBIOS 3.2, 7.1.2.2: in the BIOS's table, bit 4 of this byte is set for virtual machines. */
#define BIOS_EXTENSION 0x13
#define BIOS_IS_VM     (1u << 4)

static bool dmi_field_contains(const struct examined_machine *machine, const char *field,
			       const char *text)
{
	char path[64], value[128];

	snprintf(path, sizeof(path), DMI "%s", field);
	return machine_read_line(machine, path, value, sizeof(value)) >= 0 && strstr(value, text);
}

/*
 * Return whether SMBIOS declares a virtual machine: 1 or 0; -ENOENT if its table cannot be read or
 * lacks the field. Only root may read the table.
 */
static int smbios_is_virtual(const struct examined_machine *machine)
{
	unsigned char table[BIOS_EXTENSION + 1];
	char path[PATH_MAX];
	size_t size;
	FILE *file;

	machine_join_path(machine, path, "/sys/firmware/dmi/entries/0-0/raw");
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	size = fread(table, 1, sizeof(table), file);
	fclose(file);
	if (size < sizeof(table) || table[1] <= BIOS_EXTENSION)
		return -ENOENT;
	return !!(table[BIOS_EXTENSION] & BIOS_IS_VM);
}

static bool is_metal(const struct examined_machine *machine)
{
	return dmi_field_contains(machine, "product_name", "metal") ||
	       smbios_is_virtual(machine) == 0;
}

bool cloud_is_guest(const struct examined_machine *machine, char *ret_name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++) {
		bool found = vendors[i].field &&
			     dmi_field_contains(machine, vendors[i].field, vendors[i].text);

		for (size_t k = 0; k < ARRAY_SIZE(fields) && !vendors[i].field; k++)
			found |= dmi_field_contains(machine, fields[k], vendors[i].text);
		if (!found)
			continue;
		snprintf(ret_name, size, "%s", vendors[i].name);
		return !vendors[i].metal || !is_metal(machine);
	}
	return false;
}

bool cloud_has_dmi(const struct examined_machine *machine)
{
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		snprintf(path, sizeof(path), DMI "%s", fields[i]);
		if (machine_has_path(machine, path))
			return true;
	}
	return false;
}

void cloud_write_advice(const struct examined_machine *machine, char *ret, size_t size)
{
	char type[64] = "";

	machine_read_line(machine, DMI "product_name", type, sizeof(type));
	type[strcspn(type, ".")] = 0;
	if (dmi_field_contains(machine, "sys_vendor", "Amazon EC2"))
		snprintf(ret, size, "use a metal type%s%.31s%s", *type ? " of this family (" : "",
			 type, *type ? ".metal*)" : "");
	else if (dmi_field_contains(machine, "product_name", "Google Compute Engine"))
		snprintf(ret, size, "use a metal type (c4a-*-metal)");
	else if (dmi_field_contains(machine, "chassis_asset_tag", "OracleCloud.com"))
		snprintf(ret, size, "use a bare-metal shape (BM.Standard.A1.*)");
	else
		snprintf(ret, size, "use bare metal, as few hypervisors provide SPE");
}
