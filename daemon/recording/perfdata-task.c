// SPDX-License-Identifier: LGPL-2.1-or-later
/* Convert the task records of a perf.data (linux/perf_event.h) to &struct task_event. */
#include "perfdata.h"
#include "tasks/task-event.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

/*
 * Return the string at an offset of the record. If the string is not NUL-terminated within the
 * record, report damage and return NULL.
 */
static const char *get_name(struct perfdata_reader *perf, const struct perfdata_record *record,
			    u32 offset, const char *what)
{
	if (memchr(record->data + offset, 0, record->size - offset))
		return (const char *)record->data + offset;
	recording_set_damage(
		perf->recording, record->offset + offset,
		"%s record: its name is not NUL-terminated within the record's %u bytes", what,
		record->size);
	return NULL;
}

static void event_emit(struct perfdata_reader *perf, const struct task_event *event)
{
	perf->sink->task(perf->sink->ctx, event);
}

static void parse_comm(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct task_event event = { .type = TASK_COMM, .parent_pid = -1 };

	event.pid = (s32)perfdata_get32(perf, record->data + 8);
	event.tid = (s32)perfdata_get32(perf, record->data + 12);
	event.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	event.time_ns = perfdata_task_get_time(perf, record);
	event.name = get_name(perf, record, 16, "COMM");
	if (event.name)
		event_emit(perf, &event);
}

/* FORK and EXIT records have the same layout. */
static void parse_fork_exit(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	bool fork = record->type == PERF_RECORD_FORK;
	struct task_event event = { .type = fork ? TASK_FORK : TASK_EXIT, .name = "" };

	event.pid = (s32)perfdata_get32(perf, record->data + 8);
	event.parent_pid = (s32)perfdata_get32(perf, record->data + 12);
	event.tid = (s32)perfdata_get32(perf, record->data + 16);
	event.time_ns = perfdata_task_get_time(perf, record);
	event_emit(perf, &event);
}

static void fill_mapping_event(struct perfdata_reader *perf, const struct perfdata_record *record,
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
		.time_ns = perfdata_task_get_time(perf, record),
	};
}

static void parse_mmap(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct task_event event;

	if (record->misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	fill_mapping_event(perf, record, &event);
	event.name = get_name(perf, record, 40, "MMAP");
	if (!event.name)
		return;
	perfdata_set_build_id(perf, &event);
	event_emit(perf, &event);
}

static void parse_mmap2(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct task_event event;

	if (!(perfdata_get32(perf, record->data + 64) & PROT_EXEC))
		return;
	fill_mapping_event(perf, record, &event);
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		event.build_id_size = record->data[40];
		event.build_id = record->data + 44;
		if (event.build_id_size > 20 || !event.build_id_size) {
			recording_set_damage(
				perf->recording, record->offset + 40,
				"MMAP2 record: the build id has %u bytes, want 1 to 20",
				event.build_id_size);
			event.build_id = NULL;
			event.build_id_size = 0;
		}
	}
	event.name = get_name(perf, record, 72, "MMAP2");
	if (!event.name)
		return;
	perfdata_set_build_id(perf, &event);
	event_emit(perf, &event);
}

static void parse_cgroup(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct task_event event = { .type = TASK_CGROUP, .pid = -1, .tid = -1, .parent_pid = -1 };

	event.cgroup = perfdata_get64(perf, record->data + 8);
	/*
	 * The trailer contains a task. In a file of perf this is the task that created the cgroup;
	 * in a file of speprof record it is a member of the cgroup.
	 */
	if (perf->backend != BACKEND_UNKNOWN) {
		event.tid = perfdata_read_trailer(perf, record).tid;
		event.pid = event.tid;
	}
	event.time_ns = perfdata_task_get_time(perf, record);
	event.name = get_name(perf, record, 16, "CGROUP");
	if (event.name)
		event_emit(perf, &event);
}

/*
 * Report the task that runs on the CPU from this time on. The trailer contains the CPU. It also
 * contains that task, unless the record is a SWITCH_OUT record.
 */
static void parse_switch(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct perfdata_trailer trailer = perfdata_read_trailer(perf, record);
	struct task_event event = {
		.type = TASK_SWITCH,
		.parent_pid = -1,
		.pid = -1,
		.name = "",
		.cpu = (u32)trailer.cpu,
		.tid = record->misc & PERF_RECORD_MISC_SWITCH_OUT ? -1 : trailer.tid,
		.time_ns = perfdata_task_get_time(perf, record),
	};

	if (trailer.cpu >= 0 && event.time_ns)
		event_emit(perf, &event);
}

/* Report the task that runs on the CPU when tracing starts. */
static void parse_itrace_start(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct perfdata_trailer trailer = perfdata_read_trailer(perf, record);
	struct task_event event = { .type = TASK_SWITCH, .parent_pid = -1, .pid = -1, .name = "" };

	event.tid = (s32)perfdata_get32(perf, record->data + 12);
	event.cpu = (u32)trailer.cpu;
	event.time_ns = perfdata_task_get_time(perf, record);
	/* speprof record writes the TID -1 if the task is unknown. */
	if (trailer.cpu >= 0 && event.tid >= 0 && event.time_ns)
		event_emit(perf, &event);
}

/**
 * struct perfdata_task_type - a type of record about tasks
 * @parse: converts the record and passes it to the sink
 * @name: name of the type
 * @size: minimum size in bytes: header, fixed fields, and one byte of the name if the type has a
 *	name
 * @has_time: true if the record has a time at offset 24, also without a trailer
 */
static const struct perfdata_task_type {
	void (*parse)(struct perfdata_reader *perf, const struct perfdata_record *record);
	const char *name;
	u32 size;
	bool has_time;
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

bool perfdata_record_is_task(const struct perfdata_record *record)
{
	return record->type < PERF_RECORD_MAX && task_records[record->type].parse;
}

bool perfdata_task_check(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	const struct perfdata_task_type *kind = &task_records[record->type];

	return perfdata_check_size(perf, record, kind->size, kind->name);
}

u64 perfdata_task_get_time(const struct perfdata_reader *perf, const struct perfdata_record *record)
{
	if (perf->other_clock)
		return 0;
	if (task_records[record->type].has_time)
		return perfdata_get64(perf, record->data + 24);
	return perfdata_read_trailer(perf, record).time;
}

void perfdata_task_emit(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	task_records[record->type].parse(perf, record);
}
