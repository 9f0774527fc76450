/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Save the state that outlives the process: all tables, in a memfd, and the position up to which
 * each ring was read. A ring releases bytes only after a checkpoint contains the samples that were
 * read from them. So if this process is killed at any time, the next process continues without a
 * gap, and counts no sample twice. The comment of checkpoint_defer_release() in checkpoint.c lists
 * exceptions.
 *
 * Context: the worker's thread, except checkpoint_new(), checkpoint_free() and checkpoint_get_fd().
 */
#ifndef SPEPROF_CHECKPOINT_H
#define SPEPROF_CHECKPOINT_H

#include "checkpoint-slots.h"
#include "config/config.h"
#include "engine/worker.h"

/* Increment this whenever the content of the checkpoint changes. */
#define CHECKPOINT_VERSION 18

/**
 * struct checkpoint_settings - settings of the configuration that calls on the bus may change
 * @interval_ns: time between samples, from SamplesPerSecond=
 * @filter: value of Filter=
 * @containers: value of Containers=
 * @excluded: value of ExcludeContainers=
 *
 * A call on the bus may have changed a setting. The next process restores the changed setting only
 * if its configuration has the values of this struct. If its configuration differs, the
 * configuration is used.
 */
struct checkpoint_settings {
	u64 interval_ns;
	char filter[sizeof(((struct config *)NULL)->filter)];
	char containers[sizeof(((struct config *)NULL)->containers)];
	char excluded[sizeof(((struct config *)NULL)->excluded)];
};

/**
 * struct checkpoint - the checkpoint, and the result of the last save
 * @slots: the memfd
 * @configured: settings of the configuration for the machine's session
 * @saved_ns: CLOCK_MONOTONIC of the last save
 * @took_ns: CPU time of the last save
 * @error: result of the last save: 0 or -ENOSPC
 * @unsaved: number of saves that failed
 * @starts: true if the machine's session will be started soon. The session is then saved as
 * running, so that the next process starts it even if this process is killed before it has
 * started the session
 * @capacity: maximum bytes of a checkpoint, for tests; 0: the size of a slot
 */
struct checkpoint {
	struct checkpoint_slots *slots;
	struct checkpoint_settings configured;
	u64 saved_ns;
	u64 took_ns;
	int error;
	u64 unsaved;
	bool starts;
	size_t capacity;
};

/**
 * checkpoint_new() - use the checkpoint of an earlier process, or create an empty one
 * @fd: memfd of the earlier process; this function takes ownership of it, also on failure; -1:
 * there is none
 * @ret_checkpoint: freed by checkpoint_free()
 * @ret_reason: why @fd cannot be used, a static sentence; NULL if it is used or -1
 *
 * Return: 0 or negative errno.
 */
int checkpoint_new(int fd, struct checkpoint **ret_checkpoint, const char **ret_reason);

/** checkpoint_free() - close and free @checkpoint, which may be NULL; returns NULL */
struct checkpoint *checkpoint_free(struct checkpoint *checkpoint);

/** checkpoint_get_fd() - return the memfd, for the service manager; @checkpoint owns it */
int checkpoint_get_fd(const struct checkpoint *checkpoint);

/*
 * Sizes in bytes, with the NUL: of &restore_request.settings and &restore_request.overruled, and of
 * the reason why a source could not be opened.
 */
#define RESTORE_TEXT_SIZE   512
#define RESTORE_REASON_SIZE 256

/* Entries of &restore_request.notes: three for each session, and one about CPUs. */
#define RESTORE_NOTES_MAX (3 * WORKER_SESSIONS + 1)

/**
 * struct restore_note - a line to log about a restored session
 * @warning: true if the session differs from the saved one
 * @text: the line
 */
struct restore_note {
	bool warning;
	char text[2 * RESTORE_REASON_SIZE];
};

/**
 * struct restore_request - argument of restore_run(); members from @found on are results
 * @checkpoint: borrowed, until checkpoint_save_final()
 * @config: the configuration; borrowed
 * @lists: lists of containers in @config, for sessions of bus clients; borrowed
 * @open: opens a source for the session @name of a bus client, and completes @sampling from the
 * configuration. If @record is true, it adopts the session's old source, and fails with -ENOENT if
 * the service manager has none. If @record is false, it closes the old source and opens a new one.
 * On failure it may set @ret_reason
 * @ctx: argument for @open
 * @adopted: true if the machine's session has its old source, so that the rings are read from the
 * saved positions on
 * @found: true if there was a checkpoint
 * @restored: true if the counters of the checkpoint are in use; only then the following members are
 * valid
 * @stopped: true if the machine's session was stopped
 * @records: number of records that the machine's session had counted
 * @settings: settings of the machine's session that calls had changed, and that were restored; "":
 * none
 * @overruled: settings that calls had changed, and that were not restored, with the reason; "":
 * none
 * @notes: lines to log about sessions of bus clients
 * @note_count: number of entries of @notes
 * @gap_ns: time in which each CPU was not sampled, counted as blind
 * @version: version of the program that wrote the checkpoint
 * @reason: if @restored is false, a static sentence with the reason
 */
struct restore_request {
	struct checkpoint *checkpoint;
	const struct config *config;
	const struct filter_lists *lists;
	int (*open)(void *ctx, const char *name, bool record, struct source_config *sampling,
		    struct source **ret_source, char ret_reason[static RESTORE_REASON_SIZE]);
	void *ctx;
	bool adopted;
	bool found;
	bool restored;
	bool stopped;
	u64 records;
	char settings[RESTORE_TEXT_SIZE];
	char overruled[RESTORE_TEXT_SIZE];
	struct restore_note notes[RESTORE_NOTES_MAX];
	u32 note_count;
	u64 gap_ns;
	char version[32];
	const char *reason;
};

/**
 * restore_run() - restore the checkpoint, and save to it from now on
 * @state: state of the worker; it has only the machine's session, not started yet
 * @arg: struct restore_request
 *
 * Afterwards the sessions of bus clients exist. Sessions that ran before are started, if that is
 * possible. The caller starts the machine's session, because it may have to wait for the SPUs.
 *
 * Context: called through worker_call(). Return: 0; -ENODATA if there is no checkpoint; another
 * negative errno if the checkpoint was refused, with the reason in the request. Sampling can start
 * in any case.
 */
int restore_run(struct worker_state *state, void *arg);

/**
 * checkpoint_save_settings() - save the settings of a new configuration
 * @state: state of the worker
 * @arg: const struct config that is now in use
 *
 * Context: called through worker_call(). Return: 0; -ENODATA if no state is saved.
 */
int checkpoint_save_settings(struct worker_state *state, void *arg);

/**
 * checkpoint_is_due() - return true if a checkpoint has to be saved now
 * @state: state of the worker
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: true if the last checkpoint is old enough, or if a ring waits for a checkpoint so that it
 * can release bytes; false if not, or if no state is saved.
 */
bool checkpoint_is_due(struct worker_state *state, u64 now_ns);

/**
 * checkpoint_save() - save all state, then release the saved bytes of rings; does nothing before
 * checkpoint_attach()
 */
void checkpoint_save(struct worker_state *state);

/**
 * checkpoint_defer_release() - choose when the rings of a source release bytes
 * @state: state of the worker
 * @shared_source: the source
 * @unsaved: true if checkpoints fail, so that bytes must be released at once
 *
 * If @unsaved is false, bytes are released after the checkpoint that contains their samples, with
 * the exceptions that the comment in checkpoint.c lists.
 */
void checkpoint_defer_release(struct worker_state *state, const struct shared_source *shared_source,
			      bool unsaved);

/**
 * checkpoint_attach() - save @state to @checkpoint from now on
 * @state: state of the worker; it has no hooks yet
 * @checkpoint: borrowed, until checkpoint_save_final()
 */
void checkpoint_attach(struct worker_state *state, struct checkpoint *checkpoint);

/** checkpoint_get_attached() - return the checkpoint that checkpoint_attach() attached, or NULL */
struct checkpoint *checkpoint_get_attached(const struct worker_state *state);

/**
 * checkpoint_save_final() - save for the next process
 * @state: state of the worker; its sessions are marked as stopped
 * @arg: NULL
 *
 * First, all rings are drained and counted. Sources are not stopped: the service manager has their
 * descriptors, and the SPUs fill their rings until the next process reads them.
 *
 * Context: called through worker_call(), as the last call before worker_free(). Return: 0; -ENODATA
 * if no state is saved.
 */
int checkpoint_save_final(struct worker_state *state, void *arg);

#endif
