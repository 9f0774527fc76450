/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts paths of /proc/PID/cgroup to paths from the machine's root. If the daemon runs in a
 * cgroup namespace, such as in a container, the kernel reports paths relative to that namespace:
 * "/" is the daemon's container, and "/../x" is a sibling. If the machine's hierarchy is mounted,
 * too, the daemon searches it for the missing prefix.
 */
#ifndef SPEPROF_CGROUP_NAMESPACE_H
#define SPEPROF_CGROUP_NAMESPACE_H

#include <linux/limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "codec/env.h"

/**
 * struct cgroup_namespace - the cgroup namespace of this process
 * @is_private: whether the root of the namespace is not the machine's root
 * @root_known: whether @root is valid
 * @root: the namespace's root as a path from the machine's root, without a trailing '/'; "" is the
 * machine's root
 */
struct cgroup_namespace {
	bool is_private;
	bool root_known;
	char root[PATH_MAX];
};

/** cgroup_namespace_init() - initialize @ns with the namespace of this process */
void cgroup_namespace_init(struct cgroup_namespace *ns);

/**
 * cgroup_namespace_find_root() - find the root of a process's cgroup namespace
 * @mount: mount point of the hierarchy that is searched for the process
 * @pid: the process
 * @self: its cgroup v2 path, as its namespace reports it
 * @ret_root: root of the namespace, @size bytes
 *
 * Return: 0; -ENOENT if the process is not found or outside of the namespace, or if @mount is only
 * a part of the hierarchy; -E2BIG if there are too many cgroups.
 */
int cgroup_namespace_find_root(const char *mount, pid_t pid, const char *self, char *ret_root,
			       size_t size);

/**
 * cgroup_namespace_convert_path() - convert a cgroup v2 path to one from the machine's root
 * @ns: the namespace of this process
 * @text: contents of /proc/PID/cgroup
 * @ret_path: the converted path, @size bytes
 *
 * Return: false if no conversion is needed, because the namespace is the machine's; if the result
 * would be the machine's root; or if the path cannot be converted. The caller then uses @text.
 */
bool cgroup_namespace_convert_path(const struct cgroup_namespace *ns, const char *text,
				   char *ret_path, size_t size);

/**
 * cgroup_namespace_get_warning() - return a message if @ns hides the paths of containers
 *
 * Return: a message for the log and the status line; "" if all paths can be converted.
 */
const char *cgroup_namespace_get_warning(const struct cgroup_namespace *ns);

#endif
