// SPDX-License-Identifier: LGPL-2.1-or-later
#include "http-connections.h"

#include <netinet/in.h>

void http_peer_set(u8 ret_peer[HTTP_PEER_SIZE], const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

	memset(ret_peer, 0, HTTP_PEER_SIZE);
	if (address && address->sa_family == AF_INET6) {
		memcpy(ret_peer, &v6->sin6_addr,
		       IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? HTTP_PEER_SIZE : 8);
	} else if (address && address->sa_family == AF_INET) {
		memset(ret_peer + 10, 0xff, 2);
		memcpy(ret_peer + 12, &v4->sin_addr, 4);
	}
}

static bool peer_matches(const struct http_connection *c, const u8 *peer)
{
	return !peer || !memcmp(c->peer, peer, HTTP_PEER_SIZE);
}

static unsigned int count_peer_connections(const struct http_connections *connections,
					   const u8 *peer)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		n += connections->slots[i].handle && peer_matches(&connections->slots[i], peer);
	return n;
}

/*
 * Find the oldest connection of @peer, or of all peers if @peer is NULL. @trusted: true: search
 * trusted connections that are idle; false: search those that are not trusted.
 */
static struct http_connection *find_oldest(struct http_connections *connections, const u8 *peer,
					   bool trusted)
{
	struct http_connection *found = NULL;

	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++) {
		struct http_connection *c = &connections->slots[i];

		if (!c->handle || !peer_matches(c, peer) || c->trusted != trusted ||
		    (trusted && c->awaits_response))
			continue;
		if (!found || c->number < found->number)
			found = c;
	}
	return found;
}

static struct http_connection *find_oldest_dispensable(struct http_connections *connections,
						       const u8 *peer)
{
	struct http_connection *c = find_oldest(connections, peer, false);

	return c ? c : find_oldest(connections, peer, true);
}

static struct http_connection *find_slot(struct http_connections *connections, const u8 *peer)
{
	if (count_peer_connections(connections, peer) >= HTTP_PER_PEER)
		return find_oldest_dispensable(connections, peer);
	if (count_peer_connections(connections, NULL) == HTTP_CONNECTIONS)
		return find_oldest_dispensable(connections, NULL);
	return http_connections_find(connections, NULL);
}

void http_connections_add(struct http_connections *connections, void *handle, const u8 *peer,
			  u64 now_s, void **ret_closed)
{
	struct http_connection *c = find_slot(connections, peer);

	if (!c) {
		*ret_closed = handle;
		return;
	}
	*ret_closed = c->handle;
	*c = (struct http_connection){
		.handle = handle,
		.number = connections->count++,
		.deadline_s = now_s + HTTP_SECONDS,
		.awaits_response = true,
	};
	memcpy(c->peer, peer, HTTP_PEER_SIZE);
}

struct http_connection *http_connections_find(struct http_connections *connections,
					      const void *handle)
{
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		if (connections->slots[i].handle == handle)
			return &connections->slots[i];
	return NULL;
}

void http_connections_remove(struct http_connections *connections, const void *handle)
{
	struct http_connection *c = http_connections_find(connections, handle);

	if (c)
		*c = (struct http_connection){ 0 };
}

void http_connection_authorize(struct http_connection *connection, u64 now_s)
{
	connection->trusted = true;
	connection->deadline_s = now_s + HTTP_ANSWER_SECONDS;
}

void *http_connections_take_overdue(struct http_connections *connections, u64 now_s)
{
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++) {
		struct http_connection *c = &connections->slots[i];

		if (!c->handle || now_s < c->deadline_s)
			continue;
		/* libmicrohttpd reports the end of the connection later. */
		c->deadline_s = UINT64_MAX;
		return c->handle;
	}
	return NULL;
}

bool http_connections_has_unanswered(const struct http_connections *connections)
{
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		if (connections->slots[i].handle && connections->slots[i].awaits_response)
			return true;
	return false;
}
