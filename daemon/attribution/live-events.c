// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the kernel tells of tasks while /proc can be asked too. Events know of those
 * who are gone before /proc is read; /proc knows cgroups, and those from before the
 * first event. What /proc was asked after an event wins over the event.
 */
#include "attributor-internal.h"

#include "tasks/task-event.h"
#include "util/escape.h"

#include <unistd.h>

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
	u32 known = event_process(a, pid), i;
	u8 used;

	if (pid <= 0 || (known != ATTRIBUTE_NONE && !a->process[known].unread))
		return known;
	used = known == ATTRIBUTE_NONE ? 0 : a->used[known];
	i = task_lookup(a, pid, false);
	if (i == ATTRIBUTE_NONE || i == ATTRIBUTE_PENDING)
		return known;
	if (a->process[i].state == PROCESS_LIVING)
		a->used[i] = used;
	return i;
}

/* Who has a number, before another entry is made for it. */
struct holder {
	u32 index;
	u32 generation;
};

static struct holder holder_of(const struct attributor *a, u32 index)
{
	return (struct holder){
		.index = index,
		.generation = index == ATTRIBUTE_NONE ? 0 : a->process[index].pub.generation,
	};
}

/*
 * When @e made an entry for who has its number now, and who had it before: as it was then, since
 * that entry may have been given to whoever else an entry was made for.
 */
static void process_since(struct attributor *a, u32 index, struct holder before,
			  const struct task_event *e)
{
	struct process *p = &a->process[index];

	a->since[index] = e->time_ns;
	if (before.index == ATTRIBUTE_NONE || before.index == index)
		return;
	p->before = before.index;
	p->before_generation = before.generation;
}

static u64 start_ticks(const struct task_event *e)
{
	return e->start_ns / (1000000000 / (u64)sysconf(_SC_CLK_TCK));
}

/* What was told of a task is all there is to know; else /proc is asked at its first sample. */
static void thread_reported(struct attributor *a, s32 tid, u32 index, bool whole)
{
	a->process[index].unread = !whole;
	if (whole)
		thread_set(a, tid, index, 0);
	else
		thread_unverified(a, tid, index);
}

static void live_thread(struct attributor *a, const struct task_event *e, u32 index)
{
	if (index == ATTRIBUTE_NONE || a->process[index].state != PROCESS_LIVING)
		thread_forget(a, e->tid);
	else if (a->process[index].unread)
		thread_unverified(a, e->tid, index);
	else
		thread_set(a, e->tid, index, 0);
}

/* @parent's name and maps for the child at @index; what is known of the parent, if anything. */
static bool process_inherit(struct attributor *a, u32 index, u32 parent, const char *name)
{
	struct process *p = &a->process[index];

	if (*name || parent == ATTRIBUTE_NONE)
		process_name(p, name);
	else
		memcpy(p->pub.comm, a->process[parent].pub.comm, sizeof(p->pub.comm));
	if (parent == ATTRIBUTE_NONE)
		return false;
	maps_copy(&a->store, &p->maps, &a->process[parent].maps);
	p->doubted = a->process[parent].doubted;
	return !a->process[parent].unread;
}

static void live_fork(struct attributor *a, const struct task_event *e)
{
	const struct holder before = holder_of(a, process_find(a, e->pid));
	u32 parent, container, i;
	struct process *p;
	bool whole;

	if (is_stale(a, before.index, e))
		return;
	if (e->pid == e->parent_pid) {
		live_thread(a, e, before.index);
		return;
	}
	/* Its exit was lost. */
	if (before.index != ATTRIBUTE_NONE)
		process_die(a, before.index);
	thread_forget(a, e->tid);
	parent = live_parent(a, e->parent_pid);
	/* /proc may know of the child, if it lives when it is sampled. */
	if (parent == ATTRIBUTE_NONE && !e->start_ns)
		return;
	i = process_new(a, e->pid);
	/* The parent's own entry may have been the one to go. */
	if (i == parent) {
		process_die(a, i);
		return;
	}
	p = &a->process[i];
	p->born_ns = e->time_ns;
	p->start_time = start_ticks(e);
	process_since(a, i, before, e);
	whole = process_inherit(a, i, parent, e->name);
	container = container_of_cgroup(a, e->cgroup);
	if (container != ATTRIBUTE_NONE)
		process_contain(a, i, container);
	else if (parent != ATTRIBUTE_NONE)
		process_contain(a, i, a->process[parent].pub.container);
	a->used[i] = 0;
	thread_reported(a, e->tid, i, whole && container != ATTRIBUTE_NONE);
}

/*
 * An entry for what process @index is from now on: what was sampled stays with the old one,
 * which is dead. ATTRIBUTE_NONE if the table is so small that it took the old one's place.
 */
static u32 process_renew(struct attributor *a, u32 index, const struct task_event *e)
{
	const struct process old = a->process[index];
	const struct holder before = holder_of(a, index);
	struct process *p;
	u32 i;

	process_die(a, index);
	i = process_new(a, old.pub.pid);
	p = &a->process[i];
	a->used[i] = 0;
	p->born_ns = old.born_ns;
	p->start_time = old.start_time;
	p->doubted = old.doubted;
	process_contain(a, i, old.pub.container);
	memcpy(p->pub.comm, old.pub.comm, sizeof(p->pub.comm));
	process_since(a, i, before, e);
	return i;
}

/* A new image is a new entry, unless nothing was sampled of the one before. */
static void live_exec(struct attributor *a, u32 i, const struct task_event *e)
{
	u32 container;

	if (a->process[i].state == PROCESS_LIVING && !(a->used[i] & PROCESS_EVER_SAMPLED))
		maps_clear(&a->store, &a->process[i].maps);
	else
		i = process_renew(a, i, e);
	if (!a->process[i].start_time)
		a->process[i].start_time = start_ticks(e);
	a->process[i].image = false;
	container = container_of_cgroup(a, e->cgroup);
	if (container != ATTRIBUTE_NONE)
		process_contain(a, i, container);
	process_name(&a->process[i], e->name);
	thread_reported(a, e->tid, i,
			container != ATTRIBUTE_NONE && a->reports & TASK_REPORTS_MAPS);
}

/*
 * perf tells of a leader's exit as of its process's. Where another thread executes, the leader
 * ends first: who executes lives, and was that process.
 */
static u32 exec_process(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	/* The one comes with the other: later it is somebody else, whose fork was lost. */
	if (i == ATTRIBUTE_NONE || i == IDLE || !a->process[i].exited ||
	    now_ms() - a->process[i].died >= LATE_MS ||
	    (e->start_ns && start_ticks(e) != a->process[i].start_time))
		return ATTRIBUTE_NONE;
	return i;
}

static void live_comm(struct attributor *a, const struct task_event *e)
{
	u32 i = event_process(a, e->pid);

	if (i == ATTRIBUTE_NONE && e->exec)
		i = exec_process(a, e);
	if (i == ATTRIBUTE_NONE || is_stale(a, i, e))
		return;
	if (e->exec)
		live_exec(a, i, e);
	else if (e->tid == e->pid)
		process_name(&a->process[i], e->name);
}

/* All threads of process @from are of @to; those that are dead already are late, if anything. */
void threads_rehome(struct attributor *a, u32 from, u32 to)
{
	u32 living = a->stamp[from] & ~1U;

	for (u32 n = 0; n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[n];

		for (u32 i = 0; i < THREAD_WAYS; i++) {
			if (!b->tid[i] || b->process[i] != from || b->stamp[i] >> 1 != living >> 1)
				continue;
			b->process[i] = to;
			b->stamp[i] = a->stamp[to] | (b->stamp[i] & 1);
			b->failed[i] = now_ms() - RETRY_MS;
		}
	}
}

/* What is sampled from now on counts to another container. */
static void process_move(struct attributor *a, u32 old, u32 container, const struct task_event *e)
{
	u32 i;

	if (a->process[old].state == PROCESS_LIVING && !(a->used[old] & PROCESS_EVER_SAMPLED)) {
		process_contain(a, old, container);
		return;
	}
	i = process_renew(a, old, e);
	process_contain(a, i, container);
	/* With its entry went all else that was known: /proc is asked. */
	a->process[i].unread = i == old;
	if (i == old) {
		live_thread(a, e, i);
		return;
	}
	a->process[i].start_code = a->process[old].start_code;
	a->process[i].start_stack = a->process[old].start_stack;
	a->process[i].image = a->process[old].image;
	a->process[i].unread = a->process[old].unread;
	a->process[i].mapped = a->process[old].mapped;
	maps_copy(&a->store, &a->process[i].maps, &a->process[old].maps);
	live_thread(a, e, i);
	if (e->size != 1)
		threads_rehome(a, old, i);
}

static void live_attach(struct attributor *a, const struct task_event *e)
{
	u32 i = event_process(a, e->pid), container;

	if (e->cgroup)
		cgroups_set(&a->cgroups, e->cgroup, e->name);
	if (i == ATTRIBUTE_NONE || is_stale(a, i, e))
		return;
	container = container_of_cgroup(a, e->cgroup);
	/* In a hierarchy of version 1: /proc tells where that is. */
	if (container == ATTRIBUTE_NONE)
		thread_unverified(a, e->pid, i);
	else if (container != a->process[i].pub.container)
		process_move(a, i, container, e);
}

static void live_mmap(struct attributor *a, const struct task_event *e)
{
	const struct mapping m = { .start = e->start,
				   .end = e->start + e->size,
				   .offset = e->offset };
	const struct binary_key file = { .path = e->name,
					 .inode = e->inode,
					 .device = e->device };
	u32 i = process_find(a, e->pid);

	if (i == ATTRIBUTE_NONE || a->process[i].state != PROCESS_LIVING || is_stale(a, i, e) ||
	    !e->size || e->size > UINT64_MAX - e->start)
		return;
	maps_add(&a->store, &a->process[i].maps, &m, &file);
	a->process[i].mapped_ns = e->time_ns;
}

static void live_exit(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	/* Read since: of whoever has the number now, or what a zombie still tells. */
	if (i == ATTRIBUTE_NONE || is_stale(a, i, e))
		return;
	if (e->last) {
		a->process[i].exited = true;
		process_die(a, i);
	}
	thread_exited(a, e->tid, i);
}

/* Every TID is asked for again. */
static void threads_unverified(struct attributor *a)
{
	u32 before = now_ms() - RETRY_MS;

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

/* The mappings of all that live may have changed. */
static void maps_doubt(struct attributor *a)
{
	for (u32 i = IDLE + 1; i < a->fresh; i++)
		a->process[i].doubted |= a->process[i].state == PROCESS_LIVING;
}

/* What was lost may have been any fork, exec, move or exit; or a mapping, of perf. */
static void live_lost(struct attributor *a, const struct task_event *e)
{
	a->stats.events_lost += e->size;
	for (u32 i = 0; i < TASK_CHANGES; i++)
		a->changed_ns[i] = e->time_ns > a->changed_ns[i] ? e->time_ns : a->changed_ns[i];
	threads_unverified(a);
	maps_doubt(a);
}

/* Tasks are what they were: only where their functions are may be another place. */
static void live_lost_maps(struct attributor *a, const struct task_event *e)
{
	u32 i = e->pid > 0 ? process_find(a, e->pid) : ATTRIBUTE_NONE;

	a->stats.mappings_lost += e->size;
	if (e->pid <= 0)
		maps_doubt(a);
	else if (i != ATTRIBUTE_NONE)
		a->process[i].doubted |= a->process[i].state == PROCESS_LIVING;
}

/* Whether process @index is the one that the iterator saw, with the image it had. */
static bool seed_known(const struct attributor *a, u32 index, const struct task_event *e)
{
	const struct process *p = &a->process[index];
	char comm[sizeof(p->pub.comm)];

	if (p->state != PROCESS_LIVING || p->start_time != start_ticks(e))
		return false;
	/* /proc does not show them to everyone. */
	if (p->image && p->start_code > 1 && e->start)
		return p->start_code == e->start && p->start_stack == e->offset;
	escape_string(comm, sizeof(comm), e->name);
	return !strcmp(comm, p->pub.comm);
}

/* The table is full of the living: a task at rest is no reason to forget one of them. */
static bool is_full(const struct attributor *a)
{
	return a->fresh >= a->processes && a->dead.first == ATTRIBUTE_NONE &&
	       a->dead_unsampled.first == ATTRIBUTE_NONE;
}

static u32 seed_process(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);
	const struct holder before = holder_of(a, i);
	struct process *p;

	if (i != ATTRIBUTE_NONE && seed_known(a, i, e))
		return i;
	if (is_full(a))
		return ATTRIBUTE_NONE;
	if (i != ATTRIBUTE_NONE)
		process_die(a, i);
	i = process_new(a, e->pid);
	p = &a->process[i];
	p->start_time = start_ticks(e);
	p->unread = true;
	process_name(p, e->name);
	a->used[i] = 0;
	/* Whatever was sampled before was of the one before, or nobody knows. */
	if (before.index != ATTRIBUTE_NONE)
		process_since(a, i, before, e);
	return i;
}

static void live_seed(struct attributor *a, const struct task_event *e)
{
	u32 i = seed_process(a, e), container;

	if (i == ATTRIBUTE_NONE)
		return;
	container = container_of_cgroup(a, e->cgroup);
	if (container != ATTRIBUTE_NONE && container != a->process[i].pub.container) {
		process_move(a, i, container, e);
		i = process_find(a, e->pid);
	}
	a->process[i].read_ns = e->time_ns;
	a->process[i].round = a->round;
	live_thread(a, e, i);
}

/* Those that were not seen ended, and that was lost. */
static void live_seeded(struct attributor *a, const struct task_event *e)
{
	for (u32 i = IDLE + 1; i < a->fresh; i++) {
		struct process *p = &a->process[i];

		if (p->state == PROCESS_LIVING && p->round != a->round && p->born_ns < e->time_ns &&
		    p->read_ns < e->time_ns)
			process_die(a, i);
	}
	/* 0 is that of entries that no seeding has seen. */
	a->round = a->round < UINT8_MAX ? a->round + 1 : 1;
	a->reports = (u32)e->size;
}

/* Only version 1 has names that change: whoever is below is asked for again. */
static void live_cgroup(struct attributor *a, const struct task_event *e)
{
	if (e->type == TASK_CGROUP_REMOVED)
		cgroups_mark_removed(&a->cgroups, e->cgroup);
	else if (e->cgroup)
		cgroups_set(&a->cgroups, e->cgroup, e->name);
	else
		threads_unverified(a);
}

/* Events that are not about one task. */
static bool event_machine(struct attributor *a, const struct task_event *e)
{
	switch (e->type) {
	case TASK_LOST:
		live_lost(a, e);
		return true;
	case TASK_LOST_MAPS:
		live_lost_maps(a, e);
		return true;
	case TASK_SEEDED:
		live_seeded(a, e);
		return true;
	case TASK_CGROUP:
	case TASK_CGROUP_REMOVED:
		live_cgroup(a, e);
		return true;
	}
	return false;
}

/* A query that began before @e has an answer without it. */
static void note_change(struct attributor *a, const struct task_event *e)
{
	u64 *changed_ns = &a->changed_ns[(u32)e->pid % TASK_CHANGES];

	if (e->type != TASK_MMAP && e->time_ns > *changed_ns)
		*changed_ns = e->time_ns;
}

void attributor_event_live(struct attributor *a, const struct task_event *e)
{
	a->stats.events++;
	/* Tasks outside of this PID namespace have no number. */
	if (event_machine(a, e) || e->pid <= 0 || e->tid <= 0)
		return;
	note_change(a, e);
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
	case TASK_ATTACH:
		live_attach(a, e);
		break;
	case TASK_SEED:
		live_seed(a, e);
		break;
	}
}
