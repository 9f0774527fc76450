// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the allocator of lines: blocks do not overlap, are zero, and are joined when all are free.
 */
#include "test.h"

#include "profile/line-pool.h"

#include <stdlib.h>
#include <string.h>

#define LINES  4097 /* line 0 is never allocated */
#define BLOCKS 1000

static u64 random_state = 88172645463325252ULL;

static u64 draw_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct line_block {
	u32 line;
	unsigned int order;
};

static void block_get(struct line_pool *pool, struct line_block *b, u8 *owner, u8 mark)
{
	u32 line = line_pool_alloc(pool, b->order);
	const u8 *at = line_pool_at(pool, line);

	b->line = line;
	if (!line)
		return;
	assert_int_equal(line & ((1U << b->order) - 1), 0);
	assert_in_range(line + (1U << b->order), 1, LINES);
	for (u32 i = line; i < line + (1U << b->order); i++) {
		assert_int_equal(owner[i], 0);
		owner[i] = 1;
	}
	for (u32 i = 0; i < (u32)LINE_SIZE << b->order; i++)
		assert_int_equal(at[i], 0);
	memset(line_pool_at(pool, line), mark, (size_t)LINE_SIZE << b->order);
}

static void block_put(struct line_pool *pool, struct line_block *b, u8 *owner, u8 mark)
{
	const u8 *at = line_pool_at(pool, b->line);

	if (!b->line)
		return;
	for (u32 i = 0; i < (u32)LINE_SIZE << b->order; i++)
		assert_int_equal(at[i], mark);
	memset(owner + b->line, 0, 1U << b->order);
	line_pool_free(pool, b->line, b->order);
	b->line = 0;
}

static void test_blocks_are_joined(void **state)
{
	static struct line_block blocks[BLOCKS];
	static u8 owner[LINES];
	struct line_pool pool;
	u32 used = 0, full = 0;

	(void)state;
	assert_int_equal(line_pool_init(&pool, LINES), 0);
	for (u32 n = 0; n < 60000; n++) {
		u32 i = draw_random() % BLOCKS;
		u8 mark = (u8)(1 + i % 255);

		if (blocks[i].line) {
			used -= 1U << blocks[i].order;
			block_put(&pool, &blocks[i], owner, mark);
		} else {
			blocks[i].order = draw_random() % 6;
			block_get(&pool, &blocks[i], owner, mark);
			used += blocks[i].line ? 1U << blocks[i].order : 0;
			full += !blocks[i].line;
		}
		assert_int_equal(pool.used, used);
	}
	assert_true(full > 0);
	for (u32 i = 0; i < BLOCKS; i++)
		block_put(&pool, &blocks[i], owner, (u8)(1 + i % 255));
	assert_int_equal(pool.used, 0);
	/* Lines 2048 to 4095 are one block again, and so are 1024 to 2047. */
	assert_int_equal(line_pool_alloc(&pool, 11), 2048);
	assert_int_equal(line_pool_alloc(&pool, 10), 1024);
	assert_int_equal(line_pool_alloc(&pool, 11), 0);
	line_pool_clear(&pool);
	assert_int_equal(line_pool_alloc(&pool, 0), 1);
	line_pool_deinit(&pool);
}

static void test_limits_of_pool(void **state)
{
	struct line_pool pool;

	(void)state;
	assert_int_equal(line_pool_init(&pool, 8), 0);
	assert_int_equal(line_pool_alloc(&pool, 3), 0);
	assert_int_equal(line_pool_alloc(&pool, 2), 4);
	/* Lines that were skipped for the alignment are not lost. */
	assert_int_equal(line_pool_alloc(&pool, 1), 2);
	assert_int_equal(line_pool_alloc(&pool, 0), 1);
	assert_int_equal(line_pool_alloc(&pool, 0), 0);
	assert_int_equal(pool.used, 7);
	line_pool_free(&pool, 0, 5);
	assert_int_equal(pool.used, 7);
	line_pool_deinit(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_joined),
		cmocka_unit_test(test_limits_of_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
