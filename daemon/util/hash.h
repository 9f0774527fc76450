/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hash functions: FNV-1a, which is fast, and SipHash, for which an attacker without the key cannot
 * make collisions.
 */
#ifndef SPEPROF_HASH_H
#define SPEPROF_HASH_H

#include "codec/env.h"

/* Initial value of a hash that hash_add_byte() computes. */
#define HASH_START 0xcbf29ce484222325ULL

/** hash_add_byte() - return the FNV-1a hash of the bytes hashed so far, @hash, and of @byte */
static inline u64 hash_add_byte(u64 hash, u8 byte)
{
	return (hash ^ byte) * 0x100000001b3ULL;
}

/** hash_bytes() - return the 64-bit FNV-1a hash of @size bytes */
static inline u64 hash_bytes(const void *bytes, size_t size)
{
	const u8 *p = bytes;
	u64 hash = HASH_START;

	for (size_t i = 0; i < size; i++)
		hash = hash_add_byte(hash, p[i]);
	return hash;
}

/** hash_string() - return the 64-bit FNV-1a hash of a string, without its NUL */
static inline u64 hash_string(const char *string)
{
	return hash_bytes(string, strlen(string));
}

/**
 * siphash() - return the SipHash-2-4 (Aumasson, Bernstein 2012) of the @len bytes at @data
 * @key: a random secret; an attacker that does not have it cannot choose data with equal hashes
 */
u64 siphash(const u64 key[static 2], const void *data, size_t len);

#endif
