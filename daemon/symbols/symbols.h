/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols: a place in a binary to a function's name and a source line. Outside the sampling
 * path. Nothing of a binary is read here: a helper does (Documentation/explanation/symbols.md), so that
 * an answer is what is known by now, and what is not known yet is asked for meanwhile.
 */
#ifndef SPEPROF_SYMBOLS_H
#define SPEPROF_SYMBOLS_H

#include "attribution/attributor.h"

struct symbols;

/**
 * struct symbols_config - zeroes are a daemon's defaults
 * @budget: bytes of the cache; 0 for the default (16 MiB)
 * @helper: the program; NULL for where it is installed
 * @idle: the helper runs when nothing else wants to
 * @wait_ms: how long symbols_wait_default() waits
 * @open_ms: how long opening a file may take; 0 for the default (10 s)
 */
struct symbols_config {
	u64 budget;
	const char *helper;
	bool idle;
	u32 wait_ms;
	u32 open_ms;
};

/**
 * struct symbols_stats
 * @pending: places that are being looked up
 * @evicted: files whose names others needed the room of
 * @failures: helpers that ended, hung or lied
 * @poisoned: files and mappings that ended one of them, and are refused for an hour
 * @memory: bytes of the cache
 * @reason: why there are no names; "" if nothing is wrong
 */
struct symbols_stats {
	u64 pending;
	u64 evicted;
	u64 failures;
	u64 poisoned;
	u64 memory;
	char reason[192];
};

int symbols_new(const struct symbols_config *config, struct symbols **ret_symbols);
struct symbols *symbols_free(struct symbols *symbols);

/**
 * symbols_address_is_public() - whether the offset of @location may be told to who may see aggregates
 *
 * Not of the running kernel: it is an address, of which KASLR is nobody's business.
 */
bool symbols_address_is_public(const struct attribute_location *location, bool live);

/** symbols_name_unmapped() - what is called a function that is in no known mapping: its address is of a recording alone */
void symbols_name_unmapped(u64 pc, bool live, char *name, size_t size);

/**
 * symbols_function() - the function at @location
 * @symbols: NULL: none is known
 * @pid: a process that has the binary mapped, for binaries in another root
 *	(/proc/PID/root); 0 if none lives
 * @location: from attributor_locate()
 * @live: whether kernel addresses and /proc are this machine's
 * @name: receives "name", or "binary+0xoffset" where no symbol is known, "[kernel]" alone of
 *	this machine's (symbols_address_is_public()); escaped; always NUL-terminated
 * @size: bytes of @name
 *
 * Return: whether a symbol was found. If not, it may be later: symbols_wait_default().
 */
bool symbols_function(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		      bool live, char *name, size_t size);

/**
 * symbols_key() - the function at @location as a number, for putting places together
 * @ret_key: equal for places of one binary with the same function, as long as no other is
 *	asked for
 *
 * Return: whether a symbol was found.
 */
bool symbols_key(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		 bool live, u64 *ret_key);

/** symbols_line() - the same for a place's source line; 0 where none is known */
bool symbols_line(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		  bool live, u64 *ret_key);

/**
 * struct symbol_source - where in the source a place is
 * @file: escaped; "" if not known
 * @inlines: functions that are inlined there, innermost first, escaped, parted by newlines
 */
struct symbol_source {
	char file[256];
	char inlines[512];
	u32 line;
};

/** symbols_source() - the source line at @location; false if none is known yet, or at all */
bool symbols_source(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		    bool live, struct symbol_source *ret_source);

/**
 * symbols_wait_default() - wait for what was asked for, as long as the configuration says
 *
 * Return: whether there may be more answers than before.
 */
bool symbols_wait_default(struct symbols *symbols);

/** symbols_wait() - the same, for another time */
void symbols_wait(struct symbols *symbols, u32 ms);

void symbols_stats(struct symbols *symbols, struct symbols_stats *ret_stats);

/**
 * symbols_build_id() - the build id of a file that is mapped now
 * @pid: a process that has it mapped
 * @location: its path, and the inode it must have
 * @ret_id: BUILD_ID_MAX bytes
 *
 * Waits as symbols_wait_default() does.
 *
 * Return: bytes of it, 0 if it has none or cannot be read.
 */
u8 symbols_build_id(struct symbols *symbols, s32 pid, const struct attribute_location *location,
		    u8 *ret_id);

#endif
