/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Create listening sockets from a configured address, and find out which programs can connect to
 * them.
 */
#ifndef SPEPROF_LISTENER_H
#define SPEPROF_LISTENER_H

#include "codec/env.h"

/* group of a Unix socket; its members may also query the daemon */
#define LISTENER_GROUP "speprof"

/* size of the text of listener_get_name(): a Unix socket's path and a NUL */
#define LISTENER_NAME 109

/**
 * enum socket_reach - which programs can connect to a socket, from the fewest to the most
 * @LISTENER_PERMITTED: those that the owner, the group and the mode of a Unix socket permit
 * @LISTENER_MACHINE: all on this machine: loopback, or a Unix socket that all users may write to
 * @LISTENER_NETWORK: also those on other machines
 */
enum socket_reach {
	LISTENER_PERMITTED,
	LISTENER_MACHINE,
	LISTENER_NETWORK,
};

/**
 * listener_open() - open a listening socket
 * @text: an absolute path for a Unix socket, or "ADDRESS:PORT", "[ADDRESS]:PORT" for IPv6; host
 * names are not resolved
 *
 * A Unix socket gets the mode 0660 and the group LISTENER_GROUP. If this process may not set that
 * group, the socket gets the mode 0600, and a log line reports that. The new socket replaces a
 * socket on which no process listens, but no other file. The umask is changed during the call, so
 * no other thread may create files.
 *
 * Return: the descriptor; -EINVAL if @text has neither form; -EADDRINUSE if a process listens on
 * the address; another negative errno.
 */
int listener_open(const char *text);

/**
 * listener_get_reach() - return which programs can connect to the socket @fd
 *
 * An abstract Unix socket has no mode, and the mode of an unreadable path is unknown: both count as
 * LISTENER_MACHINE. Sockets of other families count as LISTENER_NETWORK.
 */
enum socket_reach listener_get_reach(int fd);

/**
 * listener_get_name() - write the address of the socket @fd as text, for messages
 * @size: bytes of the text; LISTENER_NAME suffices
 */
void listener_get_name(int fd, char *ret_name, size_t size);

/**
 * listener_is_loopback_host() - return whether a Host header names the loopback
 * @host: "localhost" or an address of the loopback, with or without a port
 *
 * With DNS rebinding, the host name of a web page resolves to the loopback, and the page's requests
 * have that name in the Host header.
 */
bool listener_is_loopback_host(const char *host);

#endif
