// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions come, run, change and go: calls on the worker's thread. */
#include "worker-internal.h"

#include <errno.h>
#include <string.h>

#include "profile/profile-shard.h"
#include "shards.h"

/* Sessions that ran before a restart, and whose source was not to be had until now. */
static void start_waiting(struct worker_state *state, const struct feed *feed)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (session->waits && session->feed == feed)
			session_start(session);
}

int worker_start(struct worker_state *state, void *arg)
{
	struct session *session = worker_session(state, arg);
	int r;

	if (!session)
		return -ENOENT;
	/* What was sampled before is of those of its source that ran then. */
	if (!session->running && session->feed->running)
		worker_drain_feed(state, session->feed);
	r = session_start(session);
	if (r < 0)
		return r;
	start_waiting(state, session->feed);
	worker_session_changed(state);
	return r;
}

/* What was sampled for it is still counted. */
static void stop_session(struct worker_state *state, struct session *session)
{
	session_disable(session);
	worker_drain_feed(state, session->feed);
	/* Nothing comes after this that would count them. */
	profile_finish_queued(session->profile);
	session_stop(session);
}

int worker_stop(struct worker_state *state, void *arg)
{
	struct session *session = worker_session(state, arg);

	if (!session)
		return -ENOENT;
	if (!session->running && !session->waits)
		return -EALREADY;
	if (session->running)
		stop_session(state, session);
	session->waits = false;
	worker_session_changed(state);
	return 0;
}

/* The one session that has @feed; NULL if there are several. */
static struct session *only_session(struct worker_state *state, const struct feed *feed)
{
	struct session *session = NULL, *only = NULL;

	while ((session = worker_next(state, session))) {
		if (session->feed != feed)
			continue;
		if (only)
			return NULL;
		only = session;
	}
	return only;
}

static bool same_sampling(const struct source_config *a, const struct source_config *b)
{
	return a->interval_ns == b->interval_ns && a->jitter == b->jitter &&
	       a->kernel == b->kernel && a->user == b->user;
}

/* An offline CPU of which the kernel does not tell what it is makes levels the daemon's. */
static void find_cores(struct source *source, struct filter_cores *ret_cores)
{
	struct source_cpu cpu;

	*ret_cores = (struct filter_cores){ 0 };
	for (u32 i = 0; source->ops->cpu && source->ops->cpu(source, i, &cpu) >= 0; i++)
		filter_cores_add(ret_cores, cpu.midr);
}

/*
 * How @feed is to be sampled as @wanted: its SPUs leave out what its one session never wants, which
 * has @rule from now on if that is not NULL, and for several nothing: what one does not want
 * another may.
 */
static struct source_config sampling_of(struct worker_state *state, struct feed *feed,
					const struct source_config *wanted,
					const struct session_rule *rule)
{
	const struct session *only = only_session(state, feed);
	struct source_config sampling = *wanted, filter = { 0 };

	if (!only)
		rule = NULL;
	else if (!rule)
		rule = only->rule;
	if (rule && rule->filter) {
		find_cores(feed->source, &feed->cores);
		filter_hardware(rule->filter, &feed->cores, &filter);
	}
	source_filter_copy(&sampling, &filter);
	sampling.cgroups = feed->source->cgroups && rule ? rule->cgroups : NULL;
	sampling.cgroups_known = true;
	return sampling;
}

static int program_feed(struct worker_state *state, struct feed *feed,
			const struct source_config *sampling, const char **ret_reason)
{
	static const struct source_config nothing;
	struct source *source = feed->source;
	int r;

	if (source_filter_same(sampling, &feed->filter) && same_sampling(sampling, &feed->sampling) &&
	    sampling->cgroups == feed->sampling.cgroups)
		return 0;
	if (!source->ops->configure) {
		*ret_reason = "this source cannot change what it samples";
		return -EOPNOTSUPP;
	}
	worker_drain_feed(state, feed);
	r = source->ops->configure(source, sampling, ret_reason);
	if (r < 0)
		return r;
	source_filter_copy(&feed->filter, sampling);
	feed->sampling = *sampling;
	feed->sampling.cgroups_known = false;
	source_filter_copy(&feed->sampling, &nothing);
	return 0;
}

/* Whether what is in force of @feed may leave out what @sampling does not: nobody would have that. */
static bool leaves_out(const struct feed *feed, const struct source_config *sampling)
{
	static const struct source_config nothing;

	if (feed->source->cgroups && feed->sampling.cgroups &&
	    feed->sampling.cgroups != sampling->cgroups)
		return true;
	return !source_filter_same(&feed->filter, &nothing) &&
	       !source_filter_same(&feed->filter, sampling);
}

/* Where nothing is left out that is wanted, the daemon leaves out all of it. */
int worker_program(struct worker_state *state, struct feed *feed)
{
	const struct source_config sampling = sampling_of(state, feed, &feed->sampling, NULL);
	const char *reason;
	int r = program_feed(state, feed, &sampling, &reason);

	return r < 0 && leaves_out(feed, &sampling) ? r : 0;
}

u64 worker_share(struct worker_state *state)
{
	u64 left = state->plan.share[MEMORY_SESSIONS];
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		left -= session->bytes < left ? session->bytes : left;
	return left - (state->profiles < left ? state->profiles : left);
}

/* Tables of the session that @config makes: the configuration's has the plan's own. */
static int plan_session(struct worker_state *state, struct session_config *config,
			struct memory_plan *ret_plan)
{
	*ret_plan = state->plan;
	if (!strcmp(config->name, SESSION_MACHINE) || !state->plan.budget)
		return 0;
	budget_session(&state->plan, config->keep, !config->shared, ret_plan);
	config->left = worker_share(state);
	if (ret_plan->bytes <= config->left)
		return 0;
	config->wanted = budget_wanted(&state->plan,
				       state->plan.share[MEMORY_SESSIONS] - config->left,
				       config->keep, !config->shared);
	return -EDQUOT;
}

int worker_add(struct worker_state *state, void *arg)
{
	struct session_config *config = arg;
	struct memory_plan plan;
	u32 i = 0;
	int r;

	if (worker_session(state, config->name))
		return -EEXIST;
	while (i < WORKER_SESSIONS && *state->sessions[i].name)
		i++;
	if (i == WORKER_SESSIONS)
		return -ENOSPC;
	r = plan_session(state, config, &plan);
	if (r >= 0)
		r = session_init(&state->sessions[i], config, &plan, state->attributor);
	for (u32 k = 0; r >= 0 && k < state->sessions[i].shards; k++)
		profile_set_reader(state->sessions[i].shard[k], shards_reader(state->shards, k));
	if (r < 0)
		return r;
	/* What is left out for who is there, it could not have. */
	r = worker_program(state, config->feed);
	if (r < 0) {
		state->sessions[i].feed = NULL;
		state->sessions[i].rule = NULL;
		session_deinit(&state->sessions[i]);
		return r;
	}
	if (state->hooks)
		state->hooks->session_added(state, &state->sessions[i]);
	return 0;
}

int worker_remove(struct worker_state *state, void *arg)
{
	struct session *session = worker_session(state, arg);
	struct feed *feed;
	bool own;

	if (!session)
		return -ENOENT;
	own = !session->shared;
	feed = feed_get(session->feed);
	/* Others of its source may run later: nothing old is to wait for them. */
	if (session->running)
		stop_session(state, session);
	session_deinit(session);
	if (feed->references > 1)
		worker_program(state, feed);
	feed_put(feed);
	if (state->hooks)
		state->hooks->session_removed(state, arg, own);
	return 0;
}

static struct source_config sampling_asked(const struct worker_change *change,
					   const struct feed *feed)
{
	struct source_config wanted = feed->sampling;

	if (change->sampling) {
		if (change->sampling->interval_ns)
			wanted.interval_ns = change->sampling->interval_ns;
		wanted.jitter = change->sampling->jitter;
		wanted.kernel = change->sampling->kernel;
		wanted.user = change->sampling->user;
	}
	if (change->interval_ns)
		wanted.interval_ns = change->interval_ns;
	return wanted;
}

int worker_change(struct worker_state *state, void *arg)
{
	struct worker_change *change = arg;
	struct session *session = worker_session(state, change->session);
	struct source_config sampling;
	struct feed *feed;
	int r;

	if (!session)
		return -ENOENT;
	if ((change->interval_ns || change->sampling) && session->shared) {
		change->reason = "the interval is that of the session whose source it shares";
		return -EOPNOTSUPP;
	}
	feed = session->feed;
	/* What was sampled before is judged by what held before. */
	if (change->rule)
		worker_drain_feed(state, feed);
	sampling = sampling_asked(change, feed);
	sampling = sampling_of(state, feed, &sampling, change->rule);
	r = program_feed(state, feed, &sampling, &change->reason);
	/* What is not sampled the daemon cannot count; what is, it can leave out itself. */
	if (r < 0 && (!same_sampling(&sampling, &feed->sampling) || leaves_out(feed, &sampling)))
		return r;
	if (!change->rule)
		return 0;
	session_set_rule(session, change->rule);
	worker_session_changed(state);
	return 0;
}

int worker_reset(struct worker_state *state, void *arg)
{
	struct session *session = worker_session(state, arg);

	if (!session)
		return -ENOENT;
	worker_drain_feed(state, session->feed);
	session_reset(session);
	worker_session_changed(state);
	return 0;
}
