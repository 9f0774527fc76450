// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sockets: made from a configured address, and whether they leave the machine. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool v6_is_local(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

bool http_is_local(int fd)
{
	union address a = { 0 };
	socklen_t size = sizeof(a);

	if (getsockname(fd, &a.any, &size) < 0)
		return false;
	switch (a.any.sa_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return v6_is_local(&a.v6.sin6_addr);
	}
	return false;
}

static int parse_port(const char *text, in_port_t *ret_port)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || end == text || n > 65535)
		return -EINVAL;
	*ret_port = htons((in_port_t)n);
	return 0;
}

/* Returns the address's size, or -EINVAL. */
static int parse_address(const char *text, union address *ret)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	in_port_t port;
	size_t n;

	*ret = (union address){ 0 };
	if (!colon || (size_t)(colon - text) >= sizeof(host) || parse_port(colon + 1, &port) < 0)
		return -EINVAL;
	n = (size_t)(colon - text);
	memcpy(host, text, n);
	host[n] = 0;
	if (n > 2 && *host == '[' && host[n - 1] == ']') {
		host[n - 1] = 0;
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = port;
		return inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1 ?
			       (int)sizeof(ret->v6) : -EINVAL;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = port;
	return inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1 ? (int)sizeof(ret->v4) : -EINVAL;
}

int http_listen(const char *text)
{
	const int one = 1;
	union address a;
	int fd, size, r;

	size = parse_address(text, &a);
	if (size < 0)
		return size;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &a.any, (socklen_t)size) < 0 || listen(fd, 64) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}
