// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel writes two records for each switch. The record of the previous task contains the next
 * task. cpu_copy_switches() converts this record to a struct switch_entry, the format of the BPF
 * program, so that one function searches both kinds of rings.
 */
#include "switch-perf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/perf-event.h"
#include "tasks/bpf/task-record.h"
#include "util/cpu-list.h"
#include "util/time.h"

/* Limits of the size of the ring of context switches of a CPU in bytes. */
#define RING_SIZE_MAX (2U << 20)
#define RING_SIZE_MIN (64U << 10)

/* Size of the two records of a switch, of 32 bytes each. */
#define SWITCH_BYTES 64
/* With less free space a record may be lost, and the kernel may not have reported that yet. */
#define RING_FREE_MIN 256

/* PERF_RECORD_SWITCH_CPU_WIDE, with its trailer. */
struct timed_switch_record {
	struct perf_event_header header;
	u32 other_pid;
	u32 other_tid;
	u32 pid;
	u32 tid;
	u64 time;
};

/**
 * struct cpu_switches - the switches of one CPU
 * @ring: the ring of the event
 * @entries: the newest switches
 * @count: number of switches that were written to @entries
 * @last_ns: time of the newest switch
 * @ran_ns: for perf_event_is_dead()
 * @fd: the event; -1: the CPU is offline
 */
struct cpu_switches {
	struct perf_ring ring;
	struct switch_entry *entries;
	u64 count;
	u64 last_ns;
	u64 ran_ns;
	int fd;
};

struct switch_perf {
	u32 size; /* bytes of a ring */
	u32 count;
	struct switch_ring *rings;
	struct cpu_switches cpus[];
};

static int cpu_open_event(struct switch_perf *s, u32 index)
{
	const struct perf_event_attr records = { .context_switch = 1 };
	struct cpu_switches *cpu = &s->cpus[index];
	u32 entries = s->size / SWITCH_BYTES;
	int fd;

	if (!cpu->entries)
		cpu->entries = calloc(entries, sizeof(*cpu->entries));
	if (!cpu->entries)
		return -ENOMEM;
	fd = perf_ring_open(&cpu->ring, &records, index, s->size);
	if (fd < 0)
		return fd;
	cpu->fd = fd;
	cpu->ran_ns = 0;
	s->rings[index].entries = cpu->entries;
	s->rings[index].count = &cpu->count;
	s->rings[index].mask = entries - 1;
	return 0;
}

static void cpu_close_event(struct cpu_switches *cpu)
{
	perf_ring_unmap(&cpu->ring);
	if (cpu->fd >= 0)
		close(cpu->fd);
	cpu->fd = -1;
}

static const char *explain_open_error(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return perf_event_explain_open_error();
	case EMFILE:
	case ENFILE:
		return "context switches need one descriptor for each CPU and the limit of open "
		       "files is reached (RLIMIT_NOFILE)";
	case ENOMEM:
		return "out of memory for the rings of context switches";
	default:
		return "perf_event_open does not support context switches here";
	}
}

static int cpus_open_events(struct switch_perf *s, const char **ret_reason)
{
	struct cpu_list online = { 0 };
	int r = cpu_list_read_online(&online);

	if (r < 0) {
		*ret_reason = "the list of online CPUs in /sys/devices/system/cpu cannot be read";
		return r;
	}
	for (u32 i = 0; i < s->count; i++) {
		if (!cpu_list_has(&online, i))
			continue;
		r = cpu_open_event(s, i);
		if (r < 0 && r != -ENODEV) {
			*ret_reason = explain_open_error(-r);
			return r;
		}
	}
	return 0;
}

int switch_perf_new(size_t memory, struct switch_perf **ret_perf, const char **ret_reason)
{
	struct cpu_list possible = { 0 };
	struct switch_perf *s;
	u32 count;
	int r;

	r = cpu_list_read_possible(&possible);
	count = cpu_list_get_end(&possible);
	if (r < 0 || !count) {
		*ret_reason = "the list of possible CPUs in /sys/devices/system/cpu cannot be read";
		return r < 0 ? r : -ENODATA;
	}
	*ret_reason = explain_open_error(ENOMEM);
	s = calloc(1, sizeof(*s) + count * sizeof(s->cpus[0]));
	if (!s)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		s->cpus[i].fd = -1;
	s->count = count;
	for (s->size = RING_SIZE_MAX; s->size > RING_SIZE_MIN && (u64)s->size * count > memory;)
		s->size /= 2;
	s->rings = calloc(count, sizeof(*s->rings));
	r = s->rings ? cpus_open_events(s, ret_reason) : -ENOMEM;
	if (r < 0) {
		switch_perf_free(s);
		return r;
	}
	*ret_perf = s;
	return 0;
}

struct switch_perf *switch_perf_free(struct switch_perf *s)
{
	if (!s)
		return NULL;
	for (u32 i = 0; i < s->count; i++) {
		cpu_close_event(&s->cpus[i]);
		free(s->cpus[i].entries);
	}
	free(s->rings);
	free(s);
	return NULL;
}

static void switch_entry_add(const struct switch_perf *s, struct cpu_switches *cpu, u64 time_ns,
			     u32 tid)
{
	struct switch_entry *e = &cpu->entries[cpu->count & (s->size / SWITCH_BYTES - 1)];

	*e = (struct switch_entry){ .time_ns = time_ns, .tid = tid };
	cpu->count++;
	cpu->last_ns = time_ns;
}

/*
 * Some kernels do not report every switch. If @prev is not the task of the last entry, the switch
 * to
 * @prev is missing. Then it is unknown when the task of the last entry stopped. If the task has
 * exited, @prev is SWITCH_UNKNOWN, and nothing can be compared.
 */
static void mark_missing_switch(const struct switch_perf *s, struct cpu_switches *cpu, u32 prev)
{
	struct switch_entry *last = &cpu->entries[(cpu->count - 1) & (s->size / SWITCH_BYTES - 1)];

	if (cpu->count && prev != SWITCH_UNKNOWN && last->tid != prev)
		last->tid = SWITCH_UNKNOWN;
}

static void cpu_copy_switches(struct switch_perf *s, u32 index)
{
	struct cpu_switches *cpu = &s->cpus[index];
	struct perf_event_header header;
	struct timed_switch_record record;
	u64 now = time_now_ns();
	bool full;

	perf_ring_begin_read(&cpu->ring);
	full = cpu->ring.head - cpu->ring.tail > s->size - RING_FREE_MIN;
	while (perf_ring_read_header(&cpu->ring, sizeof(header), &header) > 0) {
		if (header.type == PERF_RECORD_SWITCH_CPU_WIDE && header.size == sizeof(record) &&
		    header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			perf_ring_copy(&cpu->ring, 0, &record, sizeof(record));
			mark_missing_switch(s, cpu, record.tid);
			switch_entry_add(s, cpu, record.time, record.other_tid);
		} else if (header.type == PERF_RECORD_LOST) {
			switch_entry_add(s, cpu, cpu->last_ns + 1, SWITCH_UNKNOWN);
		}
		perf_ring_skip_record(&cpu->ring, &header);
	}
	perf_ring_end_read(&cpu->ring);
	if (full)
		switch_entry_add(s, cpu, cpu->last_ns + 1, SWITCH_UNKNOWN);
	s->rings[index].until_ns = now;
}

void switch_perf_copy_switches(struct switch_perf *s)
{
	for (u32 i = 0; i < s->count; i++)
		if (s->cpus[i].ring.control)
			cpu_copy_switches(s, i);
}

/* Close the event of a CPU; the tasks that run after its last switch are unknown. */
static void cpu_stop_recording(struct switch_perf *s, u32 index)
{
	struct cpu_switches *cpu = &s->cpus[index];

	cpu_copy_switches(s, index);
	cpu_close_event(cpu);
	switch_entry_add(s, cpu, cpu->last_ns + 1, SWITCH_UNKNOWN);
}

void switch_perf_follow_hotplug(struct switch_perf *s)
{
	struct cpu_list online = { 0 };

	if (cpu_list_read_online(&online) < 0)
		return;
	for (u32 i = 0; i < s->count; i++) {
		struct cpu_switches *cpu = &s->cpus[i];

		if (cpu->fd >= 0 &&
		    (!cpu_list_has(&online, i) || perf_event_is_dead(cpu->fd, &cpu->ran_ns)))
			cpu_stop_recording(s, i);
		if (cpu->fd < 0 && cpu_list_has(&online, i))
			cpu_open_event(s, i);
	}
}

struct switch_ring *switch_perf_get_rings(struct switch_perf *s, u32 *ret_cpus)
{
	*ret_cpus = s->count;
	return s->rings;
}
