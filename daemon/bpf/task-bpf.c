// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ring is read where it lies, and not by libbpf's callback: what happened after a
 * window's end has to stay in it. It holds records in the order in which they were reserved,
 * which may differ from that of their times by what one CPU waits for another: they are sorted.
 */
#include "task-bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf-load.h"
#include "map-bpf.h"
#include "task-record.h"
#include "tasks.skel.h"

/* A fork, exec and exit of two threads take half a KiB; a cgroup's path its length. */
#define RING_SIZE (1U << 20)

#define RECORD_LEAST (BPF_RINGBUF_HDR_SZ + offsetof(struct task_record, name))

#define SAME_PLACE(a, b) \
	_Static_assert(offsetof(struct task_record, a) == offsetof(struct map_record, b), #a)
SAME_PLACE(time_ns, time_ns);
SAME_PLACE(type, type);
SAME_PLACE(name, path);

/* Where a record lies, and when it was. */
struct pending {
	u64 time_ns;
	u64 at;
};

/**
 * struct task_bpf
 * @consumer, @producer: pages with positions of the ring
 * @data: the ring, mapped twice in a row
 * @seen: up to where records are in @pending
 * @maps: executable memory; NULL where it is not told
 * @maps_reason: why it is not
 * @dropped, @dropped_maps: records, as of the last look
 * @pending: the records between @first and @count are to be handed over, oldest first
 * @path: of the record that is handed over
 */
struct task_bpf {
	struct tasks_bpf *programs;
	struct map_bpf *maps;
	u64 *consumer;
	const u64 *producer;
	const u8 *data;
	size_t page;
	size_t size;
	u64 seen;
	u64 dropped;
	u64 dropped_maps;
	u32 first;
	u32 count;
	struct pending *pending;
	char path[MAP_RECORD_PATH_MAX];
	char maps_reason[TASK_BPF_REASON];
};

static int ring_map(struct task_bpf *b)
{
	int fd = bpf_map__fd(b->programs->maps.events);
	void *map;

	map = mmap(NULL, b->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	b->consumer = map;
	map = mmap(NULL, b->page + 2 * b->size, PROT_READ, MAP_SHARED, fd, (off_t)b->page);
	if (map == MAP_FAILED)
		return -errno;
	b->producer = map;
	b->data = (const u8 *)map + b->page;
	b->pending = calloc(b->size / RECORD_LEAST + 1, sizeof(*b->pending));
	return b->pending ? 0 : -ENOMEM;
}

/* The iterator is run by task_bpf_seed(); all else is attached for good. */
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

static int programs_load(struct task_bpf *b, char *ret_reason)
{
	int r;

	bpf_quiet();
	b->programs = tasks_bpf__open();
	if (!b->programs) {
		bpf_reason(ENOMEM, "open", ret_reason);
		return -ENOMEM;
	}
	b->programs->rodata->wakeup_bytes = (u32)(b->size / 2);
	r = bpf_map__set_max_entries(b->programs->maps.events, (u32)b->size);
	if (!r)
		r = tasks_bpf__load(b->programs);
	if (r < 0)
		bpf_reason(-r, "load", ret_reason);
	return r;
}

struct task_bpf *task_bpf_free(struct task_bpf *b)
{
	if (!b)
		return NULL;
	if (b->producer)
		munmap((void *)(uintptr_t)b->producer, b->page + 2 * b->size);
	if (b->consumer)
		munmap(b->consumer, b->page);
	map_bpf_free(b->maps);
	tasks_bpf__destroy(b->programs);
	free(b->pending);
	free(b);
	return NULL;
}

int task_bpf_fd(const struct task_bpf *b)
{
	return bpf_map__fd(b->programs->maps.events);
}

static const struct task_record *record_at(const struct task_bpf *b, u64 at)
{
	return (const void *)(b->data + (at & (b->size - 1)) + BPF_RINGBUF_HDR_SZ);
}

/* From behind: all but a few are in order already. */
static void pending_add(struct task_bpf *b, u64 time_ns, u64 at)
{
	u32 i = b->count++;

	for (; i > b->first && b->pending[i - 1].time_ns > time_ns; i--)
		b->pending[i] = b->pending[i - 1];
	b->pending[i] = (struct pending){ time_ns, at };
}

void task_bpf_begin(struct task_bpf *b)
{
	u64 head = __atomic_load_n(b->producer, __ATOMIC_ACQUIRE);

	if (b->first) {
		memmove(b->pending, b->pending + b->first,
			(b->count - b->first) * sizeof(*b->pending));
		b->count -= b->first;
		b->first = 0;
	}
	while (b->seen < head) {
		const u32 *length = (const void *)(b->data + (b->seen & (b->size - 1)));
		u32 n = __atomic_load_n(length, __ATOMIC_ACQUIRE);

		/* Still being written: what comes after it waits too. */
		if (n & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(n & BPF_RINGBUF_DISCARD_BIT))
			pending_add(b, record_at(b, b->seen)->time_ns, b->seen);
		n &= ~BPF_RINGBUF_DISCARD_BIT;
		b->seen += (n + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
	}
}

u64 task_bpf_next(const struct task_bpf *b)
{
	return b->first < b->count ? b->pending[b->first].time_ns : TASK_BPF_NOTHING;
}

void task_bpf_end(struct task_bpf *b)
{
	u64 oldest = b->seen;

	for (u32 i = b->first; i < b->count; i++)
		if (b->pending[i].at < oldest)
			oldest = b->pending[i].at;
	__atomic_store_n(b->consumer, oldest, __ATOMIC_RELEASE);
}

/* Whether @probe was told: nothing else is in the ring yet. */
static bool map_told(struct task_bpf *b, const struct map_probe *probe)
{
	bool told = false;

	/* Another CPU's record may be in front of it, and be written still. */
	for (int i = 0; !told && i < 20; i++) {
		if (i)
			usleep(1000);
		task_bpf_begin(b);
		for (u32 k = b->first; k < b->count; k++) {
			const struct map_record *r = (const void *)record_at(b, b->pending[k].at);

			told |= r->type == TASK_RECORD_MAP &&
				r->start == (u64)(uintptr_t)probe->at && r->length == probe->size;
		}
	}
	return told;
}

/*
 * Attached is not told: the function may be another's, or nobody passes the tracepoint any
 * more. So a page is mapped, and counts.
 */
static int maps_attach(struct task_bpf *b, bool functions)
{
	struct map_probe probe;
	int r = map_bpf_new(task_bpf_fd(b), (u32)(b->size / 2), functions, &b->maps);

	if (r < 0)
		return r;
	r = map_probe(&probe);
	if (!r) {
		r = map_told(b, &probe) ? 0 : -ENODATA;
		map_unprobe(&probe);
	}
	if (r < 0)
		b->maps = map_bpf_free(b->maps);
	return r;
}

/* By functions where it can be, else by the tracepoint: of both it is said why not. */
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

int task_bpf_new(size_t ring, struct task_bpf **ret_bpf, char *ret_reason)
{
	struct task_bpf *b = calloc(1, sizeof(*b));
	int r;

	if (!b) {
		bpf_reason(ENOMEM, "load", ret_reason);
		return -ENOMEM;
	}
	b->page = (size_t)sysconf(_SC_PAGESIZE);
	b->size = ring ? ring : RING_SIZE;
	r = programs_load(b, ret_reason);
	if (!r) {
		r = ring_map(b);
		if (r < 0)
			bpf_reason(-r, "map", ret_reason);
	}
	if (!r) {
		maps_attach_any(b);
		r = programs_attach(b->programs);
		if (r < 0)
			bpf_reason(-r, "attach", ret_reason);
	}
	if (r < 0) {
		task_bpf_free(b);
		return r;
	}
	*ret_bpf = b;
	return 0;
}

bool task_bpf_tells_maps(const struct task_bpf *b)
{
	return b->maps;
}

const char *task_bpf_maps_reason(const struct task_bpf *b)
{
	return b->maps_reason;
}

/* Return: false if it is none. */
static bool map_event(struct task_bpf *b, const struct map_record *r, struct task_event *ret_event)
{
	const char *path = map_record_path(r, b->path);

	*ret_event = (struct task_event){
		.type = TASK_MMAP,
		.name = path,
		.time_ns = r->time_ns,
		.start = r->start,
		.size = r->length,
		.offset = r->offset,
		.inode = r->inode,
		.pid = r->pid,
		.tid = r->tid,
		.parent_pid = -1,
	};
	return path;
}

static void record_event(const struct task_record *r, struct task_event *ret_event)
{
	static const u8 types[] = {
		[TASK_RECORD_FORK] = TASK_FORK,
		[TASK_RECORD_EXEC] = TASK_COMM,
		[TASK_RECORD_RETID] = TASK_EXIT,
		[TASK_RECORD_RENAME] = TASK_COMM,
		[TASK_RECORD_EXIT] = TASK_EXIT,
		[TASK_RECORD_ATTACH] = TASK_ATTACH,
		[TASK_RECORD_CGROUP_NEW] = TASK_CGROUP,
		[TASK_RECORD_CGROUP_GONE] = TASK_CGROUP_GONE,
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

void task_bpf_take(struct task_bpf *b, const struct source_sink *sink)
{
	const struct task_record *record = record_at(b, b->pending[b->first++].at);
	struct task_event event;

	if (record->type != TASK_RECORD_MAP)
		record_event(record, &event);
	else if (!map_event(b, (const void *)record, &event))
		return;
	sink->task(sink->ctx, &event);
}

u64 task_bpf_lost(struct task_bpf *b)
{
	u64 dropped = __atomic_load_n(&b->programs->bss->dropped, __ATOMIC_RELAXED);
	u64 maps = b->maps ? map_bpf_lost(b->maps) : 0;
	u64 lost = dropped - b->dropped + maps - b->dropped_maps;

	b->dropped = dropped;
	b->dropped_maps = maps;
	return lost;
}

int task_bpf_seed(struct task_bpf *b, const struct source_sink *sink)
{
	struct task_record records[64];
	int fd = bpf_iter_create(bpf_link__fd(b->programs->links.each_task));
	struct task_event event;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, records, sizeof(records))) > 0) {
		/* The kernel hands out whole objects, as many as fit. */
		for (size_t i = 0; i < (size_t)n / sizeof(records[0]); i++) {
			records[i].name[TASK_RECORD_COMM - 1] = '\0';
			record_event(&records[i], &event);
			sink->task(sink->ctx, &event);
		}
	}
	if (n < 0)
		n = -errno;
	close(fd);
	return (int)n;
}
