// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "accumulator.h"
#include "daemon-client.h"
#include "log.h"
#include "probe.h"
#include "receivers.h"
#include "series.h"
#include "source/source.h"

/**
 * struct exporter_socket - a socket
 * @local: other machines cannot connect to it
 */
struct exporter_socket {
	struct exporter *exporter;
	bool local;
};

struct exporter {
	const struct exporter_config *config;
	sd_event *event;
	struct daemon_client *client;
	sd_event_source *ready_timer;
	struct http_server *servers[EXPORTER_SERVERS];
	struct exporter_socket serving[EXPORTER_SERVERS];
	unsigned int server_count;
	struct push_receivers *receivers;
	struct accumulator acc;
	struct accumulator
		modelled; /* counters of an emulated SPU, which are never added to @acc */
	struct series_set set;
	struct series_self self;
	bool emulated;
	bool ready;
	bool is_modelled; /* the last answer was about an emulated SPU */
	bool logged_emulated;
	struct log_condition answers; /* whether the daemon answers queries */
	struct log_condition profiles; /* whether profiles are pushed */
};

static void update_own_counters(struct exporter *e)
{
	struct http_server_stats stats;

	e->self.scrapes = 0;
	e->self.refused = 0;
	for (unsigned int i = 0; i < e->server_count; i++) {
		http_get_stats(e->servers[i], &stats);
		e->self.scrapes += stats.answered;
		e->self.refused += stats.refused;
	}
	receivers_get_counters(e->receivers, e->self.push);
	e->self.has_spe = probe_has_spe("/sys");
	probe_own_process(&e->self.cpu_ns, &e->self.memory);
}

/*
 * Return whether the snapshot may be exported. Counters of an emulated SPU are modelled, and a
 * receiver could not distinguish them from measured ones. So these counters are served only to
 * programs on this machine, under other names.
 */
static bool is_exportable(struct exporter *e, const struct metrics_snapshot *metrics)
{
	if (metrics->machine.backend == BACKEND_HARDWARE || e->emulated)
		return true;
	if (!e->logged_emulated)
		exporter_log(SD_NOTICE, "the daemon's SPU is %s",
			     metrics->machine.backend == BACKEND_EMULATED ?
				     "emulated: its statistics are not exported, but served to "
				     "programs on this machine as speprof_emulated_..." :
				     "of an unknown kind: its statistics are not exported");
	e->logged_emulated = true;
	return false;
}

static u64 get_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

static void add_snapshot(struct exporter *e, struct accumulator *acc,
			 struct metrics_snapshot *metrics)
{
	u32 machine = series_count_machine(acc, metrics);
	u32 max_series = e->config->max_series;

	if (accumulator_update(acc, metrics, max_series > machine ? max_series - machine : 0,
			       get_now_ns(CLOCK_REALTIME)) < 0)
		exporter_log(SD_ERR, "out of memory: the metrics of this query are not counted");
}

/* The log lines of a condition; the cause is appended to @bad */
struct condition_lines {
	const char *bad;
	const char *good;
};

/* Log a change of @condition. @cause: 0 if the condition is good. */
static void log_condition_change(struct log_condition *condition,
				 const struct condition_lines *lines, u64 cause, const char *why)
{
	char often[LOG_CONDITION_COUNT];
	u64 changes;

	if (!log_condition_update(condition, cause, get_now_ns(CLOCK_MONOTONIC), &changes))
		return;
	log_condition_format_count(changes, often);
	if (cause)
		exporter_log(SD_WARNING, "%s: %s%s", lines->bad, why, often);
	else
		exporter_log(SD_NOTICE, "%s%s", lines->good, often);
}

/*
 * Start the HTTP servers, and permit pushes. The first query has ended, or has taken longer than
 * DAEMON_CLIENT_REPLY_USEC. Before that, it is unknown whether the daemon is up.
 */
static void start_servers(struct exporter *e)
{
	if (e->ready)
		return;
	e->ready = true;
	for (unsigned int i = 0; i < e->server_count; i++)
		if (http_start(e->servers[i]) < 0)
			exporter_log(SD_ERR, "a socket cannot be served: out of memory");
}

static int on_ready_timer(sd_event_source *source __attribute__((unused)),
			  uint64_t now __attribute__((unused)), void *userdata)
{
	start_servers(userdata);
	return 0;
}

static void on_metrics(void *ctx, struct metrics_snapshot *metrics, u64 cause, const char *why)
{
	static const struct condition_lines lines = {
		.bad = "the query of the daemon failed and is retried",
		.good = "the daemon answers again",
	};
	struct exporter *e = ctx;

	log_condition_change(&e->answers, &lines, cause, why);
	e->self.daemon_up = metrics;
	e->self.missed = metrics			? 0 :
			 e->self.missed < SERIES_MISSED ? e->self.missed + 1 :
							  SERIES_MISSED;
	if (!metrics) {
		e->self.query_errors++;
	} else {
		e->self.exportable = is_exportable(e, metrics);
		e->is_modelled =
			!e->self.exportable && metrics->machine.backend == BACKEND_EMULATED;
		if (!e->self.exportable)
			e->acc.latest.machine.backend = metrics->machine.backend;
		if (e->self.exportable || e->is_modelled)
			add_snapshot(e, e->is_modelled ? &e->modelled : &e->acc, metrics);
		metrics_clear(metrics);
	}
	for (unsigned int i = 0; i < e->server_count; i++)
		http_drop_answers(e->servers[i]);
	start_servers(e);
}

/*
 * List the series. @local: only programs on this machine receive them, so modelled counters may be
 * included.
 */
static const struct series_set *collect_series(struct exporter *e, u64 time_ns, bool local)
{
	bool modelled = local && e->is_modelled;
	struct accumulator *acc = modelled ? &e->modelled : &e->acc;
	struct series_self self;

	update_own_counters(e);
	accumulator_correct_start_times(acc, time_ns);
	if (e->self.start_ns >= time_ns)
		e->self.start_ns = time_ns - 1;
	self = e->self;
	if (modelled)
		self.exportable = self.emulated = true;
	return series_build(&e->set, acc, &self) < 0 ? NULL : &e->set;
}

static const struct series_set *collect_series_to_push(void *ctx, u64 time_ns)
{
	struct exporter *e = ctx;

	return e->ready ? collect_series(e, time_ns, false) : NULL;
}

static int render_series(void *ctx, enum expose_format format, char **ret_data, size_t *ret_size)
{
	const struct exporter_socket *serving = ctx;
	const struct series_set *set =
		collect_series(serving->exporter, get_now_ns(CLOCK_REALTIME), serving->local);

	return set ? expose_series(set, format, ret_data, ret_size) : -ENOMEM;
}

static void on_rows(void *ctx, int fd, size_t size, int error, const char *why)
{
	http_query_finish(ctx,
			  !error	      ? HTTP_QUERY_ROWS :
			  error == -ESRCH     ? HTTP_QUERY_AWAY :
			  error == -ETIMEDOUT ? HTTP_QUERY_LATE :
						HTTP_QUERY_FAILED,
			  fd, size, why);
}

static int query_rows(void *ctx, const struct page_query *wanted, struct http_query *query,
		      const char **ret_why)
{
	const struct exporter_socket *serving = ctx;

	return daemon_client_query_rows(serving->exporter->client, wanted, on_rows, query, ret_why);
}

static void on_profile(void *ctx, int fd, const char *backend, u64 cause, const char *why)
{
	static const struct condition_lines lines = {
		.bad = "no profile is pushed",
		.good = "profiles are pushed again",
	};
	struct exporter *e = ctx;

	if (!cause && strcmp(backend, "hardware") != 0 && !e->emulated)
		return;
	if (!cause)
		cause = (u64)-receivers_push_profile(e->receivers, fd, e->config->profile_seconds,
						     &why);
	else
		receivers_count_lost_profile(e->receivers);
	log_condition_change(&e->profiles, &lines, cause, why);
}

int exporter_new(const struct exporter_config *config, bool emulated, sd_event *event,
		 struct exporter **ret_exporter)
{
	struct exporter *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->config = config;
	e->emulated = emulated;
	e->event = sd_event_ref(event);
	e->self.start_ns = get_now_ns(CLOCK_REALTIME);
	accumulator_init(&e->acc, &config->labels, config->latencies, e->self.start_ns);
	accumulator_init(&e->modelled, &config->labels, config->latencies, e->self.start_ns);
	*ret_exporter = e;
	return 0;
}

struct exporter *exporter_free(struct exporter *exporter)
{
	if (exporter) {
		/*
		 * This ends the queries of requests for rows. Answer accepted requests before the
		 * counters are freed, because the answers contain them.
		 */
		exporter->client = daemon_client_free(exporter->client);
		for (unsigned int i = 0; i < exporter->server_count; i++)
			http_finish(exporter->servers[i]);
		for (unsigned int i = 0; i < exporter->server_count; i++)
			http_free(exporter->servers[i]);
		sd_event_source_unref(exporter->ready_timer);
		receivers_free(exporter->receivers);
		series_deinit(&exporter->set);
		accumulator_deinit(&exporter->acc);
		accumulator_deinit(&exporter->modelled);
		sd_event_unref(exporter->event);
		free(exporter);
	}
	return NULL;
}

int exporter_serve_socket(struct exporter *exporter, const struct http_config *config,
			  const char **ret_why)
{
	struct exporter_socket *serving = &exporter->serving[exporter->server_count];
	struct http_config with = *config;
	int r;

	*serving = (struct exporter_socket){ exporter, config->reach != LISTENER_NETWORK };
	with.render = render_series;
	with.query = query_rows;
	with.ctx = serving;
	r = http_new(&with, exporter->event, &exporter->servers[exporter->server_count], ret_why);
	if (r >= 0)
		exporter->server_count++;
	return r;
}

int exporter_start_queries(struct exporter *exporter, const char *address, const char *snapshot)
{
	const struct daemon_client_config config = {
		.address = address,
		.file = snapshot,
		.interval = exporter->config->interval,
		.on_metrics = on_metrics,
		.profile_seconds =
			*exporter->config->profile_url ? exporter->config->profile_seconds : 0,
		.labels = &exporter->config->labels,
		.on_profile = on_profile,
		.ctx = exporter,
	};

	int r = sd_event_add_time_relative(exporter->event, &exporter->ready_timer, CLOCK_MONOTONIC,
					   DAEMON_CLIENT_REPLY_USEC, 0, on_ready_timer, exporter);

	return r < 0 ? r : daemon_client_new(&config, exporter->event, &exporter->client);
}

int exporter_start_pushes(struct exporter *exporter)
{
	const struct receivers_config config = {
		.config = exporter->config,
		.series = collect_series_to_push,
		.ctx = exporter,
	};

	return receivers_new(&config, exporter->event, &exporter->receivers);
}
