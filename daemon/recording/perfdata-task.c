// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf.data: records about tasks, whose layouts linux/perf_event.h has, to task
 * events.
 */
#include "perfdata.h"
#include "tasks/task-event.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

/* The string at @at, which must end before the record does. */
static const char *get_name(struct perfdata *perf, const struct perfdata_record *record, u32 at,
			    const char *what)
{
	if (memchr(record->data + at, 0, record->size - at))
		return (const char *)record->data + at;
	recording_damage(perf->recording, record->offset + at,
			 "%s record: its name has no end within the record's %u bytes", what,
			 record->size);
	return NULL;
}

static void emit(struct perfdata *perf, const struct task_event *event)
{
	perf->sink->task(perf->sink->ctx, event);
}

static void parse_comm(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event = { .type = TASK_COMM, .parent_pid = -1 };

	event.pid = (s32)perfdata_get32(perf, record->data + 8);
	event.tid = (s32)perfdata_get32(perf, record->data + 12);
	event.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	event.time_ns = perfdata_task_time(perf, record);
	event.name = get_name(perf, record, 16, "COMM");
	if (event.name)
		emit(perf, &event);
}

/* FORK and EXIT have one layout. */
static void parse_fork_exit(struct perfdata *perf, const struct perfdata_record *record)
{
	bool fork = record->type == PERF_RECORD_FORK;
	struct task_event event = { .type = fork ? TASK_FORK : TASK_EXIT, .name = "" };

	event.pid = (s32)perfdata_get32(perf, record->data + 8);
	event.parent_pid = (s32)perfdata_get32(perf, record->data + 12);
	event.tid = (s32)perfdata_get32(perf, record->data + 16);
	event.time_ns = perfdata_task_time(perf, record);
	emit(perf, &event);
}

static void get_mapping(struct perfdata *perf, const struct perfdata_record *record,
			struct task_event *event)
{
	*event = (struct task_event){
		.type = TASK_MMAP,
		.parent_pid = -1,
		.pid = (s32)perfdata_get32(perf, record->data + 8),
		.tid = (s32)perfdata_get32(perf, record->data + 12),
		.start = perfdata_get64(perf, record->data + 16),
		.size = perfdata_get64(perf, record->data + 24),
		.offset = perfdata_get64(perf, record->data + 32),
		.time_ns = perfdata_task_time(perf, record),
	};
}

static void parse_mmap(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event;

	if (record->misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	get_mapping(perf, record, &event);
	event.name = get_name(perf, record, 40, "MMAP");
	if (!event.name)
		return;
	perfdata_build_id(perf, &event);
	emit(perf, &event);
}

static void parse_mmap2(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event;

	if (!(perfdata_get32(perf, record->data + 64) & PROT_EXEC))
		return;
	get_mapping(perf, record, &event);
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		event.build_id_size = record->data[40];
		event.build_id = record->data + 44;
		if (event.build_id_size > 20 || !event.build_id_size) {
			recording_damage(perf->recording, record->offset + 40,
					 "MMAP2 record: the build id has %u bytes, want 1 to 20",
					 event.build_id_size);
			event.build_id = NULL;
			event.build_id_size = 0;
		}
	}
	event.name = get_name(perf, record, 72, "MMAP2");
	if (!event.name)
		return;
	perfdata_build_id(perf, &event);
	emit(perf, &event);
}

static void parse_cgroup(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event = { .type = TASK_CGROUP, .pid = -1, .tid = -1, .parent_pid = -1 };

	event.cgroup = perfdata_get64(perf, record->data + 8);
	/* The kernel names who made the cgroup, speprof record who is in it. */
	if (perf->backend != BACKEND_UNKNOWN) {
		event.tid = perfdata_id(perf, record).tid;
		event.pid = event.tid;
	}
	event.time_ns = perfdata_task_time(perf, record);
	event.name = get_name(perf, record, 16, "CGROUP");
	if (event.name)
		emit(perf, &event);
}

/*
 * Who runs on a CPU from now on: the task that is switched to, or that runs when
 * tracing starts. The trailer has the task and its CPU.
 */
static void parse_switch(struct perfdata *perf, const struct perfdata_record *record)
{
	struct perfdata_id id = perfdata_id(perf, record);
	struct task_event event = {
		.type = TASK_SWITCH,
		.parent_pid = -1,
		.pid = -1,
		.name = "",
		.cpu = (u32)id.cpu,
		.tid = record->misc & PERF_RECORD_MISC_SWITCH_OUT ? -1 : id.tid,
		.time_ns = perfdata_task_time(perf, record),
	};

	if (id.cpu >= 0 && event.time_ns)
		emit(perf, &event);
}

static void parse_itrace_start(struct perfdata *perf, const struct perfdata_record *record)
{
	struct perfdata_id id = perfdata_id(perf, record);
	struct task_event event = { .type = TASK_SWITCH, .parent_pid = -1, .pid = -1, .name = "" };

	event.tid = (s32)perfdata_get32(perf, record->data + 12);
	event.cpu = (u32)id.cpu;
	event.time_ns = perfdata_task_time(perf, record);
	/* speprof record has windows only, and knows of no task in them. */
	if (id.cpu >= 0 && event.tid >= 0 && event.time_ns)
		emit(perf, &event);
}

/* By type; others say nothing of tasks. @size: of the fixed fields, and of a name's first byte. */
static const struct task_record {
	void (*take)(struct perfdata *perf, const struct perfdata_record *record);
	const char *name;
	u32 size;
	bool own_time; /* at 24, beside the trailer's */
} task_records[PERF_RECORD_MAX] = {
	[PERF_RECORD_MMAP] = { parse_mmap, "MMAP", 41 },
	[PERF_RECORD_COMM] = { parse_comm, "COMM", 17 },
	[PERF_RECORD_EXIT] = { parse_fork_exit, "EXIT", 32, true },
	[PERF_RECORD_FORK] = { parse_fork_exit, "FORK", 32, true },
	[PERF_RECORD_MMAP2] = { parse_mmap2, "MMAP2", 73 },
	[PERF_RECORD_ITRACE_START] = { parse_itrace_start, "ITRACE_START", 16 },
	[PERF_RECORD_SWITCH] = { parse_switch, "SWITCH", 8 },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { parse_switch, "SWITCH_CPU_WIDE", 16 },
	[PERF_RECORD_CGROUP] = { parse_cgroup, "CGROUP", 17 },
};

bool perfdata_is_task(const struct perfdata_record *record)
{
	return record->type < PERF_RECORD_MAX && task_records[record->type].take;
}

bool perfdata_task_whole(struct perfdata *perf, const struct perfdata_record *record)
{
	const struct task_record *kind = &task_records[record->type];

	return perfdata_need(perf, record, kind->size, kind->name);
}

u64 perfdata_task_time(const struct perfdata *perf, const struct perfdata_record *record)
{
	if (perf->other_clock)
		return 0;
	if (task_records[record->type].own_time)
		return perfdata_get64(perf, record->data + 24);
	return perfdata_id(perf, record).time;
}

void perfdata_task(struct perfdata *perf, const struct perfdata_record *record)
{
	task_records[record->type].take(perf, record);
}
