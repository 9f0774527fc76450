// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup-namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cgroup-mount.h"

/* The initial cgroup namespace: PROC_CGROUP_INIT_INO of the kernel. */
#define NAMESPACE_INITIAL "cgroup:[4026531835]"

/*
 * Limit of the number of cgroups in the search, which runs once at the start; a Kubernetes node has
 * some hundred cgroups.
 */
#define CGROUPS_MAX 20000

static bool cgroup_has_process(int dir, pid_t pid)
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

/*
 * Search cgroup @dir and all cgroups below for process @pid; close @dir. Returns 0; -ENOENT if the
 * process was not found; -E2BIG if @budget is used up.
 * @budget: number of cgroups that may still be searched
 * @path: path of @dir, @len bytes of at most @size; on success the path of the process's cgroup
 */
static int cgroup_find_process(int dir, pid_t pid, unsigned int *budget, char *path, size_t len,
			       size_t size)
{
	struct dirent *entry;
	int r = -ENOENT;
	DIR *list;

	if (cgroup_has_process(dir, pid)) {
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
		if (!(*budget)--) {
			*budget = 0;
			r = -E2BIG;
			break;
		}
		below = openat(dirfd(list), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		path[len] = '/';
		memcpy(path + len + 1, entry->d_name, name + 1);
		r = cgroup_find_process(below, pid, budget, path, len + 1 + name, size);
	}
	if (r < 0)
		path[len] = '\0';
	closedir(list);
	return r;
}

int cgroup_namespace_find_root(const char *mount, pid_t pid, const char *self, char *ret_root,
			       size_t size)
{
	int dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	size_t len, tail = strcmp(self, "/") == 0 ? 0 : strlen(self);
	unsigned int budget = CGROUPS_MAX;
	char path[PATH_MAX] = "";

	if (dir < 0)
		return -ENOENT;
	/*
	 * Only the root cgroup has no cgroup.events. If @mount is another cgroup, the paths below
	 * it are incomplete.
	 */
	if (!faccessat(dir, "cgroup.events", F_OK, 0)) {
		close(dir);
		return -ENOENT;
	}
	r = cgroup_find_process(dir, pid, &budget, path, 0, sizeof(path));
	if (r < 0)
		return r;
	len = strlen(path);
	/* If @path does not end with @self, the process is outside of the cgroup namespace. */
	if (len < tail || memcmp(path + len - tail, self, tail) != 0 || len - tail >= size)
		return -ENOENT;
	memcpy(ret_root, path, len - tail);
	ret_root[len - tail] = '\0';
	return 0;
}

/*
 * Returns the cgroup v2 path in @text (/proc/PID/cgroup), or NULL if @text contains none. The path
 * is not NUL-terminated: @ret_len is its length.
 */
static const char *find_v2_path(const char *text, size_t *ret_len)
{
	const char *line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");

	if (!line)
		return NULL;
	line += *line == '\n' ? 4 : 3;
	*ret_len = strcspn(line, "\n");
	return line;
}

void cgroup_namespace_init(struct cgroup_namespace *ns)
{
	char link[64], text[16 * PATH_MAX], self[PATH_MAX];
	const char *line, *mount;
	size_t len, n;
	FILE *file;
	ssize_t r;
	int fd;

	*ns = (struct cgroup_namespace){ 0 };
	r = readlink("/proc/self/ns/cgroup", link, sizeof(link) - 1);
	if (r < 0)
		return;
	link[r] = '\0';
	ns->is_private = strcmp(link, NAMESPACE_INITIAL) != 0;
	file = ns->is_private ? fopen("/proc/self/cgroup", "re") : NULL;
	if (!file)
		return;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	line = find_v2_path(text, &len);
	if (!line || len >= sizeof(self))
		return;
	memcpy(self, line, len);
	self[len] = '\0';
	/* Require cgroup v2: directories of cgroup v1 contain cgroup.procs, too. */
	fd = cgroup_mount_open(O_PATH, &mount);
	if (fd < 0)
		return;
	close(fd);
	ns->root_known =
		cgroup_namespace_find_root(mount, getpid(), self, ns->root, sizeof(ns->root)) == 0;
}

bool cgroup_namespace_convert_path(const struct cgroup_namespace *ns, const char *text,
				   char *ret_path, size_t size)
{
	size_t len, root = strlen(ns->root);
	const char *path;

	if (!ns->is_private || !ns->root_known)
		return false;
	path = find_v2_path(text, &len);
	if (!path)
		return false;
	for (; len >= 3 && strncmp(path, "/..", 3) == 0 && (len == 3 || path[3] == '/');
	     path += 3, len -= 3) {
		if (!root)
			return false;
		while (ns->root[--root] != '/')
			;
	}
	if (len == 1)
		len = 0;
	if (root + len == 0 || root + len >= size)
		return false;
	memcpy(ret_path, ns->root, root);
	memcpy(ret_path + root, path, len);
	ret_path[root + len] = '\0';
	return true;
}

const char *cgroup_namespace_get_warning(const struct cgroup_namespace *ns)
{
	return ns->is_private && !ns->root_known ?
		       "container paths are incomplete and names may be missing: speprofd runs in "
		       "a "
		       "cgroup namespace, and /sys/fs/cgroup is not the machine's hierarchy; "
		       "mount it there" :
		       "";
}
