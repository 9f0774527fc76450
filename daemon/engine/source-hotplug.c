// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source-hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rate-control.h"
#include "source-open.h"
#include "util/time.h"
#include "worker-internal.h"

/*
 * Open a source with the same sampling options as @shared_source. The new source also samples the
 * CPUs that were added since @shared_source was opened.
 */
static int open_source(struct source_new_cpus *new_cpus, const struct shared_source *shared_source,
		       struct source **ret_source)
{
	struct source_config sampling = shared_source->sampling;
	struct config config = *new_cpus->config;
	struct source_open_result result;
	int r;

	/*
	 * Open the same kind of source: the counters of another kind must not be added to those of
	 * the module.
	 */
	config.source = CONFIG_SOURCE_MODULE;
	sampling.skip_missing_cgroups = true;
	source_filter_copy(&sampling, &shared_source->filter);
	r = source_open(&config, &sampling, ret_source, &result);
	if (r < 0) {
		snprintf(new_cpus->ret_reason, sizeof(new_cpus->ret_reason), "%s", result.text);
		return r;
	}
	if ((*ret_source)->backend == shared_source->source->backend)
		return 0;
	snprintf(new_cpus->ret_reason, sizeof(new_cpus->ret_reason),
		 "the module's SPUs are %s now, and were not when the session started",
		 shared_source->source->backend == BACKEND_EMULATED ? "hardware" : "emulated");
	(*ret_source)->ops->free(*ret_source);
	return -ESTALE;
}

static void count_blind_time(struct worker_state *state, const struct shared_source *shared_source,
			     u64 blind_ns)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (session->shared_source == shared_source && session->running)
			session_count_blind_time(session, blind_ns, time_now_ns());
}

/*
 * Stop the source of @shared_source, count the samples in its rings, and start @source instead. If
 * @source cannot be started, restart the previous source.
 */
static int switch_source(struct worker_state *state, struct source_new_cpus *new_cpus,
		     struct shared_source *shared_source, struct source *source)
{
	struct source *old = shared_source->source;
	u64 stopped_ns = time_now_ns(), blind_ns;
	int r;

	old->ops->stop(old);
	worker_drain_source(state, shared_source);
	/*
	 * Save a checkpoint now, because closing the old source frees its rings: after a restart,
	 * the daemon could not read the samples again that the last drain counted.
	 */
	worker_report_session_change(state);
	r = source->ops->start(source);
	if (r < 0) {
		snprintf(new_cpus->ret_reason, sizeof(new_cpus->ret_reason),
			 "sampling could not be enabled: %s", strerror(-r));
		shared_source->error = old->ops->start(old);
	}
	blind_ns = time_now_ns() - stopped_ns;
	count_blind_time(state, shared_source, blind_ns);
	new_cpus->ret_blind_ns += blind_ns;
	return r;
}

/* Make @source the source of @shared_source. Frees @source on failure, else the previous source. */
static int replace_source(struct worker_state *state, struct source_new_cpus *new_cpus,
		   struct shared_source *shared_source, struct source *source)
{
	struct source *old = shared_source->source;
	int r = shared_source->running ? switch_source(state, new_cpus, shared_source, source) : 0;

	if (r < 0) {
		source->ops->free(source);
		return r;
	}
	source->health = old->health;
	shared_source->source = source;
	shared_source->error = 0;
	if (state->hooks)
		state->hooks->source_replaced(state, shared_source);
	old->ops->free(old);
	/*
	 * The new CPU may be another model of core, which encodes data sources differently. So derive
	 * the registers of the SPUs from the filter again.
	 */
	worker_program_filters(state, shared_source);
	new_cpus->ret_replaced++;
	return 0;
}

static int reopen_source(struct worker_state *state, struct source_new_cpus *new_cpus,
		 struct shared_source *shared_source)
{
	struct source *source;
	int r;

	if (shared_source->source->partitions) {
		snprintf(new_cpus->ret_reason, sizeof(new_cpus->ret_reason),
			 "with several workers (Workers=) they are sampled only after \"systemctl "
			 "stop speprofd\" and \"systemctl start speprofd\", and counting begins at "
			 "zero");
		return -EBUSY;
	}
	r = open_source(new_cpus, shared_source, &source);
	return r < 0 ? r : replace_source(state, new_cpus, shared_source, source);
}

int source_sample_new_cpus(struct worker_state *state, void *arg)
{
	struct source_new_cpus *new_cpus = arg;
	struct session *session = NULL;
	int r = 0;

	while (r >= 0 && (session = worker_get_next_session(state, session))) {
		struct source *source = session->shared_source->source;
		u32 cpus = source->ops->unsampled ? source->ops->unsampled(source) : 0;

		new_cpus->ret_cpus += cpus;
		if (cpus)
			r = reopen_source(state, new_cpus, session->shared_source);
	}
	if (new_cpus->ret_replaced) {
		rate_control_reapply(state);
		worker_report_session_change(state);
	}
	return r;
}
