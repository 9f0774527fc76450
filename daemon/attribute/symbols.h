/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols: a place in a binary to a function's name. Outside the sampling path;
 * binaries are hostile: a bad one costs its names, nothing else.
 */
#ifndef SPEPROF_SYMBOLS_H
#define SPEPROF_SYMBOLS_H

#include "attribute.h"

struct symbols;

/** symbols_new() - @budget: bytes of the cache; 0 for the default (16 MiB) */
int symbols_new(u64 budget, struct symbols **ret_symbols);
struct symbols *symbols_free(struct symbols *symbols);

/**
 * symbols_function() - the function at @place
 * @pid: a process that has the binary mapped, for binaries in another root
 *	(/proc/PID/root); 0 if none lives
 * @place: from attributor_place()
 * @live: whether kernel addresses and /proc are this machine's
 * @name: receives "name", or "binary+0xoffset" where there is no symbol,
 *	escaped; always NUL-terminated
 * @size: bytes of @name
 *
 * Return: whether a symbol was found.
 */
bool symbols_function(struct symbols *symbols, s32 pid, const struct attribute_place *place,
		      bool live, char *name, size_t size);

/**
 * symbols_build_id() - the build id of a file that is mapped now
 * @pid: a process that has it mapped
 * @place: its path, and the inode it must have
 * @ret_id: BUILD_ID_MAX bytes
 *
 * Return: bytes of it, 0 if it has none or cannot be read.
 */
u8 symbols_build_id(s32 pid, const struct attribute_place *place, u8 *ret_id);

#endif
