/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the loads and stores of a recording by process and page of the data, by virtual address.
 * Unlike the table of hot pages of a profile, no page is evicted, so all counts are exact.
 *
 *	request.watch = sampled_pages_watch;
 *	request.ctx = &pages;
 *	input_load(&request, &input);
 *	sampled_pages_finish(&pages);
 *	...
 *	sampled_pages_deinit(&pages);
 */
#ifndef SPEPROF_SAMPLED_PAGES_H
#define SPEPROF_SAMPLED_PAGES_H

#include "profile/hot-pages.h"
#include "profile/profile.h"

/* Maximum number of entries, of 88 bytes and 8 bytes of the hash table: 192 MiB. */
#define SAMPLED_PAGES_MAX (1U << 21)

/**
 * struct sampled_page_key - what an entry counts; all bytes are compared
 * @page: virtual address of the page, shifted by HOT_PAGE_SHIFT
 * @process: index of the process in the attributor; ATTRIBUTE_NONE: unknown
 * @generation: generation of that process
 * @cpu_node, @memory_node: NUMA nodes of the CPUs and of the physical page; NODE_NONE: unknown
 * @reserved: 0
 */
struct sampled_page_key {
	u64 page;
	u32 process;
	u32 generation;
	u8 cpu_node;
	u8 memory_node;
	u8 reserved[6];
};

/**
 * struct page_counts - the sampled loads and stores of pages
 * @samples: number of samples
 * @accesses: estimated number of accesses: samples, weighted by their interval
 * @missed: those of @accesses that the first level cache did not serve, as far as is known
 * @remote: number of samples of @missed with memory of another node; see sampled_pages_add()
 * @remote_accesses: those of @missed with memory of another node
 * @latency_sum: sum of the total latencies of the samples, cycles
 * @translation_sum: sum of their translation latencies, cycles
 * @remote_latency_sum: sum of the total latencies of @remote, cycles
 */
struct page_counts {
	u64 samples;
	u64 accesses;
	u64 missed;
	u64 remote;
	u64 remote_accesses;
	u64 latency_sum;
	u64 translation_sum;
	u64 remote_latency_sum;
};

/** struct sampled_page - an entry with its counts */
struct sampled_page {
	struct sampled_page_key key;
	struct page_counts counts;
};

/**
 * struct sampled_pages - the pages of a recording; all zeros, but for @nodes and @max: none
 * @page: @count entries, with memory for @capacity; sorted after sampled_pages_finish()
 * @slot: hash table of indices of @page plus 1, @slots of them
 * @max: maximum number of entries
 * @nodes: the nodes of the recorded machine, borrowed; NULL: unknown
 * @kernel: samples of addresses of the kernel, which have no entry
 * @no_address: samples of loads and stores without an address, which have no entry
 * @dropped: samples that have no entry because the table was full
 * @error: negative errno if memory could not be allocated; else 0
 * @observer: receives the samples of a profile
 */
struct sampled_pages {
	struct sampled_page *page;
	u32 count;
	u32 capacity;
	u32 *slot;
	u32 slots;
	u32 max;
	const struct numa_nodes *nodes;
	u64 kernel;
	u64 no_address;
	u64 dropped;
	int error;
	struct profile_observer observer;
};

/**
 * sampled_pages_add() - count a sample
 * @pages: a table before sampled_pages_finish()
 * @sample: any sample; only loads and stores count
 *
 * An access is remote if the first level cache did not serve it, and if the nodes of its CPU and of
 * its physical address differ. If one of these nodes is unknown, the record decides: its data source
 * or event states that another chip served the access.
 */
void sampled_pages_add(struct sampled_pages *pages, const struct profile_sample *sample);

/**
 * sampled_pages_watch() - count the samples of a profile; &input_request.watch
 * @ctx: the table, &struct sampled_pages
 * @profile: the profile, of the only thread that counts
 *
 * Return: 0.
 */
int sampled_pages_watch(void *ctx, struct profile *profile);

/**
 * sampled_pages_finish() - stop counting, and sort the entries by process, page and nodes
 *
 * Return: 0; -ENOMEM if memory was short while counting.
 */
int sampled_pages_finish(struct sampled_pages *pages);

/** sampled_pages_deinit() - free the memory */
void sampled_pages_deinit(struct sampled_pages *pages);

#endif
