/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The service manager's store of descriptors: what it keeps for the next process (fd-store-read.h). */
#ifndef SPEPROF_FD_STORE_H
#define SPEPROF_FD_STORE_H

#include "engine/worker.h"
#include "source/partitioned.h"

#define STORE_CHECKPOINT "speprofd-checkpoint"

/* Sessions with a source of their own: all but the machine's. */
#define STORE_OWN (WORKER_SESSIONS - 1)

/* FileDescriptorStoreMax= of the unit: parts of the machine's source, these, and the checkpoint. */
#define STORE_MOST (SOURCE_PARTS + STORE_OWN + 1)

/* With its NUL. */
#define STORE_NAME_SIZE (SESSION_NAME_SIZE + 16)

/**
 * store_session_name() - how the descriptor of a session @name is called there
 * @part: of its source
 *
 * With "session-" before it, as no session's name has a "-", and "-2" behind it for the second part.
 */
void store_session_name(const char *name, u32 part, char ret[static STORE_NAME_SIZE]);

/** store_is_session() - whether @stored is such a name, of a first part; @ret_name is the session's, in it */
bool store_is_session(const char *stored, const char **ret_name);

/** store_put(), store_drop() - keep a descriptor, which stays the caller's, or no longer */
void store_put(const char *name, int fd);
void store_drop(const char *name);

/** store_session() - each part of @source, whose rings outlive this process, as the session @name's */
void store_session(const char *name, struct source *source);

/** store_drop_session() - likewise no longer; of a source that is whole */
void store_drop_session(const char *name);

#endif
