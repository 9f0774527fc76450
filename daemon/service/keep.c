// SPDX-License-Identifier: LGPL-2.1-or-later
#include "keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attribute-save.h"
#include "profile-read.h"
#include "profile-save.h"

/* Rings hold four seconds at the default rate. */
#define SAVE_NS 1000000000ULL
/* Of a ring, in permille, what may be held before that. */
#define HELD_MOST 400
/* What saving may cost: one part in so many of the time. */
#define SAVE_SHARE 100

#define CPUS_MAX 65536

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
	r = fd < 0 ? -ENOENT : checkpoint_adopt(fd, &keep->checkpoint, ret_reason);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		r = checkpoint_new(&keep->checkpoint);
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

/* Sessions that the bus made are gone with the process that knew who wanted them. */
static struct session *kept_session(struct worker_state *state)
{
	return worker_session(state, SESSION_MACHINE);
}

static void positions_save(const struct source *source, struct blob_writer *to)
{
	const struct source_lasting *lasting = source->ops->lasting;
	struct source_position *at = lasting ? calloc(source->cpus, sizeof(*at)) : NULL;
	u32 count = at ? lasting->positions(source, at, source->cpus) : 0;

	blob_put(to, count);
	for (u32 i = 0; i < count; i++) {
		blob_put(to, at[i].cpu);
		blob_put(to, at[i].tail);
		blob_put(to, at[i].event_tail);
	}
	free(at);
}

static void session_save(const struct session *session, u64 now, struct blob_writer *to)
{
	const struct source *source = session->feed->source;

	positions_save(source, to);
	blob_put(to, source->trouble.faults);
	blob_put(to, source->trouble.throttles);
	blob_put(to, source->trouble.unread);
	blob_put_string(to, source->trouble.last);
	blob_put(to, session->running);
	blob_put(to, session->running ? now - session->started_ns : 0);
	blob_put(to, session->ran_ns);
	blob_put(to, session->epoch);
	blob_put(to, now_ns(CLOCK_PROCESS_CPUTIME_ID) - session->cost_ns);
	profile_save(session->profile, to);
}

/* What was read from the rings is safe, or nothing can be done about it. */
static void release(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		if (source->ops->lasting)
			source->ops->lasting->release(session->feed->source);
	}
}

void keep_save(struct worker_state *state)
{
	const struct session *session = kept_session(state);
	struct keep *keep = state->keep;
	u64 now = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct blob_writer to;

	if (!keep || !session)
		return;
	checkpoint_begin(keep->checkpoint, &to);
	blob_put_string(&to, SPEPROF_VERSION);
	blob_put(&to, now);
	attributor_save(state->attributor, &to);
	session_save(session, now, &to);
	keep->error = checkpoint_commit(keep->checkpoint, &to);
	release(state);
	keep->saved_ns = now;
	keep->took_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

bool keep_due(struct worker_state *state, u64 now)
{
	const struct keep *keep = state->keep;
	struct session *session = NULL;
	u64 pause;

	if (!keep)
		return false;
	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		if (source->ops->lasting && source->ops->lasting->held(source) >= HELD_MOST)
			return true;
	}
	pause = keep->took_ns * SAVE_SHARE;
	return now - keep->saved_ns >= (pause > SAVE_NS ? pause : SAVE_NS);
}

/**
 * struct kept - of a session, what is not in its profile
 * @positions: @count of them
 */
struct kept {
	u64 saved_ns;
	char version[32];
	struct source_position *positions;
	u32 count;
	struct source_trouble trouble;
	bool running;
	u64 since_ns;
	u64 ran_ns;
	u64 epoch;
	u64 cost_ns;
};

static int positions_load(struct blob_reader *from, struct kept *kept)
{
	u32 count = (u32)blob_get_below(from, CPUS_MAX + 1);

	kept->positions = calloc(count ? count : 1, sizeof(*kept->positions));
	if (!kept->positions)
		return -ENOMEM;
	for (; kept->count < count && !from->bad; kept->count++) {
		struct source_position *at = &kept->positions[kept->count];

		at->cpu = (u32)blob_get_below(from, CPUS_MAX);
		at->tail = blob_get(from);
		at->event_tail = blob_get(from);
	}
	return from->bad ? -EBADMSG : 0;
}

static int kept_load(struct blob_reader *from, struct kept *kept)
{
	int r = positions_load(from, kept);

	if (r < 0)
		return r;
	kept->trouble.faults = blob_get(from);
	kept->trouble.throttles = blob_get(from);
	kept->trouble.unread = blob_get(from);
	blob_get_string(from, kept->trouble.last, sizeof(kept->trouble.last));
	kept->running = blob_get_below(from, 2);
	kept->since_ns = blob_get(from);
	kept->ran_ns = blob_get(from);
	kept->epoch = blob_get(from);
	kept->cost_ns = blob_get(from);
	return from->bad ? -EBADMSG : 0;
}

/* All of it; @kept->positions is the caller's to free, also where it fails. */
static int load(struct blob_reader from, struct attributor *attributor, struct profile *profile,
		struct kept *kept)
{
	struct attribute_translation translation = { 0 };
	int r;

	*kept = (struct kept){ 0 };
	blob_get_string(&from, kept->version, sizeof(kept->version));
	kept->saved_ns = blob_get(&from);
	r = attributor_load(attributor, &from, &translation);
	if (r >= 0)
		r = kept_load(&from, kept);
	if (r >= 0)
		r = profile_load(profile, &from, &translation);
	attribute_translation_deinit(&translation);
	if (r >= 0 && (from.bad || from.pos != from.len))
		r = -EBADMSG;
	if (r >= 0 && kept->saved_ns > now_ns(CLOCK_MONOTONIC))
		r = -EBADMSG;
	return r;
}

/* Into tables that are thrown away: what is refused must not be half there. */
static int try_load(struct blob_reader from)
{
	const struct attributor_config attribution = { .live = true };
	struct attributor *attributor = NULL;
	struct profile *profile = NULL;
	struct kept kept = { 0 };
	int r = attributor_new(&attribution, &attributor);

	if (r >= 0)
		r = profile_new(NULL, attributor, &profile);
	if (r >= 0)
		r = load(from, attributor, profile, &kept);
	free(kept.positions);
	profile_free(profile);
	attributor_free(attributor);
	return r;
}

/* Nobody sampled: each CPU was blind. */
static void book_gap(struct session *session, u64 gap_ns)
{
	static const u8 nothing[1];
	const struct source *source = session->feed->source;

	for (u32 cpu = 0; cpu < source->cpus; cpu++) {
		const struct source_window window = {
			.data = nothing,
			.cpu = cpu,
			.tid = -1,
			.blind_ns = gap_ns,
			.backend = source->backend,
		};

		profile_window(session->profile, &window);
	}
}

static int go_on(struct session *session, const struct kept *kept, struct keep_restore *restore)
{
	struct source *source = session->feed->source;
	u64 gap = now_ns(CLOCK_MONOTONIC) - kept->saved_ns;

	if (restore->adopted &&
	    source->ops->lasting->resume(source, kept->positions, kept->count) < 0) {
		restore->reason = "it is not of the session that was kept";
		return -ESTALE;
	}
	/* As long as it ran, it ran while nobody was there too. */
	session->ran_ns = kept->ran_ns + (kept->running ? kept->since_ns + gap : 0);
	/* The same counters go on: whoever adds them up is not to begin anew. */
	session->epoch = kept->epoch;
	session->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - kept->cost_ns;
	source->trouble.faults = kept->trouble.faults;
	source->trouble.throttles = kept->trouble.throttles;
	source->trouble.unread = kept->trouble.unread;
	memcpy(source->trouble.last, kept->trouble.last, sizeof(source->trouble.last));
	restore->stopped = !kept->running;
	if (!restore->adopted && kept->running) {
		restore->gap_ns = gap;
		book_gap(session, gap);
	}
	return 0;
}

static int restore_from(struct worker_state *state, struct blob_reader from,
			struct keep_restore *restore)
{
	struct session *session = kept_session(state);
	struct kept kept = { 0 };
	int r;

	restore->reason = "what is in it does not hold together";
	r = try_load(from);
	if (r >= 0)
		r = load(from, state->attributor, session->profile, &kept);
	if (r >= 0)
		r = go_on(session, &kept, restore);
	if (r < 0) {
		profile_reset(session->profile);
	} else {
		restore->restored = true;
		restore->records = profile_header(session->profile)->records;
		snprintf(restore->version, sizeof(restore->version), "%s", kept.version);
	}
	if (r == -ENOMEM)
		restore->reason = "out of memory";
	free(kept.positions);
	return r;
}

int keep_restore(struct worker_state *state, void *arg)
{
	struct keep_restore *restore = arg;
	struct session *session = kept_session(state);
	struct blob_reader from;
	int r;

	r = checkpoint_read(restore->keep->checkpoint, &from, &restore->reason);
	restore->found = r != -ENODATA;
	if (r >= 0) {
		r = restore_from(state, from, restore);
		free((void *)from.at);
	}
	state->keep = restore->keep;
	if (session->feed->source->ops->lasting)
		session->feed->source->ops->lasting->defer(session->feed->source);
	keep_save(state);
	return r;
}

int keep_leave(struct worker_state *state, void *arg __attribute__((unused)))
{
	struct session *session = kept_session(state);

	if (!state->keep || !session)
		return -ENODATA;
	worker_drain(state, session);
	keep_save(state);
	/* Its source goes on without this process, or ends with its last descriptor. */
	session->feed->running = 0;
	session->running = false;
	state->keep = NULL;
	return 0;
}
