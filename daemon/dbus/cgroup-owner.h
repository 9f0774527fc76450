/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The user to which systemd delegated a cgroup. This user owns the directory of the cgroup, and
 * therefore counts as the owner of all cgroups below it.
 */
#ifndef SPEPROF_CGROUP_OWNER_H
#define SPEPROF_CGROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/** cgroup_owner_open() - open the mount of cgroup v2: a descriptor to close, or negative errno */
int cgroup_owner_open(void);

/**
 * cgroup_is_owned_by() - whether a user owns a cgroup or one above it
 * @mount: a descriptor of the root, by cgroup_owner_open(); tests pass another directory. Its own
 *	owner does not count
 * @path: of the cgroup; absolute, below @mount. Symbolic links are not followed
 * @uid: the user
 *
 * Return: true if so; false also for a cgroup that does not exist any more.
 */
bool cgroup_is_owned_by(int mount, const char *path, uid_t uid);

#endif
