// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rate-limit.h"

#include <errno.h>

#define NSEC_PER_MSEC 1000000ULL

/* Tokens are counted in thousandths: one token per second is one thousandth per millisecond. */
#define MILLI 1000ULL

/**
 * struct bucket_parameters - parameters of a bucket
 * @size: tokens of a full bucket
 * @refill: tokens per second
 */
struct bucket_parameters {
	u64 size;
	u64 refill;
};

static const struct bucket_parameters member_rate = { 1000, 100 };
static const struct bucket_parameters user_rate = { 400, 25 };
static const struct bucket_parameters others_rate = { 800, 50 };

static const struct bucket_parameters *get_bucket_parameters(bool member)
{
	return member ? &member_rate : &user_rate;
}

/* Refill a bucket by whole milliseconds; the remaining time counts at the next refill. */
static void bucket_refill(struct token_bucket *bucket, const struct bucket_parameters *rate,
			  u64 now_ns)
{
	u64 ms = (now_ns - bucket->updated_ns) / NSEC_PER_MSEC, refill = ms * rate->refill;

	bucket->missing -= refill < bucket->missing ? refill : bucket->missing;
	bucket->updated_ns += ms * NSEC_PER_MSEC;
}

/* Return the seconds, rounded up, until @bucket has @tokens; 0 if it has them now. */
static u64 bucket_wait_s(const struct token_bucket *bucket, const struct bucket_parameters *rate,
			 u32 tokens)
{
	u64 wanted = bucket->missing + tokens * MILLI, size = rate->size * MILLI;
	u64 per_second = rate->refill * MILLI;

	return wanted <= size ? 0 : (wanted - size + per_second - 1) / per_second;
}

/* Return the bucket of @uid, refilled up to now. All buckets are refilled, to find the fullest. */
static struct token_bucket *find_bucket(struct rate_limit *limit, uid_t uid, bool member,
					u64 now_ns)
{
	struct rate_user *user = NULL, *fullest = limit->users;

	for (u32 i = 0; i < RATE_LIMIT_USERS; i++) {
		struct rate_user *u = &limit->users[i];

		bucket_refill(&u->bucket, get_bucket_parameters(u->member), now_ns);
		if (u->used && u->uid == uid)
			user = u;
		if (u->bucket.missing < fullest->bucket.missing)
			fullest = u;
	}
	if (!user)
		user = fullest;
	user->uid = uid;
	user->used = true;
	user->member = member;
	return &user->bucket;
}

int rate_limit_take(struct rate_limit *limit, uid_t uid, bool member, u32 tokens, u64 now_ns,
		    u32 *ret_retry_s)
{
	struct token_bucket *bucket = find_bucket(limit, uid, member, now_ns);
	u64 wait = bucket_wait_s(bucket, get_bucket_parameters(member), tokens), wait_others = 0;

	bucket_refill(&limit->others, &others_rate, now_ns);
	if (!member)
		wait_others = bucket_wait_s(&limit->others, &others_rate, tokens);
	if (wait || wait_others) {
		*ret_retry_s = (u32)(wait > wait_others ? wait : wait_others);
		return wait >= wait_others ? -EBUSY : -EUSERS;
	}
	bucket->missing += tokens * MILLI;
	if (!member)
		limit->others.missing += tokens * MILLI;
	return 0;
}

void rate_limit_charge(struct rate_limit *limit, uid_t uid, bool member, u32 tokens, u64 now_ns)
{
	find_bucket(limit, uid, member, now_ns)->missing += tokens * MILLI;
	bucket_refill(&limit->others, &others_rate, now_ns);
	if (!member)
		limit->others.missing += tokens * MILLI;
}
