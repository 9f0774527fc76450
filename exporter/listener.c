// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

/* maximum number of connections that wait to be accepted */
#define BACKLOG 64

union listener_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static bool is_v6_loopback(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

/* Return whether all users may write to the socket, which is the permission to connect to it. */
static bool others_may_write(const struct sockaddr_un *a, socklen_t size)
{
	struct stat st;

	if (size <= offsetof(struct sockaddr_un, sun_path) || !*a->sun_path)
		return true;
	return stat(a->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) || (st.st_mode & S_IWOTH);
}

enum socket_reach listener_get_reach(int fd)
{
	union listener_address a = { 0 };
	socklen_t size = sizeof(a.local) - 1;
	bool local = false;

	if (getsockname(fd, &a.any, &size) < 0)
		return LISTENER_NETWORK;
	switch (a.any.sa_family) {
	case AF_UNIX:
		return others_may_write(&a.local, size) ? LISTENER_MACHINE : LISTENER_PERMITTED;
	case AF_INET:
		local = ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
		break;
	case AF_INET6:
		local = is_v6_loopback(&a.v6.sin6_addr);
		break;
	}
	return local ? LISTENER_MACHINE : LISTENER_NETWORK;
}

void listener_get_name(int fd, char *ret_name, size_t size)
{
	union listener_address a = { 0 };
	socklen_t length = sizeof(a.local) - 1;
	char text[INET6_ADDRSTRLEN] = "";

	snprintf(ret_name, size, "a socket");
	if (getsockname(fd, &a.any, &length) < 0)
		return;
	switch (a.any.sa_family) {
	case AF_UNIX:
		if (*a.local.sun_path)
			snprintf(ret_name, size, "%s", a.local.sun_path);
		else
			snprintf(ret_name, size, "@%s", a.local.sun_path + 1);
		break;
	case AF_INET:
		inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text));
		snprintf(ret_name, size, "%s:%u", text, ntohs(a.v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text));
		snprintf(ret_name, size, "[%s]:%u", text, ntohs(a.v6.sin6_port));
		break;
	}
}

static int parse_port(const char *text, in_port_t *ret_port)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || n > 65535)
		return -EINVAL;
	*ret_port = htons((in_port_t)n);
	return 0;
}

/* Parse "ADDRESS:PORT". Return: the size of the address; -EINVAL if the text is not valid. */
static int parse_address(const char *text, union listener_address *ret)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	in_port_t port;
	size_t n;

	*ret = (union listener_address){ 0 };
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
			       (int)sizeof(ret->v6) :
			       -EINVAL;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = port;
	return inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1 ? (int)sizeof(ret->v4) : -EINVAL;
}

bool listener_is_loopback_host(const char *host)
{
	char text[INET6_ADDRSTRLEN + sizeof("[]:65535")];
	size_t n = strlen(host);
	union listener_address a;
	in_port_t port;

	if (!strcasecmp(host, "localhost"))
		return true;
	if (!strncasecmp(host, "localhost:", 10))
		return parse_port(host + 10, &port) == 0;
	if (n >= sizeof(text) - sizeof(":0"))
		return false;
	/*
	 * Append a port, which parse_address() requires, to an address in brackets or without a
	 * colon.
	 */
	snprintf(text, sizeof(text), "%s%s", host,
		 n && (host[n - 1] == ']' || !strchr(host, ':')) ? ":0" : "");
	if (parse_address(text, &a) < 0)
		return false;
	if (a.any.sa_family == AF_INET6)
		return is_v6_loopback(&a.v6.sin6_addr);
	return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
}

/* Remove the socket of a process that has exited: a connection to such a socket is refused. */
static void remove_stale_socket(const struct sockaddr_un *a)
{
	struct stat st;
	int fd;

	if (lstat(a->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 && errno == ECONNREFUSED)
		unlink(a->sun_path);
	close(fd);
}

/*
 * Bind with mode 0600, and change the mode to 0660 only after the group is set, so that members of
 * another group can never connect.
 */
static int bind_unix_socket(int fd, const struct sockaddr_un *a)
{
	mode_t mask = umask(0177);
	const struct group *group;
	int r = 0;

	remove_stale_socket(a);
	if (bind(fd, (const struct sockaddr *)a, sizeof(*a)) < 0)
		r = -errno;
	umask(mask);
	if (r < 0)
		return r;
	group = getgrnam(LISTENER_GROUP);
	if (group && chown(a->sun_path, (uid_t)-1, group->gr_gid) == 0)
		return chmod(a->sun_path, 0660) < 0 ? -errno : 0;
	exporter_log(SD_NOTICE,
		     "%s: its group cannot be set to " LISTENER_GROUP
		     ": only this user may connect",
		     a->sun_path);
	return 0;
}

/*
 * Parse an absolute path, or "ADDRESS:PORT". Return: the size of the address; -EINVAL if the text
 * is not valid.
 */
static int parse_listen_address(const char *text, union listener_address *ret)
{
	if (*text != '/')
		return parse_address(text, ret);
	*ret = (union listener_address){ .local = { .sun_family = AF_UNIX } };
	if (strlen(text) >= sizeof(ret->local.sun_path))
		return -EINVAL;
	strcpy(ret->local.sun_path, text);
	return (int)sizeof(ret->local);
}

int listener_open(const char *text)
{
	const int one = 1;
	union listener_address a;
	int fd, size, r = 0;

	size = parse_listen_address(text, &a);
	if (size < 0)
		return size;
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (a.any.sa_family == AF_UNIX) {
		r = bind_unix_socket(fd, &a.local);
	} else {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		r = bind(fd, &a.any, (socklen_t)size) < 0 ? -errno : 0;
	}
	if (r >= 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}
