/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of cgroups in calls, and the check that samples can be counted to them. */
#ifndef SPEPROF_CGROUP_PATHS_H
#define SPEPROF_CGROUP_PATHS_H

#include <systemd/sd-bus.h>

/**
 * bus_read_cgroups() - read the next argument, an array of cgroup paths
 * @m: a message, before the array
 * @ret_cgroups: NULL-terminated; freed by bus_strings_free()
 * @ret_error: set on failure; names the path and what would be right
 *
 * Samples are counted to the cgroup of a container or unit. A cgroup inside of one is refused: the
 * module would sample its tasks, and no sample would be counted to it.
 *
 * Return: 0; negative errno with @ret_error set.
 */
int bus_read_cgroups(sd_bus_message *m, char ***ret_cgroups, sd_bus_error *ret_error);

/** bus_check_cgroups() - the same check for a list that was read, NULL-terminated */
int bus_check_cgroups(char *const *cgroups, sd_bus_error *ret_error);

#endif
