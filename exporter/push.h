/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Push requests to one receiver, with a queue in memory, limited in bytes, and a thread that sends
 * the requests in order. The thread retries a request until the receiver accepts it, the receiver
 * refuses it permanently, or newer requests replace it in the queue.
 */
#ifndef SPEPROF_PUSH_H
#define SPEPROF_PUSH_H

#include "codec/env.h"

/* maximum number of bytes of a response that are read, headers and body */
#define PUSH_ANSWER 65536

/* maximum seconds between two attempts, before jitter, and maximum Retry-After that is respected */
#define PUSH_WAIT	 60
#define PUSH_RETRY_AFTER 300

/* maximum bytes of a bearer token */
#define PUSH_TOKEN 8192

struct push_sender;

/**
 * push_add_jitter_ms() - add jitter to a delay, so that not all machines retry at the same moment
 * @seconds: mean delay, 1 to PUSH_RETRY_AFTER
 * @random: any number, uniformly distributed
 *
 * Return: milliseconds, from half of @seconds to below one and a half times @seconds.
 */
static inline u64 push_add_jitter_ms(long seconds, u32 random)
{
	return (u64)seconds * 500 + ((u64)seconds * 1000 * random >> 32);
}

/**
 * struct push_config - a receiver; all texts are copied
 * @name: name in log lines, such as "remote write"
 * @url: http or https, at most 900 bytes
 * @headers: headers of the form "Name: value"
 * @header_count: number of @headers
 * @token: sent as "Authorization: Bearer"; NULL: none
 * @secret: whether @headers contain a secret such as a token
 * @authorities: path of a file with certificate authorities; NULL or "": those of the system
 * @certificate: path of the client's certificate; NULL or "": none
 * @key: path of the certificate's key; NULL or "": none
 * @timeout: seconds after which an attempt fails
 * @queue: maximum bytes of requests that wait
 * @rejected: parses an answer: returns the number of data points that the receiver rejected, and a
 * reason in @ret_why; called by the thread; NULL: answers are not read
 * @only_gateways: whether to retry only after the statuses 429, 502, 503 and 504; otherwise after
 * 429 and 500 to 599
 */
struct push_config {
	const char *name;
	const char *url;
	const char *const *headers;
	unsigned int header_count;
	const char *token;
	bool secret;
	const char *authorities;
	const char *certificate;
	const char *key;
	u32 timeout;
	size_t queue;
	u64 (*rejected)(const u8 *answer, size_t answer_size, char *ret_why, size_t size);
	bool only_gateways;
};

/**
 * push_new() - start the thread of a receiver
 * @config: the receiver
 * @ret_push: to be freed by push_free()
 * @ret_why: on failure, a static sentence
 *
 * Return: 0; -EINVAL for a wrong URL, or for one with a password that would be sent without
 * encryption to another machine; -EACCES if a token or secret header would be sent without
 * encryption to another machine, or if the token is longer than PUSH_TOKEN; -ENOMEM if memory
 * cannot be allocated; -EAGAIN if no thread can be started.
 */
int push_new(const struct push_config *config, struct push_sender **ret_push, const char **ret_why);

/* maximum seconds of the last attempt */
#define PUSH_LAST 3

/**
 * push_stop() - make the thread exit
 * @push: the receiver
 * @data: one more request, allocated and owned by this function, which is tried once; NULL: none
 * @size: bytes of @data
 *
 * The queue is dropped, because a receiver that has not accepted it so far is unlikely to do so
 * within PUSH_LAST seconds. With several receivers, call this for all of them before the first
 * push_free(), so that they end in parallel.
 */
void push_stop(struct push_sender *push, char *data, size_t size);

/**
 * push_free() - make the thread exit, wait for it, and free all memory
 * @push: may be NULL
 *
 * Return: NULL.
 */
struct push_sender *push_free(struct push_sender *push);

/**
 * push_queue_request() - queue a request
 * @push: the receiver
 * @data: allocated; owned by this function
 * @size: bytes of @data
 * @query: text that is appended to the URL; copied; NULL: none
 *
 * If the queue is full, its oldest requests are dropped and counted. A request that is larger than
 * the queue is dropped, counted and logged.
 */
void push_queue_request(struct push_sender *push, char *data, size_t size, const char *query);

/**
 * push_count_lost_request() - count and log a request that could not be encoded
 * @push: the receiver
 * @error: negative errno; -E2BIG if there are too many series
 */
void push_count_lost_request(struct push_sender *push, int error);

/**
 * struct push_counters - counters of a receiver
 * @sent: number of requests that it accepted
 * @retried: number of attempts that failed and are repeated
 * @dropped: number of requests that were dropped: the receiver refused them, the queue was full, or
 * they were too large or could not be encoded
 * @rejected: number of data points that it rejected, as &push_config.rejected returned
 * @queued_bytes: bytes of requests that wait
 */
struct push_counters {
	u64 sent;
	u64 retried;
	u64 dropped;
	u64 rejected;
	u64 queued_bytes;
};

/**
 * push_get_stats() - read the counters
 * @push: the receiver
 * @ret_stats: the counters
 */
void push_get_stats(struct push_sender *push, struct push_counters *ret_stats);

#endif
