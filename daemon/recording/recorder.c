// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder-internal.h"
#include "tasks/task-event.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes that are collected before they are written to the file. */
#define FILE_BUFFER_SIZE (256U << 10)

void recorder_fail(struct recorder *recorder, int error)
{
	if (!recorder->error)
		recorder->error = error;
}

void recorder_write(struct recorder *recorder, const void *bytes, size_t len)
{
	if (recorder->error || !len)
		return;
	if (fwrite(bytes, 1, len, recorder->file) != len)
		recorder_fail(recorder, errno ? -errno : -EIO);
	recorder->pos += len;
}

void recorder_pad(struct recorder *recorder, u32 align)
{
	static const u8 zeros[64];

	recorder_write(recorder, zeros, (size_t)(-recorder->pos & (align - 1)));
}

/*
 * Return true if @window would change a ledger. Other windows have no content and are not recorded.
 */
static bool window_has_content(const struct source_window *window)
{
	return window->len || window->blind_ns || window->lost_bytes || window->armed_ns ||
	       window->end_ns != window->start_ns || window->flags & ~WINDOW_PARTIAL;
}

static void recorder_on_window(void *ctx, const struct source_window *window)
{
	struct recorder *recorder = ctx;

	if (!window_has_content(window))
		return;
	recorder->bytes += window->len;
	if (recorder->config.format == RECORDER_PERF)
		perfdata_write_window(recorder, window);
	else
		native_write_window(recorder, window);
}

static void recorder_on_task(void *ctx, const struct task_event *event)
{
	struct recorder *recorder = ctx;

	if (recorder->config.format == RECORDER_PERF)
		perfdata_write_task(recorder, event);
	else
		native_write_task(recorder, event);
}

struct source_sink recorder_make_sink(struct recorder *recorder)
{
	return (struct source_sink){ .window = recorder_on_window,
				     .task = recorder_on_task,
				     .ctx = recorder };
}

int recorder_get_error(const struct recorder *recorder)
{
	return recorder->error;
}

u64 recorder_get_bytes(const struct recorder *recorder)
{
	return recorder->bytes;
}

u64 recorder_get_omitted_bytes(const struct recorder *recorder)
{
	return recorder->omitted;
}

static int recorder_open_stream(struct recorder *recorder, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* never a standard stream */
	int r;

	if (copy < 0)
		return -errno;
	recorder->file = fdopen(copy, "w");
	if (!recorder->file) {
		r = -errno;
		close(copy);
		return r;
	}
	setvbuf(recorder->file, NULL, _IOFBF, FILE_BUFFER_SIZE);
	return 0;
}

int recorder_new(int fd, const struct recorder_config *config, struct recorder **ret_recorder)
{
	struct recorder *recorder;
	int r;

	if (config->format == RECORDER_PERF && lseek(fd, 0, SEEK_CUR) < 0)
		return -errno;
	recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return -ENOMEM;
	recorder->config = *config;
	recorder->command = strdup(config->command ? config->command : "");
	r = recorder->command ? recorder_open_stream(recorder, fd) : -ENOMEM;
	if (r < 0) {
		recorder_free(recorder);
		return r;
	}
	if (config->format == RECORDER_PERF)
		perfdata_write_begin(recorder);
	else
		native_write_begin(recorder);
	*ret_recorder = recorder;
	return 0;
}

void recorder_write_functions(struct recorder *recorder, const struct symtab *functions)
{
	if (recorder->config.format == RECORDER_NATIVE)
		native_write_functions(recorder, functions);
}

int recorder_flush(struct recorder *recorder)
{
	if (fflush(recorder->file))
		recorder_fail(recorder, errno ? -errno : -EIO);
	return recorder->error;
}

int recorder_finish(struct recorder *recorder)
{
	if (recorder->config.format == RECORDER_PERF)
		perfdata_write_end(recorder);
	return recorder_flush(recorder);
}

struct recorder *recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return NULL;
	if (recorder->file)
		fclose(recorder->file);
	free(recorder->command);
	free(recorder->index);
	free(recorder->cores);
	recorder_free_build_ids(recorder);
	free(recorder);
	return NULL;
}
