// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Apply task events of a recording. These events are the only source of data, because the recording
 * may be from another machine. All events are applied before the samples, so the tables store the
 * history: which process had a TID at which time, and which entry succeeded another one.
 */
#include "attributor-internal.h"
#include "tasks/task-event.h"

#include <stdio.h>

/*
 * Limit of successors that a lookup follows, to bound the cost of hostile recordings. Lookups of
 * the main thread follow few, because each exec and move adds an entry for it to the timeline.
 * Lookups of other threads follow one for each move to another cgroup; an exec ends these threads.
 */
#define SUCCESSORS_MAX 256

/* value of &attributor.switch_timeline that means that the task is unknown */
#define NO_TASK UINT32_MAX

/* Returns the process of @pid. A new one is called ":PID" until an event reports its name. */
static u32 process_find_or_add(struct attributor *a, s32 pid)
{
	u32 i = process_find(a, pid);
	char name[16];

	if (i != ATTRIBUTE_NONE)
		return i;
	i = process_new(a, pid);
	snprintf(name, sizeof(name), ":%d", pid);
	process_set_name(&a->process[i], name);
	return i;
}

static void tid_set_process_since(struct attributor *a, s32 tid, u32 index, u64 from)
{
	thread_set_process(a, tid, index, 0);
	timeline_add(&a->owner_timeline, (u32)tid, from, index, a->process[index].pub.generation);
}

/*
 * Record that an event at @time_ns shows @tid in process @index. If no earlier event mentions @tid,
 * the thread belonged to the process from the beginning of the recording.
 */
static void tid_confirm_process(struct attributor *a, s32 tid, u32 index, u64 time_ns)
{
	struct thread_slot slot = thread_table_find(&a->threads, tid);

	if (slot.bucket && slot.bucket->process[slot.way] == index &&
	    slot.bucket->stamp[slot.way] == a->stamp[index])
		return;
	tid_set_process_since(a, tid, index, slot.bucket ? time_ns : TIMELINE_ALWAYS);
}

/*
 * Create an entry that succeeds process @index at @time_ns, so that earlier samples stay with the
 * old one. Returns @index itself if the time is unknown, or if the table is full.
 */
static u32 process_add_successor(struct attributor *a, u32 index, u64 time_ns)
{
	u32 next;

	if (!time_ns)
		return index;
	process_mark_dead(a, index);
	next = process_new(a, a->process[index].pub.pid);
	/* process_new() reuses the old entry if the table is full. */
	if (next == index)
		return next;
	process_set_container(a, next, a->process[index].pub.container);
	memcpy(a->process[next].pub.comm, a->process[index].pub.comm,
	       sizeof(a->process[next].pub.comm));
	a->process[index].successor = next;
	a->process[index].successor_generation = a->process[next].pub.generation;
	a->process[index].succeeded_ns = time_ns;
	return next;
}

/* Record that @tid belongs to the successor @index from @time_ns on; 0 if the time is unknown. */
static void tid_set_successor(struct attributor *a, s32 tid, u32 index, u64 time_ns)
{
	if (time_ns)
		tid_set_process_since(a, tid, index, time_ns);
	else
		thread_set_process(a, tid, index, 0);
}

static void recorded_apply_comm(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	if (e->exec && i != ATTRIBUTE_NONE) {
		tid_confirm_process(a, e->tid, i, e->time_ns);
		i = process_add_successor(a, i, e->time_ns);
		maps_clear(&a->store, &a->process[i].maps);
		tid_set_successor(a, e->tid, i, e->time_ns);
	} else if (e->exec) {
		i = process_find_or_add(a, e->pid);
		tid_set_process_since(a, e->tid, i, e->time_ns);
	} else {
		i = process_find_or_add(a, e->pid);
		tid_confirm_process(a, e->tid, i, e->time_ns);
	}
	/*
	 * The name of the main thread is the name of the process. Until an event reports it, use
	 * the name of another thread.
	 */
	if (e->name && (e->tid == e->pid || a->process[i].pub.comm[0] == ':'))
		process_set_name(&a->process[i], e->name);
}

static void recorded_apply_fork(struct attributor *a, const struct task_event *e)
{
	u32 parent, i;

	if (e->pid == e->parent_pid) {
		tid_set_process_since(a, e->tid, process_find_or_add(a, e->pid), e->time_ns);
		return;
	}
	parent = e->parent_pid > 0 ? process_find_or_add(a, e->parent_pid) : ATTRIBUTE_NONE;
	i = process_find(a, e->pid);
	if (i != ATTRIBUTE_NONE)
		process_mark_dead(a, i);
	i = process_new(a, e->pid);
	tid_set_process_since(a, e->tid, i, e->time_ns);
	/* process_new() may have evicted the parent. */
	if (parent == ATTRIBUTE_NONE || parent == i)
		return;
	process_set_container(a, i, a->process[parent].pub.container);
	memcpy(a->process[i].pub.comm, a->process[parent].pub.comm, sizeof(a->process[i].pub.comm));
	maps_copy(&a->store, &a->process[i].maps, &a->process[parent].maps);
}

static void recorded_apply_mmap(struct attributor *a, const struct task_event *e)
{
	const struct mapping m = { .start = e->start,
				   .end = e->start + e->size,
				   .offset = e->offset,
				   .since_ns = e->time_ns };
	struct maps *maps = &a->kernel;

	if (!e->name || !e->size || e->size > UINT64_MAX - e->start)
		return;
	if (e->pid > 0)
		maps = &a->process[process_find_or_add(a, e->pid)].maps;
	maps_add(&a->store, maps, &m,
		 &(struct mapped_binary_key){ .path = e->name,
					      .build_id = e->build_id,
					      .build_id_size = e->build_id_size });
	if (e->pid > 0)
		tid_confirm_process(a, e->pid, process_find(a, e->pid), e->time_ns);
}

static void recorded_apply_exit(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	if (i != ATTRIBUTE_NONE && e->tid == e->pid)
		process_mark_dead(a, i);
}

/* Apply the cgroup of a process. The first one is valid for all earlier samples, too. */
static void recorded_apply_cgroup(struct attributor *a, const struct task_event *e)
{
	u32 container, i, next;

	if (!e->name || e->pid <= 0)
		return;
	i = process_find_or_add(a, e->pid);
	container = container_find_or_add(a, e->name, strlen(e->name));
	tid_confirm_process(a, e->pid, i, e->time_ns);
	if (a->process[i].pub.container && a->process[i].pub.container != container &&
	    a->process[i].state == PROCESS_LIVING) {
		next = process_add_successor(a, i, e->time_ns);
		if (next != i)
			maps_copy(&a->store, &a->process[next].maps, &a->process[i].maps);
		tid_set_successor(a, e->pid, next, e->time_ns);
		i = next;
	}
	process_set_container(a, i, container);
}

void attributor_apply_event(struct attributor *a, const struct task_event *e)
{
	if (a->live) {
		attributor_apply_event_live(a, e);
		return;
	}
	if (e->type == TASK_MMAP) {
		recorded_apply_mmap(a, e);
		return;
	}
	if (e->type == TASK_SWITCH) {
		timeline_add(&a->switch_timeline, e->cpu, e->time_ns,
			     e->tid < 0 ? NO_TASK : (u32)e->tid, 0);
		return;
	}
	if (e->pid <= 0 || (e->tid <= 0 && e->type != TASK_CGROUP))
		return;
	switch (e->type) {
	case TASK_COMM:
		recorded_apply_comm(a, e);
		break;
	case TASK_FORK:
		recorded_apply_fork(a, e);
		break;
	case TASK_EXIT:
		recorded_apply_exit(a, e);
		break;
	case TASK_CGROUP:
		recorded_apply_cgroup(a, e);
		break;
	}
}

bool attributor_has_event_times(const struct attributor *a)
{
	return a->live || a->owner_timeline.count || a->switch_timeline.count;
}

/*
 * Follow the successors of process @index to the entry that is valid at @time_ns, and return it.
 * Reduce @span to the times at which this entry is valid. Returns ATTRIBUTE_NONE if an entry was
 * reused, or after SUCCESSORS_MAX successors.
 */
static u32 process_find_successor(struct attributor *a, u32 index, u32 generation, u64 time_ns,
				  struct attribute_span *span)
{
	const struct process_table_entry *p;

	for (u32 n = 0; n < SUCCESSORS_MAX; n++) {
		p = &a->process[index];
		/* If the table is too small for the recording, the entry may have been reused. */
		if (p->pub.generation != generation)
			break;
		if (!p->succeeded_ns)
			return index;
		if (time_ns < p->succeeded_ns) {
			span->to = p->succeeded_ns < span->to ? p->succeeded_ns : span->to;
			return index;
		}
		span->from = p->succeeded_ns > span->from ? p->succeeded_ns : span->from;
		index = p->successor;
		generation = p->successor_generation;
	}
	a->stats.unresolved++;
	return ATTRIBUTE_NONE;
}

u32 attributor_find_process_at(struct attributor *a, s32 tid, u64 time_ns,
			       struct attribute_span *ret_span)
{
	const struct timeline_span *owner;

	if (a->live)
		return attributor_find_process_live(a, tid, time_ns, ret_span);
	*ret_span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	if (tid <= 0)
		return tid ? ATTRIBUTE_NONE : IDLE_PROCESS;
	switch (timeline_find(&a->owner_timeline, (u32)tid, time_ns, &owner)) {
	case TIMELINE_NO_KEY:
		return attributor_find_process(a, tid);
	case TIMELINE_TOO_EARLY:
		a->stats.unresolved++;
		*ret_span = (struct attribute_span){ time_ns, time_ns + 1 };
		return ATTRIBUTE_NONE;
	case TIMELINE_FOUND:
		break;
	}
	*ret_span = (struct attribute_span){ owner->from, owner->to };
	return process_find_successor(a, owner->value, owner->extra, time_ns, ret_span);
}

s32 attributor_find_running_tid(struct attributor *a, u32 cpu, u64 time_ns, u64 early_ns,
				u64 late_ns)
{
	const struct timeline_span *span;

	if (a->live)
		return cpu < a->ring_cpus ?
			       switch_ring_find_tid(&a->switch_rings[cpu], time_ns - early_ns,
						    time_ns + late_ns) :
			       -1;
	if (!a->switch_timeline.count ||
	    timeline_find(&a->switch_timeline, cpu, time_ns, &span) != TIMELINE_FOUND ||
	    span->value == NO_TASK)
		return -1;
	return (s32)span->value;
}
