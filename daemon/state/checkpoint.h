/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What outlives the process: the profile in a memfd, and with it how far the rings were
 * read. Rings are given room back only once the figures of what was in them are there;
 * so whoever comes next goes on without a gap and counts nothing twice, whenever this
 * process was killed.
 *
 * All but checkpoint_new(), checkpoint_free() and checkpoint_fd() is of the worker's thread.
 */
#ifndef SPEPROF_CHECKPOINT_H
#define SPEPROF_CHECKPOINT_H

#include "checkpoint-slots.h"
#include "config/config.h"
#include "engine/worker.h"

/* Grows whenever what is written in the checkpoint changes its meaning. */
#define CHECKPOINT_VERSION 13

/**
 * struct checkpoint_configured - what the configuration says that the bus may change: what the bus has
 * set is in force for the next process while its configuration says the same
 */
struct checkpoint_configured {
	u64 interval_ns;
	char filter[sizeof(((struct config *)NULL)->filter)];
	char containers[sizeof(((struct config *)NULL)->containers)];
	char excluded[sizeof(((struct config *)NULL)->excluded)];
};

/**
 * struct checkpoint
 * @configured: of the machine's session
 * @saved_ns: when figures were saved the last time, CLOCK_MONOTONIC
 * @took_ns: what that cost, CPU time
 * @error: of the last time: -ENOSPC, 0
 * @unsaved: times that there was one
 * @starts: the machine's session is about to be started: it is saved as one that runs, so that
 *	it does in the next process if this one does not come to that
 * @room: for tests, bytes of a checkpoint at the most; 0: as many as there are
 */
struct checkpoint {
	struct checkpoint_slots *slots;
	struct checkpoint_configured configured;
	u64 saved_ns;
	u64 took_ns;
	int error;
	u64 unsaved;
	bool starts;
	size_t room;
};

/**
 * checkpoint_new() - with a checkpoint that is empty, or another process's
 * @fd: of that; taken over in any case; -1 for none
 * @ret_reason: why @fd is none, a static sentence; NULL if nothing is to be said
 */
int checkpoint_new(int fd, struct checkpoint **ret_checkpoint, const char **ret_reason);

struct checkpoint *checkpoint_free(struct checkpoint *checkpoint);
int checkpoint_fd(const struct checkpoint *checkpoint);

/* Of what is said of the machine's session, and why something is not. */
#define RESTORE_TEXT   512
#define RESTORE_REASON 256

/* Lines that a restore may come to: of each session of the bus that it goes on, its cgroups, its state; and CPUs. */
#define RESTORE_NOTES (3 * WORKER_SESSIONS + 1)

/**
 * struct restore_note - what somebody is to be told of a session
 * @warning: it is not as it was
 */
struct restore_note {
	bool warning;
	char text[2 * RESTORE_REASON];
};

/**
 * struct restore_request - argument of restore_run()
 * @checkpoint: borrowed, for as long as there are sessions
 * @config: borrowed
 * @lists: of it, for the rules of sessions that the bus made
 * @open: called with @ctx: a source for the session of the bus @name, as @sampling says, which it
 *	completes by the configuration; with @record that which it had: -ENOENT if nobody has kept
 *	it. Another one puts an end to that. On failure @ret_reason may say why
 * @adopted: the machine's source is the one it was: its rings are read on
 * @found: out: there was a checkpoint
 * @restored: out: its figures count; the following are of that
 * @stopped: it was not sampling
 * @records: those that were counted, of the machine's session
 * @settings: what the bus had set of the machine's session and is in force again; "" for nothing
 * @overruled: what it had set and is not, and why
 * @notes: of sessions that it had made, @note_count of them, a line each
 * @gap_ns: how long nobody sampled, of each CPU; booked as blind
 * @version: of the program that wrote it
 * @reason: why not, a static sentence
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
 * restore_run() - go on with what was kept, and keep it from now on; for worker_call(),
 * struct restore_request
 *
 * The machine's session has not begun; it, and those of the bus that are made again, run
 * afterwards if they ran and can. But where it was @stopped the caller is to start the machine's,
 * which may have had to wait.
 */
int restore_run(struct worker_state *state, void *arg);

/** checkpoint_configure() - the configuration was read again; for worker_call(), const struct config */
int checkpoint_configure(struct worker_state *state, void *arg);

/** checkpoint_is_due() - whether it is time to save, or a ring waits for it */
bool checkpoint_is_due(struct worker_state *state, u64 now_ns);

/** checkpoint_save() - save the figures, give the rings room back */
void checkpoint_save(struct worker_state *state);

/** checkpoint_defer_release() - rings of @shared_source are given room back when figures are safe; @unsaved: those cannot be saved */
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

/** checkpoint_final() - save all there is, and let sources run on for the next process; @arg NULL */
int checkpoint_final(struct worker_state *state, void *arg);

#endif
