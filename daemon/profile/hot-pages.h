/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of pages by physical address, and the traffic between NUMA nodes. Only loads and stores
 * are counted that the first level cache did not serve.
 */
#ifndef SPEPROF_HOT_PAGES_H
#define SPEPROF_HOT_PAGES_H

#include "util/numa-nodes.h"
#include "topk.h"

/*
 * An entry covers 4 KiB, independent of the page size of the kernel: a page of 64 KiB has several
 * entries.
 */
#define HOT_PAGE_SHIFT 12

/**
 * struct page_sample - a load or store with a physical address
 * @address: physical address of the data
 * @owner, @place: location of the instruction: location_owner_make() and location_make_pc_key()
 * @cpu, @latency, @store: as in struct line_sample
 * @dram: DRAM served the access, as far as is known
 * @remote: the access went to another chip
 */
struct page_sample {
	u64 address;
	u64 owner;
	u64 place;
	u32 cpu;
	u16 latency;
	bool store;
	bool dram;
	bool remote;
};

/**
 * struct hot_page - the counters of one page
 * @head: the key: page frame number and 0
 * @samples, @stores: number of loads and stores, and number of stores among them
 * @dram: accesses that no cache served
 * @remote: accesses to another chip
 * @from_other_node: accesses from a CPU of another node
 * @latency_sum: sum of total latencies, cycles
 * @owner, @place: location that probably has most samples of the page, by majority vote
 * @votes: votes for this location minus the votes for other locations, since it became the
 *	candidate
 */
struct hot_page {
	struct topk_entry head;
	u64 samples;
	u64 stores;
	u64 dram;
	u64 remote;
	u64 from_other_node;
	u64 latency_sum;
	u64 owner;
	u64 place;
	u64 votes;
};

/** struct node_traffic - accesses from the CPUs of one node to the memory of one node */
struct node_traffic {
	u64 samples;
	u64 dram;
	u64 latency_sum;
};

/**
 * struct hot_pages - the table of hot pages
 * @table: the table; its entries are &struct hot_page
 * @nodes: the machine's nodes, borrowed; NULL if unknown
 * @traffic: indexed by node of the CPU and node of the memory; the last index is for unknown nodes
 */
struct hot_pages {
	struct topk_table table;
	const struct numa_nodes *nodes;
	struct node_traffic (*traffic)[NODES_MAX + 1];
};

/**
 * hot_pages_init() - allocate an empty table
 * @capacity: number of pages, rounded up to a power of two
 * @nodes: the machine's nodes, which must outlive @pages; NULL if unknown
 *
 * Return: 0 or -ENOMEM.
 */
int hot_pages_init(struct hot_pages *pages, u32 capacity, const struct numa_nodes *nodes);

/** hot_pages_deinit() - free the table's memory; @pages may be all zeros */
void hot_pages_deinit(struct hot_pages *pages);

/** hot_pages_clear() - remove all pages and traffic and keep the memory */
void hot_pages_clear(struct hot_pages *pages);

/**
 * hot_pages_add() - count a sample
 *
 * Context: the caller holds &profile_shared_data.lock.
 */
void hot_pages_add(struct hot_pages *pages, const struct page_sample *sample);

/** hot_pages_find_node() - return the node of @page, NODE_NONE if unknown */
u8 hot_pages_find_node(const struct hot_pages *pages, const struct hot_page *page);

#endif
