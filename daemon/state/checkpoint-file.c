// SPDX-License-Identifier: LGPL-2.1-or-later
#include "checkpoint-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fd-store.h"
#include "util/log.h"

/* Get the path of the file. systemd passes the RuntimeDirectory= of the unit in the environment. */
static int get_file_path(char ret_path[static PATH_MAX])
{
	const char *folder = getenv("RUNTIME_DIRECTORY");

	if (!folder || (size_t)snprintf(ret_path, PATH_MAX, "%s/checkpoint", folder) >= PATH_MAX)
		return -ENOENT;
	return 0;
}

static int file_open(int flags, char ret_path[static PATH_MAX])
{
	int r = get_file_path(ret_path), fd;

	if (r < 0)
		return r;
	fd = open(ret_path, flags | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

void checkpoint_file_save(const struct checkpoint_slots *checkpoint)
{
	char path[PATH_MAX];
	int fd = file_open(O_WRONLY | O_TRUNC, path), r = fd;

	if (fd >= 0) {
		r = checkpoint_slots_export(checkpoint, fd);
		if (r < 0)
			(void)!ftruncate(fd, 0);
		close(fd);
	}
	if (r < 0 && r != -ENOENT)
		log_line(LOG_WARNING,
			 "counters cannot be saved in %s, so they start at zero after the next "
			 "start: %s",
			 path, strerror(-r));
}

int checkpoint_file_load(int *ret_fd)
{
	char path[PATH_MAX];
	int fd = file_open(O_RDONLY, path), r = fd;

	if (fd >= 0) {
		r = checkpoint_slots_import(FD_STORE_CHECKPOINT, fd, ret_fd);
		close(fd);
	}
	if (r < 0 && r != -ENOENT && r != -ENODATA)
		log_write(LOG_WARNING, LOG_ID_REFUSED, NULL,
			  "the counters saved in %s cannot be used, so all counters start at zero: "
			  "%s",
			  path, r == -EPROTO ? "the file is damaged" : strerror(-r));
	return r;
}

void checkpoint_file_remove(void)
{
	char path[PATH_MAX];

	if (get_file_path(path) >= 0)
		unlink(path);
}
