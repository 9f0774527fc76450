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

struct taken_windows {
	u32 first;
	u32 count;
	u64 bytes;
	u64 lost;
};

static u8 bytes[FLIGHT_MIN];

static u32 compute_window_length(u32 number)
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
	struct taken_windows *taken = ctx;
	u32 number = (u32)window->written;

	if (!taken->count)
		taken->first = number;
	assert_int_equal(number, taken->first + taken->count);
	assert_int_equal(window->len, compute_window_length(number));
	for (size_t i = 0; i < window->len; i += 97)
		assert_int_equal(window->data[i], (u8)number);
	taken->count++;
	taken->bytes += window->len;
	taken->lost += window->lost_bytes;
}

static void test_newest_windows_are_kept(void **state)
{
	struct flight_recorder *flight = NULL;
	u64 all = 0;

	(void)state;
	assert_int_equal(flight_recorder_new(FLIGHT_MIN - 1, &flight), -ERANGE);
	assert_int_equal(flight_recorder_new(FLIGHT_MAX + 1, &flight), -ERANGE);
	assert_int_equal(flight_recorder_new(FLIGHT_MIN, &flight), 0);
	assert_int_equal(flight_recorder_get_start_ns(flight), 0);
	for (u32 i = 0; i < WINDOWS; i++) {
		const struct source_window window = { .data = bytes,
						      .len = compute_window_length(i),
						      .written = i,
						      .start_ns = 1000 + i };
		struct taken_windows taken = { 0 };
		const struct source_sink sink = { .window = take_window, .ctx = &taken };

		memset(bytes, (int)(u8)i, window.len);
		flight_recorder_add_window(flight, &window);
		all += window.len;
		flight_recorder_replay(flight, &sink);
		assert_true(taken.count > 0);
		assert_int_equal(taken.first + taken.count, i + 1);
		assert_int_equal(flight_recorder_get_start_ns(flight), 1000 + taken.first);
		assert_int_equal(taken.bytes + taken.lost, all);
		/*
		 * The buffer must not be nearly empty: a window is overwritten only if its space is
		 * needed.
		 */
		if (taken.first && compute_window_length(i) < 5000 &&
		    compute_window_length(taken.first - 1) < 5000)
			assert_true(taken.bytes > FLIGHT_MIN / 8);
	}
	flight_recorder_clear(flight);
	assert_int_equal(flight_recorder_get_start_ns(flight), 0);
	flight_recorder_free(flight);
}

static void test_window_larger_than_buffer(void **state)
{
	static u8 large[FLIGHT_MIN];
	struct source_window window = { .data = large, .len = sizeof(large) };
	struct taken_windows taken = { 0 };
	const struct source_sink sink = { .window = take_window, .ctx = &taken };
	struct flight_recorder *flight = NULL;

	(void)state;
	assert_int_equal(flight_recorder_new(FLIGHT_MIN, &flight), 0);
	flight_recorder_add_window(flight, &window);
	flight_recorder_replay(flight, &sink);
	assert_int_equal(taken.count, 0);
	window.len = 0;
	flight_recorder_add_window(flight, &window);
	flight_recorder_replay(flight, &sink);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.lost, FLIGHT_MIN);
	flight_recorder_free(flight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_windows_are_kept),
		cmocka_unit_test(test_window_larger_than_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
