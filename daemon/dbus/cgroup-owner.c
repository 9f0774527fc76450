// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup-owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cgroup-mount.h"

int cgroup_owner_open(void)
{
	return cgroup_mount_open(O_PATH, NULL);
}

bool cgroup_is_owned_by(int mount, const char *path, uid_t uid)
{
	char part[PATH_MAX];
	bool owned = false;
	struct stat st;
	size_t end;

	while (*path == '/')
		path++;
	if (!*path || strlen(path) >= sizeof(part))
		return false;
	strcpy(part, path);
	/* Start with the whole path, so that a cgroup that does not exist is noticed first. */
	for (end = strlen(part); end; end--) {
		if (part[end] && part[end] != '/')
			continue;
		part[end] = '\0';
		if (fstatat(mount, part, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
			return false;
		owned |= st.st_uid == uid;
	}
	return owned;
}
