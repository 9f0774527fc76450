/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages by physical address, and the nodes they are on: of loads and stores that their first
 * level cache did not serve.
 */
#ifndef SPEPROF_HOT_PAGES_H
#define SPEPROF_HOT_PAGES_H

#include "numa-nodes.h"
#include "topk.h"

/* Whatever pages the kernel has: those of 64 KiB are several. */
#define PAGE_SHIFT 12

/**
 * struct page_sample
 * @address: physical
 * @owner, @place: of the instruction, as in struct location
 * @cpu, @latency, @store: as in struct line_sample
 * @dram: no cache served it, as far as is known
 * @remote: another chip was accessed
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
 * struct hot_page
 * @head: key: frame, 0
 * @from_other_node: of @samples, from a CPU of another node
 * @owner, @place: who uses it most, probably, by vote
 * @votes: for them and not for others
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

/** struct node_traffic - from CPUs of a node to memory of a node */
struct node_traffic {
	u64 samples;
	u64 dram;
	u64 latency_sum;
};

/**
 * struct pages
 * @nodes: borrowed; NULL if unknown
 * @traffic: by node of the CPU and node of the memory, the last ones for unknown
 */
struct pages {
	struct topk_table table;
	const struct nodes *nodes;
	struct node_traffic (*traffic)[NODES_MAX + 1];
};

/** pages_init() - 0 or -ENOMEM; @nodes outlives it, or is NULL */
int pages_init(struct pages *pages, u32 capacity, const struct nodes *nodes);
void pages_deinit(struct pages *pages);
void pages_clear(struct pages *pages);
void pages_add(struct pages *pages, const struct page_sample *sample);

/** pages_node() - of an address or frame's page; NODE_NONE if unknown */
u8 pages_node(const struct pages *pages, const struct hot_page *page);

#endif
