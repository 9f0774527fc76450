// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a recording tells of tasks: all there is to know, as /proc is another machine's. */
#include "attribute-internal.h"

#include <stdio.h>

static u32 event_process(struct attributor *a, s32 pid)
{
	u32 i = process_find(a, pid);
	char name[16];

	if (i != ATTRIBUTE_NONE)
		return i;
	i = process_new(a, pid);
	snprintf(name, sizeof(name), ":%d", pid);
	process_name(&a->process[i], name);
	return i;
}

static void event_comm(struct attributor *a, const struct task_event *e)
{
	u32 i = event_process(a, e->pid);

	/* The main thread's name is the process's, unless no better one is known. */
	if (e->name && (e->tid == e->pid || a->process[i].pub.comm[0] == ':'))
		process_name(&a->process[i], e->name);
	if (e->exec)
		maps_clear(&a->store, &a->process[i].maps);
	thread_set(a, e->tid, i, 0);
}

static void event_fork(struct attributor *a, const struct task_event *e)
{
	u32 parent, i;

	if (e->pid == e->parent_pid) {
		thread_set(a, e->tid, event_process(a, e->pid), 0);
		return;
	}
	parent = e->parent_pid > 0 ? event_process(a, e->parent_pid) : ATTRIBUTE_NONE;
	i = process_find(a, e->pid);
	if (i != ATTRIBUTE_NONE)
		process_die(a, i);
	i = process_new(a, e->pid);
	thread_set(a, e->tid, i, 0);
	/* The parent's own entry may have been the one to go. */
	if (parent == ATTRIBUTE_NONE || parent == i)
		return;
	a->process[i].pub.container = a->process[parent].pub.container;
	memcpy(a->process[i].pub.comm, a->process[parent].pub.comm, sizeof(a->process[i].pub.comm));
	maps_copy(&a->store, &a->process[i].maps, &a->process[parent].maps);
}

static void event_mmap(struct attributor *a, const struct task_event *e)
{
	const struct mapping m = { .start = e->start,
				   .end = e->start + e->size,
				   .offset = e->offset };
	struct maps *maps = &a->kernel;

	if (!e->name || !e->size || e->size > UINT64_MAX - e->start)
		return;
	if (e->pid > 0)
		maps = &a->process[event_process(a, e->pid)].maps;
	maps_add(&a->store, maps, &m, e->name, 0, e->build_id, e->build_id_size);
	if (e->pid > 0)
		thread_set(a, e->pid, process_find(a, e->pid), 0);
}

static void event_exit(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	if (i != ATTRIBUTE_NONE && e->tid == e->pid)
		process_die(a, i);
}

static void event_cgroup(struct attributor *a, const struct task_event *e)
{
	if (e->name && e->pid > 0)
		a->process[event_process(a, e->pid)].pub.container =
			container_index(a, e->name, strlen(e->name));
}

void attributor_event(struct attributor *a, const struct task_event *e)
{
	if (a->live) {
		attributor_event_live(a, e);
		return;
	}
	if (e->type == TASK_MMAP) {
		event_mmap(a, e);
		return;
	}
	if (e->pid <= 0 || (e->tid <= 0 && e->type != TASK_CGROUP))
		return;
	switch (e->type) {
	case TASK_COMM:
		event_comm(a, e);
		break;
	case TASK_FORK:
		event_fork(a, e);
		break;
	case TASK_EXIT:
		event_exit(a, e);
		break;
	case TASK_CGROUP:
		event_cgroup(a, e);
		break;
	}
}
