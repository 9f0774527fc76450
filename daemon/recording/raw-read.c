// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Raw recordings: record bytes and nothing else, no length, no magic. What
 * tells one from any other file is that its records parse.
 */
#include "recording-internal.h"

void raw_replay(struct recording *recording, const struct source_sink *sink)
{
	const struct source_window like = {
		.tid = -1,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = BACKEND_UNKNOWN,
	};
	struct spe_ledger ledger;

	recording_window(recording, 0, recording->size, &like, sink, &ledger);
	if (!ledger.records)
		recording_damage(recording, 0,
				 "no SPE record in %llu bytes (%llu of them are not zero and parse "
				 "as none): not a recording, or only a part of a record",
				 (unsigned long long)recording->size,
				 (unsigned long long)ledger.suspect);
	else if (ledger.suspect > ledger.decoded)
		recording_damage(recording, 0,
				 "%llu bytes parse as no SPE record and %llu do: damaged, or not "
				 "a recording",
				 (unsigned long long)ledger.suspect,
				 (unsigned long long)ledger.decoded);
}
