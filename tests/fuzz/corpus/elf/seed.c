/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library with local, global and weak functions, which tests/fuzz/run-fuzzers links */
int seed_global(int n);
int seed_weak(int n);

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
