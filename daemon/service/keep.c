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
#include "shards.h"
#include "source-parts.h"
#include "speprof-version.h"

/* Rings hold four seconds at the default rate. */
#define SAVE_NS 1000000000ULL
/* What saving may cost: one part in so many of the time. */
#define SAVE_SHARE 100
/* And where a ring is held to SOURCE_HELD_MOST, while several workers wait for it. */
#define SAVE_SHARE_HELD 10

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

#define NAMES_MAX 4096 /* of an expression, and of a cgroup's path */

static struct session *machine_of(struct worker_state *state)
{
	return worker_session(state, SESSION_MACHINE);
}

/* Rings of their own that sessions of the bus have go with the process. */
static bool is_kept(struct worker_state *state, const struct session *session)
{
	return session->feed == machine_of(state)->feed;
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
		blob_put(to, at[i].ahead_ns);
	}
	free(at);
}

static void trouble_save(const struct source_trouble *trouble, struct blob_writer *to)
{
	blob_put(to, trouble->faults);
	blob_put(to, trouble->throttles);
	blob_put(to, trouble->unread);
	blob_put_string(to, trouble->last);
}

static void session_save(const struct session *session, u64 now, struct blob_writer *to)
{
	char *const *cgroups = session->rule->cgroups;
	u32 count = 0;

	while (cgroups && cgroups[count])
		count++;
	blob_put_string(to, session->name);
	blob_put_string(to, session->rule->expression);
	blob_put(to, count);
	for (u32 i = 0; i < count; i++)
		blob_put_string(to, cgroups[i]);
	blob_put(to, session->running);
	blob_put(to, session->running ? now - session->started_ns : 0);
	blob_put(to, session->ran_ns);
	blob_put(to, session->epoch);
	blob_put(to, now_ns(CLOCK_PROCESS_CPUTIME_ID) - session->cost_ns);
	profile_save(session->profile, to);
}

/* The machine's first. */
static void sessions_save(struct worker_state *state, u64 now, struct blob_writer *to)
{
	struct session *machine = machine_of(state), *session = NULL;
	u32 count = 0;

	while ((session = worker_next(state, session)))
		count += is_kept(state, session);
	blob_put(to, count);
	session_save(machine, now, to);
	while ((session = worker_next(state, session)))
		if (session != machine && is_kept(state, session))
			session_save(session, now, to);
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
	const struct session *machine = machine_of(state);
	struct keep *keep = state->keep;
	u64 now = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct blob_writer to;

	if (!keep || !machine)
		return;
	checkpoint_begin(keep->checkpoint, &to);
	blob_put_string(&to, SPEPROF_VERSION);
	blob_put(&to, now);
	attributor_save(state->attributor, &to);
	positions_save(machine->feed->source, &to);
	trouble_save(&machine->feed->source->trouble, &to);
	sessions_save(state, now, &to);
	keep->error = checkpoint_commit(keep->checkpoint, &to);
	release(state);
	keep->saved_ns = now;
	keep->took_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

/* Whether a ring waits for it; where others drain, by what they say. */
static bool is_waited_for(struct worker_state *state)
{
	struct session *session = NULL;

	if (state->shards)
		return shards_want_checkpoint(state->shards);
	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		if (source->ops->lasting && source->ops->lasting->held(source) >= SOURCE_HELD_MOST)
			return true;
	}
	return false;
}

bool keep_due(struct worker_state *state, u64 now)
{
	const struct keep *keep = state->keep;
	u64 pause;

	if (!keep)
		return false;
	/* Rings of several workers spill, so that there may be a bound to what this costs all. */
	if (is_waited_for(state) &&
	    (!state->shards || now - keep->saved_ns >= keep->took_ns * SAVE_SHARE_HELD))
		return true;
	pause = keep->took_ns * SAVE_SHARE;
	return now - keep->saved_ns >= (pause > SAVE_NS ? pause : SAVE_NS);
}

/** struct kept - of a session, what is not in its profile */
struct kept {
	char name[SESSION_NAME_SIZE];
	char expression[NAMES_MAX];
	char *cgroups[SESSION_CGROUPS + 1];
	bool running;
	u64 since_ns;
	u64 ran_ns;
	u64 epoch;
	u64 cost_ns;
};

/**
 * struct loading - a checkpoint on its way
 * @state: NULL to see whether it holds together
 * @scratch: what has no session of its own is loaded into
 * @positions: @count of them
 * @starts: sessions that ran, @start_count of them, the machine's first if it is one
 */
struct loading {
	struct worker_state *state;
	struct attributor *attributor;
	struct profile *scratch;
	struct keep_restore *restore;
	struct source_position *positions;
	u32 count;
	struct source_trouble trouble;
	u64 saved_ns;
	u64 gap_ns;
	char version[32];
	struct session *starts[WORKER_SESSIONS];
	u32 start_count;
	bool running; /* the machine's session */
};

static int positions_load(struct blob_reader *from, struct loading *l)
{
	u32 count = (u32)blob_get_below(from, CPUS_MAX + 1);

	l->positions = calloc(count ? count : 1, sizeof(*l->positions));
	if (!l->positions)
		return -ENOMEM;
	for (; l->count < count && !from->bad; l->count++) {
		struct source_position *at = &l->positions[l->count];

		at->cpu = (u32)blob_get_below(from, CPUS_MAX);
		at->tail = blob_get(from);
		at->event_tail = blob_get(from);
		at->ahead_ns = blob_get(from);
	}
	return from->bad ? -EBADMSG : 0;
}

static void trouble_load(struct blob_reader *from, struct source_trouble *ret)
{
	ret->faults = blob_get(from);
	ret->throttles = blob_get(from);
	ret->unread = blob_get(from);
	blob_get_string(from, ret->last, sizeof(ret->last));
}

/* @ret->cgroups is the caller's to free, also where it fails. */
static int kept_load(struct blob_reader *from, struct kept *ret)
{
	char path[NAMES_MAX];
	u32 count;

	*ret = (struct kept){ 0 };
	blob_get_string(from, ret->name, sizeof(ret->name));
	blob_get_string(from, ret->expression, sizeof(ret->expression));
	count = (u32)blob_get_below(from, SESSION_CGROUPS + 1);
	for (u32 i = 0; i < count && !from->bad; i++) {
		blob_get_string(from, path, sizeof(path));
		ret->cgroups[i] = strdup(path);
		if (!ret->cgroups[i])
			return -ENOMEM;
	}
	ret->running = blob_get_below(from, 2);
	ret->since_ns = blob_get(from);
	ret->ran_ns = blob_get(from);
	ret->epoch = blob_get(from);
	ret->cost_ns = blob_get(from);
	return from->bad ? -EBADMSG : 0;
}

static void kept_clear(struct kept *kept)
{
	for (u32 i = 0; kept->cgroups[i]; i++)
		free(kept->cgroups[i]);
}

/* One that the bus made, again; NULL if that cannot be. */
static struct session *session_again(struct loading *l, const struct kept *kept)
{
	struct session_config config = { .name = kept->name, .shared = true };
	struct filter_error error;

	if (session_rule_new(l->restore->lists, kept->expression,
			     *kept->cgroups ? kept->cgroups : NULL, &config.rule, &error) < 0)
		return NULL;
	config.feed = feed_get(machine_of(l->state)->feed);
	if (worker_add(l->state, &config) >= 0)
		return worker_session(l->state, kept->name);
	feed_put(config.feed);
	session_rule_free(config.rule);
	return NULL;
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
			.blind_by[SOURCE_BLIND_RESTART] = gap_ns,
			.backend = source->backend,
		};

		profile_window(session->profile, &window);
	}
}

/* As long as it ran, it ran while nobody was there too. */
static void session_go_on(struct loading *l, struct session *session, const struct kept *kept)
{
	session->epoch = kept->epoch;
	session->ran_ns = kept->ran_ns + (kept->running ? kept->since_ns + l->gap_ns : 0);
	session->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - kept->cost_ns;
	if (!kept->running)
		return;
	if (!l->restore->adopted)
		book_gap(session, l->gap_ns);
	l->starts[l->start_count++] = session;
}

static int session_load(struct loading *l, struct blob_reader *from, bool machine,
			const struct attribute_translation *translation)
{
	struct session *session = NULL;
	struct kept kept;
	int r = kept_load(from, &kept);

	if (r >= 0 && machine == (strcmp(kept.name, SESSION_MACHINE) != 0))
		r = -EBADMSG;
	if (r >= 0 && l->state)
		session = machine ? machine_of(l->state) : session_again(l, &kept);
	if (r >= 0 && !session) {
		profile_reset(l->scratch);
		if (l->state)
			l->restore->dropped++;
	}
	if (r >= 0)
		r = profile_load(session ? session->profile : l->scratch, from, translation);
	if (r >= 0 && machine)
		l->running = kept.running;
	if (r >= 0 && session)
		session_go_on(l, session, &kept);
	kept_clear(&kept);
	return r;
}

static int sessions_load(struct loading *l, struct blob_reader *from,
			 const struct attribute_translation *translation)
{
	u32 count = (u32)blob_get_below(from, WORKER_SESSIONS + 1);
	int r = count ? 0 : -EBADMSG;

	for (u32 i = 0; i < count && r >= 0; i++)
		r = session_load(l, from, !i, translation);
	return r;
}

/*
 * Room is given back when figures are safe. Several workers are there for rates at which rings
 * would not wait for that: a crash then loses what was given back since the checkpoint.
 */
static void defer(struct source *source)
{
	if (source->ops->lasting)
		source->ops->lasting->defer(source, source->parts > 0);
}

/* Of a source in parts the first has what all had. */
static void trouble_go_on(struct source *source, const struct source_trouble *kept)
{
	struct source_trouble *trouble = &source_part(source, 0)->trouble;

	trouble->faults = kept->faults;
	trouble->throttles = kept->throttles;
	trouble->unread = kept->unread;
	memcpy(trouble->last, kept->last, sizeof(trouble->last));
	source_parts_note(source, 0);
	source_parts_add(source);
}

/*
 * From where each ring was read up to, for all that ran at once: to make them may have
 * drained it, for nobody.
 */
static int source_go_on(struct loading *l)
{
	struct source *source = machine_of(l->state)->feed->source;
	int r = 0;

	defer(source);
	if (l->restore->adopted &&
	    source->ops->lasting->resume(source, l->positions, l->count) < 0) {
		l->restore->reason = "it is not of the session that was kept";
		return -ESTALE;
	}
	trouble_go_on(source, &l->trouble);
	for (u32 i = 0; i < l->start_count && r >= 0; i++)
		r = session_start(l->starts[i]);
	return r;
}

/* @l->positions is the caller's to free, also where it fails. */
static int load(struct loading *l, struct blob_reader from)
{
	struct attribute_translation translation = { 0 };
	u64 now = now_ns(CLOCK_MONOTONIC);
	int r;

	blob_get_string(&from, l->version, sizeof(l->version));
	l->saved_ns = blob_get(&from);
	l->gap_ns = now - l->saved_ns;
	r = l->saved_ns > now ? -EBADMSG : attributor_load(l->attributor, &from, &translation);
	if (r >= 0)
		r = positions_load(&from, l);
	trouble_load(&from, &l->trouble);
	if (r >= 0)
		r = sessions_load(l, &from, &translation);
	attribute_translation_deinit(&translation);
	if (r >= 0 && (from.bad || from.pos != from.len))
		r = -EBADMSG;
	return r >= 0 && l->state ? source_go_on(l) : r;
}

/* As if nothing had been found. */
static void forget(struct worker_state *state)
{
	struct session *machine = machine_of(state), *session = NULL;

	while ((session = worker_next(state, session)))
		if (session != machine)
			session_deinit(session);
	profile_reset(machine->profile);
}

/* Into tables that are thrown away: what is refused must not be half there. */
static int try_load(struct blob_reader from)
{
	const struct attributor_config attribution = { .live = true };
	struct loading l = { 0 };
	int r = attributor_new(&attribution, &l.attributor);

	if (r >= 0)
		r = profile_new(NULL, l.attributor, &l.scratch);
	if (r >= 0)
		r = load(&l, from);
	free(l.positions);
	profile_free(l.scratch);
	attributor_free(l.attributor);
	return r;
}

static int restore_from(struct worker_state *state, struct blob_reader from,
			struct keep_restore *restore)
{
	struct session *machine = machine_of(state);
	struct loading l = { .state = state, .attributor = state->attributor, .restore = restore };
	int r;

	restore->reason = "what is in it does not hold together";
	r = try_load(from);
	if (r >= 0)
		r = profile_new(NULL, state->attributor, &l.scratch);
	if (r >= 0)
		r = load(&l, from);
	if (r < 0) {
		forget(state);
	} else {
		restore->restored = true;
		restore->stopped = !l.running;
		restore->gap_ns = l.running && !restore->adopted ? l.gap_ns : 0;
		restore->records = profile_header(machine->profile)->records;
		snprintf(restore->version, sizeof(restore->version), "%s", l.version);
	}
	if (r == -ENOMEM)
		restore->reason = "out of memory";
	free(l.positions);
	profile_free(l.scratch);
	return r;
}

int keep_restore(struct worker_state *state, void *arg)
{
	struct keep_restore *restore = arg;
	struct source *source = machine_of(state)->feed->source;
	struct blob_reader from;
	int r;

	/* First: what is drained until rings are read from where they were is not to be lost. */
	if (source->ops->lasting)
		source->ops->lasting->defer(source, false);
	r = checkpoint_read(restore->keep->checkpoint, &from, &restore->reason);
	restore->found = r != -ENODATA;
	if (r >= 0) {
		r = restore_from(state, from, restore);
		free((void *)from.at);
	}
	defer(source);
	state->keep = restore->keep;
	keep_save(state);
	return r;
}

int keep_leave(struct worker_state *state, void *arg __attribute__((unused)))
{
	struct session *machine = machine_of(state), *session = NULL;

	if (!state->keep || !machine)
		return -ENODATA;
	worker_drain(state, machine);
	keep_save(state);
	/* Its source goes on without this process, or ends with its last descriptor. */
	while ((session = worker_next(state, session)))
		if (is_kept(state, session))
			session->running = false;
	machine->feed->running = 0;
	state->keep = NULL;
	return 0;
}
