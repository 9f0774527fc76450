/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An allocator of blocks of 1, 2, 4 ... cache lines from one range of addresses. Blocks never move.
 * A block is identified by the number of its first line, which fits in 32 bits. The pool is a buddy
 * allocator: two free neighbours of one size become one block of twice the size. So the memory of
 * small blocks can be reused for large blocks.
 *
 * Lines that were never allocated use no memory.
 */
#ifndef SPEPROF_LINE_POOL_H
#define SPEPROF_LINE_POOL_H

#include "codec/env.h"

#define LINE_SIZE 64
/* The largest block has 2^(LINE_ORDERS - 1) lines, 16 MiB. */
#define LINE_ORDERS 19

/**
 * struct line_pool - the allocator; all fields are private except @used
 * @at: the lines, indexed by number; line 0 is never allocated
 * @order: for each line, the order of the free block that begins there, plus 1; else 0
 * @free: for each order, the first line of the first free block; 0 for none
 * @lines: number of lines
 * @fresh: first line that was never allocated
 * @used: number of lines in use; the owner of the pool may read it
 */
struct line_pool {
	u8 *at;
	u8 *order;
	u32 free[LINE_ORDERS];
	u32 lines;
	u32 fresh;
	u32 used;
};

/**
 * line_pool_init() - reserve addresses for @lines lines
 * @pool: the pool; free it with line_pool_deinit()
 * @lines: number of lines, at least 2
 *
 * Return: 0 or -ENOMEM.
 */
int line_pool_init(struct line_pool *pool, u32 lines);

/** line_pool_deinit() - free the memory; @pool may be all zeros */
void line_pool_deinit(struct line_pool *pool);

/** line_pool_clear() - free all blocks at once, and return their memory to the system */
void line_pool_clear(struct line_pool *pool);

/**
 * line_pool_alloc() - allocate a block of 2^@order lines
 * @pool: the pool
 * @order: below LINE_ORDERS
 *
 * Return: the number of the first line of the block, a multiple of 2^@order. All bytes of the block
 * are 0. Returns 0 if no such block is free.
 */
u32 line_pool_alloc(struct line_pool *pool, unsigned int order);

/** line_pool_free() - free the block of 2^@order lines that begins at @line; 0 is ignored */
void line_pool_free(struct line_pool *pool, u32 line, unsigned int order);

/** line_pool_at() - return the address of @line */
static inline void *line_pool_at(const struct line_pool *pool, u32 line)
{
	return pool->at + (size_t)line * LINE_SIZE;
}

#endif
