/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State that outlives the process: all tables in a memfd, and the position up to which each ring was
 * read. The space of a ring is freed only after a checkpoint contains what was read from it. So
 * whenever this process is killed, the next one continues without a gap and counts nothing twice.
 *
 * Context: the worker's thread, except checkpoint_new(), checkpoint_free() and checkpoint_fd().
 */
#ifndef SPEPROF_CHECKPOINT_H
#define SPEPROF_CHECKPOINT_H

#include "checkpoint-slots.h"
#include "config/config.h"
#include "engine/worker.h"

/* Increment this whenever the content of the checkpoint changes. */
#define CHECKPOINT_VERSION 13

/**
 * struct checkpoint_settings - settings of the configuration that calls on the bus may change
 * @interval_ns: from SamplesPerSecond=
 * @filter: Filter=
 * @containers: Containers=
 * @excluded: ExcludeContainers=
 *
 * The next process keeps what a call has set as long as its configuration has the same values as
 * these. If the configuration has changed, the configuration wins.
 */
struct checkpoint_settings {
	u64 interval_ns;
	char filter[sizeof(((struct config *)NULL)->filter)];
	char containers[sizeof(((struct config *)NULL)->containers)];
	char excluded[sizeof(((struct config *)NULL)->excluded)];
};

/**
 * struct checkpoint - the checkpoint and when it was written
 * @slots: the memfd
 * @configured: settings of the machine's session
 * @saved_ns: when it was last saved, CLOCK_MONOTONIC
 * @took_ns: CPU time of the last save
 * @error: result of the last save: 0 or -ENOSPC
 * @unsaved: number of saves that failed
 * @starts: the machine's session is about to be started. It is saved as running, so that the next
 *	process starts it if this one is killed before
 * @capacity: most bytes of a checkpoint, for tests; 0: no limit but that of a slot
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
 * @fd: memfd of the earlier process, owned by this function in any case; -1: there is none
 * @ret_checkpoint: freed by checkpoint_free()
 * @ret_reason: why @fd cannot be used, a static sentence; NULL: it is used, or -1
 *
 * Return: 0 or negative errno.
 */
int checkpoint_new(int fd, struct checkpoint **ret_checkpoint, const char **ret_reason);

/** checkpoint_free() - close and free; NULL is allowed; returns NULL */
struct checkpoint *checkpoint_free(struct checkpoint *checkpoint);

/** checkpoint_fd() - the memfd, for the service manager; owned by @checkpoint */
int checkpoint_fd(const struct checkpoint *checkpoint);

/* Bytes of a text about the machine's session, and of a reason, each with its NUL. */
#define RESTORE_TEXT   512
#define RESTORE_REASON 256

/* Most notes of a restore: three for each session, and one about CPUs. */
#define RESTORE_NOTES (3 * WORKER_SESSIONS + 1)

/**
 * struct restore_note - a line to log about a restored session
 * @warning: the session differs from what it was
 * @text: the line
 */
struct restore_note {
	bool warning;
	char text[2 * RESTORE_REASON];
};

/**
 * struct restore_request - argument of restore_run(); members from @found on are results
 * @checkpoint: borrowed, until checkpoint_final()
 * @config: the configuration; borrowed
 * @lists: lists of containers in @config, for the rules of sessions that the bus made; borrowed
 * @open: opens a source for the session @name of the bus. It completes @sampling by the
 *	configuration. With @record it adopts the session's old source, -ENOENT if the service manager
 *	has none; otherwise it closes the old source and opens a new one. On failure it may set
 *	@ret_reason
 * @ctx: for @open
 * @adopted: the machine's session has its old source, so that its rings are read on
 * @found: there was a checkpoint
 * @restored: its counters are in force; the following members are valid then
 * @stopped: the machine's session was stopped
 * @records: records that the machine's session had counted
 * @settings: settings of the machine's session that calls had made and that are in force again; "":
 *	none
 * @overruled: settings that calls had made and that are not in force, with the reason; "": none
 * @notes: lines to log about sessions that the bus had made
 * @note_count: entries of @notes
 * @gap_ns: how long each CPU was not sampled, booked as blind
 * @version: version of the program that wrote the checkpoint
 * @reason: if not @restored, why, a static sentence
 */
struct restore_request {
	struct checkpoint *checkpoint;
	const struct config *config;
	const struct filter_lists *lists;
	int (*open)(void *ctx, const char *name, bool record, struct source_config *sampling,
		    struct source **ret_source, char ret_reason[static RESTORE_REASON]);
	void *ctx;
	bool adopted;
	bool found;
	bool restored;
	bool stopped;
	u64 records;
	char settings[RESTORE_TEXT];
	char overruled[RESTORE_TEXT];
	struct restore_note notes[RESTORE_NOTES];
	u32 note_count;
	u64 gap_ns;
	char version[32];
	const char *reason;
};

/**
 * restore_run() - restore the checkpoint and save to it from now on
 * @state: has the machine's session only, which was not started yet
 * @arg: struct restore_request
 *
 * Sessions that the bus had made exist afterwards, and run if they ran before and can. The caller
 * starts the machine's session, as it may have to wait for the SPUs.
 *
 * Context: by worker_call().
 * Return: 0; -ENODATA: there is no checkpoint; other negative errno: it was refused, with the reason in
 * the request. Sampling can start in any case.
 */
int restore_run(struct worker_state *state, void *arg);

/**
 * checkpoint_configure() - save the settings of another configuration
 * @state: the worker's
 * @arg: const struct config, in force now
 *
 * Context: by worker_call(). Return: 0; -ENODATA if no state is saved.
 */
int checkpoint_configure(struct worker_state *state, void *arg);

/**
 * checkpoint_is_due() - whether to save now
 * @state: the worker's
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: true if the last checkpoint is old enough, or a ring needs it to free space. False if no
 * state is saved.
 */
bool checkpoint_is_due(struct worker_state *state, u64 now_ns);

/** checkpoint_save() - save all state, then free ring space; without checkpoint_attach() no effect */
void checkpoint_save(struct worker_state *state);

/**
 * checkpoint_defer_release() - choose when the rings of a source free their space
 * @state: the worker's
 * @shared_source: the source
 * @unsaved: checkpoints fail, so free space at once
 *
 * Otherwise space is freed after the checkpoint that covers it, with exceptions that the code names.
 */
void checkpoint_defer_release(struct worker_state *state, const struct shared_source *shared_source,
			      bool unsaved);

/**
 * checkpoint_attach() - save the state of @state to @checkpoint from now on
 * @state: has no hooks yet
 * @checkpoint: borrowed, until checkpoint_final()
 */
void checkpoint_attach(struct worker_state *state, struct checkpoint *checkpoint);

/** checkpoint_of() - what checkpoint_attach() attached, or NULL */
struct checkpoint *checkpoint_of(const struct worker_state *state);

/**
 * checkpoint_final() - save for the next process
 * @state: the worker's; its sessions are marked as stopped
 * @arg: NULL
 *
 * Drains and counts all rings first. Sources are not stopped: the service manager has their
 * descriptors, and their rings fill until the next process reads them.
 *
 * Context: by worker_call(), the last call before worker_free().
 * Return: 0; -ENODATA if no state is saved.
 */
int checkpoint_final(struct worker_state *state, void *arg);

#endif
