// SPDX-License-Identifier: LGPL-2.1-or-later
#include "hot-pages.h"

#include <errno.h>

#include "util/memory.h"

#define TRAFFIC_SIZE ((NODES_MAX + 1) * (NODES_MAX + 1) * sizeof(struct node_traffic))

int hot_pages_init(struct hot_pages *pages, u32 capacity, const struct numa_nodes *nodes)
{
	int r = topk_init(&pages->table, sizeof(struct hot_page), capacity);

	pages->nodes = nodes;
	if (r < 0)
		return r;
	pages->traffic = zero_pages_new(TRAFFIC_SIZE);
	if (pages->traffic)
		return 0;
	topk_deinit(&pages->table);
	return -ENOMEM;
}

void hot_pages_deinit(struct hot_pages *pages)
{
	topk_deinit(&pages->table);
	zero_pages_free(pages->traffic, TRAFFIC_SIZE);
	pages->traffic = NULL;
}

void hot_pages_clear(struct hot_pages *pages)
{
	topk_clear(&pages->table);
	zero_pages_clear(pages->traffic, TRAFFIC_SIZE);
}

static unsigned int get_traffic_index(u8 node)
{
	return node < NODES_MAX ? node : NODES_MAX;
}

/*
 * Count the vote of a sample for the most frequent location of the page. The algorithm of Boyer and
 * Moore finds the location with more than half of the samples, if there is one.
 */
static void hot_page_count_vote(struct hot_page *page, const struct page_sample *s)
{
	if (page->owner == s->owner && page->place == s->place) {
		page->votes++;
	} else if (page->votes) {
		page->votes--;
	} else {
		page->owner = s->owner;
		page->place = s->place;
		page->votes = 1;
	}
}

void hot_pages_add(struct hot_pages *pages, const struct page_sample *s)
{
	u8 from = pages->nodes ? numa_nodes_find_by_cpu(pages->nodes, s->cpu) : NODE_NONE;
	u8 to = pages->nodes ? numa_nodes_find_by_address(pages->nodes, s->address) : NODE_NONE;
	struct node_traffic *traffic =
		&pages->traffic[get_traffic_index(from)][get_traffic_index(to)];
	struct hot_page *page =
		(struct hot_page *)topk_add(&pages->table, s->address >> HOT_PAGE_SHIFT, 0, 1);

	page->samples++;
	page->stores += s->store;
	page->dram += s->dram;
	page->remote += s->remote;
	page->from_other_node += from != to && from != NODE_NONE && to != NODE_NONE;
	page->latency_sum += s->latency;
	hot_page_count_vote(page, s);
	traffic->samples++;
	traffic->dram += s->dram;
	traffic->latency_sum += s->latency;
}

u8 hot_pages_find_node(const struct hot_pages *pages, const struct hot_page *page)
{
	return pages->nodes ? numa_nodes_find_by_address(pages->nodes,
							 page->head.key[0] << HOT_PAGE_SHIFT) :
			      NODE_NONE;
}
