// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spe-here.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>

static bool has(const char *sys, const char *what)
{
	char pattern[PATH_MAX];
	glob_t found;
	bool any;

	snprintf(pattern, sizeof(pattern), "%s/%s", sys, what);
	any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
	globfree(&found);
	return any;
}

bool spe_here(const char *sys)
{
	/* Of a platform driver, links to devices are all that has a subsystem below it. */
	return has(sys, "bus/event_source/devices/arm_spe_*") ||
	       has(sys, "bus/platform/drivers/speprof/*/subsystem");
}
