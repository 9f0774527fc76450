/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stage of a demo: a bus, a daemon and programs that nobody else sees, with
 * nothing of them left when it is taken down.
 */
#ifndef SPEPROF_DEMO_STAGE_H
#define SPEPROF_DEMO_STAGE_H

#include <sys/types.h>

#include "codec/env.h"

#define STAGE_PROCESSES 4
#define STAGE_PATH	256

/**
 * struct stage_process
 * @name: for messages; also of its cgroup, "demo-" before it
 * @out: its standard output, -1 if it was not asked for
 * @cgroup: the directory made for it, "" for none
 */
struct stage_process {
	const char *name;
	pid_t pid;
	int out;
	char cgroup[STAGE_PATH];
};

/**
 * struct stage
 * @build: the build tree that this command is part of
 * @directory: private, of the bus
 * @address: of the bus
 * @cgroup: where cgroups are made, "" for nowhere
 * @signals: signalfd of what ends a process
 * @signal: the one that came, 0 for none
 */
struct stage {
	char build[STAGE_PATH];
	char directory[STAGE_PATH];
	char address[STAGE_PATH];
	char cgroup[STAGE_PATH];
	struct stage_process process[STAGE_PROCESSES];
	unsigned int processes;
	int signals;
	int signal;
};

/**
 * stage_up() - the private bus, and a place for cgroups where that may be had
 * @stage: to be ended by stage_down(), whatever is returned
 *
 * Return: &enum status; failures are said.
 */
int stage_up(struct stage *stage);

#define STAGE_READY  (1U << 0) /* wait until it prints a line, or ends */
#define STAGE_CGROUP (1U << 1) /* in one of its own, if there is a place for it */
#define STAGE_QUIET  (1U << 2) /* its standard error is not for the user */

/**
 * stage_start() - start a program, which dies with this process
 * @program: path below the build tree; NULL: argv[0], by PATH
 * @argv: from argv[0] on
 * @flags: STAGE_*
 *
 * Return: &enum status; failures are said.
 */
int stage_start(struct stage *stage, const char *program, const char *const argv[], u32 flags,
		struct stage_process **ret_process);

/**
 * stage_ended() - whether @process has ended by itself
 * @ret_status: its exit status, 128 + the signal that ended it
 */
bool stage_ended(struct stage_process *process, int *ret_status);

/**
 * stage_sleep() - until CLOCK_MONOTONIC's @until_ns
 *
 * Return: false if a signal came that ends this process.
 */
bool stage_sleep(struct stage *stage, u64 until_ns);

/** stage_now() - CLOCK_MONOTONIC */
u64 stage_now(void);

/** stage_down() - end all processes, remove all that was made; raises the signal that came */
void stage_down(struct stage *stage);

#endif
