/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SPE_CORE_ZEROS_H
#define SPE_CORE_ZEROS_H

#include "env.h"

/* Count the zero bytes at the beginning of @buf, which are padding in or between records. */
static inline size_t spe_count_zeros(const u8 *buf, size_t len)
{
	size_t n = 0;
	u64 word;

	while (len - n >= sizeof(word)) {
		memcpy(&word, buf + n, sizeof(word));
		if (word)
			break;
		n += sizeof(word);
	}
	while (n < len && !buf[n])
		n++;
	return n;
}

#endif
