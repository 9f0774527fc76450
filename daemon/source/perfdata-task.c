// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf.data: records about tasks, whose layouts linux/perf_event.h has, to task
 * events.
 */
#include "perfdata.h"

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

static void take_comm(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event = { .type = TASK_COMM, .parent_pid = -1 };

	if (!perfdata_need(perf, record, 17, "COMM"))
		return;
	event.pid = (s32)perfdata_get32(perf, record->data + 8);
	event.tid = (s32)perfdata_get32(perf, record->data + 12);
	event.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	event.time_ns = perfdata_id(perf, record).time;
	event.name = get_name(perf, record, 16, "COMM");
	if (event.name)
		emit(perf, &event);
}

/* FORK and EXIT have one layout. */
static void take_fork_exit(struct perfdata *perf, const struct perfdata_record *record)
{
	bool fork = record->type == PERF_RECORD_FORK;
	struct task_event event = { .type = fork ? TASK_FORK : TASK_EXIT, .name = "" };

	if (!perfdata_need(perf, record, 32, fork ? "FORK" : "EXIT"))
		return;
	event.pid = (s32)perfdata_get32(perf, record->data + 8);
	event.parent_pid = (s32)perfdata_get32(perf, record->data + 12);
	event.tid = (s32)perfdata_get32(perf, record->data + 16);
	event.time_ns = perfdata_get64(perf, record->data + 24);
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
		.time_ns = perfdata_id(perf, record).time,
	};
}

static void take_mmap(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event;

	if (record->misc & PERF_RECORD_MISC_MMAP_DATA || !perfdata_need(perf, record, 41, "MMAP"))
		return;
	get_mapping(perf, record, &event);
	event.name = get_name(perf, record, 40, "MMAP");
	if (event.name)
		emit(perf, &event);
}

static void take_mmap2(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event;

	if (!perfdata_need(perf, record, 73, "MMAP2"))
		return;
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
	if (event.name)
		emit(perf, &event);
}

static void take_cgroup(struct perfdata *perf, const struct perfdata_record *record)
{
	struct task_event event = { .type = TASK_CGROUP, .pid = -1, .tid = -1, .parent_pid = -1 };

	if (!perfdata_need(perf, record, 17, "CGROUP"))
		return;
	event.cgroup = perfdata_get64(perf, record->data + 8);
	event.time_ns = perfdata_id(perf, record).time;
	event.name = get_name(perf, record, 16, "CGROUP");
	if (event.name)
		emit(perf, &event);
}

void perfdata_task(struct perfdata *perf, const struct perfdata_record *record)
{
	if (!perf->sink->task)
		return;
	switch (record->type) {
	case PERF_RECORD_COMM:
		take_comm(perf, record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		take_fork_exit(perf, record);
		break;
	case PERF_RECORD_MMAP:
		take_mmap(perf, record);
		break;
	case PERF_RECORD_MMAP2:
		take_mmap2(perf, record);
		break;
	case PERF_RECORD_CGROUP:
		take_cgroup(perf, record);
		break;
	default:
		/* What they say of SPE samples (ITRACE_START, SWITCH) contexts say better. */
		break;
	}
}
