/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts about a container besides its name, for readers that follow it over several snapshots. */
#ifndef SPEPROF_CONTAINER_DETAILS_H
#define SPEPROF_CONTAINER_DETAILS_H

#include "attributor.h"
#include "pods.h"

/**
 * struct container_details - facts about one entry
 * @id: hash of its complete cgroup path: the same after a restart, and after a change of its
 *	name
 * @left_ns: time since its last process exited or moved; 0 if it has processes or that is
 *	unknown
 * @pod: its Kubernetes names if its own name is too short for them; else empty
 */
struct container_details {
	u64 id;
	u64 left_ns;
	const struct pods_names *pod;
};

/** container_details_get() - get the facts about @index, which attributor_container() must know */
void container_details_get(const struct attributor *attributor, u32 index,
			   struct container_details *ret_facts);

#endif
