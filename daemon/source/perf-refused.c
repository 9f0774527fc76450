// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-refused.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int paranoid_level(void)
{
	char text[16] = "";
	ssize_t n;
	int fd;

	fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atoi(text) : -1;
}

const char *perf_refused_reason(void)
{
#define REFUSED(level)                                                                          \
	"perf_event_open is refused: kernel.perf_event_paranoid is " level " and this process " \
	"has not CAP_PERFMON; run as root or lower it to 0"
/* Debian's levels above the kernel's own: CAP_PERFMON does not count there. */
#define REFUSED_ALWAYS(level)                                                                     \
	"perf_event_open is refused: at kernel.perf_event_paranoid " level " it asks for "        \
	"CAP_SYS_ADMIN, whatever else a process may do; lower it to 2 for one with CAP_PERFMON, " \
	"as speprofd.service has, else to 0"
	switch (paranoid_level()) {
	case 1:
		return REFUSED("1");
	case 2:
		return REFUSED("2");
	case 3:
		return REFUSED_ALWAYS("3");
	case 4:
		return REFUSED_ALWAYS("4");
	default:
		return "perf_event_open is refused by a security policy, although "
		       "kernel.perf_event_paranoid allows it: look for a seccomp filter or an LSM";
	}
#undef REFUSED_ALWAYS
#undef REFUSED
}
