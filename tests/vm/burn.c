// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Burns CPU time in one function whose name is known: "burn walk" follows a
 * chain of dependent loads, "burn triad" streams. A VM job compares the shares
 * that speprof shows with the CPU time that cgroups account.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS (1U << 16)

static uint32_t chain[WORDS];
static double a[WORDS], b[WORDS], c[WORDS];

/* Not static and not inlined: their names are what the job looks for. */
uint32_t walk(uint32_t at);
void triad(double scale);

__attribute__((noinline)) uint32_t walk(uint32_t at)
{
	for (uint32_t i = 0; i < WORDS; i++)
		at = *(volatile uint32_t *)&chain[at];
	return at;
}

__attribute__((noinline)) void triad(double scale)
{
	for (uint32_t i = 0; i < WORDS; i++)
		*(volatile double *)&a[i] = b[i] + scale * c[i];
}

int main(int argc, char **argv)
{
	uint32_t at = 0;

	if (argc != 2 || (strcmp(argv[1], "walk") && strcmp(argv[1], "triad"))) {
		fprintf(stderr, "usage: burn walk|triad\n");
		return 2;
	}
	/* One cycle through all words: an odd step is coprime to a power of two. */
	for (uint32_t i = 0; i < WORDS; i++)
		chain[i] = (i + 40503) % WORDS;
	for (;;) {
		if (argv[1][0] == 'w')
			at = walk(at);
		else
			triad(at + 1.0);
	}
}
