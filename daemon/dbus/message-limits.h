/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits for the arguments of a call, because the bus itself permits messages of 32 MiB */
#ifndef SPEPROF_MESSAGE_LIMITS_H
#define SPEPROF_MESSAGE_LIMITS_H

#include <systemd/sd-bus.h>

/* maximum size of the arguments of one call, in bytes; the longest rule of a session needs less */
#define BUS_MESSAGE_MAX (256UL << 10)

/**
 * bus_check_message_size() - check the size of a call's arguments and path
 * @m: a method call; rewound to its beginning
 * @max: maximum number of bytes; a string counts with its length, every value and container with 8
 *
 * Reading stops as soon as @max is exceeded.
 *
 * Return: 0; -E2BIG if they exceed @max; another negative errno if they cannot be read.
 */
int bus_check_message_size(sd_bus_message *m, size_t max);

/**
 * bus_read_strings() - read the next argument, an array of strings
 * @m: a message; its next argument is the array
 * @max: maximum number of strings
 * @ret_list: NULL-terminated copy; freed by bus_strings_free()
 *
 * sd_bus_message_read_strv() is not used, because it has no limit and takes quadratic time.
 *
 * Return: 0; -E2BIG if there are more than @max strings; -ENOMEM; another negative errno of sd-bus
 * if the argument cannot be read.
 */
int bus_read_strings(sd_bus_message *m, size_t max, char ***ret_list);

/** bus_strings_free() - free a list that bus_read_strings() returned; @list may be NULL */
void bus_strings_free(char **list);

#endif
