// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the token buckets of the users of the bus, with a simulated clock. */
#include "test.h"

#include <errno.h>

#include "dbus/rate-limit.h"

#define SECOND 1000000000ULL

/* Sizes and refill rates, as in rate-limit.c and Documentation/explanation/security.md */
#define MEMBER_SIZE   1000
#define MEMBER_REFILL 100
#define USER_SIZE     400
#define USER_REFILL   25
#define OTHERS_SIZE   800
#define OTHERS_REFILL 50

static struct rate_limit limit;
static u64 now;
static u32 retry_s;

static int setup(void **state)
{
	(void)state;
	limit = (struct rate_limit){ 0 };
	now = 5000 * SECOND;
	return 0;
}

static int take_tokens(uid_t uid, bool member, u32 tokens)
{
	retry_s = 0;
	return rate_limit_take(&limit, uid, member, tokens, now, &retry_s);
}

/* Take @tokens one by one, which must all succeed. */
static void drain_bucket(uid_t uid, bool member, u32 tokens)
{
	for (u32 i = 0; i < tokens; i++)
		assert_int_equal(take_tokens(uid, member, 1), 0);
}

static void test_bucket_size_and_refill(void **state)
{
	(void)state;
	drain_bucket(1, true, MEMBER_SIZE);
	assert_int_equal(take_tokens(1, true, 1), -EBUSY);
	assert_int_equal(retry_s, 1);
	now += SECOND;
	drain_bucket(1, true, MEMBER_REFILL);
	assert_int_equal(take_tokens(1, true, 1), -EBUSY);
	/* Another user has a separate bucket. */
	drain_bucket(2, false, USER_SIZE);
	assert_int_equal(take_tokens(2, false, 1), -EBUSY);
	now += SECOND;
	drain_bucket(2, false, USER_REFILL);
	assert_int_equal(take_tokens(2, false, 1), -EBUSY);
	/* A bucket never holds more than its size. */
	now += 1000000 * SECOND;
	drain_bucket(2, false, USER_SIZE);
	assert_int_equal(take_tokens(2, false, 1), -EBUSY);
}

/*
 * No fraction of a token is lost or created, neither by many calls within a millisecond nor by
 * calls with long pauses.
 */
static void test_fractions_of_tokens(void **state)
{
	(void)state;
	drain_bucket(1, true, MEMBER_SIZE);
	for (u32 i = 0; i < 9999; i++) {
		now += 1000;
		assert_int_equal(take_tokens(1, true, 1), -EBUSY);
	}
	now += 1000;
	assert_int_equal(take_tokens(1, true, 1), 0);
	assert_int_equal(take_tokens(1, true, 1), -EBUSY);
}

/* A call succeeds after the time that the error contains, and not a second earlier. */
static void test_retry_time_is_exact(void **state)
{
	static const u32 costs[] = { 1, 16, 64, 100 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(costs); i++) {
		test_row("%u tokens", costs[i]);
		setup(NULL);
		drain_bucket(1, false, USER_SIZE);
		assert_row(take_tokens(1, false, costs[i]) == -EBUSY);
		assert_row(retry_s == (costs[i] + USER_REFILL - 1) / USER_REFILL);
		now += (retry_s - 1) * SECOND;
		assert_row(take_tokens(1, false, costs[i]) == -EBUSY);
		assert_row(retry_s == 1);
		now += SECOND;
		assert_row(take_tokens(1, false, costs[i]) == 0);
	}
}

/* A rejected call takes no token. */
static void test_refused_call_takes_no_token(void **state)
{
	(void)state;
	drain_bucket(1, false, USER_SIZE);
	for (u32 i = 0; i < 1000; i++)
		assert_int_equal(take_tokens(1, false, 1), -EBUSY);
	now += SECOND;
	drain_bucket(1, false, USER_REFILL);
}

/* The cost of a large reply delays the next call of the user. */
static void test_large_reply_is_charged(void **state)
{
	(void)state;
	assert_int_equal(take_tokens(1, true, 16), 0);
	rate_limit_charge(&limit, 1, true, MEMBER_SIZE + 4 * MEMBER_REFILL, now);
	assert_int_equal(take_tokens(1, true, 16), -EBUSY);
	assert_int_equal(retry_s, 5);
	now += 4 * SECOND;
	assert_int_equal(take_tokens(1, true, 16), -EBUSY);
	now += SECOND;
	assert_int_equal(take_tokens(1, true, 16), 0);
	rate_limit_charge(&limit, 3, false, 2 * OTHERS_SIZE, now);
	assert_int_equal(take_tokens(4, false, 1), -EUSERS);
}

/* Users outside of the group share one bucket, which limits them together. */
static void test_users_share_bucket(void **state)
{
	u32 taken = 0;

	(void)state;
	for (uid_t uid = 0; uid < 1000; uid++)
		taken += !take_tokens(100000 + uid, false, 1);
	assert_int_equal(taken, OTHERS_SIZE);
	assert_int_equal(take_tokens(7, false, 1), -EUSERS);
	assert_int_equal(retry_s, 1);
	now += SECOND;
	drain_bucket(7, false, OTHERS_REFILL);
	assert_int_equal(take_tokens(8, false, 1), -EUSERS);
	/* Members of the group do not use the shared bucket. */
	assert_int_equal(take_tokens(1, true, 1), 0);
}

/* A new user replaces the user with the fullest bucket, and gets the tokens in it. */
static void test_evict_fullest_bucket(void **state)
{
	(void)state;
	for (uid_t uid = 1; uid <= RATE_LIMIT_USERS; uid++)
		drain_bucket(uid, true, uid == 5 ? MEMBER_SIZE - 1 : MEMBER_SIZE);
	assert_int_equal(take_tokens(1000, true, 2), -EBUSY);
	assert_int_equal(take_tokens(1000, true, 1), 0);
	/*
	 * The emptiest buckets are not replaced: a user with many calls does not get a new bucket.
	 */
	setup(NULL);
	drain_bucket(1, true, MEMBER_SIZE);
	for (uid_t uid = 2; uid < 1000; uid++)
		assert_int_equal(take_tokens(uid, true, 1), 0);
	assert_int_equal(take_tokens(1, true, 1), -EBUSY);
	assert_int_equal(take_tokens(2000, true, MEMBER_SIZE / 10), 0);
}

/* After a user left the group, the limits of other users apply from the next call on. */
static void test_user_leaves_group(void **state)
{
	(void)state;
	drain_bucket(1, true, USER_SIZE + 1);
	assert_int_equal(take_tokens(1, false, 1), -EBUSY);
	assert_int_equal(retry_s, 1);
	assert_int_equal(take_tokens(1, true, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_bucket_size_and_refill, setup),
		cmocka_unit_test_setup(test_fractions_of_tokens, setup),
		cmocka_unit_test_setup(test_retry_time_is_exact, setup),
		cmocka_unit_test_setup(test_refused_call_takes_no_token, setup),
		cmocka_unit_test_setup(test_large_reply_is_charged, setup),
		cmocka_unit_test_setup(test_users_share_bucket, setup),
		cmocka_unit_test_setup(test_evict_fullest_bucket, setup),
		cmocka_unit_test_setup(test_user_leaves_group, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
