/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What files of checkpoint.h have of each other. */
#ifndef SPEPROF_RESTORE_INTERNAL_H
#define SPEPROF_RESTORE_INTERNAL_H

#include "session-record.h"

/**
 * struct loading - a checkpoint on its way
 * @state: NULL to see whether it holds together
 * @backend: of who is to go on with it
 * @reason: why not, if it is not that the checkpoint does not hold together
 * @scratch: what has no session of its own is loaded into
 * @source: of the machine's session
 * @configured: as it was for who wrote it
 * @asked_ns: the interval that the machine's session was asked for
 * @starts: sessions that ran, @start_count of them, the machine's first if it is one
 * @running: the machine's session did
 * @offline: that CPUs are was told
 */
struct loading {
	struct worker_state *state;
	u8 backend;
	const char *reason;
	struct attributor *attributor;
	struct profile *scratch;
	struct keep_restore *restore;
	struct kept_source source;
	struct keep_configured configured;
	u64 asked_ns;
	u64 saved_ns;
	u64 gap_ns;
	char version[32];
	struct session *starts[WORKER_SESSIONS];
	u32 start_count;
	bool running;
	bool offline;
};

/**
 * struct again - a session that goes on
 * @session: NULL where it does not
 * @adopted: with the rings it had
 * @why: not, if that is known
 */
struct again {
	struct session *session;
	bool adopted;
	char why[KEEP_REASON];
};

/** keep_set_configured() - what the configuration says that the bus may change */
void keep_set_configured(struct keep *keep, const struct config *config);

/** keep_backend_reason() - why figures of one backend are not the other's; NULL if they are */
const char *keep_backend_reason(u8 kept, u8 now);

/** keep_note() - one more line for who restores */
void __attribute__((format(printf, 3, 4)))
keep_note(struct keep_restore *restore, bool warning, const char *format, ...);

/** keep_tell_offline() - CPUs that went while nobody read @source, which is the one of @kept; once for all */
void keep_tell_offline(struct loading *l, const struct source *source,
		       const struct kept_source *kept);

/** keep_trouble() - what @source has of it goes on from @kept */
void keep_trouble(struct source *source, const struct source_trouble *kept);

/** keep_session_again() - a session that the bus made; its figures are not there yet */
void keep_session_again(struct loading *l, const struct kept *kept, struct again *ret);

/** keep_session_told() - its figures are: what became of it */
void keep_session_told(struct loading *l, const struct kept *kept, const struct again *again);

/** keep_session_end() - as if it had never been: it samples no more, and has gone */
void keep_session_end(struct session *session);

#endif
