// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup-owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cgroup-mount.h"

int cgroup_owner_open_mount(void)
{
	return cgroup_mount_open(O_PATH, NULL);
}

static s64 get_change_time_us(const struct stat *st)
{
	return st->st_ctim.tv_sec * 1000000LL + st->st_ctim.tv_nsec / 1000;
}

bool cgroup_get_ownership(int mount, const char *path, uid_t uid,
			  struct cgroup_ownership *ret_ownership)
{
	struct cgroup_ownership found = { .since_us = INT64_MAX };
	char part[PATH_MAX];
	bool owned = false;
	struct stat st;
	size_t end;

	while (*path == '/')
		path++;
	if (!*path || strlen(path) >= sizeof(part))
		return false;
	strcpy(part, path);
	/*
	 * Start with the whole path, so that a missing cgroup is detected before a parent that the
	 * user owns.
	 */
	for (end = strlen(part); end; end--) {
		if (part[end] && part[end] != '/')
			continue;
		part[end] = '\0';
		if (fstatat(mount, part, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
			return false;
		if (!found.inode)
			found.inode = st.st_ino;
		if (st.st_uid != uid)
			continue;
		owned = true;
		if (get_change_time_us(&st) < found.since_us)
			found.since_us = get_change_time_us(&st);
	}
	if (owned)
		*ret_ownership = found;
	return owned;
}

bool cgroup_is_owned_by(int mount, const char *path, uid_t uid)
{
	struct cgroup_ownership ownership;

	return cgroup_get_ownership(mount, path, uid, &ownership);
}
