// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports events of tasks and cgroups. It uses BTF tracepoints only, because Linux 6.1 has no
 * trampolines on arm64. All records are in one ring in the order of their reservation, so an event
 * follows its cause even if both happened on different CPUs. maps.bpf.c reports mappings.
 */
#include "kernel-types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "task-ring.h"

/* The program uses GPL-only helpers. Section 3 of the LGPL 2.1 permits to apply the GPL instead. */
char LICENSE[] SEC("license") = "GPL";

/*
 * A path is too long for the stack. One entry for each CPU is enough: cgroup tracepoints do not
 * nest.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_path_record);
} scratch SEC(".maps");

static __always_inline __u64 task_get_cgroup_id(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

static __always_inline struct task_record *record_begin(__u16 type, struct task_struct *task)
{
	struct task_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);

	if (!record) {
		__sync_fetch_and_add(&dropped, 1);
		return NULL;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->type = type;
	record->time_ns = bpf_ktime_get_ns();
	record->pid = BPF_CORE_READ(task, tgid);
	record->tid = BPF_CORE_READ(task, pid);
	record->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	record->cgroup = task_get_cgroup_id(task);
	return record;
}

static __always_inline void record_end(struct task_record *record)
{
	bpf_ringbuf_submit(record, get_wakeup_flags());
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_record *record = record_begin(TASK_RECORD_FORK, child);

	if (!record)
		return 0;
	record->other = BPF_CORE_READ(parent, tgid);
	record->size = sizeof(record->name);
	BPF_CORE_READ_STR_INTO(&record->name, child, comm);
	record_end(record);
	return 0;
}

/*
 * execve() renames the task after it has installed the new mm and before it maps the program.
 * start_code is 0 only in between, which distinguishes an exec from a rename. So the record of the
 * exec is after all mappings of the old image, and before those of the new image.
 */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	bool exec = mm && !BPF_CORE_READ(mm, start_code);
	struct task_record *record =
		record_begin(exec ? TASK_RECORD_EXEC : TASK_RECORD_RENAME, task);
	long n;

	if (!record)
		return 0;
	n = bpf_probe_read_kernel_str(record->name, sizeof(record->name), comm);
	record->size = n > 0 ? (__u32)n : 0;
	record_end(record);
	return 0;
}

/*
 * If a thread other than the leader calls execve(), it gets the TID of the leader, and its old TID
 * is freed.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid)
{
	struct task_record *record;

	if (old_pid == BPF_CORE_READ(task, pid))
		return 0;
	record = record_begin(TASK_RECORD_RETID, task);
	if (!record)
		return 0;
	record->other = old_pid;
	record_end(record);
	return 0;
}

/* The kernel decrements signal->live before this tracepoint, so it is 0 for the last thread. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_record *record = record_begin(TASK_RECORD_EXIT, task);

	if (!record)
		return 0;
	record->last = BPF_CORE_READ(task, signal, live.counter) <= 0;
	record_end(record);
	return 0;
}

static __always_inline void report_cgroup_event(__u16 type, struct cgroup *cgroup, const char *path,
						struct task_struct *task)
{
	struct task_path_record *record;
	__u32 key = 0;
	__u64 n = 0;

	record = bpf_map_lookup_elem(&scratch, &key);
	if (!record)
		return;
	__builtin_memset(&record->head, 0, sizeof(record->head));
	record->head.type = type;
	record->head.time_ns = bpf_ktime_get_ns();
	/*
	 * Hierarchy 0 is the default hierarchy (cgroup v2), which contains every task. For a cgroup
	 * of cgroup v1 the record has ID 0.
	 */
	if (!BPF_CORE_READ(cgroup, root, hierarchy_id))
		record->head.cgroup = BPF_CORE_READ(cgroup, kn, id);
	if (task) {
		record->head.pid = BPF_CORE_READ(task, tgid);
		record->head.tid = BPF_CORE_READ(task, pid);
		record->head.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
		record->head.threads = (__u32)BPF_CORE_READ(task, signal, nr_threads);
	}
	if (path)
		n = (__u64)bpf_probe_read_kernel_str(record->head.name, TASK_RECORD_PATH, path);
	/* The verifier needs the check on the same register that is added below. */
	barrier_var(n);
	if (n > TASK_RECORD_PATH)
		n = 0;
	record->head.size = (__u32)n;
	if (bpf_ringbuf_output(&events, record, __builtin_offsetof(struct task_record, name) + n,
			       get_wakeup_flags()) < 0)
		__sync_fetch_and_add(&dropped, 1);
}

/* A single thread that moves (threaded cgroups) stays in the container of its process. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_attach, struct cgroup *cgroup, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	if (threadgroup)
		report_cgroup_event(TASK_RECORD_ATTACH, cgroup, path, task);
	return 0;
}

/*
 * Do not report new and removed cgroups of cgroup v1. A new or removed cgroup contains no task, and
 * on_attach() reports each move of a process to a cgroup.
 */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_mkdir, struct cgroup *cgroup, const char *path)
{
	if (!BPF_CORE_READ(cgroup, root, hierarchy_id))
		report_cgroup_event(TASK_RECORD_CGROUP_NEW, cgroup, path, NULL);
	return 0;
}

SEC("tp_btf/cgroup_rename")
int BPF_PROG(on_cgroup_rename, struct cgroup *cgroup, const char *path)
{
	report_cgroup_event(TASK_RECORD_CGROUP_NEW, cgroup, path, NULL);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_rmdir, struct cgroup *cgroup, const char *path)
{
	if (!BPF_CORE_READ(cgroup, root, hierarchy_id))
		report_cgroup_event(TASK_RECORD_CGROUP_REMOVED, cgroup, NULL, NULL);
	return 0;
}

/* Lists all existing tasks, threads included. */
SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_record record = { .type = TASK_RECORD_SEED };
	struct mm_struct *mm;

	if (!task || BPF_CORE_READ(task, signal, live.counter) <= 0)
		return 0;
	record.time_ns = bpf_ktime_get_ns();
	record.pid = BPF_CORE_READ(task, tgid);
	record.tid = BPF_CORE_READ(task, pid);
	record.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	record.cgroup = task_get_cgroup_id(task);
	mm = BPF_CORE_READ(task, mm);
	if (mm) {
		record.start_code = BPF_CORE_READ(mm, start_code);
		record.start_stack = BPF_CORE_READ(mm, start_stack);
	}
	record.size = sizeof(record.name);
	BPF_CORE_READ_STR_INTO(&record.name, task, group_leader, comm);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
