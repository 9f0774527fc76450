// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-open-error.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

/* Whether this process has the capability, if only in a user namespace of its own. */
static bool has_capability(unsigned int which)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &head, data) &&
	       (data[CAP_TO_INDEX(which)].effective & CAP_TO_MASK(which));
}

const char *perf_open_error_reason(void)
{
#define REFUSED(level)                                                                          \
	"perf_event_open is refused: kernel.perf_event_paranoid is " level " and this process " \
	"has not CAP_PERFMON; run as root or lower it to 0"
/* Debian's levels above the kernel's own: CAP_PERFMON does not count there. */
#define REFUSED_ALWAYS(level)                                                                     \
	"perf_event_open is refused: at kernel.perf_event_paranoid " level " it asks for "        \
	"CAP_SYS_ADMIN, whatever else a process may do; lower it to 2 for one with CAP_PERFMON, " \
	"as speprofd.service has, else to 0"
	int level = paranoid_level();

	if (has_capability(CAP_SYS_ADMIN) ||
	    (has_capability(CAP_PERFMON) && (level == 1 || level == 2)))
		return "perf_event_open is refused by a security policy, although this process has "
		       "the capability for it: look for a container's seccomp filter "
		       "(Podman's wants CAP_SYS_ADMIN), a user namespace, or an LSM";
	switch (level) {
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

const char *perf_open_error_physical(void)
{
	if (has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN))
		return NULL;
	return "physical addresses are collected for who has CAP_PERFMON alone, and this process "
	       "has not";
}
