// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the recording format of speprof in three passes: for task events, for functions of the
 * kernel, and for windows. After damage, reading resumes at the next valid header with a position
 * field that equals its offset in the file.
 */
#include "native-format.h"
#include "recording-internal.h"
#include "tasks/task-event.h"
#include "util/escape.h"

#include <stdlib.h>

/*
 * Maximum memory for functions of the kernel, bytes. All functions of a kernel need a third of
 * this.
 */
#define FUNCTIONS_LIMIT (32ULL << 20)

/* A window of any kind: the bytes from @offset to @end - 1 of the file */
struct native_chunk {
	u64 offset;
	u64 end;
	struct speprof_window header;
};

struct native_reader {
	struct recording *recording;
	const struct source_sink *sink;
};

bool native_has_magic(const u8 *buf)
{
	return !memcmp(buf, NATIVE_MAGIC, sizeof(NATIVE_MAGIC) - 1);
}

static bool read_header(struct recording *recording, struct native_header *ret_header)
{
	struct native_header h;
	size_t len;

	len = recording_read(recording, 0, (u8 *)&h, sizeof(h));
	if (len < sizeof(h)) {
		recording_set_damage(recording, len, "header: truncated after %zu bytes, want %zu",
				     len, sizeof(h));
		return false;
	}
	if (h.order != NATIVE_ORDER) {
		recording_set_damage(
			recording, offsetof(struct native_header, order),
			"header: byte order is %#x, want %#x: damaged, or written by a "
			"machine of the other order",
			h.order, NATIVE_ORDER);
		return false;
	}
	if (h.version != NATIVE_VERSION) {
		recording_set_damage(recording, offsetof(struct native_header, version),
				     "header: version is %u, want %u: a newer speprof may read it",
				     h.version, NATIVE_VERSION);
		return false;
	}
	if (h.header_size < sizeof(h) || h.header_size % SPEPROF_WINDOW_ALIGN ||
	    h.header_size > NATIVE_HEADER_MAX || h.command_size > h.header_size - sizeof(h)) {
		recording_set_damage(recording, offsetof(struct native_header, header_size),
				     "header: size is %u with a command line of %u bytes, want a "
				     "multiple of %u from %zu to %zu that holds both",
				     h.header_size, h.command_size, SPEPROF_WINDOW_ALIGN, sizeof(h),
				     NATIVE_HEADER_MAX);
		return false;
	}
	if (h.header_size > recording->size) {
		recording_set_damage(recording, recording->size,
				     "header: truncated after %llu bytes, want %u",
				     (unsigned long long)recording->size, h.header_size);
		return false;
	}
	*ret_header = h;
	return true;
}

static u32 get_header_min_size(const struct speprof_window *h)
{
	return h->kind == SPEPROF_WINDOW_RECORDS ? sizeof(*h) : SPEPROF_WINDOW_SKIP_SIZE;
}

/*
 * Check the header of a chunk, without comparing it with other chunks. Returns a text with the name
 * and the valid values of the first invalid field, and its value in @ret_value; NULL if all fields
 * are valid.
 */
static const char *header_check(const struct speprof_window *h, u64 offset, u64 *ret_value)
{
	*ret_value = h->magic;
	if (h->magic != SPEPROF_WINDOW_MAGIC)
		return "magic, want 0x57455053";
	*ret_value = h->position;
	if (h->position != offset)
		return "position, want the offset in the file";
	*ret_value = h->header_size;
	if (h->header_size < get_header_min_size(h) || h->header_size % SPEPROF_WINDOW_ALIGN)
		return "header size, want a multiple of 64 that holds all fields";
	*ret_value = h->span;
	if (h->span < h->header_size || h->span % SPEPROF_WINDOW_ALIGN)
		return "span, want a multiple of 64 that holds the header";
	return NULL;
}

/* Read and check the header of a chunk. Fields that a short header lacks are 0. */
static bool header_read(struct native_reader *reader, u64 offset, struct speprof_window *ret_header,
			const char **ret_fault, u64 *ret_value)
{
	size_t len;
	const u8 *p = recording_peek(reader->recording, offset, sizeof(*ret_header), &len);

	*ret_fault = "bytes to the end of the file, want a header of 64 or more";
	*ret_value = len;
	*ret_header = (struct speprof_window){ 0 };
	if (len < SPEPROF_WINDOW_SKIP_SIZE)
		return false;
	memcpy(ret_header, p, SPEPROF_WINDOW_SKIP_SIZE);
	*ret_fault = header_check(ret_header, offset, ret_value);
	if (*ret_fault)
		return false;
	if (ret_header->kind != SPEPROF_WINDOW_RECORDS)
		return true;
	*ret_fault = "bytes to the end of the file, want the header of a window";
	*ret_value = len;
	if (len < sizeof(*ret_header))
		return false;
	memcpy(ret_header, p, sizeof(*ret_header));
	return true;
}

/*
 * Returns the offset of the next valid header after @offset; the size of the file if there is none.
 */
static u64 find_next_header(struct native_reader *reader, u64 offset)
{
	struct speprof_window header;
	const char *fault;
	u64 value, size = reader->recording->size;

	while (size - offset > SPEPROF_WINDOW_ALIGN) {
		offset += SPEPROF_WINDOW_ALIGN;
		if (header_read(reader, offset, &header, &fault, &value))
			return offset;
	}
	return size;
}

/*
 * Check that the data of a chunk lies within its span. @ret_size: number of bytes that are in the
 * file, which is less than data_size if the file is truncated.
 */
static bool chunk_check_data(struct native_reader *reader, const struct native_chunk *chunk,
			     u64 *ret_size)
{
	const struct speprof_window *h = &chunk->header;
	u64 available;

	if (h->data_offset < h->header_size || h->data_offset > h->span ||
	    h->data_size > h->span - h->data_offset) {
		recording_set_damage(
			reader->recording,
			chunk->offset + offsetof(struct speprof_window, data_size),
			"window: %llu bytes of data at offset %u, want them after the header "
			"of %u bytes and within the span of %llu",
			(unsigned long long)h->data_size, h->data_offset, h->header_size,
			(unsigned long long)h->span);
		return false;
	}
	available = chunk->end - chunk->offset;
	available = available > h->data_offset ? available - h->data_offset : 0;
	*ret_size = h->data_size < available ? h->data_size : available;
	return true;
}

static u8 backend_from_abi(u32 backend)
{
	return backend == SPEPROF_BACKEND_EMULATED ? BACKEND_EMULATED :
	       backend == SPEPROF_BACKEND_HARDWARE ? BACKEND_HARDWARE :
						     BACKEND_UNKNOWN;
}

#define WINDOW_FLAGS                                                                             \
	(WINDOW_TRUNCATED | WINDOW_PARTIAL | WINDOW_COLLIDED | WINDOW_FAULTED | WINDOW_SUSPECT | \
	 WINDOW_GAPS)

/*
 * Read &struct native_window, which follows the header. Fields that the file lacks are 0;
 * &native_window.tid is -1.
 */
static void read_extension(struct native_reader *reader, const struct native_chunk *chunk,
			   struct native_window *ret_extension)
{
	const struct speprof_window *h = &chunk->header;
	u32 size = h->data_offset - h->header_size;
	struct native_window extension = { .tid = -1 };

	if (size >= NATIVE_WINDOW_MIN)
		recording_read(reader->recording, chunk->offset + h->header_size, (u8 *)&extension,
			       size < sizeof(extension) ? NATIVE_WINDOW_MIN : sizeof(extension));
	*ret_extension = extension;
}

static void parse_window(struct native_reader *reader, const struct native_chunk *chunk)
{
	const struct speprof_window *h = &chunk->header;
	static const u8 no_bytes[1];
	struct source_window window;
	struct native_window extension;
	u64 size;

	if (!chunk_check_data(reader, chunk, &size) || (!size && h->data_size))
		return;
	read_extension(reader, chunk, &extension);
	if (extension.clock_shift > 63) {
		recording_set_damage(reader->recording,
				     chunk->offset + h->header_size +
					     offsetof(struct native_window, clock_shift),
				     "window: shift of the clock is %u, want below 64",
				     extension.clock_shift);
		extension.clock_shift = 0;
		extension.clock_mult = 0;
	}
	window = (struct source_window){
		.midr = h->midr,
		.start_ns = h->start_ns,
		.end_ns = h->end_ns,
		.armed_ns = h->armed_ns,
		.blind_ns = h->blind_ns,
		.lost_bytes = extension.lost_bytes,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.interval = extension.interval,
		.cpu = h->cpu,
		.tid = extension.tid,
		.flags = h->flags & WINDOW_FLAGS,
		.align = extension.align,
		.max_record = extension.max_record,
		.pmsver = (u8)h->pmsver,
		.backend = backend_from_abi(h->backend),
		.unit = extension.unit < UNITS ? (u8)extension.unit : UNIT_UNKNOWN,
		.clock = { .zero = extension.clock_zero,
			   .mult = extension.clock_mult,
			   .shift = extension.clock_shift },
	};
	memcpy(window.blind_by, extension.blind_by, sizeof(window.blind_by));
	/*
	 * The count includes records that are missing in a truncated file, so use it only for a
	 * complete window.
	 */
	if (h->flags & SPEPROF_WINDOW_COUNTED && size == h->data_size)
		window.written = h->records;
	if (size < h->data_size)
		window.flags |= WINDOW_TRUNCATED;
	if (!size) {
		window.data = no_bytes;
		reader->sink->window(reader->sink->ctx, &window);
		return;
	}
	recording_emit_window(reader->recording, chunk->offset + h->data_offset, size, &window);
}

static void task_set_damage(struct native_reader *reader, const struct native_chunk *chunk,
			    const struct native_task *task, u64 size)
{
	recording_set_damage(
		reader->recording, chunk->offset + chunk->header.data_offset,
		"task event of %llu bytes: type %u, build id of %u bytes, name of %u, want "
		"at most %u, 20 and %u, and a name that ends in NUL within it",
		(unsigned long long)size, task->type, task->build_id_size, task->name_size,
		TASK_SWITCH, NATIVE_NAME_MAX);
}

static void parse_task(struct native_reader *reader, const struct native_chunk *chunk)
{
	struct native_task task = { 0 };
	struct task_event event;
	u64 size;
	size_t len = 0;
	const u8 *p;

	if (!reader->sink->task || !chunk_check_data(reader, chunk, &size))
		return;
	p = recording_peek(reader->recording, chunk->offset + chunk->header.data_offset,
			   size < sizeof(task) + NATIVE_NAME_MAX ? (size_t)size :
								   sizeof(task) + NATIVE_NAME_MAX,
			   &len);
	if (len >= sizeof(task))
		memcpy(&task, p, sizeof(task));
	if (len < sizeof(task) || task.type > TASK_SWITCH || task.build_id_size > 20 ||
	    !task.name_size || task.name_size > len - sizeof(task) ||
	    p[sizeof(task) + task.name_size - 1]) {
		task_set_damage(reader, chunk, &task, size);
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
		.cpu = chunk->header.cpu,
		.type = task.type,
		.exec = task.exec,
		.build_id = task.build_id_size ? task.build_id : NULL,
		.build_id_size = task.build_id_size,
	};
	reader->sink->task(reader->sink->ctx, &event);
}

/* Add the function at @p; returns its size in the file in bytes, or 0 if it is invalid. */
static size_t function_add(struct symtab *functions, const u8 *p, size_t len)
{
	struct native_function function;
	const char *name = (const char *)p + sizeof(function);

	if (len < sizeof(function))
		return 0;
	memcpy(&function, p, sizeof(function));
	if (!function.name_size || function.name_size > len - sizeof(function) ||
	    name[function.name_size - 1] || !function.size ||
	    function.start > UINT64_MAX - function.size)
		return 0;
	symtab_add(functions, function.start, function.size, name, strlen(name), SYMBOL_GLOBAL);
	return sizeof(function) + function.name_size;
}

static void parse_functions(struct native_reader *reader, const struct native_chunk *chunk)
{
	struct recording *recording = reader->recording;
	u64 offset = chunk->offset + chunk->header.data_offset, size;
	size_t len, used = 1;
	const u8 *p;

	if (!chunk_check_data(reader, chunk, &size))
		return;
	p = recording_peek(recording, offset,
			   size < NATIVE_FUNCTIONS_MAX ? (size_t)size : NATIVE_FUNCTIONS_MAX, &len);
	for (size_t at = 0; at < len && used; at += used) {
		used = function_add(&recording->functions, p + at, len - at);
		if (!used)
			recording_set_damage(recording, offset + at,
					     "function of the kernel: want a start and a size that "
					     "end below 2^64, and a name that ends in NUL within "
					     "the window");
	}
}

/*
 * Find the end of a chunk. If a valid header or the end of the file follows the chunk's span, the
 * chunk ends with its span. Otherwise the span may be damaged. The chunk then ends at the next
 * valid header, so that a wrong span does not hide later windows.
 */
static u64 chunk_find_end(struct native_reader *reader, u64 offset,
			  const struct speprof_window *this)
{
	struct recording *recording = reader->recording;
	struct speprof_window header;
	const char *fault;
	u64 value, next, span = this->span;

	if (span == recording->size - offset)
		return recording->size;
	if (span > recording->size - offset) {
		recording_set_damage(recording, offset,
				     "window: span is %llu, but %llu bytes follow: the file is "
				     "truncated, or the "
				     "span is wrong",
				     (unsigned long long)span,
				     (unsigned long long)(recording->size - offset));
		return find_next_header(reader, offset);
	}
	if (header_read(reader, offset + span, &header, &fault, &value) &&
	    header.seq == this->seq + 1)
		return offset + span;
	next = find_next_header(reader, offset);
	return next < offset + span ? next : offset + span;
}

/* Call @parse for each chunk of a kind. All passes find the same chunks, even in a damaged file. */
static void walk_chunks(struct native_reader *reader, u64 offset, u16 kind,
			void (*parse)(struct native_reader *reader,
				      const struct native_chunk *chunk))
{
	struct recording *recording = reader->recording;
	struct native_chunk chunk;
	const char *fault;
	u64 value, seq = 0;

	for (; offset < recording->size; offset = chunk.end) {
		recording_report_progress(recording, offset);
		if (!header_read(reader, offset, &chunk.header, &fault, &value)) {
			recording_set_damage(recording, offset, "header of a window: %#llx as %s",
					     (unsigned long long)value, fault);
			chunk.end = find_next_header(reader, offset);
			continue;
		}
		if (chunk.header.seq != seq)
			recording_set_damage(
				recording, offset,
				"header of a window: sequence number %llu, want %llu: the "
				"windows between are lost",
				(unsigned long long)chunk.header.seq, (unsigned long long)seq);
		seq = chunk.header.seq + 1;
		chunk.offset = offset;
		chunk.end = chunk_find_end(reader, offset, &chunk.header);
		if (chunk.end - offset < chunk.header.span)
			recording_set_damage(
				recording, offset,
				"window: span is %llu, but the next is after %llu bytes",
				(unsigned long long)chunk.header.span,
				(unsigned long long)(chunk.end - offset));
		if (chunk.header.kind == kind)
			parse(reader, &chunk);
	}
}

/* Add the ranges of the memory of a node; ignore the rest of the text after one that is invalid. */
static void add_memory(struct recording_facts *facts, const char *node, const char *ranges)
{
	const char *at = ranges;
	char *end;

	while (*at) {
		u64 start = strtoull(at, &end, 16), last;

		if (*end != '-')
			return;
		last = strtoull(end + 1, &end, 16);
		if (!recording_facts_add_memory(facts, (u32)strtoul(node, NULL, 10), start, last))
			return;
		at = *end == ',' ? end + 1 : "";
	}
}

static void fact_set(struct recording_facts *facts, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *to;
		size_t size;
	} texts[] = {
		{ "host", facts->host, sizeof(facts->host) },
		{ "kernel", facts->kernel, sizeof(facts->kernel) },
		{ "machine", facts->machine, sizeof(facts->machine) },
		{ "version", facts->version, sizeof(facts->version) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(key, texts[i].key))
			escape_string(texts[i].to, texts[i].size, value);
	if (!strncmp(key, NATIVE_FACT_NODE, strlen(NATIVE_FACT_NODE)))
		recording_facts_add_node(
			facts, (u32)strtoul(key + strlen(NATIVE_FACT_NODE), NULL, 10), value);
	if (!strncmp(key, NATIVE_FACT_MEMORY, strlen(NATIVE_FACT_MEMORY)))
		add_memory(facts, key + strlen(NATIVE_FACT_MEMORY), value);
	if (!strcmp(key, "time"))
		facts->time_ns = strtoull(value, NULL, 10);
	if (!strcmp(key, "line_size"))
		facts->line_size = (u32)strtoul(value, NULL, 10);
}

static void parse_facts(struct native_reader *reader, const struct native_chunk *chunk)
{
	struct recording *recording = reader->recording;
	u64 offset = chunk->offset + chunk->header.data_offset, size;
	const char *p, *key, *value;
	size_t len;

	if (!chunk_check_data(reader, chunk, &size))
		return;
	p = (const char *)recording_peek(
		recording, offset, size < NATIVE_FACTS_MAX ? (size_t)size : NATIVE_FACTS_MAX, &len);
	if (!len || p[len - 1]) {
		recording_set_damage(recording, offset,
				     "facts about the making: want keys and values that end in NUL "
				     "within the window");
		return;
	}
	for (key = p; key < p + len; key = value + strlen(value) + 1) {
		value = key + strlen(key) + 1;
		if (value >= p + len)
			break;
		fact_set(&recording->facts, key, value);
	}
}

/* Read the command line, which follows the header, and the facts, which are the first window. */
static void read_facts(struct native_reader *reader, const struct native_header *header)
{
	struct recording *recording = reader->recording;
	struct native_chunk chunk = { .offset = header->header_size };
	char command[NATIVE_COMMAND_MAX];
	const char *fault;
	size_t len;
	u64 value;

	recording->facts.cpus = header->cpus;
	len = header->command_size < sizeof(command) ? header->command_size : sizeof(command) - 1;
	len = recording_read(recording, sizeof(*header), (u8 *)command, len);
	command[len] = 0;
	escape_string(recording->facts.command, sizeof(recording->facts.command), command);
	if (!header_read(reader, chunk.offset, &chunk.header, &fault, &value) ||
	    chunk.header.kind != NATIVE_KIND_FACTS)
		return;
	chunk.end = chunk.header.span < recording->size - chunk.offset ?
			    chunk.offset + chunk.header.span :
			    recording->size;
	parse_facts(reader, &chunk);
}

void native_replay(struct recording *recording, const struct source_sink *sink)
{
	struct native_reader reader = { .recording = recording, .sink = sink };
	struct native_header header;

	if (!read_header(recording, &header))
		return;
	read_facts(&reader, &header);
	symtab_clear(&recording->functions);
	recording->functions.limit = FUNCTIONS_LIMIT;
	walk_chunks(&reader, header.header_size, NATIVE_KIND_TASK, parse_task);
	walk_chunks(&reader, header.header_size, NATIVE_KIND_FUNCTIONS, parse_functions);
	symtab_sort(&recording->functions);
	if (recording_begin_windows(recording))
		walk_chunks(&reader, header.header_size, SPEPROF_WINDOW_RECORDS, parse_window);
}
