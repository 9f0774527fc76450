/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listening sockets: made from a configured address, and which programs can connect to them. */
#ifndef SPEPROF_LISTEN_H
#define SPEPROF_LISTEN_H

#include "codec/env.h"

/* The group that a Unix socket is given, the one that may query the daemon. */
#define LISTENER_GROUP "speprof"

/* Room for listener_name(): a Unix socket's path and a terminating zero. */
#define LISTENER_NAME 109

/**
 * enum listener_reach - which programs can connect to a socket, from the fewest to the most
 * @LISTENER_PERMITTED: those that the owner, the group and the mode of a Unix socket permit
 * @LISTENER_MACHINE: all of this machine: loopback, or a Unix socket that all users may write to
 * @LISTENER_NETWORK: those of other machines, too
 */
enum listener_reach {
	LISTENER_PERMITTED,
	LISTENER_MACHINE,
	LISTENER_NETWORK,
};

/**
 * listener_open() - open a listening socket
 * @text: an absolute path for a Unix socket, or "ADDRESS:PORT", "[ADDRESS]:PORT" for IPv6; host
 *	names are not resolved
 *
 * A Unix socket gets the mode 0660 and the group LISTENER_GROUP, or 0600 and a line in the journal
 * where this process may not give it that group. It replaces a socket that no process listens on,
 * and no other file. The umask is changed meanwhile, so no other thread may create files.
 *
 * Return: the descriptor; -EINVAL for another text; -EADDRINUSE; another negative errno.
 */
int listener_open(const char *text);

/**
 * listener_reach() - which programs can connect to the socket @fd
 *
 * A Unix socket without a path has no mode, and an unreadable path might have any:
 * both count as LISTENER_MACHINE. Sockets of other families count as LISTENER_NETWORK.
 */
enum listener_reach listener_reach(int fd);

/**
 * listener_name() - the address of the socket @fd as text, for messages
 * @size: LISTENER_NAME is enough
 */
void listener_name(int fd, char *ret_name, size_t size);

/**
 * listener_host_is_local() - whether a Host header names the loopback
 * @host: "localhost" or an address of the loopback, with or without a port
 *
 * A web page that has its own name resolve to the loopback (DNS rebinding) sends that name.
 */
bool listener_host_is_local(const char *host);

#endif
