// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module-cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cgroup-mount.h"

/* Paths come from bus callers, so neither ".." nor a link may leave the hierarchy. */
static int open_beneath(int mount, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd;

	while (*path == '/')
		path++;
	fd = (int)syscall(SYS_openat2, mount, *path ? path : ".", &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static int open_directories(int mount, char *const *paths, bool skip_missing,
			    struct module_cgroups *cgroups)
{
	for (; *paths; paths++) {
		int fd = open_beneath(mount, *paths);

		if (fd == -ENOENT && skip_missing)
			continue;
		if (fd < 0)
			return fd;
		if (cgroups->count == ARRAY_SIZE(cgroups->fd)) {
			close(fd);
			return -E2BIG;
		}
		cgroups->fd[cgroups->count++] = fd;
	}
	return 0;
}

int module_cgroups_open(char *const *paths, bool skip_missing, struct module_cgroups *ret_cgroups,
			const char **ret_reason)
{
	struct module_cgroups cgroups = { .count = 0 };
	int mount = cgroup_mount_open(O_RDONLY, NULL), r;

	*ret_reason = "cgroup v2 is not mounted at /sys/fs/cgroup";
	if (mount < 0)
		return mount;
	r = open_directories(mount, paths, skip_missing, &cgroups);
	close(mount);
	if (r < 0) {
		*ret_reason = r == -ENOENT ? "one of the cgroups does not exist" :
			      r == -E2BIG  ? "there are more cgroups than a session can have" :
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
		/* The ABI requires address 0 for an empty array. */
		.fds = cgroups->count ? (u64)(uintptr_t)cgroups->fd : 0,
		.count = cgroups->count,
	};

	return ioctl(session, SPEPROF_SESSION_CGROUPS, &set) < 0 ? -errno : 0;
}
