/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attributor's tables, shared by what fills them: /proc, and task events. */
#ifndef SPEPROF_ATTRIBUTOR_INTERNAL_H
#define SPEPROF_ATTRIBUTOR_INTERNAL_H

#include "attributor.h"
#include "cgroup-namespace.h"
#include "cgroup-table.h"
#include "maps.h"
#include "pods.h"
#include "proc-reader.h"
#include "tasks/task-event.h"
#include "thread-table.h"
#include "timeline.h"

#define IDLE	 0 /* index of the idle task's entry */
#define RETRY_MS 1000 /* before a TID that was nowhere is looked up again */
#define LATE_MS	 5000 /* how long samples of a dead process may still come */

enum process_state {
	PROCESS_FREE,
	PROCESS_LIVING,
	PROCESS_DEAD,
};

#define PROCESS_SAMPLED	     1U
#define PROCESS_EVER_SAMPLED 2U

/**
 * struct process - an entry of the process table
 * @born_ns: when it was forked, CLOCK_MONOTONIC, 0 if no event said
 * @read_ns: when all of it was read in /proc: events before that are known already; 0
 *	if events made it
 * @start_time, @start_code, @start_stack: as procfs_stat has them: who it is; 0 where
 *	only events told of it so far
 * @before: who had its number before, if its @generation is still @before_generation
 * @hash_next: in the chain of its pid
 * @dead_next: in the order of death
 * @died, @mapped: ms
 * @after_ns: recordings: when @after took its place, by exec or a move; 0: nothing did
 * @after_generation: of @after then
 * @map_bytes: of mappings and paths, bytes: as map-evict.c counted them last
 * @state: &enum process_state
 * @image: @start_code and @start_stack are those of what it executes
 * @exited: an event said so, and not only /proc
 * @unread: events told of it, but not of its mappings: /proc is asked at its next sample
 * @doubted: mappings of it may have been lost: /proc is read again, as far as @rereads allow
 * @round: of seeding in which it was seen, 0: in none
 * @maps_saved: its mappings are in what is saved (map-save-selection.c)
 * @querying: a query about it is under way (background)
 * @mapped_ns: time of the last event that changed its mappings
 */
struct process {
	struct attribute_process pub;
	struct maps maps;
	u64 born_ns;
	u64 read_ns;
	u64 start_time;
	u64 start_code;
	u64 start_stack;
	u32 before;
	u32 before_generation;
	u32 hash_next;
	u32 dead_next;
	u32 died;
	u32 mapped;
	u64 after_ns;
	u32 after;
	u32 after_generation;
	u64 map_bytes;
	u64 mapped_ns;
	u8 state;
	u8 round;
	bool image;
	bool exited;
	bool unread;
	bool doubted;
	bool maps_saved;
	bool querying;
};

/**
 * struct container - an entry of the container table
 * @hash: of the path
 * @path: raw, what pub.cgroup shows; allocated, @path_len bytes
 * @living: processes
 * @left: ms, when the last of them died or moved
 * @queued: ms, when it was put into the list of those without a living process
 * @next: in that list
 * @uid, @id: of a pod's container; "" for others
 * @link: that tells Kubernetes' name for it, while it is looked for
 * @querying: a query for that name is under way
 */
struct container {
	struct attribute_container pub;
	struct pods_names *pod; /* where its name has no room for them, else NULL */
	u64 path_id;
	u64 hash;
	char *path;
	u32 path_len;
	u32 hash_next;
	u32 living;
	u32 left;
	u32 queued;
	u32 next;
	struct pods_wait link;
	bool in_use;
	bool in_list;
	bool querying;
	char uid[40];
	char id[72];
};

/* Threads with a query under way, in the background; a power of two. */
#define TASK_WAITS 1024
#define TASK_WAIT_WAYS 8
/* By PID, when an event last reported a change that makes an answer of /proc out of date. */
#define TASK_CHANGES 256

/**
 * struct task_wait - a thread with a query under way
 * @tid: 0 for none
 * @asked_ms: ms
 * @retries: how often the answer was out of date
 * @sampled: a sample waits for it, and not only a child that inherits
 */
struct task_wait {
	s32 tid;
	u32 asked_ms;
	u8 retries;
	bool sampled;
};

/* Dead processes, the longest dead first; ATTRIBUTE_NONE for none. */
struct dead_list {
	u32 first;
	u32 last;
};

/**
 * struct attributor
 * @stamp: for each process, generation << 1 | dead: threads that carry the same
 *	one need no second look. One more, 0, for the threads that are nowhere.
 * @used: for each process, PROCESS_SAMPLED if it was asked for since the last look at it,
 *	PROCESS_EVER_SAMPLED if at any time
 * @since: for each process, when its number became its, CLOCK_MONOTONIC; 0: before all
 *	samples
 * @dead_unsampled: the dead that no sample asked for when they died
 * @owners: recordings: by TID, the process and its generation
 * @switches: recordings: by CPU, the TID
 * @left: containers without a living process, the longest first
 * @rings: live: of @ring_cpus CPUs, who ran when; borrowed
 * @reports: TASK_TELLS_*, once all tasks were told
 * @fresh: entries from here on were never used
 * @refused: maps that were the largest when there was no room; until something else happens
 * @seed: keys the containers' hash
 * @id_key: keys what containers are numbered by for those who follow them, over restarts
 * @container_paths: bytes of the containers' paths and names that are kept whole,
 *	@container_bytes at most
 * @saved_map_bytes: of mappings in what attributor_save() writes
 * @rereads: doubted maps that may be read until the next attributor_refresh()
 * @changes: entries of processes that were made
 * @reader: reads /proc in the background; NULL where the caller's thread does
 * @wait: threads with a query under way, in sets of TASK_WAIT_WAYS
 * @wait_ms: for how long a sample waits for an answer
 * @changed_ns: by PID modulo TASK_CHANGES
 * @log: path of /var/log
 */
struct attributor {
	struct thread_table threads;
	u32 *stamp;
	u8 *used;
	u64 *since;
	struct process *process;
	u32 *process_heads;
	struct container *container;
	u32 *container_heads;
	struct map_store store;
	struct maps kernel;
	const struct maps *refused;
	struct timeline owners;
	struct timeline switches;
	struct attributor_stats stats;
	u64 seed;
	u64 id_key[2];
	u64 container_paths;
	u64 container_bytes;
	u64 saved_map_bytes;
	u64 changes;
	u32 rereads;
	u32 processes;
	u32 fresh;
	struct dead_list dead;
	struct dead_list dead_unsampled;
	u32 hand;
	u32 hand_busy;
	u32 hand_idle;
	u32 hand_bucket;
	u32 hand_naming;
	u32 hand_maps;
	u32 process_mask;
	u32 containers;
	u32 containers_used;
	u32 naming; /* containers whose name is looked for */
	u32 container_mask;
	u32 container_free;
	struct dead_list left;
	struct cgroup_table cgroups;
	struct cgroup_namespace space;
	struct switch_ring *rings;
	u32 ring_cpus;
	u32 reports;
	u8 round;
	int proc;
	char log[128];
	bool live;
	struct proc_reader *reader;
	struct task_wait *wait;
	u32 wait_ms;
	u64 changed_ns[TASK_CHANGES];
};

/** map_evict_init() - of @bytes, for which processes give way to each other (live) */
int map_evict_init(struct attributor *a, u64 bytes);

/* CLOCK_MONOTONIC, coarse: for ages */
u32 now_ms(void);

/** container_index() - the index of the container of @path, a new one if need be */
u32 container_index(struct attributor *a, const char *path, size_t len);

/** container_of_cgroup() - by id; ATTRIBUTE_NONE if that does not tell */
u32 container_of_cgroup(struct attributor *a, u64 id);

/* A living process came into a container, or left it. */
void container_add_process(struct attributor *a, u32 index);
void container_remove_process(struct attributor *a, u32 index);

/* They are numbered by @key from now on, those that are there too. */
void containers_key(struct attributor *a, const u64 key[static 2]);
void containers_init(struct attributor *a);
void containers_deinit(struct attributor *a);

/* @names, which the container's own has no room for, or has. */
void container_store_names(struct attributor *a, struct container *c,
			   const struct pods_names *names);
void containers_refresh(struct attributor *a);

/** container_answered() - @answer is of PROC_QUERY_POD */
void container_answered(struct attributor *a, const struct proc_answer *answer);

/**
 * attributor_query() - run @query at once, or hand it to the threads that read in the background
 *
 * Return: false if the queue is full; then the caller still owns @query->pod.
 */
bool attributor_query(struct attributor *a, const struct proc_query *query);

/** process_contain() - process @index is in @container from now on */
void process_contain(struct attributor *a, u32 index, u32 container);

/** process_find() - the last process that had @pid, living or dead */
u32 process_find(struct attributor *a, s32 pid);

/** process_new() - an entry for @pid; what had it before may be gone */
u32 process_new(struct attributor *a, s32 pid);
void process_die(struct attributor *a, u32 index);

/** process_make_current() - process_find() finds @index, which has the number after all others */
void process_make_current(struct attributor *a, u32 index);
void process_name(struct process *p, const char *comm);

/**
 * task_lookup() - ask /proc for the process of @tid
 * @sampled: for a sample; otherwise the entry's age stays as it is
 *
 * Return: index, or ATTRIBUTE_NONE; in the background ATTRIBUTE_PENDING until there is an answer.
 */
u32 task_lookup(struct attributor *a, s32 tid, bool sampled);

/** task_is_pending() - whether a sample of @tid is to wait for an answer; changes nothing */
bool task_is_pending(const struct attributor *a, s32 tid);

/** task_found() - @tid is of process @index, or of none, as /proc says; returns the index for samples */
u32 task_found(struct attributor *a, s32 tid, u32 index);

/** process_query() - compare process @index with /proc; @map: and read its mappings */
void process_query(struct attributor *a, u32 index, bool map);

/** tasks_refresh() - look at some living processes and threads again */
void tasks_refresh(struct attributor *a);

/** thread_set() - @tid belongs to process @index; ATTRIBUTE_NONE: to none, as found at @failed */
void thread_set(struct attributor *a, s32 tid, u32 index, u32 failed);

/** threads_rehome() - threads of process @from are of process @to */
void threads_rehome(struct attributor *a, u32 from, u32 to);

/** attributor_task_live() - attributor_task_during(), where entries know since when they are */
u32 attributor_task_live(struct attributor *a, s32 tid, u64 time_ns,
			 struct attribute_span *ret_span);

/** attributor_event_live() - an event of this machine, where /proc is at hand as well */
void attributor_event_live(struct attributor *a, const struct task_event *event);

#endif
