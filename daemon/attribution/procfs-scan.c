// SPDX-License-Identifier: LGPL-2.1-or-later
#include "procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maps.h"
#include "proc-query.h"
#include "source/source.h"
#include "tasks/task-event.h"

/**
 * struct task_scan - state of procfs_scan_tasks()
 * @sink: receives the events
 * @time_ns: time of the events
 * @pid: the process that is scanned
 * @maps: number of its mappings that were reported
 * @cgroup_ns: converts cgroup paths
 */
struct task_scan {
	const struct source_sink *sink;
	u64 time_ns;
	s32 pid;
	u32 maps;
	struct cgroup_namespace cgroup_ns;
};

static void emit_event(const struct task_scan *scan, struct task_event event)
{
	event.time_ns = scan->time_ns;
	event.pid = scan->pid;
	event.parent_pid = -1;
	scan->sink->task(scan->sink->ctx, &event);
}

static bool emit_mapping(void *ctx, const struct procfs_map *map)
{
	struct task_scan *scan = ctx;

	emit_event(scan, (struct task_event){ .type = TASK_MMAP,
					      .tid = scan->pid,
					      .start = map->start,
					      .size = map->end - map->start,
					      .offset = map->offset,
					      .inode = map->inode,
					      .device = map->device,
					      .name = map->path });
	scan->maps++;
	return true;
}

/*
 * Returns the inode number of a directory in the cgroup v2 hierarchy, which perf reports as the id
 * of the cgroup. If there is no such directory, for example with cgroup v1, returns a hash of the
 * path.
 */
static u64 cgroup_get_id(const char *cgroup)
{
	char path[PATH_MAX + sizeof("/sys/fs/cgroup")];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s", cgroup);
	return stat(path, &st) < 0 ? hash_path_nonzero(cgroup) : st.st_ino;
}

static void emit_cgroup(const struct task_scan *scan, int dir)
{
	char *path = proc_read_cgroup(&scan->cgroup_ns, dir);

	if (path && *path)
		emit_event(scan, (struct task_event){ .type = TASK_CGROUP,
						      .tid = scan->pid,
						      .cgroup = cgroup_get_id(path),
						      .name = path });
	free(path);
}

/* Returns the TID that the name of a directory in /proc denotes; 0 for other names. */
static s32 name_parse_tid(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);

	return *end || n <= 0 || n > INT32_MAX ? 0 : (s32)n;
}

static void scan_threads(struct task_scan *scan, int dir)
{
	int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	struct procfs_stat stat;
	struct dirent *entry;
	struct procfs_maps_cost cost;

	if (!tasks && fd >= 0)
		close(fd);
	while (tasks && (entry = readdir(tasks))) {
		s32 tid = name_parse_tid(entry->d_name);
		int thread = tid ? procfs_open_task(dirfd(tasks), tid) : -1;

		if (thread < 0)
			continue;
		if (procfs_read_stat(thread, &stat) == 0)
			emit_event(scan, (struct task_event){ .type = TASK_COMM,
							      .tid = tid,
							      .name = stat.comm });
		/*
		 * Report the mappings once, from the first thread that has any: a leader that
		 * exited before the other threads has none.
		 */
		if (!scan->maps)
			procfs_read_maps(thread, 0, emit_mapping, scan, &cost);
		close(thread);
	}
	if (tasks)
		closedir(tasks);
}

void procfs_scan_kernel(const struct source_sink *sink, u64 time_ns)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	char name[128];
	struct task_event event = {
		.type = TASK_MMAP,
		.time_ns = time_ns,
		.pid = -1,
		.parent_pid = -1,
		.name = "[kernel.kallsyms]_text", /* its name in perf events */
	};

	while (f && fscanf(f, "%llx %*c %127s%*[^\n]", &address, name) == 2 &&
	       strcmp(name, "_text"))
		address = 0;
	if (f)
		fclose(f);
	if (!address)
		return;
	event.start = address;
	event.offset = address;
	event.size = UINT64_MAX - address;
	sink->task(sink->ctx, &event);
}

int procfs_scan_tasks(const struct source_sink *sink, u64 time_ns)
{
	struct task_scan scan = { .sink = sink, .time_ns = time_ns };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int dir;

	if (!proc)
		return -errno;
	cgroup_namespace_init(&scan.cgroup_ns);
	procfs_scan_kernel(sink, time_ns);
	while ((entry = readdir(proc))) {
		scan.pid = name_parse_tid(entry->d_name);
		dir = scan.pid ? procfs_open_task(dirfd(proc), scan.pid) : -1;
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
