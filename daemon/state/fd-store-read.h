/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What another process left in the service manager's store. */
#ifndef SPEPROF_FD_STORE_READ_H
#define SPEPROF_FD_STORE_READ_H

#include "fd-store.h"

/**
 * struct stored_own - the descriptor of a session that the bus made with a source of its own
 * @fd: -1 once it is another's, or closed
 * @used: by a session, so that it stays in the store
 */
struct stored_own {
	char name[SESSION_NAME_SIZE];
	int fd;
	bool used;
};

/**
 * struct stored - what another process left there; -1 for what it did not
 * @session: the machine's, by part of its source
 * @own: @own_count of them
 */
struct stored {
	int session[SOURCE_PARTS];
	struct stored_own own[STORE_OWN];
	u32 own_count;
	int checkpoint;
};

/**
 * stored_take() - take over the descriptors that the service manager has kept
 * @ret_stored: all of them that are of use; others are closed, and taken out of the store. If the
 *	checkpoint is not among them, it is read from the file of checkpoint-file.h
 *
 * Context: once, at the start of the process.
 */
void stored_take(struct stored *ret_stored);

/** stored_drop_machine() - of the machine's those that were left and have no use: ended, and closed */
void stored_drop_machine(struct stored *stored);

/** stored_find_own() - of a session of the bus, by name; NULL if none was left */
struct stored_own *stored_find_own(struct stored *stored, const char *name);

/** stored_end_own() - nobody goes on with it; one that is another's by now is only taken out of the store */
void stored_end_own(struct stored_own *own);

/** stored_drop_own() - of sessions of the bus what none has used */
void stored_drop_own(struct stored *stored);

#endif
