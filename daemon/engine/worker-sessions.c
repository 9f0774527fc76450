// SPDX-License-Identifier: LGPL-2.1-or-later
/* Adds, starts, stops, changes and removes sessions: calls on the worker's thread. */
#include "worker-internal.h"

#include <errno.h>
#include <string.h>

#include "profile/profile-shard.h"
#include "drain-threads.h"

/* Start sessions that ran before a restart, and had to wait until their source was started. */
static void start_waiting_sessions(struct worker_state *state,
				   const struct shared_source *shared_source)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (session->waits && session->shared_source == shared_source)
			session_start(session);
}

int worker_start_session(struct worker_state *state, void *arg)
{
	struct session *session = worker_find_session(state, arg);
	int r;

	if (!session)
		return -ENOENT;
	/* Drain first, so that earlier samples count only for the sessions that run already. */
	if (!session->running && session->shared_source->running)
		worker_drain_source(state, session->shared_source);
	r = session_start(session);
	if (r < 0)
		return r;
	start_waiting_sessions(state, session->shared_source);
	worker_report_session_change(state);
	return r;
}

/* Stop @session after a last drain, which counts its remaining samples. */
static void stop_session(struct worker_state *state, struct session *session)
{
	session_disable(session);
	worker_drain_source(state, session->shared_source);
	/*
	 * Count the samples that wait for their mapping now, because no later drain would count
	 * them.
	 */
	profile_finish_waiting_samples(session->profile);
	session_stop(session);
}

int worker_stop_session(struct worker_state *state, void *arg)
{
	struct session *session = worker_find_session(state, arg);

	if (!session)
		return -ENOENT;
	if (!session->running && !session->waits)
		return -EALREADY;
	if (session->running)
		stop_session(state, session);
	session->waits = false;
	worker_report_session_change(state);
	return 0;
}

/* Return the only session of @shared_source, or NULL if several sessions share the source. */
static struct session *find_only_session(struct worker_state *state,
					 const struct shared_source *shared_source)
{
	struct session *session = NULL, *only = NULL;

	while ((session = worker_get_next_session(state, session))) {
		if (session->shared_source != shared_source)
			continue;
		if (only)
			return NULL;
		only = session;
	}
	return only;
}

static bool samplings_are_equal(const struct source_config *a, const struct source_config *b)
{
	return a->interval_ns == b->interval_ns && a->jitter == b->jitter &&
	       a->kernel == b->kernel && a->user == b->user;
}

/*
 * Find the kinds of cores of @source. An offline CPU without a known MIDR_EL1 sets
 * @ret_cores->unknown, so that the daemon and not the SPUs filter by data source.
 */
static void find_cores(struct source *source, struct filter_cores *ret_cores)
{
	struct source_cpu cpu;

	*ret_cores = (struct filter_cores){ 0 };
	for (u32 next = 0; source_next_cpu(source, next, &cpu); next = cpu.cpu + 1)
		filter_cores_add(ret_cores, &cpu);
}

/*
 * Return sampling options for @shared_source: @wanted with filters. If the source has one session,
 * the SPUs drop samples that the rule of the session never counts. If @rule is not NULL, it is used
 * instead of that rule. If the source has several sessions, the SPUs filter nothing.
 */
static struct source_config compute_sampling(struct worker_state *state,
					     struct shared_source *shared_source,
					     const struct source_config *wanted,
					     const struct session_rule *rule)
{
	const struct session *only = find_only_session(state, shared_source);
	struct source_config sampling = *wanted, filter = { 0 };

	if (!only)
		rule = NULL;
	else if (!rule)
		rule = only->rule;
	if (rule && rule->filter) {
		find_cores(shared_source->source, &shared_source->cores);
		filter_offload(rule->filter, &shared_source->cores, &filter);
	}
	source_filter_copy(&sampling, &filter);
	sampling.cgroups = shared_source->source->cgroups && rule ? rule->cgroups : NULL;
	sampling.skip_missing_cgroups = true;
	return sampling;
}

static int program_source(struct worker_state *state, struct shared_source *shared_source,
			  const struct source_config *sampling, const char **ret_reason)
{
	static const struct source_config nothing;
	struct source *source = shared_source->source;
	int r;

	if (source_filter_same(sampling, &shared_source->filter) &&
	    samplings_are_equal(sampling, &shared_source->sampling) &&
	    sampling->cgroups == shared_source->sampling.cgroups)
		return 0;
	if (!source->ops->configure) {
		*ret_reason = "this source cannot change what it samples";
		return -EOPNOTSUPP;
	}
	worker_drain_source(state, shared_source);
	r = source->ops->configure(source, sampling, ret_reason);
	if (r < 0)
		return r;
	source_filter_copy(&shared_source->filter, sampling);
	shared_source->sampling = *sampling;
	shared_source->sampling.skip_missing_cgroups = false;
	source_filter_copy(&shared_source->sampling, &nothing);
	return 0;
}

/* Return whether the filters in force on the SPUs may drop samples that @sampling needs. */
static bool filters_may_drop_samples(const struct shared_source *shared_source,
				     const struct source_config *sampling)
{
	static const struct source_config nothing;

	if (shared_source->source->cgroups && shared_source->sampling.cgroups &&
	    shared_source->sampling.cgroups != sampling->cgroups)
		return true;
	return !source_filter_same(&shared_source->filter, &nothing) &&
	       !source_filter_same(&shared_source->filter, sampling);
}

/*
 * A failure is an error only if the SPUs still drop samples that a session counts. The daemon
 * itself filters the samples that no session counts.
 */
int worker_program_filters(struct worker_state *state, struct shared_source *shared_source)
{
	const struct source_config sampling =
		compute_sampling(state, shared_source, &shared_source->sampling, NULL);
	const char *reason;
	int r = program_source(state, shared_source, &sampling, &reason);

	return r < 0 && filters_may_drop_samples(shared_source, &sampling) ? r : 0;
}

u64 worker_get_free_bytes(struct worker_state *state)
{
	u64 left = state->plan.share[MEMORY_SESSIONS];
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		left -= session->bytes < left ? session->bytes : left;
	return left - (state->profile_bytes < left ? state->profile_bytes : left);
}

/* Plan the sizes of tables for a new session. The session "machine" gets the sizes of the plan. */
static int plan_session(struct worker_state *state, struct session_config *config,
			struct memory_plan *ret_plan)
{
	*ret_plan = state->plan;
	if (!strcmp(config->name, SESSION_MACHINE) || !state->plan.budget)
		return 0;
	budget_plan_session(&state->plan, config->flight_bytes, !config->shared, ret_plan);
	config->left = worker_get_free_bytes(state);
	if (ret_plan->bytes <= config->left)
		return 0;
	config->wanted = budget_compute_needed(&state->plan,
					       state->plan.share[MEMORY_SESSIONS] - config->left,
					       config->flight_bytes, !config->shared);
	return -EDQUOT;
}

int worker_add_session(struct worker_state *state, void *arg)
{
	struct session_config *config = arg;
	struct memory_plan plan;
	u32 i = 0;
	int r;

	if (worker_find_session(state, config->name))
		return -EEXIST;
	while (i < WORKER_SESSIONS && *state->sessions[i].name)
		i++;
	if (i == WORKER_SESSIONS)
		return -ENOSPC;
	config->line_size = state->line_size;
	r = plan_session(state, config, &plan);
	if (r >= 0)
		r = session_init(&state->sessions[i], config, &plan, state->attributor);
	if (r < 0)
		return r;
	profile_set_reader(state->sessions[i].profile,
			   drain_threads_get_worker_reader(state->drain_threads));
	/* Remove filters of the SPU that would leave out samples of the new session. */
	r = worker_program_filters(state, config->shared_source);
	if (r < 0) {
		state->sessions[i].shared_source = NULL;
		state->sessions[i].rule = NULL;
		session_deinit(&state->sessions[i]);
		return r;
	}
	if (state->hooks)
		state->hooks->session_added(state, &state->sessions[i]);
	return 0;
}

int worker_remove_session(struct worker_state *state, void *arg)
{
	struct session *session = worker_find_session(state, arg);
	struct shared_source *shared_source;
	bool own;

	if (!session)
		return -ENOENT;
	own = !session->shared;
	shared_source = shared_source_get(session->shared_source);
	/*
	 * stop_session() also drains the source. Otherwise samples from before this call would
	 * count for sessions that start later.
	 */
	if (session->running)
		stop_session(state, session);
	session_deinit(session);
	if (shared_source->references > 1)
		worker_program_filters(state, shared_source);
	shared_source_put(shared_source);
	if (state->hooks)
		state->hooks->session_removed(state, arg, own);
	return 0;
}

static struct source_config compute_target_sampling(const struct worker_change_request *change,
						    const struct shared_source *shared_source)
{
	struct source_config wanted = shared_source->sampling;

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

int worker_change_session(struct worker_state *state, void *arg)
{
	struct worker_change_request *change = arg;
	struct session *session = worker_find_session(state, change->session);
	struct source_config sampling;
	struct shared_source *shared_source;
	int r;

	if (!session)
		return -ENOENT;
	if ((change->interval_ns || change->sampling) && session->shared) {
		change->reason = "it shares the source, and so the interval, of another session";
		return -EOPNOTSUPP;
	}
	shared_source = session->shared_source;
	/* Drain first, so that the old rule applies to the samples that were taken until now. */
	if (change->rule)
		worker_drain_source(state, shared_source);
	sampling = compute_target_sampling(change, shared_source);
	sampling = compute_sampling(state, shared_source, &sampling, change->rule);
	r = program_source(state, shared_source, &sampling, &change->reason);
	/*
	 * Fail only if the sampling options are not in force, or if the SPUs may drop samples that
	 * count. The daemon itself filters all other samples.
	 */
	if (r < 0 && (!samplings_are_equal(&sampling, &shared_source->sampling) ||
		      filters_may_drop_samples(shared_source, &sampling)))
		return r;
	if (!change->rule)
		return 0;
	session_set_rule(session, change->rule);
	worker_report_session_change(state);
	return 0;
}

int worker_reset_session(struct worker_state *state, void *arg)
{
	struct session *session = worker_find_session(state, arg);

	if (!session)
		return -ENOENT;
	worker_drain_source(state, session->shared_source);
	session_reset(session);
	worker_report_session_change(state);
	return 0;
}
