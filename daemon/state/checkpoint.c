// SPDX-License-Identifier: LGPL-2.1-or-later
#include "checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attribution/attributor-save.h"
#include "engine/rate-control.h"
#include "engine/shards.h"
#include "engine/worker-internal.h"
#include "fd-store.h"
#include "profile/profile-save.h"
#include "restore-internal.h"
#include "session-record.h"
#include "speprof-version.h"

/* Rings hold four seconds at the default rate. */
#define SAVE_NS 1000000000ULL
/* What saving may cost: one part in so many of the time. */
#define SAVE_SHARE 100
/* And where a ring is held to SOURCE_RETAINED_MAX, and spills. */
#define SAVE_SHARE_HELD 10

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

int keep_new(int fd, struct keep **ret_keep, const char **ret_reason)
{
	struct keep *keep = calloc(1, sizeof(*keep));
	int r;

	*ret_reason = NULL;
	if (!keep) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	r = fd < 0 ? -ENOENT : checkpoint_adopt(fd, CHECKPOINT_VERSION, &keep->checkpoint, ret_reason);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		r = checkpoint_new("speprofd-checkpoint", CHECKPOINT_VERSION, &keep->checkpoint);
	} else {
		*ret_reason = NULL;
	}
	if (r < 0) {
		free(keep);
		return r;
	}
	*ret_keep = keep;
	return 0;
}

struct keep *keep_free(struct keep *keep)
{
	if (keep) {
		checkpoint_free(keep->checkpoint);
		free(keep);
	}
	return NULL;
}

int keep_fd(const struct keep *keep)
{
	return checkpoint_fd(keep->checkpoint);
}

static struct session *machine_of(struct worker_state *state)
{
	return worker_session(state, SESSION_MACHINE);
}

static void session_save(const struct session *session, bool runs, u64 now, struct serializer *to)
{
	kept_save(session, runs, now, to);
	profile_save(session->profile, to);
}

/* The machine's first. */
static void sessions_save(struct worker_state *state, u64 now, struct serializer *to)
{
	struct session *machine = machine_of(state), *session = NULL;
	struct keep *keep = keep_of(state);
	u32 count = 0;

	keep->starts &= !machine->running;
	while ((session = worker_next(state, session)))
		count++;
	serialize_u64(to, count);
	session_save(machine, machine->running || keep->starts, now, to);
	while ((session = worker_next(state, session)))
		if (session != machine)
			session_save(session, session->running || session->waits, now, to);
}

/*
 * Several workers are there for rates at which rings would not wait for a checkpoint: a crash then
 * loses what was given back since the last one. So it does where figures cannot be saved: to stop
 * sampling for good would lose more; and of the small rings that are a session's own.
 */
void keep_defer(struct worker_state *state, const struct feed *feed, bool unsaved)
{
	struct source *source = feed->source;
	bool own = feed != machine_of(state)->feed;

	if (source->ops->persist)
		source->ops->persist->defer(source, own || state->shards || unsaved);
}

/* Of those that share a source once is enough, and more do no harm. */
static void defer_all(struct worker_state *state, bool unsaved)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		keep_defer(state, session->feed, unsaved);
}

/* What was read from the rings is safe. */
static void release(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		if (source->ops->persist)
			source->ops->persist->release(session->feed->source);
	}
}

static void commit(struct worker_state *state, const struct serializer *from)
{
	struct keep *keep = keep_of(state);
	int r = checkpoint_commit(keep->checkpoint, from);

	keep->unsaved += r < 0;
	if (r < 0 || keep->error)
		defer_all(state, r < 0);
	keep->error = r;
	if (r >= 0)
		release(state);
}

void keep_save(struct worker_state *state)
{
	const struct session *machine = machine_of(state);
	struct keep *keep = keep_of(state);
	u64 now = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct serializer to;

	if (!keep || !machine)
		return;
	checkpoint_begin(keep->checkpoint, &to);
	if (keep->room)
		to.room = keep->room;
	serialize_string(&to, SPEPROF_VERSION);
	serialize_u64(&to, now);
	kept_source_save(machine->feed->source, &to);
	attributor_save(state->attributor, &to);
	kept_configured_save(&keep->configured, &to);
	serialize_u64(&to, govern_asked(state));
	sessions_save(state, now, &to);
	commit(state, &to);
	keep->saved_ns = now;
	keep->took_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

/* What waits for it: rings that spill do so for as long as they can. */
enum waits { WAITS_NOTHING, WAITS_SPILLING, WAITS_RING };

/* Where others drain, by what they say. */
static enum waits waits_for(struct worker_state *state)
{
	enum waits waits = WAITS_NOTHING;
	struct session *session = NULL;

	if (state->shards)
		return shards_want_checkpoint(state->shards) ? WAITS_SPILLING : WAITS_NOTHING;
	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		if (!source->ops->persist ||
		    source->ops->persist->held(source) < SOURCE_RETAINED_MAX)
			continue;
		if (session->feed == machine_of(state)->feed)
			return WAITS_RING;
		waits = WAITS_SPILLING;
	}
	return waits;
}

bool keep_due(struct worker_state *state, u64 now)
{
	const struct keep *keep = keep_of(state);
	enum waits waits;
	u64 pause;

	if (!keep)
		return false;
	/* Where rings spill there may be a bound to what this costs all. */
	waits = keep->error ? WAITS_NOTHING : waits_for(state);
	if (waits == WAITS_RING ||
	    (waits == WAITS_SPILLING && now - keep->saved_ns >= keep->took_ns * SAVE_SHARE_HELD))
		return true;
	pause = keep->took_ns * SAVE_SHARE;
	return now - keep->saved_ns >= (pause > SAVE_NS ? pause : SAVE_NS);
}

static void session_added(struct worker_state *state, const struct session *session)
{
	struct source *source = session->feed->source;

	if (!session->shared && source->ops->persist) {
		keep_defer(state, session->feed, keep_of(state)->error < 0);
		store_session(session->name, source);
	}
	keep_save(state);
}

/* Saves first: a process that starts in between closes a descriptor that no checkpoint names. */
static void session_removed(struct worker_state *state, const char *name, bool owned_source)
{
	keep_save(state);
	if (owned_source)
		store_drop_session(name);
}

/* The descriptor of the new source replaces that of the old one in the service manager. */
static void source_replaced(struct worker_state *state, const struct feed *feed)
{
	struct session *session = NULL;

	keep_defer(state, feed, keep_of(state)->error < 0);
	while ((session = worker_next(state, session)))
		if (session->feed == feed && !session->shared)
			break;
	if (session) {
		store_drop_session(session->name);
		store_session(session->name, feed->source);
	}
}

static const struct engine_hooks hooks = {
	.session_added = session_added,
	.session_removed = session_removed,
	.session_changed = keep_save,
	.source_replaced = source_replaced,
	.checkpoint_due = keep_due,
	.checkpoint_save = keep_save,
};

void keep_attach(struct worker_state *state, struct keep *keep)
{
	state->hooks = &hooks;
	state->saved_state = keep;
}

struct keep *keep_of(const struct worker_state *state)
{
	return state->saved_state;
}

void keep_set_configured(struct keep *keep, const struct config *config)
{
	keep->configured.interval_ns = 1000000000ULL / config->samples_per_second;
	memcpy(keep->configured.filter, config->filter, sizeof(config->filter));
	memcpy(keep->configured.containers, config->containers, sizeof(config->containers));
	memcpy(keep->configured.excluded, config->excluded, sizeof(config->excluded));
}

int keep_configure(struct worker_state *state, void *arg)
{
	if (!keep_of(state))
		return -ENODATA;
	keep_set_configured(keep_of(state), arg);
	keep_save(state);
	return 0;
}

int keep_leave(struct worker_state *state, void *arg __attribute__((unused)))
{
	struct session *session = NULL;

	if (!keep_of(state) || !machine_of(state))
		return -ENODATA;
	while ((session = worker_next(state, session)))
		if (worker_leads(state, session))
			worker_drain(state, session);
	keep_save(state);
	/* Sources go on without this process, or end with their last descriptor. */
	while ((session = worker_next(state, session))) {
		session->running = false;
		session->feed->running = 0;
	}
	state->hooks = NULL;
	state->saved_state = NULL;
	return 0;
}
