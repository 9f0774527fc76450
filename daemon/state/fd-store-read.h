/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What another process left in the service manager's store. */
#ifndef SPEPROF_FD_STORE_READ_H
#define SPEPROF_FD_STORE_READ_H

#include "fd-store.h"

/**
 * struct stored_session - the descriptor of a session that the bus made with a source of its own
 * @fd: -1 once it is another's, or closed
 * @used: by a session, so that it stays in the store
 */
struct stored_session {
	char name[SESSION_NAME_SIZE];
	int fd;
	bool used;
};

/**
 * struct fd_store_contents - what another process left there; -1 for what it did not
 * @session: the machine's, by part of its source
 * @own: @own_count of them
 */
struct fd_store_contents {
	int session[SOURCE_PARTS];
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

/** fd_store_close_machine() - of the machine's those that were left and have no use: ended, and closed */
void fd_store_close_machine(struct fd_store_contents *stored);

/** fd_store_find_session() - of a session of the bus, by name; NULL if none was left */
struct stored_session *fd_store_find_session(struct fd_store_contents *stored, const char *name);

/** fd_store_end_session() - nobody goes on with it; one that is another's by now is only taken out of the store */
void fd_store_end_session(struct stored_session *own);

/** fd_store_close_unclaimed() - of sessions of the bus what none has used */
void fd_store_close_unclaimed(struct fd_store_contents *stored);

#endif
