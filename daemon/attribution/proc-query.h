/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query reads one task in /proc, or searches for the name of a container in the directories of
 * logs. It uses no table of the attributor, so any thread may run it.
 *
 * A query can block. Before Linux 6.17 a read of a process's maps waits for the mmap lock of the
 * process, so the process can delay the read. A file system that hangs can delay a search for
 * names.
 */
#ifndef SPEPROF_PROC_QUERY_H
#define SPEPROF_PROC_QUERY_H

#include "cgroup-namespace.h"
#include "pods.h"
#include "procfs.h"

/**
 * enum proc_query_kind - the data that a query reads
 * @PROC_QUERY_TASK: the process of thread &proc_query.tid, with its stat and cgroup
 * @PROC_QUERY_PROCESS: stat and cgroup of process &proc_query.pid
 * @PROC_QUERY_THREAD: whether &proc_query.tid is a thread of process &proc_query.pid
 * @PROC_QUERY_MAPS: stat and executable mappings of process &proc_query.pid, which are read through
 * its thread &proc_query.tid
 * @PROC_QUERY_POD: the Kubernetes names of a container
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
 * @owner: PROC_QUERY_MAPS: the user or container that can delay the answer (proc-reader.h)
 * @from: PROC_QUERY_MAPS: read only mappings that end after this address
 * @tid, @pid: thread and process to read
 * @index, @generation: entry of the caller's table to which the query belongs; copied to the answer
 * @kind: &enum proc_query_kind
 * @then_maps: for the caller: whether to query the mappings after this query
 * @pod: PROC_QUERY_POD: input and result. It is allocated, and belongs first to the query, then to
 * its answer
 */
struct proc_query {
	u64 owner;
	u64 from;
	s32 tid;
	s32 pid;
	u32 index;
	u32 generation;
	u8 kind;
	bool then_maps;
	struct pods_lookup *pod;
};

/* Limit of mappings and paths in one answer, bytes. More mappings need another query. */
#define PROC_ANSWER_BYTES (48U << 10)

/** struct proc_mapping - a mapping, with @path_at: start of its path in &proc_answer.paths */
struct proc_mapping {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	u32 device;
	u32 path_at;
};

/**
 * struct proc_answer - the answer to a query
 * @query: the query
 * @list_next: next answer in the list of &struct proc_reader
 * @started_ns: time before the first read, CLOCK_MONOTONIC. The answer may lack later changes
 * @bytes: cost of the answer, in bytes read
 * @result: 0; -ENOENT or -ESRCH if the task does not exist; -ENOMEM if nothing was read because
 * memory could not be allocated; another negative errno
 * @pid: thread group id
 * @uid: real user id
 * @stat: contents of stat of the process, also if the query is about a thread
 * @cgroup: cgroup path from the machine's root; "" if there is none, NULL if it could not be read
 * @mapping: @mappings mappings in order of addresses
 * @paths: @path_bytes bytes of NUL-terminated paths
 * @skipped: number of mappings that could not be parsed or exceed a limit
 * @next: address from which mappings are missing, because the answer is full; 0 if it is complete
 */
struct proc_answer {
	struct proc_query query;
	struct proc_answer *list_next;
	u64 started_ns;
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
 * proc_read_cgroup() - read the cgroup of a task
 * @cgroup_ns: converts the path
 * @dir: descriptor of the task's directory in /proc
 *
 * Return: the path from the machine's root, which the caller frees; "" if there is none; NULL if
 * memory cannot be allocated or the file cannot be read.
 */
char *proc_read_cgroup(const struct cgroup_namespace *cgroup_ns, int dir);

/**
 * proc_query_run() - run @query
 * @proc: descriptor of /proc
 * @log: path of /var/log
 * @cgroup_ns: converts cgroup paths
 * @ret_answer: the answer; free its memory with proc_answer_deinit(), also after an error
 *
 * It may block without a time limit. Locking: none; any thread.
 */
void proc_query_run(int proc, const char *log, const struct cgroup_namespace *cgroup_ns,
		    const struct proc_query *query, struct proc_answer *ret_answer);

/** proc_answer_deinit() - free the memory that @answer owns */
void proc_answer_deinit(struct proc_answer *answer);

#endif
