/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Check if systemd delegated a cgroup to a user. Such a user owns the directory of the cgroup, and
 * therefore counts as the owner of all cgroups below it.
 */
#ifndef SPEPROF_CGROUP_OWNER_H
#define SPEPROF_CGROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "codec/env.h"

/**
 * cgroup_owner_open_mount() - open the mount point of cgroup v2
 *
 * Return: a descriptor, which the caller closes; negative errno.
 */
int cgroup_owner_open_mount(void);

/**
 * cgroup_is_owned_by() - return true if a user owns a cgroup or one above it
 * @mount: descriptor from cgroup_owner_open_mount(); tests pass another directory. The owner of the
 * mount point itself does not count
 * @path: path of the cgroup; absolute, relative to @mount. Symbolic links are not followed
 * @uid: the user
 *
 * Return: true if the user owns one of these cgroups; false if not, or if the cgroup at @path does
 * not exist.
 */
bool cgroup_is_owned_by(int mount, const char *path, uid_t uid);

/**
 * struct cgroup_ownership - the start of the time for which a user has owned a cgroup
 * @inode: inode of the cgroup
 * @since_us: CLOCK_REALTIME in microseconds at which the directory that the user owns was created
 * or last changed; if the user owns several directories of the path, the earliest time
 */
struct cgroup_ownership {
	u64 inode;
	s64 since_us;
};

/**
 * cgroup_get_ownership() - find the start of the time for which a user has owned a cgroup or one
 * above it
 * @mount, @path, @uid: as for cgroup_is_owned_by()
 * @ret_ownership: set if the result is true
 *
 * Return: true if the user owns one of these cgroups.
 */
bool cgroup_get_ownership(int mount, const char *path, uid_t uid,
			  struct cgroup_ownership *ret_ownership);

#endif
