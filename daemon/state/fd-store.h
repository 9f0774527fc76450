/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The service manager's store of descriptors: what it keeps for the next process (fd-store-read.h). */
#ifndef SPEPROF_FD_STORE_H
#define SPEPROF_FD_STORE_H

#include "engine/worker.h"
#include "source/partitioned.h"

#define FD_STORE_CHECKPOINT "speprofd-checkpoint"

/* Sessions with a source of their own: all but the machine's. */
#define FD_STORE_SESSIONS (WORKER_SESSIONS - 1)

/* FileDescriptorStoreMax= of the unit: parts of the machine's source, these, and the checkpoint. */
#define FD_STORE_MAX (SOURCE_PARTS + FD_STORE_SESSIONS + 1)

/* With its NUL. */
#define FD_STORE_NAME_SIZE (SESSION_NAME_SIZE + 16)

/**
 * fd_store_session_name() - how the descriptor of a session @name is called there
 * @part: of its source
 *
 * With "session-" before it, as no session's name has a "-", and "-2" behind it for the second part.
 */
void fd_store_session_name(const char *name, u32 part, char ret[static FD_STORE_NAME_SIZE]);

/** fd_store_is_session() - whether @stored is such a name, of a first part; @ret_name is the session's, in it */
bool fd_store_is_session(const char *stored, const char **ret_name);

/** fd_store_put(), fd_store_remove() - keep a descriptor, which stays the caller's, or no longer */
void fd_store_put(const char *name, int fd);
void fd_store_remove(const char *name);

/** fd_store_put_session() - each part of @source, whose rings outlive this process, as the session @name's */
void fd_store_put_session(const char *name, struct source *source);

/** fd_store_remove_session() - likewise no longer; of a source that is whole */
void fd_store_remove_session(const char *name);

#endif
