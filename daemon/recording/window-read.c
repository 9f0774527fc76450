// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A range of a recording as a window. What does not fit in one buffer comes in
 * parts: what the decoder is not through with is carried over to the next.
 */
#include "recording-internal.h"

static_assert(RECORDING_WINDOW > SPE_DECODER_HELD, "each part brings the decoder on");

/* What the sink was not interested in: the walk has to get on all the same. */
static void walk_rest(struct spe_decoder *decoder)
{
	struct spe_sample sample;
	enum spe_decode r;

	do
		r = spe_decoder_next(decoder, &sample, NULL);
	while (r != SPE_DECODE_END && r != SPE_DECODE_MORE);
}

static void window_in_parts(struct recording *recording, u64 offset, u64 size,
			    struct source_window *window, const struct source_sink *sink)
{
	struct spe_decoder *decoder = window->decoder;
	size_t want, got, held = 0;
	bool last;

	do {
		want = size < recording->room - held ? (size_t)size : recording->room - held;
		got = recording_read(recording, offset, recording->window + held, want);
		/* The file has fewer bytes than were asked for, or than it had. */
		last = got < want || got == size || !want;
		offset += got;
		size -= got;
		held += got;

		spe_decoder_part(decoder, recording->window, held, last);
		window->len = held;
		if (held || decoder->base)
			sink->window(sink->ctx, window);
		walk_rest(decoder);
		held -= decoder->pos;
		memmove(recording->window, recording->window + decoder->pos, held);
	} while (!last);
}

void recording_window(struct recording *recording, u64 offset, u64 size,
		      const struct source_window *like, const struct source_sink *sink,
		      struct spe_ledger *ret_ledger)
{
	struct source_window window = *like;
	struct spe_decoder decoder;

	window.data = recording->window;
	if (size <= recording->room && !ret_ledger) {
		window.len = recording_read(recording, offset, recording->window, (size_t)size);
		if (window.len)
			sink->window(sink->ctx, &window);
		return;
	}
	if (offset < recording->size && size > recording->size - offset)
		size = recording->size - offset;
	window.len = 0;
	window.size = size;
	window.decoder = source_window_decoder(&window, &decoder);
	window_in_parts(recording, offset, size, &window, sink);
	if (ret_ledger)
		*ret_ledger = decoder.ledger;
}
