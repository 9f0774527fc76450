/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording as its formats see it: a file read by offset through one buffer,
 * the first damage met, and ranges of it streamed as windows.
 */
#ifndef SPEPROF_RECORDING_INTERNAL_H
#define SPEPROF_RECORDING_INTERNAL_H

#include "recording.h"

/* A longer window comes in parts of so many bytes. */
#define RECORDING_WINDOW (1U << 20)

/**
 * struct recording - an open recording
 * @fd: a regular file, or the unnamed one that a pipe was copied to
 * @size: of the file when it was opened; it may have shrunk since
 * @damage: the first damage of this replay
 * @damaged: whether @damage is valid
 * @absence: why this recording has no SPE data
 * @without_spe: whether @absence is valid
 * @window, @room: a buffer for windows and its size, up to RECORDING_WINDOW
 * @peek, @peek_at, @peek_len: the bytes of recording_peek(), where they are from
 */
struct recording {
	int fd;
	enum recording_format format;
	u64 size;
	struct recording_error damage;
	bool damaged;
	struct recording_error absence;
	bool without_spe;
	u8 *window;
	size_t room;
	u8 *peek;
	u64 peek_at;
	size_t peek_len;
};

/** recording_fill_error() - say what is wrong in @ret_error, which may be NULL */
void recording_fill_error(struct recording_error *ret_error, u64 offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** recording_damage() - note damage of @recording; the first one stays */
void recording_damage(struct recording *recording, u64 offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * recording_read() - @len bytes from @offset, fewer at the file's end
 *
 * Return: the bytes read; a read error is noted as damage and ends the file.
 */
size_t recording_read(struct recording *recording, u64 offset, u8 *buf, size_t len);

/* The most that recording_peek() shows at once. */
#define RECORDING_PEEK (128U << 10)

/**
 * recording_peek() - bytes of the file without a copy
 * @len: how many are wanted, at most RECORDING_PEEK
 * @ret_len: how many are there, at most @len
 *
 * Return: the bytes, valid until the next call.
 */
const u8 *recording_peek(struct recording *recording, u64 offset, size_t len, size_t *ret_len);

/**
 * recording_window() - hand @size bytes from @offset to @sink as a window
 * @like: what is known of it
 * @ret_ledger: what its bytes came to; NULL if it is not wanted
 *
 * A window of more than RECORDING_WINDOW bytes comes in parts, and so does each whose
 * ledger is wanted.
 */
void recording_window(struct recording *recording, u64 offset, u64 size,
		      const struct source_window *like, const struct source_sink *sink,
		      struct spe_ledger *ret_ledger);

/** raw_replay() - the whole file is records */
void raw_replay(struct recording *recording, const struct source_sink *sink);

/** perfdata_replay() - the file is a perf.data */
void perfdata_replay(struct recording *recording, const struct source_sink *sink);

/** native_replay() - the file is speprof's own recording */
void native_replay(struct recording *recording, const struct source_sink *sink);

/** native_is_magic() - whether speprof's own recording begins with these 8 bytes */
bool native_is_magic(const u8 *buf);

/** perfdata_is_magic() - whether a perf.data begins with these 8 bytes */
bool perfdata_is_magic(const u8 *buf);

#endif
