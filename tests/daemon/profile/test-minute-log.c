// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that the log of a minute has the sums of all its slots, with all containers and programs. */
#include "test.h"

#include "profile/cell-table.h"
#include "profile/history.h"
#include "profile/minute-log.h"

#include <stdlib.h>

#define CONTAINERS 300 /* more than a slot has */
#define PROGRAMS   1000
#define SLOTS	   30
#define HEAVY	   17 /* one of this number of programs has most samples */

static struct recent_history history;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(history_init(&history, CONTAINERS, 1, PROGRAMS), 0);
	assert_int_equal(minute_log_new(CONTAINERS, &history.minute), 0);
	history.begun = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	history_deinit(&history);
	return 0;
}

static u32 get_program_samples(u32 program, u32 slot)
{
	return program % HEAVY ? 1 : 100 + slot;
}

/* Close a slot; the totals count from the start. */
static void close_slot(u32 slot)
{
	struct history_slot *to = history_begin_slot(&history, (slot + 1) * HISTORY_SLOT_NS);
	struct profile_counters machine = { 0 };

	for (u32 i = 0; i < CONTAINERS; i++) {
		const struct profile_counters now = { .samples = (u64)(slot + 1) * (i + 1) };

		machine.samples += now.samples;
		history_add_container(&history, to, i, 7, &now);
	}
	history_set_machine(&history, to, &machine);
	for (u32 i = 0; i < PROGRAMS; i++) {
		struct history_row now = { .owner = cell_owner_make(i + 1, 3), .place = 0x100 };

		for (u32 k = 0; k <= slot; k++)
			now.samples += get_program_samples(i, k);
		now.weight = 10ULL * now.samples;
		history_add_location(&history, to, i, false, &now, NULL);
	}
	history_set_ledger(
		&history, to,
		&(struct history_ledger){ .evicted = slot + 1, .enabled_ns = 2 * (slot + 1) });
	history_end_slot(&history, to);
}

static void assert_minute(u32 first, u32 last)
{
	const struct minute_log *log = history.minute;
	u32 slots = last - first + 1;

	assert_int_equal(log->containers, CONTAINERS);
	for (u32 i = 0; i < CONTAINERS; i++) {
		assert_int_equal(log->container[i].index, i);
		assert_int_equal(log->container[i].counters.samples, slots * (i + 1));
	}
	assert_int_equal(log->machine.samples, slots * CONTAINERS * (CONTAINERS + 1) / 2);
	assert_int_equal(log->ledger.evicted, slots);
	assert_int_equal(log->ledger.enabled_ns, 2 * slots);
	assert_int_equal(log->programs, PROGRAMS);
	for (u32 i = 0; i < PROGRAMS; i++) {
		u32 samples = 0;

		for (u32 k = first; k <= last; k++)
			samples += get_program_samples(i, k);
		assert_int_equal(log->program[i].owner >> 32, i + 1);
		assert_int_equal(log->program[i].samples, samples);
		assert_int_equal(log->program[i].weight, 10 * samples);
	}
}

/* Heavy locations are never replaced by light ones. */
static void assert_heavy_locations(u32 first, u32 last)
{
	u32 heavy = 0;

	for (u32 i = 0; i < MINUTE_LOCATIONS; i++) {
		const struct history_row *row = &history.minute->location[i];
		u32 program, samples = 0;

		if (!row->samples)
			continue;
		program = (u32)(row->owner >> 32) - 1;
		assert_int_equal(minute_log_find_program(history.minute, row), program);
		for (u32 k = first; k <= last; k++)
			samples += get_program_samples(program, k);
		assert_true(row->samples <= samples);
		heavy += row->samples == samples && program % HEAVY == 0;
	}
	assert_int_equal(heavy, (PROGRAMS + HEAVY - 1) / HEAVY);
}

static void test_minute_has_sums_of_slots(void **state)
{
	(void)state;
	for (u32 slot = 0; slot < SLOTS; slot++)
		close_slot(slot);
	assert_minute(0, SLOTS - 1);
	assert_heavy_locations(0, SLOTS - 1);
	minute_log_clear(history.minute);
	for (u32 slot = SLOTS; slot < SLOTS + 5; slot++)
		close_slot(slot);
	assert_minute(SLOTS, SLOTS + 4);
	assert_heavy_locations(SLOTS, SLOTS + 4);
	history_clear(&history);
	assert_int_equal(history.minute->programs, 0);
	assert_int_equal(history.minute->machine.samples, 0);
}

/* Samples of programs that do not fit are counted for another program. */
static void test_too_many_programs(void **state)
{
	const struct minute_log *log = history.minute;
	u32 most = 2 * MINUTE_PROGRAMS;
	u64 samples = 0;

	(void)state;
	for (u32 i = 0; i < most; i++)
		minute_log_add_location(
			history.minute,
			&(struct history_row){ .owner = cell_owner_make(i + 1, 1), .samples = 1 },
			NULL, true);
	assert_int_equal(log->programs, MINUTE_PROGRAMS);
	for (u32 i = 0; i < log->programs; i++)
		samples += log->program[i].samples;
	assert_int_equal(samples, most);
	assert_int_equal(log->program[MINUTE_PROGRAMS - 1].owner >> 32, 0);
	assert_int_equal(minute_log_find_program(
				 log, &(struct history_row){ .owner = cell_owner_make(most, 1) }),
			 MINUTE_PROGRAMS - 1);
}

/* Add a sample of @cycles to a location, and its cell's latencies @cell to the log. */
static void add_latency(struct histogram *cell, u16 cycles, bool fresh)
{
	const struct history_row row = { .owner = cell_owner_make(1, 1), .place = 5, .samples = 1 };

	histogram_add(cell, cycles);
	minute_log_add_location(history.minute, &row, cell, fresh);
}

static void assert_latency(u16 cycles, u32 count)
{
	u32 seen = 0;

	for (u32 i = 0; i < MINUTE_LOCATIONS; i++)
		seen += history.minute->latency[i].count[histogram_get_bucket(cycles)];
	assert_int_equal(seen, count);
}

/* The log has the latencies since a location was first added, also over several minutes. */
static void test_latencies_of_locations(void **state)
{
	struct histogram cell = { 0 };

	(void)state;
	add_latency(&cell, 100, true);
	add_latency(&cell, 100, false);
	add_latency(&cell, 3000, false);
	assert_latency(100, 2);
	assert_latency(3000, 1);
	minute_log_clear(history.minute);
	assert_latency(100, 0);
	add_latency(&cell, 100, false);
	assert_latency(100, 1);
	assert_latency(3000, 0);
	/* The cell was evicted, and counts from 0 again. */
	cell = (struct histogram){ 0 };
	add_latency(&cell, 3000, true);
	assert_latency(3000, 1);
	/* After two minutes without samples, earlier latencies do not count. */
	minute_log_clear(history.minute);
	minute_log_clear(history.minute);
	add_latency(&cell, 3000, false);
	assert_latency(3000, 1);
}

/* The latencies before the first call with a cell that is not new are missing. */
static void test_unknown_first_latencies(void **state)
{
	struct histogram cell = { 0 };

	(void)state;
	histogram_add(&cell, 100);
	add_latency(&cell, 100, false);
	assert_latency(100, 0);
	add_latency(&cell, 100, false);
	assert_latency(100, 1);
}

/* A slot that is only read for a checkpoint does not count twice. */
static void test_read_slot_counts_once(void **state)
{
	(void)state;
	history.marks_frozen = true;
	close_slot(0);
	history.marks_frozen = false;
	assert_int_equal(history.minute->machine.samples, 0);
	assert_int_equal(history.minute->programs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_minute_has_sums_of_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_slot_counts_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_latencies_of_locations, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_first_latencies, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
