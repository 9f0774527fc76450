// SPDX-License-Identifier: LGPL-2.1-or-later
/* How much may be done for a user. */
#include "test.h"

#include <string.h>

#include "bus-access.h"

#define SECOND 1000000000ULL

static struct access access_;

static bool affords(uid_t uid, bool owner, bool reads)
{
	struct bus_caller caller = { .name = ":1.1", .uid = uid, .owner = owner, .reads = reads };
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = access_afford(&access_, &caller, &error);

	assert_true(r >= 0 || sd_bus_error_has_name(&error, SD_BUS_ERROR_LIMITS_EXCEEDED));
	sd_bus_error_free(&error);
	return r >= 0;
}

static void charge(uid_t uid, bool owner, bool reads, u64 spent_ns)
{
	struct bus_caller caller = { .uid = uid, .owner = owner, .reads = reads };

	access_charge(&access_, &caller, spent_ns);
}

/* So much that no machine is slow enough for it to run off meanwhile. */
static void test_afford(void **state)
{
	(void)state;
	access_init(&access_);
	assert_true(affords(1, false, true));
	charge(1, false, true, SECOND);
	assert_true(affords(1, false, true));
	charge(1, false, true, 1000 * SECOND);
	assert_false(affords(1, false, true));
	/* Of another connection of the same user, too; another user has what is his. */
	assert_false(affords(1, false, false));
	assert_true(affords(2, false, true));
	assert_true(affords(3, false, false));
	/* So much that it has not run off below half a second soon, and all others may still. */
	charge(3, false, false, 9 * SECOND / 10);
	assert_false(affords(3, false, false));
	assert_true(affords(4, false, false));
	/* Root is not charged. */
	charge(0, true, false, 1000 * SECOND);
	assert_true(affords(0, true, false));
	access_deinit(&access_);
}

/* Whoever has a range of uids has no more than all who are not in the group may have together. */
static void test_many_users(void **state)
{
	u32 count = 0;

	(void)state;
	access_init(&access_);
	for (uid_t uid = 0; uid < 1000; uid++) {
		if (!affords(100000 + uid, false, false))
			continue;
		charge(100000 + uid, false, false, 40 * SECOND);
		count++;
	}
	assert_int_equal(count, 1);
	/* Nobody who reads is kept from it. */
	assert_true(affords(1, false, true));
	access_deinit(&access_);
}

/* A place that another one takes has what was spent there: none is to be had anew by many. */
static void test_taken_places(void **state)
{
	(void)state;
	access_init(&access_);
	for (uid_t uid = 0; uid < ACCESS_USERS; uid++)
		charge(uid + 1, false, true, 1000 * SECOND);
	assert_false(affords(ACCESS_USERS + 1, false, true));
	access_deinit(&access_);
	access_init(&access_);
	charge(1, false, true, 1000 * SECOND);
	for (uid_t uid = 1; uid < 1000; uid++)
		charge(uid + 1, false, true, 0);
	/* Whoever has most is remembered, and others have what is theirs. */
	assert_false(affords(1, false, true));
	assert_true(affords(2000, false, true));
	access_deinit(&access_);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_afford),
		cmocka_unit_test(test_many_users),
		cmocka_unit_test(test_taken_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
