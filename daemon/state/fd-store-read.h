/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors that an earlier process left in the service manager's store. */
#ifndef SPEPROF_FD_STORE_READ_H
#define SPEPROF_FD_STORE_READ_H

#include "fd-store.h"

/**
 * struct stored_session - descriptor of a session that the bus made with a source of its own
 * @name: of the session
 * @fd: -1: a source has taken it over, or it was closed
 * @used: a session uses it, so it stays in the store
 */
struct stored_session {
	char name[SESSION_NAME_SIZE];
	int fd;
	bool used;
};

/**
 * struct fd_store_contents - all stored descriptors; -1: there is none
 * @session: of the machine's session, by partition of its source
 * @own: of sessions that the bus made
 * @own_count: entries of @own
 * @checkpoint: memfd of the checkpoint
 */
struct fd_store_contents {
	int session[SOURCE_PARTITIONS_MAX];
	struct stored_session own[FD_STORE_SESSIONS];
	u32 own_count;
	int checkpoint;
};

/**
 * fd_store_read() - take over the descriptors that the service manager has kept
 * @ret_stored: all of them that are of use; others are closed, and taken out of the store. If the
 *	checkpoint is not among them, it is read from the file of checkpoint-file.h
 *
 * Context: once, at the start of the process.
 */
void fd_store_read(struct fd_store_contents *ret_stored);

/** fd_store_close_machine() - stop and close sessions of the machine that no source took over */
void fd_store_close_machine(struct fd_store_contents *stored);

/** fd_store_find_session() - find a session that the bus made, by name; NULL: there is none */
struct stored_session *fd_store_find_session(struct fd_store_contents *stored, const char *name);

/** fd_store_end_session() - remove it from the store; also stop and close it unless taken over */
void fd_store_end_session(struct stored_session *own);

/** fd_store_close_unclaimed() - fd_store_end_session() for all that no session uses */
void fd_store_close_unclaimed(struct fd_store_contents *stored);

#endif
