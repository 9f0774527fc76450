/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cgroups of a session of the module. They are passed to the module as descriptors of
 * directories.
 */
#ifndef SPEPROF_MODULE_CGROUPS_H
#define SPEPROF_MODULE_CGROUPS_H

#include <linux/speprof.h>

#include "codec/env.h"

/** struct module_cgroups - @count descriptors of cgroup directories */
struct module_cgroups {
	s32 fd[SPEPROF_CGROUPS_MAX];
	u32 count;
};

/**
 * module_cgroups_open() - open cgroup directories
 * @paths: paths below the mount of cgroup v2, beginning with "/"; NULL-terminated
 * @skip_missing: ignore paths that do not exist
 * @ret_cgroups: the open directories; close them with module_cgroups_close()
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -ENOENT if a cgroup does not exist; -E2BIG if there are more than
 * SPEPROF_CGROUPS_MAX; another negative errno.
 */
int module_cgroups_open(char *const *paths, bool skip_missing, struct module_cgroups *ret_cgroups,
			const char **ret_reason);

/** module_cgroups_close() - close the directories */
void module_cgroups_close(struct module_cgroups *cgroups);

/**
 * module_cgroups_replace() - replace the set of cgroups that @session samples; returns 0 or
 * negative errno
 */
int module_cgroups_replace(int session, const struct module_cgroups *cgroups);

#endif
