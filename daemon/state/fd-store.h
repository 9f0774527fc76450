/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Store descriptors for the next process in the file descriptor store of the service manager, and
 * read those that an earlier process stored.
 */
#ifndef SPEPROF_FD_STORE_H
#define SPEPROF_FD_STORE_H

#include "engine/worker.h"
#include "source/partitioned.h"

#define FD_STORE_CHECKPOINT "speprofd-checkpoint"

/* Entries of &fd_store_contents.own: sessions with their own source, without "machine". */
#define FD_STORE_SESSIONS (WORKER_SESSIONS - 1)

/*
 * FileDescriptorStoreMax= of the unit: partitions of the machine's source, sessions, and the
 * checkpoint
 */
#define FD_STORE_MAX (SOURCE_PARTITIONS_MAX + FD_STORE_SESSIONS + 1)

/* Size of a descriptor's name in bytes, including its NUL. */
#define FD_STORE_NAME_SIZE (SESSION_NAME_SIZE + 16)

/**
 * fd_store_format_session_name() - write the name under which a session's descriptor is stored
 * @name: name of the session
 * @part: number of the partition of the session's source, from 0
 * @ret: "session-NAME", and "session-NAME-2" for the second partition. A session's name has no "-"
 */
void fd_store_format_session_name(const char *name, u32 part, char ret[static FD_STORE_NAME_SIZE]);

/**
 * fd_store_name_is_session() - return true if a stored name belongs to the first partition of a
 * session
 * @stored: name of a stored descriptor
 * @ret_name: the session's name; points into @stored
 */
bool fd_store_name_is_session(const char *stored, const char **ret_name);

/** fd_store_put() - store a copy of @fd as @name; does nothing without a service manager */
void fd_store_put(const char *name, int fd);

/** fd_store_remove() - remove all descriptors called @name from the store */
void fd_store_remove(const char *name);

/** fd_store_put_session() - store the descriptor of each partition of @source, for session @name */
void fd_store_put_session(const char *name, struct source *source);

/** fd_store_remove_session() - remove the descriptor of the unpartitioned session @name */
void fd_store_remove_session(const char *name);

/**
 * struct stored_session - descriptor of a session that a bus client created with its own source
 * @name: name of the session
 * @fd: the descriptor; -1 if a source owns it now, or if it was closed
 * @used: true if a session uses the descriptor, so that it stays in the store
 */
struct stored_session {
	char name[SESSION_NAME_SIZE];
	int fd;
	bool used;
};

/**
 * struct fd_store_contents - all stored descriptors; -1: there is none
 * @session: descriptors of the machine's session, indexed by partition of its source
 * @own: descriptors of sessions of bus clients
 * @own_count: number of entries of @own
 * @checkpoint: memfd of the checkpoint
 */
struct fd_store_contents {
	int session[SOURCE_PARTITIONS_MAX];
	struct stored_session own[FD_STORE_SESSIONS];
	u32 own_count;
	int checkpoint;
};

/**
 * fd_store_read() - take ownership of the descriptors that the service manager has stored
 * @ret_stored: all descriptors with known names; others are closed, and removed from the store. If
 * the store has no checkpoint, it is read from the file of checkpoint-file.h
 *
 * Context: once, at the start of the process.
 */
void fd_store_read(struct fd_store_contents *ret_stored);

/** fd_store_close_machine() - stop and close sessions of the machine that no source has adopted */
void fd_store_close_machine(struct fd_store_contents *stored);

/**
 * fd_store_find_session() - find a session of a bus client by name; returns NULL if there is none
 */
struct stored_session *fd_store_find_session(struct fd_store_contents *stored, const char *name);

/**
 * fd_store_close_session() - remove a session from the store; stop and close it unless a source has
 * adopted its descriptor
 */
void fd_store_close_session(struct stored_session *own);

/**
 * fd_store_close_unused_sessions() - call fd_store_close_session() for all sessions that are not
 * used
 */
void fd_store_close_unused_sessions(struct fd_store_contents *stored);

#endif
