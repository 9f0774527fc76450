/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Include cmocka with the headers that it needs, and define names for table rows. */
#ifndef SPEPROF_TEST_H
#define SPEPROF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Set the name of the table row that the following assertions check; failures print it. */
#define test_row(...)                                                                              \
	do {                                                                                       \
		snprintf(test_row_name, sizeof(test_row_name), __VA_ARGS__);                       \
	} while (0)

static char test_row_name[128] __attribute__((unused));

#define assert_row(cond)                                                                           \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", test_row_name, #cond);                                  \
	} while (0)

#endif
