/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find out whether systemd delegated a cgroup to a user. Such a user owns the directory of the
 * cgroup, and therefore counts as the owner of all cgroups below it.
 */
#ifndef SPEPROF_CGROUP_OWNER_H
#define SPEPROF_CGROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * cgroup_owner_open() - open the mount point of cgroup v2
 *
 * Return: a descriptor, which the caller closes; negative errno.
 */
int cgroup_owner_open(void);

/**
 * cgroup_is_owned_by() - return whether a user owns a cgroup or one above it
 * @mount: descriptor from cgroup_owner_open(); tests pass another directory. The owner of the mount
 * point itself does not count
 * @path: path of the cgroup; absolute, relative to @mount. Symbolic links are not followed
 * @uid: the user
 *
 * Return: true if the user owns it; false if not, or if the cgroup does not exist.
 */
bool cgroup_is_owned_by(int mount, const char *path, uid_t uid);

#endif
