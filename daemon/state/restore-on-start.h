/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Restore the state of an earlier process at the start, and store it for the next process. */
#ifndef SPEPROF_RESTORE_ON_START_H
#define SPEPROF_RESTORE_ON_START_H

#include "checkpoint.h"
#include "config/config.h"
#include "engine/worker.h"
#include "fd-store.h"

/**
 * struct restore_on_start_args - arguments and results
 * @config: borrowed
 * @stored: stored descriptors; afterwards it contains only descriptors of the machine's session;
 * borrowed
 * @worker: has the machine's session, not started; borrowed
 * @adopted: true if the machine's source has its old rings
 * @checkpoint: result, owned by the caller; NULL: no service manager stores it for the next process
 * @stopped: result: true if the machine's session was stopped in the checkpoint, and must not be
 * started
 */
struct restore_on_start_args {
	const struct config *config;
	struct fd_store_contents *stored;
	struct worker *worker;
	bool adopted;
	struct checkpoint *checkpoint;
	bool stopped;
};

/**
 * restore_on_start_run() - restore everything
 * @t: arguments and results
 *
 * Context: the main thread, after the bus is connected and before the machine's session starts.
 * Return: 0 if the start should continue, else the exit status.
 */
int restore_on_start_run(struct restore_on_start_args *t);

/**
 * restore_on_start_store() - store the checkpoint, and all descriptors that are not stored yet, in
 * the service manager
 */
void restore_on_start_store(struct restore_on_start_args *t);

#endif
