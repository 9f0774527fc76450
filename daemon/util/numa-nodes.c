// SPDX-License-Identifier: LGPL-2.1-or-later
#include "numa-nodes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/array.h"

/* Maximum number of memory blocks of a machine; a block has 128 MiB to 2 GiB. */
#define RANGES_MAX (1U << 18)

static bool read_hex(const char *path, u64 *ret)
{
	FILE *f = fopen(path, "re");
	unsigned long long value;
	bool ok;

	if (!f)
		return false;
	ok = fscanf(f, "%llx", &value) == 1;
	fclose(f);
	if (ok)
		*ret = value;
	return ok;
}

/* Return the number after @prefix in a name such as "node12" or "memory3"; -1 for other names. */
static long parse_numbered_name(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	char *end;
	long value;

	if (strncmp(name, prefix, n) || name[n] < '0' || name[n] > '9')
		return -1;
	value = strtol(name + n, &end, 10);
	return *end ? -1 : value;
}

static int range_add(struct numa_nodes *nodes, u64 start, u64 size, u8 node)
{
	struct node_range *more;

	if (nodes->count == RANGES_MAX || size > UINT64_MAX - start)
		return 0;
	if (!(nodes->count & (nodes->count - 1))) {
		more = reallocarray(nodes->ranges, nodes->count ? 2 * (size_t)nodes->count : 1,
				    sizeof(*more));
		if (!more)
			return -ENOMEM;
		nodes->ranges = more;
	}
	nodes->ranges[nodes->count++] = (struct node_range){ start, start + size, node };
	return 0;
}

static int cpu_add(struct numa_nodes *nodes, u32 cpu, u8 node)
{
	u32 capacity = cpu < 256 ? 256 : 2 * cpu;
	u8 *more;

	if (cpu >= 1U << 16)
		return 0;
	if (cpu >= nodes->cpus) {
		more = realloc(nodes->cpu_node, capacity);
		if (!more)
			return -ENOMEM;
		memset(more + nodes->cpus, NODE_NONE, capacity - nodes->cpus);
		nodes->cpu_node = more;
		nodes->cpus = capacity;
	}
	nodes->cpu_node[cpu] = node;
	return 0;
}

/* Read the directory of a node. It contains links to the CPUs and memory blocks of the node. */
static int node_read(struct numa_nodes *nodes, const char *path, u64 block, u8 node)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int r = 0;

	while (dir && !r && (entry = readdir(dir))) {
		long cpu = parse_numbered_name(entry->d_name, "cpu");
		long memory = parse_numbered_name(entry->d_name, "memory");
		u64 index;
		char file[512];

		if (cpu >= 0)
			r = cpu_add(nodes, (u32)cpu, node);
		if (memory < 0 || !block)
			continue;
		/*
		 * The number of the block determines its address. The number is decimal in the name
		 * of the link, and hexadecimal in the file phys_index.
		 */
		index = (u64)memory;
		snprintf(file, sizeof(file), "%.400s/%.60s/phys_index", path, entry->d_name);
		(void)read_hex(file, &index);
		if (index <= UINT64_MAX / block)
			r = range_add(nodes, index * block, block, node);
	}
	if (dir)
		closedir(dir);
	return r;
}

static int ranges_compare(const void *a, const void *b)
{
	const struct node_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void ranges_join(struct numa_nodes *nodes)
{
	u32 kept = 0;

	if (!nodes->count)
		return;
	qsort(nodes->ranges, nodes->count, sizeof(*nodes->ranges), ranges_compare);
	for (u32 i = 1; i < nodes->count; i++) {
		struct node_range *last = &nodes->ranges[kept], *next = &nodes->ranges[i];

		if (last->node == next->node && last->end == next->start)
			last->end = next->end;
		else
			nodes->ranges[++kept] = *next;
	}
	nodes->count = kept + 1;
}

int numa_nodes_read(const char *sys, struct numa_nodes *ret_nodes)
{
	struct numa_nodes nodes = { 0 };
	struct dirent *entry;
	char path[384];
	u64 block = 0;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "%.200s/devices/system/memory/block_size_bytes", sys);
	(void)read_hex(path, &block);
	snprintf(path, sizeof(path), "%.200s/devices/system/node", sys);
	dir = opendir(path);
	while (dir && !r && (entry = readdir(dir))) {
		long node = parse_numbered_name(entry->d_name, "node");

		if (node < 0 || node >= NODES_MAX)
			continue;
		snprintf(path, sizeof(path), "%.200s/devices/system/node/%.60s", sys,
			 entry->d_name);
		r = node_read(&nodes, path, block, (u8)node);
	}
	if (dir)
		closedir(dir);
	if (r < 0) {
		numa_nodes_deinit(&nodes);
		return r;
	}
	ranges_join(&nodes);
	*ret_nodes = nodes;
	return 0;
}

void numa_nodes_deinit(struct numa_nodes *nodes)
{
	free(nodes->ranges);
	free(nodes->cpu_node);
	*nodes = (struct numa_nodes){ 0 };
}

u8 numa_nodes_find_by_address(const struct numa_nodes *nodes, u64 physical)
{
	u32 at = ARRAY_COUNT_LEADING(nodes->count, i, nodes->ranges[i].end <= physical);

	return at < nodes->count && nodes->ranges[at].start <= physical ? nodes->ranges[at].node :
									  NODE_NONE;
}

u8 numa_nodes_find_by_cpu(const struct numa_nodes *nodes, u32 cpu)
{
	return cpu < nodes->cpus ? nodes->cpu_node[cpu] : NODE_NONE;
}
