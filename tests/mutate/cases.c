// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run the cases of core/ without a test framework. The program ends at the first failure with
 * status 1 and prints the name of the case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"

#define SUITE_ADDRESS(name) &spe_suite_##name,

static const struct spe_suite *const suites[] = { SPE_SUITES(SUITE_ADDRESS) };

static void run_suite(const struct spe_suite *suite)
{
	for (size_t i = 0; i < suite->count; i++) {
		struct spe_check check = { 0 };

		suite->cases[i].run(&check);
		if (!check.failures)
			continue;
		printf("%s: %s\n", suite->name, suite->cases[i].name);
		exit(EXIT_FAILURE);
	}
}

/* Run the named cases first, because they are most likely to fail, then all others. */
int main(int argc, char **argv)
{
	bool done[ARRAY_SIZE(suites)] = { false };

	for (int arg = 1; arg < argc; arg++) {
		for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
			if (strcmp(argv[arg], suites[i]->name) != 0)
				continue;
			run_suite(suites[i]);
			done[i] = true;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		if (!done[i])
			run_suite(suites[i]);
	return EXIT_SUCCESS;
}
