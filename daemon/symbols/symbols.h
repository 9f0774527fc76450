/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the function name and source line of a location in a binary. A sandboxed helper process
 * reads the binaries (Documentation/explanation/symbols.md). A query for a function or a line never
 * waits for the helper: it returns what the cache has, and requests the rest. Any thread may call
 * any function; the sampling path calls none of them.
 */
#ifndef SPEPROF_SYMBOLS_H
#define SPEPROF_SYMBOLS_H

#include "attribution/attributor.h"
#include "symbol-folders.h"
#include "util/symtab.h"

struct symbols_cache;

/**
 * struct symbols_config - the configuration; all zeros are the daemon's defaults
 * @budget: limit of the cache, bytes; 0 for the default (16 MiB)
 * @helper: path of the helper program; NULL for the installed one
 * @idle: run the helper with a nice value of 10
 * @wait_ms: timeout of symbols_wait_configured() and symbols_get_build_id(), ms
 * @open_ms: timeout for opening a file, ms; 0 for the default (10 s)
 * @kernel: functions of the recorded kernel, which name samples of a recording in the kernel; NULL:
 *	unknown. It is not copied, and must outlive the cache
 * @folders: where files of recordings are searched; its strings must outlive the cache. With
 *	&symbol_folders.symfs, a file of a recording without a build id has names, too: the file with
 *	its path is used without a check
 */
struct symbols_config {
	u64 budget;
	const char *helper;
	bool idle;
	u32 wait_ms;
	u32 open_ms;
	const struct symtab *kernel;
	struct symbol_folders folders;
};

/**
 * struct symbols_stats - statistics; counts are since symbols_new()
 * @pending: locations that are being resolved now
 * @evicted: number of files that were evicted from the cache with all their names
 * @failures: number of times that a helper exited, timed out or sent an invalid reply
 * @quarantined: files and mappings that were rejected for an hour because a helper failed on them
 * @memory: memory of the cache, bytes
 * @reason: why names are missing; "" if nothing is wrong
 */
struct symbols_stats {
	u64 pending;
	u64 evicted;
	u64 failures;
	u64 quarantined;
	u64 memory;
	char reason[192];
};

/**
 * symbols_new() - allocate a cache of symbols
 * @config: the configuration, copied; NULL for all zeros
 * @ret_symbols: the cache; free it with symbols_free()
 *
 * Threads and helpers are started by the first query.
 *
 * Return: 0 or negative errno.
 */
int symbols_new(const struct symbols_config *config, struct symbols_cache **ret_symbols);

/** symbols_free() - stop threads and helpers, and free @symbols, which may be NULL; returns NULL */
struct symbols_cache *symbols_free(struct symbols_cache *symbols);

/**
 * symbols_address_is_public() - return true if an unprivileged reader may see the offset of a
 * location
 * @location: from attributor_locate_pc()
 * @live: the location belongs to this machine, not to a recording
 *
 * An unprivileged reader must not see offsets in the running kernel: they are addresses, which
 * would reveal the KASLR offset.
 */
bool symbols_address_is_public(const struct attribute_location *location, bool live);

/**
 * symbols_name_unmapped() - name an address that lies in no known mapping
 * @pc: the address
 * @live: the address belongs to this machine; it is then omitted
 * @name: receives "[unknown]" or the address, NUL-terminated
 * @size: size of @name, bytes
 */
void symbols_name_unmapped(u64 pc, bool live, char *name, size_t size);

/**
 * symbols_get_function() - get the name of the function at @location
 * @symbols: the cache; NULL: no symbol is known
 * @pid: a process that maps the binary, which is searched in the root directory of the process
 *	(/proc/PID/root); 0 if none
 * @location: from attributor_locate_pc()
 * @live: @pid and kernel addresses belong to this machine, not to a recording
 * @name: receives the name, or "binary+0xoffset" if no symbol was found; for this machine's kernel
 *	"[kernel]" (symbols_address_is_public()). It is escaped and NUL-terminated
 * @size: size of @name, bytes
 *
 * Return: true if a symbol was found. If not, it may be found after symbols_wait_configured().
 */
bool symbols_get_function(struct symbols_cache *symbols, s32 pid,
			  const struct attribute_location *location, bool live, char *name,
			  size_t size);

/**
 * symbols_get_function_key() - get a number that identifies the function at @location
 * @symbols, @pid, @location, @live: as for symbols_get_function()
 * @ret_key: equal for all locations in the same function; locations of other binaries may have the
 *	same number. Valid until the next query for another binary. Set if a symbol was found
 *
 * Comparing keys is cheaper than comparing names.
 *
 * Return: true if a symbol was found.
 */
bool symbols_get_function_key(struct symbols_cache *symbols, s32 pid,
			      const struct attribute_location *location, bool live, u64 *ret_key);

/**
 * symbols_get_line_key() - get a number that identifies the source line of @location
 * @symbols, @pid, @location, @live: as for symbols_get_function()
 * @ret_key: as for symbols_get_function_key(); 0 if the line is unknown
 *
 * Return: true if the line is known.
 */
bool symbols_get_line_key(struct symbols_cache *symbols, s32 pid,
			  const struct attribute_location *location, bool live, u64 *ret_key);

/**
 * struct source_line - the source position of a location
 * @file: escaped; "" if unknown
 * @inlines: functions that are inlined at the location, innermost first, escaped, separated by
 *	newlines
 * @line: line number, from 1; 0 if unknown
 */
struct source_line {
	char file[256];
	char inlines[512];
	u32 line;
};

/**
 * symbols_get_source_line() - get the source line of @location
 * @symbols, @pid, @location, @live: as for symbols_get_function()
 * @ret_source: all zeros if the line is unknown
 *
 * Return: true if the line is known. If not, it may be known after symbols_wait_configured().
 */
bool symbols_get_source_line(struct symbols_cache *symbols, s32 pid,
			     const struct attribute_location *location, bool live,
			     struct source_line *ret_source);

/**
 * struct data_name - the type and the field of a datum, escaped
 * @type: type of the variable, such as "struct request"; a reason in brackets if it is unknown
 * @field: path of the field in the type; the name of the variable if its type has no fields
 */
struct data_name {
	char type[128];
	char field[128];
};

/**
 * symbols_get_accessed_data() - get the type and the field that an instruction of a recording
 * accesses
 * @symbols, @ret_name: as for symbols_get_data()
 * @location: location of a load or store
 *
 * Return: as symbols_get_data().
 */
bool symbols_get_accessed_data(struct symbols_cache *symbols,
			       const struct attribute_location *location,
			       struct data_name *ret_name);

/**
 * symbols_get_data() - get the type and the field of a datum of a recording
 * @symbols: the cache; NULL: nothing is known
 * @location: location of the datum: its offset is the offset of the code of its file, plus the
 *	distance between the mapping of this code and the datum
 * @ret_name: the names; both are "[no debug data]" if the file is unknown or not read yet
 *
 * Return: true if the file was read. If not, it may be read after symbols_wait_configured().
 */
bool symbols_get_data(struct symbols_cache *symbols, const struct attribute_location *location,
		      struct data_name *ret_name);

/**
 * symbols_wait_configured() - wait for pending requests, at most &symbols_config.wait_ms
 *
 * Return: true if &symbols_config.wait_ms is not 0. A query may then find more than before, even if
 * nothing was pending any more.
 */
bool symbols_wait_configured(struct symbols_cache *symbols);

/** symbols_wait() - wait for pending requests, at most @ms milliseconds; @symbols may be NULL */
void symbols_wait(struct symbols_cache *symbols, u32 ms);

/** symbols_get_stats() - get the statistics */
void symbols_get_stats(struct symbols_cache *symbols, struct symbols_stats *ret_stats);

/**
 * symbols_get_build_id() - get the build id of a file that is mapped now
 * @pid: a process that maps it; 0 for a file of this machine's root directory
 * @location: path and inode of the file; a file with another inode is rejected
 * @ret_id: receives the build id; has space for BUILD_ID_MAX bytes
 *
 * It waits at most &symbols_config.wait_ms.
 *
 * Return: length of the build id, bytes; 0 if the file has none or cannot be read.
 */
u8 symbols_get_build_id(struct symbols_cache *symbols, s32 pid,
			const struct attribute_location *location, u8 *ret_id);

#endif
