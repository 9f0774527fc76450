/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An assertion for fuzz targets that no build option disables */
#ifndef SPEPROF_FUZZ_H
#define SPEPROF_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define fuzz_assert(cond)                                                          \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                   \
		}                                                                  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
