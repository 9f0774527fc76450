// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A range of a recording as windows. What does not fit in one buffer is cut
 * where a record begins; the rest is carried over to the next.
 */
#include "recording-file.h"

#include "layout.h"

/* Without a record to cut at: where in the file those of every alignment may begin. */
#define BLIND_CUT 4096

struct cut {
	struct recording_ledger ledger; /* up to @pos */
	size_t pos;
};

/*
 * The last place of @buf where a record surely begins. Not among the records
 * that follow damage at once: where decoding goes on after it was decided with
 * the bytes behind them at hand.
 */
static struct cut find_cut(const u8 *buf, size_t len, struct spe_ledger *ret_all)
{
	struct spe_decoder decoder;
	struct spe_sample sample;
	struct spe_layouts layouts = { .count = 0 };
	struct cut cut = { .pos = 0 };
	unsigned int clean = SPE_RESYNC_RECORDS;
	enum spe_decode r;

	spe_decoder_init(&decoder, NULL, buf, len);
	while ((r = spe_decoder_next_fast(&decoder, &layouts, &sample, NULL)) != SPE_DECODE_END) {
		if (r == SPE_DECODE_SUSPECT) {
			clean = 0;
			continue;
		}
		if (++clean <= SPE_RESYNC_RECORDS)
			continue;
		cut.pos = decoder.pos - sample.size;
		cut.ledger = (struct recording_ledger){
			.records = decoder.ledger.records - 1,
			.decoded = decoder.ledger.decoded - sample.size,
			.suspect = decoder.ledger.suspect,
		};
	}
	*ret_all = decoder.ledger;
	return cut;
}

static void add_ledger(struct recording_ledger *sum, const struct recording_ledger *more)
{
	sum->records += more->records;
	sum->decoded += more->decoded;
	sum->suspect += more->suspect;
}

/* How many of the @len bytes of the buffer, which end at @end, to hand over now. */
static size_t cut_window(const u8 *buf, size_t len, u64 end, bool last,
			 struct recording_ledger *ret_ledger)
{
	struct spe_ledger all;
	struct cut cut = find_cut(buf, len, &all);

	if (!last && cut.pos >= len / 2) {
		add_ledger(ret_ledger, &cut.ledger);
		return cut.pos;
	}
	add_ledger(ret_ledger, &(struct recording_ledger){
				       .records = all.records,
				       .decoded = all.decoded,
				       .suspect = all.suspect,
			       });
	return last ? len : len - (size_t)(end % BLIND_CUT);
}

void recording_windows(struct recording *recording, u64 offset, u64 size,
		       const struct source_window *like, const struct source_sink *sink,
		       struct recording_ledger *ret_ledger)
{
	struct recording_ledger ledger = { 0 };
	struct source_window window = *like;
	size_t held = 0, want, got, give;
	bool last;

	do {
		want = size < recording->room - held ? (size_t)size : recording->room - held;
		got = recording_read(recording, offset, recording->window + held, want);
		last = got < want || got == size;
		offset += got;
		size -= got;
		held += got;

		give = held;
		if (ret_ledger || !last)
			give = cut_window(recording->window, held, offset, last, &ledger);
		if (give) {
			window.data = recording->window;
			window.len = give;
			window.flags = last ? like->flags : 0;
			sink->window(sink->ctx, &window);
			window.lost_bytes = 0;
			window.blind_ns = 0;
		}
		held -= give;
		memmove(recording->window, recording->window + give, held);
	} while (!last);
	if (ret_ledger)
		*ret_ledger = ledger;
}
