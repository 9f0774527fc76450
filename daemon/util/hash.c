// SPDX-License-Identifier: LGPL-2.1-or-later
#include "hash.h"

static u64 rotate_left(u64 x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void sip_rounds(u64 v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate_left(v[1], 13) ^ v[0];
		v[3] = rotate_left(v[3], 16) ^ v[2];
		v[0] = rotate_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate_left(v[1], 17) ^ v[2];
		v[3] = rotate_left(v[3], 21) ^ v[0];
		v[2] = rotate_left(v[2], 32);
	}
}

static void sip_add_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

u64 siphash(const u64 key[static 2], const void *data, size_t len)
{
	u64 v[4] = { key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
		     key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL };
	const u8 *at = data;
	u64 word = 0;

	for (size_t i = 0; i < len; i++) {
		word |= (u64)at[i] << 8 * (i % 8);
		if (i % 8 != 7)
			continue;
		sip_add_word(v, word);
		word = 0;
	}
	sip_add_word(v, word | (u64)len << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
