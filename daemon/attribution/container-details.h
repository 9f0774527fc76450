/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known of a container beside its name, for whoever follows it over snapshots. */
#ifndef SPEPROF_CONTAINER_DETAILS_H
#define SPEPROF_CONTAINER_DETAILS_H

#include "attributor.h"
#include "pods.h"

/**
 * struct container_details - of an entry of the table
 * @id: of its path, all of it, as the kernel has it: the same after a restart, whatever the
 *	container is called meanwhile
 * @left_ns: for how long no process has lived in it; 0: one does, or that cannot be known
 * @pod: as Kubernetes calls it, where its name has no room for that; else empty
 */
struct container_details {
	u64 id;
	u64 left_ns;
	const struct pods_names *pod;
};

/** container_details_get() - of the entry at @index, which attributor_container() has */
void container_details_get(const struct attributor *attributor, u32 index,
			   struct container_details *ret_facts);

#endif
