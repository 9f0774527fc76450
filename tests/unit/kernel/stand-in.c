// SPDX-License-Identifier: GPL-2.0-only
/* Memory, time and CPUs of the stand-in; what is observed of a ring is dropped. */
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

int area_init(struct area *area, u64 bytes, int node)
{
	size_t size = area_pages(bytes) * PAGE_SIZE;

	stand_in_nodes |= 1ULL << node;
	if (stand_in_allocating)
		stand_in_allocating();
	*area = (struct area){ .address = aligned_alloc(PAGE_SIZE, size),
			       .count = area_pages(bytes) };
	if (!area->address)
		return -ENOMEM;
	memset(area->address, 0, size);
	return 0;
}

void area_deinit(struct area *area)
{
	free(area->address);
	*area = (struct area){ 0 };
}

int area_map(const struct area *area, struct vm_area_struct *vma, bool writable)
{
	(void)area;
	(void)vma;
	(void)writable;
	return -EPERM;
}

void observe_interrupt(unsigned int cpu)
{
	(void)cpu;
}

void observe_arm(unsigned int cpu, u64 start, u64 limit, u32 generation)
{
	(void)cpu;
	(void)start;
	(void)limit;
	(void)generation;
}

void observe_window(unsigned int cpu, const struct speprof_window *window)
{
	(void)cpu;
	(void)window;
}

void observe_event(unsigned int cpu, const struct speprof_event *event)
{
	(void)cpu;
	(void)event;
}

void observe_handover(unsigned int cpu, bool new)
{
	(void)cpu;
	(void)new;
}

void observe_snapshot(unsigned int cpu, u64 oldest, u64 start, u64 end)
{
	(void)cpu;
	(void)oldest;
	(void)start;
	(void)end;
}
