// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Delivers a range of a recording as a window. A range larger than the buffer is delivered in
 * chunks; bytes that the decoder has not consumed are moved to the beginning of the next chunk.
 */
#include "window-queue.h"

static_assert(RECORDING_CHUNK_SIZE > SPE_DECODER_HELD, "the decoder consumes bytes of every chunk");

/*
 * Decode the records that the sink skipped, because the next chunk begins at the position of the
 * decoder.
 */
static void decode_rest(struct spe_decoder *decoder)
{
	struct spe_sample sample;
	enum spe_decode_result r;

	do
		r = spe_decoder_next(decoder, &sample, NULL);
	while (r != SPE_DECODE_END && r != SPE_DECODE_MORE);
}

static void emit_chunks(struct window_reader *reader, u64 offset, u64 size,
			struct source_window *window)
{
	const struct source_sink *sink = reader->sink;
	struct spe_decoder *decoder = window->decoder;
	size_t want, got, held = 0;
	bool last;

	do {
		want = size < reader->size - held ? (size_t)size : reader->size - held;
		got = recording_read(reader->recording, offset, reader->buf + held, want);
		/*
		 * If the file has become shorter since it was opened, this chunk is the last one.
		 */
		last = got < want || got == size || !want;
		offset += got;
		size -= got;
		held += got;

		spe_decoder_set_chunk(decoder, reader->buf, held, last);
		window->len = held;
		if (held || decoder->base)
			sink->window(sink->ctx, window);
		decode_rest(decoder);
		held -= decoder->pos;
		memmove(reader->buf, reader->buf + decoder->pos, held);
	} while (!last);
}

void window_reader_emit(struct window_reader *reader, u64 offset, u64 size,
			const struct source_window *like, struct spe_ledger *ret_ledger)
{
	const struct recording *recording = reader->recording;
	const struct source_sink *sink = reader->sink;
	struct source_window window = *like;
	struct spe_decoder decoder;

	window.data = reader->buf;
	if (size <= reader->size && !ret_ledger) {
		window.len = recording_read(reader->recording, offset, reader->buf, (size_t)size);
		if (window.len)
			sink->window(sink->ctx, &window);
		return;
	}
	if (offset < recording->size && size > recording->size - offset)
		size = recording->size - offset;
	window.len = 0;
	window.size = size;
	window.decoder = source_window_get_decoder(&window, &decoder);
	emit_chunks(reader, offset, size, &window);
	if (ret_ledger)
		*ret_ledger = decoder.ledger;
}

void recording_emit_window(struct recording *recording, u64 offset, u64 size,
			   const struct source_window *like)
{
	if (recording->queue)
		window_queue_add(recording->queue, offset, size, like);
	else
		window_reader_emit(&recording->reader, offset, size, like, NULL);
}
