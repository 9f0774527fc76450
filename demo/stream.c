// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read two arrays and write a third one from end to end, as fast as memory allows. The program
 * spends all its time in triad().
 */
#include "load.h"

#include <stdlib.h>

#define ELEMENTS (1U << 20)
#define CHUNK	 (1U << 16)

/* The arrays of one thread, and the position of its next chunk */
struct lane {
	double *a;
	double *b;
	double *c;
	double scalar;
	size_t next;
	size_t chunk;
};

static struct lane *lanes;

/* The function is not static, so that a stripped program still exports its name. */
void triad(double *a, const double *b, const double *c, double scalar, size_t n);

__attribute__((noinline)) void triad(double *a, const double *b, const double *c, double scalar,
				     size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + scalar * c[i];
}

static int stream_prepare(unsigned int threads)
{
	lanes = calloc(threads, sizeof(*lanes));
	if (!lanes)
		return -1;
	for (unsigned int t = 0; t < threads; t++) {
		double *memory = malloc(3 * ELEMENTS * sizeof(double));

		if (!memory)
			return -1;
		for (size_t i = 0; i < 3 * ELEMENTS; i++)
			memory[i] = (double)i;
		lanes[t] = (struct lane){
			.a = memory,
			.b = memory + ELEMENTS,
			.c = memory + 2 * (size_t)ELEMENTS,
			.scalar = 3.0,
			.chunk = CHUNK,
		};
	}
	return 0;
}

static void stream_work(unsigned int thread)
{
	struct lane *lane = &lanes[thread];
	size_t i = lane->next;

	triad(lane->a + i, lane->b + i, lane->c + i, lane->scalar, lane->chunk);
	lane->next = (i + lane->chunk) % ELEMENTS;
}

int main(int argc, char **argv)
{
	static const struct load load = {
		.name = "stream",
		.prepare = stream_prepare,
		.work = stream_work,
	};

	return load_main(&load, argc, argv);
}
