/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of core/ in plain C, for two runners: cmocka in userspace and KUnit in the kernel. A
 * case continues after a failure; the result has the first failure.
 */
#ifndef SPE_CASES_CHECK_H
#define SPE_CASES_CHECK_H

#include "codec/env.h"

/**
 * struct spe_check - the result of a running case
 * @file: file of the first failure
 * @line: line of the first failure
 * @what: text of the condition that was false
 * @left: the first of two compared values, or 0
 * @right: the second of two compared values, or 0
 * @failures: number of failures
 */
struct spe_check {
	const char *file;
	int line;
	const char *what;
	u64 left;
	u64 right;
	u64 failures;
};

/** struct spe_case - a test case and its name */
struct spe_case {
	const char *name;
	void (*run)(struct spe_check *check);
};

/** struct spe_suite - the cases of one subject */
struct spe_suite {
	const char *name;
	const struct spe_case *cases;
	size_t count;
};

static inline bool spe_check_that(struct spe_check *check, bool holds, const char *file, int line,
				  const char *what, u64 left, u64 right)
{
	if (holds)
		return true;
	if (!check->failures++) {
		check->file = file;
		check->line = line;
		check->what = what;
		check->left = left;
		check->right = right;
	}
	return false;
}

#define SPE_CHECK(check, cond) spe_check_that(check, cond, __FILE__, __LINE__, #cond, 0, 0)

#define SPE_CHECK_EQ(check, a, b)                                                           \
	({                                                                                  \
		u64 check_a = (u64)(a), check_b = (u64)(b);                                 \
		spe_check_that(check, check_a == check_b, __FILE__, __LINE__, #a " == " #b, \
			       check_a, check_b);                                           \
	})

/* Return a condition as a number, to compare it together with an index. */
static inline u64 spe_check_bit(bool cond)
{
	return cond;
}

/*
 * Return the next random number (SplitMix64). The seed is fixed, so that a failure can be
 * reproduced.
 */
static inline u64 spe_check_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

#endif
