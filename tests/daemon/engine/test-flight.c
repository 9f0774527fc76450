// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that a flight recorder keeps the last windows of any size, and counts those that it
 * overwrote.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/flight.h"

#define WINDOWS 20000U

struct taken {
	u32 first;
	u32 count;
	u64 bytes;
	u64 lost;
};

static u8 bytes[FLIGHT_MIN];

static u32 length_of(u32 number)
{
	u32 r = number * 2654435761U;

	/*
	 * Return the length of a window: mostly small, sometimes 0, and sometimes nearly the size
	 * of the buffer.
	 */
	return r % 7 == 0 ? 0 : r % 101 == 0 ? FLIGHT_MIN - 1000 : r % 5000;
}

static void take_window(void *ctx, const struct source_window *window)
{
	struct taken *taken = ctx;
	u32 number = (u32)window->written;

	if (!taken->count)
		taken->first = number;
	assert_int_equal(number, taken->first + taken->count);
	assert_int_equal(window->len, length_of(number));
	for (size_t i = 0; i < window->len; i += 97)
		assert_int_equal(window->data[i], (u8)number);
	taken->count++;
	taken->bytes += window->len;
	taken->lost += window->lost_bytes;
}

static void test_last(void **state)
{
	struct flight *flight = NULL;
	u64 all = 0;

	(void)state;
	assert_int_equal(flight_new(FLIGHT_MIN - 1, &flight), -ERANGE);
	assert_int_equal(flight_new(FLIGHT_MAX + 1, &flight), -ERANGE);
	assert_int_equal(flight_new(FLIGHT_MIN, &flight), 0);
	assert_int_equal(flight_first_ns(flight), 0);
	for (u32 i = 0; i < WINDOWS; i++) {
		const struct source_window window = {
			.data = bytes, .len = length_of(i), .written = i, .start_ns = 1000 + i
		};
		struct taken taken = { 0 };
		const struct source_sink sink = { .window = take_window, .ctx = &taken };

		memset(bytes, (int)(u8)i, window.len);
		flight_add(flight, &window);
		all += window.len;
		flight_replay(flight, &sink);
		assert_true(taken.count > 0);
		assert_int_equal(taken.first + taken.count, i + 1);
		assert_int_equal(flight_first_ns(flight), 1000 + taken.first);
		assert_int_equal(taken.bytes + taken.lost, all);
		/*
		 * The buffer must not be nearly empty: a window is overwritten only if its space is
		 * needed.
		 */
		if (taken.first && length_of(i) < 5000 && length_of(taken.first - 1) < 5000)
			assert_true(taken.bytes > FLIGHT_MIN / 8);
	}
	flight_clear(flight);
	assert_int_equal(flight_first_ns(flight), 0);
	flight_free(flight);
}

static void test_too_large(void **state)
{
	static u8 large[FLIGHT_MIN];
	struct source_window window = { .data = large, .len = sizeof(large) };
	struct taken taken = { 0 };
	const struct source_sink sink = { .window = take_window, .ctx = &taken };
	struct flight *flight = NULL;

	(void)state;
	assert_int_equal(flight_new(FLIGHT_MIN, &flight), 0);
	flight_add(flight, &window);
	flight_replay(flight, &sink);
	assert_int_equal(taken.count, 0);
	window.len = 0;
	flight_add(flight, &window);
	flight_replay(flight, &sink);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.lost, FLIGHT_MIN);
	flight_free(flight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
