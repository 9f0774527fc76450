// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module-cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroup-mount.h"

/* Paths come from bus callers: nothing leads out of the hierarchy. */
static int open_beneath(int mount, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	while (*path == '/')
		path++;
	return (int)syscall(SYS_openat2, mount, *path ? path : ".", &how, sizeof(how));
}

int module_cgroups_open(char *const *paths, bool known, struct module_cgroups *ret_cgroups,
			const char **ret_reason)
{
	struct module_cgroups cgroups = { .count = 0 };
	int mount = cgroup_mount_open(O_RDONLY, NULL), fd = 0, r;

	*ret_reason = "cgroup v2 is not mounted at /sys/fs/cgroup";
	if (mount < 0)
		return mount;
	for (; *paths && fd >= 0; paths++) {
		fd = cgroups.count < ARRAY_SIZE(cgroups.fd) ? open_beneath(mount, *paths) : -1;
		if (fd >= 0)
			cgroups.fd[cgroups.count++] = fd;
		else if (known && errno == ENOENT)
			fd = 0;
	}
	r = -errno;
	close(mount);
	if (fd < 0) {
		*ret_reason = r == -ENOENT ? "one of the cgroups is not there" :
					     "one of the cgroups could not be opened";
		module_cgroups_close(&cgroups);
		return r;
	}
	*ret_cgroups = cgroups;
	return 0;
}

void module_cgroups_close(struct module_cgroups *cgroups)
{
	while (cgroups->count)
		close(cgroups->fd[--cgroups->count]);
}

int module_cgroups_replace(int session, const struct module_cgroups *cgroups)
{
	const struct speprof_cgroups set = {
		.size = sizeof(set),
		.op = SPEPROF_CGROUPS_REPLACE,
		/* An empty array has no address, as the ABI has it. */
		.fds = cgroups->count ? (u64)(uintptr_t)cgroups->fd : 0,
		.count = cgroups->count,
	};

	return ioctl(session, SPEPROF_SESSION_CGROUPS, &set) < 0 ? -errno : 0;
}
