/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the source positions of locations as compilers name them: nested functions, lines and
 * discriminators. source_frames_read() blocks; it starts two helper processes, and stops them before
 * it returns. Only commands use it; the daemon does not.
 */
#ifndef SPEPROF_SOURCE_FRAMES_H
#define SPEPROF_SOURCE_FRAMES_H

#include "attribution/attributor.h"
#include "symbol-folders.h"

/**
 * struct source_frame - a function at a location
 * @name: linkage name, untrusted; "" if unknown
 * @start_line: line at which the function is declared; 0 if unknown
 * @line: line of the code, or of the call of the next frame; 0 if unknown
 * @discriminator: DWARF discriminator of @line
 */
struct source_frame {
	const char *name;
	u32 start_line;
	u32 line;
	u32 discriminator;
};

/**
 * struct framed_location - the frames of a location
 * @offset: the location: an offset in the file
 * @first, @count: frames in &source_frames.frame, the outermost first; 0 if they are unknown
 * @entry: the outermost function begins at the location
 */
struct framed_location {
	u64 offset;
	u32 first;
	u32 count;
	bool entry;
};

/**
 * struct source_frames - the frames of locations of a file; all zeros: none
 * @position: @positions locations in the order of their offsets
 * @frame: @frames frames, with memory for @capacity
 * @text: memory of @texts strings, to which @frame refers
 * @reason: a sentence that explains why the file was not read; "" if it was read
 */
struct source_frames {
	struct framed_location *position;
	u32 positions;
	struct source_frame *frame;
	u32 frames;
	u32 capacity;
	char **text;
	u32 texts;
	char reason[192];
};

/**
 * source_frames_read() - find the frames of locations of a file
 * @file: path and build id of the file; a file with another build id is not read
 * @folders: where the file is searched
 * @offset, @count: offsets in the file, in ascending order without duplicates
 * @ret_frames: a position for each offset; free it with source_frames_clear(), also on failure
 *
 * Separate debug files are not used.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; another negative errno if the file was not
 * read: &source_frames.reason has the reason.
 */
int source_frames_read(const struct attribute_location *file, const struct symbol_folders *folders,
		       const u64 *offset, u32 count, struct source_frames *ret_frames);

/** source_frames_find() - return the position of an offset; NULL if it was not requested */
const struct framed_location *source_frames_find(const struct source_frames *frames, u64 offset);

/** source_frames_clear() - free the frames */
void source_frames_clear(struct source_frames *frames);

#endif
