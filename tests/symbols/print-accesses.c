// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print what speprof-symbols finds that instructions access. Usage: print-accesses FILE. Standard input
 * has the offsets of the instructions in the file, one a line.
 *
 * Each line has the type and the field of one instruction, separated by a tab.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/symbols.h"

#define OFFSETS 65536 /* maximum number of lines */

int main(int argc, char **argv)
{
	const struct symbols_config config = { .wait_ms = 60000, .folders = { .symfs = "/" } };
	static u64 offset[OFFSETS];
	struct symbols_stats stats;
	struct symbols_cache *symbols;
	struct data_name name;
	u32 count = 0;

	if (argc != 2 || symbols_new(&config, &symbols) < 0)
		return 2;
	while (count < OFFSETS && scanf("%" SCNi64, (s64 *)&offset[count]) == 1)
		count++;
	for (int round = 0; round < 2; round++) {
		for (u32 i = 0; i < count; i++) {
			const struct attribute_location location = {
				.binary = argv[1],
				.offset = offset[i],
			};

			symbols_get_accessed_data(symbols, &location, &name);
			if (round)
				printf("%s\t%s\n", name.type, name.field);
		}
		symbols_wait_configured(symbols);
	}
	symbols_get_stats(symbols, &stats);
	if (*stats.reason || stats.failures)
		fprintf(stderr, "%" PRIu64 " failures; %s\n", stats.failures, stats.reason);
	symbols_free(symbols);
	return 0;
}
