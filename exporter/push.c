// SPDX-License-Identifier: LGPL-2.1-or-later
#include "push.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "log.h"
#include "speprof-version.h"
#include "util/time.h"

/* A request that waits, or is being sent */
struct push_item {
	struct push_item *next;
	char *data;
	size_t size;
	char *query;
};

/* The result of an attempt */
enum push_outcome {
	OUTCOME_ACCEPTED,
	OUTCOME_RETRY,
	OUTCOME_REFUSED,
};

struct push_sender {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/*
	 * These fields are protected by @lock. While @sending is true, the thread uses the first
	 * item without the lock.
	 */
	struct push_item *first;
	struct push_item **last;
	size_t queued;
	bool sending;
	bool quit;
	struct push_item *farewell; /* the request that is sent once before the thread exits */
	struct push_counters stats;
	/* These fields are constant while the thread runs. */
	char *name;
	char *url;
	char *host;
	char *texts[3]; /* authorities, certificate, key */
	u32 timeout;
	size_t queue;
	bool is_local; /* whether the receiver is on this machine */
	bool only_gateways;
	u64 (*rejected)(const u8 *answer, size_t answer_size, char *ret_why, size_t size);
	struct curl_slist *headers;
	/* why the last request was not queued; used only by the thread that adds requests */
	struct log_condition lost;
	/* These fields are used only by the thread. */
	bool ending;
	size_t answered; /* bytes of the answer so far */
	struct log_condition result; /* result of the last attempt */
	struct log_condition rejection; /* rejection of data points, as reported in answers */
	u8 *answer; /* PUSH_ANSWER bytes; NULL if answers are not read */
	size_t answer_size;
};

static size_t count_answer_bytes(struct push_sender *p, size_t size)
{
	if (size > PUSH_ANSWER - p->answered)
		return 0;
	p->answered += size;
	return size;
}

/*
 * Copy a part of the answer; count_answer_bytes() limits the number of bytes in
 * &push_sender.answer.
 */
static size_t on_data(char *data, size_t size, size_t count, void *push)
{
	struct push_sender *p = push;
	size_t copied = count_answer_bytes(p, size * count);

	if (p->answer) {
		memcpy(p->answer + p->answer_size, data, copied);
		p->answer_size += copied;
	}
	return copied;
}

/* Count the bytes of headers for the limit PUSH_ANSWER, without storing them. */
static size_t on_header(char *data __attribute__((unused)), size_t size, size_t count, void *push)
{
	return count_answer_bytes(push, size * count);
}

/* Abort a transfer when the thread has to exit. */
static int on_progress(void *push, curl_off_t a __attribute__((unused)),
		       curl_off_t b __attribute__((unused)), curl_off_t c __attribute__((unused)),
		       curl_off_t d __attribute__((unused)))
{
	struct push_sender *p = push;
	bool quit;

	pthread_mutex_lock(&p->lock);
	quit = p->quit;
	pthread_mutex_unlock(&p->lock);
	return quit && !p->ending;
}

static void set_options(struct push_sender *p, CURL *curl, const struct push_item *item,
			const char *url)
{
	long timeout = p->ending && p->timeout > PUSH_LAST ? PUSH_LAST : (long)p->timeout;

	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	/* Do not wait for a name server longer than the timeout, or when the thread has to exit. */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	/* A redirect must not pass data or secrets to another host. */
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	if (p->is_local)
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, timeout);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "speprof-exporter/" SPEPROF_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, p->headers);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, item->data);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)item->size);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, p);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, p);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, p);
	if (p->texts[0]) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, p->texts[0]);
		/*
		 * Without this, libcurl would also trust the authorities in the system's directory.
		 */
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	if (p->texts[1])
		curl_easy_setopt(curl, CURLOPT_SSLCERT, p->texts[1]);
	if (p->texts[2])
		curl_easy_setopt(curl, CURLOPT_SSLKEY, p->texts[2]);
}

static enum push_outcome status_to_outcome(const struct push_sender *p, long status)
{
	if (status >= 200 && status < 300)
		return OUTCOME_ACCEPTED;
	if (status == 429 || (p->only_gateways ? status >= 502 && status <= 504 : status >= 500))
		return OUTCOME_RETRY;
	return OUTCOME_REFUSED;
}

/* Log the result of an attempt, if it changed. @cause: a number for each cause, below 2^32. */
static void log_result_change(struct push_sender *p, enum push_outcome outcome, u64 cause,
			      const char *why)
{
	u64 how = outcome == OUTCOME_ACCEPTED ? 0 : (u64)outcome << 32 | cause, changes;
	char often[LOG_CONDITION_COUNT];

	if (!log_condition_update(&p->result, how, time_now_ns(), &changes))
		return;
	log_condition_format_count(changes, often);
	if (outcome == OUTCOME_ACCEPTED)
		exporter_log(SD_NOTICE, "%s: %s accepts requests again%s", p->name, p->host, often);
	else if (outcome == OUTCOME_RETRY)
		exporter_log(SD_WARNING, "%s: %s: %s; the request is retried%s", p->name, p->host,
			     why, often);
	else
		exporter_log(SD_WARNING, "%s: %s refuses requests: %s; they are dropped%s", p->name,
			     p->host, why, often);
}

/*
 * Describe what is wrong with a certificate: libcurl has only one sentence for all errors. The bits
 * are those of the TLS library, gnutls_certificate_status_t.
 */
static const char *describe_certificate_fault(CURL *curl, u64 *ret_bits)
{
	static const struct {
		long bit;
		const char *text;
	} faults[] = {
		{ 1L << 10, "its certificate has expired, or this machine's clock is wrong" },
		{ 1L << 9, "its certificate is not valid yet, or this machine's clock is wrong" },
		{ 1L << 5, "its certificate was revoked" },
		{ 1L << 6, "its certificate is signed by an authority that is not trusted here "
			   "(CACertificates=)" },
	};
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &status);
	*ret_bits = (u64)status & 0xffff;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		if (status & faults[i].bit)
			return faults[i].text;
	return NULL;
}

/* Return a number for each cause, because sentences of the same cause differ in times and ports. */
static u64 describe_failure(CURL *curl, CURLcode code, const char *error, char *ret_why,
			    size_t size)
{
	const char *fault = NULL;
	u64 bits = 0;

	if (code == CURLE_PEER_FAILED_VERIFICATION)
		fault = describe_certificate_fault(curl, &bits);
	if (fault)
		snprintf(ret_why, size, "%s", fault);
	else
		snprintf(ret_why, size, "%.150s", *error ? error : curl_easy_strerror(code));
	return bits << 16 | (u64)code;
}

/* Try to send a request. @ret_wait: seconds of Retry-After, or 0. */
static enum push_outcome try_request(struct push_sender *p, CURL *curl,
				     const struct push_item *item, long *ret_wait)
{
	char url[1024], why[160], error[CURL_ERROR_SIZE] = "";
	curl_off_t after = 0;
	enum push_outcome outcome;
	long status = 0;
	CURLcode code;
	u64 cause;

	snprintf(url, sizeof(url), "%s%s", p->url, item->query ? item->query : "");
	p->answered = 0;
	p->answer_size = 0;
	curl_easy_reset(curl);
	set_options(p, curl, item, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
	*ret_wait = after > PUSH_RETRY_AFTER ? PUSH_RETRY_AFTER : (long)after;
	/* A status is valid even if the body after it exceeds PUSH_ANSWER. */
	if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && status)) {
		cause = describe_failure(curl, code, error, why, sizeof(why));
		outcome = OUTCOME_RETRY;
	} else {
		outcome = status_to_outcome(p, status);
		cause = 1U << 15 | (u64)status;
		snprintf(why, sizeof(why), "status %ld", status);
	}
	if (code != CURLE_ABORTED_BY_CALLBACK && !p->ending)
		log_result_change(p, outcome, cause, why);
	return outcome;
}

static void item_free(struct push_item *item)
{
	free(item->data);
	free(item->query);
	free(item);
}

/* Context: the caller holds the lock. */
static void drop_first_item(struct push_sender *p)
{
	struct push_item *item = p->first;

	p->first = item->next;
	if (!p->first)
		p->last = &p->first;
	p->queued -= item->size;
	item_free(item);
}

static u64 draw_jitter_ms(long seconds)
{
	u32 random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 1U << 31;
	return push_add_jitter_ms(seconds, random);
}

/* Context: the caller holds the lock, which is released while this function waits. */
static void wait_ms(struct push_sender *p, u64 ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ms / 1000);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (!p->quit)
		if (pthread_cond_timedwait(&p->changed, &p->lock, &until) == ETIMEDOUT)
			return;
}

/* Log and return the number of data points that the receiver rejected. */
static u64 count_rejected(struct push_sender *p, enum push_outcome outcome)
{
	char why[160] = "", often[LOG_CONDITION_COUNT];
	u64 rejected, changes;

	if (!p->answer || outcome != OUTCOME_ACCEPTED)
		return 0;
	rejected = p->rejected(p->answer, p->answer_size, why, sizeof(why));
	if (log_condition_update(&p->rejection, rejected || *why, time_now_ns(), &changes) &&
	    (rejected || *why))
		exporter_log(SD_WARNING, "%s: %s rejects %" PRIu64 " data points: %s%s", p->name,
			     p->host, rejected, *why ? why : "it gives no reason",
			     log_condition_format_count(changes, often));
	return rejected;
}

/* Context: the caller holds the lock, which is released while this function sends. */
static enum push_outcome send_first_item(struct push_sender *p, CURL *curl, long *ret_wait)
{
	struct push_item *item = p->first;
	enum push_outcome outcome;
	u64 rejected;

	p->sending = true;
	pthread_mutex_unlock(&p->lock);
	outcome = try_request(p, curl, item, ret_wait);
	rejected = count_rejected(p, outcome);
	pthread_mutex_lock(&p->lock);
	p->sending = false;
	p->stats.rejected += rejected;
	if (outcome == OUTCOME_ACCEPTED)
		p->stats.sent++;
	else if (outcome == OUTCOME_REFUSED)
		p->stats.dropped++;
	else
		p->stats.retried++;
	if (outcome != OUTCOME_RETRY)
		drop_first_item(p);
	return outcome;
}

/* Context: the caller holds the lock, which is released while this function sends. */
static void send_last_request(struct push_sender *p, CURL *curl)
{
	struct push_item *item = p->farewell;
	long wait;

	p->ending = true;
	pthread_mutex_unlock(&p->lock);
	if (try_request(p, curl, item, &wait) != OUTCOME_ACCEPTED)
		exporter_log(SD_NOTICE,
			     "%s: %s did not receive the stale markers, so its series end only "
			     "after its own timeout",
			     p->name, p->host);
	pthread_mutex_lock(&p->lock);
}

static void *push_run(void *arg)
{
	struct push_sender *p = arg;
	CURL *curl = curl_easy_init();
	long wait = 1, retry_after_s = 0;

	pthread_mutex_lock(&p->lock);
	while (curl && !p->quit) {
		if (!p->first) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		if (send_first_item(p, curl, &retry_after_s) != OUTCOME_RETRY) {
			wait = 1;
			continue;
		}
		wait_ms(p, retry_after_s > 0 ? (u64)retry_after_s * 1000 + draw_jitter_ms(1) :
					       draw_jitter_ms(wait));
		wait = wait * 2 > PUSH_WAIT ? PUSH_WAIT : wait * 2;
	}
	if (curl && p->farewell)
		send_last_request(p, curl);
	pthread_mutex_unlock(&p->lock);
	curl_easy_cleanup(curl);
	return NULL;
}

static bool is_loopback(const char *host)
{
	u8 four[sizeof(struct in_addr)];

	/*
	 * libcurl has converted IPv4 addresses to dotted decimal form. It resolves "localhost"
	 * without a name server.
	 */
	if (inet_pton(AF_INET, host, four) == 1)
		return four[0] == 127;
	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]");
}

static int set_failure_reason(const char **ret_why, const char *why, int error)
{
	*ret_why = why;
	return error;
}

static bool url_has_part(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK && *text;

	curl_free(text);
	return has;
}

static int check_secrets(const struct push_sender *p, const struct push_config *config, CURLU *url,
			 const char *scheme, const char **ret_why)
{
	bool own = url_has_part(url, CURLUPART_USER) || url_has_part(url, CURLUPART_PASSWORD);

	if (p->is_local || !strcmp(scheme, "https") || (!own && !config->token && !config->secret))
		return 0;
	return set_failure_reason(
		ret_why,
		"a token, a URL's password, or a header that is a credential, is sent by https "
		"only, or to this machine: the URL should begin with https",
		own ? -EINVAL : -EACCES);
}

/* Check the URL, and copy its host for log lines, because other parts of it may be secret. */
static int parse_url(struct push_sender *p, const struct push_config *config, const char **ret_why)
{
	char *host = NULL, *scheme = NULL;
	CURLU *url = curl_url();
	int r;

	if (!url)
		return -ENOMEM;
	if (strlen(config->url) <= 900 &&
	    curl_url_set(url, CURLUPART_URL, config->url, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK) {
		p->is_local = is_loopback(host);
		r = check_secrets(p, config, url, scheme, ret_why);
	} else {
		r = set_failure_reason(
			ret_why,
			"the URL should be http://HOST/PATH or https://HOST/PATH, of at most "
			"900 bytes",
			-EINVAL);
	}
	if (!r) {
		p->host = strdup(host);
		p->url = strdup(config->url);
		r = p->host && p->url ? 0 : -ENOMEM;
	}
	curl_free(host);
	curl_free(scheme);
	curl_url_cleanup(url);
	return r;
}

static int add_header(struct push_sender *p, const char *text)
{
	struct curl_slist *headers = curl_slist_append(p->headers, text);

	if (!headers)
		return -ENOMEM;
	p->headers = headers;
	return 0;
}

static int copy_config_texts(struct push_sender *p, const struct push_config *config,
			     const char **ret_why)
{
	const char *texts[] = { config->authorities, config->certificate, config->key };
	char bearer[sizeof("Authorization: Bearer ") + PUSH_TOKEN];
	int r = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i] || !*texts[i])
			continue;
		p->texts[i] = strdup(texts[i]);
		if (!p->texts[i])
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < config->header_count && r >= 0; i++)
		r = add_header(p, config->headers[i]);
	/* Do not wait for "100 Continue", which some receivers never send. */
	if (r >= 0)
		r = add_header(p, "Expect:");
	if (r >= 0 && config->token) {
		if (snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s", config->token) >=
		    (int)sizeof(bearer))
			return set_failure_reason(ret_why, "a token should be at most 8 KiB",
						  -EACCES);
		r = add_header(p, bearer);
	}
	p->name = strdup(config->name);
	return r < 0 ? r : p->name ? 0 : -ENOMEM;
}

static void push_clear(struct push_sender *p)
{
	while (p->first)
		drop_first_item(p);
	if (p->farewell)
		item_free(p->farewell);
	for (unsigned int i = 0; i < ARRAY_SIZE(p->texts); i++)
		free(p->texts[i]);
	curl_slist_free_all(p->headers);
	free(p->answer);
	free(p->name);
	free(p->url);
	free(p->host);
	free(p);
}

int push_new(const struct push_config *config, struct push_sender **ret_push, const char **ret_why)
{
	struct push_sender *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;
	int r;

	*ret_why = "out of memory";
	if (!p)
		return -ENOMEM;
	p->last = &p->first;
	p->timeout = config->timeout;
	p->queue = config->queue;
	p->only_gateways = config->only_gateways;
	p->rejected = config->rejected;
	r = parse_url(p, config, ret_why);
	if (r >= 0)
		r = copy_config_texts(p, config, ret_why);
	if (r >= 0 && p->rejected && !(p->answer = malloc(PUSH_ANSWER)))
		r = -ENOMEM;
	if (r < 0) {
		push_clear(p);
		return r;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	r = -pthread_create(&p->thread, NULL, push_run, p);
	if (r < 0) {
		*ret_why = "no thread could be started";
		pthread_cond_destroy(&p->changed);
		pthread_mutex_destroy(&p->lock);
		push_clear(p);
		return r;
	}
	*ret_push = p;
	return 0;
}

void push_stop(struct push_sender *push, char *data, size_t size)
{
	struct push_item *item = data ? calloc(1, sizeof(*item)) : NULL;

	pthread_mutex_lock(&push->lock);
	if (item) {
		*item = (struct push_item){ .data = data, .size = size };
		push->farewell = item;
	} else {
		free(data);
	}
	push->quit = true;
	pthread_cond_signal(&push->changed);
	pthread_mutex_unlock(&push->lock);
}

struct push_sender *push_free(struct push_sender *push)
{
	if (!push)
		return NULL;
	push_stop(push, NULL, 0);
	pthread_join(push->thread, NULL);
	pthread_cond_destroy(&push->changed);
	pthread_mutex_destroy(&push->lock);
	push_clear(push);
	return NULL;
}

/*
 * Find the oldest request that is not being sent; NULL if there is none. Context: the caller holds
 * the lock.
 */
static struct push_item **find_oldest_item(struct push_sender *p)
{
	struct push_item **at = &p->first;

	if (p->sending)
		at = &p->first->next;
	return *at ? at : NULL;
}

/* Drop the oldest requests until @size bytes fit. Context: the caller holds the lock. */
static void evict_items(struct push_sender *p, size_t size)
{
	struct push_item **at, *item;

	while (p->queued + size > p->queue && (at = find_oldest_item(p))) {
		item = *at;
		*at = item->next;
		if (!*at)
			p->last = at;
		p->queued -= item->size;
		p->stats.dropped++;
		item_free(item);
	}
}

/*
 * Add a request. Return: 0; -ENOMEM if memory cannot be allocated; -EBUSY if the queue is full;
 * -EFBIG if the request is larger than the queue. Context: the caller holds the lock.
 */
static int queue_item(struct push_sender *p, char *data, size_t size, const char *query)
{
	struct push_item *item;

	if (size > p->queue)
		return -EFBIG;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = (struct push_item){ .data = data, .size = size };
	if (query && !(item->query = strdup(query))) {
		free(item);
		return -ENOMEM;
	}
	evict_items(p, size);
	/* evict_items() cannot drop the request that is being sent. */
	if (p->queued + size > p->queue) {
		free(item->query);
		free(item);
		return -EBUSY;
	}
	*p->last = item;
	p->last = &item->next;
	p->queued += size;
	pthread_cond_signal(&p->changed);
	return 0;
}

/* Log why a request was dropped. The cause of a full queue is logged by log_result_change(). */
static void log_lost_request(struct push_sender *p, int error, size_t size)
{
	char often[LOG_CONDITION_COUNT];
	u64 changes;

	if (error == -EBUSY ||
	    !log_condition_update(&p->lost, (u64)-error, time_now_ns(), &changes) || !error)
		return;
	log_condition_format_count(changes, often);
	if (error == -EFBIG && size)
		exporter_log(SD_WARNING,
			     "%s: a request of %zu KiB does not fit in a queue of %zu KiB, and is "
			     "dropped: "
			     "QueueKiB= should be larger%s",
			     p->name, size / 1024 + 1, p->queue / 1024, often);
	else if (error == -E2BIG)
		exporter_log(SD_WARNING,
			     "%s: a request would be larger than 16 MiB, and is dropped: "
			     "MaxSeries= should be "
			     "smaller%s",
			     p->name, often);
	else
		exporter_log(SD_WARNING, "%s: a request could not be encoded: %s; it is dropped%s",
			     p->name, strerror(-error), often);
}

void push_queue_request(struct push_sender *push, char *data, size_t size, const char *query)
{
	int r;

	pthread_mutex_lock(&push->lock);
	r = queue_item(push, data, size, query);
	push->stats.dropped += r < 0;
	pthread_mutex_unlock(&push->lock);
	if (r < 0)
		free(data);
	log_lost_request(push, r, size);
}

void push_count_lost_request(struct push_sender *push, int error)
{
	pthread_mutex_lock(&push->lock);
	push->stats.dropped++;
	pthread_mutex_unlock(&push->lock);
	log_lost_request(push, error, 0);
}

void push_get_stats(struct push_sender *push, struct push_counters *ret_stats)
{
	pthread_mutex_lock(&push->lock);
	*ret_stats = push->stats;
	ret_stats->queued_bytes = push->queued;
	pthread_mutex_unlock(&push->lock);
}
