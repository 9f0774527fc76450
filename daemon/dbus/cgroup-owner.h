/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose a cgroup is: who owns the directory of it, or of one above, was given what is below. */
#ifndef SPEPROF_CGROUP_OWNER_H
#define SPEPROF_CGROUP_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/** cgroup_owner_open() - the mount of cgroup v2, or a negative errno */
int cgroup_owner_open(void);

/**
 * cgroup_owner_is() - whether @path is @uid's
 * @mount: a directory, not necessarily of cgroup_owner_open(): the root, which is nobody's
 * @path: absolute, below @mount
 *
 * Of one that is not there (any more) it is nobody's.
 */
bool cgroup_owner_is(int mount, const char *path, uid_t uid);

#endif
