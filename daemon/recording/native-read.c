// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof's own recording, read: walked twice, once for task events, once for
 * windows. After damage reading goes on at the next header that is sound and
 * says the offset that it is at.
 */
#include "native-format.h"
#include "recording-internal.h"
#include "tasks/task-event.h"

/* One window, or one event, at @at of the file. */
struct chunk {
	u64 at;
	u64 end;
	struct speprof_window header;
};

struct own {
	struct recording *recording;
	const struct source_sink *sink;
};

bool native_is_magic(const u8 *buf)
{
	return !memcmp(buf, NATIVE_MAGIC, sizeof(NATIVE_MAGIC) - 1);
}

static bool read_header(struct recording *recording, struct native_header *ret_header)
{
	struct native_header h;
	size_t len;

	len = recording_read(recording, 0, (u8 *)&h, sizeof(h));
	if (len < sizeof(h)) {
		recording_damage(recording, len, "header: cut after %zu bytes, want %zu", len,
				 sizeof(h));
		return false;
	}
	if (h.order != NATIVE_ORDER) {
		recording_damage(recording, offsetof(struct native_header, order),
				 "header: byte order is %#x, want %#x: damaged, or written by a "
				 "machine of the other order",
				 h.order, NATIVE_ORDER);
		return false;
	}
	if (h.version != NATIVE_VERSION) {
		recording_damage(recording, offsetof(struct native_header, version),
				 "header: version is %u, want %u: a newer speprof may read it",
				 h.version, NATIVE_VERSION);
		return false;
	}
	if (h.header_size < sizeof(h) || h.header_size % SPEPROF_WINDOW_ALIGN ||
	    h.header_size > NATIVE_HEADER_MAX || h.command_size > h.header_size - sizeof(h)) {
		recording_damage(recording, offsetof(struct native_header, header_size),
				 "header: size is %u with a command line of %u bytes, want a "
				 "multiple of %u from %zu to %zu that holds both",
				 h.header_size, h.command_size, SPEPROF_WINDOW_ALIGN, sizeof(h),
				 NATIVE_HEADER_MAX);
		return false;
	}
	if (h.header_size > recording->size) {
		recording_damage(recording, recording->size,
				 "header: cut after %llu bytes, want %u",
				 (unsigned long long)recording->size, h.header_size);
		return false;
	}
	*ret_header = h;
	return true;
}

static u32 header_least(const struct speprof_window *h)
{
	return h->kind == SPEPROF_WINDOW_RECORDS ? sizeof(*h) : SPEPROF_WINDOW_SKIP_SIZE;
}

/* What is wrong with the header of a chunk by itself; NULL if nothing is. */
static const char *header_fault(const struct speprof_window *h, u64 at, u64 *ret_value)
{
	*ret_value = h->magic;
	if (h->magic != SPEPROF_WINDOW_MAGIC)
		return "magic, want 0x57455053";
	*ret_value = h->position;
	if (h->position != at)
		return "position, want the offset that it is at";
	*ret_value = h->header_size;
	if (h->header_size < header_least(h) || h->header_size % SPEPROF_WINDOW_ALIGN)
		return "header size, want a multiple of 64 that holds all fields";
	*ret_value = h->span;
	if (h->span < h->header_size || h->span % SPEPROF_WINDOW_ALIGN)
		return "span, want a multiple of 64 that holds the header";
	return NULL;
}

/* Fields up to the data; those that a short header lacks are 0. */
static bool read_chunk(struct own *own, u64 at, struct speprof_window *ret_header,
		       const char **ret_fault, u64 *ret_value)
{
	size_t len;
	const u8 *p = recording_peek(own->recording, at, sizeof(*ret_header), &len);

	*ret_fault = "bytes to the file's end, want a header of 64 or more";
	*ret_value = len;
	*ret_header = (struct speprof_window){ 0 };
	if (len < SPEPROF_WINDOW_SKIP_SIZE)
		return false;
	memcpy(ret_header, p, SPEPROF_WINDOW_SKIP_SIZE);
	*ret_fault = header_fault(ret_header, at, ret_value);
	if (*ret_fault)
		return false;
	if (ret_header->kind != SPEPROF_WINDOW_RECORDS)
		return true;
	*ret_fault = "bytes to the file's end, want the header of a window";
	*ret_value = len;
	if (len < sizeof(*ret_header))
		return false;
	memcpy(ret_header, p, sizeof(*ret_header));
	return true;
}

/* The next sound header behind @at. */
static u64 resync(struct own *own, u64 at)
{
	struct speprof_window header;
	const char *fault;
	u64 value, size = own->recording->size;

	while (size - at > SPEPROF_WINDOW_ALIGN) {
		at += SPEPROF_WINDOW_ALIGN;
		if (read_chunk(own, at, &header, &fault, &value))
			return at;
	}
	return size;
}

/* Whether the data lies within the span; what of it the file holds goes to @ret_size. */
static bool chunk_data(struct own *own, const struct chunk *chunk, u64 *ret_size)
{
	const struct speprof_window *h = &chunk->header;
	u64 left;

	if (h->data_offset < h->header_size || h->data_offset > h->span ||
	    h->data_size > h->span - h->data_offset) {
		recording_damage(own->recording,
				 chunk->at + offsetof(struct speprof_window, data_size),
				 "window: %llu bytes at %u of it, want them behind its header of "
				 "%u and within its span of %llu",
				 (unsigned long long)h->data_size, h->data_offset, h->header_size,
				 (unsigned long long)h->span);
		return false;
	}
	left = chunk->end - chunk->at;
	left = left > h->data_offset ? left - h->data_offset : 0;
	*ret_size = h->data_size < left ? h->data_size : left;
	return true;
}

static u8 backend_of(u32 backend)
{
	return backend == SPEPROF_BACKEND_EMULATED ? BACKEND_EMULATED :
	       backend == SPEPROF_BACKEND_HARDWARE ? BACKEND_HARDWARE :
						     BACKEND_UNKNOWN;
}

#define WINDOW_FLAGS                                                                             \
	(WINDOW_TRUNCATED | WINDOW_PARTIAL | WINDOW_COLLIDED | WINDOW_FAULTED | WINDOW_SUSPECT | \
	 WINDOW_GAPS)

/* What stands between header and records; what the file does not have is 0. */
static void read_more(struct own *own, const struct chunk *chunk, struct native_window *ret_more)
{
	const struct speprof_window *h = &chunk->header;
	u32 room = h->data_offset - h->header_size;
	struct native_window more = { .tid = -1 };

	if (room >= NATIVE_WINDOW_FIRST)
		recording_read(own->recording, chunk->at + h->header_size, (u8 *)&more,
			       room < sizeof(more) ? NATIVE_WINDOW_FIRST : sizeof(more));
	*ret_more = more;
}

static void parse_window(struct own *own, const struct chunk *chunk)
{
	const struct speprof_window *h = &chunk->header;
	static const u8 nothing[1];
	struct source_window window;
	struct native_window more;
	u64 size;

	if (!chunk_data(own, chunk, &size) || (!size && h->data_size))
		return;
	read_more(own, chunk, &more);
	if (more.clock_shift > 63) {
		recording_damage(
			own->recording,
			chunk->at + h->header_size + offsetof(struct native_window, clock_shift),
			"window: shift of its clock is %u, want below 64", more.clock_shift);
		more.clock_shift = 0;
		more.clock_mult = 0;
	}
	window = (struct source_window){
		.midr = h->midr,
		.start_ns = h->start_ns,
		.end_ns = h->end_ns,
		.armed_ns = h->armed_ns,
		.blind_ns = h->blind_ns,
		.lost_bytes = more.lost_bytes,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.interval = more.interval,
		.cpu = h->cpu,
		.tid = more.tid,
		.flags = h->flags & WINDOW_FLAGS,
		.align = more.align,
		.max_record = more.max_record,
		.pmsver = (u8)h->pmsver,
		.backend = backend_of(h->backend),
		.unit = more.unit < UNITS ? (u8)more.unit : UNIT_UNKNOWN,
		.clock = { .zero = more.clock_zero,
			   .mult = more.clock_mult,
			   .shift = more.clock_shift },
	};
	memcpy(window.blind_by, more.blind_by, sizeof(window.blind_by));
	/* The count is of the whole: not of what is cut off. */
	if (h->flags & SPEPROF_WINDOW_COUNTED && size == h->data_size)
		window.written = h->records;
	if (size < h->data_size)
		window.flags |= WINDOW_TRUNCATED;
	if (!size) {
		window.data = nothing;
		own->sink->window(own->sink->ctx, &window);
		return;
	}
	recording_window(own->recording, chunk->at + h->data_offset, size, &window, own->sink,
			 NULL);
}

static void task_damage(struct own *own, const struct chunk *chunk, const struct native_task *task,
			u64 size)
{
	recording_damage(
		own->recording, chunk->at + chunk->header.data_offset,
		"task event of %llu bytes: type %u, build id of %u bytes, name of %u, want "
		"at most %u, 20 and %u, and a name that ends in NUL within it",
		(unsigned long long)size, task->type, task->build_id_size, task->name_size,
		TASK_LOST, NATIVE_NAME_MAX);
}

static void parse_task(struct own *own, const struct chunk *chunk)
{
	struct native_task task = { 0 };
	struct task_event event;
	u64 size;
	size_t len = 0;
	const u8 *p;

	if (!own->sink->task || !chunk_data(own, chunk, &size))
		return;
	p = recording_peek(own->recording, chunk->at + chunk->header.data_offset,
			   size < sizeof(task) + NATIVE_NAME_MAX ? (size_t)size :
								   sizeof(task) + NATIVE_NAME_MAX,
			   &len);
	if (len >= sizeof(task))
		memcpy(&task, p, sizeof(task));
	if (len < sizeof(task) || task.type > TASK_LOST || task.build_id_size > 20 ||
	    !task.name_size || task.name_size > len - sizeof(task) ||
	    p[sizeof(task) + task.name_size - 1]) {
		task_damage(own, chunk, &task, size);
		return;
	}
	event = (struct task_event){
		.name = (const char *)p + sizeof(task),
		.time_ns = task.time_ns,
		.start = task.start,
		.size = task.size,
		.offset = task.offset,
		.cgroup = task.cgroup,
		.inode = task.inode,
		.pid = task.pid,
		.tid = task.tid,
		.parent_pid = task.parent_pid,
		.type = task.type,
		.exec = task.exec,
		.build_id = task.build_id_size ? task.build_id : NULL,
		.build_id_size = task.build_id_size,
	};
	own->sink->task(own->sink->ctx, &event);
}

/*
 * Where a chunk ends: at its span, if the next header or the file's end is there.
 * Else the span may be what is damaged, and what follows is not to be lost for it.
 */
static u64 chunk_end(struct own *own, u64 at, const struct speprof_window *this)
{
	struct recording *recording = own->recording;
	struct speprof_window header;
	const char *fault;
	u64 value, next, span = this->span;

	if (span == recording->size - at)
		return recording->size;
	if (span > recording->size - at) {
		recording_damage(recording, at,
				 "window: span is %llu, but %llu bytes follow: cut short, or the "
				 "span is wrong",
				 (unsigned long long)span,
				 (unsigned long long)(recording->size - at));
		return resync(own, at);
	}
	if (read_chunk(own, at + span, &header, &fault, &value) && header.seq == this->seq + 1)
		return at + span;
	next = resync(own, at);
	return next < at + span ? next : at + span;
}

/* Both passes see the same chunks, damage or not. */
static void walk(struct own *own, u64 at, u16 kind,
		 void (*take)(struct own *own, const struct chunk *chunk))
{
	struct recording *recording = own->recording;
	struct chunk chunk;
	const char *fault;
	u64 value, seq = 0;

	for (; at < recording->size; at = chunk.end) {
		if (!read_chunk(own, at, &chunk.header, &fault, &value)) {
			recording_damage(recording, at, "header of a window: %#llx as %s",
					 (unsigned long long)value, fault);
			chunk.end = resync(own, at);
			continue;
		}
		if (chunk.header.seq != seq)
			recording_damage(recording, at,
					 "header of a window: number %llu, want %llu: what was "
					 "between is lost",
					 (unsigned long long)chunk.header.seq,
					 (unsigned long long)seq);
		seq = chunk.header.seq + 1;
		chunk.at = at;
		chunk.end = chunk_end(own, at, &chunk.header);
		if (chunk.end - at < chunk.header.span)
			recording_damage(recording, at,
					 "window: span is %llu, but the next is after %llu bytes",
					 (unsigned long long)chunk.header.span,
					 (unsigned long long)(chunk.end - at));
		if (chunk.header.kind == kind)
			take(own, &chunk);
	}
}

void native_replay(struct recording *recording, const struct source_sink *sink)
{
	struct own own = { .recording = recording, .sink = sink };
	struct native_header header;

	if (!read_header(recording, &header))
		return;
	walk(&own, header.header_size, NATIVE_KIND_TASK, parse_task);
	walk(&own, header.header_size, SPEPROF_WINDOW_RECORDS, parse_window);
}
