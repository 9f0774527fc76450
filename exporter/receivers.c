// SPDX-License-Identifier: LGPL-2.1-or-later
#include "receivers.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "credentials.h"
#include "log.h"
#include "otlp.h"
#include "push.h"
#include "remote-write.h"
#include "util/escape.h"

/* maximum bytes of a profile */
#define PROFILE_SIZE (16 << 20)

/* seconds between two requests of OTLP, if neither file nor environment sets that time */
#define OTLP_INTERVAL 60

/* A larger jump of the clock is logged. */
#define JUMP_MS 5000

static const char *const names[RECEIVERS] = {
	[RECEIVER_WRITE] = "remote write",
	[RECEIVER_OTLP] = "OTLP",
	[RECEIVER_PROFILES] = "profiles",
};

static const char *const labels[RECEIVERS] = {
	[RECEIVER_WRITE] = "remote_write",
	[RECEIVER_OTLP] = "otlp",
	[RECEIVER_PROFILES] = "profiles",
};

struct push_receivers {
	struct receivers_config config;
	struct otlp_config otlp;
	struct remote_write write;
	char host[EXPORTER_TEXT];
	struct push_sender *push[RECEIVERS];
	char why[160]; /* why a profile is not pushed */
	sd_event_source *timer[RECEIVERS];
	u32 interval[RECEIVERS];
	/* number of profiles that were not queued; push_get_stats() does not include them */
	u64 profiles_lost;
	s64 offset_ms; /* offset from CLOCK_MONOTONIC to CLOCK_REALTIME at the last push */
};

static u64 get_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

static s64 read_clock_offset(void)
{
	return (s64)(get_now_ns(CLOCK_REALTIME) / 1000000) -
	       (s64)(get_now_ns(CLOCK_MONOTONIC) / 1000000);
}

/* Log a jump of the clock: receivers sort by time, and may refuse samples after a jump. */
static void check_clock_jump(struct push_receivers *r)
{
	s64 offset = read_clock_offset(), jump = offset - r->offset_ms;

	if (jump > JUMP_MS || jump < -JUMP_MS)
		exporter_log(SD_WARNING,
			     "the clock jumped by %" PRId64
			     ".%03d s: receivers may refuse requests",
			     jump / 1000, (int)(jump < 0 ? -jump % 1000 : jump % 1000));
	r->offset_ms = offset;
}

static void push_remote_write(struct push_receivers *r, const struct series_set *set, u64 time_ns)
{
	size_t size;
	char *data;
	int e;

	e = remote_write_encode(&r->write, set, (s64)(time_ns / 1000000), &data, &size);
	if (e < 0)
		push_count_lost_request(r->push[RECEIVER_WRITE], e);
	else
		push_queue_request(r->push[RECEIVER_WRITE], data, size, NULL);
}

static void push_otlp(struct push_receivers *r, const struct series_set *set, u64 time_ns)
{
	size_t size;
	char *data;
	int e;

	e = otlp_encode(set, &r->otlp, r->host, time_ns, &data, &size);
	if (e < 0)
		push_count_lost_request(r->push[RECEIVER_OTLP], e);
	else
		push_queue_request(r->push[RECEIVER_OTLP], data, size, NULL);
}

static int push_series(sd_event_source *source, struct push_receivers *r, enum receiver_kind which)
{
	u64 time_ns = get_now_ns(CLOCK_REALTIME);
	const struct series_set *set = r->config.series(r->config.ctx, time_ns);

	sd_event_source_set_time_relative(source, r->interval[which] * 1000000ULL);
	sd_event_source_set_enabled(source, SD_EVENT_ON);
	check_clock_jump(r);
	if (set && which == RECEIVER_WRITE)
		push_remote_write(r, set, time_ns);
	else if (set)
		push_otlp(r, set, time_ns);
	return 0;
}

static int on_remote_write_timer(sd_event_source *source, uint64_t now __attribute__((unused)),
				 void *userdata)
{
	return push_series(source, userdata, RECEIVER_WRITE);
}

static int on_otlp_timer(sd_event_source *source, uint64_t now __attribute__((unused)),
			 void *userdata)
{
	return push_series(source, userdata, RECEIVER_OTLP);
}

/* Read all of @fd by pread(), because the daemon shares its file offset. */
static int read_profile(struct push_receivers *r, int fd, char **ret_data, size_t *ret_size)
{
	u32 queue = r->config.config->queue;
	struct stat st;
	char *data;

	snprintf(r->why, sizeof(r->why), "the daemon's profile cannot be read");
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return -EBADF;
	if (st.st_size > PROFILE_SIZE) {
		snprintf(r->why, sizeof(r->why), "the daemon's profile is larger than 16 MiB");
		return -EFBIG;
	}
	if (st.st_size > (off_t)queue * 1024) {
		snprintf(r->why, sizeof(r->why),
			 "the daemon's profile of %" PRId64
			 " KiB does not fit in a queue of %" PRIu32
			 " KiB: QueueKiB= should be larger",
			 (s64)st.st_size / 1024 + 1, queue);
		return -ENOSPC;
	}
	data = malloc((size_t)st.st_size);
	if (!data || pread(fd, data, (size_t)st.st_size, 0) != st.st_size) {
		free(data);
		return -EIO;
	}
	*ret_data = data;
	*ret_size = (size_t)st.st_size;
	return 0;
}

void receivers_count_lost_profile(struct push_receivers *receivers)
{
	receivers->profiles_lost++;
}

int receivers_push_profile(struct push_receivers *receivers, int fd, u32 seconds,
			   const char **ret_why)
{
	time_t now = (time_t)(get_now_ns(CLOCK_REALTIME) / 1000000000);
	char query[96] = "", *data;
	size_t size;
	int e;

	if (!receivers->push[RECEIVER_PROFILES])
		return 0;
	e = read_profile(receivers, fd, &data, &size);
	if (e < 0) {
		receivers_count_lost_profile(receivers);
		*ret_why = receivers->why;
		return e;
	}
	/*
	 * A URL with parameters, such as the name of the profile, is that of a store of pprof
	 * profiles. The store also expects the period as parameters.
	 */
	if (strchr(receivers->config.config->profile_url, '?'))
		snprintf(query, sizeof(query), "&from=%" PRIu64 "&until=%" PRIu64,
			 (u64)now - seconds, (u64)now);
	push_queue_request(receivers->push[RECEIVER_PROFILES], data, size, query);
	return 0;
}

void receivers_get_counters(struct push_receivers *receivers,
			    struct series_push ret_push[RECEIVERS])
{
	struct push_counters stats;

	for (unsigned int i = 0; i < RECEIVERS; i++) {
		ret_push[i] = (struct series_push){ 0 };
		if (!receivers || !receivers->push[i])
			continue;
		push_get_stats(receivers->push[i], &stats);
		ret_push[i] = (struct series_push){
			.destination = labels[i],
			.sent = stats.sent,
			.retried = stats.retried,
			.dropped = stats.dropped +
				   (i == RECEIVER_PROFILES ? receivers->profiles_lost : 0),
			.queued_bytes = stats.queued_bytes,
			.rejected = stats.rejected,
			.rejects = i == RECEIVER_OTLP,
		};
	}
}

/* Start to push, with the headers of the credentials after those of the protocol. */
static int start_push_with_credentials(struct push_receivers *r, enum receiver_kind which,
				       struct push_config *config,
				       const struct receiver_credentials *secrets)
{
	const char *headers[OTLP_HEADERS + 4 + CREDENTIALS_HEADERS];
	const char *why = "";
	unsigned int n = 0;
	int e;

	for (unsigned int i = 0; i < config->header_count; i++)
		headers[n++] = config->headers[i];
	for (unsigned int i = 0; i < secrets->header_count; i++)
		headers[n++] = secrets->headers[i];
	config->headers = headers;
	config->header_count = n;
	config->token = secrets->token;
	config->secret |= secrets->header_count;
	if (*secrets->certificate) {
		config->certificate = secrets->certificate;
		config->key = secrets->key;
	}
	e = push_new(config, &r->push[which], &why);
	if (e < 0)
		exporter_log(SD_ERR, "%s: %s", names[which], why);
	return e;
}

/*
 * Set what all receivers have in common in @config, and start to push. Return: the values of
 * push_new().
 */
static int receiver_start(struct push_receivers *r, enum receiver_kind which,
			  struct push_config *config)
{
	static const char *const credentials[RECEIVERS] = {
		[RECEIVER_WRITE] = "remote-write",
		[RECEIVER_OTLP] = "otlp",
		[RECEIVER_PROFILES] = "profiles",
	};
	const struct exporter_config *c = r->config.config;
	struct receiver_credentials secrets;
	char why[200];
	int e;

	config->name = names[which];
	config->queue = (size_t)c->queue * 1024;
	if (!config->timeout)
		config->timeout = c->timeout;
	if (!config->authorities || !*config->authorities)
		config->authorities = c->certificates;
	e = receiver_credentials_read(&secrets, credentials[which], why, sizeof(why));
	if (e < 0) {
		exporter_log(SD_ERR, "%s", why);
		e = -EACCES;
	} else {
		e = start_push_with_credentials(r, which, config, &secrets);
	}
	receiver_credentials_clear(&secrets);
	return e;
}

static int start_remote_write(struct push_receivers *r, sd_event *event)
{
	static const char *const headers[] = REMOTE_WRITE_HEADERS;
	struct push_config config = {
		.url = r->config.config->write_url,
		.headers = headers,
		.header_count = ARRAY_SIZE(headers),
	};
	int e = receiver_start(r, RECEIVER_WRITE, &config);

	if (e < 0)
		return e;
	r->write = (struct remote_write){
		.host = r->host,
		.native = r->config.config->write_native,
	};
	r->interval[RECEIVER_WRITE] = r->config.config->write_interval;
	return sd_event_add_time_relative(event, &r->timer[RECEIVER_WRITE], CLOCK_MONOTONIC,
					  r->interval[RECEIVER_WRITE] * 1000000ULL, 0,
					  on_remote_write_timer, r);
}

/* Return the interval of OTLP: the file has precedence over the environment. */
static u32 get_otlp_interval(const struct push_receivers *r)
{
	if (r->config.config->otlp_interval)
		return r->config.config->otlp_interval;
	return r->otlp.interval ? r->otlp.interval : OTLP_INTERVAL;
}

static int start_otlp(struct push_receivers *r, sd_event *event)
{
	const char *headers[OTLP_HEADERS + 2] = { "Content-Type: application/x-protobuf" };
	struct push_config config = {
		.url = r->otlp.url,
		.headers = headers,
		.header_count = 1,
		.authorities = r->otlp.authorities,
		.certificate = r->otlp.certificate,
		.key = r->otlp.key,
		.timeout = r->otlp.timeout,
		.only_gateways = true,
		.rejected = otlp_count_rejected,
	};
	int e;

	if (r->otlp.gzip)
		headers[config.header_count++] = "Content-Encoding: gzip";
	/* Treat the headers as secret, because users of OpenTelemetry put credentials into them. */
	config.secret = r->otlp.header_count;
	for (unsigned int i = 0; i < r->otlp.header_count; i++)
		headers[config.header_count++] = r->otlp.headers[i];
	e = receiver_start(r, RECEIVER_OTLP, &config);
	if (e < 0)
		return e;
	r->interval[RECEIVER_OTLP] = get_otlp_interval(r);
	return sd_event_add_time_relative(event, &r->timer[RECEIVER_OTLP], CLOCK_MONOTONIC,
					  r->interval[RECEIVER_OTLP] * 1000000ULL, 0, on_otlp_timer,
					  r);
}

static int start_profiles(struct push_receivers *r)
{
	static const char *const headers[] = { "Content-Type: application/octet-stream" };
	struct push_config config = {
		.url = r->config.config->profile_url,
		.headers = headers,
		.header_count = ARRAY_SIZE(headers),
	};

	return receiver_start(r, RECEIVER_PROFILES, &config);
}

/*
 * Read the environment. All programs of the machine may share these variables, so a wrong one only
 * disables OTLP. Without an endpoint they have no effect.
 */
static void read_otlp_environment(struct push_receivers *r)
{
	const char *url = r->config.config->otlp_url, *any = otlp_config_find_variable();
	char why[200];

	if (!*url && !otlp_config_is_set()) {
		if (any)
			exporter_log(
				SD_NOTICE,
				"%.*s: has no effect, as OTEL_EXPORTER_OTLP_ENDPOINT is not set",
				(int)strcspn(any, "="), any);
		return;
	}
	if (otlp_config_read(&r->otlp, url, why, sizeof(why)) >= 0)
		return;
	exporter_log(SD_ERR, "%s; nothing is sent by OTLP", why);
	r->otlp = (struct otlp_config){ 0 };
}

/*
 * Check the sum of the queues: larger ones could exceed MemoryMax= of the unit, and the kernel
 * would kill the exporter.
 */
static int check_queues(const struct push_receivers *r)
{
	const struct exporter_config *c = r->config.config;
	u32 count = (*c->write_url != 0) + (*r->otlp.url != 0) + (*c->profile_url != 0);

	if ((u64)count * c->queue <= EXPORTER_QUEUES)
		return 0;
	exporter_log(SD_ERR,
		     "QueueKiB=%" PRIu32 ": should be at most %d for %" PRIu32
		     " receivers: each has a queue, "
		     "and %d KiB fit in memory",
		     c->queue, EXPORTER_QUEUES / (int)count, count, EXPORTER_QUEUES);
	return -EINVAL;
}

static int start_all_receivers(struct push_receivers *r, sd_event *event)
{
	const struct exporter_config *c = r->config.config;
	int e;

	read_otlp_environment(r);
	e = check_queues(r);
	if (e >= 0 && *c->write_url)
		e = start_remote_write(r, event);
	if (e >= 0 && *r->otlp.url) {
		e = start_otlp(r, event);
		/*
		 * The error is already logged. It is an error of the configuration only if the file
		 * sets the URL.
		 */
		if (e == -EACCES || (e == -EINVAL && !*c->otlp_url))
			e = 0;
	}
	if (e >= 0 && *c->profile_url)
		e = start_profiles(r);
	return e == -EACCES ? -EINVAL : e;
}

/* Determine the name of this machine, escaped: receivers refuse a request with invalid UTF-8. */
static void set_host(struct push_receivers *r)
{
	char name[EXPORTER_TEXT] = "";

	if (*r->config.config->host)
		snprintf(name, sizeof(name), "%s", r->config.config->host);
	else if (gethostname(name, sizeof(name) - 1) < 0)
		snprintf(name, sizeof(name), "localhost");
	escape_string(r->host, sizeof(r->host), name);
}

int receivers_new(const struct receivers_config *config, sd_event *event,
		  struct push_receivers **ret_receivers)
{
	struct push_receivers *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	r->config = *config;
	r->offset_ms = read_clock_offset();
	set_host(r);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	e = start_all_receivers(r, event);
	if (e < 0) {
		receivers_free(r);
		return e;
	}
	*ret_receivers = r;
	return 0;
}

/* Send stale markers; otherwise all series would keep their last value for five minutes. */
static void end_remote_write(struct push_receivers *r)
{
	char *data = NULL;
	size_t size = 0;

	if (r->push[RECEIVER_WRITE] && r->write.last.count &&
	    remote_write_encode(&r->write, NULL, (s64)(get_now_ns(CLOCK_REALTIME) / 1000000), &data,
				&size) >= 0)
		push_stop(r->push[RECEIVER_WRITE], data, size);
	staleness_clear(&r->write.last);
}

struct push_receivers *receivers_free(struct push_receivers *receivers)
{
	if (receivers) {
		end_remote_write(receivers);
		/* Each receiver may wait for its last attempt, so end all of them in parallel. */
		for (unsigned int i = 0; i < RECEIVERS; i++)
			if (receivers->push[i])
				push_stop(receivers->push[i], NULL, 0);
		for (unsigned int i = 0; i < RECEIVERS; i++) {
			sd_event_source_unref(receivers->timer[i]);
			push_free(receivers->push[i]);
		}
		free(receivers);
		curl_global_cleanup();
	}
	return NULL;
}
