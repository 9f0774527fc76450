// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records each context switch in a ring of its CPU, for samples without a Context packet. The
 * daemon maps the rings. The program never waits for the reader, and overwrites the oldest entries.
 * The program increments the count of entries after it has written an entry. A reader reads the
 * count before and after it copies an entry, and so detects whether the entry was overwritten.
 */
#include "kernel-types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "task-record.h"

/* The program uses GPL-only helpers. Section 3 of the LGPL 2.1 permits to apply the GPL instead. */
char LICENSE[] SEC("license") = "GPL";

/* The loader sets the sizes of both maps. */
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

static __always_inline void record_switch(__u32 tid)
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
	 * The entry must be visible before the count. The compiler selects the atomic instruction
	 * that orders memory on arm64 only if its result is used.
	 */
	asm volatile("" : : "r"(__sync_fetch_and_add(&head->count, 1)));
}

/*
 * Some kernels do not report every switch. If @prev is not the task of the last entry, the switch
 * to
 * @prev is missing. Then it is unknown when the task of the last entry stopped.
 */
static __always_inline void mark_missing_switch(__u32 prev)
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
	mark_missing_switch((__u32)prev->pid);
	record_switch((__u32)next->pid);
	return 0;
}

/* The loader runs this once on each CPU: it records the task that runs before the first switch. */
SEC("raw_tp")
int running_task(void *ctx)
{
	record_switch((__u32)bpf_get_current_pid_tgid());
	return 0;
}
