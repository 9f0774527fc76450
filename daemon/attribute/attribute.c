// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attribute.h"

#include "container.h"
#include "escape.h"
#include "maps.h"
#include "pods.h"
#include "procfs.h"
#include "thread-table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES    8192
#define THREADS	     32768
#define CONTAINERS   2048
#define CAPACITY_MAX (1U << 20)
#define MAPPINGS     32 /* for each process, on the average */

#define IDLE	 0 /* index of the idle task's entry */
#define RETRY_MS 1000 /* before a TID that was nowhere is looked up again */
#define LATE_MS	 5000 /* how long samples of a dead process may still come */
#define MISS_MS	 200 /* before the maps of a process are read again for a PC that is in none */
#define MAPS_MS	 10000 /* before they are read again without a cause */

/* What one refresh may cost: entries looked at, at some microseconds each. */
#define REFRESH_PROCESSES 256
#define REFRESH_IDLE	  64
#define REFRESH_MAPS	  16
#define REFRESH_BUCKETS	  64
#define REFRESH_NAMES	  8

#define NAMING_TRIES 5 /* refreshes in which the link to a pod's log may still appear */

enum process_state {
	PROCESS_FREE,
	PROCESS_LIVING,
	PROCESS_DEAD,
};

/**
 * struct process - an entry of the process table
 * @start_time, @start_code, @start_stack: as procfs_stat has them: who it is
 * @hash_next: in the chain of its pid
 * @dead_next: in the order of death
 * @died, @mapped: ms
 * @state: &enum process_state
 */
struct process {
	struct attribute_process pub;
	struct maps maps;
	u64 start_time;
	u64 start_code;
	u64 start_stack;
	u32 hash_next;
	u32 dead_next;
	u32 died;
	u32 mapped;
	u8 state;
};

/**
 * struct container - an entry of the container table; never given to another
 * @hash: of the raw path
 * @uid, @id: of a pod's container; "" for others
 * @naming: how often Kubernetes' name for it is still looked for
 */
struct container {
	struct attribute_container pub;
	u64 hash;
	u32 hash_next;
	u32 naming;
	char uid[40];
	char id[72];
};

/**
 * struct attributor
 * @stamp: for each process, generation << 1 | dead: threads that carry the same
 *	one need no second look. One more, 0, for the threads that are nowhere.
 * @used: for each process, whether it was asked for since the last look at it
 * @fresh: entries from here on were never used
 * @seed: keys the containers' hash
 */
struct attributor {
	struct thread_table threads;
	u32 *stamp;
	u8 *used;
	struct process *process;
	u32 *process_heads;
	struct container *container;
	u32 *container_heads;
	struct map_store store;
	struct maps kernel;
	struct attributor_stats stats;
	u64 seed;
	u32 processes;
	u32 fresh;
	u32 dead_first;
	u32 dead_last;
	u32 hand;
	u32 hand_busy;
	u32 hand_idle;
	u32 hand_bucket;
	u32 process_mask;
	u32 containers;
	u32 containers_used;
	u32 naming; /* containers whose name is looked for */
	u32 container_mask;
	int proc;
	bool live;
};

static u32 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (u32)((u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000);
}

/* Containers */

static u64 container_hash(const struct attributor *a, const char *path, size_t len)
{
	u64 h = a->seed;

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (u8)path[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h;
}

/* Kubernetes' own name for a container; kubelet may link its log only later. */
static void container_name(struct attributor *a, struct container *c)
{
	int log = open("/var/log", O_PATH | O_DIRECTORY | O_CLOEXEC);

	c->naming--;
	if (log >= 0 && pods_name(log, c->uid, c->id, c->pub.name, sizeof(c->pub.name)))
		c->naming = 0;
	a->naming -= !c->naming;
	if (log >= 0)
		close(log);
}

static void containers_name(struct attributor *a)
{
	for (u32 i = 1, n = 0; i < a->containers_used && a->naming && n < REFRESH_NAMES; i++) {
		if (!a->container[i].naming)
			continue;
		container_name(a, &a->container[i]);
		n++;
	}
}

/* The index of the container of @path, a new one if need be. */
static u32 container_index(struct attributor *a, const char *path, size_t len)
{
	struct container_match m;
	struct container *c;
	u64 hash;
	u32 *head;

	if (!container_identify(path, len, &m))
		return 0;
	hash = container_hash(a, path, m.length);
	head = &a->container_heads[hash & a->container_mask];
	for (u32 i = *head; i; i = c->hash_next) {
		c = &a->container[i];
		if (c->hash == hash && !strcmp(c->pub.path, m.entry.path))
			return i;
	}
	if (a->containers_used == a->containers - 1) {
		/* The last entry takes what does not fit: not nothing, but not a name. */
		c = &a->container[a->containers - 1];
		snprintf(c->pub.name, sizeof(c->pub.name), "(other)");
		snprintf(c->pub.runtime, sizeof(c->pub.runtime), "cgroup");
		a->stats.containers_overflow++;
		return a->containers - 1;
	}
	c = &a->container[a->containers_used];
	*c = (struct container){ .pub = m.entry, .hash = hash, .hash_next = *head };
	memcpy(c->uid, m.uid, sizeof(c->uid));
	memcpy(c->id, m.id, sizeof(c->id));
	*head = a->containers_used;
	if (*c->uid && a->live) {
		c->naming = NAMING_TRIES;
		a->naming++;
		container_name(a, c);
	}
	return a->containers_used++;
}

/* The container of the task at @dir; @otherwise if it cannot be read. */
static u32 container_read(struct attributor *a, int dir, u32 otherwise)
{
	/* Version 2's line is the last one: a dozen hierarchies may come before, of PATH_MAX each. */
	char text[16 * PATH_MAX];
	const char *path;
	size_t len;
	ssize_t n = procfs_read(dir, "cgroup", text, sizeof(text));

	if (n < 0)
		return otherwise;
	if (!container_cgroup(text, (size_t)n, &path, &len))
		return 0;
	return container_index(a, path, len);
}

/* Processes */

static u32 *process_head(struct attributor *a, s32 pid)
{
	return &a->process_heads[((u32)pid * 0x9e3779b1U >> 7) & a->process_mask];
}

/* The last process that had @pid, living or dead. */
static u32 process_find(struct attributor *a, s32 pid)
{
	u32 i = *process_head(a, pid);

	while (i != ATTRIBUTE_NONE && a->process[i].pub.pid != pid)
		i = a->process[i].hash_next;
	return i;
}

static void process_unhash(struct attributor *a, u32 index)
{
	u32 *at = process_head(a, a->process[index].pub.pid);

	while (*at != ATTRIBUTE_NONE && *at != index)
		at = &a->process[*at].hash_next;
	if (*at == index)
		*at = a->process[index].hash_next;
}

static void process_die(struct attributor *a, u32 index)
{
	struct process *p = &a->process[index];

	if (p->state != PROCESS_LIVING || index == IDLE)
		return;
	p->state = PROCESS_DEAD;
	p->died = now_ms();
	p->dead_next = ATTRIBUTE_NONE;
	a->stamp[index] |= 1;
	if (a->dead_first == ATTRIBUTE_NONE)
		a->dead_first = index;
	else
		a->process[a->dead_last].dead_next = index;
	a->dead_last = index;
}

/* Free the living entry that was not asked for the longest, roughly. */
static u32 process_evict(struct attributor *a)
{
	u32 i;

	for (;;) {
		a->hand = a->hand + 1 < a->processes ? a->hand + 1 : IDLE + 1;
		i = a->hand;
		if (!a->used[i])
			break;
		a->used[i] = 0;
	}
	a->stats.processes_evicted++;
	return i;
}

/* An entry that is free now: never used, else dead the longest, else a living one. */
static u32 process_room(struct attributor *a)
{
	u32 i = a->dead_first;

	if (a->fresh < a->processes)
		return a->fresh++;
	if (i == ATTRIBUTE_NONE)
		return process_evict(a);
	a->dead_first = a->process[i].dead_next;
	if (!a->live || now_ms() - a->process[i].died < LATE_MS)
		a->stats.processes_evicted++;
	return i;
}

static u32 process_new(struct attributor *a, s32 pid)
{
	u32 i = process_room(a), *head = process_head(a, pid);
	struct process *p = &a->process[i];

	if (p->state != PROCESS_FREE)
		process_unhash(a, i);
	maps_clear(&a->store, &p->maps);
	*p = (struct process){
		.pub = { .pid = pid, .generation = p->pub.generation + 1 },
		.state = PROCESS_LIVING,
		.hash_next = *head,
	};
	*head = i;
	a->stamp[i] = p->pub.generation << 1;
	a->used[i] = 1;
	return i;
}

/* What /proc tells */

struct map_context {
	struct attributor *attributor;
	struct maps *maps;
};

static void map_take(void *ctx, const struct procfs_map *map)
{
	struct map_context *c = ctx;
	const struct mapping m = { .start = map->start, .end = map->end, .offset = map->offset };

	maps_add(&c->attributor->store, c->maps, &m, map->path, map->inode, NULL, 0);
}

static void process_map(struct attributor *a, struct process *p, int dir)
{
	struct map_context c = { a, &p->maps };
	u64 skipped = 0;

	maps_clear(&a->store, &p->maps);
	procfs_maps(dir, map_take, &c, &skipped);
	a->store.dropped += skipped;
	p->mapped = now_ms();
}

static void process_name(struct process *p, const char *comm)
{
	escape_string(p->pub.comm, sizeof(p->pub.comm), comm);
}

static bool is_zombie(const struct procfs_stat *st)
{
	return st->state == 'Z' || st->state == 'X';
}

/* A zombie has no image left to compare; nor can it have got another one. */
static bool same_image(const struct process *p, const struct procfs_stat *st)
{
	return p->start_time == st->start_time &&
	       (is_zombie(st) ||
		(p->start_code == st->start_code && p->start_stack == st->start_stack));
}

/* The process whose directory is @leader; @task is the one that was asked for. */
static u32 process_read(struct attributor *a, s32 pid, int leader, int task)
{
	u32 i = process_find(a, pid);
	struct procfs_stat st;
	struct process *p;
	u32 container;

	if (procfs_stat(leader, &st) < 0)
		return ATTRIBUTE_NONE;
	/* Whose maps and cgroup are gone, but for what is known. */
	if (i != ATTRIBUTE_NONE && is_zombie(&st) && same_image(&a->process[i], &st))
		return i;
	container = container_read(a, leader, 0);
	if (i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_LIVING) {
		if (same_image(&a->process[i], &st) && a->process[i].pub.container == container)
			return i;
		process_die(a, i);
	}
	i = process_new(a, pid);
	p = &a->process[i];
	p->start_time = st.start_time;
	p->start_code = st.start_code;
	p->start_stack = st.start_stack;
	p->pub.container = container;
	process_name(p, st.comm);
	/* Through the thread: a leader that exited before its threads has no maps. */
	if (!(st.flags & PROCFS_KTHREAD))
		process_map(a, p, task);
	return i;
}

static u32 task_read(struct attributor *a, s32 tid)
{
	int task = procfs_task(a->proc, tid), leader = -1;
	u32 index = ATTRIBUTE_NONE;
	s32 pid;

	a->stats.lookups++;
	if (task < 0)
		return ATTRIBUTE_NONE;
	if (procfs_tgid(task, &pid) < 0)
		goto out;
	if (pid == tid) {
		index = process_read(a, pid, task, task);
		goto out;
	}
	leader = procfs_task(a->proc, pid);
	/* The thread may have died, and its process's number been used, in between. */
	if (leader >= 0 && procfs_has_thread(leader, tid))
		index = process_read(a, pid, leader, task);
out:
	if (leader >= 0)
		close(leader);
	close(task);
	return index;
}

static void thread_set(struct attributor *a, s32 tid, u32 index, u32 failed)
{
	if (index == ATTRIBUTE_NONE)
		threads_set(&a->threads, tid, a->threads.unresolved, 0, failed, a->stamp);
	else
		threads_set(&a->threads, tid, index, a->stamp[index], failed, a->stamp);
}

/* A thread that is not known, or known to be dead or nowhere. */
static u32 task_slow(struct attributor *a, s32 tid, struct thread_slot slot)
{
	u32 old = ATTRIBUTE_NONE, index, now = now_ms();
	bool nowhere = false;

	if (slot.bucket) {
		u32 i = slot.bucket->process[slot.way];

		nowhere = i == a->threads.unresolved;
		if (!nowhere && slot.bucket->stamp[slot.way] >> 1 == a->stamp[i] >> 1)
			old = i;
		if ((nowhere || old != ATTRIBUTE_NONE) &&
		    (!a->live || now - slot.bucket->failed[slot.way] < RETRY_MS))
			return old;
	}
	index = a->live ? task_read(a, tid) : process_find(a, tid);
	if (index != ATTRIBUTE_NONE) {
		thread_set(a, tid, index, now - RETRY_MS);
		return index;
	}
	if (old != ATTRIBUTE_NONE) {
		slot.bucket->failed[slot.way] = now;
		return old;
	}
	if (!nowhere)
		a->stats.unresolved++;
	thread_set(a, tid, ATTRIBUTE_NONE, now);
	return ATTRIBUTE_NONE;
}

u32 attributor_task(struct attributor *a, s32 tid)
{
	struct thread_slot slot;

	/* Every CPU's idle task has TID 0, which marks a free place in the table. */
	if (tid <= 0)
		return tid ? ATTRIBUTE_NONE : IDLE;
	slot = threads_find(&a->threads, tid);
	if (slot.bucket) {
		u32 index = slot.bucket->process[slot.way];

		if (slot.bucket->stamp[slot.way] == a->stamp[index] &&
		    index != a->threads.unresolved) {
			if (!a->used[index])
				a->used[index] = 1;
			return index;
		}
	}
	return task_slow(a, tid, slot);
}

/*
 * Look at a living process again. An image or a container that changed makes
 * another entry, so that what was sampled before stays what it was.
 */
static void process_examine(struct attributor *a, u32 index, bool map)
{
	struct process *p = &a->process[index];
	int dir = procfs_task(a->proc, p->pub.pid);
	struct procfs_stat st;
	int r;

	if (dir < 0) {
		if (dir == -ENOENT || dir == -ESRCH)
			process_die(a, index);
		return;
	}
	r = procfs_stat(dir, &st);
	if (r == -ESRCH || r == -ENOENT ||
	    (!r && (!same_image(p, &st) || (is_zombie(&st) && st.threads <= 1)))) {
		process_die(a, index);
	} else if (!r && !is_zombie(&st)) {
		process_name(p, st.comm);
		if (container_read(a, dir, p->pub.container) != p->pub.container)
			process_die(a, index);
		else if (map && !(st.flags & PROCFS_KTHREAD))
			process_map(a, p, dir);
	}
	close(dir);
}

/* Threads that ended while their process lives: their TIDs may be used again. */
static void threads_examine(struct attributor *a)
{
	for (u32 n = 0; n < REFRESH_BUCKETS && n < a->threads.count; n++) {
		struct thread_bucket *b = &a->threads.buckets[a->hand_bucket];

		a->hand_bucket = (a->hand_bucket + 1) & (a->threads.count - 1);
		for (u32 i = 0; i < THREAD_WAYS; i++) {
			u32 index = b->process[i];
			int dir;

			if (!b->tid[i] || b->stamp[i] != a->stamp[index] ||
			    index == a->threads.unresolved ||
			    a->process[index].pub.pid == b->tid[i])
				continue;
			dir = procfs_task(a->proc, a->process[index].pub.pid);
			if (dir < 0)
				continue;
			if (!procfs_has_thread(dir, b->tid[i]))
				b->stamp[i] |= 1;
			close(dir);
		}
	}
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
		    !a->used[i] == busy)
			continue;
		map = busy && maps && now - a->process[i].mapped >= MAPS_MS;
		maps -= map;
		process_examine(a, i, map);
		a->used[i] = 0;
		budget--;
	}
}

void attributor_refresh(struct attributor *a)
{
	if (!a->live)
		return;
	/* Those at rest first, so that none is looked at twice. */
	processes_examine(a, &a->hand_idle, REFRESH_IDLE, false);
	processes_examine(a, &a->hand_busy, REFRESH_PROCESSES, true);
	threads_examine(a);
	containers_name(a);
}

/* What a recording tells */

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

/* Answers */

const struct attribute_process *attributor_process(const struct attributor *a, u32 index)
{
	if (index >= a->fresh || a->process[index].state == PROCESS_FREE)
		return NULL;
	return &a->process[index].pub;
}

const struct attribute_container *attributor_container(const struct attributor *a, u32 index)
{
	bool other = index == a->containers - 1 && a->stats.containers_overflow;

	return index < a->containers_used || other ? &a->container[index].pub : NULL;
}

u32 attributor_containers(const struct attributor *a)
{
	return a->stats.containers_overflow ? a->containers : a->containers_used;
}

static void place_set(struct attribute_place *ret, const struct mapping *m, u64 pc, bool file)
{
	*ret = (struct attribute_place){
		.binary = m->binary->path,
		.offset = file ? m->offset + (pc - m->start) : pc,
		.inode = m->binary->inode,
		.build_id = m->binary->build_id,
		.build_id_size = m->binary->build_id_size,
	};
}

static void place_kernel(struct attributor *a, u64 pc, struct attribute_place *ret)
{
	const struct mapping *m = maps_find(&a->kernel, pc);

	*ret = (struct attribute_place){ .binary = "[kernel]", .offset = pc };
	if (!m)
		return;
	/* "[kernel.kallsyms]_text" is the kernel itself; others are modules by their name. */
	place_set(ret, m, pc, false);
	if (!strncmp(m->binary->path, "[kernel", 7) || !strncmp(m->binary->path, "[guest", 6))
		ret->binary = "[kernel]";
}

bool attributor_place(struct attributor *a, u32 index, u64 pc, bool kernel,
		      struct attribute_place *ret_place)
{
	const struct mapping *m;
	struct process *p;

	if (kernel) {
		place_kernel(a, pc, ret_place);
		return true;
	}
	if (index >= a->fresh)
		return false;
	p = &a->process[index];
	m = maps_find(&p->maps, pc);
	if (!m && a->live && p->state == PROCESS_LIVING && index != IDLE &&
	    now_ms() - p->mapped >= MISS_MS) {
		p->mapped = now_ms();
		process_examine(a, index, true);
		m = maps_find(&p->maps, pc);
	}
	if (!m)
		return false;
	place_set(ret_place, m, pc, m->binary->path[0] == '/');
	if (!m->binary->path[0])
		ret_place->binary = "[anon]";
	else if (m->binary->path[0] == '[')
		ret_place->offset = pc - m->start + m->offset;
	/* That of a 32-bit process is another one than ours. */
	if (!strcmp(m->binary->path, "[vdso]") && m->end <= UINT32_MAX)
		ret_place->binary = "[vdso32]";
	return true;
}

void attributor_stats(const struct attributor *a, struct attributor_stats *ret_stats)
{
	struct attributor_stats st = a->stats;

	st.threads_evicted = a->threads.evicted;
	st.mappings_dropped = a->store.dropped;
	st.memory = sizeof(*a) + a->threads.count * sizeof(struct thread_bucket) +
		    a->processes * (sizeof(struct process) + sizeof(u32) + sizeof(u8)) +
		    (a->process_mask + 1ULL) * sizeof(u32) +
		    a->containers * sizeof(struct container) +
		    (a->container_mask + 1ULL) * sizeof(u32) + a->store.memory;
	*ret_stats = st;
}

/* Life */

static u32 capacity(u32 wanted, u32 otherwise, u32 least)
{
	if (!wanted)
		wanted = otherwise;
	if (wanted < least)
		wanted = least;
	return wanted < CAPACITY_MAX ? wanted : CAPACITY_MAX;
}

static u32 power_above(u32 n)
{
	u32 p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

static int tables_alloc(struct attributor *a, u32 threads)
{
	int r;

	a->process_mask = power_above(a->processes) - 1;
	a->container_mask = power_above(a->containers) - 1;
	a->process = calloc(a->processes, sizeof(*a->process));
	a->stamp = calloc(a->processes + 1ULL, sizeof(*a->stamp));
	a->used = calloc(a->processes, sizeof(*a->used));
	a->process_heads = malloc((a->process_mask + 1ULL) * sizeof(u32));
	a->container = calloc(a->containers, sizeof(*a->container));
	a->container_heads = calloc(a->container_mask + 1ULL, sizeof(u32));
	if (!a->process || !a->stamp || !a->used || !a->process_heads || !a->container ||
	    !a->container_heads)
		return -ENOMEM;
	memset(a->process_heads, 0xff, (a->process_mask + 1ULL) * sizeof(u32));
	r = map_store_init(&a->store, a->processes * MAPPINGS);
	return r ? r : threads_init(&a->threads, threads, a->processes);
}

int attributor_new(const struct attributor_config *config, struct attributor **ret_attributor)
{
	const struct attributor_config c = config ? *config : (struct attributor_config){ 0 };
	struct attributor *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->proc = -1;
	a->live = c.live;
	a->processes = capacity(c.processes, PROCESSES, 2);
	a->containers = capacity(c.containers, CONTAINERS, 2);
	a->containers_used = 1;
	a->dead_first = ATTRIBUTE_NONE;
	if (getrandom(&a->seed, sizeof(a->seed), GRND_NONBLOCK) != sizeof(a->seed))
		a->seed = (u64)now_ms() << 32 ^ (u64)(uintptr_t)a;
	r = tables_alloc(a, capacity(c.threads, THREADS, THREAD_WAYS));
	if (r < 0)
		goto fail;
	if (a->live) {
		a->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (a->proc < 0) {
			r = -errno;
			goto fail;
		}
	}
	/* The idle task: of no container, whoever's interrupt it is that woke the CPU. */
	a->process[process_new(a, 0)].pub.container = 0;
	process_name(&a->process[IDLE], "swapper");
	*ret_attributor = a;
	return 0;
fail:
	attributor_free(a);
	return r;
}

struct attributor *attributor_free(struct attributor *a)
{
	if (!a)
		return NULL;
	if (a->process)
		for (u32 i = 0; i < a->fresh; i++)
			maps_clear(&a->store, &a->process[i].maps);
	if (a->store.heads)
		maps_clear(&a->store, &a->kernel);
	map_store_deinit(&a->store);
	threads_deinit(&a->threads);
	free(a->process);
	free(a->stamp);
	free(a->used);
	free(a->process_heads);
	free(a->container);
	free(a->container_heads);
	if (a->proc >= 0)
		close(a->proc);
	free(a);
	return NULL;
}
