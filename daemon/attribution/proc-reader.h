/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run queries in background threads, so that neither a process nor a file system delays a drain
 * thread. There are three queues of fixed size. One thread serves the queue for the identity of
 * tasks, one the queue for the names of containers. Up to PROC_MAP_THREADS threads serve the queue
 * for mappings.
 *
 * A read of mappings may block without a time limit, and a thread that waits in the kernel cannot
 * be cancelled. So each owner (a user, or a cgroup of root) has at most one such read at a time. A
 * read that takes longer than PROC_MAP_BLOCKED_NS counts as blocked, and another thread takes its
 * place. So owners that block reads delay other owners by at most that time for each
 * PROC_MAP_READERS of them.
 *
 * Limit: PROC_MAP_THREADS owners that block reads at the same time stop all reads of mappings until
 * one of them ends its read. Samples of new mappings then count as unmapped. A user with
 * subordinate user IDs is one owner for each of them.
 *
 * Helper processes could be killed, and would remove this limit. But they would need the daemon's
 * privileges to read other processes, and a protocol. Since Linux 6.17 a process cannot block these
 * reads, so helpers would gain little.
 */
#ifndef SPEPROF_PROC_READER_H
#define SPEPROF_PROC_READER_H

#include "proc-query.h"

/* maximum number of reads of mappings at a time, without those that count as blocked */
#define PROC_MAP_READERS 4
/*
 * Maximum number of threads that read mappings. It limits the memory of blocked reads, each of
 * which keeps a stack and an incomplete answer. A new thread starts only when no other is idle.
 */
#define PROC_MAP_THREADS 32
/*
 * Time after which a read of mappings counts as blocked, nanoseconds. The longest read of a process
 * that does not block it, PROCFS_MAPS_BYTES of text, takes less than a tenth of that.
 */
#define PROC_MAP_BLOCKED_NS 2000000000ULL
/* Capacity of each queue (&proc_queue.query). */
#define PROC_QUERIES 512

/* Rate and burst of the token bucket that limits the reads of each queue, bytes. */
#define PROC_BYTES_PER_SECOND (4ULL << 20)
#define PROC_BYTES_BURST      (16ULL << 20)

/**
 * struct proc_read_budget - a token bucket; all zeros: a full bucket
 * @bytes: available bytes; negative after a large read
 * @at_ns: time at which @bytes was computed
 */
struct proc_read_budget {
	s64 bytes;
	u64 at_ns;
};

/**
 * proc_read_budget_get_delay() - return the time until @budget permits the next read
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: nanoseconds after @now_ns; 0 if a read may begin now.
 */
u64 proc_read_budget_get_delay(struct proc_read_budget *budget, u64 now_ns);

/** proc_read_budget_charge() - subtract the cost of a read, @bytes, from @budget */
void proc_read_budget_charge(struct proc_read_budget *budget, u64 bytes);

struct proc_reader;

/**
 * proc_reader_new() - start the threads
 * @proc: descriptor of /proc, duplicated
 * @log: path of /var/log, copied
 * @cgroup_ns: copied
 * @ret_reader: free it with proc_reader_free()
 *
 * Return: 0 or a negative errno.
 */
int proc_reader_new(int proc, const char *log, const struct cgroup_namespace *cgroup_ns,
		    struct proc_reader **ret_reader);

/**
 * proc_reader_free() - stop the threads of @reader, which may be NULL; returns NULL
 *
 * It does not wait for a read that blocks: that thread ends later, and frees its memory.
 */
struct proc_reader *proc_reader_free(struct proc_reader *reader);

/**
 * proc_reader_push_query() - queue @query for the threads of @reader
 *
 * Locking: none; any thread.
 *
 * Return: false if the queue is full; the caller then still owns @query->pod.
 */
bool proc_reader_push_query(struct proc_reader *reader, const struct proc_query *query);

/** proc_reader_has_answers() - return whether @reader has answers; any thread may call it */
bool proc_reader_has_answers(const struct proc_reader *reader);

/** proc_reader_get_fd() - return a descriptor that is readable if @reader may have answers */
int proc_reader_get_fd(const struct proc_reader *reader);

/**
 * proc_reader_pop_answer() - remove and return the oldest answer of @reader; NULL if there is none
 *
 * The caller owns the answer: call proc_answer_deinit() and free(). A call that returns NULL also
 * clears the descriptor of proc_reader_get_fd().
 */
struct proc_answer *proc_reader_pop_answer(struct proc_reader *reader);

/** proc_reader_get_memory() - return the maximum memory of @reader in bytes, without stacks */
u64 proc_reader_get_memory(const struct proc_reader *reader);

#endif
