/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Print the packets of a recording as text, one line each: offset, bytes, meaning. The words are
 * those of "perf report -D" if it has words for the packet. After the packets of a load or store, a
 * line without bytes names the level that served it.
 */
#ifndef SPEPROF_DUMP_H
#define SPEPROF_DUMP_H

#include <stdio.h>

#include "codec/packet.h"
#include "recording/recording.h"

/**
 * dump_recording() - print every packet of a recording, and suspect bytes
 * @recording: opened by recording_open()
 * @midr: MIDR_EL1 for windows without the MIDR_EL1 of their core; 0: unknown
 * @out: file to print to; the caller checks it by ferror()
 * @ret_error: as for recording_replay()
 *
 * Printed offsets count the record bytes of all windows from the start of the recording.
 *
 * Return: as recording_replay().
 */
int dump_recording(struct recording *recording, u64 midr, FILE *out,
		   struct recording_error *ret_error);

/* bytes of the text of one packet, including its NUL */
#define DUMP_MEANING_MAX 256

/**
 * dump_format_packet() - describe a packet in words (D18.2)
 * @packet: packet of any type, including reserved ones
 * @ret_text: DUMP_MEANING_MAX bytes; reserved values are printed as numbers
 */
void dump_format_packet(const struct spe_packet *packet, char *ret_text);

#endif
