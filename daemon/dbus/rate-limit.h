/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limit the number of calls that a user of the bus may make. Each user has a token bucket. A call
 * takes the number of tokens of its cost class, and more tokens for the rows in its answer. A token
 * stands for about 2 ms of CPU time.
 *
 * Members of the group speprof have a larger bucket, because the exporter and "speprof top" call
 * the daemon regularly. All other users also share one bucket: otherwise a user with a range of
 * subordinate UIDs would have one bucket for each UID. Root and the daemon's own user have no
 * limit, because they can stop the daemon anyway; these functions must not be called for them.
 */
#ifndef SPEPROF_RATE_LIMIT_H
#define SPEPROF_RATE_LIMIT_H

#include <sys/types.h>

#include "codec/env.h"

/* entries of &rate_limit.users: maximum number of users that have a bucket at the same time */
#define RATE_LIMIT_USERS 64

/**
 * struct token_bucket - the tokens of one user, or tokens that several users share
 * @missing: tokens to add until the bucket is full, in thousandths
 * @updated_ns: time up to which the bucket was refilled
 */
struct token_bucket {
	u64 missing;
	u64 updated_ns;
};

/**
 * struct rate_user - a bucket and its user
 * @uid: valid if @used is set
 * @member: true if the last call of the user came from a member of the group speprof; selects the
 * size and the refill rate of the bucket
 */
struct rate_user {
	uid_t uid;
	bool used;
	bool member;
	struct token_bucket bucket;
};

/**
 * struct rate_limit - all buckets; all zero: ready for use
 * @others: bucket that all users outside the group speprof share
 */
struct rate_limit {
	struct rate_user users[RATE_LIMIT_USERS];
	struct token_bucket others;
};

/**
 * rate_limit_take() - take the tokens for a call before it runs
 * @limit: the buckets; used by one thread
 * @uid: the calling user
 * @member: true if the caller is in the group speprof
 * @tokens: number of tokens, at most 100
 * @now_ns: CLOCK_MONOTONIC, at least @now_ns of the last call
 * @ret_retry_s: on failure, the seconds after which the same call succeeds if no other call takes
 * tokens meanwhile; at least 1
 *
 * A user without a bucket gets the fullest bucket of another user, with the tokens in it. So once
 * all buckets are in use, a user cannot get more tokens by using another UID.
 *
 * Return: 0; -EBUSY if the bucket of the user has too few tokens; -EUSERS if the bucket of all
 * users outside the group has too few tokens, and takes longer to refill. No tokens are taken on
 * failure.
 */
int rate_limit_take(struct rate_limit *limit, uid_t uid, bool member, u32 tokens, u64 now_ns,
		    u32 *ret_retry_s);

/**
 * rate_limit_charge() - take more tokens for a call that cost more than the tokens it took at its
 * start
 *
 * The parameters are those of rate_limit_take(). The number of tokens may become negative; then the
 * next calls of the user have to wait.
 */
void rate_limit_charge(struct rate_limit *limit, uid_t uid, bool member, u32 tokens, u64 now_ns);

#endif
