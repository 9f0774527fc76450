/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether this machine has SPE, whoever samples it. */
#ifndef SPEPROF_SPE_HERE_H
#define SPEPROF_SPE_HERE_H

#include <stdbool.h>

/**
 * spe_here() - whether a driver has an SPU: arm_spe_pmu, or speprof.ko
 * @sys: where sysfs is, "/sys"
 *
 * Asks nobody but sysfs, so that it is known without the daemon too. An SPU that no driver has
 * is not found: firmware and doctor know of it.
 */
bool spe_here(const char *sys);

#endif
