// SPDX-License-Identifier: LGPL-2.1-or-later
/* Preloaded: name servers that do not answer, for half a minute. */
#include <netdb.h>
#include <unistd.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	(void)node;
	(void)service;
	(void)hints;
	(void)ret;
	sleep(30);
	return EAI_AGAIN;
}
