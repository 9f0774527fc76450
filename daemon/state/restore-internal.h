/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files for restoring a checkpoint share */
#ifndef SPEPROF_RESTORE_INTERNAL_H
#define SPEPROF_RESTORE_INTERNAL_H

#include "session-record.h"

/**
 * struct checkpoint_load_state - a checkpoint that is being loaded
 * @state: state of the worker; NULL: only check that the checkpoint is consistent
 * @backend: current backend of the machine's session
 * @reason: why the checkpoint is refused; NULL: because it is damaged
 * @attributor: tables of tasks to load into
 * @scratch: profile for sessions that are not restored
 * @restore: the request
 * @source: saved state of the machine's source
 * @configured: settings of the process that saved the checkpoint
 * @target_ns: interval that was set for the machine's session
 * @saved_ns: CLOCK_MONOTONIC of the save
 * @gap_ns: time since @saved_ns
 * @version: version of the program that saved the checkpoint
 * @starts: sessions that ran, the machine's first
 * @start_count: number of entries of @starts
 * @running: true if the machine's session ran
 * @offline: true if the note about CPUs that went offline was added
 */
struct checkpoint_load_state {
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
 * @adopted: true if it has its old rings
 * @why: why the session could not be restored, or could not keep its old rings; "": unknown
 */
struct restored_session {
	struct session *session;
	bool adopted;
	char why[RESTORE_REASON_SIZE];
};

/** checkpoint_set_settings() - copy the settings that the bus may change from @config */
void checkpoint_set_settings(struct checkpoint *checkpoint, const struct config *config);

/**
 * restore_check_backend() - check that counters of @record fit the backend @now
 *
 * Return: NULL if they fit; otherwise a sentence with the reason.
 */
const char *restore_check_backend(u8 record, u8 now);

/**
 * restore_add_note() - add a line to log; @warning: true if the session differs from the saved one
 */
void __attribute__((format(printf, 3, 4)))
restore_add_note(struct restore_request *restore, bool warning, const char *format, ...);

/**
 * restore_note_offline_cpus() - add a note, once, if CPUs of @source went offline since the save
 */
void restore_note_offline_cpus(struct checkpoint_load_state *l, const struct source *source,
			       const struct source_record *record);

/** restore_source_health() - set the counters of @source to the saved counters @record */
void restore_source_health(struct source *source, const struct source_health *record);

/**
 * restore_session_create() - restore a session of a bus client without its counters, which are
 * loaded later
 */
void restore_session_create(struct checkpoint_load_state *l, const struct session_record *record,
			    struct restored_session *ret);

/**
 * restore_session_report() - add notes about the result, after the session's counters were loaded
 */
void restore_session_report(struct checkpoint_load_state *l, const struct session_record *record,
			    const struct restored_session *restored);

/** restore_session_remove() - stop and remove a session that could not be restored */
void restore_session_remove(struct session *session);

#endif
