/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What another process of this service left: taken up once, told of, and stored for the next one. */
#ifndef SPEPROF_RESTORE_ON_START_H
#define SPEPROF_RESTORE_ON_START_H

#include "checkpoint.h"
#include "config/config.h"
#include "engine/worker.h"
#include "fd-store-read.h"

/**
 * struct restore_on_start
 * @config, @stored, @worker: borrowed; of @stored nothing is left but the machine's sessions
 * @adopted: the machine's source is the one that it was
 * @checkpoint: out: NULL where nobody keeps anything for the next process; the caller's
 * @stopped: out: the machine's session was, and is to stay so
 */
struct restore_on_start {
	const struct config *config;
	struct fd_store_contents *stored;
	struct worker *worker;
	bool adopted;
	struct checkpoint *checkpoint;
	bool stopped;
};

/** restore_on_start_run() - once the bus is there, before the machine's session begins; an exit status, 0 to go on */
int restore_on_start_run(struct restore_on_start *t);

/** restore_on_start_store() - what the next process is to find; one that is there already is not kept twice */
void restore_on_start_store(struct restore_on_start *t);

#endif
