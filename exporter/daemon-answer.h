/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queries of the page as calls of the daemon's methods, and the replies as JSON. */
#ifndef SPEPROF_DAEMON_ANSWER_H
#define SPEPROF_DAEMON_ANSWER_H

#include <stdio.h>
#include <systemd/sd-bus.h>

#include "page.h"

#define DAEMON_NAME	 "org.speprof1"
#define DAEMON_PATH	 "/org/speprof1"
#define DAEMON_INTERFACE "org.speprof1.Manager"

/* maximum rows of the daemon's counters, which the daemon converts to JSON */
#define DAEMON_ANSWER_ROWS 10000

/*
 * Maximum rows of the history, which the exporter converts to JSON: its memory, about 10 KiB for a
 * row, and the time for which it answers no other request, are limited.
 */
#define DAEMON_ANSWER_PAST_ROWS 2000

/**
 * daemon_answer_new_call() - make the call for a query
 * @bus: a connection
 * @wanted: the query
 * @ret_call: the caller drops the reference
 *
 * Periods of the history end now.
 *
 * Return: 0 or more, or the negative errno of sd-bus.
 */
int daemon_answer_new_call(sd_bus *bus, const struct page_query *wanted, sd_bus_message **ret_call);

/**
 * daemon_answer_is_file() - return whether the reply to a query has a file with JSON; else
 * daemon_answer_write() converts it
 */
bool daemon_answer_is_file(const struct page_query *wanted);

/**
 * daemon_answer_write() - convert a reply to JSON
 * @wanted: the query
 * @reply: a reply that is no error
 * @out: receives the JSON
 *
 * Return: 0; -ENOENT if the history has no rows; -EBADMSG if the reply is not valid; -ENOMEM.
 */
int daemon_answer_write(const struct page_query *wanted, sd_bus_message *reply, FILE *out);

#endif
