// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints, and the counters in debugfs. A CPU writes its own counters; while it is offline,
 * another CPU writes them. Readers take no lock, so the counters that they get may be of different
 * times.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "stats.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

#define SYNDROMES (SPEPROF_SYNDROME_UNKNOWN + 1)

struct cpu_counters {
	u64 windows;
	u64 bytes;
	u64 records;
	u64 interrupts;
	u64 full;
	u64 faulted;
	u64 throttled;
	u64 unread;
	u64 snapshots;
	u64 handovers;
	u64 syndromes[SYNDROMES];
};

static DEFINE_PER_CPU(struct cpu_counters, counters);
static struct dentry *directory;

static void cpu_counter_add(u64 *counter, u64 more)
{
	WRITE_ONCE(*counter, *counter + more);
}

void speprof_stats_count_interrupt(unsigned int cpu)
{
	cpu_counter_add(&per_cpu(counters, cpu).interrupts, 1);
}

void speprof_stats_trace_arm(unsigned int cpu, u64 start, u64 limit, u32 generation)
{
	trace_speprof_arm(cpu, start, limit, generation);
}

void speprof_stats_count_window(unsigned int cpu, const struct speprof_window *window)
{
	struct cpu_counters *own = per_cpu_ptr(&counters, cpu);

	cpu_counter_add(&own->windows, 1);
	cpu_counter_add(&own->bytes, window->data_size);
	cpu_counter_add(&own->records, window->records);
	trace_speprof_window(cpu, window->position, window->data_size, window->flags,
			     window->armed_ns, window->blind_ns);
}

static void stats_count_state_change(unsigned int cpu, u32 from, u32 to)
{
	struct cpu_counters *own = per_cpu_ptr(&counters, cpu);

	if (to == SPEPROF_RING_FULL)
		cpu_counter_add(&own->full, 1);
	else if (to == SPEPROF_RING_FAULTED)
		cpu_counter_add(&own->faulted, 1);
	else if (to == SPEPROF_RING_THROTTLED)
		cpu_counter_add(&own->throttled, 1);
	trace_speprof_state(cpu, from, to);
}

void speprof_stats_count_event(unsigned int cpu, const struct speprof_event *event)
{
	switch (event->type) {
	case SPEPROF_EVENT_SYNDROME:
		cpu_counter_add(&per_cpu(counters, cpu).syndromes[event->syndrome], 1);
		trace_speprof_syndrome(cpu, event->arg0, event->arg1, event->syndrome,
				       event->action);
		break;
	case SPEPROF_EVENT_STATE:
		stats_count_state_change(cpu, (u32)event->arg0, (u32)event->arg1);
		break;
	case SPEPROF_EVENT_THROTTLE:
		trace_speprof_throttle(cpu, event->arg0, (u32)event->arg1);
		break;
	case SPEPROF_EVENT_UNREAD:
		cpu_counter_add(&per_cpu(counters, cpu).unread, 1);
		trace_speprof_unread(cpu, event->arg0, event->arg1);
		break;
	}
}

void speprof_stats_count_handover(unsigned int cpu, bool new)
{
	cpu_counter_add(&per_cpu(counters, cpu).handovers, new);
	trace_speprof_handover(cpu, new);
}

void speprof_stats_count_snapshot(unsigned int cpu, u64 oldest, u64 start, u64 end)
{
	cpu_counter_add(&per_cpu(counters, cpu).snapshots, 1);
	trace_speprof_snapshot(cpu, oldest, start, end);
}

/* ---- debugfs ----------------------------------------------------------------- */

/* Names of the columns, in the order of struct cpu_counters. */
static const char *const columns[] = {
	"windows",	  "bytes",	 "records",	"interrupts", "full",
	"faulted",	  "throttled",	 "unread",	"snapshots",  "handovers",
	"pmbptr",	  "buffer-full", "not-allowed", "fault",      "external-sync",
	"external-async", "gpc",	 "impdef",	"unknown",
};

static_assert(ARRAY_SIZE(columns) == sizeof(struct cpu_counters) / sizeof(u64));

static int cpus_show(struct seq_file *file, void *unused)
{
	unsigned int cpu, i;

	seq_puts(file, "cpu");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		seq_printf(file, " %s", columns[i]);
	seq_putc(file, '\n');
	for_each_possible_cpu(cpu) {
		const u64 *counter = (const u64 *)per_cpu_ptr(&counters, cpu);

		seq_printf(file, "%u", cpu);
		for (i = 0; i < ARRAY_SIZE(columns); i++)
			seq_printf(file, " %llu", READ_ONCE(counter[i]));
		seq_putc(file, '\n');
	}
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(cpus);

void speprof_stats_init(void)
{
	directory = debugfs_create_dir("speprof", NULL);
	debugfs_create_file("cpus", 0400, directory, NULL, &cpus_fops);
}

void speprof_stats_deinit(void)
{
	debugfs_remove(directory);
}
