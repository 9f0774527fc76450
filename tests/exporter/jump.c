// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD that adds the number of seconds in the file $SPEPROF_JUMP to the wall
 * clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	const char *path = getenv("SPEPROF_JUMP");
	long seconds = 0;
	FILE *f;

	if (syscall(SYS_clock_gettime, clock, ret_time) < 0)
		return -1;
	f = clock == CLOCK_REALTIME && path ? fopen(path, "re") : NULL;
	if (f) {
		if (fscanf(f, "%ld", &seconds) != 1)
			seconds = 0;
		fclose(f);
	}
	ret_time->tv_sec += seconds;
	return 0;
}
