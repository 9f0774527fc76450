/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The HTTP server: /metrics, for whoever may ask. One thread, bounded in connections,
 * bytes and time, whatever clients do.
 */
#ifndef SPEPROF_HTTP_H
#define SPEPROF_HTTP_H

#include <systemd/sd-event.h>

#include "expose.h"

/* Clients at once, those of one address, and the bytes of a request's line and headers. */
#define HTTP_CONNECTIONS 64
#define HTTP_PER_ADDRESS 16
#define HTTP_REQUEST	 16384

/* From connecting, or from the last answer, to the end of the next answer. */
#define HTTP_SECONDS 10

struct http;

/**
 * struct http_config
 * @fd: a listening socket, taken over
 * @certificate, @key: PEM; NULL for no TLS
 * @token: that a client must show; NULL for none
 * @native: offer protobuf
 * @render: fills the series in @format; allocated. Called when a client asks for what
 *	has not been rendered since http_changed(). Returns 0; -E2BIG for too many series; -ENOMEM
 */
struct http_config {
	int fd;
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
 * http_finish() - answer who was let in, for a second at the most, and let nobody in any more
 *
 * Who waits to be let in is the next process's, where it has the same socket.
 */
void http_finish(struct http *http);
struct http *http_free(struct http *http);

/** http_changed() - what was rendered is out of date */
void http_changed(struct http *http);

/** struct http_stats - @refused: without a right, or to something else than /metrics */
struct http_stats {
	u64 answered;
	u64 refused;
};
void http_stats(const struct http *http, struct http_stats *ret_stats);

/** http_is_local() - whether none but this machine reaches the socket @fd */
bool http_is_local(int fd);

/**
 * http_listen() - a socket on "ADDRESS:PORT", "[ADDRESS]:PORT" for IPv6
 *
 * Names are not resolved. Return: the descriptor, or negative errno: -EINVAL for another text.
 */
int http_listen(const char *text);

#endif
