// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print what speprof-symbols finds at offsets in a file. Usage: print-symbols FILE OFFSET...
 *
 * Each line has the name of the function, the source line and the inlined functions of one offset,
 * separated by tabs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "symbols/symbols.h"

static void print_location(struct symbols_cache *symbols, const struct attribute_location *location)
{
	struct source_line source;
	char name[600];

	symbols_get_function(symbols, 0, location, true, name, sizeof(name));
	symbols_get_source_line(symbols, 0, location, true, &source);
	for (char *p = source.inlines; *p; p++)
		if (*p == '\n')
			*p = '|';
	printf("%s\t%s:%u\t%s\n", name, source.file, source.line, source.inlines);
}

int main(int argc, char **argv)
{
	const struct symbols_config config = { .wait_ms = 60000 };
	struct symbols_stats stats;
	struct symbols_cache *symbols;
	struct source_line source;
	struct stat st;
	u64 key;

	if (argc < 3 || stat(argv[1], &st) < 0 || symbols_new(&config, &symbols) < 0)
		return 2;
	for (int round = 0; round < 2; round++) {
		for (int i = 2; i < argc; i++) {
			const struct attribute_location location = {
				.binary = argv[1],
				.inode = st.st_ino,
				.offset = strtoull(argv[i], NULL, 0),
			};

			if (round)
				print_location(symbols, &location);
			else if (!symbols_get_function_key(symbols, 0, &location, true, &key))
				symbols_get_source_line(symbols, 0, &location, true, &source);
		}
		symbols_wait_configured(symbols);
	}
	symbols_get_stats(symbols, &stats);
	if (*stats.reason || stats.failures)
		fprintf(stderr, "%" PRIu64 " failures; %s\n", stats.failures, stats.reason);
	symbols_free(symbols);
	return 0;
}
