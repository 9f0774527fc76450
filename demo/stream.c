// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stream: three arrays from end to end, as fast as memory gives them. All its
 * time is in triad().
 */
#include "duty.h"

#include <stdlib.h>

#define ELEMENTS (1U << 20)
#define CHUNK	 (1U << 16)

/* What one thread goes through, chunk by chunk. */
struct lane {
	double *a;
	double *b;
	double *c;
	double scalar;
	size_t place;
	size_t chunk;
};

static struct lane *lanes;

__attribute__((noinline)) static void triad(double *a, const double *b, const double *c,
					    double scalar, size_t n)
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
	size_t i = lane->place;

	triad(lane->a + i, lane->b + i, lane->c + i, lane->scalar, lane->chunk);
	lane->place = (i + lane->chunk) % ELEMENTS;
}

int main(int argc, char **argv)
{
	static const struct duty duty = {
		.name = "stream",
		.prepare = stream_prepare,
		.work = stream_work,
	};

	return duty_main(&duty, argc, argv);
}
