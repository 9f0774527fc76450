/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query about one task, which /proc answers, or about the name of a container, which the
 * directories of its logs answer. Running a query does all the I/O and touches no table, so that
 * any thread may run it. A process can delay it: before Linux 6.17 a read of maps waits for the
 * process's mmap lock. A file system that hangs can delay the others.
 */
#ifndef SPEPROF_PROC_QUERY_H
#define SPEPROF_PROC_QUERY_H

#include "cgroup-namespace.h"
#include "pods.h"
#include "procfs.h"

/**
 * enum proc_query_kind - what is read
 * @PROC_QUERY_TASK: of thread @tid its process; then as PROC_QUERY_PROCESS
 * @PROC_QUERY_PROCESS: of process @pid stat and cgroup
 * @PROC_QUERY_THREAD: whether @tid is a thread of process @pid
 * @PROC_QUERY_MAPS: of process @pid stat; its executable mappings, through its thread @tid
 * @PROC_QUERY_POD: Kubernetes' name of a container
 */
enum proc_query_kind {
	PROC_QUERY_TASK,
	PROC_QUERY_PROCESS,
	PROC_QUERY_THREAD,
	PROC_QUERY_MAPS,
	PROC_QUERY_POD,
};

/**
 * struct proc_query - a query
 * @owner: of mappings, the user or container that can delay the answer (proc-reader.h)
 * @from: of mappings, those that end behind it
 * @kind: &enum proc_query_kind
 * @map: the asker wants the mappings next
 * @index, @generation: the asker's own
 * @pod: of PROC_QUERY_POD: allocated; belongs to the query, then to its answer. Receives the name
 */
struct proc_query {
	u64 owner;
	u64 from;
	s32 tid;
	s32 pid;
	u32 index;
	u32 generation;
	u8 kind;
	bool map;
	struct pods_lookup *pod;
};

/* Bytes of one answer's mappings and paths: a process with more has several answers. */
#define PROC_ANSWER_BYTES (48U << 10)

/** struct proc_mapping - @path_at: where its path begins in &proc_answer.paths */
struct proc_mapping {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	u32 device;
	u32 path_at;
};

/**
 * struct proc_answer - what /proc answered
 * @query: what was asked; its @pod has the name
 * @follower: for lists of the owner
 * @asked_ns: CLOCK_MONOTONIC before the first read; later events are not in the answer
 * @bytes: what the answer cost, in bytes read
 * @result: 0; -ENOENT or -ESRCH: there is no such task; -ENOMEM: nothing was read, for lack of
 *	memory; another negative errno
 * @pid: thread group id
 * @uid: real user id
 * @stat: of the process, not of the thread
 * @cgroup: path as the machine has it, "" for none; NULL if it could not be read
 * @mapping: @mappings of them, in the order of their addresses
 * @paths: @path_bytes of NUL-terminated paths
 * @skipped: mappings that were not understood, or that exceed a limit
 * @next: the first address behind its mappings that has more of them; 0: that was all
 */
struct proc_answer {
	struct proc_query query;
	struct proc_answer *follower;
	u64 asked_ns;
	u64 bytes;
	int result;
	s32 pid;
	u32 uid;
	struct procfs_stat stat;
	char *cgroup;
	struct proc_mapping *mapping;
	char *paths;
	u32 mappings;
	u32 path_bytes;
	u64 skipped;
	u64 next;
};

/**
 * proc_query_run() - read /proc for @query; may block for as long as a process likes
 * @proc: descriptor of /proc
 * @log: path of /var/log
 * @space: translates paths of cgroups
 * @ret_answer: to be released by proc_answer_deinit(), also where its result is an error
 *
 * Locking: none; any thread.
 */
void proc_query_run(int proc, const char *log, const struct cgroup_namespace *space,
		    const struct proc_query *query, struct proc_answer *ret_answer);

void proc_answer_deinit(struct proc_answer *answer);

#endif
