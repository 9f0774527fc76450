/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths of /proc/PID/cgroup as the machine has them. Who is in a cgroup namespace of its own,
 * as in a container, is told paths from there: "/" is its own cgroup, its neighbour "/../x".
 * Where the machine's hierarchy is mounted too, that says what was cut off.
 */
#ifndef SPEPROF_CGROUP_NAMESPACE_H
#define SPEPROF_CGROUP_NAMESPACE_H

#include <linux/limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "codec/env.h"

/**
 * struct cgroup_namespace - where paths begin
 * @own: not at the machine's root
 * @known: @root is it
 * @root: of the namespace, from the machine's root, without a '/' at its end: "" is that root itself
 */
struct cgroup_namespace {
	bool own;
	bool known;
	char root[PATH_MAX];
};

/** cgroup_namespace_init() - of this process; what cannot be found out is not @known */
void cgroup_namespace_init(struct cgroup_namespace *space);

/**
 * cgroup_namespace_find() - the part of cgroup_namespace_init() that looks: @pid in the hierarchy at @mount
 * @self: its path of version 2, as its namespace has it
 *
 * Return: 0; -ENOENT if it is not there, or @mount is not the whole hierarchy; -E2BIG if there are
 * too many cgroups.
 */
int cgroup_namespace_find(const char *mount, pid_t pid, const char *self, char *ret_root,
			  size_t size);

/**
 * cgroup_namespace_path() - the path of version 2 in the text of a /proc/PID/cgroup, as the machine has it
 *
 * Return: false where there is none but "/", or it cannot be told: the text tells what there is.
 */
bool cgroup_namespace_path(const struct cgroup_namespace *space, const char *text, char *ret_path,
			   size_t size);

/** cgroup_namespace_reason() - what is not told because of it, for people; "" if nothing */
const char *cgroup_namespace_reason(const struct cgroup_namespace *space);

#endif
