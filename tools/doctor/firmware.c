// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the firmware's description of the SPU: a devicetree node, or a field of ACPI's MADT. */
#include <dirent.h>
#include <glob.h>
#include <stdio.h>

#include "doctor.h"

#define SPU_COMPATIBLE	"arm,statistical-profiling-extension-v1"
#define DEVICETREE_BASE "/sys/firmware/devicetree/base"

/* Return whether "compatible", a list of NUL-terminated strings, names an SPU. */
static bool node_is_spu(const struct examined_machine *machine, const char *node)
{
	char path[PATH_MAX], list[1024];
	size_t size, pos;
	FILE *file;

	machine_join_path(machine, path, DEVICETREE_BASE "/%s/compatible", node);
	file = fopen(path, "re");
	if (!file)
		return false;
	size = fread(list, 1, sizeof(list) - 1, file);
	fclose(file);
	list[size] = 0;
	for (pos = 0; pos < size; pos += strlen(list + pos) + 1)
		if (strcmp(list + pos, SPU_COMPATIBLE) == 0)
			return true;
	return false;
}

/* Search up to @depth levels below @parent. The node is in the root or in a bus node. */
static bool node_search(const struct examined_machine *machine, const char *parent, int depth,
			char *ret, size_t size)
{
	char path[PATH_MAX], node[512];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	machine_join_path(machine, path, DEVICETREE_BASE "/%s", parent);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		if (snprintf(node, sizeof(node), "%s%s%s", parent, *parent ? "/" : "",
			     entry->d_name) >= (int)sizeof(node))
			continue;
		if (node_is_spu(machine, node)) {
			snprintf(ret, size, "%s", node);
			found = true;
		} else if (depth > 1) {
			found = node_search(machine, node, depth - 1, ret, size);
		}
	}
	closedir(dir);
	return found;
}

bool firmware_find_node(const struct examined_machine *machine, char *ret, size_t size)
{
	return node_search(machine, "", 2, ret, size);
}

bool firmware_node_has_interrupt(const struct examined_machine *machine, const char *node)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICETREE_BASE "/%.500s/interrupts", node);
	if (machine_has_path(machine, path))
		return true;
	snprintf(path, sizeof(path), DEVICETREE_BASE "/%.500s/interrupts-extended", node);
	return machine_has_path(machine, path);
}

bool device_is_spu(const struct examined_machine *machine, const char *device)
{
	char path[PATH_MAX], alias[256];

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/%s/modalias", device);
	if (machine_read_line(machine, path, alias, sizeof(alias)) < 0)
		return false;
	/*
	 * The first alias belongs to a devicetree node, the second to a device that the kernel
	 * creates for ACPI.
	 */
	return strstr(alias, "C" SPU_COMPATIBLE) || strcmp(alias, "platform:arm,spe-v1") == 0;
}

bool firmware_has_device(const struct examined_machine *machine)
{
	char pattern[PATH_MAX];
	bool found = false;
	glob_t devices;

	machine_join_path(machine, pattern, "/sys/bus/platform/devices/*");
	if (glob(pattern, GLOB_NOSORT, NULL, &devices) == 0)
		for (size_t i = 0; i < devices.gl_pathc && !found; i++)
			found = device_is_spu(machine, strrchr(devices.gl_pathv[i], '/') + 1);
	globfree(&devices);
	return found;
}

/* ACPI 6.3, 5.2.12.14: the GIC CPU Interface structure of the MADT. */
#define MADT_ENTRIES	44
#define GICC_TYPE	0x0b
#define GICC_SPE_OFFSET 78

enum firmware_madt firmware_read_madt(const struct examined_machine *machine, u32 *ret_interrupt)
{
	char path[PATH_MAX];
	u8 table[65536];
	size_t size, pos;
	FILE *file;

	machine_join_path(machine, path, "/sys/firmware/acpi/tables/APIC");
	file = fopen(path, "re");
	if (!file)
		return errno == EACCES ? FIRMWARE_MADT_HIDDEN : FIRMWARE_NO_MADT;
	size = fread(table, 1, sizeof(table), file);
	fclose(file);
	for (pos = MADT_ENTRIES; pos < size && size - pos >= 2; pos += table[pos + 1]) {
		u8 len = table[pos + 1];

		if (len < 2 || len > size - pos)
			break;
		if (table[pos] != GICC_TYPE || len < GICC_SPE_OFFSET + 2)
			continue;
		*ret_interrupt = spe_get_le16(table + pos + GICC_SPE_OFFSET);
		if (*ret_interrupt)
			return FIRMWARE_MADT_SPE;
	}
	return FIRMWARE_MADT_WITHOUT;
}
