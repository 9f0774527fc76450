/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets of a recording as text, a line each: offset, bytes, meaning. The
 * words are those of perf report -D where it has some. Behind the packets of a load or
 * store, a line without bytes says what served it.
 */
#ifndef SPEPROF_DUMP_H
#define SPEPROF_DUMP_H

#include <stdio.h>

#include "codec/packet.h"
#include "recording/recording.h"

/**
 * dump_recording() - print every packet of @recording, suspect ranges too
 * @midr: MIDR_EL1 for windows that do not say which core took them; 0 for none
 * @out: where to; what fails there its owner asks by ferror()
 * @ret_error: as of recording_replay()
 *
 * Offsets count the record bytes of the whole recording.
 *
 * Return: as recording_replay().
 */
int dump_recording(struct recording *recording, u64 midr, FILE *out,
		   struct recording_error *ret_error);

#define DUMP_MEANING_MAX 256

/**
 * dump_packet_meaning() - what @packet says, as words (D18.2)
 * @ret_text: DUMP_MEANING_MAX bytes; what the text reserves comes as such
 */
void dump_packet_meaning(const struct spe_packet *packet, char *ret_text);

#endif
