// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The records in the ring of each CPU are in order of time, and the reader merges the rings. All
 * rings are read after the end of a window, so they contain every event that happened before the
 * samples of the window.
 */
#include "task-perf.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/perf-event.h"
#include "task-event.h"
#include "util/cpu-list.h"

#define NOTHING UINT64_MAX

/* The end of each record, because perf_ring_open() sets sample_id_all. */
struct sample_id_trailer {
	s32 pid;
	s32 tid;
	u64 time;
};

/* Fields of the records, in the layout of linux/perf_event.h. */
struct fork_record {
	struct perf_event_header header;
	s32 pid;
	s32 parent_pid;
	s32 tid;
	s32 parent_tid;
	u64 time;
};

struct comm_record {
	struct perf_event_header header;
	s32 pid;
	s32 tid;
	char name[];
};

struct mmap2_record {
	struct perf_event_header header;
	s32 pid;
	s32 tid;
	u64 start;
	u64 size;
	u64 offset;
	u32 major;
	u32 minor;
	u64 inode;
	u64 inode_generation;
	u32 protection;
	u32 flags;
	char name[];
};

struct lost_record {
	struct perf_event_header header;
	u64 id;
	u64 lost;
};

/*
 * PERF_RECORD_SWITCH_CPU_WIDE. The task in the trailer stops running; the fields are those of the
 * next task.
 */
struct perf_switch_record {
	struct perf_event_header header;
	s32 next_pid;
	s32 next_tid;
};

/**
 * struct cpu_ring - the ring of one CPU
 * @ring: the ring of the event
 * @next_ns: time of the next record; NOTHING at the end
 * @ran_ns: for perf_event_is_dead()
 * @switched_ns: time of the last context switch that was reported
 * @running: the task that has run since @switched_ns; -1: unknown
 * @fd: the event; -1: the CPU is offline
 */
struct cpu_ring {
	struct perf_ring ring;
	u64 next_ns;
	u64 ran_ns;
	u64 switched_ns;
	s32 running;
	int fd;
};

struct task_perf {
	u32 size; /* bytes of each ring; the exec of a dynamic program writes about 1 KiB */
	int epoll_fd;
	u32 count; /* possible CPUs */
	enum task_perf_records records;
	struct cpu_ring *oldest;
	/* A copy of the current record; the size of a record has 16 bits. */
	_Alignas(u64) u8 record[1U << 16];
	struct cpu_ring rings[];
};

static int ring_open(struct task_perf *t, u32 cpu)
{
	const bool tasks = t->records == TASK_PERF_TASKS;
	const bool switches = t->records == TASK_PERF_SWITCHES;
	const struct perf_event_attr records = {
		.task = tasks,
		.comm = tasks,
		.comm_exec = tasks,
		.mmap = !switches,
		.mmap2 = !switches,
		.context_switch = switches,
	};
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = cpu };
	struct cpu_ring *ring = &t->rings[cpu];
	int fd, r;

	fd = perf_ring_open(&ring->ring, &records, cpu, t->size);
	if (fd < 0)
		return fd;
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		r = -errno;
		perf_ring_unmap(&ring->ring);
		close(fd);
		return r;
	}
	ring->ran_ns = 0;
	ring->next_ns = NOTHING;
	ring->running = -1;
	ring->fd = fd;
	return 0;
}

static void ring_close(struct task_perf *t, struct cpu_ring *ring)
{
	if (ring->fd < 0)
		return;
	epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, ring->fd, NULL);
	perf_ring_unmap(&ring->ring);
	close(ring->fd);
	ring->fd = -1;
	ring->next_ns = NOTHING;
}

static void ring_read_next_time(struct cpu_ring *ring)
{
	struct perf_event_header header;
	struct sample_id_trailer trailer;

	ring->next_ns = NOTHING;
	if (perf_ring_read_header(&ring->ring, sizeof(header) + sizeof(trailer), &header) <= 0)
		return;
	perf_ring_copy(&ring->ring, header.size - sizeof(trailer), &trailer, sizeof(trailer));
	ring->next_ns = trailer.time;
}

/* Check that the name ends before the trailer of a record of @size bytes. */
static bool name_is_terminated(const u8 *record, u32 size, const char *name)
{
	size_t at = (size_t)((const u8 *)name - record),
	       end = size - sizeof(struct sample_id_trailer);

	return at < end && memchr(name, 0, end - at);
}

static bool read_mmap(const u8 *data, u32 size, struct task_event *event)
{
	const struct mmap2_record *record = (const void *)data;

	if (size < sizeof(*record) + sizeof(struct sample_id_trailer) ||
	    !(record->protection & PROT_EXEC) || !name_is_terminated(data, size, record->name))
		return false;
	event->type = TASK_MMAP;
	event->pid = record->pid;
	event->tid = record->tid;
	event->start = record->start;
	event->size = record->size;
	event->offset = record->offset;
	event->inode = record->inode;
	event->device = device_number(record->major, record->minor);
	/* Report anonymous memory without a name, as /proc/PID/maps does. */
	event->name = strcmp(record->name, "//anon") ? record->name : "";
	return true;
}

static bool read_comm(const u8 *data, u32 size, struct task_event *event)
{
	const struct comm_record *record = (const void *)data;

	if (!name_is_terminated(data, size, record->name))
		return false;
	event->type = TASK_COMM;
	event->pid = record->pid;
	event->tid = record->tid;
	event->exec = record->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	event->name = record->name;
	return true;
}

static bool read_fork(const u8 *data, u32 size, struct task_event *event)
{
	const struct fork_record *record = (const void *)data;

	if (size < sizeof(*record) + sizeof(struct sample_id_trailer))
		return false;
	event->type = record->header.type == PERF_RECORD_FORK ? TASK_FORK : TASK_EXIT;
	event->pid = record->pid;
	event->tid = record->tid;
	event->parent_pid = record->parent_pid;
	/*
	 * Assume that the process exits with its leader: perf does not report if other threads
	 * outlive it.
	 */
	event->last = record->tid == record->pid;
	return true;
}

static bool read_lost(const u8 *data, u32 size, struct task_event *event)
{
	const struct lost_record *record = (const void *)data;

	if (size < sizeof(*record) + sizeof(struct sample_id_trailer))
		return false;
	event->type = TASK_LOST;
	event->size = record->lost;
	return true;
}

static bool read_record(const u8 *data, struct task_event *event)
{
	const struct perf_event_header *header = (const void *)data;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return read_mmap(data, header->size, event);
	case PERF_RECORD_COMM:
		return read_comm(data, header->size, event);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return read_fork(data, header->size, event);
	case PERF_RECORD_LOST:
		return read_lost(data, header->size, event);
	default:
		return false;
	}
}

/*
 * Report the task that runs on the CPU of @ring from @event->time_ns on. If the task that ran
 * before is not @previous, a switch was not reported, and the tasks since the last reported switch
 * are unknown.
 */
static void deliver_switch(struct task_perf *t, struct cpu_ring *ring, struct task_event *event,
			   s32 previous, const struct task_sink *sink)
{
	struct task_event unknown = *event;

	event->type = unknown.type = TASK_SWITCH;
	event->cpu = unknown.cpu = (u32)(ring - t->rings);
	event->pid = unknown.pid = unknown.tid = -1;
	unknown.time_ns = ring->switched_ns + 1;
	/* @previous is -1 if the task has exited. */
	if (ring->running >= 0 && previous >= 0 && previous != ring->running)
		sink->task(sink->ctx, &unknown);
	ring->running = event->tid;
	ring->switched_ns = event->time_ns;
	sink->task(sink->ctx, event);
}

static void read_switch(struct task_perf *t, struct cpu_ring *ring, struct task_event *event,
			const struct task_sink *sink)
{
	const struct perf_switch_record *record = (const void *)t->record;
	struct sample_id_trailer trailer;

	/* Ignore the record of the task that is switched in, which has no further information. */
	if (record->header.size != sizeof(*record) + sizeof(trailer) ||
	    !(record->header.misc & PERF_RECORD_MISC_SWITCH_OUT))
		return;
	memcpy(&trailer, t->record + sizeof(*record), sizeof(trailer));
	event->tid = record->next_tid;
	deliver_switch(t, ring, event, trailer.tid, sink);
}

/* Handle lost switches: the task that runs after the last reported switch is unknown. */
static void deliver_lost_switches(struct task_perf *t, struct cpu_ring *ring,
				  struct task_event *event, const struct task_sink *sink)
{
	event->tid = -1;
	event->time_ns = ring->switched_ns + 1;
	deliver_switch(t, ring, event, -1, sink);
}

/* Deliver the next record, and find the one after it. */
static void ring_deliver_next(struct task_perf *t, struct cpu_ring *ring,
			      const struct task_sink *sink)
{
	struct task_event event = { .time_ns = ring->next_ns, .name = "", .parent_pid = -1 };
	struct perf_event_header header;

	perf_ring_copy(&ring->ring, 0, &header, sizeof(header));
	perf_ring_copy(&ring->ring, 0, t->record, header.size);
	perf_ring_skip_record(&ring->ring, &header);
	ring_read_next_time(ring);
	if (t->records == TASK_PERF_SWITCHES && header.type == PERF_RECORD_SWITCH_CPU_WIDE)
		read_switch(t, ring, &event, sink);
	else if (t->records == TASK_PERF_SWITCHES && header.type == PERF_RECORD_LOST)
		deliver_lost_switches(t, ring, &event, sink);
	if (t->records == TASK_PERF_SWITCHES || !read_record(t->record, &event))
		return;
	/* A perf event for mappings also gets fork and exit records, which are skipped here. */
	if (t->records == TASK_PERF_MAPS && event.type == TASK_LOST)
		event.type = TASK_LOST_MAPS;
	if (t->records == TASK_PERF_TASKS || event.type == TASK_MMAP ||
	    event.type == TASK_LOST_MAPS)
		sink->task(sink->ctx, &event);
}

static struct cpu_ring *find_oldest_ring(struct task_perf *t)
{
	struct cpu_ring *oldest = &t->rings[0];

	for (u32 i = 1; i < t->count; i++)
		if (t->rings[i].next_ns < oldest->next_ns)
			oldest = &t->rings[i];
	return oldest;
}

void task_perf_begin_read(struct task_perf *t)
{
	for (u32 i = 0; i < t->count; i++) {
		struct cpu_ring *ring = &t->rings[i];

		if (ring->fd < 0)
			continue;
		perf_ring_begin_read(&ring->ring);
		if (ring->next_ns == NOTHING)
			ring_read_next_time(ring);
	}
}

u64 task_perf_get_next_time(struct task_perf *t)
{
	t->oldest = find_oldest_ring(t);
	return t->oldest->next_ns;
}

void task_perf_deliver_next(struct task_perf *t, const struct task_sink *sink)
{
	ring_deliver_next(t, t->oldest, sink);
}

void task_perf_end_read(struct task_perf *t)
{
	for (u32 i = 0; i < t->count; i++) {
		struct cpu_ring *ring = &t->rings[i];

		if (ring->fd >= 0)
			perf_ring_end_read(&ring->ring);
	}
}

void task_perf_close_offline(struct task_perf *t)
{
	struct epoll_event events[16];
	int n = epoll_wait(t->epoll_fd, events, ARRAY_SIZE(events), 0);

	for (int i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			ring_close(t, &t->rings[events[i].data.u32]);
}

void task_perf_follow_hotplug(struct task_perf *t)
{
	struct cpu_list online = { 0 };

	if (cpu_list_read_online(&online) < 0)
		return;
	for (u32 i = 0; i < t->count; i++) {
		struct cpu_ring *ring = &t->rings[i];

		if (!cpu_list_has(&online, i) || perf_event_is_dead(ring->fd, &ring->ran_ns))
			ring_close(t, ring);
		if (ring->fd < 0 && cpu_list_has(&online, i))
			ring_open(t, i);
	}
}

static const char *explain_open_error(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "perf_event_open is refused to this process for task events: it does not "
		       "have "
		       "CAP_PERFMON, or a security policy forbids it";
	case EMFILE:
	case ENFILE:
		return "task events need one descriptor for each CPU and the limit of open files "
		       "is reached (RLIMIT_NOFILE)";
	case ENOMEM:
		return "out of memory for the rings of task events";
	default:
		return "perf_event_open does not support task events here";
	}
}

static int rings_open(struct task_perf *t, const char **ret_reason)
{
	struct cpu_list online = { 0 };
	int r = cpu_list_read_online(&online);

	if (r < 0) {
		*ret_reason = "the list of online CPUs in /sys/devices/system/cpu cannot be read";
		return r;
	}
	for (u32 i = 0; i < t->count; i++) {
		if (!cpu_list_has(&online, i))
			continue;
		r = ring_open(t, i);
		if (r < 0 && r != -ENODEV) {
			*ret_reason = explain_open_error(-r);
			return r;
		}
	}
	return 0;
}

int task_perf_new(enum task_perf_records records, u32 ring_size, struct task_perf **ret_perf,
		  const char **ret_reason)
{
	struct cpu_list possible = { 0 };
	struct task_perf *t;
	u32 count;
	int r;

	r = cpu_list_read_possible(&possible);
	count = cpu_list_get_end(&possible);
	if (r < 0 || !count) {
		*ret_reason = "the list of possible CPUs in /sys/devices/system/cpu cannot be read";
		return r < 0 ? r : -ENODATA;
	}
	t = calloc(1, sizeof(*t) + count * sizeof(t->rings[0]));
	if (!t) {
		*ret_reason = explain_open_error(ENOMEM);
		return -ENOMEM;
	}
	t->size = ring_size;
	t->count = count;
	t->records = records;
	for (u32 i = 0; i < count; i++)
		t->rings[i] = (struct cpu_ring){ .fd = -1, .next_ns = NOTHING };
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll_fd < 0) {
		r = -errno;
		*ret_reason = explain_open_error(-r);
	} else {
		r = rings_open(t, ret_reason);
	}
	if (r < 0) {
		task_perf_free(t);
		return r;
	}
	*ret_perf = t;
	return 0;
}

struct task_perf *task_perf_free(struct task_perf *t)
{
	if (!t)
		return NULL;
	for (u32 i = 0; i < t->count; i++)
		ring_close(t, &t->rings[i]);
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	free(t);
	return NULL;
}

int task_perf_get_fd(const struct task_perf *t)
{
	return t->epoll_fd;
}

u64 task_perf_get_locked_bytes(const struct task_perf *t)
{
	u64 bytes = 0;

	for (u32 i = 0; i < t->count; i++)
		bytes += t->rings[i].fd >= 0 ? t->size : 0;
	return bytes;
}
