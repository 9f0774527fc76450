// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rate-limit.h"

#include <errno.h>

#define NSEC_PER_MSEC 1000000ULL

/* Tokens are counted in thousandths: one token per second is one thousandth per millisecond. */
#define MILLI 1000ULL

/**
 * struct rate - parameters of a bucket
 * @size: tokens of a full bucket
 * @refill: tokens per second
 */
struct rate {
	u64 size;
	u64 refill;
};

static const struct rate member_rate = { 1000, 100 };
static const struct rate user_rate = { 400, 25 };
static const struct rate others_rate = { 800, 50 };

static const struct rate *rate_of(bool member)
{
	return member ? &member_rate : &user_rate;
}

/* Refill a bucket by whole milliseconds; the remaining time counts at the next refill. */
static void bucket_refill(struct rate_bucket *bucket, const struct rate *rate, u64 now_ns)
{
	u64 ms = (now_ns - bucket->updated_ns) / NSEC_PER_MSEC, refill = ms * rate->refill;

	bucket->missing -= refill < bucket->missing ? refill : bucket->missing;
	bucket->updated_ns += ms * NSEC_PER_MSEC;
}

/* Return the seconds, rounded up, until @bucket has @tokens; 0 if it has them now. */
static u64 bucket_wait_s(const struct rate_bucket *bucket, const struct rate *rate, u32 tokens)
{
	u64 wanted = bucket->missing + tokens * MILLI, size = rate->size * MILLI;
	u64 per_second = rate->refill * MILLI;

	return wanted <= size ? 0 : (wanted - size + per_second - 1) / per_second;
}

/* Return the bucket of @uid, refilled up to now. All buckets are refilled, to find the fullest. */
static struct rate_bucket *find_bucket(struct rate_limit *limit, uid_t uid, bool member, u64 now_ns)
{
	struct rate_user *user = NULL, *fullest = limit->users;

	for (u32 i = 0; i < RATE_LIMIT_USERS; i++) {
		struct rate_user *u = &limit->users[i];

		bucket_refill(&u->bucket, rate_of(u->member), now_ns);
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
	struct rate_bucket *bucket = find_bucket(limit, uid, member, now_ns);
	u64 wait = bucket_wait_s(bucket, rate_of(member), tokens), wait_others = 0;

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
