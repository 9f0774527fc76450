// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace-run.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "guest-maps.h"
#include "qemu-process.h"
#include "tasks/task-event.h"
#include "traced-spu.h"
#include "util/time.h"

/* Maximum bytes of a line of QEMU's log; all lines that are used are shorter. */
#define LINE_MAX_BYTES 4096

#define SVC_0 0xd4000001U

/* Numbers of system calls on arm64. */
enum guest_call {
	CALL_MUNMAP = 215,
	CALL_MREMAP = 216,
	CALL_CLONE = 220,
	CALL_EXECVE = 221,
	CALL_MMAP = 222,
	CALL_MPROTECT = 226,
	CALL_EXECVEAT = 281,
};

/**
 * struct traced_program - a program that is traced
 * @process: QEMU
 * @log: reads its log
 * @spu: samples its instructions
 * @maps: mapped files of the program; outdated if @stale is set
 * @sink: receives windows and task events
 * @seen: the threads that have executed an instruction
 * @executed: whether the program called execve()
 * @threads: number of threads in @seen
 */
struct traced_program {
	struct qemu_process process;
	struct qemu_log *log;
	struct traced_spu spu;
	struct guest_maps maps;
	const struct source_sink *sink;
	bool seen[QEMU_LOG_THREADS];
	bool stale;
	bool executed;
	u32 threads;
};

/*
 * Return a TID for a thread. The thread with number 0 is the process. QEMU does not log the TIDs of
 * the others, so these are invented: PID plus number.
 */
static s32 get_thread_tid(const struct traced_program *trace, u32 thread)
{
	return trace->process.pid + (s32)thread;
}

static void event_send(const struct traced_program *trace, struct task_event event)
{
	event.time_ns = trace->spu.now_ns;
	event.pid = trace->process.pid;
	trace->sink->task(trace->sink->ctx, &event);
}

static void thread_report(struct traced_program *trace, u32 thread)
{
	if (trace->seen[thread])
		return;
	trace->seen[thread] = true;
	trace->threads++;
	if (thread)
		event_send(trace, (struct task_event){
					  .type = TASK_FORK,
					  .tid = get_thread_tid(trace, thread),
					  .parent_pid = trace->process.pid,
				  });
}

static void map_report(const struct traced_program *trace, struct guest_map *map)
{
	event_send(trace, (struct task_event){
				  .type = TASK_MMAP,
				  .tid = trace->process.pid,
				  .name = map->path,
				  .start = map->start,
				  .size = map->size,
				  .offset = map->offset,
				  .inode = map->inode,
				  .device = map->device,
			  });
	map->reported = true;
}

/* Report the mapping that contains an instruction, if it was not reported before. */
static int report_code_mapping(struct traced_program *trace, u64 pc)
{
	struct guest_map *map;
	int r = 0;

	if (trace->stale) {
		r = guest_maps_read(&trace->maps, trace->process.pid,
				    qemu_log_get_base(trace->log));
		/*
		 * Ignore errors other than -ENOMEM: the program has exited, so its maps cannot be
		 * read, and the mappings of the last reading remain.
		 */
		r = r == -ENOMEM ? r : 0;
		trace->stale = false;
		qemu_enlarge_pipe(&trace->process);
	}
	map = guest_maps_find(&trace->maps, pc);
	if (map && !map->reported)
		map_report(trace, map);
	return r;
}

/*
 * Detect system calls that change the mappings or the processes. Return -EOPNOTSUPP if the program
 * tries to create another process, else 0.
 */
static int note_system_call(struct traced_program *trace, const struct a64_registers *registers)
{
	switch (registers->x[8]) {
	case CALL_MMAP:
	case CALL_MPROTECT:
	case CALL_MREMAP:
	case CALL_MUNMAP:
		trace->stale = true;
		return 0;
	case CALL_EXECVE:
	case CALL_EXECVEAT:
		trace->executed = true;
		return 0;
	case CALL_CLONE:
		return registers->x[0] & CLONE_THREAD ? 0 : -EOPNOTSUPP;
	default:
		return 0;
	}
}

static int step_execute(struct traced_program *trace, const struct qemu_step *step)
{
	int r;

	thread_report(trace, step->thread);
	r = report_code_mapping(trace, step->registers.pc);
	if (r < 0)
		return r;
	traced_spu_execute(&trace->spu, step, get_thread_tid(trace, step->thread), trace->sink);
	return step->known && step->word == SVC_0 ? note_system_call(trace, &step->registers) : 0;
}

static int line_execute(struct traced_program *trace, const char *line)
{
	struct qemu_step step;
	int r = qemu_log_read_line(trace->log, line, &step);

	return r > 0 ? step_execute(trace, &step) : r;
}

/*
 * Process each complete line of @buffer. Return the number of remaining bytes, or a negative errno.
 */
static ssize_t lines_execute(struct traced_program *trace, char *buffer, size_t len)
{
	char *line = buffer, *newline;
	int r;

	while ((newline = memchr(line, '\n', len - (size_t)(line - buffer)))) {
		*newline = '\0';
		r = line_execute(trace, line);
		if (r < 0)
			return r;
		line = newline + 1;
	}
	len -= (size_t)(line - buffer);
	/* Drop a line that does not fit: lines about instructions are shorter. */
	if (len >= LINE_MAX_BYTES)
		len = 0;
	memmove(buffer, line, len);
	return (ssize_t)len;
}

static int read_qemu_log(struct traced_program *trace)
{
	char buffer[LINE_MAX_BYTES + 65536];
	size_t len = 0;
	ssize_t n;

	for (;;) {
		n = read(trace->process.log, buffer + len, sizeof(buffer) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		n = lines_execute(trace, buffer, len + (size_t)n);
		if (n < 0)
			return (int)n;
		len = (size_t)n;
	}
}

static void result_fill(const struct traced_program *trace, struct trace_result *result)
{
	struct qemu_log_stats stats;

	qemu_log_get_stats(trace->log, &stats);
	result->instructions = trace->spu.instructions;
	result->samples = trace->spu.driver.spu.stats.written;
	result->threads = trace->threads;
	result->unknown = stats.unknown;
	result->ignored = stats.ignored;
	result->executed = trace->executed;
}

/* Trace a started program until it exits. */
static int trace_process(struct traced_program *trace, const char *path,
			 struct trace_result *ret_result)
{
	const char *slash = strrchr(path, '/');
	int r;

	event_send(trace, (struct task_event){
				  .type = TASK_COMM,
				  .tid = trace->process.pid,
				  .name = slash ? slash + 1 : path,
				  .exec = true,
			  });
	r = read_qemu_log(trace);
	if (r < 0)
		qemu_kill(&trace->process);
	ret_result->status = qemu_finish(&trace->process);
	traced_spu_close(&trace->spu, trace->sink);
	result_fill(trace, ret_result);
	return r == 0 && !ret_result->instructions ? -ENOEXEC : r;
}

int trace_run(char **argv, u32 interval, const struct source_sink *sink,
	      struct trace_result *ret_result)
{
	struct traced_program trace = { .sink = sink, .stale = true };
	struct trace_result result = { 0 };
	/*
	 * Ignore an interrupt from the terminal: the program gets it, too, and the samples until
	 * then are stored.
	 */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	int r;

	r = qemu_log_new(&trace.log);
	if (r == 0)
		r = traced_spu_init(&trace.spu, interval, time_now_ns());
	if (r == 0)
		r = qemu_start(argv, &trace.process);
	if (r == 0)
		r = trace_process(&trace, argv[0], &result);
	guest_maps_clear(&trace.maps);
	traced_spu_deinit(&trace.spu);
	qemu_log_free(trace.log);
	signal(SIGINT, interrupt);
	if (r == 0)
		*ret_result = result;
	return r;
}
