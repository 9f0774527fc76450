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

/* Default capacity of the table of processes (&attributor_config.processes). */
#define PROCESSES 8192
/*
 * The same for a recording. All its events are applied before its samples, so no entry can be
 * reused: each process needs one entry for each program that it executes.
 */
#define PROCESSES_RECORDED (1U << 18)
#define RECORDED_HEADS	   (1U << 15) /* number of hash chains of these processes */
/* Default and maximum capacity of the other tables of &struct attributor_config. */
#define THREADS		   32768
#define CONTAINERS	   2048
#define CGROUPS		   8192
#define CAPACITY_MAX	   (1U << 20)
#define MAP_BYTES	   2048 /* mappings and paths: average per process */
#define SAVED_MAP_BYTES	   768 /* mappings and paths in a checkpoint: average per process */
#define CGROUP_BYTES \
	512 /* average per container: path and names; the table of cgroups has the same limit */
#define BYTES_MIN	 (64ULL << 10) /* minimum of each limit in bytes */
#define TIMELINE_ENTRIES 32 /* per thread: capacity of each of the two timelines */

#define CLOCK_SLACK_NS	 20000 /* maximum difference of the clocks of samples and events */
#define PREDECESSORS_MAX 8 /* maximum number of earlier owners of a PID that are searched */

#define UNSAMPLED_MS   2000 /* time after which the entry of an unsampled process is reused */
#define SAMPLE_WAIT_MS 1000 /* timeout of samples that wait for /proc */

/* value of &attributor.reread_budget: maps that a refresh reads again because events were lost */
#define REREADS_PER_REFRESH 64

u32 coarse_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (u32)((u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000);
}

/* ---- Processes ---- */

static u32 *process_get_hash_chain(struct attributor *a, s32 pid)
{
	return &a->process_heads[((u32)pid * 0x9e3779b1U >> 7) & a->process_mask];
}

u32 process_find(struct attributor *a, s32 pid)
{
	u32 i = *process_get_hash_chain(a, pid);

	while (i != ATTRIBUTE_NONE && a->process[i].pub.pid != pid)
		i = a->process[i].hash_next;
	return i;
}

static void process_remove_from_hash(struct attributor *a, u32 index)
{
	u32 *link = process_get_hash_chain(a, a->process[index].pub.pid);

	while (*link != ATTRIBUTE_NONE && *link != index)
		link = &a->process[*link].hash_next;
	if (*link == index)
		*link = a->process[index].hash_next;
}

void process_make_current(struct attributor *a, u32 index)
{
	u32 *head = process_get_hash_chain(a, a->process[index].pub.pid);

	process_remove_from_hash(a, index);
	a->process[index].hash_next = *head;
	*head = index;
}

static void dead_list_push(struct attributor *a, struct index_list *list, u32 index)
{
	a->process[index].dead_next = ATTRIBUTE_NONE;
	if (list->first == ATTRIBUTE_NONE)
		list->first = index;
	else
		a->process[list->last].dead_next = index;
	list->last = index;
}

static u32 dead_list_pop(struct attributor *a, struct index_list *list)
{
	u32 i = list->first;

	if (i != ATTRIBUTE_NONE)
		list->first = a->process[i].dead_next;
	return i;
}

void process_mark_dead(struct attributor *a, u32 index)
{
	bool unsampled = a->live && !(a->sample_flags[index] & PROCESS_EVER_SAMPLED);
	struct process_table_entry *p = &a->process[index];

	if (p->state != PROCESS_LIVING || index == IDLE_PROCESS)
		return;
	container_remove_process(a, p->pub.container);
	p->state = PROCESS_DEAD;
	p->died_ms = coarse_now_ms();
	a->stamp[index] |= 1;
	dead_list_push(a, unsampled ? &a->dead_unsampled : &a->dead, index);
}

/* Choose a living process that has no recent sample (clock algorithm). */
static u32 process_choose_victim(struct attributor *a)
{
	u32 i;

	for (;;) {
		a->evict_hand =
			a->evict_hand + 1 < a->processes ? a->evict_hand + 1 : IDLE_PROCESS + 1;
		i = a->evict_hand;
		if (!(a->sample_flags[i] & PROCESS_SAMPLED))
			break;
		a->sample_flags[i] &= (u8)~PROCESS_SAMPLED;
	}
	a->stats.processes_evicted++;
	return i;
}

/* Remove and return a process that has no sample, and exited too long ago to get one now. */
static u32 process_reclaim_unsampled(struct attributor *a)
{
	u32 i;

	while ((i = a->dead_unsampled.first) != ATTRIBUTE_NONE &&
	       coarse_now_ms() - a->process[i].died_ms >= UNSAMPLED_MS) {
		dead_list_pop(a, &a->dead_unsampled);
		if (!(a->sample_flags[i] & PROCESS_EVER_SAMPLED))
			return i;
		dead_list_push(a, &a->dead, i);
	}
	return ATTRIBUTE_NONE;
}

/*
 * Choose an entry for a new process: a free entry, else an exited process, else a living one. Of
 * the exited processes, those without a sample are first if they exited UNSAMPLED_MS ago.
 */
static u32 process_take_entry(struct attributor *a)
{
	u32 i;

	if (a->processes_used < a->processes)
		return a->processes_used++;
	i = process_reclaim_unsampled(a);
	if (i != ATTRIBUTE_NONE)
		return i;
	i = dead_list_pop(a, &a->dead);
	if (i == ATTRIBUTE_NONE)
		i = dead_list_pop(a, &a->dead_unsampled);
	if (i == ATTRIBUTE_NONE)
		return process_choose_victim(a);
	if (!a->live || coarse_now_ms() - a->process[i].died_ms < LATE_SAMPLE_MS)
		a->stats.processes_evicted++;
	return i;
}

void process_clear_maps(struct map_store *store, struct process_table_entry *p)
{
	maps_clear(store, &p->maps);
	p->executable = mapped_binary_unref(store, p->executable);
	p->maps_answered_ns = 0;
}

u32 process_new(struct attributor *a, s32 pid)
{
	u32 owner = process_find(a, pid), *head = process_get_hash_chain(a, pid), i;
	u32 owner_generation = owner == ATTRIBUTE_NONE ? 0 : a->process[owner].pub.generation;
	struct process_table_entry *p;

	i = process_take_entry(a);
	p = &a->process[i];
	if (p->state != PROCESS_FREE)
		process_remove_from_hash(a, i);
	if (p->state == PROCESS_LIVING)
		container_remove_process(a, p->pub.container);
	process_clear_maps(&a->store, p);
	*p = (struct process_table_entry){
		.pub = { .pid = pid, .generation = p->pub.generation + 1 },
		.state = PROCESS_LIVING,
		.hash_next = *head,
		/* If @i is the entry of the former owner, the owner is lost. */
		.predecessor = owner == i ? ATTRIBUTE_NONE : owner,
		.predecessor_generation = owner_generation,
	};
	*head = i;
	a->valid_from_ns[i] = 0;
	a->change_count++;
	a->stamp[i] = p->pub.generation << 1;
	a->sample_flags[i] = 0;
	return i;
}

void process_set_container(struct attributor *a, u32 index, u32 container)
{
	struct process_table_entry *p = &a->process[index];

	if (p->pub.container == container)
		return;
	if (p->state == PROCESS_LIVING) {
		container_add_process(a, container);
		container_remove_process(a, p->pub.container);
	}
	p->pub.container = container;
}

void process_set_name(struct process_table_entry *p, const char *comm)
{
	escape_string(p->pub.comm, sizeof(p->pub.comm), comm);
}

void thread_set_process(struct attributor *a, s32 tid, u32 index, u32 failed_ms)
{
	if (index == ATTRIBUTE_NONE)
		thread_table_set_process(&a->threads, tid, a->threads.unresolved, 0, failed_ms,
					 a->stamp);
	else
		thread_table_set_process(&a->threads, tid, index, a->stamp[index], failed_ms,
					 a->stamp);
}

/* Returns the process of @pid if samples of it can still arrive; else ATTRIBUTE_NONE. */
static u32 process_find_recent(struct attributor *a, s32 pid)
{
	u32 i = process_find(a, pid);

	if (i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_DEAD &&
	    coarse_now_ms() - a->process[i].died_ms >= LATE_SAMPLE_MS)
		return ATTRIBUTE_NONE;
	return i;
}

/*
 * Set PROCESS_ flags atomically, because several readers may call this function at the same time.
 */
static void process_mark_sampled(struct attributor *a, u32 index, u8 bits)
{
	if ((__atomic_load_n(&a->sample_flags[index], __ATOMIC_RELAXED) & bits) != bits)
		__atomic_fetch_or(&a->sample_flags[index], bits, __ATOMIC_RELAXED);
}

/*
 * Returns the process of a thread, even if the thread or the process has exited; ATTRIBUTE_NONE if
 * the process is unknown.
 * @ret_not_found: set if the last lookup found no such thread
 */
static u32 task_find_cached(const struct attributor *a, struct thread_slot slot,
			    bool *ret_not_found)
{
	u32 i = slot.bucket ? slot.bucket->process[slot.way] : ATTRIBUTE_NONE;

	*ret_not_found = slot.bucket && i == a->threads.unresolved;
	if (!slot.bucket || *ret_not_found || slot.bucket->stamp[slot.way] >> 1 != a->stamp[i] >> 1)
		return ATTRIBUTE_NONE;
	return i;
}

/*
 * Returns whether the thread has exited, or was not found, less than LOOKUP_RETRY_MS ago. Then a
 * lookup would fail again. Later the lookup is repeated, because the TID may be reused.
 * @ret_index: the process of the exited thread; ATTRIBUTE_NONE if it was not found
 */
static bool task_find_cached_failure(struct attributor *a, struct thread_slot slot, u32 *ret_index)
{
	bool not_found;
	u32 old = task_find_cached(a, slot, &not_found);

	if (!not_found && old == ATTRIBUTE_NONE)
		return false;
	if (coarse_now_ms() - slot.bucket->failed_ms[slot.way] >= LOOKUP_RETRY_MS)
		return false;
	if (old != ATTRIBUTE_NONE)
		process_mark_sampled(a, old, PROCESS_EVER_SAMPLED);
	*ret_index = old;
	return true;
}

u32 task_store_lookup_result(struct attributor *a, s32 tid, u32 index)
{
	struct thread_slot slot = thread_table_find(&a->threads, tid);
	u32 old, now = coarse_now_ms();
	bool not_found;

	old = task_find_cached(a, slot, &not_found);
	/* If the slot of the thread was reused, its process may still be in the process table. */
	if (index == ATTRIBUTE_NONE && !slot.bucket)
		index = process_find_recent(a, tid);
	if (index != ATTRIBUTE_NONE) {
		thread_set_process(a, tid, index, now - LOOKUP_RETRY_MS);
		a->sample_flags[index] = PROCESS_SAMPLED | PROCESS_EVER_SAMPLED;
		return index;
	}
	if (old != ATTRIBUTE_NONE) {
		slot.bucket->failed_ms[slot.way] = now;
		a->sample_flags[old] |= PROCESS_EVER_SAMPLED;
		return old;
	}
	if (!not_found)
		a->stats.unresolved++;
	thread_set_process(a, tid, ATTRIBUTE_NONE, now);
	return ATTRIBUTE_NONE;
}

u32 attributor_guess_process(const struct attributor *a, s32 tid)
{
	const struct thread_slot slot = thread_table_find(&a->threads, tid);
	bool not_found;
	u32 i = task_find_cached(a, slot, &not_found);

	return i != ATTRIBUTE_NONE && a->process[i].state == PROCESS_LIVING ? i : ATTRIBUTE_NONE;
}

/*
 * Returns whether events reported the thread and its process, but /proc must still be read, for
 * example for the mappings. Samples of such a thread do not wait for the query of /proc.
 */
static bool task_find_reported(const struct attributor *a, s32 tid, u32 *ret_index)
{
	u32 i = a->reader && a->reports & TASK_REPORTS_CGROUPS ? attributor_guess_process(a, tid) :
								 ATTRIBUTE_NONE;

	if (i == ATTRIBUTE_NONE || !a->process[i].needs_read)
		return false;
	*ret_index = i;
	return true;
}

/* Find the process of a thread that is unknown, has exited, or was not found. */
static u32 task_resolve_slow(struct attributor *a, s32 tid, struct thread_slot slot)
{
	u32 index, reported;

	if (task_find_cached_failure(a, slot, &index))
		return index;
	if (task_find_reported(a, tid, &reported) &&
	    task_find_in_proc(a, tid, true) == ATTRIBUTE_PENDING) {
		process_mark_sampled(a, reported, PROCESS_SAMPLED | PROCESS_EVER_SAMPLED);
		return reported;
	}
	index = task_find_in_proc(a, tid, true);
	return index == ATTRIBUTE_PENDING ? index : task_store_lookup_result(a, tid, index);
}

/*
 * Find the process of a thread of a recording. Several threads may call this function at the same
 * time, so it changes no table.
 */
static u32 task_find_recorded(struct attributor *a, s32 tid)
{
	bool not_found;
	u32 index = task_find_cached(a, thread_table_find(&a->threads, tid), &not_found);

	return index != ATTRIBUTE_NONE ? index : process_find(a, tid);
}

/*
 * Find the process of a thread in the thread table, unless its exit is known. This suffices for
 * most samples.
 */
static bool task_find_living(struct attributor *a, struct thread_slot slot, u32 *ret_index)
{
	u32 index = slot.bucket ? slot.bucket->process[slot.way] : a->threads.unresolved;

	if (index == a->threads.unresolved || slot.bucket->stamp[slot.way] != a->stamp[index])
		return false;
	process_mark_sampled(a, index, PROCESS_SAMPLED | PROCESS_EVER_SAMPLED);
	*ret_index = index;
	return true;
}

u32 attributor_find_process(struct attributor *a, s32 tid)
{
	struct thread_slot slot;
	u32 index;

	/* TID 0 is the idle task of every CPU. In the thread table, 0 marks a free slot. */
	if (tid <= 0)
		return tid ? ATTRIBUTE_NONE : IDLE_PROCESS;
	if (!a->live)
		return task_find_recorded(a, tid);
	slot = thread_table_find(&a->threads, tid);
	return task_find_living(a, slot, &index) ? index : task_resolve_slow(a, tid, slot);
}

bool process_has_samples(const struct attributor *a, u32 index)
{
	u8 flags = __atomic_load_n(&a->sample_flags[index], __ATOMIC_RELAXED);

	return index != IDLE_PROCESS && a->process[index].state != PROCESS_FREE &&
	       (!a->live || flags & PROCESS_EVER_SAMPLED);
}

/*
 * Returns the previous owner of the PID of @index; ATTRIBUTE_NONE if its entry was reused, or if no
 * event reported when the PID changed its owner.
 */
static u32 process_get_predecessor(const struct attributor *a, u32 index)
{
	const struct process_table_entry *p = &a->process[index];
	u32 i = p->predecessor;

	if (!a->valid_from_ns[index] || i == ATTRIBUTE_NONE ||
	    a->process[i].pub.generation != p->predecessor_generation)
		return ATTRIBUTE_NONE;
	return i;
}

u32 process_get_sampled_predecessor(const struct attributor *a, u32 index)
{
	u32 i = process_get_predecessor(a, index);

	return i != ATTRIBUTE_NONE && process_has_samples(a, i) ? i : ATTRIBUTE_NONE;
}

/* Returns the process that had the PID of @index at @time_ns, a time before @index started. */
static u32 process_find_predecessor(struct attributor *a, u32 index, u64 time_ns)
{
	u32 i = index, earlier;

	if (a->valid_from_ns[i] - time_ns < CLOCK_SLACK_NS)
		return i;
	for (u32 n = 0; n < PREDECESSORS_MAX; n++) {
		earlier = process_get_predecessor(a, i);
		if (earlier == ATTRIBUTE_NONE)
			break;
		i = earlier;
		if (a->valid_from_ns[i] <= time_ns) {
			process_mark_sampled(a, i, PROCESS_EVER_SAMPLED);
			return i;
		}
	}
	/* A process that started later cannot have run at @time_ns. */
	return a->process[i].forked_ns > time_ns ? ATTRIBUTE_NONE : i;
}

/* Return the process that had the PID of @i at @time_ns; @i is the last process with that PID. */
static u32 process_find_at(struct attributor *a, u32 i, u64 time_ns,
			   struct attribute_span *ret_span)
{
	*ret_span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	if (i == ATTRIBUTE_NONE || i == ATTRIBUTE_PENDING)
		return i;
	ret_span->from = a->valid_from_ns[i];
	if (a->valid_from_ns[i] <= time_ns)
		return i;
	/*
	 * Samples of earlier owners are rare. The span of 1 ns prevents callers from caching them.
	 */
	*ret_span = (struct attribute_span){ time_ns, time_ns + 1 };
	return process_find_predecessor(a, i, time_ns);
}

u32 attributor_find_process_live(struct attributor *a, s32 tid, u64 time_ns,
				 struct attribute_span *ret_span)
{
	return process_find_at(a, attributor_find_process(a, tid), time_ns, ret_span);
}

bool attributor_find_process_cached(struct attributor *a, s32 tid, u64 time_ns, u32 *ret_index,
				    struct attribute_span *ret_span)
{
	struct thread_slot slot = { NULL, 0 };
	u32 index = tid ? ATTRIBUTE_NONE : IDLE_PROCESS;
	bool timed = attributor_has_event_times(a);

	if (timed && !a->live)
		return false;
	if (tid > 0) {
		slot = thread_table_find(&a->threads, tid);
		if (!task_find_living(a, slot, &index) &&
		    !task_find_cached_failure(a, slot, &index)) {
			if (!task_is_pending(a, tid))
				return false;
			if (task_find_reported(a, tid, &index))
				process_mark_sampled(a, index,
						     PROCESS_SAMPLED | PROCESS_EVER_SAMPLED);
			else
				index = ATTRIBUTE_PENDING;
		}
	}
	*ret_span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	*ret_index = timed ? process_find_at(a, index, time_ns, ret_span) : index;
	return true;
}

void attributor_refresh(struct attributor *a)
{
	if (!a->live)
		return;
	a->largest_maps = NULL;
	a->reread_budget = REREADS_PER_REFRESH;
	containers_refresh_names(a);
	maps_reread_stale(a);
	/* If events report every change of processes, do not compare processes with /proc. */
	if (a->reports & TASK_REPORTS_CGROUPS)
		return;
	tasks_compare_with_proc(a);
}

/* ---- Access to the tables ---- */

u64 attributor_get_creation_count(const struct attributor *a)
{
	return a->change_count;
}

const struct attribute_process *attributor_get_process(const struct attributor *a, u32 index)
{
	if (index >= a->processes_used || a->process[index].state == PROCESS_FREE)
		return NULL;
	return &a->process[index].pub;
}

bool attributor_is_process_living(const struct attributor *a, u32 index)
{
	return index < a->processes_used && a->process[index].state == PROCESS_LIVING;
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

static void locate_kernel_pc(struct attributor *a, u64 pc, struct attribute_location *ret)
{
	const struct mapping *m = maps_find(&a->kernel, pc);

	*ret = (struct attribute_location){ .binary = "[kernel]", .offset = pc, .pc = pc };
	if (!m)
		return;
	/*
	 * In perf events the kernel itself has the name "[kernel.kallsyms]_text", or
	 * "[guest.kernel.kallsyms]_text" for a guest. Other names are names of modules.
	 */
	location_set_binary(ret, m, pc, false);
	if (!strncmp(m->binary->path, "[kernel", 7) || !strncmp(m->binary->path, "[guest", 6))
		ret->binary = "[kernel]";
}

bool mapping_is_anonymous(const char *path)
{
	return !path[0] || !strncmp(path, "//", 2) || (path[0] == '[' && path[1] != 'v');
}

/*
 * Returns whether to read the mappings of @p again. @m is the mapping of the PC, or NULL. If @m is
 * known, a read is needed if events about mappings may be lost; else if the last read is old.
 */
static bool maps_need_reread(const struct attributor *a, const struct process_table_entry *p,
			     const struct mapping *m)
{
	return m ? p->maps_stale && a->reread_budget :
		   coarse_now_ms() - __atomic_load_n(&p->maps_read_ms, __ATOMIC_RELAXED) >=
			       MAPS_MISS_MS;
}

bool attributor_locate_pc(struct attributor *a, u32 index, u64 pc, bool kernel,
			  struct attribute_location *ret_location)
{
	const struct mapping *m;
	struct process_table_entry *p;

	if (kernel) {
		locate_kernel_pc(a, pc, ret_location);
		return true;
	}
	if (index >= a->processes_used)
		return false;
	p = &a->process[index];
	m = maps_find(&p->maps, pc);
	if (a->live && p->state == PROCESS_LIVING && index != IDLE_PROCESS &&
	    maps_need_reread(a, p, m)) {
		__atomic_store_n(&p->maps_read_ms, coarse_now_ms(), __ATOMIC_RELAXED);
		process_compare_with_proc(a, index, true);
		m = maps_find(&p->maps, pc);
	}
	if (!m)
		return false;
	location_set_binary(ret_location, m, pc, m->binary->path[0] == '/');
	if (a->live)
		ret_location->process = (u64)p->pub.generation << 32 | index;
	/* Addresses of a live process are confidential (ASLR), so use the offset in the mapping. */
	if (a->live && mapping_is_anonymous(m->binary->path))
		ret_location->offset = pc - m->start;
	else if (m->binary->path[0] == '[')
		ret_location->offset = pc - m->start + m->offset;
	if (!m->binary->path[0])
		ret_location->binary = "[anon]";
	/* The vdso of a 32-bit process is not the one that the daemon itself has mapped. */
	if (!strcmp(m->binary->path, "[vdso]") && m->end <= UINT32_MAX)
		ret_location->binary = "[vdso32]";
	return true;
}

void attributor_get_stats(const struct attributor *a, struct attributor_stats *ret_stats)
{
	struct attributor_stats st = a->stats;

	st.threads_evicted = a->threads.evicted;
	st.mappings_dropped = a->store.dropped;
	st.memory =
		sizeof(*a) + a->threads.count * sizeof(struct thread_bucket) +
		a->processes * (sizeof(struct process_table_entry) + sizeof(u64) + sizeof(u32) +
				sizeof(u8)) +
		(a->process_mask + 1ULL) * sizeof(u32) +
		a->containers * sizeof(struct container_table_entry) +
		(a->container_mask + 1ULL) * sizeof(u32) + a->store.memory +
		a->container_text_bytes + timeline_get_memory(&a->owner_timeline) +
		timeline_get_memory(&a->switch_timeline) + cgroup_table_get_memory(&a->cgroups) +
		(a->reader ?
			 proc_reader_get_memory(a->reader) + TASK_WAITS * sizeof(*a->task_waits) :
			 0);
	*ret_stats = st;
}

void attributor_set_switch_rings(struct attributor *a, struct switch_ring *rings, u32 cpus)
{
	a->switch_rings = rings;
	a->ring_cpus = rings ? cpus : 0;
}

/* ---- Allocation ---- */

static u32 choose_capacity(u32 configured, u32 fallback, u32 min)
{
	u32 capacity = configured ? configured : fallback;

	if (capacity < min)
		capacity = min;
	return capacity < CAPACITY_MAX ? capacity : CAPACITY_MAX;
}

static u32 next_power_of_two(u32 n)
{
	u32 p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

static u64 choose_byte_limit(u64 configured, u64 fallback)
{
	u64 bytes = configured ? configured : fallback;

	return bytes > BYTES_MIN ? bytes : BYTES_MIN;
}

static int tables_alloc(struct attributor *a, const struct attributor_config *config)
{
	u32 threads = choose_capacity(config->threads, THREADS, THREAD_WAYS);
	u64 map_bytes = choose_byte_limit(config->map_bytes, (u64)a->processes * MAP_BYTES);
	int r;

	a->process_mask = next_power_of_two(a->processes) - 1;
	/* Few recordings need all entries, so use fewer hash chains. */
	if (!a->live && a->process_mask >= RECORDED_HEADS)
		a->process_mask = RECORDED_HEADS - 1;
	a->container_mask = next_power_of_two(a->containers) - 1;
	a->process = calloc(a->processes, sizeof(*a->process));
	a->stamp = calloc(a->processes + 1ULL, sizeof(*a->stamp));
	a->sample_flags = calloc(a->processes, sizeof(*a->sample_flags));
	a->valid_from_ns = calloc(a->processes, sizeof(*a->valid_from_ns));
	a->process_heads = malloc((a->process_mask + 1ULL) * sizeof(u32));
	a->container = calloc(a->containers, sizeof(*a->container));
	a->container_heads = calloc(a->container_mask + 1ULL, sizeof(u32));
	if (!a->process || !a->stamp || !a->sample_flags || !a->valid_from_ns ||
	    !a->process_heads || !a->container || !a->container_heads)
		return -ENOMEM;
	containers_init(a);
	memset(a->process_heads, 0xff, (a->process_mask + 1ULL) * sizeof(u32));
	a->container_bytes =
		choose_byte_limit(config->cgroup_bytes, (u64)a->containers * CGROUP_BYTES);
	a->saved_map_bytes = config->saved_map_bytes ? config->saved_map_bytes :
						       (u64)a->processes * SAVED_MAP_BYTES;
	r = attributor_init_map_store(a, map_bytes);
	if (!r && a->live)
		r = cgroup_table_init(&a->cgroups, CGROUPS, a->container_bytes);
	return r ? r : thread_table_init(&a->threads, threads, a->processes);
}

static int attributor_init_proc(struct attributor *a, const struct attributor_config *config)
{
	a->proc_fd = open(config->proc ? config->proc : "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->proc_fd < 0)
		return -errno;
	cgroup_namespace_init(&a->cgroup_ns);
	snprintf(a->log_path, sizeof(a->log_path), "%s", config->log ? config->log : "/var/log");
	if (!config->background)
		return 0;
	a->sample_wait_ms = SAMPLE_WAIT_MS;
	a->task_waits = calloc(TASK_WAITS, sizeof(*a->task_waits));
	return a->task_waits ? proc_reader_new(a->proc_fd, a->log_path, &a->cgroup_ns, &a->reader) :
			       -ENOMEM;
}

int attributor_new(const struct attributor_config *config, struct attributor **ret_attributor)
{
	const struct attributor_config c = config ? *config : (struct attributor_config){ 0 };
	struct attributor *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->proc_fd = -1;
	a->live = c.live;
	a->seed_round = 1;
	a->reread_budget = REREADS_PER_REFRESH;
	a->processes = choose_capacity(c.processes, a->live ? PROCESSES : PROCESSES_RECORDED, 2);
	a->containers = choose_capacity(c.containers, CONTAINERS, 2);
	a->dead.first = ATTRIBUTE_NONE;
	a->dead_unsampled.first = ATTRIBUTE_NONE;
	if (getrandom(&a->hash_seed, sizeof(a->hash_seed), GRND_NONBLOCK) != sizeof(a->hash_seed))
		a->hash_seed = (u64)coarse_now_ms() << 32 ^ (u64)(uintptr_t)a;
	if (getrandom(a->id_key, sizeof(a->id_key), GRND_NONBLOCK) != sizeof(a->id_key))
		a->id_key[0] = a->hash_seed;
	a->owner_timeline.max = TIMELINE_ENTRIES * choose_capacity(c.threads, THREADS, THREAD_WAYS);
	a->switch_timeline.max = a->owner_timeline.max;
	r = tables_alloc(a, &c);
	if (r < 0)
		goto fail;
	r = a->live ? attributor_init_proc(a, &c) : 0;
	if (r < 0)
		goto fail;
	/*
	 * The idle task has no container, although interrupts may do work for containers while it
	 * runs.
	 */
	process_new(a, 0);
	process_set_name(&a->process[IDLE_PROCESS], "swapper");
	*ret_attributor = a;
	return 0;
fail:
	attributor_free(a);
	return r;
}

int attributor_new_shared(struct attributor *a, struct attributor **ret_shared)
{
	struct attributor *shared;

	if (a->live)
		return -EINVAL;
	shared = malloc(sizeof(*shared));
	if (!shared)
		return -ENOMEM;
	*shared = *a;
	shared->borrowed = true;
	timeline_init_shared(&a->owner_timeline, &shared->owner_timeline);
	timeline_init_shared(&a->switch_timeline, &shared->switch_timeline);
	*ret_shared = shared;
	return 0;
}

static struct attributor *attributor_free_shared(struct attributor *shared)
{
	timeline_deinit(&shared->owner_timeline);
	timeline_deinit(&shared->switch_timeline);
	free(shared);
	return NULL;
}

struct attributor *attributor_free(struct attributor *a)
{
	if (!a)
		return NULL;
	if (a->borrowed)
		return attributor_free_shared(a);
	proc_reader_free(a->reader);
	free(a->task_waits);
	if (a->process)
		for (u32 i = 0; i < a->processes_used; i++)
			process_clear_maps(&a->store, &a->process[i]);
	if (a->store.heads)
		maps_clear(&a->store, &a->kernel);
	map_store_deinit(&a->store);
	timeline_deinit(&a->owner_timeline);
	timeline_deinit(&a->switch_timeline);
	thread_table_deinit(&a->threads);
	free(a->process);
	free(a->stamp);
	free(a->sample_flags);
	free(a->valid_from_ns);
	cgroup_table_deinit(&a->cgroups);
	free(a->process_heads);
	containers_deinit(a);
	free(a->container);
	free(a->container_heads);
	if (a->proc_fd >= 0)
		close(a->proc_fd);
	free(a);
	return NULL;
}
