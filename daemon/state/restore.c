// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Restore a checkpoint completely or not at all. Exception: if a session of a bus client cannot be
 * restored, the rest still is.
 */
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
#include "util/time.h"

static struct session *get_machine_session(struct worker_state *state)
{
	return worker_find_session(state, SESSION_MACHINE);
}

/* Append @text to a list, unless it does not fit. */
static void __attribute__((format(printf, 2, 3)))
list_append_text(char text[static RESTORE_TEXT_SIZE], const char *format, ...)
{
	size_t n = strlen(text);
	va_list ap;

	if (n)
		n += (size_t)snprintf(text + n, RESTORE_TEXT_SIZE - n, "; ");
	if (n >= RESTORE_TEXT_SIZE)
		return;
	va_start(ap, format);
	vsnprintf(text + n, RESTORE_TEXT_SIZE - n, format, ap);
	va_end(ap);
}

void restore_add_note(struct restore_request *restore, bool warning, const char *format, ...)
{
	struct restore_note *note = &restore->notes[restore->note_count];
	va_list ap;

	if (restore->note_count == RESTORE_NOTES_MAX)
		return;
	restore->note_count++;
	note->warning = warning;
	va_start(ap, format);
	vsnprintf(note->text, sizeof(note->text), format, ap);
	va_end(ap);
}

static bool rule_is_same(const struct session_rule *rule, const struct session_record *record)
{
	u32 i = 0;

	while (rule->cgroups && rule->cgroups[i] && record->cgroups[i] &&
	       !strcmp(rule->cgroups[i], record->cgroups[i]))
		i++;
	return !(rule->cgroups && rule->cgroups[i]) && !record->cgroups[i] &&
	       !strcmp(rule->expression, record->expression);
}

/*
 * Report why a setting that a call had changed is not restored. @r: the error; -EAGAIN if the
 * configuration was changed later.
 */
static void report_overruled_setting(struct checkpoint_load_state *l, const char *what, int r,
				     const char *reason)
{
	list_append_text(l->restore->overruled, "%s: %s", what,
			 r == -EAGAIN ? "the configuration has changed" :
			 reason	      ? reason :
					strerror(-r));
}

/*
 * Restore the filter and the cgroups that a call had set, unless the configuration was changed
 * after the save. A reload of the configuration follows the same rule.
 */
static void restore_machine_rule(struct checkpoint_load_state *l,
				 const struct session_record *record)
{
	const struct checkpoint_settings *before = &l->configured,
					 *now = &l->restore->checkpoint->configured;
	struct session *machine = get_machine_session(l->state);
	bool same = !strcmp(before->filter, now->filter) &&
		    !strcmp(before->containers, now->containers) &&
		    !strcmp(before->excluded, now->excluded);
	struct worker_change_request change = { 0 };
	struct filter_error error;
	char what[RESTORE_TEXT_SIZE];
	int r = -EAGAIN;

	/*
	 * The saved filter was that of the configuration, so use the filter of the current
	 * configuration.
	 */
	if (!*record->cgroups && !strcmp(record->expression, before->filter))
		return;
	if (rule_is_same(machine->rule, record))
		return;
	snprintf(what, sizeof(what), "filter \"%.300s\"", record->expression);
	for (u32 i = 0; record->cgroups[i] && strlen(what) < sizeof(what) - 1; i++)
		snprintf(what + strlen(what), sizeof(what) - strlen(what), "%s%s",
			 i ? " " : ", cgroups ", record->cgroups[i]);
	if (same)
		r = session_rule_new(l->restore->lists, record->expression,
				     *record->cgroups ? record->cgroups : NULL, &change.rule,
				     &error);
	if (r >= 0) {
		r = worker_change_session(l->state, &change);
		if (r < 0)
			session_rule_free(change.rule);
	}
	if (r < 0)
		report_overruled_setting(l, what, r, change.reason);
	else
		list_append_text(l->restore->settings, "%s", what);
}

static void restore_machine_interval(struct checkpoint_load_state *l)
{
	struct worker_change_request change = { .interval_ns = l->target_ns };
	char what[64];
	int r = -EAGAIN;

	if (l->target_ns == l->configured.interval_ns || !l->target_ns)
		return;
	snprintf(what, sizeof(what), "interval of %llu us",
		 (unsigned long long)l->target_ns / 1000);
	if (l->configured.interval_ns == l->restore->checkpoint->configured.interval_ns)
		r = worker_change_session(l->state, &change);
	if (r < 0)
		report_overruled_setting(l, what, r, change.reason);
	else
		list_append_text(l->restore->settings, "%s", what);
}

static void restore_machine(struct checkpoint_load_state *l, const struct session_record *record,
			    struct restored_session *ret)
{
	restore_machine_rule(l, record);
	restore_machine_interval(l);
	*ret = (struct restored_session){
		.session = get_machine_session(l->state),
		.adopted = l->restore->adopted,
	};
}

/*
 * Resume the clock of a session. If the session ran, the time without a daemon counts as running
 * time.
 */
static void session_resume_clock(struct checkpoint_load_state *l,
				 const struct session_record *record,
				 const struct restored_session *restored)
{
	struct session *session = restored->session;

	session->epoch = record->epoch;
	session->ran_ns = record->ran_ns + (record->running ? record->since_ns + l->gap_ns : 0);
	session->cost_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - record->cost_ns;
	restore_session_report(l, record, restored);
	if (!record->running)
		return;
	if (!restored->adopted)
		session_count_blind_time(session, l->gap_ns, 0);
	l->starts[l->start_count++] = session;
}

static void restore_loaded_session(struct checkpoint_load_state *l,
				   const struct session_record *record, bool machine,
				   struct restored_session *ret)
{
	if (machine)
		restore_machine(l, record, ret);
	else
		restore_session_create(l, record, ret);
}

static int session_load(struct checkpoint_load_state *l, struct deserializer *from, bool machine,
			const struct attribute_translation *translation)
{
	struct restored_session found = { 0 };
	struct session_record record;
	int r = session_record_load(from, &record);

	if (r >= 0 &&
	    (machine == (strcmp(record.name, SESSION_MACHINE) != 0) || (machine && record.own)))
		r = -EBADMSG;
	if (r >= 0 && l->state)
		restore_loaded_session(l, &record, machine, &found);
	if (r >= 0 && !found.session)
		profile_reset(l->scratch);
	if (r >= 0)
		r = profile_load(found.session ? found.session->profile : l->scratch, from,
				 translation);
	if (r >= 0 && machine)
		l->running = record.running;
	if (r >= 0 && found.session)
		session_resume_clock(l, &record, &found);
	session_record_clear(&record);
	return r;
}

static int sessions_load(struct checkpoint_load_state *l, struct deserializer *from,
			 const struct attribute_translation *translation)
{
	u32 count = (u32)deserialize_u64_below(from, WORKER_SESSIONS + 1);
	int r = count ? 0 : -EBADMSG;

	for (u32 i = 0; i < count && r >= 0; i++)
		r = session_load(l, from, !i, translation);
	return r;
}

/* The first partition of a partitioned source receives the saved counters of all partitions. */
void restore_source_health(struct source *source, const struct source_health *record)
{
	struct source_health *health = &source_get_partition(source, 0)->health;

	health->faults = record->faults;
	health->throttles = record->throttles;
	health->unread = record->unread;
	memcpy(health->last, record->last, sizeof(health->last));
	source_partition_copy_health(source, 0);
	source_partitions_sum_health(source);
}

/*
 * Start a session that ran. If it cannot be started, it keeps its counters. The caller of
 * restore_run() starts the machine's session, which may have to wait for the SPU. Sessions that
 * share the machine's source start then. For other sessions, a failure is reported.
 */
static void restart_session(struct checkpoint_load_state *l, struct session *session)
{
	int r = session_start(session);

	session->waits = r == -EBUSY && session->shared && l->running;
	if (r < 0 && !session->waits && session != get_machine_session(l->state))
		restore_add_note(l->restore, true,
				 "session \"%s\" stays stopped, as it cannot be started: %s",
				 session->name, strerror(-r));
}

/*
 * Set the position of each ring when all sessions exist, because their creation may have drained
 * the rings before any session counted.
 */
static int resume_machine_source(struct checkpoint_load_state *l)
{
	struct source *source = get_machine_session(l->state)->shared_source->source;

	/* The old process may have released bytes that it could not save. */
	checkpoint_defer_release(l->state, get_machine_session(l->state)->shared_source, true);
	if (l->restore->adopted &&
	    source->ops->persist->resume(source, l->source.positions, l->source.count) < 0) {
		l->reason = "it belongs to another session of the module than the stored one";
		return -ESTALE;
	}
	checkpoint_defer_release(l->state, get_machine_session(l->state)->shared_source, false);
	if (l->restore->adopted)
		restore_note_offline_cpus(l, source, &l->source);
	/*
	 * Clear the sums of each CPU: the windows that were drained before any session counted will
	 * be read and summed again.
	 */
	get_machine_session(l->state)->shared_source->cpu_count = 0;
	restore_source_health(source, &l->source.health);
	for (u32 i = 0; i < l->start_count; i++)
		restart_session(l, l->starts[i]);
	return 0;
}

/* The backends must be equal, because modelled counters must never be added to measured ones. */
const char *restore_check_backend(u8 record, u8 now)
{
	if (record == now || record == BACKEND_UNKNOWN || now == BACKEND_UNKNOWN)
		return NULL;
	return record == BACKEND_EMULATED ?
		       "its counters are of an emulated SPU, and this SPU is hardware" :
		       "its counters are of a hardware SPU, and this SPU is emulated";
}

static int machine_source_load(struct checkpoint_load_state *l, struct deserializer *from)
{
	int r = source_record_load(from, &l->source);

	if (r >= 0)
		l->reason = restore_check_backend(l->source.backend, l->backend);
	return l->reason ? -ESTALE : r;
}

/* Load a checkpoint. The caller frees l->source.positions, also on failure. */
static int load_checkpoint(struct checkpoint_load_state *l, struct deserializer from)
{
	struct attribute_translation translation = { 0 };
	u64 now = time_now_ns();
	int r;

	deserialize_string(&from, l->version, sizeof(l->version));
	l->saved_ns = deserialize_u64(&from);
	l->gap_ns = now - l->saved_ns;
	r = l->saved_ns > now ? -EBADMSG : machine_source_load(l, &from);
	if (r >= 0)
		r = attributor_load(l->attributor, &from, &translation);
	settings_record_load(&from, &l->configured);
	l->target_ns = deserialize_u64(&from);
	if (r >= 0)
		r = sessions_load(l, &from, &translation);
	attribute_translation_deinit(&translation);
	if (r >= 0 && (from.bad || from.pos != from.len))
		r = -EBADMSG;
	return r >= 0 && l->state ? resume_machine_source(l) : r;
}

/* Undo a partial restore, so that the process starts as if there were no checkpoint. */
static void undo_restore(struct worker_state *state, struct restore_request *restore)
{
	struct session *machine = get_machine_session(state), *session = NULL;

	restore->note_count = 0;
	while ((session = worker_get_next_session(state, session))) {
		if (session == machine)
			continue;
		restore_add_note(restore, true,
				 "session \"%s\" is removed, as its part of the checkpoint is not "
				 "used either",
				 session->name);
		restore_session_remove(session);
	}
	/* Reset the counters. Readers detect the reset by the new epoch. */
	session_reset(machine);
}

/* Allocate a profile for the counters of sessions that are not restored. */
static int scratch_profile_new(const struct memory_plan *plan, struct attributor *attributor,
			       struct profile **ret_profile)
{
	struct profile_config config = budget_get_profile_config(plan);

	config.history = false;
	return profile_new(&config, attributor, ret_profile);
}

/* Load into temporary tables first, so that a damaged checkpoint changes nothing. */
static int try_load_checkpoint(const struct memory_plan *plan, struct deserializer from, u8 backend,
			       const char **ret_reason)
{
	const struct attributor_config attribution = { .live = true };
	struct checkpoint_load_state l = { .backend = backend };
	int r = attributor_new(&attribution, &l.attributor);

	if (r >= 0)
		r = scratch_profile_new(plan, l.attributor, &l.scratch);
	if (r >= 0)
		r = load_checkpoint(&l, from);
	free(l.source.positions);
	profile_free(l.scratch);
	attributor_free(l.attributor);
	*ret_reason = l.reason;
	return r;
}

static void restore_set_results(struct restore_request *restore,
				const struct checkpoint_load_state *l, u64 records)
{
	restore->restored = true;
	restore->stopped = !l->running;
	restore->gap_ns = l->running && !restore->adopted ? l->gap_ns : 0;
	restore->records = records;
	snprintf(restore->version, sizeof(restore->version), "%s", l->version);
}

static int restore_from_slot(struct worker_state *state, struct deserializer from,
			     struct restore_request *restore)
{
	struct session *machine = get_machine_session(state);
	struct checkpoint_load_state l = {
		.state = state,
		.backend = machine->shared_source->source->backend,
		.attributor = state->attributor,
		.restore = restore,
	};
	int r = try_load_checkpoint(&state->plan, from, l.backend, &l.reason);

	if (r >= 0)
		r = scratch_profile_new(&state->plan, state->attributor, &l.scratch);
	if (r >= 0)
		r = load_checkpoint(&l, from);
	if (r < 0) {
		undo_restore(state, restore);
		restore->reason = r == -ENOMEM ? "out of memory" :
				  l.reason     ? l.reason :
						 "its content is inconsistent";
	} else {
		restore_set_results(restore, &l, profile_get_header(machine->profile)->records);
	}
	free(l.source.positions);
	profile_free(l.scratch);
	return r;
}

int restore_run(struct worker_state *state, void *arg)
{
	struct restore_request *restore = arg;
	struct deserializer from;
	int r;

	checkpoint_set_settings(restore->checkpoint, restore->config);
	/*
	 * Set this first: bytes that are drained before the positions are restored must not be
	 * released.
	 */
	checkpoint_defer_release(state, get_machine_session(state)->shared_source, false);
	r = checkpoint_slots_read(restore->checkpoint->slots, &from, &restore->reason);
	restore->found = r != -ENODATA;
	if (r >= 0) {
		r = restore_from_slot(state, from, restore);
		free((void *)from.at);
	}
	checkpoint_defer_release(state, get_machine_session(state)->shared_source, false);
	checkpoint_attach(state, restore->checkpoint);
	restore->checkpoint->starts = !restore->restored || !restore->stopped;
	checkpoint_save(state);
	return r;
}
