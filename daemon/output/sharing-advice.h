/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Advice about a cache line that several threads share. */
#ifndef SPEPROF_SHARING_ADVICE_H
#define SPEPROF_SHARING_ADVICE_H

#include "profile/cache-lines.h"

/**
 * struct sharing_side - the accesses of one instruction on one CPU to a shared line
 * @offset: offset of its last access in the line, bytes
 * @cpu: number of the CPU
 * @samples: number of accesses
 * @stores: number of stores among them
 * @type: type of the variable; "" if unknown
 * @field: field of the variable, or its name if it has no fields; "" if unknown
 */
struct sharing_side {
	u32 offset;
	u32 cpu;
	u64 samples;
	u64 stores;
	const char *type;
	const char *field;
};

/* Size that holds every advice: two names of 128 bytes each, twice, and the text. */
#define SHARING_ADVICE_SIZE 1024

/**
 * sharing_write_advice() - write how to avoid the cost of a shared line, as one sentence
 * @sharing: how the line is shared
 * @line_size: size of the line, bytes
 * @sides: the accesses, the most frequent first
 * @count: number of @sides
 * @ret_text: the sentence; "" for a private line, or if nothing is known about its accesses
 */
void sharing_write_advice(enum line_sharing sharing, u32 line_size,
			  const struct sharing_side *sides, u32 count,
			  char ret_text[static SHARING_ADVICE_SIZE]);

#endif
