/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU lists as sysfs writes them: "0-3,8". */
#ifndef SPEPROF_CPU_LIST_H
#define SPEPROF_CPU_LIST_H

#include "codec/env.h"

/* No kernel is built for more. */
#define CPU_LIST_MAX 8192

/** struct cpu_list - a set of CPUs */
struct cpu_list {
	u64 bits[CPU_LIST_MAX / 64];
};

static inline bool cpu_list_has(const struct cpu_list *list, u32 cpu)
{
	return cpu < CPU_LIST_MAX && list->bits[cpu / 64] >> cpu % 64 & 1;
}

static inline void cpu_list_set(struct cpu_list *list, u32 cpu, bool there)
{
	u64 bit = 1ULL << cpu % 64;

	if (cpu >= CPU_LIST_MAX)
		return;
	if (there)
		list->bits[cpu / 64] |= bit;
	else
		list->bits[cpu / 64] &= ~bit;
}

/** cpu_list_parse() - read @text; -EINVAL if it is no list, -ERANGE if a CPU is above */
int cpu_list_parse(const char *text, struct cpu_list *ret_list);

/** cpu_list_read() - from a file of sysfs; negative errno of the file, or as above */
int cpu_list_read(const char *path, struct cpu_list *ret_list);

/** cpu_list_end() - one more than the highest CPU, 0 if there is none */
u32 cpu_list_end(const struct cpu_list *list);

#endif
