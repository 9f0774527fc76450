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
 * @target_ns: the interval that the machine's session was asked for
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
	struct restore_request *restore;
	struct source_record source;
	struct checkpoint_configured configured;
	u64 target_ns;
	u64 saved_ns;
	u64 gap_ns;
	char version[32];
	struct session *starts[WORKER_SESSIONS];
	u32 start_count;
	bool running;
	bool offline;
};

/**
 * struct restored_session - a session that goes on
 * @session: NULL where it does not
 * @adopted: with the rings it had
 * @why: not, if that is known
 */
struct restored_session {
	struct session *session;
	bool adopted;
	char why[RESTORE_REASON];
};

/** checkpoint_set_configured() - what the configuration says that the bus may change */
void checkpoint_set_configured(struct checkpoint *checkpoint, const struct config *config);

/** restore_backend_mismatch() - why figures of one backend are not the other's; NULL if they are */
const char *restore_backend_mismatch(u8 record, u8 now);

/** restore_add_note() - one more line for who restores */
void __attribute__((format(printf, 3, 4)))
restore_add_note(struct restore_request *restore, bool warning, const char *format, ...);

/** restore_log_offline() - CPUs that went while nobody read @source, which is the one of @record; once for all */
void restore_log_offline(struct loading *l, const struct source *source,
			 const struct source_record *record);

/** restore_trouble() - what @source has of it goes on from @record */
void restore_trouble(struct source *source, const struct source_trouble *record);

/** restore_session_create() - a session that the bus made; its figures are not there yet */
void restore_session_create(struct loading *l, const struct session_record *record,
			    struct restored_session *ret);

/** restore_session_report() - its figures are: what became of it */
void restore_session_report(struct loading *l, const struct session_record *record,
			    const struct restored_session *restored);

/** restore_session_remove() - as if it had never been: it samples no more, and has gone */
void restore_session_remove(struct session *session);

#endif
