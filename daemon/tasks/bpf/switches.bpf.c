// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who runs from when on, for records without a context: a ring for each CPU that the daemon
 * maps, overwritten at its own pace. Its head is written after the entry, so that a reader who
 * sees the head before and after it copied an entry knows whether that was the entry.
 */
#include "kernel-types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "task-record.h"

/* GPL-only helpers are used; LGPL 2.1 grants the GPL's terms in its section 3. */
char LICENSE[] SEC("license") = "GPL";

/* Both are sized by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct switch_entry);
} switches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct switch_head);
} switch_heads SEC(".maps");

/* Entries of each CPU's ring, a power of two; set by the loader. */
const volatile __u32 switch_entries = 1;

static __always_inline void switch_record(__u32 tid)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct switch_head *head = bpf_map_lookup_elem(&switch_heads, &cpu);
	struct switch_entry *entry;

	if (!head)
		return;
	at = cpu * switch_entries + ((__u32)head->count & (switch_entries - 1));
	entry = bpf_map_lookup_elem(&switches, &at);
	if (!entry)
		return;
	entry->time_ns = bpf_ktime_get_ns();
	entry->tid = tid;
	/*
	 * The entry is there before the head says so. Only where the former value is used does
	 * the compiler choose the instruction that orders memory on arm64.
	 */
	asm volatile("" : : "r"(__sync_fetch_and_add(&head->count, 1)));
}

/*
 * Some kernels tell of no switch away from some tasks. Whoever leaves the CPU has come to it: if
 * that was not told, nobody knows for how long who was told of before has run.
 */
static __always_inline void switch_doubt(__u32 prev)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct switch_head *head = bpf_map_lookup_elem(&switch_heads, &cpu);
	struct switch_entry *entry;

	if (!head || !head->count)
		return;
	at = cpu * switch_entries + ((__u32)(head->count - 1) & (switch_entries - 1));
	entry = bpf_map_lookup_elem(&switches, &at);
	if (entry && entry->tid != prev)
		entry->tid = SWITCH_UNKNOWN;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	switch_doubt((__u32)prev->pid);
	switch_record((__u32)next->pid);
	return 0;
}

/* Run once on each CPU to begin with: who has run since before the first switch. */
SEC("raw_tp")
int running_task(void *ctx)
{
	switch_record((__u32)bpf_get_current_pid_tgid());
	return 0;
}
