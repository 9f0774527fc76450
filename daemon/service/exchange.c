// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exchange.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "away.h"
#include "fd-store.h"
#include "govern.h"
#include "keep.h"
#include "source-open.h"
#include "worker-internal.h"

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* Once for all sessions of @feed, of which the worker drains none that does not run. */
static void drain(struct worker_state *state, const struct feed *feed)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session))) {
		if (session->feed == feed && session->running) {
			worker_drain(state, session);
			return;
		}
	}
}

/* A descriptor in the store of the service manager keeps the module as well. */
static void store(struct worker_state *state, const struct feed *feed)
{
	const struct session *session = NULL;

	if (!state->keep)
		return;
	do
		session = worker_next(state, (struct session *)session);
	while (session && (session->feed != feed || session->shared));
	if (session && feed->source->ops->lasting)
		store_session(session->name, feed->source);
	else if (session)
		store_drop_session(session->name);
}

static int let_go(struct worker_state *state, struct feed *feed, u64 now)
{
	struct source *source = feed->source, *away;
	int r = source_away_new(source, feed->running ? now : 0, &away);

	if (r < 0)
		return r;
	if (feed->running) {
		source->ops->stop(source);
		drain(state, feed);
	}
	/* What was read is safe before the rings are gone. */
	keep_save(state);
	feed->source = away;
	if (feed->running)
		away->ops->start(away);
	store(state, feed);
	source->ops->free(source);
	return 0;
}

int exchange_let_go(struct worker_state *state, void *arg)
{
	struct exchange *exchange = arg;
	struct session *session = NULL;
	int r;

	exchange->sources = 0;
	exchange->at_ns = now_ns();
	while ((session = worker_next(state, session))) {
		const struct source *source = session->feed->source;

		/* Each part is a session of its own: what is in place of one source is no part. */
		if (source->parts && !strcmp(source->ops->name, "module")) {
			snprintf(exchange->reason, sizeof(exchange->reason),
				 "with more than one of Workers= only a restart exchanges it: "
				 "stop speprofd, load the module, start speprofd");
			return -EBUSY;
		}
		if (!source->away && source->ops->lasting) {
			exchange->at_ns = now_ns();
			r = let_go(state, session->feed, exchange->at_ns);
			if (r < 0) {
				snprintf(exchange->reason, sizeof(exchange->reason), "%s",
					 strerror(-r));
				return r;
			}
			exchange->sources++;
		} else if (source->away) {
			/* Of another session of this feed, or of an exchange that failed. */
			exchange->sources++;
		}
	}
	return 0;
}

static int open_again(const struct config *config, const struct feed *feed,
		      struct source **ret_source, char *reason, size_t size)
{
	struct source_config sampling = feed->sampling;
	struct config same = *config;
	struct source_said said;
	int r;

	/* Not another kind of source, whatever there is meanwhile: figures are of this one. */
	same.source = CONFIG_SOURCE_MODULE;
	/* What is sampled is not anew. */
	sampling.cgroups_known = true;
	source_filter_copy(&sampling, &feed->filter);
	r = source_open(&same, &sampling, ret_source, &said);
	if (r < 0) {
		snprintf(reason, size, "%s", said.text);
		return r;
	}
	if ((*ret_source)->backend == feed->source->backend)
		return 0;
	(*ret_source)->ops->free(*ret_source);
	snprintf(reason, size, "the module has %s SPUs now, and had others",
		 feed->source->backend == BACKEND_EMULATED ? "hardware" : "emulated");
	return -ESTALE;
}

/* In place of nothing; takes over @source. */
static int put_in(struct worker_state *state, struct exchange *exchange, struct feed *feed,
		  struct source *source)
{
	struct source *away = feed->source;
	int r;

	source->trouble = away->trouble;
	r = feed->running ? source->ops->start(source) : 0;
	if (r < 0) {
		source->ops->free(source);
		snprintf(exchange->reason, sizeof(exchange->reason),
			 "sampling could not be enabled: %s", strerror(-r));
		return r;
	}
	if (!exchange->at_ns)
		exchange->at_ns = now_ns();
	/* Blind up to here. */
	drain(state, feed);
	feed->source = source;
	feed->error = 0;
	if (state->keep)
		keep_defer(state, feed, state->keep->error < 0);
	store(state, feed);
	away->ops->free(away);
	/* A kind of core may have come, whose data sources are others. */
	worker_program(state, feed);
	return 0;
}

static int take_up(struct worker_state *state, struct exchange *exchange, struct feed *feed)
{
	struct source *source;
	int r = open_again(exchange->config, feed, &source, exchange->reason,
			   sizeof(exchange->reason));

	return r < 0 ? r : put_in(state, exchange, feed, source);
}

int exchange_take_up(struct worker_state *state, void *arg)
{
	struct exchange *exchange = arg;
	struct session *session = NULL;
	int r = 0;

	exchange->at_ns = 0;
	while (r >= 0 && (session = worker_next(state, session)))
		if (session->feed->source->away)
			r = take_up(state, exchange, session->feed);
	if (!exchange->at_ns)
		exchange->at_ns = now_ns();
	govern_again(state);
	keep_save(state);
	return r;
}

/* The other one is there first, so that what fails leaves all as it is. */
static int renew(struct worker_state *state, struct exchange *exchange, struct feed *feed)
{
	struct source *source;
	int r;

	if (feed->source->parts) {
		snprintf(exchange->reason, sizeof(exchange->reason),
			 "with more than one of Workers= only stopping and starting speprofd.service "
			 "has them sampled, and counting begins anew");
		return -EBUSY;
	}
	r = open_again(exchange->config, feed, &source, exchange->reason, sizeof(exchange->reason));
	if (r < 0)
		return r;
	exchange->at_ns = now_ns();
	r = let_go(state, feed, exchange->at_ns);
	if (r < 0) {
		snprintf(exchange->reason, sizeof(exchange->reason), "%s", strerror(-r));
		source->ops->free(source);
		return r;
	}
	r = put_in(state, exchange, feed, source);
	exchange->gone_ns += now_ns() - exchange->at_ns;
	return r;
}

int exchange_renew(struct worker_state *state, void *arg)
{
	struct exchange *exchange = arg;
	struct session *session = NULL;
	int r = 0;

	while (r >= 0 && (session = worker_next(state, session))) {
		struct source *source = session->feed->source;
		u32 cpus = source->ops->unsampled ? source->ops->unsampled(source) : 0;

		/* One that was let go before, and could not be replaced then. */
		if (source->away)
			exchange->away++;
		else if (!cpus)
			continue;
		exchange->cpus += cpus;
		r = source->away ? take_up(state, exchange, session->feed) :
				   renew(state, exchange, session->feed);
		exchange->sources += r >= 0;
	}
	if (exchange->sources) {
		govern_again(state);
		keep_save(state);
	}
	return r;
}
