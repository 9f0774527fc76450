// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attributor-internal.h"

#include "tasks/task-event.h"
#include "util/escape.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES    8192
/*
 * All events of a recording are read before its samples. So each of its processes needs an entry
 * until the end, and one more for each program that it executes.
 */
#define PROCESSES_RECORDED (1U << 18)
#define THREADS	     32768
#define CONTAINERS   2048
#define CGROUPS	     8192
#define CAPACITY_MAX (1U << 20)
#define MAP_BYTES    2048 /* average per process: mappings and paths */
#define KEPT_BYTES   768  /* the same in a checkpoint */
#define CGROUP_BYTES 512  /* per container: its path, and as much for paths of cgroups by id */
#define BYTES_LEAST  (64ULL << 10)
#define OWNERS	     32 /* per thread: entries for owners of its TID and for context switches */

#define CLOCK_SLACK_NS 20000 /* maximum difference of the clocks of samples and events */
#define HISTORY	       8 /* earlier owners of a PID that are searched */

#define UNSAMPLED_MS 2000 /* the same for a process without a sample */
#define MISS_MS	   200 /* until maps are read again for a PC in no mapping */
#define WAIT_MS	   1000 /* timeout of samples that wait for /proc */

/* Maximum of maps that are read again per refresh because events were lost. */
#define REREADS 64

u32 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (u32)((u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000);
}

/* Processes */

static u32 *process_head(struct attributor *a, s32 pid)
{
	return &a->process_heads[((u32)pid * 0x9e3779b1U >> 7) & a->process_mask];
}

u32 process_find(struct attributor *a, s32 pid)
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

void process_make_current(struct attributor *a, u32 index)
{
	u32 *head = process_head(a, a->process[index].pub.pid);

	process_unhash(a, index);
	a->process[index].hash_next = *head;
	*head = index;
}

static void dead_push(struct attributor *a, struct dead_list *list, u32 index)
{
	a->process[index].dead_next = ATTRIBUTE_NONE;
	if (list->first == ATTRIBUTE_NONE)
		list->first = index;
	else
		a->process[list->last].dead_next = index;
	list->last = index;
}

static u32 dead_pop(struct attributor *a, struct dead_list *list)
{
	u32 i = list->first;

	if (i != ATTRIBUTE_NONE)
		list->first = a->process[i].dead_next;
	return i;
}

void process_die(struct attributor *a, u32 index)
{
	bool unsampled = a->live && !(a->used[index] & PROCESS_EVER_SAMPLED);
	struct process *p = &a->process[index];

	if (p->state != PROCESS_LIVING || index == IDLE)
		return;
	container_remove_process(a, p->pub.container);
	p->state = PROCESS_DEAD;
	p->died = now_ms();
	a->stamp[index] |= 1;
	dead_push(a, unsampled ? &a->dead_unsampled : &a->dead, index);
}

/* Evict the living process that was used least recently, approximately. */
static u32 process_evict(struct attributor *a)
{
	u32 i;

	for (;;) {
		a->hand = a->hand + 1 < a->processes ? a->hand + 1 : IDLE + 1;
		i = a->hand;
		if (!(a->used[i] & PROCESS_SAMPLED))
			break;
		a->used[i] &= (u8)~PROCESS_SAMPLED;
	}
	a->stats.processes_evicted++;
	return i;
}

/* Returns a process that exited without a sample long enough ago that none will follow. */
static u32 process_reclaim_unsampled(struct attributor *a)
{
	u32 i;

	while ((i = a->dead_unsampled.first) != ATTRIBUTE_NONE &&
	       now_ms() - a->process[i].died >= UNSAMPLED_MS) {
		dead_pop(a, &a->dead_unsampled);
		if (!(a->used[i] & PROCESS_EVER_SAMPLED))
			return i;
		dead_push(a, &a->dead, i);
	}
	return ATTRIBUTE_NONE;
}

/* Returns an entry to use: one never used, else the earliest exited process, else a living one. */
static u32 process_reserve(struct attributor *a)
{
	u32 i;

	if (a->fresh < a->processes)
		return a->fresh++;
	i = process_reclaim_unsampled(a);
	if (i != ATTRIBUTE_NONE)
		return i;
	i = dead_pop(a, &a->dead);
	if (i == ATTRIBUTE_NONE)
		i = dead_pop(a, &a->dead_unsampled);
	if (i == ATTRIBUTE_NONE)
		return process_evict(a);
	if (!a->live || now_ms() - a->process[i].died < LATE_MS)
		a->stats.processes_evicted++;
	return i;
}

u32 process_new(struct attributor *a, s32 pid)
{
	u32 i = process_reserve(a), *head = process_head(a, pid);
	struct process *p = &a->process[i];

	if (p->state != PROCESS_FREE)
		process_unhash(a, i);
	if (p->state == PROCESS_LIVING)
		container_remove_process(a, p->pub.container);
	maps_clear(&a->store, &p->maps);
	*p = (struct process){
		.pub = { .pid = pid, .generation = p->pub.generation + 1 },
		.state = PROCESS_LIVING,
		.hash_next = *head,
		.before = ATTRIBUTE_NONE,
	};
	*head = i;
	a->since[i] = 0;
	a->changes++;
	a->stamp[i] = p->pub.generation << 1;
	a->used[i] = PROCESS_SAMPLED | PROCESS_EVER_SAMPLED;
	return i;
}

void process_contain(struct attributor *a, u32 index, u32 container)
{
	struct process *p = &a->process[index];

	if (p->pub.container == container)
		return;
	if (p->state == PROCESS_LIVING) {
		container_add_process(a, container);
		container_remove_process(a, p->pub.container);
	}
	p->pub.container = container;
}

void process_name(struct process *p, const char *comm)
{
	escape_string(p->pub.comm, sizeof(p->pub.comm), comm);
}

void thread_set(struct attributor *a, s32 tid, u32 index, u32 failed)
{
	if (index == ATTRIBUTE_NONE)
		threads_set(&a->threads, tid, a->threads.unresolved, 0, failed, a->stamp);
	else
		threads_set(&a->threads, tid, index, a->stamp[index], failed, a->stamp);
}

/* Returns a process that lives or has just exited and is no longer in /proc. */
static u32 process_expects_samples(struct attributor *a, s32 pid)
{
	u32 i = process_find(a, pid);

	if (i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_DEAD &&
	    now_ms() - a->process[i].died >= LATE_MS)
		return ATTRIBUTE_NONE;
	return i;
}

/* Set bits atomically: several readers set them at the same time. */
static void mark_used(struct attributor *a, u32 index, u8 bits)
{
	if ((__atomic_load_n(&a->used[index], __ATOMIC_RELAXED) & bits) != bits)
		__atomic_fetch_or(&a->used[index], bits, __ATOMIC_RELAXED);
}

/* Returns the process of an exited thread; ATTRIBUTE_NONE if it is unknown or was not found. */
static u32 task_dead(const struct attributor *a, struct thread_slot slot, bool *ret_nowhere)
{
	u32 i = slot.bucket ? slot.bucket->process[slot.way] : ATTRIBUTE_NONE;

	*ret_nowhere = slot.bucket && i == a->threads.unresolved;
	if (!slot.bucket || *ret_nowhere ||
	    slot.bucket->stamp[slot.way] >> 1 != a->stamp[i] >> 1)
		return ATTRIBUTE_NONE;
	return i;
}

/* Returns whether a thread is exited or not found, and was looked up a moment ago. */
static bool task_negative_cached(struct attributor *a, struct thread_slot slot, u32 *ret_index)
{
	bool nowhere;
	u32 old = task_dead(a, slot, &nowhere);

	if (!nowhere && old == ATTRIBUTE_NONE)
		return false;
	if (a->live && now_ms() - slot.bucket->failed[slot.way] >= RETRY_MS)
		return false;
	if (old != ATTRIBUTE_NONE)
		mark_used(a, old, PROCESS_EVER_SAMPLED);
	*ret_index = old;
	return true;
}

u32 task_found(struct attributor *a, s32 tid, u32 index)
{
	struct thread_slot slot = threads_find(&a->threads, tid);
	u32 old, now = now_ms();
	bool nowhere;

	old = task_dead(a, slot, &nowhere);
	/* Its slot was reused, but the process may be known. */
	if (index == ATTRIBUTE_NONE && a->live && !slot.bucket)
		index = process_expects_samples(a, tid);
	if (index != ATTRIBUTE_NONE) {
		thread_set(a, tid, index, now - RETRY_MS);
		a->used[index] = PROCESS_SAMPLED | PROCESS_EVER_SAMPLED;
		return index;
	}
	if (old != ATTRIBUTE_NONE) {
		slot.bucket->failed[slot.way] = now;
		a->used[old] |= PROCESS_EVER_SAMPLED;
		return old;
	}
	if (!nowhere)
		a->stats.unresolved++;
	thread_set(a, tid, ATTRIBUTE_NONE, now);
	return ATTRIBUTE_NONE;
}

u32 attributor_task_provisional(const struct attributor *a, s32 tid)
{
	const struct thread_slot slot = threads_find(&a->threads, tid);
	bool nowhere;
	u32 i = task_dead(a, slot, &nowhere);

	return i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_LIVING ? i : ATTRIBUTE_NONE;
}

/*
 * A thread that events describe completely except the process's mappings. Samples do not need
 * those: /proc is queried for them, and no sample waits.
 */
static bool task_reported(const struct attributor *a, s32 tid, u32 *ret_index)
{
	u32 i = a->reader && a->reports & TASK_REPORTS_CGROUPS ?
			attributor_task_provisional(a, tid) :
			ATTRIBUTE_NONE;

	if (i == ATTRIBUTE_NONE || !a->process[i].unread)
		return false;
	*ret_index = i;
	return true;
}

/* Resolve a thread that is unknown, exited or not found. */
static u32 task_slow(struct attributor *a, s32 tid, struct thread_slot slot)
{
	u32 index, reported;

	if (task_negative_cached(a, slot, &index))
		return index;
	if (task_reported(a, tid, &reported) &&
	    task_lookup(a, tid, true) == ATTRIBUTE_PENDING) {
		mark_used(a, reported, PROCESS_SAMPLED | PROCESS_EVER_SAMPLED);
		return reported;
	}
	index = a->live ? task_lookup(a, tid, true) : process_find(a, tid);
	return index == ATTRIBUTE_PENDING ? index : task_found(a, tid, index);
}

/* Resolve a thread that lives, as far as is known: sufficient for most samples. */
static bool task_living(struct attributor *a, struct thread_slot slot, u32 *ret_index)
{
	u32 index = slot.bucket ? slot.bucket->process[slot.way] : a->threads.unresolved;

	if (index == a->threads.unresolved || slot.bucket->stamp[slot.way] != a->stamp[index])
		return false;
	mark_used(a, index, PROCESS_SAMPLED | PROCESS_EVER_SAMPLED);
	*ret_index = index;
	return true;
}

u32 attributor_task(struct attributor *a, s32 tid)
{
	struct thread_slot slot;
	u32 index;

	/* The idle task of every CPU has TID 0, which marks a free slot in the table. */
	if (tid <= 0)
		return tid ? ATTRIBUTE_NONE : IDLE;
	slot = threads_find(&a->threads, tid);
	return task_living(a, slot, &index) ? index : task_slow(a, tid, slot);
}

/* Returns the process that had the PID of @index at @time_ns, which is before @index started. */
static u32 task_before(struct attributor *a, u32 index, u64 time_ns)
{
	u32 i = index;

	if (a->since[i] - time_ns < CLOCK_SLACK_NS)
		return i;
	for (u32 n = 0; n < HISTORY; n++) {
		const struct process *p = &a->process[i];

		if (p->before == ATTRIBUTE_NONE ||
		    a->process[p->before].pub.generation != p->before_generation)
			break;
		i = p->before;
		if (a->since[i] <= time_ns) {
			mark_used(a, i, PROCESS_EVER_SAMPLED);
			return i;
		}
	}
	/* If the start of the process is known and later, it was another process. */
	return a->process[i].born_ns > time_ns ? ATTRIBUTE_NONE : i;
}

/* Returns @i, the current owner of the PID, or its owner at @time_ns. */
static u32 task_at(struct attributor *a, u32 i, u64 time_ns, struct attribute_span *ret_span)
{
	*ret_span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	if (i == ATTRIBUTE_NONE || i == ATTRIBUTE_PENDING)
		return i;
	ret_span->from = a->since[i];
	if (a->since[i] <= time_ns)
		return i;
	/* Rare: the result is not cached. */
	*ret_span = (struct attribute_span){ time_ns, time_ns + 1 };
	return task_before(a, i, time_ns);
}

u32 attributor_task_live(struct attributor *a, s32 tid, u64 time_ns, struct attribute_span *ret_span)
{
	return task_at(a, attributor_task(a, tid), time_ns, ret_span);
}

bool attributor_task_cached(struct attributor *a, s32 tid, u64 time_ns, u32 *ret_index,
			    struct attribute_span *ret_span)
{
	struct thread_slot slot = { NULL, 0 };
	u32 index = tid ? ATTRIBUTE_NONE : IDLE;
	bool timed = attributor_has_times(a);

	if (timed && !a->live)
		return false;
	if (tid > 0) {
		slot = threads_find(&a->threads, tid);
		if (!task_living(a, slot, &index) && !task_negative_cached(a, slot, &index)) {
			if (!task_is_pending(a, tid))
				return false;
			if (task_reported(a, tid, &index))
				mark_used(a, index, PROCESS_SAMPLED | PROCESS_EVER_SAMPLED);
			else
				index = ATTRIBUTE_PENDING;
		}
	}
	*ret_span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	*ret_index = timed ? task_at(a, index, time_ns, ret_span) : index;
	return true;
}

void attributor_refresh(struct attributor *a)
{
	if (!a->live)
		return;
	a->refused = NULL;
	a->rereads = REREADS;
	containers_refresh(a);
	/* What events report needs no lookup. */
	if (a->reports & TASK_REPORTS_CGROUPS)
		return;
	tasks_refresh(a);
}

/* Answers */

u64 attributor_changes(const struct attributor *a)
{
	return a->changes;
}

const struct attribute_process *attributor_process(const struct attributor *a, u32 index)
{
	if (index >= a->fresh || a->process[index].state == PROCESS_FREE)
		return NULL;
	return &a->process[index].pub;
}

static void location_set_binary(struct attribute_location *ret, const struct mapping *m, u64 pc,
				bool file)
{
	*ret = (struct attribute_location){
		.binary = m->binary->path,
		.offset = file ? m->offset + (pc - m->start) : pc,
		.pc = pc,
		.inode = m->binary->inode,
		.device = m->binary->device,
		.build_id = m->binary->build_id,
		.build_id_size = m->binary->build_id_size,
	};
}

static void locate_kernel(struct attributor *a, u64 pc, struct attribute_location *ret)
{
	const struct mapping *m = maps_find(&a->kernel, pc);

	*ret = (struct attribute_location){ .binary = "[kernel]", .offset = pc, .pc = pc };
	if (!m)
		return;
	/* "[kernel.kallsyms]_text" is the kernel itself; other names are those of modules. */
	location_set_binary(ret, m, pc, false);
	if (!strncmp(m->binary->path, "[kernel", 7) || !strncmp(m->binary->path, "[guest", 6))
		ret->binary = "[kernel]";
}

/* Returns whether the mapping has no file: its offset is the address, except for [vdso]. */
static bool is_memory(const char *path)
{
	return !path[0] || !strncmp(path, "//", 2) || (path[0] == '[' && path[1] != 'v');
}

/* Returns whether to read the maps of @p again for a PC that is in @m, or in none. */
static bool maps_due(const struct attributor *a, const struct process *p, const struct mapping *m)
{
	return m ? p->doubted && a->rereads : now_ms() - p->mapped >= MISS_MS;
}

bool attributor_locate(struct attributor *a, u32 index, u64 pc, bool kernel,
		       struct attribute_location *ret_location)
{
	const struct mapping *m;
	struct process *p;

	if (kernel) {
		locate_kernel(a, pc, ret_location);
		return true;
	}
	if (index >= a->fresh)
		return false;
	p = &a->process[index];
	m = maps_find(&p->maps, pc);
	if (a->live && p->state == PROCESS_LIVING && index != IDLE && maps_due(a, p, m)) {
		p->mapped = now_ms();
		process_query(a, index, true);
		m = maps_find(&p->maps, pc);
	}
	if (!m)
		return false;
	location_set_binary(ret_location, m, pc, m->binary->path[0] == '/');
	if (a->live)
		ret_location->process = (u64)p->pub.generation << 32 | index;
	/* The address of a live process's memory is confidential (ASLR). */
	if (a->live && is_memory(m->binary->path))
		ret_location->offset = pc - m->start;
	else if (m->binary->path[0] == '[')
		ret_location->offset = pc - m->start + m->offset;
	if (!m->binary->path[0])
		ret_location->binary = "[anon]";
	/* The vdso of a 32-bit process differs from this process's. */
	if (!strcmp(m->binary->path, "[vdso]") && m->end <= UINT32_MAX)
		ret_location->binary = "[vdso32]";
	return true;
}

void attributor_stats(const struct attributor *a, struct attributor_stats *ret_stats)
{
	struct attributor_stats st = a->stats;

	st.threads_evicted = a->threads.evicted;
	st.mappings_dropped = a->store.dropped;
	st.memory = sizeof(*a) + a->threads.count * sizeof(struct thread_bucket) +
		    a->processes *
			    (sizeof(struct process) + sizeof(u64) + sizeof(u32) + sizeof(u8)) +
		    (a->process_mask + 1ULL) * sizeof(u32) +
		    a->containers * sizeof(struct container) +
		    (a->container_mask + 1ULL) * sizeof(u32) + a->store.memory +
		    a->container_paths + timeline_memory(&a->owners) + timeline_memory(&a->switches) +
		    cgroups_memory(&a->cgroups) +
		    (a->reader ? proc_reader_memory(a->reader) + TASK_WAITS * sizeof(*a->wait) : 0);
	*ret_stats = st;
}

void attributor_switches(struct attributor *a, struct switch_ring *rings, u32 cpus)
{
	a->rings = rings;
	a->ring_cpus = rings ? cpus : 0;
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

static u64 map_bytes(const struct attributor *a, const struct attributor_config *config)
{
	u64 bytes = config->map_bytes ? config->map_bytes : (u64)a->processes * MAP_BYTES;

	return bytes > BYTES_LEAST ? bytes : BYTES_LEAST;
}

static u64 saved_map_bytes(const struct attributor *a, const struct attributor_config *config)
{
	return config->saved_map_bytes ? config->saved_map_bytes : (u64)a->processes * KEPT_BYTES;
}

static u64 cgroup_bytes(const struct attributor *a, const struct attributor_config *config)
{
	u64 bytes = config->cgroup_bytes ? config->cgroup_bytes : (u64)a->containers * CGROUP_BYTES;

	return bytes > BYTES_LEAST ? bytes : BYTES_LEAST;
}

static int tables_alloc(struct attributor *a, const struct attributor_config *config)
{
	u32 threads = capacity(config->threads, THREADS, THREAD_WAYS);
	int r;

	a->process_mask = power_above(a->processes) - 1;
	a->container_mask = power_above(a->containers) - 1;
	a->process = calloc(a->processes, sizeof(*a->process));
	a->stamp = calloc(a->processes + 1ULL, sizeof(*a->stamp));
	a->used = calloc(a->processes, sizeof(*a->used));
	a->since = calloc(a->processes, sizeof(*a->since));
	a->process_heads = malloc((a->process_mask + 1ULL) * sizeof(u32));
	a->container = calloc(a->containers, sizeof(*a->container));
	a->container_heads = calloc(a->container_mask + 1ULL, sizeof(u32));
	if (!a->process || !a->stamp || !a->used || !a->since || !a->process_heads ||
	    !a->container || !a->container_heads)
		return -ENOMEM;
	containers_init(a);
	memset(a->process_heads, 0xff, (a->process_mask + 1ULL) * sizeof(u32));
	a->container_bytes = cgroup_bytes(a, config);
	a->saved_map_bytes = saved_map_bytes(a, config);
	r = map_evict_init(a, map_bytes(a, config));
	if (!r && a->live)
		r = cgroups_init(&a->cgroups, CGROUPS, cgroup_bytes(a, config));
	return r ? r : threads_init(&a->threads, threads, a->processes);
}

static int proc_init(struct attributor *a, const struct attributor_config *config)
{
	a->proc = open(config->proc ? config->proc : "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->proc < 0)
		return -errno;
	cgroup_namespace_init(&a->space);
	snprintf(a->log, sizeof(a->log), "%s", config->log ? config->log : "/var/log");
	if (!config->background)
		return 0;
	a->wait_ms = WAIT_MS;
	a->wait = calloc(TASK_WAITS, sizeof(*a->wait));
	return a->wait ? proc_reader_new(a->proc, a->log, &a->space, &a->reader) : -ENOMEM;
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
	a->round = 1;
	a->rereads = REREADS;
	a->processes = capacity(c.processes, a->live ? PROCESSES : PROCESSES_RECORDED, 2);
	a->containers = capacity(c.containers, CONTAINERS, 2);
	a->dead.first = ATTRIBUTE_NONE;
	a->dead_unsampled.first = ATTRIBUTE_NONE;
	if (getrandom(&a->seed, sizeof(a->seed), GRND_NONBLOCK) != sizeof(a->seed))
		a->seed = (u64)now_ms() << 32 ^ (u64)(uintptr_t)a;
	if (getrandom(a->id_key, sizeof(a->id_key), GRND_NONBLOCK) != sizeof(a->id_key))
		a->id_key[0] = a->seed;
	a->owners.max = OWNERS * capacity(c.threads, THREADS, THREAD_WAYS);
	a->switches.max = a->owners.max;
	r = tables_alloc(a, &c);
	if (r < 0)
		goto fail;
	r = a->live ? proc_init(a, &c) : 0;
	if (r < 0)
		goto fail;
	/* The idle task has no container, although interrupts of containers may run in it. */
	process_new(a, 0);
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
	proc_reader_free(a->reader);
	free(a->wait);
	if (a->process)
		for (u32 i = 0; i < a->fresh; i++)
			maps_clear(&a->store, &a->process[i].maps);
	if (a->store.heads)
		maps_clear(&a->store, &a->kernel);
	map_store_deinit(&a->store);
	timeline_deinit(&a->owners);
	timeline_deinit(&a->switches);
	threads_deinit(&a->threads);
	free(a->process);
	free(a->stamp);
	free(a->used);
	free(a->since);
	cgroups_deinit(&a->cgroups);
	free(a->process_heads);
	containers_deinit(a);
	free(a->container);
	free(a->container_heads);
	if (a->proc >= 0)
		close(a->proc);
	free(a);
	return NULL;
}
