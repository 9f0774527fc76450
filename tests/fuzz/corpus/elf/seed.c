/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library with local, global and weak functions, and with data, which tests/fuzz/run-fuzzers links */
int seed_global(int n);
int seed_weak(int n);

struct seed {
	union {
		long whole;
		short parts[4];
	};
	unsigned int flag : 3, mode : 9;
	struct {
		struct seed *next;
		char name[3];
	} nested[2];
};

struct seed seed_data[2];
enum seed_kind { SEED_ONE };
enum seed_kind *seed_pointer;

__attribute__((noinline)) static int seed_local(int n)
{
	return n * 3;
}

__attribute__((weak)) int seed_weak(int n)
{
	return seed_local(n) + 1;
}

int seed_global(int n)
{
	return seed_weak(n) - seed_local(n);
}

long seed_walk(struct seed *seed, int n);

/* Access data by pointers, in an array, and on the stack. */
long seed_walk(struct seed *seed, int n)
{
	struct seed local = *seed;
	long sum = 0;

	for (int i = 0; i < n; i++)
		seed[i].nested[i & 1].next = &local;
	for (; seed; seed = seed->nested[0].next)
		sum += seed->parts[n & 3] + seed->mode + local.nested[1].name[n & 1];
	return sum + seed_data[1].whole;
}
