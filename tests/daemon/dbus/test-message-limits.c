// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that no more of a long array in a bus call is read than is needed. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codec/env.h"
#include "dbus/message-limits.h"

#define MOST 4

static struct {
	sd_bus *bus;
	int other;
} fake;

static int setup(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_true(sd_bus_new(&fake.bus) >= 0);
	assert_true(sd_bus_set_fd(fake.bus, fds[0], fds[0]) >= 0);
	assert_true(sd_bus_start(fake.bus) >= 0);
	fake.other = fds[1];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sd_bus_close_unref(fake.bus);
	close(fake.other);
	return 0;
}

static sd_bus_message *make_message(void)
{
	sd_bus_message *m;

	assert_true(sd_bus_message_new_signal(fake.bus, &m, "/", "a.b", "C") >= 0);
	return m;
}

/*
 * Make a message with an array "as", in which string N is the number N, and then the string "end".
 */
static sd_bus_message *make_string_array_message(u32 count)
{
	sd_bus_message *m = make_message();
	char text[16];

	assert_true(sd_bus_message_open_container(m, 'a', "s") >= 0);
	for (u32 i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%u", i);
		assert_true(sd_bus_message_append(m, "s", text) >= 0);
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_append(m, "s", "end") >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	return m;
}

static void test_string_array_is_read(void **state)
{
	char **list, text[16];
	sd_bus_message *m;
	const char *end;

	(void)state;
	for (u32 count = 0; count <= MOST; count++) {
		test_row("%u strings", count);
		m = make_string_array_message(count);
		assert_row(bus_read_strings(m, MOST, &list) == 0);
		for (u32 i = 0; i < count; i++) {
			snprintf(text, sizeof(text), "%u", i);
			assert_row(!strcmp(list[i], text));
		}
		assert_row(!list[count]);
		bus_strings_free(list);
		/* The argument after the array can be read. */
		assert_row(sd_bus_message_read(m, "s", &end) > 0 && !strcmp(end, "end"));
		sd_bus_message_unref(m);
	}
	bus_strings_free(NULL);
}

/* Reading stops at the first string beyond the limit, even in the largest message. */
static void test_too_many_strings(void **state)
{
	sd_bus_message *m = make_string_array_message(100000);
	char **list = (char **)state;
	const char *next;

	assert_int_equal(bus_read_strings(m, MOST, &list), -E2BIG);
	assert_ptr_equal(list, state);
	assert_true(sd_bus_message_read_basic(m, 's', &next) > 0);
	assert_string_equal(next, "5");
	sd_bus_message_unref(m);
}

static void test_empty_string_array(void **state)
{
	sd_bus_message *m = make_message();
	char **list = (char **)state;

	assert_true(sd_bus_message_append(m, "au", 1, 7) >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_int_equal(bus_read_strings(m, MOST, &list), -ENXIO);
	assert_ptr_equal(list, state);
	sd_bus_message_unref(m);
}

/*
 * The limit counts the bytes of strings and of all other values, at any depth. The check consumes
 * none of them.
 */
static void test_bytes_within_limit(void **state)
{
	static const struct {
		const char *what;
		size_t bytes;
	} rows[] = {
		{ "two strings", 2 * 8 + 5 },
		{ "a list", 8 + 3 * 8 },
		{ "numbers in a structure", 8 + 2 * 8 },
		{ "a dictionary", 8 + 8 + 8 + 3 + 8 + 8 },
	};
	sd_bus_message *m;
	const char *text;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].what);
		m = make_message();
		if (i == 0)
			assert_row(sd_bus_message_append(m, "ss", "abc", "de") >= 0);
		else if (i == 1)
			assert_row(sd_bus_message_append(m, "as", 3, "", "", "") >= 0);
		else if (i == 2)
			assert_row(sd_bus_message_append(m, "(yt)", 1, (u64)2) >= 0);
		else
			assert_row(sd_bus_message_append(m, "a{sv}", 1, "key", "u", 7) >= 0);
		assert_row(sd_bus_message_seal(m, 1, 0) >= 0);
		/* The path argument "/" has one byte. */
		assert_row(bus_check_message_size(m, 1 + rows[i].bytes) == 0);
		assert_row(bus_check_message_size(m, rows[i].bytes) == -E2BIG);
		assert_row(i || (sd_bus_message_read(m, "s", &text) > 0 && !strcmp(text, "abc")));
		sd_bus_message_unref(m);
	}
	m = make_message();
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_int_equal(bus_check_message_size(m, 1), 0);
	assert_int_equal(bus_check_message_size(m, 0), -E2BIG);
	sd_bus_message_unref(m);
	m = make_string_array_message(100000);
	assert_int_equal(bus_check_message_size(m, BUS_MESSAGE_MAX), -E2BIG);
	sd_bus_message_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_string_array_is_read),
		cmocka_unit_test(test_too_many_strings),
		cmocka_unit_test(test_empty_string_array),
		cmocka_unit_test(test_bytes_within_limit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
