// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source-frames.h"

#include <errno.h>
#include <stdlib.h>

#include "location-reader.h"
#include "util/array.h"

/* Maximum number of frames: 4 for each of 4 million locations */
#define FRAMES_MAX (1U << 24)

void source_frames_clear(struct source_frames *frames)
{
	for (u32 i = 0; i < frames->texts; i++)
		free(frames->text[i]);
	free(frames->text);
	free(frames->frame);
	free(frames->position);
	*frames = (struct source_frames){ .position = NULL };
}

const struct framed_location *source_frames_find(const struct source_frames *frames, u64 offset)
{
	u32 low = 0, high = frames->positions, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (frames->position[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < frames->positions && frames->position[low].offset == offset ?
		       &frames->position[low] :
		       NULL;
}

static void add_frame(struct source_frames *frames, const struct symbol_frame *entry,
		      const char *text)
{
	struct framed_location *position;

	if (!entry->depth)
		frames->position[frames->positions++] = (struct framed_location){
			.offset = entry->address,
			.first = frames->frames,
			.entry = entry->entry,
		};
	/* A location without a name has no frames. */
	if (!entry->name && !entry->depth)
		return;
	position = &frames->position[frames->positions - 1];
	position->count++;
	frames->frame[frames->frames++] = (struct source_frame){
		.name = text + entry->name,
		.start_line = entry->start_line,
		.line = entry->line,
		.discriminator = entry->discriminator,
	};
}

/* Add the entries of a reply, and keep a copy of its text. */
static int add_reply(void *ctx, const struct symbol_reply *reply)
{
	const struct symbol_frame *entry = symbol_reply_get_frames(reply);
	struct source_frames *frames = ctx;
	struct source_frame *grown =
		array_reserve(frames->frame, &frames->capacity, frames->frames + reply->count,
			      sizeof(*grown), FRAMES_MAX);
	char *text = grown ? malloc(reply->text) : NULL;

	if (grown)
		frames->frame = grown;
	if (!text)
		return -ENOMEM;
	memcpy(text, symbol_reply_get_text(reply), reply->text);
	frames->text[frames->texts++] = text;
	for (u32 i = 0; i < reply->count; i++)
		add_frame(frames, &entry[i], text);
	return 0;
}

int source_frames_read(const struct attribute_location *file, const struct symbol_folders *folders,
		       const u64 *offset, u32 count, struct source_frames *ret_frames)
{
	const struct location_request request = {
		.file = file,
		.folders = folders,
		.type = SYMBOL_FRAMES,
		.offset = offset,
		.count = count,
		.add = add_reply,
		.ctx = ret_frames,
	};
	struct symbol_file_content content;

	/* Each reply has one block of texts and at least one position, so @count blocks suffice. */
	*ret_frames = (struct source_frames){
		.position = calloc(count ? count : 1, sizeof(*ret_frames->position)),
		.text = calloc(count ? count : 1, sizeof(*ret_frames->text)),
	};
	if (!ret_frames->position || !ret_frames->text)
		return -ENOMEM;
	return location_reader_run(&request, &content, ret_frames->reason,
				   sizeof(ret_frames->reason));
}
