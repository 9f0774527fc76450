/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read lists of cgroups from calls, and check that samples can be counted for each of them. */
#ifndef SPEPROF_CGROUP_PATHS_H
#define SPEPROF_CGROUP_PATHS_H

#include <systemd/sd-bus.h>

/**
 * bus_read_cgroups() - read the next argument, an array of cgroup paths
 * @m: a message; its next argument is the array
 * @ret_cgroups: NULL-terminated; freed by bus_strings_free()
 * @ret_error: set on failure; contains the path and the accepted form
 *
 * Samples are counted for the cgroup of a container or unit. A cgroup inside of a container or unit
 * is refused: the module would sample the tasks of that cgroup, but no sample would be counted for
 * its path.
 *
 * Return: 0; a negative errno if a path is invalid or cannot be read, with @ret_error set.
 */
int bus_read_cgroups(sd_bus_message *m, char ***ret_cgroups, sd_bus_error *ret_error);

/**
 * bus_check_cgroups() - check a NULL-terminated list of cgroups, and return the same errors as
 * bus_read_cgroups()
 */
int bus_check_cgroups(char *const *cgroups, sd_bus_error *ret_error);

#endif
