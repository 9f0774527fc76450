// SPDX-License-Identifier: LGPL-2.1-or-later
/* Print the table of metrics as Markdown, for scripts/metrics-reference. */
#include <stdio.h>
#include <string.h>

#include "families.h"

#define CONTAINER "speprof_container_"

int main(void)
{
	static const char *const types[] = {
		[SERIES_COUNTER] = "counter",
		[SERIES_GAUGE] = "gauge",
		[SERIES_HISTOGRAM] = "histogram",
	};

	puts("| name | type | labels | meaning |\n| --- | --- | --- | --- |");
	for (unsigned int i = 0; i < FAMILY_COUNT; i++) {
		const struct series_family *f = &series_families[i];
		const char *labels = f->labels ? f->labels : "";

		printf("| %s%s | %s | ", f->name, f->type == SERIES_COUNTER ? "_total" : "",
		       types[f->type]);
		if (!strncmp(f->name, CONTAINER, strlen(CONTAINER)))
			printf("`[Labels]`%s", *labels ? "; " : "");
		printf("%s | %s |\n", labels, f->help);
	}
	return 0;
}
