// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the kernel tells of tasks while /proc can be asked too. Events know of those
 * who are gone before /proc is read; /proc knows cgroups, and those from before the
 * first event. What /proc was asked after an event wins over the event.
 */
#include "attribute-internal.h"

/* The next sample of @tid asks /proc once, where a living task's cgroup is. */
static void thread_unverified(struct attributor *a, s32 tid, u32 index)
{
	threads_set(&a->threads, tid, index, a->stamp[index] | 1, now_ms() - RETRY_MS, a->stamp);
}

/* Whoever had @tid has it no more. */
static void thread_forget(struct attributor *a, s32 tid)
{
	if (threads_find(&a->threads, tid).bucket)
		thread_set(a, tid, ATTRIBUTE_NONE, now_ms() - RETRY_MS);
}

/* Late samples of a dead thread are its process's; after RETRY_MS /proc is asked again. */
static void thread_exited(struct attributor *a, s32 tid, u32 index)
{
	struct thread_slot slot = threads_find(&a->threads, tid);

	if (!slot.bucket || slot.bucket->process[slot.way] != index)
		return;
	slot.bucket->stamp[slot.way] = a->stamp[index] ^ 1;
	slot.bucket->failed[slot.way] = now_ms();
}

/* Whether /proc told of the process @index after @e happened. */
static bool is_stale(const struct attributor *a, u32 index, const struct task_event *e)
{
	return index != ATTRIBUTE_NONE && a->process[index].state == PROCESS_LIVING &&
	       a->process[index].read_ns >= e->time_ns;
}

/*
 * The process that an event is about, or ATTRIBUTE_NONE. One that /proc declared dead lives on
 * for events: /proc is ahead of them, and may have seen an exec or an end to come.
 */
static u32 event_process(struct attributor *a, s32 pid)
{
	u32 i = process_find(a, pid);

	if (i == ATTRIBUTE_NONE || i == IDLE)
		return ATTRIBUTE_NONE;
	if (a->process[i].state == PROCESS_LIVING)
		return i;
	return !a->process[i].exited && now_ms() - a->process[i].died < LATE_MS ? i :
										  ATTRIBUTE_NONE;
}

/* Who forks is looked up once: its children may be gone before they are sampled. */
static u32 live_parent(struct attributor *a, s32 pid)
{
	u32 i = event_process(a, pid);

	if (i != ATTRIBUTE_NONE || pid <= 0)
		return i;
	i = task_read(a, pid);
	if (i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_LIVING)
		a->used[i] = 0;
	return i;
}

static void live_fork(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid), parent, container;
	struct process *p;

	if (is_stale(a, i, e))
		return;
	if (e->pid == e->parent_pid) {
		if (i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_LIVING)
			thread_set(a, e->tid, i, 0);
		else
			thread_forget(a, e->tid);
		return;
	}
	/* Its exit was lost. */
	if (i != ATTRIBUTE_NONE)
		process_die(a, i);
	thread_forget(a, e->tid);
	parent = live_parent(a, e->parent_pid);
	/* /proc may know of the child, if it lives when it is sampled. */
	if (parent == ATTRIBUTE_NONE)
		return;
	container = a->process[parent].pub.container;
	i = process_new(a, e->pid);
	p = &a->process[i];
	/* The parent's own entry may have been the one to go. */
	if (i == parent) {
		process_die(a, i);
		return;
	}
	p->pub.container = container;
	p->born_ns = e->time_ns;
	memcpy(p->pub.comm, a->process[parent].pub.comm, sizeof(p->pub.comm));
	maps_copy(&a->store, &p->maps, &a->process[parent].maps);
	a->used[i] = 0;
	thread_unverified(a, e->tid, i);
}

/* A new image is a new entry, unless nothing was sampled of the one before. */
static void live_exec(struct attributor *a, u32 i, const struct task_event *e)
{
	const struct process old = a->process[i];

	if (old.state == PROCESS_LIVING && !(a->used[i] & PROCESS_EVER)) {
		maps_clear(&a->store, &a->process[i].maps);
	} else {
		process_die(a, i);
		i = process_new(a, e->pid);
		a->used[i] = 0;
	}
	a->process[i].pub.container = old.pub.container;
	a->process[i].born_ns = old.born_ns;
	a->process[i].start_time = old.start_time;
	a->process[i].image = false;
	process_name(&a->process[i], e->name);
	thread_unverified(a, e->tid, i);
}

static void live_comm(struct attributor *a, const struct task_event *e)
{
	u32 i = event_process(a, e->pid);

	if (i == ATTRIBUTE_NONE || is_stale(a, i, e))
		return;
	if (e->exec)
		live_exec(a, i, e);
	else if (e->tid == e->pid)
		process_name(&a->process[i], e->name);
}

static void live_mmap(struct attributor *a, const struct task_event *e)
{
	const struct mapping m = { .start = e->start,
				   .end = e->start + e->size,
				   .offset = e->offset };
	u32 i = process_find(a, e->pid);

	if (i == ATTRIBUTE_NONE || a->process[i].state != PROCESS_LIVING || is_stale(a, i, e) ||
	    !e->size || e->size > UINT64_MAX - e->start)
		return;
	maps_add(&a->store, &a->process[i].maps, &m, e->name, e->inode, NULL, 0);
}

static void live_exit(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	/* Read since: of whoever has the number now, or what a zombie still tells. */
	if (i == ATTRIBUTE_NONE || is_stale(a, i, e))
		return;
	if (e->tid == e->pid) {
		a->process[i].exited = true;
		process_die(a, i);
	}
	thread_exited(a, e->tid, i);
}

/* What was lost may have been any fork, exec or exit: every TID is asked for again. */
static void live_lost(struct attributor *a, const struct task_event *e)
{
	u32 before = now_ms() - RETRY_MS;

	a->stats.events_lost += e->size;
	for (u32 n = 0; n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[n];

		for (u32 i = 0; i < THREAD_WAYS; i++) {
			if (!b->tid[i] || b->process[i] == a->threads.unresolved)
				continue;
			if (b->stamp[i] >> 1 == a->stamp[b->process[i]] >> 1)
				b->stamp[i] = a->stamp[b->process[i]] ^ 1;
			b->failed[i] = before;
		}
	}
}

void attributor_event_live(struct attributor *a, const struct task_event *e)
{
	a->stats.events++;
	if (e->type == TASK_LOST)
		live_lost(a, e);
	/* Tasks outside of this PID namespace have no number. */
	if (e->pid <= 0 || e->tid <= 0)
		return;
	switch (e->type) {
	case TASK_COMM:
		live_comm(a, e);
		break;
	case TASK_FORK:
		live_fork(a, e);
		break;
	case TASK_EXIT:
		live_exit(a, e);
		break;
	case TASK_MMAP:
		live_mmap(a, e);
		break;
	}
}
