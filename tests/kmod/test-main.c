// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the module's init and exit functions on a stand-in kernel. Whichever step fails, the steps
 * before it are undone in reverse order. The character device is registered only after all steps
 * that can fail.
 */
#include "test.h"

#include "kmod/arbiter.h"
#include "kmod/cgroups.h"
#include "kmod/chardev.h"
#include "kmod/cpu.h"
#include "kmod/kernel/stand-in.h"
#include "kmod/session.h"
#include "kmod/spu_hw.h"
#include "kmod/stats.h"

enum init_step {
	STEP_OBSERVE,
	STEP_OWNER,
	STEP_CGROUPS,
	STEP_CPUS,
	STEP_HARDWARE,
	STEP_CHARDEV,
	STEPS
};

/* The initialized subsystems in order. @failing: the step that fails; STEPS if none fails. */
static enum init_step done[STEPS];
static unsigned int done_count;
static enum init_step failing;

static int step_init(enum init_step step)
{
	if (step == failing)
		return -ENOMEM;
	for (unsigned int i = 0; i < done_count; i++)
		assert_int_not_equal(done[i], STEP_CHARDEV);
	done[done_count++] = step;
	return 0;
}

static void step_deinit(enum init_step step)
{
	assert_true(done_count > 0);
	assert_int_equal(done[--done_count], step);
}

void speprof_stats_init(void)
{
	step_init(STEP_OBSERVE);
}

void speprof_stats_deinit(void)
{
	step_deinit(STEP_OBSERVE);
}

void speprof_arbiter_init(void)
{
	step_init(STEP_OWNER);
}

void speprof_arbiter_deinit(void)
{
	step_deinit(STEP_OWNER);
}

void speprof_cgroups_init(speprof_cgroups_prune_fn gone)
{
	assert_ptr_equal(gone, speprof_sessions_prune_cgroups);
	step_init(STEP_CGROUPS);
}

void speprof_cgroups_deinit(void)
{
	step_deinit(STEP_CGROUPS);
}

int speprof_cpus_init(void)
{
	return step_init(STEP_CPUS);
}

void speprof_cpus_deinit(void)
{
	step_deinit(STEP_CPUS);
}

int speprof_spu_hw_init(void)
{
	return step_init(STEP_HARDWARE);
}

void speprof_spu_hw_deinit(void)
{
	step_deinit(STEP_HARDWARE);
}

int speprof_chardev_init(void)
{
	return step_init(STEP_CHARDEV);
}

void speprof_chardev_deinit(void)
{
	step_deinit(STEP_CHARDEV);
}

void speprof_sessions_prune_cgroups(void)
{
}

static void test_init_and_exit(void **state)
{
	(void)state;
	failing = STEPS;
	assert_int_equal(stand_in_module_init(), 0);
	assert_int_equal(done_count, STEPS);
	stand_in_module_exit();
	assert_int_equal(done_count, 0);
}

static void test_failed_init_is_undone(void **state)
{
	(void)state;
	for (failing = STEP_CPUS; failing < STEPS; failing++) {
		assert_int_equal(stand_in_module_init(), -ENOMEM);
		assert_int_equal(done_count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init_and_exit),
		cmocka_unit_test(test_failed_init_is_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
