/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The HTTP server: /metrics, for clients that may read it. One thread, bounded in connections,
 * bytes and time, whatever clients do.
 */
#ifndef SPEPROF_HTTP_H
#define SPEPROF_HTTP_H

#include <systemd/sd-event.h>

#include "expose.h"
#include "listen.h"

/* Bytes of a request's line and headers, and of a token in there. */
#define HTTP_REQUEST 16384
#define HTTP_TOKEN   8192

struct http;

/**
 * struct http_config
 * @fd: a listening socket, taken over
 * @reach: of @fd; without @token only clients of a LISTENER_PERMITTED socket get an answer, and
 *	without TLS those of others must send a Host header that names the loopback
 * @certificate, @key: PEM; NULL for no TLS
 * @token: that a client must show, on a socket of any reach; NULL for none
 * @native: offer protobuf
 * @render: fills the series in @format; allocated. Called when a client asks for what
 *	has not been rendered since http_changed(). Returns 0; -E2BIG for too many series; -ENOMEM
 */
struct http_config {
	int fd;
	enum listener_reach reach;
	const char *certificate;
	const char *key;
	const char *token;
	bool native;
	int (*render)(void *ctx, enum expose_format format, char **ret_data, size_t *ret_size);
	void *ctx;
};

/**
 * http_new() - serve @config->fd
 * @ret_why: on failure, a static sentence
 */
int http_new(const struct http_config *config, sd_event *event, struct http **ret_http,
	     const char **ret_why);

/**
 * http_finish() - accept no further connection, and answer those that were accepted
 *
 * It takes a second at the most, or 20 turns on a slow machine. Connections that wait to be accepted are the next process's, where
 * that has the same socket.
 */
void http_finish(struct http *http);
struct http *http_free(struct http *http);

/**
 * http_changed() - drop what was rendered, as it is out of date
 *
 * Clients that still read answers from before the change before this one are closed once these take
 * too much memory.
 */
void http_changed(struct http *http);

/** struct http_stats - @refused: requests that were not authorized, or not for /metrics */
struct http_stats {
	u64 answered;
	u64 refused;
};
void http_stats(const struct http *http, struct http_stats *ret_stats);

#endif
