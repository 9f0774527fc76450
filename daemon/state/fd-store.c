// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fd-store.h"

#include <stdio.h>
#include <systemd/sd-daemon.h>

#define PREFIX "session-"

void fd_store_session_name(const char *name, u32 part, char ret[static FD_STORE_NAME_SIZE])
{
	if (part)
		snprintf(ret, FD_STORE_NAME_SIZE, PREFIX "%s-%u", name, part + 1);
	else
		snprintf(ret, FD_STORE_NAME_SIZE, PREFIX "%s", name);
}

bool fd_store_is_session(const char *stored, const char **ret_name)
{
	if (strncmp(stored, PREFIX, strlen(PREFIX)) != 0 ||
	    !session_name_valid(stored + strlen(PREFIX)))
		return false;
	*ret_name = stored + strlen(PREFIX);
	return true;
}

void fd_store_put(const char *name, int fd)
{
	char text[FD_STORE_NAME_SIZE + 32];

	snprintf(text, sizeof(text), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
	sd_pid_notify_with_fds(0, 0, text, &fd, 1);
}

void fd_store_remove(const char *name)
{
	sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name);
}

void fd_store_put_session(const char *name, struct source *source)
{
	char of_part[FD_STORE_NAME_SIZE];
	struct source *part;

	for (u32 i = 0; (part = source_partition(source, i)); i++) {
		fd_store_session_name(name, i, of_part);
		fd_store_put(of_part, part->ops->persist->session(part));
	}
}

void fd_store_remove_session(const char *name)
{
	char whole[FD_STORE_NAME_SIZE];

	fd_store_session_name(name, 0, whole);
	fd_store_remove(whole);
}
