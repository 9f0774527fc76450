/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of CPUs, parsed from the list format of sysfs, such as "0-3,8". */
#ifndef SPEPROF_CPU_LIST_H
#define SPEPROF_CPU_LIST_H

#include "codec/env.h"

/* Bits of &cpu_list.bits: all CPU numbers are below. NR_CPUS of each kernel is smaller. */
#define CPU_LIST_MAX 8192

/** struct cpu_list - a set of CPUs: bit N is set if it contains CPU N */
struct cpu_list {
	u64 bits[CPU_LIST_MAX / 64];
};

/** cpu_list_has() - return true if @list contains @cpu */
static inline bool cpu_list_has(const struct cpu_list *list, u32 cpu)
{
	return cpu < CPU_LIST_MAX && list->bits[cpu / 64] >> cpu % 64 & 1;
}

/** cpu_list_set() - add @cpu to @list, or remove it if @present is false */
static inline void cpu_list_set(struct cpu_list *list, u32 cpu, bool present)
{
	u64 bit = 1ULL << cpu % 64;

	if (cpu >= CPU_LIST_MAX)
		return;
	if (present)
		list->bits[cpu / 64] |= bit;
	else
		list->bits[cpu / 64] &= ~bit;
}

/**
 * cpu_list_parse() - parse a list of CPUs
 *
 * Return: 0; -EINVAL if @text is not a list; -ERANGE if a CPU number is CPU_LIST_MAX or larger.
 */
int cpu_list_parse(const char *text, struct cpu_list *ret_list);

/**
 * cpu_list_read() - parse a file of sysfs; returns as cpu_list_parse(), or the negative errno of
 * open() or read()
 */
int cpu_list_read(const char *path, struct cpu_list *ret_list);

/** cpu_list_read_online() - read which CPUs are online now; returns as cpu_list_read() */
int cpu_list_read_online(struct cpu_list *ret_list);

/** cpu_list_read_possible() - read which CPUs may ever be online; returns as cpu_list_read() */
int cpu_list_read_possible(struct cpu_list *ret_list);

/** cpu_list_get_end() - return the highest CPU number plus one, or 0 for an empty set */
u32 cpu_list_get_end(const struct cpu_list *list);

#endif
