/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NUMA nodes: whose a CPU is, and whose a physical address, as sysfs says. */
#ifndef SPEPROF_NUMA_NODES_H
#define SPEPROF_NUMA_NODES_H

#include "codec/env.h"

#define NODES_MAX 64
#define NODE_NONE UINT8_MAX

/** struct node_range - physical addresses from @start to @end - 1 */
struct node_range {
	u64 start;
	u64 end;
	u8 node;
};

/**
 * struct nodes
 * @ranges: by address, neighbours of one node joined
 * @cpu_node: by CPU, NODE_NONE where that is not known
 */
struct nodes {
	struct node_range *ranges;
	u32 count;
	u8 *cpu_node;
	u32 cpus;
};

/**
 * nodes_read() - the nodes of this machine
 * @sys: "/sys", or a fixture
 *
 * Nodes from NODES_MAX on, and memory of a kernel without blocks (no
 * CONFIG_MEMORY_HOTPLUG), stay unknown.
 *
 * Return: 0, even if nothing is known; -ENOMEM.
 */
int nodes_read(const char *sys, struct nodes *ret_nodes);

/** nodes_deinit() - also of one that is all zeros */
void nodes_deinit(struct nodes *nodes);

u8 nodes_of_address(const struct nodes *nodes, u64 physical);
u8 nodes_of_cpu(const struct nodes *nodes, u32 cpu);

#endif
