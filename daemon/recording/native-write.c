// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes speprof's own recording format. */
#include "codec/registers.h"
#include "native-format.h"
#include "recorder-internal.h"
#include "speprof-version.h"
#include "tasks/task-event.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

static u32 backend_to_abi(u8 backend)
{
	return backend == BACKEND_EMULATED ? SPEPROF_BACKEND_EMULATED :
	       backend == BACKEND_HARDWARE ? SPEPROF_BACKEND_HARDWARE :
					     0;
}

static u64 span_align(u64 bytes)
{
	return (bytes + SPEPROF_WINDOW_ALIGN - 1) & ~(u64)(SPEPROF_WINDOW_ALIGN - 1);
}

/* Write one window of a kind that has no SPE records, only bytes. */
static void write_bytes_window(struct recorder *recorder, u16 kind, const void *data, size_t len)
{
	const struct speprof_window header = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = SPEPROF_WINDOW_SKIP_SIZE,
		.kind = kind,
		.span = span_align(SPEPROF_WINDOW_SKIP_SIZE + len),
		.seq = recorder->seq++,
		.position = recorder->pos,
		.data_size = len,
		.data_offset = SPEPROF_WINDOW_SKIP_SIZE,
		.backend = backend_to_abi(recorder->config.backend),
	};

	recorder_write(recorder, &header, SPEPROF_WINDOW_SKIP_SIZE);
	recorder_write(recorder, data, len);
	recorder_pad(recorder, SPEPROF_WINDOW_ALIGN);
}

static size_t fact_append(char *to, size_t at, const char *key, const char *value)
{
	size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;

	if (at + key_size + value_size > NATIVE_FACTS_MAX)
		return at;
	memcpy(to + at, key, key_size);
	memcpy(to + at + key_size, value, value_size);
	return at + key_size + value_size;
}

/* Append the CPUs of each NUMA node of this machine. Returns the size of all facts. */
static size_t nodes_append(char *to, size_t at)
{
	char key[32], cpus[NODE_CPUS_SIZE];

	for (u32 node = 0; node < KERNEL_NODES_MAX; node++) {
		if (!recorder_read_node(node, "cpulist", cpus, sizeof(cpus)))
			continue;
		cpus[strcspn(cpus, "\n")] = '\0';
		snprintf(key, sizeof(key), NATIVE_FACT_NODE "%u", node);
		at = fact_append(to, at, key, cpus);
	}
	return at;
}

/* Append the ranges of the memory of each NUMA node. Returns the size of all facts. */
static size_t memory_append(char *to, size_t at, const struct numa_nodes *nodes)
{
	char key[32], ranges[NODE_CPUS_SIZE];

	for (u8 node = 0; node < NODES_MAX; node++) {
		size_t end = 0;

		for (u32 i = 0; i < nodes->count && end < sizeof(ranges); i++)
			if (nodes->ranges[i].node == node)
				end += (size_t)snprintf(ranges + end, sizeof(ranges) - end,
							"%s%llx-%llx", end ? "," : "",
							(unsigned long long)nodes->ranges[i].start,
							(unsigned long long)nodes->ranges[i].end);
		snprintf(key, sizeof(key), NATIVE_FACT_MEMORY "%u", node);
		/* The memory of a node with too many ranges stays unknown. */
		if (end && end < sizeof(ranges))
			at = fact_append(to, at, key, ranges);
	}
	return at;
}

static void write_facts(struct recorder *recorder)
{
	char facts[NATIVE_FACTS_MAX], time[32], line_size[16];
	struct utsname host = { 0 };
	struct timespec now;
	size_t len = 0;

	uname(&host);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(time, sizeof(time), "%llu",
		 (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec);
	len = fact_append(facts, len, "host", host.nodename);
	len = fact_append(facts, len, "kernel", host.release);
	len = fact_append(facts, len, "machine", host.machine);
	len = fact_append(facts, len, "version", "speprof " SPEPROF_VERSION);
	len = fact_append(facts, len, "time", time);
	if (recorder->config.line_size) {
		snprintf(line_size, sizeof(line_size), "%u", recorder->config.line_size);
		len = fact_append(facts, len, "line_size", line_size);
	}
	len = nodes_append(facts, len);
	if (recorder->config.nodes)
		len = memory_append(facts, len, recorder->config.nodes);
	write_bytes_window(recorder, NATIVE_KIND_FACTS, facts, len);
}

void native_write_begin(struct recorder *recorder)
{
	size_t len = strnlen(recorder->command, NATIVE_COMMAND_MAX - 1);
	struct native_header header = {
		.version = NATIVE_VERSION,
		.order = NATIVE_ORDER,
		.backend = backend_to_abi(recorder->config.backend),
		.cpus = recorder->config.cpus,
		.command_size = (u32)len + 1,
	};

	memcpy(header.magic, NATIVE_MAGIC, sizeof(header.magic));
	header.header_size = (u32)((sizeof(header) + len + 1 + 63) & ~(size_t)63);
	recorder_write(recorder, &header, sizeof(header));
	recorder_write(recorder, recorder->command, len);
	recorder_write(recorder, "", 1);
	recorder_pad(recorder, SPEPROF_WINDOW_ALIGN);
	write_facts(recorder);
}

/*
 * Encode a size, a power of two, as its binary logarithm, as PMBIDR_EL1.Align and
 * PMSIDR_EL1.MaxSize do. 0 stays 0.
 */
static u64 compute_size_log2(u32 size)
{
	return size ? 31 - (u64)__builtin_clz(size) : 0;
}

void native_write_window(struct recorder *recorder, const struct source_window *window)
{
	bool counted = window->written != WINDOW_WRITTEN_UNKNOWN;
	struct native_window extension = {
		.clock_zero = window->clock.zero,
		.clock_mult = window->clock.mult,
		.clock_shift = window->clock.shift,
		.lost_bytes = window->lost_bytes,
		.interval = window->interval,
		.tid = window->tid,
		.align = window->align,
		.max_record = window->max_record,
		.unit = window->unit,
	};
	const struct speprof_window header = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = sizeof(header),
		.kind = SPEPROF_WINDOW_RECORDS,
		.span = span_align(sizeof(header) + sizeof(extension) + window->len),
		.seq = recorder->seq++,
		.position = recorder->pos,
		.data_size = window->len,
		.data_offset = sizeof(header) + sizeof(extension),
		.flags = window->flags | (counted ? SPEPROF_WINDOW_COUNTED : 0),
		.cpu = window->cpu,
		.backend = backend_to_abi(window->backend),
		.generation = 1,
		.pmsver = window->pmsver,
		.midr = window->midr,
		.pmsidr = SPE_FIELD_PREP(SPE_PMSIDR_MAXSIZE, compute_size_log2(window->max_record)),
		.pmbidr = SPE_FIELD_PREP(SPE_PMBIDR_ALIGN, compute_size_log2(window->align)),
		.interval = window->interval,
		.interval_unit = window->unit == UNIT_INSTRUCTIONS ? SPEPROF_UNIT_INSTRUCTIONS :
								     SPEPROF_UNIT_MICRO_OPS,
		.clock = SPEPROF_CLOCK_MONOTONIC,
		.start_ns = window->start_ns,
		.end_ns = window->end_ns,
		.armed_ns = window->armed_ns,
		.blind_ns = window->blind_ns,
		.records = counted ? window->written : 0,
	};

	memcpy(extension.blind_by, window->blind_by, sizeof(window->blind_by));
	recorder_write(recorder, &header, sizeof(header));
	recorder_write(recorder, &extension, sizeof(extension));
	recorder_write(recorder, window->data, window->len);
	recorder_pad(recorder, SPEPROF_WINDOW_ALIGN);
}

void native_write_task(struct recorder *recorder, const struct task_event *event)
{
	size_t len = strnlen(event->name ? event->name : "", NATIVE_NAME_MAX - 1);
	struct native_task task = {
		.time_ns = event->time_ns,
		.start = event->start,
		.size = event->size,
		.offset = event->offset,
		.cgroup = event->cgroup,
		.inode = event->inode,
		.pid = event->pid,
		.tid = event->tid,
		.parent_pid = event->parent_pid,
		.type = event->type,
		.exec = event->exec,
		.name_size = (u32)len + 1,
	};
	const struct speprof_window header = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = SPEPROF_WINDOW_SKIP_SIZE,
		.kind = NATIVE_KIND_TASK,
		.span = span_align(SPEPROF_WINDOW_SKIP_SIZE + sizeof(task) + len + 1),
		.seq = recorder->seq++,
		.position = recorder->pos,
		.data_size = sizeof(task) + len + 1,
		.data_offset = SPEPROF_WINDOW_SKIP_SIZE,
		.cpu = event->type == TASK_SWITCH ? event->cpu : 0,
		.backend = backend_to_abi(recorder->config.backend),
	};

	if (event->build_id && event->build_id_size <= sizeof(task.build_id)) {
		task.build_id_size = event->build_id_size;
		memcpy(task.build_id, event->build_id, event->build_id_size);
	}
	recorder_write(recorder, &header, SPEPROF_WINDOW_SKIP_SIZE);
	recorder_write(recorder, &task, sizeof(task));
	recorder_write(recorder, event->name, len);
	recorder_write(recorder, "", 1);
	recorder_pad(recorder, SPEPROF_WINDOW_ALIGN);
}

void native_write_functions(struct recorder *recorder, const struct symtab *functions)
{
	u8 data[NATIVE_FUNCTIONS_MAX];
	size_t len = 0;

	for (u32 i = 0; i < functions->count; i++) {
		const struct symbol *symbol = &functions->entry[i];
		const char *name = functions->names + symbol->name;
		const struct native_function function = {
			.start = symbol->start,
			.size = symbol->size,
			.name_size = (u32)strlen(name) + 1,
		};

		if (sizeof(function) + function.name_size > sizeof(data) - len) {
			write_bytes_window(recorder, NATIVE_KIND_FUNCTIONS, data, len);
			len = 0;
		}
		memcpy(data + len, &function, sizeof(function));
		memcpy(data + len + sizeof(function), name, function.name_size);
		len += sizeof(function) + function.name_size;
	}
	if (len)
		write_bytes_window(recorder, NATIVE_KIND_FUNCTIONS, data, len);
}
