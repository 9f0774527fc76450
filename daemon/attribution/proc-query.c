// SPDX-License-Identifier: LGPL-2.1-or-later
#include "proc-query.h"

#include "container.h"
#include "maps.h"
#include "util/time.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * Size of the buffer for /proc/PID/cgroup. The line of cgroup v2 is the last one. Up to a dozen
 * lines of cgroup v1, with paths of up to PATH_MAX bytes, precede it
 */
#define CGROUP_TEXT   (16 * PATH_MAX)
#define MAPPINGS_STEP 64

char *proc_read_cgroup(const struct cgroup_namespace *cgroup_ns, int dir)
{
	char *text = malloc(CGROUP_TEXT), *ret = NULL, converted[PATH_MAX];
	ssize_t n = text ? procfs_read_file(dir, "cgroup", text, CGROUP_TEXT) : -ENOMEM;
	const char *path;
	size_t len;

	if (n >= 0 && cgroup_namespace_convert_path(cgroup_ns, text, converted, sizeof(converted)))
		ret = strdup(converted);
	else if (n >= 0)
		ret = container_choose_cgroup(text, (size_t)n, &path, &len) ? strndup(path, len) :
									      strdup("");
	free(text);
	return ret;
}

/* Reserve memory for one more mapping and @len bytes of its path; return false at the limit. */
static bool answer_reserve(struct proc_answer *a, size_t len)
{
	u64 more =
		a->mapping && a->mappings % MAPPINGS_STEP ? 0 : MAPPINGS_STEP * sizeof(*a->mapping);
	u64 bytes = a->mappings * sizeof(*a->mapping) + a->path_bytes + more + len;
	void *p;

	if (bytes > PROC_ANSWER_BYTES)
		return false;
	if (more) {
		p = realloc(a->mapping, a->mappings * sizeof(*a->mapping) + more);
		if (!p)
			return false;
		a->mapping = p;
	}
	if (!len)
		return true;
	p = realloc(a->paths, a->path_bytes + len);
	if (p)
		a->paths = p;
	return p;
}

/* Append @map to the answer @ctx. Consecutive mappings of one file share a path. */
static bool mapping_append(void *ctx, const struct procfs_map *map)
{
	struct proc_answer *a = ctx;
	const struct proc_mapping *last = a->mappings ? &a->mapping[a->mappings - 1] : NULL;
	bool same = last && last->inode == map->inode && last->device == map->device &&
		    !strcmp(a->paths + last->path_at, map->path);
	u32 path_at = same ? last->path_at : a->path_bytes;
	size_t len = same ? 0 : strlen(map->path) + 1;

	if (!answer_reserve(a, len)) {
		a->next = map->start;
		return false;
	}
	a->mapping[a->mappings++] = (struct proc_mapping){
		.start = map->start,
		.end = map->end,
		.offset = map->offset,
		.inode = map->inode,
		.device = map->device,
		.path_at = path_at,
	};
	memcpy(a->paths + a->path_bytes, map->path, len);
	a->path_bytes += (u32)len;
	return true;
}

/* Read the mappings of the queried thread: a leader that exited before its threads has none. */
static int maps_read(int leader, struct proc_answer *a)
{
	const struct proc_query *q = &a->query;
	struct procfs_maps_cost cost = { 0 };
	int dir = q->tid == q->pid ? leader : procfs_open_thread(leader, q->tid), r;

	if (dir < 0)
		return dir;
	r = procfs_read_maps(dir, q->from, mapping_append, a, &cost);
	a->skipped += cost.skipped;
	a->bytes += cost.bytes;
	if (dir != leader)
		close(dir);
	return r;
}

/*
 * Read the process at @leader. If the leader exited, its cgroup may be unavailable, so read the
 * cgroup of the queried thread, @task.
 */
static int process_read(const struct cgroup_namespace *cgroup_ns, int leader, int task,
			struct proc_answer *a)
{
	int r = procfs_read_stat(leader, &a->stat);

	if (r < 0)
		return r;
	if (a->query.kind == PROC_QUERY_MAPS)
		return maps_read(leader, a);
	a->cgroup = proc_read_cgroup(cgroup_ns, a->stat.state == 'Z' ? task : leader);
	return 0;
}

static int task_read(int proc, const struct cgroup_namespace *cgroup_ns, int task,
		     struct proc_answer *a)
{
	int leader, r = procfs_read_ids(task, &a->pid, &a->uid);

	if (r < 0)
		return r;
	/* The PID may have been reused as the TID of a thread. */
	if (a->query.kind != PROC_QUERY_TASK && a->pid != a->query.pid)
		return -ESRCH;
	if (a->query.kind != PROC_QUERY_TASK || a->pid == a->query.tid)
		return process_read(cgroup_ns, task, task, a);
	leader = procfs_open_task(proc, a->pid);
	if (leader < 0)
		return leader;
	/* The process may have exited, and its PID been reused, since procfs_read_ids(). */
	r = procfs_has_thread(leader, a->query.tid) ? process_read(cgroup_ns, leader, task, a) :
						      -ESRCH;
	close(leader);
	return r;
}

void proc_query_run(int proc, const char *log, const struct cgroup_namespace *cgroup_ns,
		    const struct proc_query *query, struct proc_answer *ret_answer)
{
	struct proc_answer answer = { .query = *query, .started_ns = time_now_ns(), .bytes = 1024 };
	int task;

	if (query->kind == PROC_QUERY_POD) {
		pods_lookup_run(query->pod, log);
		*ret_answer = answer;
		return;
	}
	task = procfs_open_task(proc, query->kind == PROC_QUERY_TASK ? query->tid : query->pid);
	if (task < 0)
		answer.result = task;
	else if (query->kind == PROC_QUERY_THREAD)
		answer.result = procfs_has_thread(task, query->tid) ? 0 : -ESRCH;
	else
		answer.result = task_read(proc, cgroup_ns, task, &answer);
	if (task >= 0)
		close(task);
	*ret_answer = answer;
}

void proc_answer_deinit(struct proc_answer *answer)
{
	free(answer->query.pod);
	free(answer->cgroup);
	free(answer->mapping);
	free(answer->paths);
	answer->query.pod = NULL;
	answer->cgroup = NULL;
	answer->mapping = NULL;
	answer->paths = NULL;
}
