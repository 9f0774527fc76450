/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Manage the connections of the HTTP server. If no slot is free for another one, an existing
 * connection is closed: the oldest that has not sent a valid token, else the oldest that is idle.
 */
#ifndef SPEPROF_HTTP_CONNECTIONS_H
#define SPEPROF_HTTP_CONNECTIONS_H

#include <sys/socket.h>

#include "codec/env.h"

/* entries of &http_connections.slots, and the maximum number of connections of one client */
#define HTTP_CONNECTIONS 64
#define HTTP_PER_PEER	 16

/* seconds from connecting, or from the last answer, until a request must be authorized */
#define HTTP_SECONDS 10

/*
 * Seconds in which a client must read the answer to an authorized request. The answer may have
 * megabytes, and the client's machine or network may be slow.
 */
#define HTTP_ANSWER_SECONDS 300

/* bytes that http_peer_set() writes */
#define HTTP_PEER_SIZE 16

/**
 * struct http_connection - a connection, or a free slot
 * @handle: libmicrohttpd's connection; NULL in a free slot
 * @peer: key of the client, from http_peer_set()
 * @number: ascending number, in the order of connecting
 * @deadline_s: time at which the connection is closed, CLOCK_MONOTONIC in seconds; UINT64_MAX once
 * http_connections_take_overdue() has returned the connection
 * @changes: number of changes of the metrics before its last answer was sent
 * @awaits_response: false only while the connection is idle: its last answer was sent, and no new
 * request has arrived
 * @trusted: whether it has sent a request that was authorized
 */
struct http_connection {
	void *handle;
	u8 peer[HTTP_PEER_SIZE];
	u64 number;
	u64 deadline_s;
	u64 changes;
	bool awaits_response;
	bool trusted;
};

/**
 * http_peer_set() - set the key that identifies a client: its IPv4 address, or its IPv6 /64 prefix
 * @ret_peer: the key
 * @address: address of the client; all other families, and NULL, give the same key
 *
 * IPv6 clients are identified by the prefix, because a host may use any address of its /64.
 */
void http_peer_set(u8 ret_peer[HTTP_PEER_SIZE], const struct sockaddr *address);

/** struct http_connections - the slots of all connections; all zero: no connection */
struct http_connections {
	struct http_connection slots[HTTP_CONNECTIONS];
	u64 count;
};

/**
 * http_connections_add() - add a connection
 * @peer: key of the client, HTTP_PEER_SIZE bytes
 * @now_s: CLOCK_MONOTONIC in seconds
 * @ret_closed: handle of a connection that the caller must close; NULL: none
 *
 * If @peer already has HTTP_PER_PEER connections, its oldest untrusted connection is closed, or
 * else its oldest trusted one that does not await a response. If all slots are in use, the same
 * applies to the connections of all peers. If every candidate is trusted and awaits a
 * response, @handle itself is closed.
 */
void http_connections_add(struct http_connections *connections, void *handle, const u8 *peer,
			  u64 now_s, void **ret_closed);

/** http_connections_find() - return the slot of @handle; NULL if it was closed or never added */
struct http_connection *http_connections_find(struct http_connections *connections,
					      const void *handle);

/** http_connections_remove() - remove @handle, if it has a slot */
void http_connections_remove(struct http_connections *connections, const void *handle);

/**
 * http_connection_authorize() - mark a connection as trusted and extend its deadline
 * @connection: the connection of the authorized request
 * @now_s: CLOCK_MONOTONIC in seconds
 *
 * The client has HTTP_ANSWER_SECONDS from now to read its answer.
 */
void http_connection_authorize(struct http_connection *connection, u64 now_s);

/**
 * http_connections_take_overdue() - return a handle past its deadline, each handle only once; NULL:
 * none
 */
void *http_connections_take_overdue(struct http_connections *connections, u64 now_s);

/** http_connections_has_unanswered() - return whether any request is not answered yet */
bool http_connections_has_unanswered(const struct http_connections *connections);

#endif
