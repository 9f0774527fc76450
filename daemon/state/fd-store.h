/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stores descriptors with the service manager, which passes them to the next process
 * (fd-store-read.h).
 */
#ifndef SPEPROF_FD_STORE_H
#define SPEPROF_FD_STORE_H

#include "engine/worker.h"
#include "source/partitioned.h"

#define FD_STORE_CHECKPOINT "speprofd-checkpoint"

/* Most sessions with a source of their own, beside the machine's. */
#define FD_STORE_SESSIONS (WORKER_SESSIONS - 1)

/* FileDescriptorStoreMax= of the unit: the machine's partitions, sessions, and the checkpoint. */
#define FD_STORE_MAX (SOURCE_PARTITIONS_MAX + FD_STORE_SESSIONS + 1)

/* Bytes of a descriptor's name, its NUL included. */
#define FD_STORE_NAME_SIZE (SESSION_NAME_SIZE + 16)

/**
 * fd_store_session_name() - the name under which a session's descriptor is stored
 * @name: of the session
 * @part: partition of its source, from 0
 * @ret: "session-NAME", and "session-NAME-2" for the second partition. A session's name has no "-"
 */
void fd_store_session_name(const char *name, u32 part, char ret[static FD_STORE_NAME_SIZE]);

/**
 * fd_store_is_session() - whether a name is that of a session's first partition
 * @stored: name of a stored descriptor
 * @ret_name: the session's name; points into @stored
 */
bool fd_store_is_session(const char *stored, const char **ret_name);

/** fd_store_put() - store a copy of @fd as @name; without a service manager it has no effect */
void fd_store_put(const char *name, int fd);

/** fd_store_remove() - remove all descriptors called @name from the store */
void fd_store_remove(const char *name);

/** fd_store_put_session() - store the descriptor of each partition of @source for @name */
void fd_store_put_session(const char *name, struct source *source);

/** fd_store_remove_session() - remove the descriptor of the unpartitioned session @name */
void fd_store_remove_session(const char *name);

#endif
