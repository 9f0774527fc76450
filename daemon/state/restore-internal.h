/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that restore a checkpoint. */
#ifndef SPEPROF_RESTORE_INTERNAL_H
#define SPEPROF_RESTORE_INTERNAL_H

#include "session-record.h"

/**
 * struct loading - a checkpoint that is being loaded
 * @state: the worker's; NULL: only check that the checkpoint is consistent
 * @backend: of today's source of the machine's session
 * @reason: why it is refused; NULL: it is damaged
 * @attributor: tables of tasks to load into
 * @scratch: profile for sessions that are not restored
 * @restore: the request
 * @source: saved state of the machine's source
 * @configured: settings of the process that saved
 * @target_ns: interval that the machine's session was set to
 * @saved_ns: when it was saved, CLOCK_MONOTONIC
 * @gap_ns: time since then
 * @version: of the program that saved
 * @starts: sessions that ran, the machine's first
 * @start_count: entries of @starts
 * @running: the machine's session ran
 * @offline: the note about CPUs that went offline was written
 */
struct loading {
	struct worker_state *state;
	u8 backend;
	const char *reason;
	struct attributor *attributor;
	struct profile *scratch;
	struct restore_request *restore;
	struct source_record source;
	struct checkpoint_settings configured;
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
 * struct restored_session - result of restore_session_create()
 * @session: the session; NULL: it could not be restored
 * @adopted: it has its old rings
 * @why: why it could not be restored, or not with its old rings; "": unknown
 */
struct restored_session {
	struct session *session;
	bool adopted;
	char why[RESTORE_REASON];
};

/** checkpoint_set_settings() - copy the settings that the bus may change from @config */
void checkpoint_set_settings(struct checkpoint *checkpoint, const struct config *config);

/** restore_backend_mismatch() - why counters of @record do not fit backend @now; NULL: they do */
const char *restore_backend_mismatch(u8 record, u8 now);

/** restore_add_note() - add a line to log; @warning: the session differs from what it was */
void __attribute__((format(printf, 3, 4)))
restore_add_note(struct restore_request *restore, bool warning, const char *format, ...);

/** restore_log_offline() - add a note, once, if CPUs of @source went offline since the save */
void restore_log_offline(struct loading *l, const struct source *source,
			 const struct source_record *record);

/** restore_health() - add the saved counters @record to those of @source */
void restore_health(struct source *source, const struct source_health *record);

/** restore_session_create() - make a session of the bus again; its counters follow later */
void restore_session_create(struct loading *l, const struct session_record *record,
			    struct restored_session *ret);

/** restore_session_report() - add notes about the result, after its counters were loaded */
void restore_session_report(struct loading *l, const struct session_record *record,
			    const struct restored_session *restored);

/** restore_session_remove() - stop and remove a session that could not be restored */
void restore_session_remove(struct session *session);

#endif
