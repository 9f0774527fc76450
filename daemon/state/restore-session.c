// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions that the bus made, again; each as far as it goes, and none at another's cost. */
#include "restore-internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile-read.h"
#include "source/partitioned.h"
#include "util/cgroup-mount.h"

/*
 * From where its rings were read up to. Who left it may not have been able to save what he gave
 * back last, so that this may be behind what is there: as of rings that spill.
 */
static int resume(struct source *source, const struct kept_source *kept)
{
	const struct source_persist_ops *persist = source->ops->persist;
	int r;

	if (!persist)
		return -ESTALE;
	persist->defer(source, true);
	r = persist->resume(source, kept->positions, kept->count);
	persist->defer(source, false);
	return r;
}

static void end_source(struct source *source)
{
	source->ops->stop(source);
	source->ops->free(source);
}

static int check_backend(const struct kept *kept, struct source *source, struct again *ret)
{
	const char *reason = keep_backend_reason(kept->source.backend, source->backend);

	if (!reason)
		return 0;
	end_source(source);
	snprintf(ret->why, sizeof(ret->why), "%s", reason);
	return -ESTALE;
}

/* The one it had, or else another one: figures go on, and the time between is blind. */
static int open_source(struct loading *l, const struct kept *kept, struct source_config *sampling,
		       struct source **ret_source, struct again *ret)
{
	struct keep_restore *restore = l->restore;
	char why[KEEP_REASON] = "";
	int r;

	r = restore->open(restore->ctx, kept->name, true, sampling, ret_source, ret->why);
	if (r >= 0 && resume(*ret_source, &kept->source) < 0) {
		snprintf(ret->why, sizeof(ret->why), "its rings are not those that were kept");
		end_source(*ret_source);
		r = -ESTALE;
	}
	ret->adopted = r >= 0;
	if (r < 0) {
		r = restore->open(restore->ctx, kept->name, false, sampling, ret_source, why);
		if (r < 0)
			memcpy(ret->why, why, sizeof(why));
	}
	return r < 0 ? r : check_backend(kept, *ret_source, ret);
}

/* By what it was asked for, and filters but for those that ask which cores it has, which it tells. */
static int open_feed(struct loading *l, const struct kept *kept, const struct session_rule *rule,
		     struct feed **ret_feed, struct again *ret)
{
	struct source_config sampling = kept->sampling, filter = { 0 };
	struct source *source;
	int r;

	if (rule->filter)
		filter_hardware(rule->filter, NULL, &filter);
	source_filter_copy(&sampling, &filter);
	sampling.cgroups = kept->of_cgroups ? rule->cgroups : NULL;
	sampling.cgroups_known = true;
	r = open_source(l, kept, &sampling, &source, ret);
	if (r < 0)
		return r;
	sampling.cgroups_known = false;
	source_filter_copy(&sampling, &(struct source_config){ 0 });
	r = feed_new(source, &sampling, ret_feed);
	if (r < 0)
		end_source(source);
	else
		(*ret_feed)->filter = filter;
	return r;
}

static bool was_offline(const struct kept_source *kept, u32 cpu)
{
	for (u32 i = 0; i < kept->count; i++)
		if (kept->positions[i].cpu == cpu)
			return kept->positions[i].offline;
	return true;
}

void keep_tell_offline(struct loading *l, const struct source *source,
		       const struct kept_source *kept)
{
	struct source_position *now = l->offline ? NULL : calloc(source->cpus, sizeof(*now));
	u32 count = now ? source->ops->persist->positions(source, now, source->cpus) : 0;
	u32 first = 0, gone = 0;

	for (u32 i = 0; i < count; i++) {
		if (!now[i].offline || was_offline(kept, now[i].cpu))
			continue;
		first = gone ? first : now[i].cpu;
		gone++;
	}
	free(now);
	if (!gone)
		return;
	l->offline = true;
	keep_note(l->restore, false,
		  "CPU %u%s went offline meanwhile: what was sampled there is counted, and more is "
		  "once it is back",
		  first, gone > 1 ? " and others" : "");
}

static int add_shared(struct loading *l, struct session_config *config, struct again *ret)
{
	int r;

	config->feed = feed_get(worker_session(l->state, SESSION_MACHINE)->feed);
	config->shared = true;
	ret->adopted = l->restore->adopted;
	r = worker_add(l->state, config);
	if (r >= 0)
		ret->session = worker_session(l->state, config->name);
	return r;
}

static int add_own(struct loading *l, const struct kept *kept, struct session_config *config,
		   struct again *ret)
{
	struct source *source;
	int r = open_feed(l, kept, config->rule, &config->feed, ret);

	if (r < 0)
		return r;
	source = config->feed->source;
	r = worker_add(l->state, config);
	if (r < 0) {
		source->ops->stop(source);
		return r;
	}
	ret->session = worker_session(l->state, kept->name);
	/* To filter by its cores its rings were drained, for nobody: that is drained again. */
	if (ret->adopted) {
		resume(source, &kept->source);
		keep_tell_offline(l, source, &kept->source);
	}
	config->feed->cpu_count = 0;
	keep_trouble(source, &kept->source.trouble);
	keep_defer(l->state, config->feed, false);
	return 0;
}

void keep_session_again(struct loading *l, const struct kept *kept, struct again *ret)
{
	struct session_config config = { .name = kept->name, .keep = kept->buffer };
	struct filter_error error = { 0 };
	int r;

	*ret = (struct again){ 0 };
	r = session_rule_new(l->restore->lists, kept->expression,
			     *kept->cgroups ? kept->cgroups : NULL, &config.rule, &error);
	if (r >= 0)
		r = kept->own ? add_own(l, kept, &config, ret) : add_shared(l, &config, ret);
	if (r >= 0)
		return;
	feed_put(config.feed);
	session_rule_free(config.rule);
	keep_note(l->restore, true, "session \"%s\" cannot be made again: %s", kept->name,
		  r == -EDQUOT ? "MemoryBudget= has no room for it" :
		  *ret->why    ? ret->why :
		  *error.text  ? error.text :
				 strerror(-r));
}

/* The module lets a cgroup that is removed leave its set, and another one of its name is another. */
static void tell_cgroups(struct loading *l, const struct session *session)
{
	char *const *cgroups = session->rule->cgroups;
	const char *first = NULL;
	u32 gone = 0;

	for (; cgroups && *cgroups; cgroups++) {
		if (!cgroup_is_removed(*cgroups))
			continue;
		first = first ? first : *cgroups;
		gone++;
	}
	if (gone)
		keep_note(l->restore, true,
			  "session \"%s\" goes on without cgroup \"%.128s\"%s, which is not there "
			  "any more",
			  session->name, first, gone > 1 ? " and others" : "");
}

/* Sessions that share the machine's source are as it is; what a buffer had is gone in any case. */
void keep_session_told(struct loading *l, const struct kept *kept, const struct again *again)
{
	u64 records = profile_header(again->session->profile)->records;

	tell_cgroups(l, again->session);
	if (!kept->own)
		return;
	if (again->adopted || !kept->running)
		keep_note(l->restore, false,
			  "session \"%s\" goes on with %llu records, without a gap", kept->name,
			  (unsigned long long)records);
	else
		keep_note(l->restore, false,
			  "session \"%s\" goes on with %llu records; its CPUs were blind for %llu "
			  "ms: %s",
			  kept->name, (unsigned long long)records,
			  (unsigned long long)l->gap_ns / 1000000,
			  *again->why ? again->why : "its rings ended with their process");
}

void keep_session_end(struct session *session)
{
	if (!session->shared)
		session->feed->source->ops->stop(session->feed->source);
	session_deinit(session);
}
