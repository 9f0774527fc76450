/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring that the programs of an object write to: tasks.bpf.c and maps.bpf.c have one each, so
 * that no number of mappings takes the space of task events. Records lie in the order in which
 * they were reserved.
 */
#ifndef SPEPROF_TASK_RING_H
#define SPEPROF_TASK_RING_H

#include "task-record.h"

/* Sized by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* How full the ring may be before the reader is woken; set by the loader. */
const volatile __u32 wakeup_bytes;

/* Records that found the ring full. */
__u64 dropped;

static __always_inline __u64 wakeup_flags(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >= wakeup_bytes ? BPF_RB_FORCE_WAKEUP :
									       BPF_RB_NO_WAKEUP;
}

#endif
