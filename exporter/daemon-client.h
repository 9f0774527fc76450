/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Query speprofd on the bus for metrics, profiles and rows, or read a file with metrics instead. All
 * calls are asynchronous: neither the daemon nor the exporter waits for the other.
 */
#ifndef SPEPROF_DAEMON_CLIENT_H
#define SPEPROF_DAEMON_CLIENT_H

#include <systemd/sd-event.h>

#include "labels.h"
#include "output/metrics.h"
#include "page.h"

struct daemon_client;

/**
 * enum daemon_client_fault - why a query failed
 * @CLIENT_FAULT_FILE: the file cannot be opened
 * @CLIENT_FAULT_SNAPSHOT: the metrics cannot be parsed
 * @CLIENT_FAULT_REFUSED: the daemon replied with an error
 * @CLIENT_FAULT_TOO_OLD: the daemon is too old to have the method
 * @CLIENT_FAULT_ANSWER: the reply has the wrong type
 * @CLIENT_FAULT_BUS: there is no connection to the bus
 */
enum daemon_client_fault {
	CLIENT_FAULT_FILE = 1,
	CLIENT_FAULT_SNAPSHOT,
	CLIENT_FAULT_REFUSED,
	CLIENT_FAULT_TOO_OLD,
	CLIENT_FAULT_ANSWER,
	CLIENT_FAULT_BUS,
};

/* time after which a query without a reply fails, in microseconds */
#define DAEMON_CLIENT_REPLY_USEC 5000000

/*
 * Time after which a query for rows without a reply fails, in microseconds: reading and sorting
 * 100,000 locations takes longer than reading metrics.
 */
#define DAEMON_CLIENT_ROWS_USEC 20000000

/* maximum number of queries for rows that wait for a reply, and maximum bytes of a reply */
#define DAEMON_CLIENT_QUERIES 4
#define DAEMON_CLIENT_ROWS    (64 << 20)

/*
 * The number of a cause, for log_condition_update(). The text cannot identify a cause, because
 * texts of one cause may differ in names and sizes.
 */
#define DAEMON_CLIENT_CAUSE(fault, error) ((u64)(fault) << 32 | (u32)(error))

/**
 * struct daemon_client_config - what to query, and which functions get the replies
 * @address: address of a private bus; NULL: the system bus
 * @file: path of a file with metrics, which is read instead of querying; NULL: query the bus
 * @interval: seconds between two queries
 * @on_metrics: called for each query with the metrics, which the function then owns, and 0; on
 * failure with NULL, DAEMON_CLIENT_CAUSE() and a sentence
 * @profile_seconds: length of each profile; one profile follows the other; 0: no profiles
 * @labels: their Allow= and Deny= select the containers that a profile names
 * @on_profile: called for each profile with a descriptor, which is closed after the call, and the
 * name of the backend; with -1, a cause and a sentence if a running daemon returned no profile
 * @ctx: argument for both functions
 */
struct daemon_client_config {
	const char *address;
	const char *file;
	u32 interval;
	void (*on_metrics)(void *ctx, struct metrics_snapshot *metrics, u64 cause, const char *why);
	u32 profile_seconds;
	const struct label_config *labels;
	void (*on_profile)(void *ctx, int fd, const char *backend, u64 cause, const char *why);
	void *ctx;
};

/**
 * daemon_client_new() - query immediately, then every interval
 * @config: copied; what it points to must outlive the client
 * @event: the event loop
 * @ret_client: to be freed by daemon_client_free()
 *
 * If there is no connection to the bus, the next interval tries to connect.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; or the negative errno of sd_event.
 */
int daemon_client_new(const struct daemon_client_config *config, sd_event *event,
		      struct daemon_client **ret_client);

/**
 * typedef daemon_rows_function - a function that gets the reply to a query for rows
 * @ctx: argument of daemon_client_query_rows()
 * @fd: a file with JSON that cannot become shorter, which the function then owns; -1 on failure
 * @size: bytes of JSON in @fd, at most DAEMON_CLIENT_ROWS
 * @error: 0; -ESRCH if there is no daemon; -ETIMEDOUT if it did not reply; -EIO if it replied with
 * an error or without rows
 * @why: on failure, a sentence
 */
typedef void (*daemon_rows_function)(void *ctx, int fd, size_t size, int error, const char *why);

/**
 * daemon_client_query_rows() - query rows, a timeline or the sessions
 * @client: NULL: none, such as while the exporter stops
 * @wanted: what to query; copied
 * @on_rows: called once, later or by daemon_client_free(), but only if this function succeeded
 * @ctx: argument for @on_rows
 * @ret_why: on failure, a static sentence
 *
 * Return: 0; -EBUSY if DAEMON_CLIENT_QUERIES queries wait; -ESRCH if there is no bus, or a file is
 * read instead; -ENOMEM if memory cannot be allocated.
 */
int daemon_client_query_rows(struct daemon_client *client, const struct page_query *wanted,
			     daemon_rows_function on_rows, void *ctx, const char **ret_why);

/**
 * daemon_client_free() - cancel the queries and close the connection
 * @client: may be NULL
 *
 * Return: NULL.
 */
struct daemon_client *daemon_client_free(struct daemon_client *client);

#endif
