// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup-namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cgroup-mount.h"

/* The machine's own namespace: PROC_CGROUP_INIT_INO of the kernel. */
#define NAMESPACE_FIRST "cgroup:[4026531835]"

/* Limit of the search, which runs once at the start; a Kubernetes node has some hundred cgroups. */
#define CGROUPS_MAX 20000

static bool has_process(int dir, pid_t pid)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	bool found = false;
	long number;

	while (file && !found && fscanf(file, "%ld", &number) == 1)
		found = number == pid;
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* Search @path, of @len bytes, and below for @pid; on success @path is its cgroup. */
static int process_find(int dir, pid_t pid, unsigned int *left, char *path, size_t len, size_t size)
{
	struct dirent *entry;
	int r = -ENOENT;
	DIR *list;

	if (has_process(dir, pid)) {
		close(dir);
		return 0;
	}
	list = fdopendir(dir);
	if (!list) {
		close(dir);
		return -ENOENT;
	}
	while (r == -ENOENT && (entry = readdir(list))) {
		size_t name = strlen(entry->d_name);
		int below;

		if (entry->d_type != DT_DIR || *entry->d_name == '.' || name + 2 > size - len)
			continue;
		if (!(*left)--) {
			*left = 0;
			r = -E2BIG;
			break;
		}
		below = openat(dirfd(list), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		path[len] = '/';
		memcpy(path + len + 1, entry->d_name, name + 1);
		r = process_find(below, pid, left, path, len + 1 + name, size);
	}
	if (r < 0)
		path[len] = '\0';
	closedir(list);
	return r;
}

int cgroup_namespace_find(const char *mount, pid_t pid, const char *self, char *ret_root,
			  size_t size)
{
	int dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	size_t len, tail = strcmp(self, "/") == 0 ? 0 : strlen(self);
	unsigned int left = CGROUPS_MAX;
	char path[PATH_MAX] = "";

	if (dir < 0)
		return -ENOENT;
	/*
	 * Only the root cgroup lacks this file. A mount of a subtree does not show the whole
	 * path.
	 */
	if (!faccessat(dir, "cgroup.events", F_OK, 0)) {
		close(dir);
		return -ENOENT;
	}
	r = process_find(dir, pid, &left, path, 0, sizeof(path));
	if (r < 0)
		return r;
	len = strlen(path);
	/*
	 * The found path must end with the path in the namespace; else the process is outside of
	 * it.
	 */
	if (len < tail || memcmp(path + len - tail, self, tail) != 0 || len - tail >= size)
		return -ENOENT;
	memcpy(ret_root, path, len - tail);
	ret_root[len - tail] = '\0';
	return 0;
}

/* Returns the line of version 2 in @text; NULL without one. */
static const char *line_find(const char *text, size_t *ret_len)
{
	const char *line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");

	if (!line)
		return NULL;
	line += *line == '\n' ? 4 : 3;
	*ret_len = strcspn(line, "\n");
	return line;
}

void cgroup_namespace_init(struct cgroup_namespace *space)
{
	char link[64], text[16 * PATH_MAX], self[PATH_MAX];
	const char *line, *mount;
	size_t len, n;
	FILE *file;
	ssize_t r;
	int fd;

	*space = (struct cgroup_namespace){ 0 };
	r = readlink("/proc/self/ns/cgroup", link, sizeof(link) - 1);
	if (r < 0)
		return;
	link[r] = '\0';
	space->own = strcmp(link, NAMESPACE_FIRST) != 0;
	file = space->own ? fopen("/proc/self/cgroup", "re") : NULL;
	if (!file)
		return;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	line = line_find(text, &len);
	if (!line || len >= sizeof(self))
		return;
	memcpy(self, line, len);
	self[len] = '\0';
	/* Directories of version 1 have the same files, so check the type of the file system. */
	fd = cgroup_mount_open(O_PATH, &mount);
	if (fd < 0)
		return;
	close(fd);
	space->known =
		cgroup_namespace_find(mount, getpid(), self, space->root, sizeof(space->root)) == 0;
}

bool cgroup_namespace_path(const struct cgroup_namespace *space, const char *text, char *ret_path,
			   size_t size)
{
	size_t len, root = strlen(space->root);
	const char *path;

	if (!space->own || !space->known)
		return false;
	path = line_find(text, &len);
	if (!path)
		return false;
	for (; len >= 3 && strncmp(path, "/..", 3) == 0 && (len == 3 || path[3] == '/');
	     path += 3, len -= 3) {
		if (!root)
			return false;
		while (space->root[--root] != '/')
			;
	}
	if (len == 1)
		len = 0;
	if (root + len == 0 || root + len >= size)
		return false;
	memcpy(ret_path, space->root, root);
	memcpy(ret_path + root, path, len);
	ret_path[root + len] = '\0';
	return true;
}

const char *cgroup_namespace_reason(const struct cgroup_namespace *space)
{
	return space->own && !space->known ?
		       "containers have no whole paths, and may have no names: this is a cgroup "
		       "namespace, and the machine's hierarchy is not at /sys/fs/cgroup" :
		       "";
}
