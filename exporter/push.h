/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to a receiver: a queue in memory, bounded in bytes, and a thread that sends
 * them in order, each until it is taken, refused for good, or pushed out by newer ones.
 */
#ifndef SPEPROF_PUSH_H
#define SPEPROF_PUSH_H

#include "codec/env.h"

/* Of a receiver's answer, headers and body, that are read at most. */
#define PUSH_ANSWER 65536

/* Seconds between two tries at most, but for jitter, and those that Retry-After may ask for. */
#define PUSH_WAIT	 60
#define PUSH_RETRY_AFTER 300

/* Bytes of a token. */
#define PUSH_TOKEN 8192

struct push;

/**
 * push_spread_ms() - spread a wait, so that a receiver that returns is not met by all machines at once
 * @seconds: the mean wait, 1 to PUSH_RETRY_AFTER
 * @random: any number, uniformly distributed
 *
 * Return: milliseconds, from half of @seconds to below one and a half.
 */
static inline u64 push_spread_ms(long seconds, u32 random)
{
	return (u64)seconds * 500 + ((u64)seconds * 1000 * random >> 32);
}

/**
 * struct push_config - all texts are copied
 * @name: of the receiver, in the journal: "remote write"
 * @url: http or https
 * @headers: "Name: value", @header_count of them
 * @token: for "Authorization: Bearer", or NULL
 * @secret: headers are as secret as a token
 * @authorities, @certificate, @key: files' paths, or NULL
 * @timeout: seconds, of each try
 * @queue: bytes that may wait
 * @rejected: what of a request an answer says was not taken, and why; NULL: answers are not read
 * @only_gateways: try again after 502, 503 and 504 only, and not after all of 500 to 599
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
 * push_new() - start the thread
 * @ret_why: on failure, what is wrong, a static sentence
 *
 * Return: 0; -EINVAL for the URL; -EACCES for what would be shown to the receiver; -ENOMEM or
 * another negative errno.
 */
int push_new(const struct push_config *config, struct push **ret_push, const char **ret_why);

/* Seconds that a request may take which is the last. */
#define PUSH_LAST 3

/**
 * push_end() - have the thread end: of several, all before the first is waited for
 * @data: one more request, allocated, which is tried once; or NULL
 *
 * What waits is dropped: it is older, and whoever did not take it so far does not in this time.
 */
void push_end(struct push *push, char *data, size_t size);

/** push_free() - push_end(), and wait for it */
struct push *push_free(struct push *push);

/**
 * push_add() - @data, allocated, is the push's from now on
 * @query: appended to the URL, or NULL; copied
 *
 * Where there is no room, the oldest that wait are dropped, and counted. So is one that no queue
 * has room for, which is said.
 */
void push_add(struct push *push, char *data, size_t size, const char *query);

/**
 * push_lost() - count a request that could not be made as dropped, and say it
 * @error: -E2BIG for too many series
 */
void push_lost(struct push *push, int error);

struct push_stats {
	u64 sent;
	u64 retried;
	u64 dropped;
	u64 rejected; /* by @rejected */
	u64 queued_bytes;
};
void push_stats(struct push *push, struct push_stats *ret_stats);

#endif
