// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fd-store.h"

#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "checkpoint-file.h"
#include "util/log.h"

#define SESSION_PREFIX "session-"

void fd_store_format_session_name(const char *name, u32 part, char ret[static FD_STORE_NAME_SIZE])
{
	if (part)
		snprintf(ret, FD_STORE_NAME_SIZE, SESSION_PREFIX "%s-%u", name, part + 1);
	else
		snprintf(ret, FD_STORE_NAME_SIZE, SESSION_PREFIX "%s", name);
}

bool fd_store_name_is_session(const char *stored, const char **ret_name)
{
	if (strncmp(stored, SESSION_PREFIX, strlen(SESSION_PREFIX)) != 0 ||
	    !session_name_valid(stored + strlen(SESSION_PREFIX)))
		return false;
	*ret_name = stored + strlen(SESSION_PREFIX);
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

	for (u32 i = 0; (part = source_get_partition(source, i)); i++) {
		fd_store_format_session_name(name, i, of_part);
		fd_store_put(of_part, part->ops->persist->session(part));
	}
}

void fd_store_remove_session(const char *name)
{
	char whole[FD_STORE_NAME_SIZE];

	fd_store_format_session_name(name, 0, whole);
	fd_store_remove(whole);
}

/* ---- Descriptors of the earlier process ------------------------------------ */

struct stored_session *fd_store_find_session(struct fd_store_contents *stored, const char *name)
{
	for (u32 i = 0; i < stored->own_count; i++)
		if (!strcmp(stored->own[i].name, name))
			return &stored->own[i];
	return NULL;
}

/*
 * Return the descriptor in the entry of the session @name. Add an entry if there is none. Return
 * NULL if all entries are in use.
 */
static int *find_or_add_session_fd(struct fd_store_contents *stored, const char *name)
{
	struct stored_session *own = fd_store_find_session(stored, name);

	if (own)
		return &own->fd;
	own = &stored->own[stored->own_count];
	if (stored->own_count == FD_STORE_SESSIONS)
		return NULL;
	stored->own_count++;
	*own = (struct stored_session){ .fd = -1 };
	snprintf(own->name, sizeof(own->name), "%s", name);
	return &own->fd;
}

/* Return the member of @stored for a descriptor with that name; NULL if the name is unknown. */
static int *find_stored_fd(struct fd_store_contents *stored, const char *name)
{
	char of_part[FD_STORE_NAME_SIZE];
	const char *session;

	if (!strcmp(name, FD_STORE_CHECKPOINT))
		return &stored->checkpoint;
	for (u32 i = 0; i < SOURCE_PARTITIONS_MAX; i++) {
		fd_store_format_session_name(SESSION_MACHINE, i, of_part);
		if (!strcmp(name, of_part))
			return &stored->session[i];
	}
	return fd_store_name_is_session(name, &session) ? find_or_add_session_fd(stored, session) :
							  NULL;
}

void fd_store_read(struct fd_store_contents *ret_stored)
{
	char **names = NULL;
	int n = sd_listen_fds_with_names(1, &names);

	*ret_stored = (struct fd_store_contents){ .checkpoint = -1 };
	memset(ret_stored->session, -1, sizeof(ret_stored->session));
	for (int i = 0; i < n; i++) {
		int *fd = find_stored_fd(ret_stored, names[i]);

		if (fd && *fd < 0) {
			*fd = SD_LISTEN_FDS_START + i;
			continue;
		}
		log_line(LOG_NOTICE,
			 "closed the stored descriptor \"%s\", which this version of speprofd does "
			 "not use",
			 names[i]);
		if (!fd)
			fd_store_remove(names[i]);
		close(SD_LISTEN_FDS_START + i);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (ret_stored->checkpoint < 0)
		checkpoint_file_load(&ret_stored->checkpoint);
}

/*
 * Close a session of the module that will have no reader. Stop the session first: the service
 * manager closes its copy of the descriptor later, and a running session would keep the SPUs until
 * then.
 */
static void module_session_close(const char *name, u32 part, int fd)
{
	char of_part[FD_STORE_NAME_SIZE];

	source_module_stop_session(fd);
	fd_store_format_session_name(name, part, of_part);
	fd_store_remove(of_part);
	close(fd);
}

void fd_store_close_machine(struct fd_store_contents *stored)
{
	for (u32 i = 0; i < SOURCE_PARTITIONS_MAX; i++) {
		if (stored->session[i] < 0)
			continue;
		module_session_close(SESSION_MACHINE, i, stored->session[i]);
		stored->session[i] = -1;
	}
}

void fd_store_close_session(struct stored_session *own)
{
	if (own->fd >= 0)
		module_session_close(own->name, 0, own->fd);
	else
		fd_store_remove_session(own->name);
	own->fd = -1;
	own->used = false;
}

void fd_store_close_unused_sessions(struct fd_store_contents *stored)
{
	for (u32 i = 0; i < stored->own_count; i++)
		if (!stored->own[i].used)
			fd_store_close_session(&stored->own[i]);
}
