// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sessions of cgroups while everything around them changes.
 */
#include "kcgroup.h"

const struct ktest ktests_cgroup_stress[] = {
	{ 0 },
};
