// SPDX-License-Identifier: LGPL-2.1-or-later
/* What another process left, taken up: all of it or nothing, but for sessions of the bus. */
#include "restore-internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "attribution/attributor-save.h"
#include "profile/profile-read.h"
#include "profile/profile-save.h"
#include "source/partitioned.h"

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

static struct session *machine_of(struct worker_state *state)
{
	return worker_session(state, SESSION_MACHINE);
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

void keep_note(struct keep_restore *restore, bool warning, const char *format, ...)
{
	struct keep_note *note = &restore->notes[restore->note_count];
	va_list ap;

	if (restore->note_count == KEEP_NOTES)
		return;
	restore->note_count++;
	note->warning = warning;
	va_start(ap, format);
	vsnprintf(note->text, sizeof(note->text), format, ap);
	va_end(ap);
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
	struct filter_error error;
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
		r = session_rule_new(l->restore->lists, kept->expression,
				     *kept->cgroups ? kept->cgroups : NULL, &change.rule, &error);
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
	snprintf(what, sizeof(what), "interval of %llu us", (unsigned long long)l->asked_ns / 1000);
	if (l->configured.interval_ns == l->restore->keep->configured.interval_ns)
		r = worker_change(l->state, &change);
	if (r < 0)
		overrule(l, what, r, change.reason);
	else
		say(l->restore->settings, "%s", what);
}

static void machine_again(struct loading *l, const struct kept *kept, struct again *ret)
{
	machine_rule(l, kept);
	machine_interval(l);
	*ret = (struct again){
		.session = machine_of(l->state),
		.adopted = l->restore->adopted,
	};
}

/* As long as it ran, it ran while nobody was there too. */
static void session_go_on(struct loading *l, const struct kept *kept, const struct again *again)
{
	struct session *session = again->session;

	session->epoch = kept->epoch;
	session->ran_ns = kept->ran_ns + (kept->running ? kept->since_ns + l->gap_ns : 0);
	session->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - kept->cost_ns;
	keep_session_told(l, kept, again);
	if (!kept->running)
		return;
	if (!again->adopted)
		session_book_blind(session, l->gap_ns, 0);
	l->starts[l->start_count++] = session;
}

static void again(struct loading *l, const struct kept *kept, bool machine, struct again *ret)
{
	if (machine)
		machine_again(l, kept, ret);
	else
		keep_session_again(l, kept, ret);
}

static int session_load(struct loading *l, struct deserializer *from, bool machine,
			const struct attribute_translation *translation)
{
	struct again found = { 0 };
	struct kept kept;
	int r = kept_load(from, &kept);

	if (r >= 0 &&
	    (machine == (strcmp(kept.name, SESSION_MACHINE) != 0) || (machine && kept.own)))
		r = -EBADMSG;
	if (r >= 0 && l->state)
		again(l, &kept, machine, &found);
	if (r >= 0 && !found.session)
		profile_reset(l->scratch);
	if (r >= 0)
		r = profile_load(found.session ? found.session->profile : l->scratch, from,
				 translation);
	if (r >= 0 && machine)
		l->running = kept.running;
	if (r >= 0 && found.session)
		session_go_on(l, &kept, &found);
	kept_clear(&kept);
	return r;
}

static int sessions_load(struct loading *l, struct deserializer *from,
			 const struct attribute_translation *translation)
{
	u32 count = (u32)deserialize_below(from, WORKER_SESSIONS + 1);
	int r = count ? 0 : -EBADMSG;

	for (u32 i = 0; i < count && r >= 0; i++)
		r = session_load(l, from, !i, translation);
	return r;
}

/* Of a source in parts the first has what all had. */
void keep_trouble(struct source *source, const struct source_trouble *kept)
{
	struct source_trouble *trouble = &source_partition(source, 0)->trouble;

	trouble->faults = kept->faults;
	trouble->throttles = kept->throttles;
	trouble->unread = kept->unread;
	memcpy(trouble->last, kept->last, sizeof(trouble->last));
	source_partition_update(source, 0);
	source_partitions_sum(source);
}

/*
 * A session that cannot run keeps its figures. The caller of keep_restore() starts the machine's, and
 * may wait for the SPU: sessions that share its source then start with it. Others are reported.
 */
static void start_again(struct loading *l, struct session *session)
{
	int r = session_start(session);

	session->waits = r == -EBUSY && session->shared && l->running;
	if (r < 0 && !session->waits && session != machine_of(l->state))
		keep_note(l->restore, true,
			  "session \"%s\" is stopped, as it cannot be started again: %s",
			  session->name, strerror(-r));
}

/*
 * From where each ring was read up to, for all that ran at once: to make them may have
 * drained it, for nobody.
 */
static int source_go_on(struct loading *l)
{
	struct source *source = machine_of(l->state)->feed->source;

	/* Who left it may not have been able to save what he gave back last. */
	keep_defer(l->state, machine_of(l->state)->feed, true);
	if (l->restore->adopted &&
	    source->ops->persist->resume(source, l->source.positions, l->source.count) < 0) {
		l->reason = "it is not of the session that was kept";
		return -ESTALE;
	}
	keep_defer(l->state, machine_of(l->state)->feed, false);
	if (l->restore->adopted)
		keep_tell_offline(l, source, &l->source);
	/* What was drained for nobody is drained again. */
	machine_of(l->state)->feed->cpu_count = 0;
	keep_trouble(source, &l->source.trouble);
	for (u32 i = 0; i < l->start_count; i++)
		start_again(l, l->starts[i]);
	return 0;
}

/* Truth first: what was modelled is never added to what was measured. */
const char *keep_backend_reason(u8 kept, u8 now)
{
	if (kept == now || kept == BACKEND_UNKNOWN || now == BACKEND_UNKNOWN)
		return NULL;
	return kept == BACKEND_EMULATED ?
		       "the figures are of an emulated SPU, and this one is not" :
		       "the figures are of a hardware SPU, and this one is emulated";
}

static int machine_source_load(struct loading *l, struct deserializer *from)
{
	int r = kept_source_load(from, &l->source);

	if (r >= 0)
		l->reason = keep_backend_reason(l->source.backend, l->backend);
	return l->reason ? -ESTALE : r;
}

/* @l->source's positions are the caller's to free, also where it fails. */
static int load(struct loading *l, struct deserializer from)
{
	struct attribute_translation translation = { 0 };
	u64 now = now_ns(CLOCK_MONOTONIC);
	int r;

	deserialize_string(&from, l->version, sizeof(l->version));
	l->saved_ns = deserialize_u64(&from);
	l->gap_ns = now - l->saved_ns;
	r = l->saved_ns > now ? -EBADMSG : machine_source_load(l, &from);
	if (r >= 0)
		r = attributor_load(l->attributor, &from, &translation);
	kept_configured_load(&from, &l->configured);
	l->asked_ns = deserialize_u64(&from);
	if (r >= 0)
		r = sessions_load(l, &from, &translation);
	attribute_translation_deinit(&translation);
	if (r >= 0 && (from.bad || from.pos != from.len))
		r = -EBADMSG;
	return r >= 0 && l->state ? source_go_on(l) : r;
}

/* As if nothing had been found. */
static void forget(struct worker_state *state, struct keep_restore *restore)
{
	struct session *machine = machine_of(state), *session = NULL;

	restore->note_count = 0;
	while ((session = worker_next(state, session))) {
		if (session == machine)
			continue;
		keep_note(restore, true, "session \"%s\" has ended with them", session->name);
		keep_session_end(session);
	}
	/* Counting begins anew, which whoever adds up is to see. */
	session_reset(machine);
}

/* Into tables that are thrown away: what is refused must not be half there. */
static int try_load(struct deserializer from, u8 backend, const char **ret_reason)
{
	const struct attributor_config attribution = { .live = true };
	struct loading l = { .backend = backend };
	int r = attributor_new(&attribution, &l.attributor);

	if (r >= 0)
		r = profile_new(NULL, l.attributor, &l.scratch);
	if (r >= 0)
		r = load(&l, from);
	free(l.source.positions);
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

static int restore_from(struct worker_state *state, struct deserializer from,
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
		forget(state, restore);
		restore->reason = r == -ENOMEM ? "out of memory" :
				  l.reason     ? l.reason :
						 "what is in it does not hold together";
	} else {
		tell_restore(restore, &l, profile_header(machine->profile)->records);
	}
	free(l.source.positions);
	profile_free(l.scratch);
	return r;
}

int keep_restore(struct worker_state *state, void *arg)
{
	struct keep_restore *restore = arg;
	struct deserializer from;
	int r;

	keep_set_configured(restore->keep, restore->config);
	/* First: what is drained until rings are read from where they were is not to be lost. */
	keep_defer(state, machine_of(state)->feed, false);
	r = checkpoint_read(restore->keep->checkpoint, &from, &restore->reason);
	restore->found = r != -ENODATA;
	if (r >= 0) {
		r = restore_from(state, from, restore);
		free((void *)from.at);
	}
	keep_defer(state, machine_of(state)->feed, false);
	keep_attach(state, restore->keep);
	restore->keep->starts = !restore->restored || !restore->stopped;
	keep_save(state);
	return r;
}
