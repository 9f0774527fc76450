// SPDX-License-Identifier: GPL-2.0-only
/* Memory, time and CPUs of the stand-in kernel. Statistics that a ring reports are dropped. */
#include "kmod/shared_buffer.h"
#include "kmod/stats.h"

u64 stand_in_now;
u64 stand_in_nodes;
unsigned int stand_in_anywhere;
void (*stand_in_elsewhere)(void);
void (*stand_in_allocating)(void);
void (*stand_in_unlocked)(void);
unsigned int stand_in_warnings;
struct task_struct *stand_in_current;
struct stand_in_caller stand_in_caller;
unsigned int stand_in_cpus = 1;
u64 stand_in_online = ~0ULL;
unsigned int stand_in_cpu;
u64 stand_in_calls[STAND_IN_CPUS_MAX];

int speprof_shared_buffer_init(struct speprof_shared_buffer *area, u64 bytes, int node)
{
	size_t size = speprof_shared_buffer_count_pages(bytes) * PAGE_SIZE;

	stand_in_nodes |= 1ULL << node;
	if (stand_in_allocating)
		stand_in_allocating();
	*area = (struct speprof_shared_buffer){ .address = aligned_alloc(PAGE_SIZE, size),
						.count = speprof_shared_buffer_count_pages(bytes) };
	if (!area->address)
		return -ENOMEM;
	memset(area->address, 0, size);
	return 0;
}

void speprof_shared_buffer_deinit(struct speprof_shared_buffer *area)
{
	free(area->address);
	*area = (struct speprof_shared_buffer){ 0 };
}

int speprof_shared_buffer_map(const struct speprof_shared_buffer *area, struct vm_area_struct *vma,
			      bool writable)
{
	(void)area;
	(void)vma;
	(void)writable;
	return -EPERM;
}

void speprof_stats_count_interrupt(unsigned int cpu)
{
	(void)cpu;
}

void speprof_stats_trace_arm(unsigned int cpu, u64 start, u64 limit, u32 generation)
{
	(void)cpu;
	(void)start;
	(void)limit;
	(void)generation;
}

void speprof_stats_count_window(unsigned int cpu, const struct speprof_window *window)
{
	(void)cpu;
	(void)window;
}

void speprof_stats_count_event(unsigned int cpu, const struct speprof_event *event)
{
	(void)cpu;
	(void)event;
}

void speprof_stats_count_handover(unsigned int cpu, bool new)
{
	(void)cpu;
	(void)new;
}

void speprof_stats_count_snapshot(unsigned int cpu, u64 oldest, u64 start, u64 end)
{
	(void)cpu;
	(void)oldest;
	(void)start;
	(void)end;
}
