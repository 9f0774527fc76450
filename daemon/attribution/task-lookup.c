// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What /proc answers, in the attributor's tables. A query runs at once, on the caller's thread,
 * or in the background (proc-reader.h): then tables are changed when its answer is taken, and
 * events may have changed them in between.
 */
#include "attributor-internal.h"

#include "container.h"
#include "procfs.h"
#include "util/escape.h"
#include "util/time.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RETRIES 3 /* of an answer that events made out of date */

/* What one refresh may cost: entries looked at, at some microseconds each. */
#define REFRESH_PROCESSES 256
#define REFRESH_IDLE	  64
#define REFRESH_MAPS	  16
#define REFRESH_BUCKETS	  64

#define MAPS_MS 10000 /* before mappings are read again without a cause */

static void answer_take(struct attributor *a, const struct proc_answer *answer);

bool attributor_query(struct attributor *a, const struct proc_query *q)
{
	struct proc_answer answer;

	if (a->reader)
		return proc_reader_push(a->reader, q);
	proc_query_run(a->proc, a->log, &a->space, q, &answer);
	answer_take(a, &answer);
	proc_answer_deinit(&answer);
	return true;
}

/* The container that @answer names; @otherwise if that could not be read. */
static u32 answer_container(struct attributor *a, const struct proc_answer *answer, u32 otherwise)
{
	if (!answer->cgroup)
		return otherwise;
	return *answer->cgroup ? container_index(a, answer->cgroup, strlen(answer->cgroup)) : 0;
}

/* Mappings */

/*
 * Whose fault it is if its mappings take long: a user's. Containers of root have no user of their
 * own, but a cgroup.
 */
static u64 map_owner(const struct proc_answer *answer)
{
	if (answer->uid)
		return 1ULL << 32 | answer->uid;
	return path_hash(answer->cgroup ? answer->cgroup : "") | 1ULL << 63;
}

/* After @answer about process @index; through thread @tid. */
static void maps_query(struct attributor *a, u32 index, s32 tid, const struct proc_answer *answer)
{
	struct process *p = &a->process[index];
	const struct proc_query q = {
		.kind = PROC_QUERY_MAPS,
		.owner = map_owner(answer),
		.tid = tid,
		.pid = p->pub.pid,
		.index = index,
		.generation = p->pub.generation,
	};

	if (p->querying || answer->stat.flags & PROCFS_KTHREAD)
		return;
	/* Events that are lost from now on raise the doubt again. */
	a->rereads -= p->doubted && a->rereads;
	p->doubted = false;
	p->querying = true;
	p->mapped = now_ms();
	if (attributor_query(a, &q))
		return;
	p->querying = false;
	p->doubted = true;
}

static void maps_fill(struct attributor *a, struct maps *maps, const struct proc_answer *answer)
{
	for (u32 i = 0; i < answer->mappings; i++) {
		const struct proc_mapping *from = &answer->mapping[i];
		const struct mapping m = { .start = from->start,
					   .end = from->end,
					   .offset = from->offset };
		const struct binary_key file = { .path = answer->paths + from->path_at,
						 .inode = from->inode,
						 .device = from->device };

		maps_add(&a->store, maps, &m, &file);
	}
	a->store.dropped += answer->skipped;
}

/* Mappings that events reported after the query override its answer. */
static void maps_merge(struct attributor *a, struct process *p, const struct proc_answer *answer)
{
	struct maps reported = p->maps;

	p->maps = (struct maps){ 0 };
	maps_fill(a, &p->maps, answer);
	for (u32 i = 0; i < reported.count; i++) {
		const struct binary_key file = binary_key(reported.entry[i].binary);

		maps_add(&a->store, &p->maps, &reported.entry[i], &file);
	}
	maps_clear(&a->store, &reported);
}

static bool is_zombie(const struct procfs_stat *st)
{
	return st->state == 'Z' || st->state == 'X';
}

/* A zombie has no image left to compare; nor can it have got another one. */
static bool same_image(const struct process *p, const struct procfs_stat *st)
{
	return p->start_time == st->start_time &&
	       (is_zombie(st) || !p->image ||
		(p->start_code == st->start_code && p->start_stack == st->start_stack));
}

/* The entry that @answer is about, if it is still of the same process. */
static struct process *answer_process(struct attributor *a, const struct proc_answer *answer)
{
	const struct proc_query *q = &answer->query;
	struct process *p = &a->process[q->index];

	if (p->state == PROCESS_FREE || p->pub.generation != q->generation)
		return NULL;
	p->querying = false;
	return p;
}

/* The mappings that @answer had no capacity for. */
static void maps_query_next(struct attributor *a, struct process *p,
			    const struct proc_answer *answer)
{
	struct proc_query q = answer->query;

	if (p->maps.count >= MAPS_PER_PROCESS) {
		a->store.dropped++;
		return;
	}
	q.from = answer->next;
	p->querying = true;
	if (attributor_query(a, &q))
		return;
	p->querying = false;
	a->store.dropped++;
}

static void maps_answered(struct attributor *a, const struct proc_answer *answer)
{
	struct process *p = answer_process(a, answer);

	if (!p || answer->result < 0 || !same_image(p, &answer->stat))
		return;
	p->mapped = now_ms();
	if (p->mapped_ns > answer->asked_ns) {
		maps_merge(a, p, answer);
	} else {
		if (!answer->query.from)
			maps_clear(&a->store, &p->maps);
		maps_fill(a, &p->maps, answer);
	}
	if (answer->next && answer->mappings)
		maps_query_next(a, p, answer);
}

/* Processes */

/* Whether @st, in ticks since boot, is of a process that was born at @born_ns. */
static bool same_birth(u64 born_ns, const struct procfs_stat *st)
{
	u64 tick = 1000000000 / (u64)sysconf(_SC_CLK_TCK);
	/* As it is now: after a suspend in between it is another one, for /proc to find. */
	u64 ahead = time_clock_ns(CLOCK_BOOTTIME) - time_now_ns();
	u64 born = (born_ns + ahead) / tick;

	return st->start_time <= born + 1 && born <= st->start_time + 1;
}

/* Identify a process by /proc that only events have reported so far. */
static void process_adopt(struct process *p, const struct procfs_stat *st)
{
	if (!p->start_time && p->born_ns && same_birth(p->born_ns, st))
		p->start_time = st->start_time;
	if (p->start_time != st->start_time || p->image || is_zombie(st))
		return;
	p->start_code = st->start_code;
	p->start_stack = st->start_stack;
	p->image = true;
}

/* Of one without samples nothing was said: it may move to @container as it is. */
static bool process_moved(struct attributor *a, u32 index, u32 container)
{
	struct process *p = &a->process[index];

	if (a->used[index] & PROCESS_EVER_SAMPLED)
		return p->pub.container != container;
	process_contain(a, index, container);
	return false;
}

/* What @answer says of process @index, which it made or made whole. */
static void process_fill(struct attributor *a, u32 index, const struct proc_answer *answer,
			 u32 container)
{
	struct process *p = &a->process[index];

	p->read_ns = answer->asked_ns;
	p->unread = false;
	p->image = true;
	p->start_time = answer->stat.start_time;
	p->start_code = answer->stat.start_code;
	p->start_stack = answer->stat.start_stack;
	process_contain(a, index, container);
	process_name(p, answer->stat.comm);
	/* Through the thread: a leader that exited before its threads has no maps. */
	maps_query(a, index, answer->query.tid, answer);
}

/*
 * Whether @answer shows a thread that outlives its leader. perf reports the leader's exit as that
 * of the process, which goes on.
 */
static bool leader_exited(const struct proc_answer *answer)
{
	return answer->query.tid != answer->pid && is_zombie(&answer->stat) &&
	       answer->stat.threads > 1;
}

/* The process that @answer is about, after it was made or brought up to date. */
static u32 process_answered(struct attributor *a, const struct proc_answer *answer)
{
	const struct procfs_stat *st = &answer->stat;
	u32 i = process_find(a, answer->pid), container;
	bool same;

	if (i != ATTRIBUTE_NONE)
		process_adopt(&a->process[i], st);
	same = i != ATTRIBUTE_NONE && same_image(&a->process[i], st);
	/* An event said that it exits, and /proc does not know yet; or maps and cgroup are gone. */
	if (same && (a->process[i].exited ? !leader_exited(answer) : is_zombie(st)))
		return i;
	container = answer_container(a, answer, 0);
	if (i == ATTRIBUTE_NONE || a->process[i].state != PROCESS_LIVING) {
		i = process_new(a, answer->pid);
	} else if (!same || process_moved(a, i, container)) {
		process_die(a, i);
		i = process_new(a, answer->pid);
	} else if (!a->process[i].unread && !(a->process[i].doubted && a->rereads)) {
		return i;
	}
	process_fill(a, i, answer, container);
	return i;
}

/*
 * Look at a living process again. An image or a container that changed makes
 * another entry, so that what was sampled before stays what it was.
 */
static void process_examined(struct attributor *a, const struct proc_answer *answer)
{
	const struct procfs_stat *st = &answer->stat;
	struct process *p = answer_process(a, answer);
	u32 index = answer->query.index;

	if (!p || p->state != PROCESS_LIVING)
		return;
	if (answer->result == -ENOENT || answer->result == -ESRCH) {
		process_die(a, index);
		return;
	}
	if (answer->result < 0)
		return;
	process_adopt(p, st);
	if (!same_image(p, st) || (is_zombie(st) && st->threads <= 1)) {
		process_die(a, index);
		return;
	}
	if (is_zombie(st))
		return;
	process_name(p, st->comm);
	if (process_moved(a, index, answer_container(a, answer, p->pub.container)))
		process_die(a, index);
	else if (answer->query.map)
		maps_query(a, index, p->pub.pid, answer);
}

void process_query(struct attributor *a, u32 index, bool map)
{
	struct process *p = &a->process[index];
	const struct proc_query q = {
		.kind = PROC_QUERY_PROCESS,
		.tid = p->pub.pid,
		.pid = p->pub.pid,
		.index = index,
		.generation = p->pub.generation,
		.map = map,
	};

	if (p->querying)
		return;
	p->querying = true;
	if (!attributor_query(a, &q))
		p->querying = false;
}

/* Threads */

static struct task_wait *wait_set(const struct attributor *a, s32 tid)
{
	u32 h = (u32)tid * 0x9e3779b1U;

	return &a->wait[(h >> 16) % (TASK_WAITS / TASK_WAIT_WAYS) * TASK_WAIT_WAYS];
}

/* Of @tid, or a free one for 0; NULL for none. */
static struct task_wait *wait_find(const struct attributor *a, s32 tid, s32 wanted)
{
	struct task_wait *set = wait_set(a, tid);

	for (u32 i = 0; i < TASK_WAIT_WAYS; i++)
		if (set[i].tid == wanted)
			return &set[i];
	return NULL;
}

bool task_is_pending(const struct attributor *a, s32 tid)
{
	const struct task_wait *w = a->reader ? wait_find(a, tid, tid) : NULL;

	return w && now_ms() - w->asked_ms < a->wait_ms;
}

/* Begin to wait for @tid; false if there is no capacity. */
static bool wait_begin(struct attributor *a, s32 tid, bool sampled)
{
	const struct proc_query q = { .kind = PROC_QUERY_TASK, .tid = tid };
	struct task_wait *w = wait_find(a, tid, 0);

	if (!w || !attributor_query(a, &q))
		return false;
	*w = (struct task_wait){ .tid = tid, .asked_ms = now_ms(), .sampled = sampled };
	a->stats.lookups++;
	return true;
}

static u32 lookup_now(struct attributor *a, s32 tid)
{
	const struct proc_query q = { .kind = PROC_QUERY_TASK, .tid = tid };
	struct proc_answer answer;
	u32 index;

	a->stats.lookups++;
	proc_query_run(a->proc, a->log, &a->space, &q, &answer);
	index = answer.result < 0 ? ATTRIBUTE_NONE : process_answered(a, &answer);
	proc_answer_deinit(&answer);
	return index;
}

u32 task_lookup(struct attributor *a, s32 tid, bool sampled)
{
	struct task_wait *w;

	if (!a->reader)
		return lookup_now(a, tid);
	w = wait_find(a, tid, tid);
	if (w)
		w->sampled |= sampled;
	if (w ? task_is_pending(a, tid) : wait_begin(a, tid, sampled))
		return ATTRIBUTE_PENDING;
	a->stats.unanswered += sampled;
	return ATTRIBUTE_NONE;
}

/* Whether an event made @answer out of date; then the query runs again. */
static bool answer_is_stale(struct attributor *a, const struct proc_answer *answer,
			    struct task_wait *w)
{
	return answer->result >= 0 &&
	       a->changed_ns[(u32)answer->pid % TASK_CHANGES] > answer->asked_ns &&
	       w->retries++ < RETRIES && attributor_query(a, &answer->query);
}

static void task_answered(struct attributor *a, const struct proc_answer *answer)
{
	s32 tid = answer->query.tid;
	struct task_wait *w = wait_find(a, tid, tid);
	u32 known, index = ATTRIBUTE_NONE;
	bool sampled;
	u8 used;

	if (!w || answer_is_stale(a, answer, w))
		return;
	sampled = w->sampled;
	*w = (struct task_wait){ 0 };
	known = answer->result < 0 ? ATTRIBUTE_NONE : process_find(a, answer->pid);
	used = known == ATTRIBUTE_NONE ? 0 : a->used[known];
	if (answer->result >= 0)
		index = process_answered(a, answer);
	if (sampled)
		task_found(a, tid, index);
	else if (index != ATTRIBUTE_NONE && a->process[index].state == PROCESS_LIVING)
		a->used[index] = used;
}

/* Threads that ended while their process lives: their TIDs may be used again. */
static void threads_examine(struct attributor *a)
{
	for (u32 n = 0; n < REFRESH_BUCKETS && n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[a->hand_bucket];

		a->hand_bucket = (a->hand_bucket + 1) & (a->threads.count - 1);
		for (u32 i = 0; i < THREAD_WAYS; i++) {
			u32 index = b->process[i];
			struct proc_query q = { .kind = PROC_QUERY_THREAD, .tid = b->tid[i] };

			if (!b->tid[i] || b->stamp[i] != a->stamp[index] ||
			    index == a->threads.unresolved ||
			    a->process[index].pub.pid == b->tid[i])
				continue;
			q.pid = a->process[index].pub.pid;
			q.index = index;
			q.generation = a->process[index].pub.generation;
			attributor_query(a, &q);
		}
	}
}

static void thread_answered(struct attributor *a, const struct proc_answer *answer)
{
	const struct proc_query *q = &answer->query;
	struct thread_slot slot = threads_find(&a->threads, q->tid);

	/* A missing process is found by PROC_QUERY_PROCESS. */
	if (answer->result != -ESRCH || !slot.bucket ||
	    slot.bucket->process[slot.way] != q->index ||
	    a->process[q->index].pub.generation != q->generation ||
	    slot.bucket->stamp[slot.way] != a->stamp[q->index])
		return;
	slot.bucket->stamp[slot.way] |= 1;
}

/* Walk the living that were asked for (@busy) or not, up to @budget of them. */
static void processes_examine(struct attributor *a, u32 *hand, u32 budget, bool busy)
{
	u32 now = now_ms(), maps = REFRESH_MAPS;

	for (u32 n = 0; n < a->fresh && budget; n++) {
		u32 i = *hand;
		bool map;

		*hand = i + 1 < a->fresh ? i + 1 : IDLE + 1;
		if (i == IDLE || i >= a->fresh || a->process[i].state != PROCESS_LIVING ||
		    !(a->used[i] & PROCESS_SAMPLED) == busy)
			continue;
		map = busy && maps && now - a->process[i].mapped >= MAPS_MS;
		maps -= map;
		process_query(a, i, map);
		a->used[i] &= (u8)~PROCESS_SAMPLED;
		budget--;
	}
}

void tasks_refresh(struct attributor *a)
{
	/* Those at rest first, so that none is looked at twice. */
	processes_examine(a, &a->hand_idle, REFRESH_IDLE, false);
	processes_examine(a, &a->hand_busy, REFRESH_PROCESSES, true);
	threads_examine(a);
}

/* Answers */

static void answer_take(struct attributor *a, const struct proc_answer *answer)
{
	a->stats.unanswered += answer->result == -ENOMEM;
	switch (answer->query.kind) {
	case PROC_QUERY_TASK:
		task_answered(a, answer);
		break;
	case PROC_QUERY_PROCESS:
		process_examined(a, answer);
		break;
	case PROC_QUERY_THREAD:
		thread_answered(a, answer);
		break;
	case PROC_QUERY_MAPS:
		maps_answered(a, answer);
		break;
	case PROC_QUERY_POD:
		container_answered(a, answer);
		break;
	}
}

void attributor_apply_answers(struct attributor *a)
{
	struct proc_answer *answer;

	while (a->reader && (answer = proc_reader_pop(a->reader))) {
		answer_take(a, answer);
		proc_answer_deinit(answer);
		free(answer);
	}
}

bool attributor_answers_due(const struct attributor *a)
{
	return a->reader && proc_reader_due(a->reader);
}

int attributor_answers_fd(const struct attributor *a)
{
	return a->reader ? proc_reader_fd(a->reader) : -1;
}
