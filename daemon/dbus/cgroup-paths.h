/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups that a session is to count, as a call has them: such of which there can be samples. */
#ifndef SPEPROF_CGROUP_PATHS_H
#define SPEPROF_CGROUP_PATHS_H

#include <systemd/sd-bus.h>

/**
 * bus_read_cgroups() - the array of paths at hand
 *
 * Samples are of containers and units, by their own cgroup. A path that lies inside of one would be
 * sampled, by the module in hardware, and none of it counted: it is refused.
 *
 * @ret_cgroups: NULL-terminated, as bus_read_strings() has it
 *
 * Return: 0; negative errno, and @ret_error says which is wrong and why.
 */
int bus_read_cgroups(sd_bus_message *m, char ***ret_cgroups, sd_bus_error *ret_error);

/** bus_check_cgroups() - as above, of a list that was read */
int bus_check_cgroups(char *const *cgroups, sd_bus_error *ret_error);

#endif
