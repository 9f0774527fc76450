/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a profile is held against: the kernel's account of the CPU time that
 * processes had, and that the machine was busy.
 */
#ifndef SPEPROF_DEMO_TRUTH_H
#define SPEPROF_DEMO_TRUTH_H

#include <sys/types.h>

#include "codec/env.h"

/**
 * truth_process() - CPU time of a process with all its threads so far, in ns
 *
 * Return: 0, or a negative errno if there is no such process.
 */
int truth_process(pid_t pid, u64 *ret_ns);

/**
 * struct truth_machine - what the CPUs did, summed over them
 * @awake_ns: time that they were not idle, measured
 * @stolen_ns: time that a hypervisor gave to others, idle or not
 * @worked_ns: user, system and interrupt time, which many kernels count by ticks
 */
struct truth_machine {
	u64 awake_ns;
	u64 stolen_ns;
	u64 worked_ns;
};

/**
 * truth_machine() - all of it so far
 *
 * Offline CPUs must stay so between two calls.
 *
 * Return: 0, or a negative errno if /proc/stat cannot be read.
 */
int truth_machine(struct truth_machine *ret_machine);

/**
 * truth_busy() - time that programs and the kernel ran between two moments, in ns
 * @from, @to: as truth_machine() had them
 *
 * What is stolen while nothing runs is idle time to Linux as well, what is stolen from a program
 * is not: with and without it are bounds, and one where nothing is stolen. Between them ticks tell.
 */
u64 truth_busy(const struct truth_machine *from, const struct truth_machine *to);

#endif
