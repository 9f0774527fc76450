/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What outlives the process: the profile in a memfd, and with it how far the rings were
 * read. Rings are given room back only once the figures of what was in them are there;
 * so whoever comes next goes on without a gap and counts nothing twice, whenever this
 * process was killed.
 *
 * All but keep_new(), keep_free() and keep_fd() is of the worker's thread.
 */
#ifndef SPEPROF_CHECKPOINT_H
#define SPEPROF_CHECKPOINT_H

#include "checkpoint-slots.h"
#include "config/config.h"
#include "engine/worker.h"

/* Grows whenever what is written in the checkpoint changes its meaning. */
#define CHECKPOINT_VERSION 13

/**
 * struct keep_configured - what the configuration says that the bus may change: what the bus has
 * set is in force for the next process while its configuration says the same
 */
struct keep_configured {
	u64 interval_ns;
	char filter[sizeof(((struct config *)NULL)->filter)];
	char containers[sizeof(((struct config *)NULL)->containers)];
	char excluded[sizeof(((struct config *)NULL)->excluded)];
};

/**
 * struct keep
 * @configured: of the machine's session
 * @saved_ns: when figures were saved the last time, CLOCK_MONOTONIC
 * @took_ns: what that cost, CPU time
 * @error: of the last time: -ENOSPC, 0
 * @unsaved: times that there was one
 * @starts: the machine's session is about to be started: it is saved as one that runs, so that
 *	it does in the next process if this one does not come to that
 * @room: for tests, bytes of a checkpoint at the most; 0: as many as there are
 */
struct keep {
	struct checkpoint *checkpoint;
	struct keep_configured configured;
	u64 saved_ns;
	u64 took_ns;
	int error;
	u64 unsaved;
	bool starts;
	size_t room;
};

/**
 * keep_new() - with a checkpoint that is empty, or another process's
 * @fd: of that; taken over in any case; -1 for none
 * @ret_reason: why @fd is none, a static sentence; NULL if nothing is to be said
 */
int keep_new(int fd, struct keep **ret_keep, const char **ret_reason);

struct keep *keep_free(struct keep *keep);
int keep_fd(const struct keep *keep);

/* Of what is said of the machine's session, and why something is not. */
#define KEEP_TEXT   512
#define KEEP_REASON 256

/* Lines that a restore may come to: of each session of the bus that it goes on, its cgroups, its state; and CPUs. */
#define KEEP_NOTES (3 * WORKER_SESSIONS + 1)

/**
 * struct keep_note - what somebody is to be told of a session
 * @warning: it is not as it was
 */
struct keep_note {
	bool warning;
	char text[2 * KEEP_REASON];
};

/**
 * struct keep_restore - argument of keep_restore()
 * @keep: borrowed, for as long as there are sessions
 * @config: borrowed
 * @lists: of it, for the rules of sessions that the bus made
 * @open: called with @ctx: a source for the session of the bus @name, as @sampling says, which it
 *	completes by the configuration; with @kept that which it had: -ENOENT if nobody has kept
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
struct keep_restore {
	struct keep *keep;
	const struct config *config;
	const struct filter_lists *lists;
	int (*open)(void *ctx, const char *name, bool kept, struct source_config *sampling,
		    struct source **ret_source, char ret_reason[static KEEP_REASON]);
	void *ctx;
	bool adopted;
	bool found;
	bool restored;
	bool stopped;
	u64 records;
	char settings[KEEP_TEXT];
	char overruled[KEEP_TEXT];
	struct keep_note notes[KEEP_NOTES];
	u32 note_count;
	u64 gap_ns;
	char version[32];
	const char *reason;
};

/**
 * keep_restore() - go on with what was kept, and keep it from now on; for worker_call(),
 * struct keep_restore
 *
 * The machine's session has not begun; it, and those of the bus that are made again, run
 * afterwards if they ran and can. But where it was @stopped the caller is to start the machine's,
 * which may have had to wait.
 */
int keep_restore(struct worker_state *state, void *arg);

/** keep_configure() - the configuration was read again; for worker_call(), const struct config */
int keep_configure(struct worker_state *state, void *arg);

/** keep_due() - whether it is time to save, or a ring waits for it */
bool keep_due(struct worker_state *state, u64 now_ns);

/** keep_save() - save the figures, give the rings room back */
void keep_save(struct worker_state *state);

/** keep_defer() - rings of @feed are given room back when figures are safe; @unsaved: those cannot be saved */
void keep_defer(struct worker_state *state, const struct feed *feed, bool unsaved);

/**
 * keep_attach() - save the state of @state to @keep from now on
 * @state: has no hooks yet
 * @keep: borrowed, until keep_leave()
 */
void keep_attach(struct worker_state *state, struct keep *keep);

/** keep_of() - what keep_attach() attached, or NULL */
struct keep *keep_of(const struct worker_state *state);

/** keep_leave() - save all there is, and let sources run on for the next process; @arg NULL */
int keep_leave(struct worker_state *state, void *arg);

#endif
