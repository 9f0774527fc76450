// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-core.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "util/escape.h"
#include "util/memory.h"

const char *bus_backend_name(u8 backend)
{
	return backend == BACKEND_EMULATED ? "emulated" :
	       backend == BACKEND_HARDWARE ? "hardware" :
					     "unknown";
}

int bus_set_invalid_argument(sd_bus_error *error, const char *argument, const char *value,
			     const char *right)
{
	char shown[48];

	/*
	 * Escape the text: otherwise truncation within a UTF-8 character would make the reply
	 * invalid.
	 */
	escape_string(shown, sizeof(shown), value);
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s \"%s\": should be %s.",
				 argument, shown, right);
}

int bus_check_limit(u32 limit, sd_bus_error *error)
{
	if (limit && limit <= BUS_ROWS)
		return 0;
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "limit %u: should be 1 to %u.",
				 limit, BUS_ROWS);
}

int bus_path_to_session_name(const char *path, char ret_name[static SESSION_NAME_SIZE])
{
	static const char prefix[] = BUS_SESSIONS "/";
	const char *name = SESSION_MACHINE;

	if (!strncmp(path, prefix, strlen(prefix)))
		name = path + strlen(prefix);
	if (!session_name_valid(name))
		return -ENOENT;
	snprintf(ret_name, SESSION_NAME_SIZE, "%s", name);
	return 0;
}

int bus_set_session_error(sd_bus_error *error, int r, const char *session, const char *reason)
{
	if (reason)
		return sd_bus_error_setf(
			error, r == -EOPNOTSUPP ? SD_BUS_ERROR_NOT_SUPPORTED : SD_BUS_ERROR_FAILED,
			"Session \"%s\": %s.", session, reason);
	switch (r) {
	case -ENOENT:
		return sd_bus_error_setf(error, BUS_NAME ".NoSuchSession",
					 "There is no session \"%s\".", session);
	case -EEXIST:
		return sd_bus_error_setf(error, BUS_NAME ".SessionExists",
					 "The session \"%s\" exists already.", session);
	case -ENOSPC:
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "There are %u sessions, as many as possible: remove one.",
					 WORKER_SESSIONS);
	case -EBUSY:
		return sd_bus_error_set(error, BUS_NAME ".Busy",
					"Another session uses the SPUs: stop it, or create this "
					"one with Source \"shared\".");
	default:
		return sd_bus_error_set_errnof(error, r, "Session \"%s\": %s.", session,
					       strerror(-r));
	}
}

int bus_memfd_new(const char *name, const void *data, size_t left)
{
	const char *at = data;
	ssize_t n;
	int fd, r;

	fd = memory_file_new(name);
	if (fd < 0)
		return fd;
	for (; left; left -= (size_t)n, at += n) {
		n = write(fd, at, left);
		if (n < 0) {
			r = -errno;
			close(fd);
			return r;
		}
	}
	r = memory_file_seal(fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int bus_reply_memfd(sd_bus_message *message, const char *name, const void *data, size_t size)
{
	int r, fd = bus_memfd_new(name, data, size);

	if (fd < 0)
		return fd;
	r = sd_bus_reply_method_return(message, "h", fd);
	close(fd);
	return r;
}

int bus_set_no_such_container(sd_bus_error *error, const char *wanted, bool own)
{
	char shown[260];

	escape_string(shown, sizeof(shown), wanted);
	return sd_bus_error_setf(
		error, BUS_NAME ".NoSuchContainer",
		"There is no container \"%s\" with samples%s. \"speprof container\" lists all.",
		shown, own ? " in a cgroup that is delegated to you" : "");
}
