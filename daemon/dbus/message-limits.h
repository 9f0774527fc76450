/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What calls bring, read for no more than is wanted of it: a message has room for millions of strings. */
#ifndef SPEPROF_MESSAGE_LIMITS_H
#define SPEPROF_MESSAGE_LIMITS_H

#include <systemd/sd-bus.h>

/* Of what a call brings: more than the longest rule of a session, and little beside MemoryBudget=. */
#define BUS_MESSAGE_MAX (256UL << 10)

/**
 * bus_check_message_size() - whether @m brings @most bytes at most, as strings and values of eight
 *
 * The bus lets calls have 32 MiB. One beyond @most is read no further; all are at their beginning after it.
 *
 * Return: 0; -E2BIG; another negative errno for what does not read.
 */
int bus_check_message_size(sd_bus_message *m, size_t most);

/**
 * bus_read_strings() - the array of strings at hand
 *
 * Not sd_bus_message_read_strv(): it takes as many as there are, and for each it counts those before.
 *
 * @ret_list: NULL-terminated; each string and the list are the caller's
 *
 * Return: 0; -E2BIG: there are more than @most, and the rest was not looked at; other negative errno.
 */
int bus_read_strings(sd_bus_message *m, size_t most, char ***ret_list);

void bus_strings_free(char **list);

#endif
