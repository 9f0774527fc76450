// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a recording tells of tasks: all there is to know, as /proc is another
 * machine's. Events are all here before the samples, so that what was when is kept:
 * whose a TID was, and what a process was before it became another.
 */
#include "attributor-internal.h"
#include "tasks/task-event.h"

#include <stdio.h>

/* Programs that one process executed, or containers it was in, told apart; a bound for hostile ones. */
#define SUCCESSORS_MAX 64

#define NOBODY UINT32_MAX

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

static void owner_set(struct attributor *a, s32 tid, u32 index, u64 from)
{
	thread_set(a, tid, index, 0);
	timeline_add(&a->owners, (u32)tid, from, index, a->process[index].pub.generation);
}

/* @tid is of @index, and was before the event that said so, unless another one had it. */
static void owner_known(struct attributor *a, s32 tid, u32 index, u64 time_ns)
{
	struct thread_slot slot = threads_find(&a->threads, tid);

	if (slot.bucket && slot.bucket->process[slot.way] == index &&
	    slot.bucket->stamp[slot.way] == a->stamp[index])
		return;
	owner_set(a, tid, index, slot.bucket ? time_ns : TIMELINE_ALWAYS);
}

/*
 * Another entry for what @index is from @time_ns on; the same one where times are
 * not known. The old one's samples stay what they were.
 */
static u32 process_succeed(struct attributor *a, u32 index, u64 time_ns)
{
	u32 next;

	if (!time_ns)
		return index;
	process_die(a, index);
	next = process_new(a, a->process[index].pub.pid);
	/* Its own entry may have been the one to go. */
	if (next == index)
		return next;
	process_contain(a, next, a->process[index].pub.container);
	memcpy(a->process[next].pub.comm, a->process[index].pub.comm,
	       sizeof(a->process[next].pub.comm));
	a->process[index].after = next;
	a->process[index].after_generation = a->process[next].pub.generation;
	a->process[index].after_ns = time_ns;
	return next;
}

static void event_comm(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	if (e->exec && i != ATTRIBUTE_NONE) {
		owner_known(a, e->tid, i, e->time_ns);
		i = process_succeed(a, i, e->time_ns);
		maps_clear(&a->store, &a->process[i].maps);
		thread_set(a, e->tid, i, 0);
	} else if (e->exec) {
		i = event_process(a, e->pid);
		owner_set(a, e->tid, i, e->time_ns);
	} else {
		i = event_process(a, e->pid);
		owner_known(a, e->tid, i, e->time_ns);
	}
	/* The main thread's name is the process's, unless no better one is known. */
	if (e->name && (e->tid == e->pid || a->process[i].pub.comm[0] == ':'))
		process_name(&a->process[i], e->name);
}

static void event_fork(struct attributor *a, const struct task_event *e)
{
	u32 parent, i;

	if (e->pid == e->parent_pid) {
		owner_set(a, e->tid, event_process(a, e->pid), e->time_ns);
		return;
	}
	parent = e->parent_pid > 0 ? event_process(a, e->parent_pid) : ATTRIBUTE_NONE;
	i = process_find(a, e->pid);
	if (i != ATTRIBUTE_NONE)
		process_die(a, i);
	i = process_new(a, e->pid);
	owner_set(a, e->tid, i, e->time_ns);
	/* The parent's own entry may have been the one to go. */
	if (parent == ATTRIBUTE_NONE || parent == i)
		return;
	process_contain(a, i, a->process[parent].pub.container);
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
	maps_add(&a->store, maps, &m,
		 &(struct binary_key){ .path = e->name,
				       .build_id = e->build_id,
				       .build_id_size = e->build_id_size });
	if (e->pid > 0)
		owner_known(a, e->pid, process_find(a, e->pid), e->time_ns);
}

static void event_exit(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	if (i != ATTRIBUTE_NONE && e->tid == e->pid)
		process_die(a, i);
}

/* The first word on where a process is counts for all of its time. */
static void event_cgroup(struct attributor *a, const struct task_event *e)
{
	u32 container, i, next;

	if (!e->name || e->pid <= 0)
		return;
	i = event_process(a, e->pid);
	container = container_index(a, e->name, strlen(e->name));
	owner_known(a, e->pid, i, e->time_ns);
	if (a->process[i].pub.container && a->process[i].pub.container != container &&
	    a->process[i].state == PROCESS_LIVING) {
		next = process_succeed(a, i, e->time_ns);
		if (next != i)
			maps_copy(&a->store, &a->process[next].maps, &a->process[i].maps);
		thread_set(a, e->pid, next, 0);
		i = next;
	}
	process_contain(a, i, container);
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
	if (e->type == TASK_SWITCH) {
		timeline_add(&a->switches, e->cpu, e->time_ns, e->tid < 0 ? NOBODY : (u32)e->tid,
			     0);
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

bool attributor_has_times(const struct attributor *a)
{
	return a->live || a->owners.count || a->switches.count;
}

/* What @index became by @time_ns, which is in @span; that is cut to when it was so. */
static u32 process_during(struct attributor *a, u32 index, u32 generation, u64 time_ns,
			  struct attribute_span *span)
{
	const struct process *p;

	for (u32 n = 0; n < SUCCESSORS_MAX; n++) {
		p = &a->process[index];
		/* There was no room for all processes of the recording. */
		if (p->pub.generation != generation)
			break;
		if (!p->after_ns)
			return index;
		if (time_ns < p->after_ns) {
			span->to = p->after_ns < span->to ? p->after_ns : span->to;
			return index;
		}
		span->from = p->after_ns > span->from ? p->after_ns : span->from;
		index = p->after;
		generation = p->after_generation;
	}
	a->stats.unresolved++;
	return ATTRIBUTE_NONE;
}

u32 attributor_task_during(struct attributor *a, s32 tid, u64 time_ns,
			   struct attribute_span *ret_span)
{
	const struct timeline_span *owner;

	if (a->live)
		return attributor_task_live(a, tid, time_ns, ret_span);
	*ret_span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	if (tid <= 0)
		return tid ? ATTRIBUTE_NONE : IDLE;
	switch (timeline_find(&a->owners, (u32)tid, time_ns, &owner)) {
	case TIMELINE_NO_KEY:
		return attributor_task(a, tid);
	case TIMELINE_NOT_YET:
		a->stats.unresolved++;
		*ret_span = (struct attribute_span){ time_ns, time_ns + 1 };
		return ATTRIBUTE_NONE;
	case TIMELINE_FOUND:
		break;
	}
	*ret_span = (struct attribute_span){ owner->from, owner->to };
	return process_during(a, owner->value, owner->extra, time_ns, ret_span);
}

u32 attributor_task_at(struct attributor *a, s32 tid, u64 time_ns)
{
	struct attribute_span span;

	return attributor_task_during(a, tid, time_ns - (time_ns == ATTRIBUTE_AT_END), &span);
}

s32 attributor_running(struct attributor *a, u32 cpu, u64 time_ns, u64 early_ns, u64 late_ns)
{
	const struct timeline_span *span;

	if (a->live)
		return cpu < a->ring_cpus ? switch_ring_find(&a->rings[cpu], time_ns - early_ns,
							     time_ns + late_ns) :
					    -1;
	if (!a->switches.count || timeline_find(&a->switches, cpu, time_ns, &span) != TIMELINE_FOUND ||
	    span->value == NOBODY)
		return -1;
	return (s32)span->value;
}
