/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the readers of all formats share: access to the file by offset, the first damage,
 * and delivery of ranges of the file as windows. One thread uses a recording.
 */
#ifndef SPEPROF_RECORDING_INTERNAL_H
#define SPEPROF_RECORDING_INTERNAL_H

#include "recording.h"

#include <pthread.h>

/* Size of the chunks in which a larger window is delivered, bytes. */
#define RECORDING_CHUNK_SIZE (1U << 20)

/**
 * struct window_reader - reads the bytes of windows, for one thread
 * @recording: the recording
 * @buf: buffer for windows, which the sink reads
 * @size: size of @buf, bytes: the size of the file, at most RECORDING_CHUNK_SIZE
 * @sink: receives the windows
 */
struct window_reader {
	struct recording *recording;
	u8 *buf;
	size_t size;
	const struct source_sink *sink;
};

struct window_queue;

/**
 * struct recording - an open recording
 * @fd: a regular file; for a pipe, an unnamed temporary file with the content of the pipe
 * @size: size of the file when it was opened, bytes. The file may have become smaller since then
 * @lock: protects @damage and @damaged
 * @damage: the first damage found by this replay
 * @damaged: @damage is valid
 * @no_spe_reason: why this recording has no SPE data
 * @without_spe: @no_spe_reason is valid
 * @threads: the threads of this replay
 * @begin_error: result of &recording_threads.begin
 * @reader: reads windows for the caller's thread
 * @queue: passes windows to the other threads; NULL without other threads
 * @peek: buffer of recording_peek(), RECORDING_PEEK_MAX bytes
 * @peek_offset, @peek_len: the range of the file that is in @peek
 * @peek_ends: the file has no bytes after those in @peek
 * @functions: functions of the recorded kernel that this replay has read
 * @facts: facts about the creation of the recording that this replay has read
 */
struct recording {
	int fd;
	enum recording_format format;
	u64 size;
	pthread_mutex_t lock;
	struct recording_error damage;
	bool damaged;
	struct recording_error no_spe_reason;
	bool without_spe;
	const struct recording_threads *threads;
	int begin_error;
	struct window_reader reader;
	struct window_queue *queue;
	u8 *peek;
	u64 peek_offset;
	size_t peek_len;
	bool peek_ends;
	struct symtab functions;
	struct recording_facts facts;
};

/**
 * recording_set_error() - describe an error
 * @ret_error: receives the description; NULL to ignore it
 * @error: negative errno
 * @offset: byte offset in the file, or RECORDING_NO_OFFSET
 * @format: as of printf()
 *
 * Return: @error.
 */
int recording_set_error(struct recording_error *ret_error, int error, u64 offset,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/**
 * recording_set_damage() - report that a field of the file is invalid, or that bytes are missing
 * @offset: byte offset of the field
 * @format: as for printf(): the field, its value, and the valid values
 *
 * Only the first damage of a replay is stored, because it often causes the damage that is found
 * later. Any thread may call the function.
 */
void recording_set_damage(struct recording *recording, u64 offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * recording_read() - read bytes of the file
 * @offset: offset of the first byte
 * @buf: receives the bytes
 * @len: number of bytes to read
 *
 * A read error is reported as damage, and treated as the end of the file. Any thread may call the
 * function.
 *
 * Return: number of bytes read; less than @len at the end of the file.
 */
size_t recording_read(struct recording *recording, u64 offset, u8 *buf, size_t len);

/* Maximum length of recording_peek(), bytes. */
#define RECORDING_PEEK_MAX (128U << 10)

/**
 * recording_peek() - get a pointer to bytes of the file in a buffer
 * @offset: offset of the first byte
 * @len: number of bytes to get, at most RECORDING_PEEK_MAX
 * @ret_len: receives the number of bytes that the file has there, at most @len
 *
 * Return: the bytes, valid until the next call of this function.
 */
const u8 *recording_peek(struct recording *recording, u64 offset, size_t len, size_t *ret_len);

/**
 * window_reader_emit() - pass a range of the file to the sink of a reader as a window
 * @reader: the reader
 * @offset, @size: the range, bytes
 * @like: the fields of the window, without its bytes
 * @ret_ledger: receives the ledger of the decoded bytes; NULL to ignore it
 *
 * A window that is larger than &window_reader.size is passed in chunks that share one decoder. If
 * @ret_ledger is not NULL, a smaller window also has a decoder, because the decoder computes the
 * ledger.
 */
void window_reader_emit(struct window_reader *reader, u64 offset, u64 size,
			const struct source_window *like, struct spe_ledger *ret_ledger);

/**
 * recording_emit_window() - pass a range of the file as a window to the sink of one of the threads
 * @offset, @size: the range, bytes
 * @like: the fields of the window, without its bytes
 */
void recording_emit_window(struct recording *recording, u64 offset, u64 size,
			   const struct source_window *like);

/**
 * recording_begin_windows() - start the other threads; call it after the last task event
 *
 * Return: false if the replay has to end because &recording_threads.begin failed.
 */
bool recording_begin_windows(struct recording *recording);

/** recording_report_progress() - report the number of bytes of the file that this pass has read */
static inline void recording_report_progress(const struct recording *recording, u64 done)
{
	const struct recording_threads *threads = recording->threads;

	if (threads->progress)
		threads->progress(threads->ctx, done, recording->size);
}

/** perfdata_replay() - pass the tasks and windows of a perf.data to @sink */
void perfdata_replay(struct recording *recording, const struct source_sink *sink);

/** native_replay() - pass the tasks and windows of a recording in speprof's format to @sink */
void native_replay(struct recording *recording, const struct source_sink *sink);

/** native_has_magic() - return true if @buf, 8 bytes, begins a recording in speprof's own format */
bool native_has_magic(const u8 *buf);

/** perfdata_has_magic() - return true if @buf, 8 bytes, begins a perf.data */
bool perfdata_has_magic(const u8 *buf);

/**
 * recording_facts_add_memory() - set the node of physical addresses
 * @facts: the facts
 * @node: number of the node, below NODES_MAX
 * @start, @end: the addresses; @end is not included
 *
 * Return: whether the range was added: false if a value is invalid, if the range overlaps another
 * one, or if there are RECORDING_RANGES_MAX ranges.
 */
bool recording_facts_add_memory(struct recording_facts *facts, u32 node, u64 start, u64 end);

/**
 * recording_facts_add_node() - set the node of CPUs
 * @facts: the facts
 * @node: number of the node; a node above 254 stays unknown
 * @cpus: list of its CPUs, such as "0-3,8". An invalid list is ignored
 */
void recording_facts_add_node(struct recording_facts *facts, u32 node, const char *cpus);

#endif
