/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sampled pages of each container as sets: hot and cold pages, misplaced pages, and candidates
 * for huge pages, as JSON (Documentation/reference/json.md).
 */
#ifndef SPEPROF_PAGE_SETS_H
#define SPEPROF_PAGE_SETS_H

#include <json-c/json.h>

#include "attribution/attributor.h"
#include "sampled-pages.h"

/*
 * The hot set of a container is the fewest pages with this percentage of its accesses, and the cold
 * set the most pages that have at most this percentage together.
 */
#define PAGE_SET_HOT_PERCENT  80
#define PAGE_SET_COLD_PERCENT 1

/* log2 of the size of a huge page: 2 MiB, of a kernel with pages of 4 KiB. */
#define HUGE_PAGE_SHIFT 21

/**
 * struct owned_page - a page of a process
 * @page: virtual address of the page, shifted by HOT_PAGE_SHIFT
 * @process, @generation: as in &struct sampled_page_key
 * @container: index of the container in the attributor; 0: none
 * @node: NUMA node of most accesses with a known one; NODE_NONE: unknown
 * @to_node: node of the CPUs with most remote accesses, if @misplaced; NODE_NONE: unknown
 * @misplaced: more than half of &page_counts.missed are remote accesses by the CPUs of one node
 * @hot, @cold: the page is in this set of its container
 * @remote_cycles: sum of the total latencies of the remote samples by these CPUs, if @misplaced
 * @counts: sums of all nodes
 */
struct owned_page {
	u64 page;
	u32 process;
	u32 generation;
	u32 container;
	u8 node;
	u8 to_node;
	bool misplaced;
	bool hot;
	bool cold;
	u64 remote_cycles;
	struct page_counts counts;
};

/**
 * struct page_sets - the pages of all processes
 * @page: @count pages, sorted by container, process and address
 * @attributor: has the names of processes and containers
 */
struct page_sets {
	struct owned_page *page;
	u32 count;
	const struct attributor *attributor;
};

/**
 * page_sets_make() - divide the pages of a recording into sets
 * @pages: a table after sampled_pages_finish()
 * @attributor: the attributor of the recording, which must outlive the sets
 * @ret_sets: the sets; free them with page_sets_deinit()
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int page_sets_make(const struct sampled_pages *pages, const struct attributor *attributor,
		   struct page_sets *ret_sets);

/** page_sets_get_process() - return the process of a page; NULL: unknown */
const struct attribute_process *page_sets_get_process(const struct page_sets *sets,
						      const struct owned_page *page);

/**
 * page_sets_add_json() - add the containers with their sets to an object
 * @sets: the sets
 * @pages: the table from which they were made; its numbers of samples without a page are added, too
 * @limit: maximum number of ranges or pages of each set, the heaviest; 0: all
 * @root: the object
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int page_sets_add_json(const struct page_sets *sets, const struct sampled_pages *pages, u32 limit,
		       json_object *root);

/** page_sets_deinit() - free the memory */
void page_sets_deinit(struct page_sets *sets);

#endif
