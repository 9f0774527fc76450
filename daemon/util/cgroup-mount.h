/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where cgroup v2 is mounted, alone or beside version 1. */
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

/** cgroup_mount_open() - its root, by open(2)'s @flags, or -ENOENT; @ret_path, if not NULL, is static */
static inline int cgroup_mount_open(int flags, const char **ret_path)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int fd = open(places[i], flags | O_DIRECTORY | O_CLOEXEC);
		struct statfs fs;

		if (fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC) {
			if (ret_path)
				*ret_path = places[i];
			return fd;
		}
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/**
 * cgroup_is_legacy() - whether a hierarchy of version 1 has @path
 *
 * On a hybrid host, where these are mounted beside version 2, a container may be in them alone.
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

/** cgroup_is_removed() - no cgroup is at @path, absolute below the mount; false where that is unknown */
static inline bool cgroup_is_removed(const char *path)
{
	const char *place = NULL;
	int mount = cgroup_mount_open(O_RDONLY, &place);
	bool removed;

	if (mount < 0)
		return false;
	while (*path == '/')
		path++;
	removed = *path && faccessat(mount, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
	close(mount);
	return removed && (!strcmp(place, "/sys/fs/cgroup") || !cgroup_is_legacy(path));
}

#endif
