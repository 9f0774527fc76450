// SPDX-License-Identifier: LGPL-2.1-or-later
#include "hot-pages.h"

#include <errno.h>

#include "util/memory.h"

#define TRAFFIC_SIZE ((NODES_MAX + 1) * (NODES_MAX + 1) * sizeof(struct node_traffic))

int pages_init(struct pages *pages, u32 capacity, const struct nodes *nodes)
{
	int r = topk_init(&pages->table, sizeof(struct hot_page), capacity);

	pages->nodes = nodes;
	if (r < 0)
		return r;
	pages->traffic = zero_pages(TRAFFIC_SIZE);
	if (pages->traffic)
		return 0;
	topk_deinit(&pages->table);
	return -ENOMEM;
}

void pages_deinit(struct pages *pages)
{
	topk_deinit(&pages->table);
	zero_pages_free(pages->traffic, TRAFFIC_SIZE);
	pages->traffic = NULL;
}

void pages_clear(struct pages *pages)
{
	topk_clear(&pages->table);
	zero_pages_clear(pages->traffic, TRAFFIC_SIZE);
}

static unsigned int traffic_index(u8 node)
{
	return node < NODES_MAX ? node : NODES_MAX;
}

/*
 * Update the candidate for the most frequent location of the page by a sample. The algorithm of
 * Boyer and Moore finds the location with more than half of the samples, if there is one.
 */
static void vote(struct hot_page *page, const struct page_sample *s)
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

void pages_add(struct pages *pages, const struct page_sample *s)
{
	u8 from = pages->nodes ? nodes_find_by_cpu(pages->nodes, s->cpu) : NODE_NONE;
	u8 to = pages->nodes ? nodes_find_by_address(pages->nodes, s->address) : NODE_NONE;
	struct node_traffic *traffic = &pages->traffic[traffic_index(from)][traffic_index(to)];
	struct hot_page *page =
		(struct hot_page *)topk_add(&pages->table, s->address >> PAGE_SHIFT, 0, 1);

	page->samples++;
	page->stores += s->store;
	page->dram += s->dram;
	page->remote += s->remote;
	page->from_other_node += from != to && from != NODE_NONE && to != NODE_NONE;
	page->latency_sum += s->latency;
	vote(page, s);
	traffic->samples++;
	traffic->dram += s->dram;
	traffic->latency_sum += s->latency;
}

u8 pages_node(const struct pages *pages, const struct hot_page *page)
{
	return pages->nodes ? nodes_find_by_address(pages->nodes, page->head.key[0] << PAGE_SHIFT) :
			      NODE_NONE;
}
