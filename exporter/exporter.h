/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Get metrics from the daemon, serve them to scrapers and push them to receivers. */
#ifndef SPEPROF_EXPORTER_H
#define SPEPROF_EXPORTER_H

#include <systemd/sd-event.h>

#include "config.h"
#include "http.h"

/* entries of &exporter.servers: sockets that one exporter serves */
#define EXPORTER_SERVERS 4

struct exporter;

/**
 * exporter_new() - create an exporter, which does nothing yet
 * @config: must outlive the exporter
 * @emulated: whether to export counters of an emulated SPU, too, for tests
 * @event: the event loop
 * @ret_exporter: to be freed by exporter_free()
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int exporter_new(const struct exporter_config *config, bool emulated, sd_event *event,
		 struct exporter **ret_exporter);

/**
 * exporter_free() - answer the accepted requests, end all pushes, and free all memory
 * @exporter: may be NULL
 *
 * Context: blocks for a few seconds if clients or receivers do not answer.
 *
 * Return: NULL.
 */
struct exporter *exporter_free(struct exporter *exporter);

/**
 * exporter_serve_socket() - serve metrics on a socket, once exporter_start_queries() has found out
 * whether the daemon is up
 * @exporter: an exporter that serves fewer than EXPORTER_SERVERS sockets
 * @config: the socket; this function sets &http_config.render, &http_config.query and
 * &http_config.ctx
 * @ret_why: on failure, a static sentence
 *
 * Return: the values of http_new().
 */
int exporter_serve_socket(struct exporter *exporter, const struct http_config *config,
			  const char **ret_why);

/**
 * exporter_start_queries() - start to query the daemon
 * @exporter: the exporter
 * @address: address of a private bus; NULL: the system bus
 * @snapshot: path of a file to read instead of querying; NULL: query the bus
 *
 * After the first reply, or after DAEMON_CLIENT_REPLY_USEC without one, the exporter serves its
 * sockets and permits pushes. Before that, it is unknown whether the daemon is up.
 *
 * Return: the values of daemon_client_new().
 */
int exporter_start_queries(struct exporter *exporter, const char *address, const char *snapshot);

/**
 * exporter_start_pushes() - start the threads that push to the receivers of the configuration
 * @exporter: the exporter
 *
 * No series are pushed before exporter_start_queries() permits it. Errors are logged.
 *
 * Return: the values of receivers_new().
 */
int exporter_start_pushes(struct exporter *exporter);

#endif
