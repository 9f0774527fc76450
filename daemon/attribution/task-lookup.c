// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Look up tasks in /proc, and apply the answers to the tables. A query runs immediately on the
 * caller's thread, or on a background thread (proc-reader.h). In the background, events can change
 * the tables before the answer is applied.
 */
#include "attributor-internal.h"

#include "container.h"
#include "procfs.h"
#include "util/escape.h"
#include "util/time.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define QUERY_RETRIES 3 /* maximum number of times that a query is repeated because of events */

/* Limits of one refresh: sampled processes, other processes, reads of mappings, thread buckets */
#define REFRESH_PROCESSES 256
#define REFRESH_IDLE	  64
#define REFRESH_MAPS	  16
#define REFRESH_BUCKETS	  64

#define MAPS_MS 10000 /* interval of regular reads of mappings, ms */

static void answer_apply(struct attributor *a, const struct proc_answer *answer);

bool attributor_submit_query(struct attributor *a, const struct proc_query *q)
{
	struct proc_answer answer;

	if (a->reader)
		return proc_reader_push_query(a->reader, q);
	proc_query_run(a->proc_fd, a->log_path, &a->cgroup_ns, q, &answer);
	answer_apply(a, &answer);
	proc_answer_deinit(&answer);
	return true;
}

/* Returns the container in @answer; @fallback if /proc/PID/cgroup could not be read. */
static u32 answer_find_container(struct attributor *a, const struct proc_answer *answer,
				 u32 fallback)
{
	if (!answer->cgroup)
		return fallback;
	return *answer->cgroup ? container_find_or_add(a, answer->cgroup, strlen(answer->cgroup)) :
				 0;
}

/* ---- Mappings ---- */

/*
 * Returns a number for the owner of a process: the user or container that can delay a read of the
 * mappings. The owner is the user, or for root the cgroup, because containers often run as root.
 */
static u64 answer_get_map_owner(const struct proc_answer *answer)
{
	if (answer->uid)
		return 1ULL << 32 | answer->uid;
	return hash_path_nonzero(answer->cgroup ? answer->cgroup : "") | 1ULL << 63;
}

/* Returns a query of thread @tid of process @index. */
static struct proc_query process_make_query(const struct attributor *a, u32 index,
					    enum proc_query_kind kind, s32 tid)
{
	return (struct proc_query){
		.kind = (u8)kind,
		.tid = tid,
		.pid = a->process[index].pub.pid,
		.index = index,
		.generation = a->process[index].pub.generation,
	};
}

/* Query the mappings of process @index through its thread @tid. @answer describes the process. */
static void process_query_maps(struct attributor *a, u32 index, s32 tid,
			       const struct proc_answer *answer)
{
	struct proc_query q = process_make_query(a, index, PROC_QUERY_MAPS, tid);
	struct process_table_entry *p = &a->process[index];

	if (answer->stat.flags & PROCFS_KTHREAD)
		p->maps_answered_ns = answer->started_ns;
	if (p->query_pending || answer->stat.flags & PROCFS_KTHREAD)
		return;
	q.owner = answer_get_map_owner(answer);
	/* Clear the flag before the read, so that events lost during the read set it again. */
	a->reread_budget -= p->maps_stale && a->reread_budget;
	p->maps_stale = false;
	p->query_pending = true;
	p->maps_read_ms = coarse_now_ms();
	if (attributor_submit_query(a, &q))
		return;
	p->query_pending = false;
	p->maps_stale = true;
}

static void maps_add_answer(struct attributor *a, struct maps *maps,
			    const struct proc_answer *answer)
{
	for (u32 i = 0; i < answer->mappings; i++) {
		const struct proc_mapping *from = &answer->mapping[i];
		const struct mapping m = { .start = from->start,
					   .end = from->end,
					   .offset = from->offset };
		const struct mapped_binary_key file = { .path = answer->paths + from->path_at,
							.inode = from->inode,
							.device = from->device };

		maps_add(&a->store, maps, &m, &file);
	}
	a->store.dropped += answer->skipped;
}

/*
 * Replace the mappings with those of @answer. Then add the former mappings again, because events
 * may have reported some of them since the query.
 */
static void maps_merge_answer(struct attributor *a, struct process_table_entry *p,
			      const struct proc_answer *answer)
{
	struct maps reported = p->maps;

	p->maps = (struct maps){ 0 };
	maps_move_replaced(&p->maps, &reported);
	maps_add_answer(a, &p->maps, answer);
	for (u32 i = 0; i < reported.count; i++) {
		const struct mapped_binary_key file =
			mapped_binary_get_key(reported.entry[i].binary);

		maps_add(&a->store, &p->maps, &reported.entry[i], &file);
	}
	maps_clear(&a->store, &reported);
}

static bool stat_is_zombie(const struct procfs_stat *st)
{
	return st->state == 'Z' || st->state == 'X';
}

/* Returns whether @st shows the process and program of @p. A zombie has no addresses to compare. */
static bool process_matches_stat(const struct process_table_entry *p, const struct procfs_stat *st)
{
	return p->start_time == st->start_time &&
	       (stat_is_zombie(st) || !p->has_image ||
		(p->start_code == st->start_code && p->start_stack == st->start_stack));
}

/* Returns the entry that @answer describes; NULL if the entry was reused for another process. */
static struct process_table_entry *answer_find_process(struct attributor *a,
						       const struct proc_answer *answer)
{
	const struct proc_query *q = &answer->query;
	struct process_table_entry *p = &a->process[q->index];

	if (p->state == PROCESS_FREE || p->pub.generation != q->generation)
		return NULL;
	p->query_pending = false;
	return p;
}

/* Query the mappings that did not fit in @answer. */
static void process_query_remaining_maps(struct attributor *a, struct process_table_entry *p,
					 const struct proc_answer *answer)
{
	struct proc_query q = answer->query;

	if (p->maps.count >= MAPS_PER_PROCESS) {
		a->store.dropped++;
		return;
	}
	q.from = answer->next;
	p->query_pending = true;
	if (attributor_submit_query(a, &q))
		return;
	p->query_pending = false;
	a->store.dropped++;
}

static void maps_apply_answer(struct attributor *a, const struct proc_answer *answer)
{
	struct process_table_entry *p = answer_find_process(a, answer);

	if (p)
		p->maps_answered_ns = answer->started_ns;
	if (!p || answer->result < 0 || !process_matches_stat(p, &answer->stat))
		return;
	p->maps_read_ms = coarse_now_ms();
	if (p->maps_event_ns > answer->started_ns) {
		maps_merge_answer(a, p, answer);
	} else {
		if (!answer->query.from)
			maps_clear(&a->store, &p->maps);
		maps_add_answer(a, &p->maps, answer);
	}
	if (answer->next && answer->mappings)
		process_query_remaining_maps(a, p, answer);
}

/* ---- Processes ---- */

/* Returns whether the start time in @st, in ticks since boot, matches a fork at @forked_ns. */
static bool fork_time_matches(u64 forked_ns, const struct procfs_stat *st)
{
	u64 tick = 1000000000 / (u64)sysconf(_SC_CLK_TCK);
	/*
	 * The times in @st include suspend, @forked_ns does not. If the machine was suspended since
	 * the fork, the result is false.
	 */
	u64 ahead = time_clock_ns(CLOCK_BOOTTIME) - time_now_ns();
	u64 born = (forked_ns + ahead) / tick;

	return st->start_time <= born + 1 && born <= st->start_time + 1;
}

/* Copy the data from /proc to a process that only events have described so far. */
static void process_complete_from_stat(struct process_table_entry *p, const struct procfs_stat *st)
{
	if (!p->start_time && p->forked_ns && fork_time_matches(p->forked_ns, st))
		p->start_time = st->start_time;
	if (p->start_time != st->start_time || p->has_image || stat_is_zombie(st))
		return;
	p->start_code = st->start_code;
	p->start_stack = st->start_stack;
	p->has_image = true;
}

/*
 * Move process @index to @container if the process has no samples. Returns whether a new entry is
 * needed: the process has samples, and its container changed.
 */
static bool process_set_container_unless_sampled(struct attributor *a, u32 index, u32 container)
{
	struct process_table_entry *p = &a->process[index];

	if (a->sample_flags[index] & PROCESS_EVER_SAMPLED)
		return p->pub.container != container;
	process_set_container(a, index, container);
	return false;
}

/* Set process @index from @answer, and query its mappings. */
static void process_set_from_answer(struct attributor *a, u32 index,
				    const struct proc_answer *answer, u32 container)
{
	struct process_table_entry *p = &a->process[index];

	p->read_ns = answer->started_ns;
	p->needs_read = false;
	p->has_image = true;
	p->start_time = answer->stat.start_time;
	p->start_code = answer->stat.start_code;
	p->start_stack = answer->stat.start_stack;
	process_set_container(a, index, container);
	process_set_name(p, answer->stat.comm);
	/*
	 * Read the mappings through the queried thread, because a leader that exited before its
	 * threads has none.
	 */
	process_query_maps(a, index, answer->query.tid, answer);
}

/* Returns whether the leader exited before the queried thread, so that the process still runs. */
static bool leader_exited(const struct proc_answer *answer)
{
	return answer->query.tid != answer->pid && stat_is_zombie(&answer->stat) &&
	       answer->stat.threads > 1;
}

/* Create or update the process of a PROC_QUERY_TASK, and return it. */
static u32 process_apply_answer(struct attributor *a, const struct proc_answer *answer)
{
	const struct procfs_stat *st = &answer->stat;
	u32 i = process_find(a, answer->pid), container;
	bool same;

	if (i != ATTRIBUTE_NONE)
		process_complete_from_stat(&a->process[i], st);
	same = i != ATTRIBUTE_NONE && process_matches_stat(&a->process[i], st);
	/*
	 * If the process is exiting, /proc may have neither cgroup nor mappings any more: use the
	 * entry, which has them.
	 */
	if (same && (a->process[i].exit_reported ? !leader_exited(answer) : stat_is_zombie(st)))
		return i;
	container = answer_find_container(a, answer, 0);
	if (i == ATTRIBUTE_NONE || a->process[i].state != PROCESS_LIVING) {
		i = process_new(a, answer->pid);
	} else if (!same || process_set_container_unless_sampled(a, i, container)) {
		process_mark_dead(a, i);
		i = process_new(a, answer->pid);
	} else if (!a->process[i].needs_read && !(a->process[i].maps_stale && a->reread_budget)) {
		return i;
	}
	process_set_from_answer(a, i, answer, container);
	return i;
}

/*
 * Apply a PROC_QUERY_PROCESS. If program or container changed, mark the entry dead, so that earlier
 * samples stay with this entry. The next sample creates a new entry.
 */
static void process_apply_check_answer(struct attributor *a, const struct proc_answer *answer)
{
	const struct procfs_stat *st = &answer->stat;
	struct process_table_entry *p = answer_find_process(a, answer);
	u32 index = answer->query.index;

	if (!p || p->state != PROCESS_LIVING)
		return;
	if (answer->result == -ENOENT || answer->result == -ESRCH) {
		process_mark_dead(a, index);
		return;
	}
	/*
	 * Callers wait while @maps_answered_ns is old or a query is pending. If this function
	 * queries the mappings below, that query is pending; if not, callers must not wait.
	 */
	if (answer->query.then_maps)
		p->maps_answered_ns = answer->started_ns;
	if (answer->result < 0)
		return;
	process_complete_from_stat(p, st);
	if (!process_matches_stat(p, st) || (stat_is_zombie(st) && st->threads <= 1)) {
		process_mark_dead(a, index);
		return;
	}
	if (stat_is_zombie(st))
		return;
	process_set_name(p, st->comm);
	if (process_set_container_unless_sampled(
		    a, index, answer_find_container(a, answer, p->pub.container)))
		process_mark_dead(a, index);
	else if (answer->query.then_maps)
		process_query_maps(a, index, p->pub.pid, answer);
}

void process_compare_with_proc(struct attributor *a, u32 index, bool map)
{
	struct process_table_entry *p = &a->process[index];
	struct proc_query q = process_make_query(a, index, PROC_QUERY_PROCESS, p->pub.pid);

	if (__atomic_exchange_n(&p->query_pending, true, __ATOMIC_RELAXED))
		return;
	q.then_maps = map;
	if (!attributor_submit_query(a, &q))
		__atomic_store_n(&p->query_pending, false, __ATOMIC_RELAXED);
}

/*
 * Returns whether a read may still find a mapping that was made before @since_ns: a query is
 * pending, or the last completed read began before @since_ns. False if the process has exited.
 */
static bool maps_read_may_follow(const struct attributor *a, u32 index, u32 generation,
				 u64 since_ns)
{
	const struct process_table_entry *p = &a->process[index];

	return index < a->processes_used && index != IDLE_PROCESS && p->state == PROCESS_LIVING &&
	       p->pub.generation == generation &&
	       (p->maps_answered_ns < since_ns ||
		__atomic_load_n(&p->query_pending, __ATOMIC_RELAXED));
}

bool attributor_request_mappings(struct attributor *a, u32 index, u32 generation, u64 since_ns)
{
	u32 now = coarse_now_ms();

	if (!a->live || !maps_read_may_follow(a, index, generation, since_ns))
		return false;
	if (now - __atomic_load_n(&a->process[index].maps_read_ms, __ATOMIC_RELAXED) < MAPS_MISS_MS)
		return true;
	__atomic_store_n(&a->process[index].maps_read_ms, now, __ATOMIC_RELAXED);
	process_compare_with_proc(a, index, true);
	/* Without background threads the answer was applied already. */
	return maps_read_may_follow(a, index, generation, since_ns);
}

/* ---- Threads ---- */

static struct task_wait *task_wait_find_set(const struct attributor *a, s32 tid)
{
	u32 h = (u32)tid * 0x9e3779b1U;

	return &a->task_waits[(h >> 16) % (TASK_WAITS / TASK_WAIT_WAYS) * TASK_WAIT_WAYS];
}

/* Returns the entry of @tid (@key is @tid), or a free entry for @tid (@key is 0); NULL for none. */
static struct task_wait *task_wait_find(const struct attributor *a, s32 tid, s32 key)
{
	struct task_wait *set = task_wait_find_set(a, tid);

	for (u32 i = 0; i < TASK_WAIT_WAYS; i++)
		if (set[i].tid == key)
			return &set[i];
	return NULL;
}

bool task_is_pending(const struct attributor *a, s32 tid)
{
	const struct task_wait *w = a->reader ? task_wait_find(a, tid, tid) : NULL;

	return w && coarse_now_ms() - w->started_ms < a->sample_wait_ms;
}

/* Queue a query of @tid. Returns false if there is no free entry. */
static bool task_wait_start_query(struct attributor *a, s32 tid, bool sampled)
{
	const struct proc_query q = { .kind = PROC_QUERY_TASK, .tid = tid };
	struct task_wait *w = task_wait_find(a, tid, 0);

	if (!w || !attributor_submit_query(a, &q))
		return false;
	*w = (struct task_wait){ .tid = tid, .started_ms = coarse_now_ms(), .sampled = sampled };
	a->stats.lookups++;
	return true;
}

static u32 task_query_proc_now(struct attributor *a, s32 tid)
{
	const struct proc_query q = { .kind = PROC_QUERY_TASK, .tid = tid };
	struct proc_answer answer;
	u32 index;

	a->stats.lookups++;
	proc_query_run(a->proc_fd, a->log_path, &a->cgroup_ns, &q, &answer);
	index = answer.result < 0 ? ATTRIBUTE_NONE : process_apply_answer(a, &answer);
	proc_answer_deinit(&answer);
	return index;
}

u32 task_find_in_proc(struct attributor *a, s32 tid, bool sampled)
{
	struct task_wait *w;

	if (!a->reader)
		return task_query_proc_now(a, tid);
	w = task_wait_find(a, tid, tid);
	if (w)
		w->sampled |= sampled;
	if (w ? task_is_pending(a, tid) : task_wait_start_query(a, tid, sampled))
		return ATTRIBUTE_PENDING;
	a->stats.unanswered += sampled;
	return ATTRIBUTE_NONE;
}

/* Repeat the query if an event made @answer obsolete. Returns whether the query was repeated. */
static bool answer_repeat_if_obsolete(struct attributor *a, const struct proc_answer *answer,
				      struct task_wait *w)
{
	return answer->result >= 0 &&
	       a->changed_ns[(u32)answer->pid % TASK_CHANGES] > answer->started_ns &&
	       w->retries++ < QUERY_RETRIES && attributor_submit_query(a, &answer->query);
}

static void task_apply_answer(struct attributor *a, const struct proc_answer *answer)
{
	s32 tid = answer->query.tid;
	struct task_wait *w = task_wait_find(a, tid, tid);
	u32 index = ATTRIBUTE_NONE;
	bool sampled;

	if (!w || answer_repeat_if_obsolete(a, answer, w))
		return;
	sampled = w->sampled;
	*w = (struct task_wait){ 0 };
	if (answer->result >= 0)
		index = process_apply_answer(a, answer);
	if (sampled)
		task_store_lookup_result(a, tid, index);
}

/* Query some threads: if a thread exited while its process lives, its TID can be reused. */
static void threads_compare_with_proc(struct attributor *a)
{
	for (u32 n = 0; n < REFRESH_BUCKETS && n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[a->refresh_bucket_hand];

		a->refresh_bucket_hand = (a->refresh_bucket_hand + 1) & (a->threads.count - 1);
		for (u32 i = 0; i < THREAD_WAYS; i++) {
			u32 index = b->process[i];
			struct proc_query q;

			if (!b->tid[i] || b->stamp[i] != a->stamp[index] ||
			    index == a->threads.unresolved ||
			    a->process[index].pub.pid == b->tid[i])
				continue;
			q = process_make_query(a, index, PROC_QUERY_THREAD, b->tid[i]);
			attributor_submit_query(a, &q);
		}
	}
}

static void thread_apply_answer(struct attributor *a, const struct proc_answer *answer)
{
	const struct proc_query *q = &answer->query;
	struct thread_slot slot = thread_table_find(&a->threads, q->tid);

	/* Handle only -ESRCH, no such thread: PROC_QUERY_PROCESS detects exits of processes. */
	if (answer->result != -ESRCH || !slot.bucket ||
	    slot.bucket->process[slot.way] != q->index ||
	    a->process[q->index].pub.generation != q->generation ||
	    slot.bucket->stamp[slot.way] != a->stamp[q->index])
		return;
	slot.bucket->stamp[slot.way] |= 1;
}

/*
 * Queue queries of /proc for up to @budget living processes. If @sampled is set, query the
 * processes that were sampled since their last query, else the others. @hand: index of the next
 * process of a round-robin walk over all processes; it is advanced.
 */
static void processes_compare_with_proc(struct attributor *a, u32 *hand, u32 budget, bool sampled)
{
	u32 now = coarse_now_ms(), maps = REFRESH_MAPS;

	for (u32 n = 0; n < a->processes_used && budget; n++) {
		u32 i = *hand;
		bool map;

		*hand = i + 1 < a->processes_used ? i + 1 : IDLE_PROCESS + 1;
		if (i == IDLE_PROCESS || i >= a->processes_used ||
		    a->process[i].state != PROCESS_LIVING ||
		    !(a->sample_flags[i] & PROCESS_SAMPLED) == sampled)
			continue;
		map = sampled && maps && now - a->process[i].maps_read_ms >= MAPS_MS;
		maps -= map;
		process_compare_with_proc(a, i, map);
		a->sample_flags[i] &= (u8)~PROCESS_SAMPLED;
		budget--;
	}
}

void maps_reread_stale(struct attributor *a)
{
	for (u32 i = IDLE_PROCESS + 1; i < a->processes_used && a->reread_budget; i++)
		if (a->process[i].maps_stale && a->process[i].state == PROCESS_LIVING &&
		    a->sample_flags[i] & PROCESS_SAMPLED)
			process_compare_with_proc(a, i, true);
}

void tasks_compare_with_proc(struct attributor *a)
{
	/*
	 * Check the unsampled processes first: the check of a sampled process clears its flag, so
	 * it would be checked again as an unsampled one.
	 */
	processes_compare_with_proc(a, &a->refresh_idle_hand, REFRESH_IDLE, false);
	processes_compare_with_proc(a, &a->refresh_sampled_hand, REFRESH_PROCESSES, true);
	threads_compare_with_proc(a);
}

/* ---- Application of answers ---- */

static void answer_apply(struct attributor *a, const struct proc_answer *answer)
{
	a->stats.unanswered += answer->result == -ENOMEM;
	switch (answer->query.kind) {
	case PROC_QUERY_TASK:
		task_apply_answer(a, answer);
		break;
	case PROC_QUERY_PROCESS:
		process_apply_check_answer(a, answer);
		break;
	case PROC_QUERY_THREAD:
		thread_apply_answer(a, answer);
		break;
	case PROC_QUERY_MAPS:
		maps_apply_answer(a, answer);
		break;
	case PROC_QUERY_POD:
		container_apply_answer(a, answer);
		break;
	}
}

void attributor_apply_answers(struct attributor *a)
{
	struct proc_answer *answer;

	while (a->reader && (answer = proc_reader_pop_answer(a->reader))) {
		answer_apply(a, answer);
		proc_answer_deinit(answer);
		free(answer);
	}
}

bool attributor_has_answers(const struct attributor *a)
{
	return a->reader && proc_reader_has_answers(a->reader);
}

int attributor_get_answers_fd(const struct attributor *a)
{
	return a->reader ? proc_reader_get_fd(a->reader) : -1;
}
