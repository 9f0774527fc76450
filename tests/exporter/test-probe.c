// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test which drivers have an SPU, in a simulated sysfs. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "probe.h"

/*
 * Files of a driver do not prove that there is an SPU. The PMU of the SPU proves it, and so does a
 * link to a device.
 */
static void test_driver_has_spu(void **state)
{
	static const struct {
		const char *path;
		bool here;
	} all[] = {
		{ "bus/event_source/devices/cpu", false },
		{ "bus/platform/drivers/speprof/module", false },
		{ "bus/platform/drivers/arm-smmu-v3/x.smmu/subsystem", false },
		{ "bus/event_source/devices/arm_spe_0", true },
		{ "bus/platform/drivers/speprof/spe-pmu/subsystem", true },
	};
	char sys[] = "/tmp/speprof-sys-XXXXXX", command[256];

	(void)state;
	assert_non_null(mkdtemp(sys));
	assert_false(probe_has_spe(sys));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(command, sizeof(command), "mkdir -p %s/%s", sys, all[i].path);
		assert_int_equal(system(command), 0);
		assert_int_equal(probe_has_spe(sys), all[i].here);
		snprintf(command, sizeof(command), "rm -r %s/bus", sys);
		if (all[i].here)
			assert_int_equal(system(command), 0);
	}
	rmdir(sys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_driver_has_spu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
