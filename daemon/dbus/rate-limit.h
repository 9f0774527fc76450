/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many calls a user of the bus may make. Each user has a token bucket. A call takes as
 * many tokens as its cost class says, and its answer takes more for the rows it holds; a token
 * stands for about 2 ms of CPU time.
 *
 * Members of the group speprof have a larger bucket, since the exporter and "speprof top" poll.
 * All other users also share one bucket: a user with a range of subordinate UIDs would
 * otherwise have one bucket for each of them. Root and the daemon's own user have no limit, as
 * they can stop the daemon anyway; the caller of these functions leaves them out.
 */
#ifndef SPEPROF_RATE_LIMIT_H
#define SPEPROF_RATE_LIMIT_H

#include <sys/types.h>

#include "codec/env.h"

/* Users that have a bucket at the same time. */
#define RATE_LIMIT_USERS 64

/**
 * struct rate_bucket - the tokens of one user, or those that several users share
 * @missing: tokens that the bucket lacks to be full, in thousandths
 * @updated_ns: the time up to which the bucket was refilled
 */
struct rate_bucket {
	u64 missing;
	u64 updated_ns;
};

/**
 * struct rate_user - a bucket and its user
 * @uid: valid if @used
 * @member: the user's last caller was in the group speprof; decides size and refill
 */
struct rate_user {
	uid_t uid;
	bool used;
	bool member;
	struct rate_bucket bucket;
};

/**
 * struct rate_limit - all buckets; zeroed it is ready for use
 * @others: shared by all users outside the group speprof
 */
struct rate_limit {
	struct rate_user users[RATE_LIMIT_USERS];
	struct rate_bucket others;
};

/**
 * rate_limit_take() - take the tokens for a call before it runs
 * @limit: the buckets; used by one thread
 * @uid: the calling user
 * @member: the caller is in the group speprof
 * @tokens: what the call takes, at most 100
 * @now_ns: CLOCK_MONOTONIC, not before that of the last call
 * @ret_retry_s: for -EBUSY: seconds after which the same call succeeds, if no other takes
 *	tokens meanwhile; at least 1
 *
 * A user without a bucket gets the fullest bucket of another user, with the tokens in it.
 * A new UID therefore brings no new tokens once all buckets are in use.
 *
 * Return: 0; -EBUSY: the user's bucket holds too few tokens; -EUSERS: the bucket of all users
 * outside the group does, and needs longer. Nothing is taken then.
 */
int rate_limit_take(struct rate_limit *limit, uid_t uid, bool member, u32 tokens, u64 now_ns,
		    u32 *ret_retry_s);

/**
 * rate_limit_charge() - take tokens for what a call turned out to cost
 *
 * Parameters are those of rate_limit_take(). The bucket may lack more than it can hold
 * afterwards; the user's next calls wait for that.
 */
void rate_limit_charge(struct rate_limit *limit, uid_t uid, bool member, u32 tokens, u64 now_ns);

#endif
