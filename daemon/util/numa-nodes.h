/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The NUMA nodes of the machine: the CPUs and physical addresses of each node, read from sysfs. */
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
 * struct numa_nodes - the nodes of the machine
 * @ranges: memory ranges by address; adjacent ranges of one node are joined
 * @count: number of @ranges
 * @cpu_node: node of each CPU, indexed by CPU number; NODE_NONE if unknown
 * @cpus: number of entries of @cpu_node
 */
struct numa_nodes {
	struct node_range *ranges;
	u32 count;
	u8 *cpu_node;
	u32 cpus;
};

/**
 * numa_nodes_read() - read the nodes of this machine
 * @sys: mount point of sysfs: "/sys", or a test's directory
 * @ret_nodes: the nodes; call numa_nodes_deinit() when done
 *
 * Nodes numbered NODES_MAX or higher stay unknown. Memory also stays unknown if the kernel does not
 * list memory blocks (without CONFIG_MEMORY_HOTPLUG).
 *
 * Return: 0, even if no node was found; -ENOMEM if memory cannot be allocated.
 */
int numa_nodes_read(const char *sys, struct numa_nodes *ret_nodes);

/** numa_nodes_deinit() - free the memory; @nodes may be all zeros */
void numa_nodes_deinit(struct numa_nodes *nodes);

/** numa_nodes_find_by_address() - return the node of a physical address, NODE_NONE if unknown */
u8 numa_nodes_find_by_address(const struct numa_nodes *nodes, u64 physical);

/** numa_nodes_find_by_cpu() - return the node of a CPU, NODE_NONE if unknown */
u8 numa_nodes_find_by_cpu(const struct numa_nodes *nodes, u32 cpu);

#endif
