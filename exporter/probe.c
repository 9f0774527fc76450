// SPDX-License-Identifier: LGPL-2.1-or-later
#include "probe.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool path_exists(const char *sys, const char *what)
{
	char pattern[PATH_MAX];
	glob_t found;
	bool any;

	snprintf(pattern, sizeof(pattern), "%s/%s", sys, what);
	any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
	globfree(&found);
	return any;
}

bool probe_has_spe(const char *sys)
{
	/* In the directory of a platform driver, only links to devices have a subsystem. */
	return path_exists(sys, "bus/event_source/devices/arm_spe_*") ||
	       path_exists(sys, "bus/platform/drivers/speprof/*/subsystem");
}

void probe_own_process(u64 *ret_cpu_ns, u64 *ret_memory)
{
	unsigned long long pages = 0;
	struct timespec ts;
	FILE *f;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	*ret_cpu_ns = (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
	f = fopen("/proc/self/statm", "re");
	if (!f)
		return;
	if (fscanf(f, "%*u %llu", &pages) == 1)
		*ret_memory = pages * (u64)sysconf(_SC_PAGESIZE);
	fclose(f);
}
