// SPDX-License-Identifier: LGPL-2.1-or-later
#include "keep.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attribute-save.h"
#include "govern.h"
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

/* What the bus may have set otherwise. */
static void configured_save(const struct keep_configured *configured, struct blob_writer *to)
{
	blob_put(to, configured->interval_ns);
	blob_put_string(to, configured->filter);
	blob_put_string(to, configured->containers);
	blob_put_string(to, configured->excluded);
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
	blob_put(to, session->flight ? flight_size(session->flight) : 0);
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

/* Of those that are not kept their names, so that somebody is told. */
static void ended_save(struct worker_state *state, struct blob_writer *to)
{
	struct session *session = NULL;
	u32 count = 0;

	while ((session = worker_next(state, session)))
		count += !is_kept(state, session);
	blob_put(to, count);
	while ((session = worker_next(state, session)))
		if (!is_kept(state, session))
			blob_put_string(to, session->name);
}

/*
 * Room is given back when figures are safe. Several workers are there for rates at which rings
 * would not wait for that: a crash then loses what was given back since the checkpoint. So it does
 * where figures cannot be saved: to stop sampling for good would lose more.
 */
static void defer(struct source *source, bool unsaved)
{
	if (source->ops->lasting)
		source->ops->lasting->defer(source, source->parts > 0 || unsaved);
}

/* What was read from the rings is safe. */
static void release(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		if (source->ops->lasting)
			source->ops->lasting->release(session->feed->source);
	}
}

static void commit(struct worker_state *state, const struct blob_writer *from)
{
	struct keep *keep = state->keep;
	int r = checkpoint_commit(keep->checkpoint, from);

	keep->unsaved += r < 0;
	if (r < 0 || keep->error)
		defer(machine_of(state)->feed->source, r < 0);
	keep->error = r;
	if (r >= 0)
		release(state);
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
	if (keep->room)
		to.room = keep->room;
	blob_put_string(&to, SPEPROF_VERSION);
	blob_put(&to, now);
	blob_put(&to, machine->feed->source->backend);
	attributor_save(state->attributor, &to);
	positions_save(machine->feed->source, &to);
	trouble_save(&machine->feed->source->trouble, &to);
	configured_save(&keep->configured, &to);
	blob_put(&to, govern_asked(state));
	ended_save(state, &to);
	sessions_save(state, now, &to);
	commit(state, &to);
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
	if (!keep->error && is_waited_for(state) &&
	    (!state->shards || now - keep->saved_ns >= keep->took_ns * SAVE_SHARE_HELD))
		return true;
	pause = keep->took_ns * SAVE_SHARE;
	return now - keep->saved_ns >= (pause > SAVE_NS ? pause : SAVE_NS);
}

/** struct kept - of a session, what is not in its profile */
struct kept {
	char name[SESSION_NAME_SIZE];
	char expression[SESSION_TEXT];
	char *cgroups[SESSION_CGROUPS + 1];
	bool running;
	u64 since_ns;
	u64 ran_ns;
	u64 epoch;
	u64 cost_ns;
	u64 keep;
};

/**
 * struct loading - a checkpoint on its way
 * @state: NULL to see whether it holds together
 * @backend: of who is to go on with it
 * @reason: why not, if it is not that the checkpoint does not hold together
 * @scratch: what has no session of its own is loaded into
 * @positions: @count of them
 * @configured: as it was for who wrote it
 * @asked_ns: the interval that the machine's session was asked for
 * @starts: sessions that ran, @start_count of them, the machine's first if it is one
 */
struct loading {
	struct worker_state *state;
	u8 backend;
	const char *reason;
	struct attributor *attributor;
	struct profile *scratch;
	struct keep_restore *restore;
	struct source_position *positions;
	u32 count;
	struct source_trouble trouble;
	struct keep_configured configured;
	u64 asked_ns;
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

static void configured_load(struct blob_reader *from, struct keep_configured *ret)
{
	ret->interval_ns = blob_get(from);
	blob_get_string(from, ret->filter, sizeof(ret->filter));
	blob_get_string(from, ret->containers, sizeof(ret->containers));
	blob_get_string(from, ret->excluded, sizeof(ret->excluded));
}

/* One more of several, as far as there is room. */
static void __attribute__((format(printf, 2, 3)))
say(char text[static KEEP_TEXT], const char *format, ...)
{
	size_t n = strlen(text);
	va_list ap;

	if (n)
		n += (size_t)snprintf(text + n, KEEP_TEXT - n, "; ");
	if (n >= KEEP_TEXT)
		return;
	va_start(ap, format);
	vsnprintf(text + n, KEEP_TEXT - n, format, ap);
	va_end(ap);
}

static void ended_load(struct loading *l, struct blob_reader *from)
{
	u32 count = (u32)blob_get_below(from, WORKER_SESSIONS);
	char name[SESSION_NAME_SIZE];

	while (count-- && !from->bad) {
		blob_get_string(from, name, sizeof(name));
		if (l->state && !from->bad)
			say(l->restore->ended, "%s", name);
	}
}

/* @ret->cgroups is the caller's to free, also where it fails. */
static int kept_load(struct blob_reader *from, struct kept *ret)
{
	char path[SESSION_TEXT];
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
	ret->keep = blob_get(from);
	return from->bad ? -EBADMSG : 0;
}

static void kept_clear(struct kept *kept)
{
	for (u32 i = 0; kept->cgroups[i]; i++)
		free(kept->cgroups[i]);
}

static int rule_again(struct loading *l, const struct kept *kept, struct session_rule **ret_rule)
{
	struct filter_error error;

	return session_rule_new(l->restore->lists, kept->expression,
				*kept->cgroups ? kept->cgroups : NULL, ret_rule, &error);
}

/* One that the bus made, again; NULL if that cannot be. What its buffer had is gone. */
static struct session *session_again(struct loading *l, const struct kept *kept)
{
	struct session_config config = { .name = kept->name, .shared = true, .keep = kept->keep };
	int r = rule_again(l, kept, &config.rule);

	if (r >= 0) {
		config.feed = feed_get(machine_of(l->state)->feed);
		r = worker_add(l->state, &config);
		if (r >= 0)
			return worker_session(l->state, kept->name);
		feed_put(config.feed);
		session_rule_free(config.rule);
	}
	say(l->restore->dropped, "%s (%s)", kept->name,
	    r == -EDQUOT ? "MemoryBudget= has no room for it" : strerror(-r));
	return NULL;
}

static bool same_rule(const struct session_rule *rule, const struct kept *kept)
{
	u32 i = 0;

	while (rule->cgroups && rule->cgroups[i] && kept->cgroups[i] &&
	       !strcmp(rule->cgroups[i], kept->cgroups[i]))
		i++;
	return !(rule->cgroups && rule->cgroups[i]) && !kept->cgroups[i] &&
	       !strcmp(rule->expression, kept->expression);
}

/* Why the bus's is not in force is said; -EAGAIN: the configuration is newer than it. */
static void overrule(struct loading *l, const char *what, int r, const char *reason)
{
	say(l->restore->overruled, "%s: %s", what,
	    r == -EAGAIN ? "the configuration has changed" :
	    reason	 ? reason :
			   strerror(-r));
}

/* Whoever said last what is counted is right, as it is with a reload. */
static void machine_rule(struct loading *l, const struct kept *kept)
{
	const struct keep_configured *before = &l->configured, *now = &l->restore->keep->configured;
	struct session *machine = machine_of(l->state);
	bool same = !strcmp(before->filter, now->filter) &&
		    !strcmp(before->containers, now->containers) &&
		    !strcmp(before->excluded, now->excluded);
	struct worker_change change = { 0 };
	char what[KEEP_TEXT];
	int r = -EAGAIN;

	/* As the configuration had it then: what it has now is in force. */
	if (!*kept->cgroups && !strcmp(kept->expression, before->filter))
		return;
	if (same_rule(machine->rule, kept))
		return;
	snprintf(what, sizeof(what), "filter \"%.300s\"", kept->expression);
	for (u32 i = 0; kept->cgroups[i] && strlen(what) < sizeof(what) - 1; i++)
		snprintf(what + strlen(what), sizeof(what) - strlen(what), "%s%s",
			 i ? " " : ", cgroups ", kept->cgroups[i]);
	if (same)
		r = rule_again(l, kept, &change.rule);
	if (r >= 0) {
		r = worker_change(l->state, &change);
		if (r < 0)
			session_rule_free(change.rule);
	}
	if (r < 0)
		overrule(l, what, r, change.reason);
	else
		say(l->restore->settings, "%s", what);
}

static void machine_interval(struct loading *l)
{
	struct worker_change change = { .interval_ns = l->asked_ns };
	char what[64];
	int r = -EAGAIN;

	if (l->asked_ns == l->configured.interval_ns || !l->asked_ns)
		return;
	snprintf(what, sizeof(what), "interval of %llu us",
		 (unsigned long long)l->asked_ns / 1000);
	if (l->configured.interval_ns == l->restore->keep->configured.interval_ns)
		r = worker_change(l->state, &change);
	if (r < 0)
		overrule(l, what, r, change.reason);
	else
		say(l->restore->settings, "%s", what);
}

static struct session *machine_again(struct loading *l, const struct kept *kept)
{
	machine_rule(l, kept);
	machine_interval(l);
	return machine_of(l->state);
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
		session = machine ? machine_again(l, &kept) : session_again(l, &kept);
	if (r >= 0 && !session)
		profile_reset(l->scratch);
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

	/* Who left it may not have been able to save what he gave back last. */
	defer(source, true);
	if (l->restore->adopted &&
	    source->ops->lasting->resume(source, l->positions, l->count) < 0) {
		l->reason = "it is not of the session that was kept";
		return -ESTALE;
	}
	defer(source, false);
	/* What was drained for nobody is drained again. */
	machine_of(l->state)->feed->cpu_count = 0;
	trouble_go_on(source, &l->trouble);
	for (u32 i = 0; i < l->start_count && r >= 0; i++)
		r = session_start(l->starts[i]);
	return r;
}

/* Truth first: what was modelled is never added to what was measured. */
static int backend_load(struct loading *l, struct blob_reader *from)
{
	u8 backend = (u8)blob_get_below(from, BACKEND_EMULATED + 1);

	if (backend == l->backend || backend == BACKEND_UNKNOWN || l->backend == BACKEND_UNKNOWN)
		return 0;
	l->reason = backend == BACKEND_EMULATED ?
			    "the figures are of an emulated SPU, and this one is not" :
			    "the figures are of a hardware SPU, and this one is emulated";
	return -ESTALE;
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
	r = l->saved_ns > now ? -EBADMSG : backend_load(l, &from);
	if (r >= 0)
		r = attributor_load(l->attributor, &from, &translation);
	if (r >= 0)
		r = positions_load(&from, l);
	trouble_load(&from, &l->trouble);
	configured_load(&from, &l->configured);
	l->asked_ns = blob_get(&from);
	ended_load(l, &from);
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
static int try_load(struct blob_reader from, u8 backend, const char **ret_reason)
{
	const struct attributor_config attribution = { .live = true };
	struct loading l = { .backend = backend };
	int r = attributor_new(&attribution, &l.attributor);

	if (r >= 0)
		r = profile_new(NULL, l.attributor, &l.scratch);
	if (r >= 0)
		r = load(&l, from);
	free(l.positions);
	profile_free(l.scratch);
	attributor_free(l.attributor);
	*ret_reason = l.reason;
	return r;
}

static void tell_restore(struct keep_restore *restore, const struct loading *l, u64 records)
{
	restore->restored = true;
	restore->stopped = !l->running;
	restore->gap_ns = l->running && !restore->adopted ? l->gap_ns : 0;
	restore->records = records;
	snprintf(restore->version, sizeof(restore->version), "%s", l->version);
}

static int restore_from(struct worker_state *state, struct blob_reader from,
			struct keep_restore *restore)
{
	struct session *machine = machine_of(state);
	struct loading l = {
		.state = state,
		.backend = machine->feed->source->backend,
		.attributor = state->attributor,
		.restore = restore,
	};
	int r = try_load(from, l.backend, &l.reason);

	if (r >= 0)
		r = profile_new(NULL, state->attributor, &l.scratch);
	if (r >= 0)
		r = load(&l, from);
	if (r < 0) {
		forget(state);
		restore->reason = r == -ENOMEM ? "out of memory" :
				  l.reason     ? l.reason :
						 "what is in it does not hold together";
	} else {
		tell_restore(restore, &l, profile_header(machine->profile)->records);
	}
	free(l.positions);
	profile_free(l.scratch);
	return r;
}

static void set_configured(struct keep *keep, const struct config *config)
{
	keep->configured.interval_ns = 1000000000ULL / config->samples_per_second;
	memcpy(keep->configured.filter, config->filter, sizeof(config->filter));
	memcpy(keep->configured.containers, config->containers, sizeof(config->containers));
	memcpy(keep->configured.excluded, config->excluded, sizeof(config->excluded));
}

int keep_configure(struct worker_state *state, void *arg)
{
	if (!state->keep)
		return -ENODATA;
	set_configured(state->keep, arg);
	keep_save(state);
	return 0;
}

int keep_restore(struct worker_state *state, void *arg)
{
	struct keep_restore *restore = arg;
	struct source *source = machine_of(state)->feed->source;
	struct blob_reader from;
	int r;

	set_configured(restore->keep, restore->config);
	/* First: what is drained until rings are read from where they were is not to be lost. */
	if (source->ops->lasting)
		source->ops->lasting->defer(source, false);
	r = checkpoint_read(restore->keep->checkpoint, &from, &restore->reason);
	restore->found = r != -ENODATA;
	if (r >= 0) {
		r = restore_from(state, from, restore);
		free((void *)from.at);
	}
	defer(source, false);
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
