// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory-access-names.h"

#include <inttypes.h>
#include <stdio.h>

#include "profile/location-key.h"

const struct attribute_process *memory_access_find_process(const struct memory_access_names *names,
							   u64 owner)
{
	const struct attribute_process *process =
		attributor_get_process(names->attributor, (u32)(owner >> 32));

	return process && process->generation == (u32)owner ? process : NULL;
}

const char *memory_access_get_container(const struct memory_access_names *names,
					const struct attribute_process *process)
{
	const struct attribute_container *c = NULL;

	if (process && process->container)
		c = attributor_get_container(names->attributor, process->container);
	return c && *c->name ? c->name : "-";
}

const char *memory_access_get_process(const struct attribute_process *process)
{
	return process ? process->comm : "[unattributed]";
}

bool memory_access_get_function(const struct memory_access_names *names, u64 place, u64 owner,
				char name[static MEMORY_ACCESS_FUNCTION_SIZE],
				struct attribute_location *ret_where)
{
	const struct attribute_process *process = memory_access_find_process(names, owner);
	u32 index = process ? (u32)(owner >> 32) : ATTRIBUTE_NONE;

	if (attributor_locate_pc(names->attributor, index, location_key_get_pc(place),
				 location_key_is_kernel(place), ret_where))
		return symbols_get_function(names->symbols, process ? process->pid : 0, ret_where,
					    names->live, name, MEMORY_ACCESS_FUNCTION_SIZE);
	snprintf(name, MEMORY_ACCESS_FUNCTION_SIZE, "0x%" PRIx64, location_key_get_pc(place));
	*ret_where = (struct attribute_location){ .binary = "" };
	return false;
}
