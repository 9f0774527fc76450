/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring that the programs of one BPF object write to. tasks.bpf.c and maps.bpf.c have one ring
 * each, so that mappings cannot use up the space of task events. Records are in the order of their
 * reservation.
 */
#ifndef SPEPROF_TASK_RING_H
#define SPEPROF_TASK_RING_H

#include "task-record.h"

/* The loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* Number of bytes in the ring at which the reader is woken; set by the loader. */
const volatile __u32 wakeup_bytes;

/* Number of records that were lost. */
__u64 dropped;

static __always_inline __u64 get_wakeup_flags(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >= wakeup_bytes ? BPF_RB_FORCE_WAKEUP :
									       BPF_RB_NO_WAKEUP;
}

#endif
