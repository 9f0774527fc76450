/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols: finds function name and source line of a location in a binary. The sampling path does
 * not use it. A sandboxed helper reads the binaries (Documentation/explanation/symbols.md). A
 * query returns what is known so far and requests the rest from the helper.
 */
#ifndef SPEPROF_SYMBOLS_H
#define SPEPROF_SYMBOLS_H

#include "attribution/attributor.h"

struct symbols;

/**
 * struct symbols_config - the configuration; all zeros are the daemon's defaults
 * @budget: limit of the cache, bytes; 0 for the default (16 MiB)
 * @helper: path of the helper; NULL for the installed one
 * @idle: run the helper with idle priority
 * @wait_ms: timeout of symbols_wait_default(), ms
 * @open_ms: timeout for opening a file, ms; 0 for the default (10 s)
 */
struct symbols_config {
	u64 budget;
	const char *helper;
	bool idle;
	u32 wait_ms;
	u32 open_ms;
};

/**
 * struct symbols_stats - statistics of the symbols
 * @pending: locations that are being resolved
 * @evicted: files whose names were evicted from the cache
 * @failures: helpers that exited, timed out or sent invalid replies
 * @poisoned: files and mappings that made a helper exit, and are rejected for an hour
 * @memory: bytes of the cache
 * @reason: why names are missing; "" if nothing is wrong
 */
struct symbols_stats {
	u64 pending;
	u64 evicted;
	u64 failures;
	u64 poisoned;
	u64 memory;
	char reason[192];
};

/** symbols_new() - allocate a resolver; free it with symbols_free(); returns 0 or negative errno */
int symbols_new(const struct symbols_config *config, struct symbols **ret_symbols);

/** symbols_free() - stop the helper and free @symbols, which may be NULL; returns NULL */
struct symbols *symbols_free(struct symbols *symbols);

/**
 * symbols_address_is_public() - return whether readers of aggregates may see the offset of
 * @location
 *
 * False for the running kernel: its offset is an address, which would reveal KASLR.
 */
bool symbols_address_is_public(const struct attribute_location *location, bool live);

/**
 * symbols_name_unmapped() - write the name of a function in no known mapping to @name
 *
 * The name includes the address only for recordings (@live is false).
 */
void symbols_name_unmapped(u64 pc, bool live, char *name, size_t size);

/**
 * symbols_function() - get the name of the function at @location
 * @symbols: the resolver; NULL: no symbol is known
 * @pid: a process that maps the binary, for binaries in another root (/proc/PID/root); 0 without
 *	one
 * @location: from attributor_locate()
 * @live: kernel addresses and /proc belong to this machine
 * @name: receives "name", or "binary+0xoffset" without a symbol; for this machine's kernel just
 *	"[kernel]" (symbols_address_is_public()). It is escaped and always NUL-terminated
 * @size: size of @name, bytes
 *
 * Return: whether a symbol was found. If not, it may be known later: symbols_wait_default().
 */
bool symbols_function(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		      bool live, char *name, size_t size);

/**
 * symbols_key() - get a number that identifies the function at @location, to group locations
 * @ret_key: equal for all locations of one binary in the same function; valid until the next
 *	query of another binary
 *
 * Return: whether a symbol was found.
 */
bool symbols_key(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		 bool live, u64 *ret_key);

/** symbols_line() - the same for the source line of a location; 0 if unknown */
bool symbols_line(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		  bool live, u64 *ret_key);

/**
 * struct symbol_source - the source position of a location
 * @file: escaped; "" if unknown
 * @inlines: functions that are inlined there, innermost first, escaped, separated by newlines
 * @line: line number, from 1; 0 if unknown
 */
struct symbol_source {
	char file[256];
	char inlines[512];
	u32 line;
};

/** symbols_source() - get the source line of @location; returns false if it is not known (yet) */
bool symbols_source(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		    bool live, struct symbol_source *ret_source);

/**
 * symbols_wait_default() - wait for pending queries, at most symbols_config.wait_ms
 *
 * Return: whether more may be known than before.
 */
bool symbols_wait_default(struct symbols *symbols);

/** symbols_wait() - wait for pending queries, at most @ms ms */
void symbols_wait(struct symbols *symbols, u32 ms);

/** symbols_stats() - get the statistics */
void symbols_stats(struct symbols *symbols, struct symbols_stats *ret_stats);

/**
 * symbols_build_id() - get the build id of a file that is mapped now
 * @pid: a process that maps it
 * @location: path and inode of the file; another inode is rejected
 * @ret_id: receives the build id; BUILD_ID_MAX bytes
 *
 * It waits as symbols_wait_default() does.
 *
 * Return: length of the build id, bytes; 0 if the file has none or cannot be read.
 */
u8 symbols_build_id(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		    u8 *ret_id);

#endif
