/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The HTTP server, which answers /metrics to authorized clients. It runs in the event loop. Its
 * connections, bytes and times have limits that no client can exceed.
 */
#ifndef SPEPROF_HTTP_H
#define SPEPROF_HTTP_H

#include <systemd/sd-event.h>

#include "expose.h"
#include "listener.h"

/* maximum bytes of a request's line and headers, and of a token in them */
#define HTTP_REQUEST 16384
#define HTTP_TOKEN   8192

struct http_server;

/**
 * struct http_config - a socket to serve
 * @fd: a listening socket, which the server owns
 * @reach: which programs can connect to @fd. Without @token, only clients of a LISTENER_PERMITTED
 * socket get metrics. Without TLS, clients of other sockets must send a Host header that names the
 * loopback
 * @certificate: PEM; NULL: no TLS
 * @key: PEM of the certificate's key; NULL: no TLS
 * @token: token that every client must send, for any @reach; NULL: none
 * @native: whether to offer protobuf
 * @render: encodes the series in @format and returns 0, -E2BIG for too many series, or -ENOMEM if
 * memory cannot be allocated; called for the first request of a format after http_drop_answers()
 * @ctx: argument for @render
 */
struct http_config {
	int fd;
	enum socket_reach reach;
	const char *certificate;
	const char *key;
	const char *token;
	bool native;
	int (*render)(void *ctx, enum expose_format format, char **ret_data, size_t *ret_size);
	void *ctx;
};

/**
 * http_new() - prepare to serve a socket
 * @config: copied; the texts of @certificate and @key are only used during the call
 * @event: the event loop
 * @ret_http: to be freed by http_free()
 * @ret_why: on failure, a static sentence
 *
 * Clients can connect, but get no answer before http_start().
 *
 * Return: 0; -EINVAL if the socket or the certificate cannot be used; -ENOMEM if memory cannot be
 * allocated; or the negative errno of sd_event.
 */
int http_new(const struct http_config *config, sd_event *event, struct http_server **ret_http,
	     const char **ret_why);

/**
 * http_start() - begin to accept connections and to answer
 * @http: a server that was not started before
 *
 * Return: 0, or the negative errno of sd_event.
 */
int http_start(struct http_server *http);

/**
 * http_finish() - accept no further connection, and answer those that were accepted
 * @http: the server
 *
 * Connections that wait to be accepted stay in the socket: the next process answers them if systemd
 * passes it the same socket.
 *
 * Context: blocks for a second, or for 20 iterations of the server on a slow machine.
 */
void http_finish(struct http_server *http);

/**
 * http_free() - close all connections and free all memory
 * @http: may be NULL
 *
 * Return: NULL.
 */
struct http_server *http_free(struct http_server *http);

/**
 * http_drop_answers() - drop the rendered answers, because the series have changed
 * @http: the server
 *
 * Clients may still read answers from before the last change. Connections of clients that read even
 * older answers are closed if these answers use too much memory.
 */
void http_drop_answers(struct http_server *http);

/**
 * struct http_server_stats - counters of a server
 * @answered: number of requests that were answered with metrics
 * @refused: number of requests that were not authorized, or not for /metrics
 */
struct http_server_stats {
	u64 answered;
	u64 refused;
};

/**
 * http_get_stats() - read the counters
 * @http: the server
 * @ret_stats: the counters
 */
void http_get_stats(const struct http_server *http, struct http_server_stats *ret_stats);

#endif
