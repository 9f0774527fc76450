/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a profile is held against: the kernel's account of the CPU time that
 * processes had, and that the machine was busy.
 */
#ifndef SPEPROF_DEMO_TRUTH_H
#define SPEPROF_DEMO_TRUTH_H

#include <sys/types.h>

#include "env.h"

/**
 * truth_process() - CPU time of a process with all its threads so far, in ns
 *
 * Return: 0, or a negative errno if there is no such process.
 */
int truth_process(pid_t pid, u64 *ret_ns);

/**
 * truth_machine() - time that CPUs did anything so far, summed over them, in ns
 *
 * From what they were not idle: that is measured, while the times of work in
 * /proc/stat are counted by ticks on many kernels. Offline CPUs must stay so
 * between two calls. Time that a hypervisor took is in it: Linux counts what it
 * took from an idle CPU both as idle and as stolen, so that without it programs
 * could have run for longer than the machine.
 *
 * Return: 0, or a negative errno if /proc/stat cannot be read.
 */
int truth_machine(u64 *ret_ns);

#endif
