// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source-renew.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rate-control.h"
#include "source-open.h"
#include "worker-internal.h"

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* Opens a source that samples as @feed's does, for the CPUs that exist now. */
static int open_source(struct source_renewal *renewal, const struct feed *feed,
		       struct source **ret_source)
{
	struct source_config sampling = feed->sampling;
	struct config config = *renewal->config;
	struct source_open_result result;
	int r;

	/* The counters are of the module: another kind of source must not continue them. */
	config.source = CONFIG_SOURCE_MODULE;
	sampling.cgroups_known = true;
	source_filter_copy(&sampling, &feed->filter);
	r = source_open(&config, &sampling, ret_source, &result);
	if (r < 0) {
		snprintf(renewal->ret_reason, sizeof(renewal->ret_reason), "%s", result.text);
		return r;
	}
	if ((*ret_source)->backend == feed->source->backend)
		return 0;
	snprintf(renewal->ret_reason, sizeof(renewal->ret_reason),
		 "the module has %s SPUs now, and had others",
		 feed->source->backend == BACKEND_EMULATED ? "hardware" : "emulated");
	(*ret_source)->ops->free(*ret_source);
	return -ESTALE;
}

static void book_blind(struct worker_state *state, const struct feed *feed, u64 blind_ns)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (session->feed == feed && session->running)
			session_book_blind(session, blind_ns, now_ns());
}

/* Stops the source of @feed, counts what is in its rings, and starts @source instead. */
static int switch_to(struct worker_state *state, struct source_renewal *renewal, struct feed *feed,
		     struct source *source)
{
	struct source *old = feed->source;
	u64 stopped_ns = now_ns(), blind_ns;
	int r;

	old->ops->stop(old);
	worker_drain_feed(state, feed);
	/* The rings end with their source: save what was read from them before that. */
	worker_session_changed(state);
	r = source->ops->start(source);
	if (r < 0) {
		snprintf(renewal->ret_reason, sizeof(renewal->ret_reason),
			 "sampling could not be enabled: %s", strerror(-r));
		feed->error = old->ops->start(old);
	}
	blind_ns = now_ns() - stopped_ns;
	book_blind(state, feed, blind_ns);
	renewal->ret_blind_ns += blind_ns;
	return r;
}

/* Takes over @source. */
static int replace(struct worker_state *state, struct source_renewal *renewal, struct feed *feed,
		   struct source *source)
{
	struct source *old = feed->source;
	int r = feed->running ? switch_to(state, renewal, feed, source) : 0;

	if (r < 0) {
		source->ops->free(source);
		return r;
	}
	source->trouble = old->trouble;
	feed->source = source;
	feed->error = 0;
	if (state->hooks)
		state->hooks->source_replaced(state, feed);
	old->ops->free(old);
	/* The new CPU may be of another kind, whose data sources have other numbers. */
	worker_program(state, feed);
	renewal->ret_replaced++;
	return 0;
}

static int renew(struct worker_state *state, struct source_renewal *renewal, struct feed *feed)
{
	struct source *source;
	int r;

	if (feed->source->parts) {
		snprintf(renewal->ret_reason, sizeof(renewal->ret_reason),
			 "with more than one of Workers= only stopping and starting speprofd.service "
			 "has them sampled, and counting begins at zero");
		return -EBUSY;
	}
	r = open_source(renewal, feed, &source);
	return r < 0 ? r : replace(state, renewal, feed, source);
}

int source_renew(struct worker_state *state, void *arg)
{
	struct source_renewal *renewal = arg;
	struct session *session = NULL;
	int r = 0;

	while (r >= 0 && (session = worker_next(state, session))) {
		struct source *source = session->feed->source;
		u32 cpus = source->ops->unsampled ? source->ops->unsampled(source) : 0;

		renewal->ret_cpus += cpus;
		if (cpus)
			r = renew(state, renewal, session->feed);
	}
	if (renewal->ret_replaced) {
		govern_again(state);
		worker_session_changed(state);
	}
	return r;
}
