// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fd-store-read.h"

#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "checkpoint-file.h"
#include "util/log.h"

struct stored_own *stored_find_own(struct stored *stored, const char *name)
{
	for (u32 i = 0; i < stored->own_count; i++)
		if (!strcmp(stored->own[i].name, name))
			return &stored->own[i];
	return NULL;
}

/* A place for @name, if there is one left. */
static int *place_of_own(struct stored *stored, const char *name)
{
	struct stored_own *own = stored_find_own(stored, name);

	if (own)
		return &own->fd;
	own = &stored->own[stored->own_count];
	if (stored->own_count == STORE_OWN)
		return NULL;
	stored->own_count++;
	*own = (struct stored_own){ .fd = -1 };
	snprintf(own->name, sizeof(own->name), "%s", name);
	return &own->fd;
}

/* Where a descriptor of that name belongs; NULL: nowhere. */
static int *place_of(struct stored *stored, const char *name)
{
	char of_part[STORE_NAME_SIZE];
	const char *session;

	if (!strcmp(name, STORE_CHECKPOINT))
		return &stored->checkpoint;
	for (u32 i = 0; i < SOURCE_PARTS; i++) {
		store_session_name(SESSION_MACHINE, i, of_part);
		if (!strcmp(name, of_part))
			return &stored->session[i];
	}
	return store_is_session(name, &session) ? place_of_own(stored, session) : NULL;
}

void stored_take(struct stored *ret_stored)
{
	char **names = NULL;
	int n = sd_listen_fds_with_names(1, &names);

	*ret_stored = (struct stored){ .checkpoint = -1 };
	memset(ret_stored->session, -1, sizeof(ret_stored->session));
	for (int i = 0; i < n; i++) {
		int *place = place_of(ret_stored, names[i]);

		if (place && *place < 0) {
			*place = SD_LISTEN_FDS_START + i;
			continue;
		}
		log_line(LOG_NOTICE, "the service manager has kept \"%s\", which is of no use here",
			 names[i]);
		if (!place)
			store_drop(names[i]);
		close(SD_LISTEN_FDS_START + i);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (ret_stored->checkpoint < 0)
		checkpoint_file_load(&ret_stored->checkpoint);
}

/*
 * Nobody is to read what it samples. It is stopped first: the service manager lets go of its copy
 * when it comes to that, and until then the module would give the SPUs to nobody else.
 */
static void end(const char *name, u32 part, int fd)
{
	char of_part[STORE_NAME_SIZE];

	source_module_end(fd);
	store_session_name(name, part, of_part);
	store_drop(of_part);
	close(fd);
}

void stored_drop_machine(struct stored *stored)
{
	for (u32 i = 0; i < SOURCE_PARTS; i++) {
		if (stored->session[i] < 0)
			continue;
		end(SESSION_MACHINE, i, stored->session[i]);
		stored->session[i] = -1;
	}
}

void stored_end_own(struct stored_own *own)
{
	if (own->fd >= 0)
		end(own->name, 0, own->fd);
	else
		store_drop_session(own->name);
	own->fd = -1;
	own->used = false;
}

void stored_drop_own(struct stored *stored)
{
	for (u32 i = 0; i < stored->own_count; i++)
		if (!stored->own[i].used)
			stored_end_own(&stored->own[i]);
}
