/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon finds the task of a sample by the thread ID in its record. If records have no thread
 * ID, the daemon follows context switches instead. It also follows them until the first record
 * shows whether records have a thread ID.
 */
#ifndef SPEPROF_TASK_IDS_H
#define SPEPROF_TASK_IDS_H

#include "worker.h"

/**
 * task_ids_switches_are_useless() - check whether context switches are followed although they are
 * not needed
 * @state: the worker's
 *
 * Return: true if the records of the machine's session identify their task, and switches are
 * followed.
 */
bool task_ids_switches_are_useless(struct worker_state *state);

/**
 * task_ids_stop_switches() - stop following context switches
 * @state: the worker's
 *
 * Context: the worker's thread, with the write lock.
 */
void task_ids_stop_switches(struct worker_state *state);

/**
 * task_ids_fill_header() - write to a header by which method the tasks of samples are found
 * @state: the worker's
 * @header: &view_header.task_ids and &view_header.switches are set. &view_header.tasks_reason gets
 *	the reason if no sample can be attributed
 */
void task_ids_fill_header(struct worker_state *state, struct view_header *header);

#endif
