/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits on the arguments of a call; the bus itself allows messages of 32 MiB. */
#ifndef SPEPROF_MESSAGE_LIMITS_H
#define SPEPROF_MESSAGE_LIMITS_H

#include <systemd/sd-bus.h>

/* Bytes of arguments of one call: more than the longest rule of a session needs. */
#define BUS_MESSAGE_MAX (256UL << 10)

/**
 * bus_check_message_size() - check the size of a call's arguments and path
 * @m: a method call; rewound to its beginning
 * @max: bytes; a string counts by its length, and every value and container by 8
 *
 * Reading stops where @max is exceeded.
 *
 * Return: 0; -E2BIG: it is larger; another negative errno if it cannot be read.
 */
int bus_check_message_size(sd_bus_message *m, size_t max);

/**
 * bus_read_strings() - read the next argument, an array of strings
 * @m: a message, before the array
 * @max: strings that are allowed
 * @ret_list: NULL-terminated copy; freed by bus_strings_free()
 *
 * sd_bus_message_read_strv() has no limit, and its time grows with the square of their number.
 *
 * Return: 0; -E2BIG: there are more than @max; -ENOMEM; other negative errno of sd-bus.
 */
int bus_read_strings(sd_bus_message *m, size_t max, char ***ret_list);

/** bus_strings_free() - free a list of bus_read_strings(); NULL is allowed */
void bus_strings_free(char **list);

#endif
