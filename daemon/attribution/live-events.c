// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Apply task events of this machine. Events describe tasks that exit before /proc is read. Only
 * /proc describes the cgroups of cgroup v1, and tasks that started before the first event. An event
 * is ignored if /proc was read after the event, because the result already includes the change.
 * Only the time of such a fork is used.
 */
#include "attributor-internal.h"

#include "tasks/task-event.h"
#include "util/escape.h"

#include <unistd.h>

/* Set the process of @tid, and make the next sample of @tid look it up in /proc. */
static void thread_set_unverified(struct attributor *a, s32 tid, u32 index)
{
	thread_table_set_process(&a->threads, tid, index, a->stamp[index] | 1,
				 coarse_now_ms() - LOOKUP_RETRY_MS, a->stamp);
}

/* Mark @tid as not found, so that its next sample looks it up. */
static void thread_mark_not_found(struct attributor *a, s32 tid)
{
	if (thread_table_find(&a->threads, tid).bucket)
		thread_set_process(a, tid, ATTRIBUTE_NONE, coarse_now_ms() - LOOKUP_RETRY_MS);
}

/*
 * Mark @tid as exited. Late samples count for its process. After LOOKUP_RETRY_MS, a sample of @tid
 * causes a new lookup.
 */
static void thread_mark_exited(struct attributor *a, s32 tid, u32 index)
{
	struct thread_slot slot = thread_table_find(&a->threads, tid);

	if (!slot.bucket || slot.bucket->process[slot.way] != index)
		return;
	slot.bucket->stamp[slot.way] = a->stamp[index] ^ 1;
	slot.bucket->failed_ms[slot.way] = coarse_now_ms();
}

/* Returns whether /proc was read for process @index after @e happened. */
static bool event_is_stale(const struct attributor *a, u32 index, const struct task_event *e)
{
	return index != ATTRIBUTE_NONE && a->process[index].state == PROCESS_LIVING &&
	       a->process[index].read_ns >= e->time_ns;
}

/*
 * Returns the process that an event with @pid describes, or ATTRIBUTE_NONE. If only /proc showed
 * the exit, the dead entry is returned for LATE_SAMPLE_MS. /proc is newer than the events, and
 * process_apply_check_answer() also marks an entry dead after an exec. The event of that exec may
 * follow.
 */
static u32 event_find_process(struct attributor *a, s32 pid)
{
	u32 i = process_find(a, pid);

	if (i == ATTRIBUTE_NONE || i == IDLE_PROCESS)
		return ATTRIBUTE_NONE;
	if (a->process[i].state == PROCESS_LIVING)
		return i;
	return !a->process[i].exit_reported &&
			       coarse_now_ms() - a->process[i].died_ms < LATE_SAMPLE_MS ?
		       i :
		       ATTRIBUTE_NONE;
}

/*
 * Returns the parent process of a fork. If the parent is not completely known, query /proc now: the
 * child inherits name and container, and may exit before its first sample.
 */
static u32 live_find_parent(struct attributor *a, s32 pid)
{
	u32 known = event_find_process(a, pid), i;

	if (pid <= 0 || (known != ATTRIBUTE_NONE && !a->process[known].needs_read))
		return known;
	i = task_find_in_proc(a, pid, false);
	return i == ATTRIBUTE_NONE || i == ATTRIBUTE_PENDING ? known : i;
}

static u64 event_get_start_ticks(const struct task_event *e)
{
	return e->start_ns / (1000000000 / (u64)sysconf(_SC_CLK_TCK));
}

/*
 * Set the process of @tid, which an event reported. Unless @complete, the next sample of @tid reads
 * /proc.
 */
static void thread_set_reported_process(struct attributor *a, s32 tid, u32 index, bool complete)
{
	a->process[index].needs_read = !complete;
	if (complete)
		thread_set_process(a, tid, index, 0);
	else
		thread_set_unverified(a, tid, index);
}

static void live_update_thread(struct attributor *a, const struct task_event *e, u32 index)
{
	if (index == ATTRIBUTE_NONE || a->process[index].state != PROCESS_LIVING)
		thread_mark_not_found(a, e->tid);
	else if (a->process[index].needs_read)
		thread_set_unverified(a, e->tid, index);
	else
		thread_set_process(a, e->tid, index, 0);
}

/*
 * Copy the mappings of @parent to its child @index. The name of the child is @name, or the parent's
 * name if @name is empty. Returns whether the parent is completely known.
 */
static bool process_inherit(struct attributor *a, u32 index, u32 parent, const char *name)
{
	struct process_table_entry *p = &a->process[index];

	if (*name || parent == ATTRIBUTE_NONE)
		process_set_name(p, name);
	else
		memcpy(p->pub.comm, a->process[parent].pub.comm, sizeof(p->pub.comm));
	if (parent == ATTRIBUTE_NONE)
		return false;
	maps_copy(&a->store, &p->maps, &a->process[parent].maps);
	p->executable = mapped_binary_ref(a->process[parent].executable);
	p->maps_stale = a->process[parent].maps_stale;
	return !a->process[parent].needs_read;
}

/*
 * Apply the fork @e, which is older than the last read of process @index. The process was forked by
 * @e or later, so earlier samples of its PID belong to another process.
 */
static void process_limit_to_fork(struct attributor *a, u32 index, const struct task_event *e)
{
	if (e->time_ns > a->process[index].forked_ns)
		a->process[index].forked_ns = e->time_ns;
	if (e->time_ns > a->valid_from_ns[index])
		a->valid_from_ns[index] = e->time_ns;
}

static void live_apply_fork(struct attributor *a, const struct task_event *e)
{
	u32 owner = process_find(a, e->pid), parent, container, i;
	struct process_table_entry *p;
	bool complete;

	if (event_is_stale(a, owner, e)) {
		if (e->pid != e->parent_pid)
			process_limit_to_fork(a, owner, e);
		return;
	}
	if (e->pid == e->parent_pid) {
		live_update_thread(a, e, owner);
		return;
	}
	/* If the PID has an entry, it was reused, and the exit of the former process was lost. */
	if (owner != ATTRIBUTE_NONE)
		process_mark_dead(a, owner);
	thread_mark_not_found(a, e->tid);
	parent = live_find_parent(a, e->parent_pid);
	/* If nothing is known about the child, its first sample looks it up in /proc. */
	if (parent == ATTRIBUTE_NONE && !e->start_ns)
		return;
	i = process_new(a, e->pid);
	/* If process_new() evicted the parent, the first sample looks up the child in /proc. */
	if (i == parent) {
		process_mark_dead(a, i);
		return;
	}
	p = &a->process[i];
	p->forked_ns = e->time_ns;
	p->start_time = event_get_start_ticks(e);
	a->valid_from_ns[i] = e->time_ns;
	complete = process_inherit(a, i, parent, e->name);
	container = container_find_by_cgroup_id(a, e->cgroup);
	if (container != ATTRIBUTE_NONE)
		process_set_container(a, i, container);
	else if (parent != ATTRIBUTE_NONE)
		process_set_container(a, i, a->process[parent].pub.container);
	thread_set_reported_process(a, e->tid, i, complete && container != ATTRIBUTE_NONE);
}

/*
 * Create a new entry for process @index, and mark the old entry dead, so that earlier samples stay
 * with the old entry. Returns the new index, which can be @index if the table is full.
 */
static u32 process_replace(struct attributor *a, u32 index, const struct task_event *e)
{
	const struct process_table_entry old = a->process[index];
	struct process_table_entry *p;
	u32 i;

	process_mark_dead(a, index);
	i = process_new(a, old.pub.pid);
	p = &a->process[i];
	a->valid_from_ns[i] = e->time_ns;
	p->forked_ns = old.forked_ns;
	p->start_time = old.start_time;
	p->maps_stale = old.maps_stale;
	process_set_container(a, i, old.pub.container);
	memcpy(p->pub.comm, old.pub.comm, sizeof(p->pub.comm));
	return i;
}

/* Apply an exec to process @i. If the old program has a sample, create a new entry. */
static void live_apply_exec(struct attributor *a, u32 i, const struct task_event *e)
{
	u32 container;

	if (a->process[i].state == PROCESS_LIVING && !(a->sample_flags[i] & PROCESS_EVER_SAMPLED))
		process_clear_maps(&a->store, &a->process[i]);
	else
		i = process_replace(a, i, e);
	if (!a->process[i].start_time)
		a->process[i].start_time = event_get_start_ticks(e);
	a->process[i].has_image = false;
	container = container_find_by_cgroup_id(a, e->cgroup);
	if (container != ATTRIBUTE_NONE)
		process_set_container(a, i, container);
	process_set_name(&a->process[i], e->name);
	thread_set_reported_process(a, e->tid, i,
				    container != ATTRIBUTE_NONE && a->reports & TASK_REPORTS_MAPS);
}

/*
 * Returns the process that was reported as exited, but continues with the exec @e. If a thread
 * other than the leader calls exec, the kernel first ends the leader. perf reports that as the exit
 * of the process.
 */
static u32 exec_find_process(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	/*
	 * The exec follows the reported exit closely. Otherwise the event of a fork was lost, and
	 * the PID was reused.
	 */
	if (i == ATTRIBUTE_NONE || i == IDLE_PROCESS || !a->process[i].exit_reported ||
	    coarse_now_ms() - a->process[i].died_ms >= LATE_SAMPLE_MS ||
	    (e->start_ns && event_get_start_ticks(e) != a->process[i].start_time))
		return ATTRIBUTE_NONE;
	return i;
}

static void live_apply_comm(struct attributor *a, const struct task_event *e)
{
	u32 i = event_find_process(a, e->pid);

	if (i == ATTRIBUTE_NONE && e->exec)
		i = exec_find_process(a, e);
	if (i == ATTRIBUTE_NONE || event_is_stale(a, i, e))
		return;
	if (e->exec)
		live_apply_exec(a, i, e);
	else if (e->tid == e->pid)
		process_set_name(&a->process[i], e->name);
}

void threads_reassign(struct attributor *a, u32 from, u32 to)
{
	u32 living = a->stamp[from] & ~1U;

	for (u32 n = 0; n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[n];

		for (u32 i = 0; i < THREAD_WAYS; i++) {
			if (!b->tid[i] || b->process[i] != from || b->stamp[i] >> 1 != living >> 1)
				continue;
			b->process[i] = to;
			b->stamp[i] = a->stamp[to] | (b->stamp[i] & 1);
			b->failed_ms[i] = coarse_now_ms() - LOOKUP_RETRY_MS;
		}
	}
}

/* Move a process to another container. Only its later samples count for that container. */
static void process_move(struct attributor *a, u32 old, u32 container, const struct task_event *e)
{
	u32 i;

	if (a->process[old].state == PROCESS_LIVING &&
	    !(a->sample_flags[old] & PROCESS_EVER_SAMPLED)) {
		process_set_container(a, old, container);
		return;
	}
	i = process_replace(a, old, e);
	process_set_container(a, i, container);
	/* If process_new() reused the old entry, nothing is left to copy. */
	a->process[i].needs_read = i == old;
	if (i == old) {
		live_update_thread(a, e, i);
		return;
	}
	a->process[i].start_code = a->process[old].start_code;
	a->process[i].start_stack = a->process[old].start_stack;
	a->process[i].has_image = a->process[old].has_image;
	a->process[i].needs_read = a->process[old].needs_read;
	a->process[i].maps_read_ms = a->process[old].maps_read_ms;
	maps_copy(&a->store, &a->process[i].maps, &a->process[old].maps);
	a->process[i].executable = mapped_binary_ref(a->process[old].executable);
	a->process[i].maps_answered_ns = a->process[old].maps_answered_ns;
	live_update_thread(a, e, i);
	if (e->size != 1)
		threads_reassign(a, old, i);
}

static void live_apply_attach(struct attributor *a, const struct task_event *e)
{
	u32 i = event_find_process(a, e->pid), container;

	if (e->cgroup)
		cgroup_table_set_path(&a->cgroups, e->cgroup, e->name);
	if (i == ATTRIBUTE_NONE || event_is_stale(a, i, e))
		return;
	container = container_find_by_cgroup_id(a, e->cgroup);
	/* The process may have moved in a hierarchy of cgroup v1. Only /proc has its paths. */
	if (container == ATTRIBUTE_NONE)
		thread_set_unverified(a, e->pid, i);
	else if (container != a->process[i].pub.container)
		process_move(a, i, container, e);
}

static void live_apply_mmap(struct attributor *a, const struct task_event *e)
{
	const struct mapping m = { .start = e->start,
				   .end = e->start + e->size,
				   .offset = e->offset,
				   .since_ns = e->time_ns };
	const struct mapped_binary_key file = { .path = e->name,
						.inode = e->inode,
						.device = e->device };
	u32 i = process_find(a, e->pid);

	if (i == ATTRIBUTE_NONE || a->process[i].state != PROCESS_LIVING ||
	    event_is_stale(a, i, e) || !e->size || e->size > UINT64_MAX - e->start)
		return;
	maps_add(&a->store, &a->process[i].maps, &m, &file);
	a->process[i].maps_event_ns = e->time_ns;
}

static void live_apply_exit(struct attributor *a, const struct task_event *e)
{
	u32 i = process_find(a, e->pid);

	/*
	 * If /proc was read after the exit, it showed another process with that PID, or a zombie.
	 */
	if (i == ATTRIBUTE_NONE || event_is_stale(a, i, e))
		return;
	if (e->last) {
		a->process[i].exit_reported = true;
		process_mark_dead(a, i);
	}
	thread_mark_exited(a, e->tid, i);
}

/* Make the next sample of every thread look it up in /proc. */
static void threads_set_unverified(struct attributor *a)
{
	u32 before = coarse_now_ms() - LOOKUP_RETRY_MS;

	for (u32 n = 0; n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[n];

		for (u32 i = 0; i < THREAD_WAYS; i++) {
			if (!b->tid[i] || b->process[i] == a->threads.unresolved)
				continue;
			if (b->stamp[i] >> 1 == a->stamp[b->process[i]] >> 1)
				b->stamp[i] = a->stamp[b->process[i]] ^ 1;
			b->failed_ms[i] = before;
		}
	}
}

static void maps_mark_stale(struct attributor *a)
{
	for (u32 i = IDLE_PROCESS + 1; i < a->processes_used; i++)
		a->process[i].maps_stale |= a->process[i].state == PROCESS_LIVING;
}

/* Handle lost events: any task and its mappings may have changed. */
static void live_apply_lost(struct attributor *a, const struct task_event *e)
{
	a->stats.events_lost += e->size;
	for (u32 i = 0; i < TASK_CHANGES; i++)
		a->changed_ns[i] = e->time_ns > a->changed_ns[i] ? e->time_ns : a->changed_ns[i];
	threads_set_unverified(a);
	maps_mark_stale(a);
}

/* Handle lost events about mappings. Processes, names and containers remain valid. */
static void live_apply_lost_maps(struct attributor *a, const struct task_event *e)
{
	u32 i = e->pid > 0 ? process_find(a, e->pid) : ATTRIBUTE_NONE;

	a->stats.mappings_lost += e->size;
	if (e->pid <= 0)
		maps_mark_stale(a);
	else if (i != ATTRIBUTE_NONE)
		a->process[i].maps_stale |= a->process[i].state == PROCESS_LIVING;
}

/* Returns whether entry @index describes the same process and program as the TASK_SEED @e. */
static bool seed_matches(const struct attributor *a, u32 index, const struct task_event *e)
{
	const struct process_table_entry *p = &a->process[index];
	char comm[sizeof(p->pub.comm)];

	if (p->state != PROCESS_LIVING || p->start_time != event_get_start_ticks(e))
		return false;
	/* /proc shows these addresses only to privileged processes. */
	if (p->has_image && p->start_code > 1 && e->start)
		return p->start_code == e->start && p->start_stack == e->offset;
	escape_string(comm, sizeof(comm), e->name);
	return !strcmp(comm, p->pub.comm);
}

/* Returns whether a new entry would evict a living process. */
static bool process_table_is_full(const struct attributor *a)
{
	return a->processes_used >= a->processes && a->dead.first == ATTRIBUTE_NONE &&
	       a->dead_unsampled.first == ATTRIBUTE_NONE;
}

/* Returns the entry for a TASK_SEED; ATTRIBUTE_NONE if the table is full of living processes. */
static u32 seed_find_or_add(struct attributor *a, const struct task_event *e)
{
	u32 owner = process_find(a, e->pid), i;
	struct process_table_entry *p;

	if (owner != ATTRIBUTE_NONE && seed_matches(a, owner, e))
		return owner;
	if (process_table_is_full(a))
		return ATTRIBUTE_NONE;
	if (owner != ATTRIBUTE_NONE)
		process_mark_dead(a, owner);
	i = process_new(a, e->pid);
	p = &a->process[i];
	p->start_time = event_get_start_ticks(e);
	p->needs_read = true;
	process_set_name(p, e->name);
	/* Earlier samples of this PID belong to the predecessor, or remain unattributed. */
	if (owner != ATTRIBUTE_NONE)
		a->valid_from_ns[i] = e->time_ns;
	return i;
}

static void live_apply_seed(struct attributor *a, const struct task_event *e)
{
	u32 i = seed_find_or_add(a, e), container;

	if (i == ATTRIBUTE_NONE)
		return;
	container = container_find_by_cgroup_id(a, e->cgroup);
	if (container != ATTRIBUTE_NONE && container != a->process[i].pub.container) {
		process_move(a, i, container, e);
		i = process_find(a, e->pid);
	}
	a->process[i].read_ns = e->time_ns;
	a->process[i].seed_round = a->seed_round;
	live_update_thread(a, e, i);
}

/* Finish a report of all tasks. Processes that it did not include have exited. */
static void live_apply_seeded(struct attributor *a, const struct task_event *e)
{
	for (u32 i = IDLE_PROCESS + 1; i < a->processes_used; i++) {
		struct process_table_entry *p = &a->process[i];

		if (p->state == PROCESS_LIVING && p->seed_round != a->seed_round &&
		    p->forked_ns < e->time_ns && p->read_ns < e->time_ns)
			process_mark_dead(a, i);
	}
	/* Skip 0, which marks entries that no report included. */
	a->seed_round = a->seed_round < UINT8_MAX ? a->seed_round + 1 : 1;
	a->reports = (u32)e->size;
}

/* Apply a change of a cgroup. An event without an id reports that a cgroup of v1 was renamed. */
static void live_apply_cgroup(struct attributor *a, const struct task_event *e)
{
	if (e->type == TASK_CGROUP_REMOVED)
		cgroup_table_mark_removed(&a->cgroups, e->cgroup);
	else if (e->cgroup)
		cgroup_table_set_path(&a->cgroups, e->cgroup, e->name);
	else
		threads_set_unverified(a);
}

/* Apply an event that is not about one task. Returns false for other events. */
static bool event_apply_global(struct attributor *a, const struct task_event *e)
{
	switch (e->type) {
	case TASK_LOST:
		live_apply_lost(a, e);
		return true;
	case TASK_LOST_MAPS:
		live_apply_lost_maps(a, e);
		return true;
	case TASK_SEEDED:
		live_apply_seeded(a, e);
		return true;
	case TASK_CGROUP:
	case TASK_CGROUP_REMOVED:
		live_apply_cgroup(a, e);
		return true;
	}
	return false;
}

/* Record the time of @e: a query of /proc that began earlier may have an obsolete answer. */
static void pid_store_change_time(struct attributor *a, const struct task_event *e)
{
	u64 *changed_ns = &a->changed_ns[(u32)e->pid % TASK_CHANGES];

	if (e->type != TASK_MMAP && e->time_ns > *changed_ns)
		*changed_ns = e->time_ns;
}

void attributor_apply_event_live(struct attributor *a, const struct task_event *e)
{
	a->stats.events++;
	/* Tasks outside of this PID namespace have no PID. */
	if (event_apply_global(a, e) || e->pid <= 0 || e->tid <= 0)
		return;
	pid_store_change_time(a, e);
	switch (e->type) {
	case TASK_COMM:
		live_apply_comm(a, e);
		break;
	case TASK_FORK:
		live_apply_fork(a, e);
		break;
	case TASK_EXIT:
		live_apply_exit(a, e);
		break;
	case TASK_MMAP:
		live_apply_mmap(a, e);
		break;
	case TASK_ATTACH:
		live_apply_attach(a, e);
		break;
	case TASK_SEED:
		live_apply_seed(a, e);
		break;
	}
}
