// SPDX-License-Identifier: LGPL-2.1-or-later
#include "checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attribution/attributor-save.h"
#include "engine/rate-control.h"
#include "engine/drain-threads.h"
#include "engine/worker-internal.h"
#include "fd-store.h"
#include "profile/profile-save.h"
#include "restore-internal.h"
#include "session-record.h"
#include "speprof-version.h"
#include "util/time.h"

/*
 * Minimum time between two checkpoints, unless a ring is full. A ring has space for the records of
 * 4 s at the default rate.
 */
#define SAVE_INTERVAL_MIN_NS 1000000000ULL
/* Saving uses at most 1/SAVE_SHARE of the time of one CPU. */
#define SAVE_SHARE 100
/* Replaces SAVE_SHARE while a ring has reached SOURCE_RETAINED_MAX and releases unsaved bytes. */
#define SAVE_SHARE_SPILLING 10

int checkpoint_new(int fd, struct checkpoint **ret_checkpoint, const char **ret_reason)
{
	struct checkpoint *checkpoint = calloc(1, sizeof(*checkpoint));
	int r;

	*ret_reason = NULL;
	if (!checkpoint) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	r = fd < 0 ? -ENOENT :
		     checkpoint_slots_adopt(fd, CHECKPOINT_VERSION, &checkpoint->slots, ret_reason);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		r = checkpoint_slots_new("speprofd-checkpoint", CHECKPOINT_VERSION,
					 &checkpoint->slots);
	} else {
		*ret_reason = NULL;
	}
	if (r < 0) {
		free(checkpoint);
		return r;
	}
	*ret_checkpoint = checkpoint;
	return 0;
}

struct checkpoint *checkpoint_free(struct checkpoint *checkpoint)
{
	if (checkpoint) {
		checkpoint_slots_free(checkpoint->slots);
		free(checkpoint);
	}
	return NULL;
}

int checkpoint_get_fd(const struct checkpoint *checkpoint)
{
	return checkpoint_slots_get_fd(checkpoint->slots);
}

static struct session *get_machine_session(struct worker_state *state)
{
	return worker_find_session(state, SESSION_MACHINE);
}

static void session_save(const struct session *session, bool runs, u64 now, struct serializer *to)
{
	session_record_save(session, runs, now, to);
	profile_save(session->profile, to);
}

/* Save all sessions that survive a restart, the machine's session first. */
static void sessions_save(struct worker_state *state, u64 now, struct serializer *to)
{
	struct session *machine = get_machine_session(state), *session = NULL;
	struct checkpoint *checkpoint = checkpoint_get_attached(state);
	u32 count = 0;

	checkpoint->starts &= !machine->running;
	while ((session = worker_get_next_session(state, session)))
		count += !session->temporary;
	serialize_u64(to, count);
	session_save(machine, machine->running || checkpoint->starts, now, to);
	while ((session = worker_get_next_session(state, session)))
		if (session != machine && !session->temporary)
			session_save(session, session->running || session->waits, now, to);
}

/*
 * Return true if a nearly full ring of the machine's source releases bytes without a checkpoint.
 * This applies if there are several drain threads.
 */
static bool machine_releases_unsaved(const struct worker_state *state)
{
	return state->plan.workers > 1;
}

/*
 * By default a ring releases bytes only after a checkpoint, so that a crash loses nothing. A ring
 * releases bytes at once in three cases: if there are several drain threads, because their rates
 * leave no time for checkpoints; if checkpoints fail, because sampling would stop permanently; and
 * if it is one of the small rings of a session with its own source. Then a crash loses the records
 * since the last checkpoint.
 */
void checkpoint_defer_release(struct worker_state *state, const struct shared_source *shared_source,
			      bool unsaved)
{
	struct source *source = shared_source->source;
	bool own = shared_source != get_machine_session(state)->shared_source;

	if (source->ops->persist)
		source->ops->persist->defer(source,
					    own || machine_releases_unsaved(state) || unsaved);
}

/* A source that several sessions share is configured several times, which is harmless. */
static void defer_all_releases(struct worker_state *state, bool unsaved)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		checkpoint_defer_release(state, session->shared_source, unsaved);
}

/* Release the bytes of rings that the committed checkpoint covers. */
static void rings_release_saved(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session))) {
		const struct source *source = session->shared_source->source;

		if (source->ops->persist)
			source->ops->persist->release(session->shared_source->source);
	}
}

static void slot_commit(struct worker_state *state, const struct serializer *from)
{
	struct checkpoint *checkpoint = checkpoint_get_attached(state);
	int r = checkpoint_slots_commit(checkpoint->slots, from);

	checkpoint->unsaved += r < 0;
	if (r < 0 || checkpoint->error)
		defer_all_releases(state, r < 0);
	checkpoint->error = r;
	if (r >= 0)
		rings_release_saved(state);
}

void checkpoint_save(struct worker_state *state)
{
	const struct session *machine = get_machine_session(state);
	struct checkpoint *checkpoint = checkpoint_get_attached(state);
	u64 now = time_now_ns(), cpu = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct serializer to;

	if (!checkpoint || !machine)
		return;
	checkpoint_slots_begin(checkpoint->slots, &to);
	if (checkpoint->capacity)
		to.capacity = checkpoint->capacity;
	serialize_string(&to, SPEPROF_VERSION);
	serialize_u64(&to, now);
	source_record_save(machine->shared_source->source, &to);
	attributor_save(state->attributor, &to);
	settings_record_save(&checkpoint->configured, &to);
	serialize_u64(&to, rate_control_get_target(state));
	sessions_save(state, now, &to);
	slot_commit(state, &to);
	checkpoint->saved_ns = now;
	checkpoint->took_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

/*
 * The most urgent kind of ring that waits for a checkpoint: none, a ring that releases unsaved
 * bytes, or a full ring
 */
enum checkpoint_wait { WAITS_NOTHING, WAITS_SPILLING, WAITS_RING };

/*
 * Return the most urgent kind of ring that waits for a checkpoint. Drain threads request
 * checkpoints, because only they may read the state of rings.
 */
static enum checkpoint_wait get_checkpoint_wait(struct worker_state *state)
{
	u32 requests = drain_threads_take_requests(state->drain_threads);

	if (requests & CHECKPOINT_FOR_MACHINE && !machine_releases_unsaved(state))
		return WAITS_RING;
	return requests ? WAITS_SPILLING : WAITS_NOTHING;
}

bool checkpoint_is_due(struct worker_state *state, u64 now)
{
	const struct checkpoint *checkpoint = checkpoint_get_attached(state);
	enum checkpoint_wait waits;
	u64 pause;

	if (!checkpoint)
		return false;
	/*
	 * A ring that releases unsaved bytes loses them only if the process is killed. So saving
	 * may then use more CPU time than usual, 1/SAVE_SHARE_SPILLING instead of 1/SAVE_SHARE,
	 * but not all of it. Only for a full ring, save at once.
	 */
	waits = checkpoint->error ? WAITS_NOTHING : get_checkpoint_wait(state);
	if (waits == WAITS_RING ||
	    (waits == WAITS_SPILLING &&
	     now - checkpoint->saved_ns >= checkpoint->took_ns * SAVE_SHARE_SPILLING))
		return true;
	pause = checkpoint->took_ns * SAVE_SHARE;
	return now - checkpoint->saved_ns >=
	       (pause > SAVE_INTERVAL_MIN_NS ? pause : SAVE_INTERVAL_MIN_NS);
}

static void on_session_added(struct worker_state *state, const struct session *session)
{
	struct source *source = session->shared_source->source;

	if (!session->shared && source->ops->persist) {
		checkpoint_defer_release(state, session->shared_source,
					 checkpoint_get_attached(state)->error < 0);
		fd_store_put_session(session->name, source);
	}
	checkpoint_save(state);
}

/*
 * Save first. If the process were killed after the descriptor was removed and before the save, the
 * next process would restore the removed session with a new source.
 */
static void on_session_removed(struct worker_state *state, const char *name, bool owned_source)
{
	checkpoint_save(state);
	if (owned_source)
		fd_store_remove_session(name);
}

/*
 * Store the descriptor of the new source. It replaces the descriptor of the old source in the
 * service manager.
 */
static void on_source_replaced(struct worker_state *state,
			       const struct shared_source *shared_source)
{
	struct session *session = NULL;

	checkpoint_defer_release(state, shared_source, checkpoint_get_attached(state)->error < 0);
	while ((session = worker_get_next_session(state, session)))
		if (session->shared_source == shared_source && !session->shared)
			break;
	if (session) {
		fd_store_remove_session(session->name);
		fd_store_put_session(session->name, shared_source->source);
	}
}

static const struct engine_hooks hooks = {
	.session_added = on_session_added,
	.session_removed = on_session_removed,
	.session_changed = checkpoint_save,
	.source_replaced = on_source_replaced,
	.checkpoint_due = checkpoint_is_due,
	.checkpoint_save = checkpoint_save,
};

void checkpoint_attach(struct worker_state *state, struct checkpoint *checkpoint)
{
	state->hooks = &hooks;
	state->saved_state = checkpoint;
}

struct checkpoint *checkpoint_get_attached(const struct worker_state *state)
{
	return state->saved_state;
}

void checkpoint_set_settings(struct checkpoint *checkpoint, const struct config *config)
{
	checkpoint->configured.interval_ns = 1000000000ULL / config->samples_per_second;
	memcpy(checkpoint->configured.filter, config->filter, sizeof(config->filter));
	memcpy(checkpoint->configured.containers, config->containers, sizeof(config->containers));
	memcpy(checkpoint->configured.excluded, config->excluded, sizeof(config->excluded));
}

int checkpoint_save_settings(struct worker_state *state, void *arg)
{
	if (!checkpoint_get_attached(state))
		return -ENODATA;
	checkpoint_set_settings(checkpoint_get_attached(state), arg);
	checkpoint_save(state);
	return 0;
}

int checkpoint_save_final(struct worker_state *state, void *arg __attribute__((unused)))
{
	struct session *session = NULL;

	if (!checkpoint_get_attached(state) || !get_machine_session(state))
		return -ENODATA;
	while ((session = worker_get_next_session(state, session)))
		if (worker_session_is_first_of_source(state, session))
			worker_drain_session(state, session);
	checkpoint_save(state);
	/*
	 * Do not stop the sources: the service manager stores the descriptors of their rings. Rings
	 * without a stored descriptor are freed when this process closes their descriptors.
	 */
	while ((session = worker_get_next_session(state, session))) {
		session->running = false;
		session->shared_source->running = 0;
	}
	state->hooks = NULL;
	state->saved_state = NULL;
	return 0;
}
