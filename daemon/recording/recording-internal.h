/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the readers of all formats share: access to the file by offset, the first damage,
 * and delivery of ranges of the file as windows. One thread uses a recording.
 */
#ifndef SPEPROF_RECORDING_INTERNAL_H
#define SPEPROF_RECORDING_INTERNAL_H

#include "recording.h"

/* number of bytes of the chunks in which a larger window is delivered */
#define RECORDING_CHUNK (1U << 20)

/**
 * struct recording - an open recording
 * @fd: a regular file; for a pipe an unnamed temporary file with its content
 * @size: size of the file when it was opened, bytes; it may have shrunk since
 * @damage: the first damage found by this replay
 * @damaged: @damage is valid
 * @no_spe_reason: why this recording has no SPE data
 * @without_spe: @no_spe_reason is valid
 * @window: buffer for windows, which the sink reads
 * @window_size: size of @window, bytes: that of the file, at most RECORDING_CHUNK
 * @peek: buffer of recording_peek(), RECORDING_PEEK bytes
 * @peek_offset, @peek_len: the range of the file that is in @peek
 * @functions: functions of the recorded kernel, which this replay found
 */
struct recording {
	int fd;
	enum recording_format format;
	u64 size;
	struct recording_error damage;
	bool damaged;
	struct recording_error no_spe_reason;
	bool without_spe;
	u8 *window;
	size_t window_size;
	u8 *peek;
	u64 peek_offset;
	size_t peek_len;
	struct symtab functions;
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
 * @format: as of printf(): the field, its value, and what would be valid
 *
 * Only the first damage of a replay is stored; later damage often follows from it.
 */
void recording_set_damage(struct recording *recording, u64 offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * recording_read() - read bytes of the file
 * @offset: offset of the first byte
 * @buf: receives the bytes
 * @len: number of bytes to read
 *
 * A read error is reported as damage, and treated as the end of the file.
 *
 * Return: number of bytes read; less than @len at the end of the file.
 */
size_t recording_read(struct recording *recording, u64 offset, u8 *buf, size_t len);

/* Maximum length of recording_peek(), bytes. */
#define RECORDING_PEEK (128U << 10)

/**
 * recording_peek() - get a pointer to bytes of the file in a buffer
 * @offset: offset of the first byte
 * @len: number of bytes to get, at most RECORDING_PEEK
 * @ret_len: receives the number of bytes that the file has there, at most @len
 *
 * Return: the bytes, valid until the next call.
 */
const u8 *recording_peek(struct recording *recording, u64 offset, size_t len, size_t *ret_len);

/**
 * recording_emit_window() - pass a range of the file to a sink as a window
 * @offset, @size: the range, bytes
 * @like: the fields of the window, without its bytes
 * @sink: receives the window
 * @ret_ledger: receives what the bytes were decoded as; NULL to ignore it
 *
 * A window of more than RECORDING_CHUNK bytes is passed in chunks that share one decoder.
 * If @ret_ledger is set, every window is, since its ledger comes from that decoder.
 */
void recording_emit_window(struct recording *recording, u64 offset, u64 size,
			   const struct source_window *like, const struct source_sink *sink,
			   struct spe_ledger *ret_ledger);

/** perfdata_replay() - pass the tasks and windows of a perf.data to @sink */
void perfdata_replay(struct recording *recording, const struct source_sink *sink);

/** native_replay() - pass the tasks and windows of a recording in speprof's format to @sink */
void native_replay(struct recording *recording, const struct source_sink *sink);

/** native_is_magic() - return whether @buf, 8 bytes, begins a recording in speprof's own format */
bool native_is_magic(const u8 *buf);

/** perfdata_is_magic() - return whether @buf, 8 bytes, begins a perf.data */
bool perfdata_is_magic(const u8 *buf);

#endif
