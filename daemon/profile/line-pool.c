// SPDX-License-Identifier: LGPL-2.1-or-later
#include "line-pool.h"

#include <errno.h>

#include "util/memory.h"

/*
 * The first bytes of a free block: the next and the previous block in the list of free blocks of
 * its order.
 */
struct free_block {
	u32 next;
	u32 previous;
};

static struct free_block *free_block_at(const struct line_pool *pool, u32 line)
{
	return line_pool_at(pool, line);
}

int line_pool_init(struct line_pool *pool, u32 lines)
{
	*pool = (struct line_pool){ .lines = lines, .fresh = 1 };
	pool->at = zero_pages_new((size_t)lines * LINE_SIZE);
	pool->order = zero_pages_new(lines);
	if (pool->at && pool->order)
		return 0;
	line_pool_deinit(pool);
	return -ENOMEM;
}

void line_pool_deinit(struct line_pool *pool)
{
	zero_pages_free(pool->at, (size_t)pool->lines * LINE_SIZE);
	zero_pages_free(pool->order, pool->lines);
	*pool = (struct line_pool){ 0 };
}

void line_pool_clear(struct line_pool *pool)
{
	zero_pages_clear(pool->at, (size_t)pool->lines * LINE_SIZE);
	zero_pages_clear(pool->order, pool->lines);
	memset(pool->free, 0, sizeof(pool->free));
	pool->fresh = 1;
	pool->used = 0;
}

static void free_list_add(struct line_pool *pool, u32 line, unsigned int order)
{
	u32 next = pool->free[order];

	*free_block_at(pool, line) = (struct free_block){ .next = next };
	if (next)
		free_block_at(pool, next)->previous = line;
	pool->free[order] = line;
	pool->order[line] = (u8)(order + 1);
}

static void free_list_remove(struct line_pool *pool, u32 line, unsigned int order)
{
	const struct free_block block = *free_block_at(pool, line);

	if (block.previous)
		free_block_at(pool, block.previous)->next = block.next;
	else
		pool->free[order] = block.next;
	if (block.next)
		free_block_at(pool, block.next)->previous = block.previous;
	pool->order[line] = 0;
}

/*
 * Add a block to the free blocks. While its neighbour of the same size is free, merge both blocks
 * first.
 */
static void release_block(struct line_pool *pool, u32 line, unsigned int order)
{
	u32 buddy = line ^ 1U << order;

	while (order + 1 < LINE_ORDERS && buddy < pool->fresh && pool->order[buddy] == order + 1) {
		free_list_remove(pool, buddy, order);
		line &= ~(1U << order);
		buddy = line ^ 1U << ++order;
	}
	free_list_add(pool, line, order);
}

/*
 * Allocate a block from the lines that were never used. Lines that are skipped to align the block
 * become free blocks.
 */
static u32 alloc_fresh_block(struct line_pool *pool, unsigned int order)
{
	u32 size = 1U << order, line = (pool->fresh + size - 1) & ~(size - 1);

	if (line > pool->lines || size > pool->lines - line)
		return 0;
	while (pool->fresh < line) {
		unsigned int skipped = (unsigned int)__builtin_ctz(pool->fresh);
		u32 at = pool->fresh;

		pool->fresh += 1U << skipped;
		release_block(pool, at, skipped);
	}
	pool->fresh = line + size;
	return line;
}

u32 line_pool_alloc(struct line_pool *pool, unsigned int order)
{
	unsigned int from = order;
	u32 line;

	while (from < LINE_ORDERS && !pool->free[from])
		from++;
	if (from == LINE_ORDERS) {
		line = alloc_fresh_block(pool, order);
		pool->used += line ? 1U << order : 0;
		return line;
	}
	line = pool->free[from];
	free_list_remove(pool, line, from);
	while (from > order) {
		from--;
		free_list_add(pool, line + (1U << from), from);
	}
	memset(line_pool_at(pool, line), 0, (size_t)LINE_SIZE << order);
	pool->used += 1U << order;
	return line;
}

void line_pool_free(struct line_pool *pool, u32 line, unsigned int order)
{
	if (!line)
		return;
	pool->used -= 1U << order;
	release_block(pool, line, order);
}
