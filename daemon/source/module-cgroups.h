/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups for a session of the module: their directories, opened by path. */
#ifndef SPEPROF_MODULE_CGROUPS_H
#define SPEPROF_MODULE_CGROUPS_H

#include <linux/speprof.h>

#include "codec/env.h"

/** struct module_cgroups - descriptors, as the module takes them */
struct module_cgroups {
	s32 fd[SPEPROF_CGROUPS_MAX];
	u32 count;
};

/**
 * module_cgroups_open() - directories of cgroup v2
 * @paths: below its mount, beginning with "/"; NULL-terminated
 * @known: leave out what is not there
 * @ret_reason: on failure, a static sentence
 *
 * Return: 0; -ENOENT where one is not there; -E2BIG where there are more than a session can have;
 * other negative errno.
 */
int module_cgroups_open(char *const *paths, bool known, struct module_cgroups *ret_cgroups,
			const char **ret_reason);
void module_cgroups_close(struct module_cgroups *cgroups);

/** module_cgroups_replace() - have @session sample these and no others; 0 or negative errno */
int module_cgroups_replace(int session, const struct module_cgroups *cgroups);

#endif
