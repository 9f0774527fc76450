// SPDX-License-Identifier: LGPL-2.1-or-later
#include "procfs-scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup-namespace.h"
#include "container.h"
#include "maps.h"
#include "procfs.h"
#include "tasks/task-event.h"

/* struct scan - of the process @pid, of which @maps mappings were told */
struct scan {
	const struct source_sink *sink;
	u64 time_ns;
	s32 pid;
	u32 maps;
	struct cgroup_namespace space;
};

static bool emit_map(void *ctx, const struct procfs_map *map)
{
	struct scan *scan = ctx;
	const struct task_event event = {
		.type = TASK_MMAP,
		.time_ns = scan->time_ns,
		.pid = scan->pid,
		.tid = scan->pid,
		.parent_pid = -1,
		.start = map->start,
		.size = map->end - map->start,
		.offset = map->offset,
		.inode = map->inode,
		.device = map->device,
		.name = map->path,
	};

	scan->sink->task(scan->sink->ctx, &event);
	scan->maps++;
	return true;
}

static void emit_comm(const struct scan *scan, s32 tid, char *comm)
{
	const struct task_event event = {
		.type = TASK_COMM,
		.time_ns = scan->time_ns,
		.pid = scan->pid,
		.tid = tid,
		.parent_pid = -1,
		.name = comm,
	};

	scan->sink->task(scan->sink->ctx, &event);
}

/* The kernel's number of it, as perf has it; of another hierarchy one that is as good. */
static u64 cgroup_id(const char *cgroup)
{
	char path[PATH_MAX + sizeof("/sys/fs/cgroup")];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s", cgroup);
	return stat(path, &st) < 0 ? path_hash(cgroup) : st.st_ino;
}

static void emit_cgroup(const struct scan *scan, int dir)
{
	/* Version 2's line is the last one: a dozen hierarchies may come before, of PATH_MAX each. */
	char text[16 * PATH_MAX], name[PATH_MAX];
	struct task_event event = {
		.type = TASK_CGROUP,
		.time_ns = scan->time_ns,
		.pid = scan->pid,
		.tid = scan->pid,
		.parent_pid = -1,
		.name = name,
	};
	ssize_t n = procfs_read(dir, "cgroup", text, sizeof(text));
	const char *path;
	size_t len;

	if (n < 0)
		return;
	if (!cgroup_namespace_path(&scan->space, text, name, sizeof(name))) {
		if (!container_cgroup(text, (size_t)n, &path, &len) || len >= sizeof(name))
			return;
		memcpy(name, path, len);
		name[len] = 0;
	}
	event.cgroup = cgroup_id(name);
	scan->sink->task(scan->sink->ctx, &event);
}

/* Directories of /proc that are numbers; 0 for others. */
static s32 task_number(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);

	return *end || n <= 0 || n > INT32_MAX ? 0 : (s32)n;
}

static void scan_threads(struct scan *scan, int dir)
{
	int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	struct procfs_stat stat;
	struct dirent *entry;
	struct procfs_maps_cost cost;

	if (!tasks && fd >= 0)
		close(fd);
	while (tasks && (entry = readdir(tasks))) {
		s32 tid = task_number(entry->d_name);
		int thread = tid ? procfs_task(dirfd(tasks), tid) : -1;

		if (thread < 0)
			continue;
		if (procfs_stat(thread, &stat) == 0)
			emit_comm(scan, tid, stat.comm);
		/* Through a thread that has any: a leader that exited before the others has none. */
		if (!scan->maps)
			procfs_maps(thread, 0, emit_map, scan, &cost);
		close(thread);
	}
	if (tasks)
		closedir(tasks);
}

/* _text, as perf names the kernel's mapping. */
void procfs_scan_kernel(const struct source_sink *sink, u64 time_ns)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long at = 0;
	char name[128];
	struct task_event event = {
		.type = TASK_MMAP,
		.time_ns = time_ns,
		.pid = -1,
		.parent_pid = -1,
		.name = "[kernel.kallsyms]_text",
	};

	while (f && fscanf(f, "%llx %*c %127s%*[^\n]", &at, name) == 2 && strcmp(name, "_text"))
		at = 0;
	if (f)
		fclose(f);
	if (!at)
		return;
	event.start = at;
	event.offset = at;
	event.size = UINT64_MAX - at;
	sink->task(sink->ctx, &event);
}

int procfs_scan_tasks(const struct source_sink *sink, u64 time_ns)
{
	struct scan scan = { .sink = sink, .time_ns = time_ns };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int dir;

	if (!proc)
		return -errno;
	cgroup_namespace_init(&scan.space);
	procfs_scan_kernel(sink, time_ns);
	while ((entry = readdir(proc))) {
		scan.pid = task_number(entry->d_name);
		dir = scan.pid ? procfs_task(dirfd(proc), scan.pid) : -1;
		if (dir < 0)
			continue;
		scan.maps = 0;
		scan_threads(&scan, dir);
		emit_cgroup(&scan, dir);
		close(dir);
	}
	closedir(proc);
	return 0;
}
