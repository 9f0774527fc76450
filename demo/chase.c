// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run a pointer chase: each load depends on the previous one, in a working set of 32 MiB that is
 * larger than most caches. The program spends all its time in walk().
 */
#include "load.h"

#include <stdint.h>
#include <stdlib.h>

#define NODES (1U << 19)
#define STEPS 4096

/* A list node of the size of a cache line */
struct node {
	struct node *next;
	char line[56];
};

static struct node *nodes;
static struct node **cursors; /* the current node of each thread */

/* The function is not static, so that a stripped program still exports its name. */
struct node *walk(struct node *node);

__attribute__((noinline)) struct node *walk(struct node *node)
{
	for (unsigned int i = 0; i < STEPS; i++)
		node = node->next;
	return node;
}

/* Link all nodes in one random cycle, by Sattolo's shuffle. */
static void link_randomly(void)
{
	uint64_t random = 88172645463325252ULL;

	for (uint32_t i = 0; i < NODES; i++)
		nodes[i].next = &nodes[i];
	for (uint32_t i = NODES - 1; i > 0; i--) {
		struct node *next = nodes[i].next;
		uint32_t j;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		j = (uint32_t)(random % i);
		nodes[i].next = nodes[j].next;
		nodes[j].next = next;
	}
}

static int chase_prepare(unsigned int threads)
{
	nodes = aligned_alloc(sizeof(struct node), NODES * sizeof(struct node));
	cursors = calloc(threads, sizeof(*cursors));
	if (!nodes || !cursors)
		return -1;
	link_randomly();
	for (unsigned int i = 0; i < threads; i++)
		cursors[i] = &nodes[(uint64_t)i * NODES / threads];
	return 0;
}

static void chase_work(unsigned int thread)
{
	cursors[thread] = walk(cursors[thread]);
}

int main(int argc, char **argv)
{
	static const struct load load = {
		.name = "chase",
		.prepare = chase_prepare,
		.work = chase_work,
	};

	return load_main(&load, argc, argv);
}
