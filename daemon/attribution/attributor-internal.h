/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of an attributor, and the functions that change them.
 *
 * Locking: an attributor does not lock anything. If several threads use it, they must use the
 * reader lock (reader-lock.h). Each function below needs the write lock, unless its comment says
 * otherwise. Threads that hold only the reader lock change &attributor.sample_flags and the members
 * that attributor_request_mappings() sets, all by atomic operations.
 */
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

#define IDLE_PROCESS	0 /* index of the entry for the idle tasks of all CPUs */
#define LOOKUP_RETRY_MS 1000 /* a TID that was not found is looked up again after this time */
#define LATE_SAMPLE_MS	5000 /* samples of a process can arrive for this time after its exit */
#define MAPS_MISS_MS	200 /* minimum time between reads of mappings for an unmapped PC */

enum process_state {
	PROCESS_FREE,
	PROCESS_LIVING,
	PROCESS_DEAD,
};

/* Values of &attributor.sample_flags, for live attributors */
#define PROCESS_SAMPLED	     1U /* a refresh, or the search for a victim, clears it */
#define PROCESS_EVER_SAMPLED 2U

/**
 * struct process_table_entry - an entry of the process table: one program that a process executed
 *
 * An exec or a move between containers creates a new entry, so that earlier samples stay with the
 * old one. Times are CLOCK_MONOTONIC; members that end in _ms use coarse_now_ms().
 *
 * @pub: the part that callers see
 * @maps: its executable mappings
 * @forked_ns: time of its fork; 0 if no event reported it
 * @read_ns: time at which /proc was read; older events are already included. 0 if only events
 * described the process
 * @start_time, @start_code, @start_stack: as in struct procfs_stat. They identify the process and
 * its program; 0 if unknown
 * @predecessor: the entry that had the PID before, valid if that entry's generation is
 * still @predecessor_generation
 * @predecessor_generation: generation of @predecessor
 * @hash_next: next entry in the hash chain of PIDs; ATTRIBUTE_NONE at the end
 * @dead_next: next entry in a list of exited processes
 * @died_ms: time at which the entry became PROCESS_DEAD
 * @maps_read_ms: time of the last read of the mappings
 * @succeeded_ns: recordings: time at which @successor replaced the entry; 0 if it did not
 * @successor: recordings: the entry that follows after an exec or a move
 * @successor_generation: generation of @successor
 * @map_bytes: size of the mappings and their paths, bytes; valid only in map-evict.c
 * @maps_event_ns: time of the last event that changed @maps
 * @maps_answered_ns: start time of the last completed read of the mappings, even if the read
 * failed; 0 if no read has completed since the last exec
 * @executable: counted reference to the executable; NULL if @maps contains it, or if it is unknown
 * @state: &enum process_state
 * @seed_round: number of the last report of all tasks that included the process; 0 for none
 * @has_image: @start_code and @start_stack belong to the program that runs now
 * @exit_reported: an event reported the exit; false if only /proc showed it
 * @needs_read: events did not report everything; the next sample makes the daemon read /proc
 * @maps_stale: events about mappings may be lost. The maps are read again if
 * &attributor.reread_budget allows
 * @maps_saved: the checkpoint includes the mappings (map-save-selection.c)
 * @query_pending: whether a background thread reads /proc for this entry. Readers set it with an
 * atomic exchange
 */
struct process_table_entry {
	struct attribute_process pub;
	struct maps maps;
	u64 forked_ns;
	u64 read_ns;
	u64 start_time;
	u64 start_code;
	u64 start_stack;
	u32 predecessor;
	u32 predecessor_generation;
	u32 hash_next;
	u32 dead_next;
	u32 died_ms;
	u32 maps_read_ms;
	u64 succeeded_ns;
	u32 successor;
	u32 successor_generation;
	u64 map_bytes;
	u64 maps_event_ns;
	u64 maps_answered_ns;
	struct mapped_binary *executable;
	u8 state;
	u8 seed_round;
	bool has_image;
	bool exit_reported;
	bool needs_read;
	bool maps_stale;
	bool maps_saved;
	bool query_pending;
};

/**
 * process_clear_maps() - remove mappings and executable of a process that executes another program
 * now
 */
void process_clear_maps(struct map_store *store, struct process_table_entry *p);

/**
 * struct container_table_entry - an entry of the container table
 * @pub: the part that callers see; &attribute_container.cgroup points to @path
 * @pod: Kubernetes names that do not fit in @pub; NULL if they fit or are unknown
 * @path_id: keyed hash of the path, the same after a restart of the daemon
 * @hash: hash of the path for the table
 * @path: the complete cgroup path of @path_len bytes; allocated, raw
 * @hash_next: next entry in the hash chain; 0 at the end
 * @living_processes: number of processes in state PROCESS_LIVING in the container
 * @emptied_ms: time at which the last process exited or moved
 * @queued_ms: @emptied_ms at the time of insertion into the list of empty containers
 * @list_next: next entry in the list of empty containers, or in the list of free entries
 * @name_retry: when to search for the Kubernetes name again
 * @in_use: the entry is not free
 * @in_empty_list: the entry is in the list of empty containers. It stays there when a process
 * enters; the removal from the list checks @living_processes
 * @query_pending: whether a background thread searches for the Kubernetes name
 * @uid, @id: Kubernetes pod uid and container id; "" outside of Kubernetes
 */
struct container_table_entry {
	struct attribute_container pub;
	struct pods_names *pod;
	u64 path_id;
	u64 hash;
	char *path;
	u32 path_len;
	u32 hash_next;
	u32 living_processes;
	u32 emptied_ms;
	u32 queued_ms;
	u32 list_next;
	struct pods_retry name_retry;
	bool in_use;
	bool in_empty_list;
	bool query_pending;
	char uid[40];
	char id[72];
};

/* Number of threads that can wait for a background query; a power of two. */
#define TASK_WAITS     1024
#define TASK_WAIT_WAYS 8
/* Number of entries of &attributor.changed_ns. */
#define TASK_CHANGES 256

/**
 * struct task_wait - a thread that a background thread looks up
 * @tid: thread id; 0 if the entry is free
 * @started_ms: time of the query
 * @retries: number of times that an event made the answer obsolete
 * @sampled: whether a sample waits for the answer; false if only a forked child needs its parent
 */
struct task_wait {
	s32 tid;
	u32 started_ms;
	u8 retries;
	bool sampled;
};

/** struct index_list - a queue from @first to @last; an empty queue has @first ATTRIBUTE_NONE */
struct index_list {
	u32 first;
	u32 last;
};

/**
 * struct attributor - the tables of an attributor, and its configuration
 * @threads: maps TIDs to processes
 * @stamp: for each process: generation << 1 | exited. A slot of @threads is current if it has the
 *	stamp of its process. One more element, which is 0, is the stamp of TIDs that were not found
 * @sample_flags: for each process PROCESS_SAMPLED and PROCESS_EVER_SAMPLED; readers set them with
 *	atomic operations
 * @valid_from_ns: for each process, the time at which it got its PID or program, CLOCK_MONOTONIC; 0
 *	if that was before all samples
 * @process: the process table, @processes entries; the first @processes_used have been used
 * @process_heads, @process_mask: hash table of PIDs
 * @container: the container table, @containers entries. The first means "no container", the last is
 *	"(other)". The first @containers_used have been used
 * @container_heads, @container_mask: hash table of cgroup paths
 * @container_free_list: first free entry that was used before; 0 for none
 * @container_text_bytes: bytes of paths and names of containers, at most @container_bytes
 * @containers_unnamed: number of containers without a final Kubernetes name
 * @empty_containers: containers without a living process, the longest empty one first
 * @dead: exited processes with samples, the earliest exit first
 * @dead_unsampled: exited processes that had no sample at their exit, the earliest exit first
 * (live)
 * @store: memory of all mappings
 * @kernel: mappings of the kernel (recordings)
 * @largest_maps: maps that got no memory, because no other maps were larger. Further requests for
 *	them are refused until other maps are evicted, or until the next refresh
 * @saved_map_bytes: limit of mappings in attributor_save(), bytes
 * @owner_timeline: recordings: index and generation of the process that had a TID; the key is the
 * TID
 * @switch_timeline: recordings: TID that ran on a CPU; the key is the CPU
 * @switch_rings: live: context switches of @ring_cpus CPUs; borrowed
 * @cgroups: live: maps cgroup ids to paths
 * @cgroup_ns: converts paths of /proc/PID/cgroup
 * @stats: counters; attributor_get_stats() adds the counters that the tables have themselves
 * @hash_seed: random key of the hash table of containers
 * @id_key: random key of &container_table_entry.path_id; saved, so that ids survive a restart
 * @reread_budget: number of stale maps that may be read until the next attributor_refresh()
 * @change_count: number of process entries that were created
 * @evict_hand, @refresh_sampled_hand, @refresh_idle_hand, @refresh_bucket_hand, @naming_hand,
 *	@maps_evict_hand: next position of each round-robin walk
 * @reports: TASK_REPORTS_*, what the source of events reports; 0 until all tasks were reported
 * @seed_round: number of the current report of all tasks, never 0
 * @proc_fd: descriptor of /proc
 * @log_path: path of /var/log
 * @live: events and /proc belong to this machine
 * @borrowed: the tables belong to another attributor, except the results of recent lookups in the
 *	timelines (attributor_new_shared())
 * @reader: background threads that read /proc; NULL if the caller's thread reads it
 * @task_waits: background: TASK_WAITS entries, in sets of TASK_WAIT_WAYS
 * @sample_wait_ms: background: timeout of a sample that waits for an answer, ms
 * @changed_ns: indexed by PID modulo TASK_CHANGES: time of the last event that makes earlier
 * answers from /proc obsolete
 */
struct attributor {
	struct thread_table threads;
	u32 *stamp;
	u8 *sample_flags;
	u64 *valid_from_ns;
	struct process_table_entry *process;
	u32 *process_heads;
	struct container_table_entry *container;
	u32 *container_heads;
	struct map_store store;
	struct maps kernel;
	const struct maps *largest_maps;
	struct timeline owner_timeline;
	struct timeline switch_timeline;
	struct attributor_stats stats;
	u64 hash_seed;
	u64 id_key[2];
	u64 container_text_bytes;
	u64 container_bytes;
	u64 saved_map_bytes;
	u64 change_count;
	u32 reread_budget;
	u32 processes;
	u32 processes_used;
	struct index_list dead;
	struct index_list dead_unsampled;
	u32 evict_hand;
	u32 refresh_sampled_hand;
	u32 refresh_idle_hand;
	u32 refresh_bucket_hand;
	u32 naming_hand;
	u32 maps_evict_hand;
	u32 process_mask;
	u32 containers;
	u32 containers_used;
	u32 containers_unnamed;
	u32 container_mask;
	u32 container_free_list;
	struct index_list empty_containers;
	struct cgroup_table cgroups;
	struct cgroup_namespace cgroup_ns;
	struct switch_ring *switch_rings;
	u32 ring_cpus;
	u32 reports;
	u8 seed_round;
	int proc_fd;
	char log_path[128];
	bool live;
	bool borrowed;
	struct proc_reader *reader;
	struct task_wait *task_waits;
	u32 sample_wait_ms;
	u64 changed_ns[TASK_CHANGES];
};

/**
 * attributor_init_map_store() - initialize the store of mappings with a limit of @bytes; return 0
 * or -ENOMEM
 */
int attributor_init_map_store(struct attributor *a, u64 bytes);

/**
 * coarse_now_ms() - return CLOCK_MONOTONIC_COARSE in ms, modulo 2^32
 *
 * Compare ages only by subtraction: coarse_now_ms() - earlier.
 */
u32 coarse_now_ms(void);

/** mapping_is_anonymous() - return whether @path names memory without a file; "[vdso]" is a file */
bool mapping_is_anonymous(const char *path);

/**
 * container_find_or_add() - return the index of the container of a cgroup
 * @path: cgroup path, raw; @len bytes
 *
 * Return: the index; 0 for the root cgroup; the index of "(other)" if the table is full.
 */
u32 container_find_or_add(struct attributor *a, const char *path, size_t len);

/**
 * container_find_by_cgroup_id() - return the container of the cgroup with @id
 *
 * Return: the index; ATTRIBUTE_NONE if the id is unknown, or if it is the root of cgroup v2,
 * because its tasks may be in containers of cgroup v1.
 */
u32 container_find_by_cgroup_id(struct attributor *a, u64 id);

/** container_add_process() - count a living process that moved into container @index */
void container_add_process(struct attributor *a, u32 index);

/** container_remove_process() - count that a process of container @index exited or moved */
void container_remove_process(struct attributor *a, u32 index);

/**
 * containers_set_id_key() - set the key of &container_table_entry.path_id to @key, and recompute
 * all ids
 */
void containers_set_id_key(struct attributor *a, const u64 key[static 2]);

/** containers_init() - set up the entries for "no container" and "(other)" */
void containers_init(struct attributor *a);

/** containers_deinit() - free the memory of all entries */
void containers_deinit(struct attributor *a);

/**
 * container_store_names() - store @names for @c if they are too long for the name of the container
 *
 * Shorter names are in &attribute_container.name already. If memory cannot be allocated, the name
 * remains truncated.
 */
void container_store_names(struct attributor *a, struct container_table_entry *c,
			   const struct pods_names *names);

/** containers_refresh_names() - run the due searches for Kubernetes names */
void containers_refresh_names(struct attributor *a);

/** container_apply_answer() - apply @answer to a PROC_QUERY_POD */
void container_apply_answer(struct attributor *a, const struct proc_answer *answer);

/**
 * attributor_submit_query() - queue @query for the background threads; without them, run @query now
 * and apply its answer
 *
 * Return: false if the queue is full; the caller then still owns @query->pod.
 */
bool attributor_submit_query(struct attributor *a, const struct proc_query *query);

/** process_find() - return the current entry of @pid, living or dead; ATTRIBUTE_NONE for none */
u32 process_find(struct attributor *a, s32 pid);

/**
 * process_new() - create a living entry for @pid, which process_find() returns from now on
 *
 * The entry has no sample, and the former owner of @pid is its predecessor. The call may evict any
 * other entry, even if the caller still uses its index. A changed generation shows the eviction.
 */
u32 process_new(struct attributor *a, s32 pid);

/**
 * process_mark_dead() - mark process @index as exited, if it lives; late samples still count for it
 */
void process_mark_dead(struct attributor *a, u32 index);

/**
 * process_has_samples() - return whether process @index ever had a sample
 *
 * In a recording it returns true for each entry in use. It returns false for the idle task.
 */
bool process_has_samples(const struct attributor *a, u32 index);

/**
 * process_get_sampled_predecessor() - return the previous owner of the PID of process @index
 *
 * Return: the index; ATTRIBUTE_NONE if the previous owner has no sample or is unknown, or if its
 * entry was reused.
 */
u32 process_get_sampled_predecessor(const struct attributor *a, u32 index);

/** process_make_current() - make process_find() return @index for its PID */
void process_make_current(struct attributor *a, u32 index);

/** process_set_container() - move process @index to @container */
void process_set_container(struct attributor *a, u32 index, u32 container);

/** process_set_name() - set the name of @p to the escaped @comm */
void process_set_name(struct process_table_entry *p, const char *comm);

/**
 * process_compare_with_proc() - compare process @index with /proc
 * @map: whether to read its mappings, too
 */
void process_compare_with_proc(struct attributor *a, u32 index, bool map);

/**
 * task_find_in_proc() - look up the process of @tid in /proc
 * @sampled: whether a sample needs the process; false if a forked child needs its parent
 *
 * Return: index of the process; ATTRIBUTE_NONE if it was not found; ATTRIBUTE_PENDING until a
 * background thread has answered.
 */
u32 task_find_in_proc(struct attributor *a, s32 tid, bool sampled);

/**
 * task_is_pending() - return whether a sample of @tid has to wait for an answer
 *
 * Locking: the reader lock is sufficient.
 */
bool task_is_pending(const struct attributor *a, s32 tid);

/**
 * task_store_lookup_result() - store the result of a lookup of @tid for samples
 * @index: the process that /proc shows, or ATTRIBUTE_NONE
 *
 * Return: the process for which samples of @tid are counted; ATTRIBUTE_NONE if it is unknown.
 */
u32 task_store_lookup_result(struct attributor *a, s32 tid, u32 index);

/**
 * maps_reread_stale() - read again the mappings of sampled processes that may have lost events
 */
void maps_reread_stale(struct attributor *a);

/** tasks_compare_with_proc() - compare some living processes and threads with /proc */
void tasks_compare_with_proc(struct attributor *a);

/**
 * thread_set_process() - set the process of @tid
 * @index: the process; ATTRIBUTE_NONE if /proc has no such thread
 * @failed_ms: time of the last failed lookup, as coarse_now_ms(). The next lookup may run
 * LOOKUP_RETRY_MS later
 */
void thread_set_process(struct attributor *a, s32 tid, u32 index, u32 failed_ms);

/** threads_reassign() - assign all threads of process @from to process @to */
void threads_reassign(struct attributor *a, u32 from, u32 to);

/** attributor_find_process_live() - implement attributor_find_process_at() for a live attributor */
u32 attributor_find_process_live(struct attributor *a, s32 tid, u64 time_ns,
				 struct attribute_span *ret_span);

/** attributor_apply_event_live() - implement attributor_apply_event() for a live attributor */
void attributor_apply_event_live(struct attributor *a, const struct task_event *event);

#endif
