/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FNV-1a with 64 bits, for keys that no user can choose; siphash.h is for all other keys. */
#ifndef SPEPROF_HASH_H
#define SPEPROF_HASH_H

#include "codec/env.h"

#define HASH_START 0xcbf29ce484222325ULL

/** hash_add_byte() - @hash, which begins as HASH_START, continued by @byte */
static inline u64 hash_add_byte(u64 hash, u8 byte)
{
	return (hash ^ byte) * 0x100000001b3ULL;
}

/** hash_bytes() - hash of @size bytes */
static inline u64 hash_bytes(const void *bytes, size_t size)
{
	const u8 *p = bytes;
	u64 hash = HASH_START;

	for (size_t i = 0; i < size; i++)
		hash = hash_add_byte(hash, p[i]);
	return hash;
}

/** hash_string() - hash of a string, without its NUL */
static inline u64 hash_string(const char *string)
{
	u64 hash = HASH_START;

	for (; *string; string++)
		hash = hash_add_byte(hash, (u8)*string);
	return hash;
}

#endif
