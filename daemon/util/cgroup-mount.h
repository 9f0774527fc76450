/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the mount of cgroup v2, also on hosts that mount cgroup v1, too. */
#ifndef SPEPROF_CGROUP_MOUNT_H
#define SPEPROF_CGROUP_MOUNT_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/**
 * cgroup_mount_open() - open the root of the cgroup v2 hierarchy
 * @flags: for open(2)
 * @ret_path: the mount point, a static string; NULL if the caller does not need it
 *
 * Return: a descriptor; -ENOENT if cgroup v2 is not mounted.
 */
static inline int cgroup_mount_open(int flags, const char **ret_path)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		int fd = open(mounts[i], flags | O_DIRECTORY | O_CLOEXEC);
		struct statfs fs;

		if (fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC) {
			if (ret_path)
				*ret_path = mounts[i];
			return fd;
		}
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/**
 * cgroup_is_legacy() - return true if a hierarchy of cgroup v1 contains @path
 *
 * On a host with cgroup v1 and cgroup v2, a container may be only in hierarchies of cgroup v1.
 */
static inline bool cgroup_is_legacy(const char *path)
{
	DIR *hierarchies = opendir("/sys/fs/cgroup");
	const struct dirent *entry;
	bool found = false;
	int fd;

	while (hierarchies && !found && (entry = readdir(hierarchies))) {
		if (entry->d_name[0] == '.')
			continue;
		fd = openat(dirfd(hierarchies), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		found = fd >= 0 && !faccessat(fd, path, F_OK, AT_SYMLINK_NOFOLLOW);
		if (fd >= 0)
			close(fd);
	}
	if (hierarchies)
		closedir(hierarchies);
	return found;
}

/**
 * cgroup_is_removed() - check whether a cgroup was removed
 * @path: path of the cgroup from the root of the hierarchy, with a leading '/'
 *
 * Return: true if the cgroup does not exist; false if it exists, or if this is unknown.
 */
static inline bool cgroup_is_removed(const char *path)
{
	const char *mount_path = NULL;
	int mount = cgroup_mount_open(O_RDONLY, &mount_path);
	bool removed;

	if (mount < 0)
		return false;
	while (*path == '/')
		path++;
	removed = *path && faccessat(mount, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
	close(mount);
	return removed && (!strcmp(mount_path, "/sys/fs/cgroup") || !cgroup_is_legacy(path));
}

#endif
