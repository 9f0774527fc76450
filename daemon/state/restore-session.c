// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Restore sessions that CreateSession created. If one session cannot be restored, the others still
 * are.
 */
#include "restore-internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile-read.h"
#include "source/partitioned.h"
#include "util/cgroup-mount.h"

/*
 * Continue at the positions in the checkpoint. If the old process released bytes that it could not
 * save, a position may be older than the oldest data of its ring.
 */
static int source_resume_positions(struct source *source, const struct source_record *record)
{
	const struct source_persist_ops *persist = source->ops->persist;
	int r;

	if (!persist)
		return -ESTALE;
	persist->defer(source, true);
	r = persist->resume(source, record->positions, record->count);
	persist->defer(source, false);
	return r;
}

static void stop_and_free_source(struct source *source)
{
	source->ops->stop(source);
	source->ops->free(source);
}

static int check_backend(const struct session_record *record, struct source *source,
			 struct restored_session *ret)
{
	const char *reason = restore_check_backend(record->source.backend, source->backend);

	if (!reason)
		return 0;
	stop_and_free_source(source);
	snprintf(ret->why, sizeof(ret->why), "%s", reason);
	return -ESTALE;
}

/*
 * Adopt the old source of the session, or open a new one. If a new source is opened, the time since
 * the save counts as blind.
 */
static int adopt_or_open_source(struct checkpoint_load_state *l,
				const struct session_record *record, struct source_config *sampling,
				struct source **ret_source, struct restored_session *ret)
{
	struct restore_request *restore = l->restore;
	char why[RESTORE_REASON_SIZE] = "";
	int r;

	r = restore->open(restore->ctx, record->name, true, sampling, ret_source, ret->why);
	if (r >= 0 && source_resume_positions(*ret_source, &record->source) < 0) {
		snprintf(ret->why, sizeof(ret->why), "its rings are not those of the checkpoint");
		stop_and_free_source(*ret_source);
		r = -ESTALE;
	}
	ret->adopted = r >= 0;
	if (r < 0) {
		r = restore->open(restore->ctx, record->name, false, sampling, ret_source, why);
		if (r < 0)
			memcpy(ret->why, why, sizeof(why));
	}
	return r < 0 ? r : check_backend(record, *ret_source, ret);
}

/*
 * Open a source with the session's sampling options. Filters that depend on the type of core are
 * set later, when the cores of the source are known.
 */
static int open_shared_source(struct checkpoint_load_state *l, const struct session_record *record,
			      const struct session_rule *rule,
			      struct shared_source **ret_shared_source,
			      struct restored_session *ret)
{
	struct source_config sampling = record->sampling, filter = { 0 };
	struct source *source;
	int r;

	if (rule->filter)
		filter_offload(rule->filter, NULL, &filter);
	source_filter_copy(&sampling, &filter);
	sampling.cgroups = record->of_cgroups ? rule->cgroups : NULL;
	sampling.skip_missing_cgroups = true;
	r = adopt_or_open_source(l, record, &sampling, &source, ret);
	if (r < 0)
		return r;
	sampling.skip_missing_cgroups = false;
	source_filter_copy(&sampling, &(struct source_config){ 0 });
	r = shared_source_new(source, &sampling, ret_shared_source);
	if (r < 0)
		stop_and_free_source(source);
	else
		(*ret_shared_source)->filter = filter;
	return r;
}

static bool cpu_was_offline(const struct source_record *record, u32 cpu)
{
	for (u32 i = 0; i < record->count; i++)
		if (record->positions[i].cpu == cpu)
			return record->positions[i].offline;
	return true;
}

void restore_note_offline_cpus(struct checkpoint_load_state *l, const struct source *source,
			       const struct source_record *record)
{
	struct source_position *now = l->offline ? NULL : calloc(source->cpus, sizeof(*now));
	u32 count = now ? source->ops->persist->positions(source, now, source->cpus) : 0;
	u32 first = 0, offline_count = 0;

	for (u32 i = 0; i < count; i++) {
		if (!now[i].offline || cpu_was_offline(record, now[i].cpu))
			continue;
		first = offline_count ? first : now[i].cpu;
		offline_count++;
	}
	free(now);
	if (!offline_count)
		return;
	l->offline = true;
	restore_add_note(l->restore, false,
			 "CPU %u%s went offline during the restart: its earlier samples are "
			 "counted, and new ones once it is online again",
			 first, offline_count > 1 ? " and others" : "");
}

static int create_with_shared_source(struct checkpoint_load_state *l, struct session_config *config,
				     struct restored_session *ret)
{
	int r;

	config->shared_source =
		shared_source_get(worker_find_session(l->state, SESSION_MACHINE)->shared_source);
	config->shared = true;
	ret->adopted = l->restore->adopted;
	r = worker_add_session(l->state, config);
	if (r >= 0)
		ret->session = worker_find_session(l->state, config->name);
	return r;
}

static int create_with_own_source(struct checkpoint_load_state *l,
				  const struct session_record *record,
				  struct session_config *config, struct restored_session *ret)
{
	struct source *source;
	int r = open_shared_source(l, record, config->rule, &config->shared_source, ret);

	if (r < 0)
		return r;
	source = config->shared_source->source;
	r = worker_add_session(l->state, config);
	if (r < 0) {
		source->ops->stop(source);
		return r;
	}
	ret->session = worker_find_session(l->state, record->name);
	/*
	 * The search for the cores of the source drained the rings before any session counted. Set
	 * the positions again, so that the drained bytes are read again.
	 */
	if (ret->adopted) {
		source_resume_positions(source, &record->source);
		restore_note_offline_cpus(l, source, &record->source);
	}
	config->shared_source->cpu_count = 0;
	restore_source_health(source, &record->source.health);
	checkpoint_defer_release(l->state, config->shared_source, false);
	return 0;
}

void restore_session_create(struct checkpoint_load_state *l, const struct session_record *record,
			    struct restored_session *ret)
{
	struct session_config config = { .name = record->name, .flight_bytes = record->buffer };
	struct filter_error error = { 0 };
	int r;

	*ret = (struct restored_session){ 0 };
	r = session_rule_new(l->restore->lists, record->expression,
			     *record->cgroups ? record->cgroups : NULL, &config.rule, &error);
	if (r >= 0)
		r = record->own ? create_with_own_source(l, record, &config, ret) :
				  create_with_shared_source(l, &config, ret);
	if (r >= 0)
		return;
	shared_source_put(config.shared_source);
	session_rule_free(config.rule);
	restore_add_note(l->restore, true, "session \"%s\" cannot be restored: %s", record->name,
			 r == -EDQUOT ? "its tables would exceed MemoryBudget=" :
			 *ret->why    ? ret->why :
			 *error.text  ? error.text :
					strerror(-r));
}

/*
 * Add a note about removed cgroups. The module has removed them from the set of the session, and
 * does not sample a new cgroup with the same name.
 */
static void note_removed_cgroups(struct checkpoint_load_state *l, const struct session *session)
{
	char *const *cgroups = session->rule->cgroups;
	const char *first = NULL;
	u32 removed_count = 0;

	for (; cgroups && *cgroups; cgroups++) {
		if (!cgroup_is_removed(*cgroups))
			continue;
		first = first ? first : *cgroups;
		removed_count++;
	}
	if (removed_count)
		restore_add_note(
			l->restore, true,
			"session \"%s\" is restored without cgroup \"%.128s\"%s, which was removed",
			session->name, first, removed_count > 1 ? " and others" : "");
}

/*
 * A session without its own source (!record->own) is not reported, because the machine's session
 * has the result of its source. The content of a flight recorder is lost.
 */
void restore_session_report(struct checkpoint_load_state *l, const struct session_record *record,
			    const struct restored_session *restored)
{
	u64 records = profile_get_header(restored->session->profile)->records;

	note_removed_cgroups(l, restored->session);
	if (!record->own)
		return;
	if (restored->adopted || !record->running)
		restore_add_note(l->restore, false,
				 "session \"%s\" is restored with %llu records, without a gap",
				 record->name, (unsigned long long)records);
	else
		restore_add_note(l->restore, false,
				 "session \"%s\" is restored with %llu records; its CPUs were "
				 "blind for %llu "
				 "ms: %s",
				 record->name, (unsigned long long)records,
				 (unsigned long long)l->gap_ns / 1000000,
				 *restored->why ?
					 restored->why :
					 "its rings were lost with the process that owned them");
}

void restore_session_remove(struct session *session)
{
	if (!session->shared)
		session->shared_source->source->ops->stop(session->shared_source->source);
	session_deinit(session);
}
