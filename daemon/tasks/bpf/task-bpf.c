// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf-load.h"
#include "event-ring.h"
#include "mapping-bpf.h"
#include "task-record.h"
#include "tasks.skel.h"
#include "tasks/task-event.h"

/*
 * Default size of each ring in bytes. The events of a process with two threads (fork, exec, exit)
 * need 512 bytes.
 */
#define RING_SIZE (512U << 10)

/*
 * A cgroup or user may fill the ring of mappings twice a second, but only a quarter of it at once.
 */
#define MAP_RINGS_A_SECOND 2

/**
 * struct task_bpf - the loaded programs and their rings
 * @programs: the BPF object for task events
 * @maps: the programs for executable mappings; NULL: mappings are not reported
 * @ring: the ring of task events
 * @size: bytes of each ring
 * @dropped: the program's counter of lost task events at the last task_bpf_take_lost_count()
 * @path: path of the mapping that is being delivered
 * @maps_reason: why @maps is NULL
 */
struct task_bpf {
	struct tasks_bpf *programs;
	struct mapping_bpf *maps;
	struct event_ring ring;
	size_t size;
	u64 dropped;
	char path[MAP_RECORD_PATH_MAX];
	char maps_reason[TASK_BPF_REASON];
};

/*
 * Attach all programs. task_bpf_report_all_tasks() runs the iterator each_task; all others run at
 * their events.
 */
static int programs_attach(struct tasks_bpf *p)
{
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
	} all[] = {
		{ p->progs.on_fork, &p->links.on_fork },
		{ p->progs.on_rename, &p->links.on_rename },
		{ p->progs.on_exec, &p->links.on_exec },
		{ p->progs.on_exit, &p->links.on_exit },
		{ p->progs.on_attach, &p->links.on_attach },
		{ p->progs.on_mkdir, &p->links.on_mkdir },
		{ p->progs.on_cgroup_rename, &p->links.on_cgroup_rename },
		{ p->progs.on_rmdir, &p->links.on_rmdir },
		{ p->progs.each_task, &p->links.each_task },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		*all[i].link = bpf_program__attach(all[i].program);
		if (!*all[i].link)
			return -errno;
	}
	return 0;
}

static int programs_open_and_load(struct task_bpf *b, char *ret_reason)
{
	int r;

	bpf_load_silence_libbpf();
	b->programs = tasks_bpf__open();
	if (!b->programs) {
		bpf_load_explain_failure(ENOMEM, "open", ret_reason);
		return -ENOMEM;
	}
	b->programs->rodata->wakeup_bytes = (u32)(b->size / 2);
	r = bpf_map__set_max_entries(b->programs->maps.events, (u32)b->size);
	if (!r)
		r = tasks_bpf__load(b->programs);
	if (r < 0)
		bpf_load_explain_failure(-r, "load", ret_reason);
	return r;
}

struct task_bpf *task_bpf_free(struct task_bpf *b)
{
	if (!b)
		return NULL;
	event_ring_deinit(&b->ring);
	mapping_bpf_free(b->maps);
	tasks_bpf__destroy(b->programs);
	free(b);
	return NULL;
}

int task_bpf_get_fd(const struct task_bpf *b)
{
	return bpf_map__fd(b->programs->maps.events);
}

int task_bpf_get_maps_fd(const struct task_bpf *b)
{
	return b->maps ? mapping_bpf_get_fd(b->maps) : -1;
}

/* Read mappings first: the exec that caused a mapping is then already in the other ring. */
void task_bpf_begin_read(struct task_bpf *b)
{
	if (b->maps)
		event_ring_scan(mapping_bpf_get_ring(b->maps));
	event_ring_scan(&b->ring);
}

static u64 get_next_map_time(const struct task_bpf *b)
{
	return b->maps ? event_ring_get_next_time(mapping_bpf_get_ring(b->maps)) :
			 EVENT_RING_NOTHING;
}

u64 task_bpf_get_next_time(const struct task_bpf *b)
{
	u64 task = event_ring_get_next_time(&b->ring), map = get_next_map_time(b);

	_Static_assert(TASK_BPF_NOTHING == EVENT_RING_NOTHING, "both use one value");
	return task <= map ? task : map;
}

void task_bpf_end_read(struct task_bpf *b)
{
	event_ring_release(&b->ring);
	if (b->maps)
		event_ring_release(mapping_bpf_get_ring(b->maps));
}

/* Check that the programs reported @probe. The ring has no other reader yet. */
static bool map_is_reported(struct event_ring *ring, const struct mapping_probe *probe)
{
	bool reported = false;

	/*
	 * Records become readable in their order, so retry for 20 ms while another CPU still writes
	 * an earlier record.
	 */
	for (int i = 0; !reported && i < 20; i++) {
		if (i)
			usleep(1000);
		event_ring_scan(ring);
		while (!reported && event_ring_get_next_time(ring) != EVENT_RING_NOTHING) {
			const struct map_record *r = event_ring_pop(ring);

			reported = r->start == (u64)(uintptr_t)probe->address &&
				   r->length == probe->size;
		}
	}
	event_ring_release(ring);
	return reported;
}

/*
 * Attach the programs for mappings. An attached program may never run: the kernel may have another
 * function of the same name, and newer kernels do not use the tracepoint. So map a page, and check
 * that it is reported.
 */
static int maps_attach(struct task_bpf *b, bool functions)
{
	struct mapping_probe probe;
	int r = mapping_bpf_new(b->size, b->size * MAP_RINGS_A_SECOND, functions, &b->maps);

	if (r < 0)
		return r;
	r = mapping_probe_init(&probe);
	if (!r) {
		r = map_is_reported(mapping_bpf_get_ring(b->maps), &probe) ? 0 : -ENODATA;
		mapping_probe_deinit(&probe);
	}
	if (r < 0)
		b->maps = mapping_bpf_free(b->maps);
	return r;
}

/*
 * Attach to the functions, else to the tracepoint. If both fail, &task_bpf.maps_reason names both
 * errors.
 */
static void maps_attach_any(struct task_bpf *b)
{
	int functions = maps_attach(b, true), tracepoint;

	if (!functions)
		return;
	tracepoint = maps_attach(b, false);
	if (tracepoint < 0)
		snprintf(b->maps_reason, sizeof(b->maps_reason),
			 "by functions: %s; by a tracepoint: %s", strerror(-functions),
			 strerror(-tracepoint));
}

int task_bpf_new(size_t ring_size, struct task_bpf **ret_bpf, char *ret_reason)
{
	struct task_bpf *b = calloc(1, sizeof(*b));
	int r;

	if (!b) {
		bpf_load_explain_failure(ENOMEM, "load", ret_reason);
		return -ENOMEM;
	}
	b->size = ring_size ? ring_size : RING_SIZE;
	r = programs_open_and_load(b, ret_reason);
	if (!r) {
		r = event_ring_init(&b->ring, task_bpf_get_fd(b), b->size,
				    offsetof(struct task_record, name));
		if (r < 0)
			bpf_load_explain_failure(-r, "map", ret_reason);
	}
	if (!r) {
		maps_attach_any(b);
		r = programs_attach(b->programs);
		if (r < 0)
			bpf_load_explain_failure(-r, "attach", ret_reason);
	}
	if (r < 0) {
		task_bpf_free(b);
		return r;
	}
	*ret_bpf = b;
	return 0;
}

bool task_bpf_reports_maps(const struct task_bpf *b)
{
	return b->maps;
}

const char *task_bpf_get_maps_reason(const struct task_bpf *b)
{
	return b->maps_reason;
}

/* Convert a record to an event; returns false if the record is invalid. */
static bool convert_map_record(struct task_bpf *b, const struct map_record *r,
			       struct task_event *ret_event)
{
	const char *path = map_record_build_path(r, b->path);

	*ret_event = (struct task_event){
		.type = TASK_MMAP,
		.name = path,
		.time_ns = r->time_ns,
		.start = r->start,
		.size = r->length,
		.offset = r->offset,
		.inode = r->inode,
		.device = r->device,
		.pid = r->pid,
		.tid = r->tid,
		.parent_pid = -1,
	};
	return path;
}

static void convert_task_record(const struct task_record *r, struct task_event *ret_event)
{
	static const u8 types[] = {
		[TASK_RECORD_FORK] = TASK_FORK,
		[TASK_RECORD_EXEC] = TASK_COMM,
		[TASK_RECORD_RETID] = TASK_EXIT,
		[TASK_RECORD_RENAME] = TASK_COMM,
		[TASK_RECORD_EXIT] = TASK_EXIT,
		[TASK_RECORD_ATTACH] = TASK_ATTACH,
		[TASK_RECORD_CGROUP_NEW] = TASK_CGROUP,
		[TASK_RECORD_CGROUP_REMOVED] = TASK_CGROUP_REMOVED,
		[TASK_RECORD_SEED] = TASK_SEED,
	};

	*ret_event = (struct task_event){
		.type = types[r->type],
		.name = r->size ? r->name : "",
		.time_ns = r->time_ns,
		.start_ns = r->start_ns,
		.cgroup = r->cgroup,
		.size = r->threads,
		.pid = r->pid,
		.tid = r->type == TASK_RECORD_RETID ? r->other : r->tid,
		.parent_pid = r->type == TASK_RECORD_FORK ? r->other : -1,
		.start = r->start_code,
		.offset = r->start_stack,
		.exec = r->type == TASK_RECORD_EXEC,
		.last = r->last,
	};
}

void task_bpf_deliver_next(struct task_bpf *b, const struct task_sink *sink)
{
	struct task_event event;

	if (event_ring_get_next_time(&b->ring) <= get_next_map_time(b))
		convert_task_record(event_ring_pop(&b->ring), &event);
	else if (!convert_map_record(b, event_ring_pop(mapping_bpf_get_ring(b->maps)), &event))
		return;
	sink->task(sink->ctx, &event);
}

u64 task_bpf_take_lost_count(struct task_bpf *b)
{
	u64 dropped = __atomic_load_n(&b->programs->bss->dropped, __ATOMIC_RELAXED);
	u64 lost = dropped - b->dropped;

	b->dropped = dropped;
	return lost;
}

void task_bpf_report_lost_maps(struct task_bpf *b, u64 until_ns, const struct task_sink *sink)
{
	if (b->maps)
		mapping_bpf_report_lost(b->maps, until_ns, sink);
}

int task_bpf_report_all_tasks(struct task_bpf *b, const struct task_sink *sink)
{
	struct task_record records[64];
	int fd = bpf_iter_create(bpf_link__fd(b->programs->links.each_task));
	struct task_event event;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, records, sizeof(records))) > 0) {
		/* The kernel copies whole records, as many as fit. */
		for (size_t i = 0; i < (size_t)n / sizeof(records[0]); i++) {
			records[i].name[TASK_RECORD_COMM - 1] = '\0';
			convert_task_record(&records[i], &event);
			sink->task(sink->ctx, &event);
		}
	}
	if (n < 0)
		n = -errno;
	close(fd);
	return (int)n;
}
