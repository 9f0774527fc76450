/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The HTTP server, which answers /metrics, and the page and its queries, to authorized clients. It
 * runs in the event loop. Its connections, bytes and times have limits that no client can exceed.
 */
#ifndef SPEPROF_HTTP_H
#define SPEPROF_HTTP_H

#include <systemd/sd-event.h>

#include "expose.h"
#include "listener.h"
#include "page.h"

/* maximum bytes of a request's line and headers, and of a token in them */
#define HTTP_REQUEST 16384
#define HTTP_TOKEN   8192

/*
 * Maximum number of requests for rows that wait, or with an answer that a client still reads: each
 * answer is a file in the daemon's memory.
 */
#define HTTP_QUERIES 8

struct http_server;

/** struct http_query - a request for rows that was not answered yet */
struct http_query;

/**
 * struct http_config - a socket to serve
 * @fd: a listening socket, which the server owns
 * @reach: which programs can connect to @fd. Without @token, only clients of a LISTENER_PERMITTED
 * socket get metrics. Without TLS, clients of other sockets must send a Host header that names the
 * loopback
 * @certificate: PEM; NULL: no TLS
 * @key: PEM of the certificate's key; NULL: no TLS
 * @token: token that every client must send to get metrics, for any @reach; NULL: none
 * @page_token: token that every client must send to get rows of the page, for any @reach; NULL:
 * none, and only clients of a LISTENER_PERMITTED socket get the page
 * @native: whether to offer protobuf
 * @render: encodes the series in @format and returns 0, -E2BIG for too many series, or -ENOMEM if
 * memory cannot be allocated; called for the first request of a format after http_drop_answers()
 * @query: starts a query for rows. On success, the owner must call http_query_finish() later, and
 * before http_free(). On failure, it returns a negative errno and sets @ret_why to a static
 * sentence; the request is then answered with status 503
 * @ctx: argument for @render and @query
 */
struct http_config {
	int fd;
	enum socket_reach reach;
	const char *certificate;
	const char *key;
	const char *token;
	const char *page_token;
	bool native;
	int (*render)(void *ctx, enum expose_format format, char **ret_data, size_t *ret_size);
	int (*query)(void *ctx, const struct page_query *wanted, struct http_query *query,
		     const char **ret_why);
	void *ctx;
};

/**
 * http_new() - prepare to serve a socket
 * @config: copied; the texts of &http_config.certificate and &http_config.key are only used during
 * the call
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
 * enum http_query_result - how a query for rows ended
 * @HTTP_QUERY_ROWS: there are rows
 * @HTTP_QUERY_FAILED: the daemon answered with an error
 * @HTTP_QUERY_AWAY: there is no daemon
 * @HTTP_QUERY_LATE: the daemon did not answer in time
 */
enum http_query_result {
	HTTP_QUERY_ROWS,
	HTTP_QUERY_FAILED,
	HTTP_QUERY_AWAY,
	HTTP_QUERY_LATE,
};

/**
 * http_query_finish() - answer a request for rows
 * @query: must not be used after the call
 * @result: how the query ended
 * @fd: a file with @size bytes of JSON, which cannot become shorter; the server owns the
 * descriptor; -1 without rows
 * @why: why there are no rows, in one sentence; copied; NULL with rows
 */
void http_query_finish(struct http_query *query, enum http_query_result result, int fd, size_t size,
		       const char *why);

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
 * @refused: number of requests that were not authorized or not valid
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
