/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that read /proc and the directories of logs, so that neither a process nor a file system
 * delays a drain thread. Queries wait in three queues of fixed size: one for the identity of tasks
 * and one for names of containers, each with one thread, and one for mappings.
 *
 * A read of mappings may never end, and a thread that waits in the kernel cannot be cancelled.
 * So each owner (a user, or a container of root) has at most one such read at a time: an owner
 * that delays it occupies one of PROC_MAP_READERS threads, and its own processes wait for it.
 *
 * Why threads, and no helper process that could be killed: a helper needs the daemon's right to
 * read other processes, a protocol, and as many processes as there are hostile owners, each
 * started in a daemon with locked memory. It would gain little, since Linux 6.17 ends the delay.
 */
#ifndef SPEPROF_PROC_READER_H
#define SPEPROF_PROC_READER_H

#include "proc-query.h"

/* Threads that read mappings. */
#define PROC_MAP_READERS 4
/* Queries that wait, of each queue. */
#define PROC_QUERIES 512

/* What all reads of a queue may cost: so many bytes a second, and so many at once after a rest. */
#define PROC_BYTES_SECOND (4ULL << 20)
#define PROC_BYTES_BURST  (16ULL << 20)

/** struct proc_budget - a token bucket; @bytes may be negative after a large read */
struct proc_budget {
	s64 bytes;
	u64 at_ns;
};

/**
 * proc_budget_wait() - when the next read may begin
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: 0, or ns from @now_ns on.
 */
u64 proc_budget_wait(struct proc_budget *budget, u64 now_ns);

/** proc_budget_charge() - a read has cost @bytes */
void proc_budget_charge(struct proc_budget *budget, u64 bytes);

struct proc_reader;

/**
 * proc_reader_new() - start the threads
 * @proc: descriptor of /proc, duplicated
 * @log: path of /var/log, copied
 * @space: copied
 *
 * Return: 0 or a negative errno.
 */
int proc_reader_new(int proc, const char *log, const struct cgroup_namespace *space,
		    struct proc_reader **ret_reader);

/** proc_reader_free() - does not wait for a read that goes on: its thread ends after it */
struct proc_reader *proc_reader_free(struct proc_reader *reader);

/** proc_reader_push() - from any thread; false, and the query stays the caller's, if the queue is full */
bool proc_reader_push(struct proc_reader *reader, const struct proc_query *query);

/** proc_reader_due() - whether answers wait; any thread */
bool proc_reader_due(const struct proc_reader *reader);

/** proc_reader_fd() - readable while answers wait */
int proc_reader_fd(const struct proc_reader *reader);

/**
 * proc_reader_pop() - the oldest answer, or NULL
 *
 * The caller owns it: proc_answer_deinit() and free().
 */
struct proc_answer *proc_reader_pop(struct proc_reader *reader);

/** proc_reader_memory() - bytes that queues and answers take at the most, without stacks */
u64 proc_reader_memory(const struct proc_reader *reader);

#endif
