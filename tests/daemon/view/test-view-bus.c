// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "view/view-bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages need a bus object; one that never connects suffices. */
static sd_bus_message *message_new(sd_bus **ret_bus)
{
	sd_bus_message *m;

	assert_return_code(sd_bus_new(ret_bus), 0);
	assert_return_code(sd_bus_set_address(*ret_bus, "unix:path=/nonexistent"), 0);
	/* The start fails to connect, but sets the version of messages. */
	sd_bus_start(*ret_bus);
	if (sd_bus_message_new(*ret_bus, &m, SD_BUS_MESSAGE_METHOD_CALL) < 0)
		return NULL;
	return m;
}

static sd_bus_message *seal_message(sd_bus_message *m)
{
	assert_return_code(sd_bus_message_seal(m, 1, 0), 0);
	assert_return_code(sd_bus_message_rewind(m, 1), 0);
	return m;
}

static void test_view_round_trip(void **state)
{
	struct view_row rows[100] = { 0 };
	struct view view = { .count = 100, .rows = rows }, back;
	sd_bus *bus = NULL;
	sd_bus_message *m = message_new(&bus);

	(void)state;
	if (!m) {
		sd_bus_unref(bus);
		skip();
	}
	memset(&view.header, 0, sizeof(view.header));
	strcpy(view.header.source, "emulated");
	view.header.backend = BACKEND_EMULATED;
	view.header.running = true;
	view.header.records = 1ULL << 40;
	view.header.memory = 22020096;
	view.header.faults = 3;
	view.header.cpus_stopped = 1;
	view.header.ledgers_unknown = true;
	view.header.weight[UNIT_UNKNOWN] = 1;
	view.header.weight[UNIT_MICRO_OPS] = 1ULL << 50;
	view.header.weight[UNIT_INSTRUCTIONS] = 3;
	view.header.unweighed = 4;
	view.header.unattributed_weight = 5;
	view.header.evicted_weight = 6;
	strcpy(view.header.fault, "CPU 3: fault, PMBSR 0x20002, stopped");
	for (unsigned int i = 0; i < 100; i++) {
		rows[i].samples = i;
		rows[i].p99 = 640 + i;
		rows[i].pid = -(s32)i;
		rows[i].remote = 7 * i;
		for (unsigned int k = 0; k < SPE_LEVELS; k++)
			rows[i].level[k] = (i + k) % 3 ? 1000 * k + i : 0;
		snprintf(rows[i].function, sizeof(rows[i].function), "walk%u", i);
	}
	assert_return_code(view_bus_append(m, &view), 0);
	assert_return_code(view_bus_read(seal_message(m), &back), 0);
	assert_memory_equal(&back.header, &view.header, sizeof(back.header));
	assert_int_equal(back.count, 100);
	assert_memory_equal(back.rows, rows, sizeof(rows));
	free(back.rows);
	sd_bus_message_unref(m);
	sd_bus_unref(bus);
}

/*
 * Members that only a newer daemon sends are skipped. A known member with another type is rejected.
 * Weights may be missing, because an older daemon does not send them.
 */
static void test_views_of_other_versions(void **state)
{
	struct view back = { .count = 7 };
	sd_bus *bus = NULL;
	sd_bus_message *m = message_new(&bus);

	(void)state;
	if (!m) {
		sd_bus_unref(bus);
		skip();
	}
	assert_return_code(sd_bus_message_append(m, "a{sv}", 2, "novel", "as", 1, "x", "cpus", "u",
						 16), 0);
	assert_return_code(sd_bus_message_append(m, "aa{sv}", 0), 0);
	assert_return_code(view_bus_read(seal_message(m), &back), 0);
	assert_int_equal(back.header.cpus, 16);
	assert_int_equal(view_get_share_unit(&back.header), UNITS);
	assert_int_equal(back.count, 0);
	free(back.rows);
	sd_bus_message_unref(m);

	assert_return_code(sd_bus_message_new(bus, &m, SD_BUS_MESSAGE_METHOD_CALL), 0);
	assert_return_code(sd_bus_message_append(m, "a{sv}", 1, "cpus", "s", "16"), 0);
	assert_return_code(sd_bus_message_append(m, "aa{sv}", 0), 0);
	assert_int_equal(view_bus_read(seal_message(m), &back), -EBADMSG);
	sd_bus_message_unref(m);
	sd_bus_unref(bus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view_round_trip),
		cmocka_unit_test(test_views_of_other_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
