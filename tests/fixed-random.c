// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Define getrandom() for every unit test. It returns the same bytes in each run, so that no result
 * depends on chance: hash tables mix a random seed into their hashes, and the seed decides which
 * entries are evicted.
 */
#include <sys/random.h>
#include <sys/types.h>

/* Return the next byte of splitmix64, which starts with a constant. */
static unsigned char next_byte(void)
{
	static unsigned long long state = 20261124;
	unsigned long long z = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ULL, __ATOMIC_RELAXED);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (unsigned char)(z ^ (z >> 31));
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < length; i++)
		bytes[i] = next_byte();
	return (ssize_t)length;
}
