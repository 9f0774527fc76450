// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup-paths.h"

#include <errno.h>
#include <string.h>

#include "attribution/container.h"
#include "engine/session.h"
#include "message-limits.h"
#include "util/cgroup-mount.h"
#include "util/escape.h"

/*
 * Return true if @path is normalized like the paths that the kernel writes; other paths match no
 * cgroup.
 */
static bool is_normalized_path(const char *path)
{
	for (const char *at = path + 1;; at = strchr(at, '/') + 1) {
		size_t n = strcspn(at, "/");

		if (!n || (n == 1 && *at == '.') || (n == 2 && !memcmp(at, "..", 2)))
			return false;
		if (!at[n])
			return true;
	}
}

/* Return true if @path, of @len bytes, is the path of a slice, which contains units. */
static bool is_slice(const char *path, size_t len)
{
	static const char end[] = ".slice";
	size_t n = sizeof(end) - 1;

	return len > n && !memcmp(path + len - n, end, n);
}

/* Return the part of @path after the mount point; NULL if it is not below the mount point. */
static const char *strip_mount_point(const char *path)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		size_t len = strlen(mounts[i]);

		if (!strncmp(path, mounts[i], len) && (!path[len] || path[len] == '/'))
			return path[len] ? path + len : "/";
	}
	return NULL;
}

static int check_cgroup_path(const char *path, sd_bus_error *error)
{
	size_t len = strlen(path);
	char shown[128], own[128];
	struct container_match m;

	/* session_rule_new() refuses relative paths. */
	if (*path != '/' || len == 1)
		return 0;
	escape_string(shown, sizeof(shown), path);
	if (!is_normalized_path(path))
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "cgroup \"%s\": should be a path as in /proc/PID/cgroup, "
					 "without \"//\", \".\", \"..\" and a final \"/\"",
					 shown);
	if (strip_mount_point(path)) {
		escape_string(own, sizeof(own), strip_mount_point(path));
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "cgroup \"%s\": should be a path as in /proc/PID/cgroup, "
					 "without the mount point: \"%s\"",
					 shown, own);
	}
	if (!container_identify(path, len, &m) || m.length >= len || is_slice(path, len))
		return 0;
	escape_text(own, sizeof(own), path, m.length);
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
				 "cgroup \"%s\" lies inside \"%s\", which is counted as a whole; use "
				 "that path instead",
				 shown, own);
}

int bus_check_cgroups(char *const *cgroups, sd_bus_error *ret_error)
{
	int r = 0;

	for (size_t i = 0; cgroups[i] && r >= 0; i++)
		r = check_cgroup_path(cgroups[i], ret_error);
	return r;
}

/*
 * Refuse the path of a missing cgroup. A session with a misspelt path would have no samples, and
 * would look like the session of an idle cgroup.
 */
static int check_cgroups_exist(char *const *cgroups, sd_bus_error *error)
{
	char shown[128];

	for (; *cgroups; cgroups++) {
		if (**cgroups != '/' || !cgroup_is_removed(*cgroups))
			continue;
		escape_string(shown, sizeof(shown), *cgroups);
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "cgroup \"%s\" does not exist. The filter 'cgroup == "
					 "\"%s\"' selects a cgroup before it is created, too",
					 shown, shown);
	}
	return 0;
}

int bus_read_cgroups(sd_bus_message *m, char ***ret_cgroups, sd_bus_error *ret_error)
{
	char **cgroups;
	int r = bus_read_strings(m, SESSION_CGROUPS, &cgroups);

	if (r == -E2BIG)
		return sd_bus_error_setf(ret_error, SD_BUS_ERROR_INVALID_ARGS,
					 "too many cgroups: at most %u", SESSION_CGROUPS);
	if (r < 0)
		return r;
	r = bus_check_cgroups(cgroups, ret_error);
	if (r >= 0)
		r = check_cgroups_exist(cgroups, ret_error);
	if (r < 0)
		bus_strings_free(cgroups);
	else
		*ret_cgroups = cgroups;
	return r;
}
