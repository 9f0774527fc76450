// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's log, as far back as it still goes.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor.h"

/* A record of /dev/kmsg is returned by one read, and is not longer (printk). */
#define LOG_RECORD 8192

int log_has(const struct machine *machine, const char *words)
{
	char path[PATH_MAX], *record;
	int fd, found = 0;

	machine_path(machine, path, "/dev/kmsg");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	record = malloc(LOG_RECORD + 1);
	if (!record) {
		close(fd);
		return -ENOMEM;
	}
	while (!found) {
		ssize_t n = read(fd, record, LOG_RECORD);

		/* Overwritten while we read: go on with what is there now. */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		found = memmem(record, n, words, strlen(words)) != NULL;
	}
	free(record);
	close(fd);
	return found;
}
