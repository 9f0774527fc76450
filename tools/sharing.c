// SPDX-License-Identifier: LGPL-2.1-or-later
/* List the cache lines that several threads share. */
#include "lib/message.h"
#include "lib/saved-profile.h"
#include "memory-access-report.h"
#include "verb.h"

/* Number of lines without -n. */
#define SHARING_LINES 10

int sharing_run(int argc, char **argv)
{
	struct options options;
	int status = options_parse(argc, argv, "ijnCMFKNygu", &options);

	if (status)
		return status;
	if (options.input && saved_profile_is(options.input))
		return message_fail(STATUS_USAGE,
				    "sharing: %s is a saved profile, which has no cache lines; "
				    "should be a recording",
				    options.input);
	options.lines = true;
	if (!options.number)
		options.number = SHARING_LINES;
	return memory_access_report_print("sharing", &options);
}
