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
	charge(3, false, false, 1000 * SECOND);
	assert_false(affords(3, false, false));
	/* Root is not charged. */
	charge(0, true, false, 1000 * SECOND);
	assert_true(affords(0, true, false));
	access_deinit(&access_);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_afford),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
