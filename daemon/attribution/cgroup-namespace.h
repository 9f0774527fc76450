/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts paths of /proc/PID/cgroup to paths from the machine's root. In a cgroup namespace of
 * its own, such as in a container, the kernel reports paths relative to the namespace: "/" is
 * the container's own cgroup, and a neighbour is "/../x". If the machine's hierarchy is mounted
 * as well, it reveals the missing prefix.
 */
#ifndef SPEPROF_CGROUP_NAMESPACE_H
#define SPEPROF_CGROUP_NAMESPACE_H

#include <linux/limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "codec/env.h"

/**
 * struct cgroup_namespace - the root of the reported paths
 * @own: the namespace's root is not the machine's
 * @known: @root is valid
 * @root: the namespace's root as a path from the machine's root, without a trailing '/'; "" is
 *	the machine's root
 */
struct cgroup_namespace {
	bool own;
	bool known;
	char root[PATH_MAX];
};

/** cgroup_namespace_init() - find the namespace of this process; on failure @known is false */
void cgroup_namespace_init(struct cgroup_namespace *space);

/**
 * cgroup_namespace_find() - search for process @pid in the hierarchy mounted at @mount
 * @self: its path of version 2, as reported in its namespace
 * @ret_root: root of the namespace, @size bytes
 *
 * Return: 0; -ENOENT if it is not found, or @mount is not the whole hierarchy; -E2BIG if there
 * are too many cgroups.
 */
int cgroup_namespace_find(const char *mount, pid_t pid, const char *self, char *ret_root,
			  size_t size);

/**
 * cgroup_namespace_path() - return the machine's path of version 2 for a text of
 * /proc/PID/cgroup
 *
 * Return: false if the text has no path except "/", or the path cannot be converted; use the
 * text itself then.
 */
bool cgroup_namespace_path(const struct cgroup_namespace *space, const char *text, char *ret_path,
			   size_t size);

/**
 * cgroup_namespace_reason() - explain what is unknown because of the namespace; "" if nothing is
 */
const char *cgroup_namespace_reason(const struct cgroup_namespace *space);

#endif
