// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * chase: loads that wait for each other, all over a working set that no cache
 * holds. All its time is in walk().
 */
#include "duty.h"

#include <stdint.h>
#include <stdlib.h>

#define NODES (1U << 19)
#define STEPS 4096

/* One cache line each. */
struct node {
	struct node *next;
	char line[56];
};

static struct node *nodes;
static struct node **places;

__attribute__((noinline)) static struct node *walk(struct node *node)
{
	for (unsigned int i = 0; i < STEPS; i++)
		node = node->next;
	return node;
}

/* One cycle through all nodes, by Sattolo's shuffle. */
static void shuffle(void)
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
	places = calloc(threads, sizeof(*places));
	if (!nodes || !places)
		return -1;
	shuffle();
	for (unsigned int i = 0; i < threads; i++)
		places[i] = &nodes[(uint64_t)i * NODES / threads];
	return 0;
}

static void chase_work(unsigned int thread)
{
	places[thread] = walk(places[thread]);
}

int main(int argc, char **argv)
{
	static const struct duty duty = {
		.name = "chase",
		.prepare = chase_prepare,
		.work = chase_work,
	};

	return duty_main(&duty, argc, argv);
}
