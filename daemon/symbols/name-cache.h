/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caches the names and source lines that a helper found, by file and address. When the memory limit
 * is reached, the least recently used file is evicted.
 *
 * A file is identified by device, inode, size and times, which its owner cannot forge. It is not
 * identified by its build ID, which any user can copy: a file of one container could then name the
 * functions of another container.
 */
#ifndef SPEPROF_NAME_CACHE_H
#define SPEPROF_NAME_CACHE_H

#include <sys/types.h>
#include <time.h>

#include "symbol-message.h"

/** struct name_file_key - identifies a file; a changed file has another key */
struct name_file_key {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	struct timespec ctime;
	u32 kind; /* &enum symbol_kind */
};

/*
 * The addresses from @start to @start + @size - 1, with the name at offset @text; @text is 0 if
 * they have no name
 */
struct name_range {
	u64 start;
	u64 size;
	u32 text;
	u32 reserved;
};

/* The source line of an address; @file and @inlines are offsets in the text, 0 if unknown */
struct name_line {
	u64 address;
	u32 file;
	u32 line;
	u32 inlines;
	u32 reserved;
};

/**
 * struct name_file - a file in the cache
 * @key: identity of the file
 * @known: what the reader found in the file, if @described
 * @path, @device: hash of the path, and device_number(), of its last mapping. They identify the
 * file of a mapping if its process has exited. @path is 0 if they are unknown
 * @range, @line: names and lines, sorted by address
 * @text: NUL-terminated strings, each stored once; text[0] is ""
 * @intern: hash table of offsets in @text, with @intern_mask + 1 entries; 0 is a free entry
 * @ranges, @lines, @text_len: lengths of the arrays
 * @texts: number of strings in @intern
 * @generation: changes whenever the entry is reused for another file
 * @rejected_ms: time at which a helper failed on the file, so that it is rejected; 0 if none did
 * @last_used: value of &name_cache.clock at its last use
 * @in_use: true if the entry is valid
 * @described: true if a reader has opened the file
 * @unreadable: true if the reader could not read the file, so that nothing more is requested
 * @full: true if the file has reached its memory limit, so that nothing more is requested
 */
struct name_file {
	struct name_file_key key;
	struct symbol_file_content known;
	u64 path;
	u32 device;
	struct name_range *range;
	struct name_line *line;
	char *text;
	u32 *intern;
	u32 ranges;
	u32 ranges_capacity;
	u32 lines;
	u32 lines_capacity;
	u32 text_len;
	u32 text_capacity;
	u32 texts;
	u32 intern_mask;
	u32 generation;
	u64 rejected_ms;
	u64 last_used;
	bool in_use;
	bool described;
	bool unreadable;
	bool full;
};

/** struct name_file_ref - a reference to a file; invalid once its entry is reused */
struct name_file_ref {
	u32 index;
	u32 generation; /* 0: refers to no file */
};

/**
 * struct name_cache - the cache; the caller serializes all calls
 * @file: table of files, @files_max entries
 * @budget: limit of @memory, bytes
 * @memory: memory in use, bytes
 * @clock: counts uses of files, to find the least recently used one
 * @evicted: number of files that were evicted
 */
struct name_cache {
	struct name_file *file;
	u32 files_max;
	u64 budget;
	u64 memory;
	u64 clock;
	u64 evicted;
};

/**
 * name_cache_init() - make an empty cache of at most @files_max files and @budget bytes; returns 0
 * or -ENOMEM
 */
int name_cache_init(struct name_cache *cache, u32 files_max, u64 budget);

/** name_cache_deinit() - free the memory of the cache */
void name_cache_deinit(struct name_cache *cache);

/**
 * name_cache_find_or_add() - find the file with @key, or add it
 *
 * If there is no free entry, the least recently used file is evicted.
 */
struct name_file_ref name_cache_find_or_add(struct name_cache *cache,
					    const struct name_file_key *key);

/**
 * name_cache_get_file() - return the file of @ref, and mark it as used now; NULL if it was evicted
 */
struct name_file *name_cache_get_file(struct name_cache *cache, struct name_file_ref ref);

/**
 * name_cache_find_by_mapping() - find a file by its last mapping
 * @path: hash of its path
 * @device: as the mapping reported it, which may differ from st_dev (device_number())
 * @inode: inode of the file; for 0 no file is found
 *
 * Return: the file; generation 0 if there is none.
 */
struct name_file_ref name_cache_find_by_mapping(struct name_cache *cache, u64 path, u32 device,
						u64 inode);

/**
 * name_cache_add_reply() - add the names or lines of a reply to a file
 * @file: in the cache
 * @request: SYMBOL_FIND or SYMBOL_LINES
 * @reply: the reply, which symbol_reply_check() accepted
 *
 * Other files may be evicted. If the file reaches its limit, half of the budget, it becomes full.
 */
void name_cache_add_reply(struct name_cache *cache, struct name_file *file,
			  const struct symbol_request *request, const struct symbol_reply *reply);

/** name_file_find_range() - return the range that contains an address; NULL if it is unknown */
const struct name_range *name_file_find_range(const struct name_file *file, u64 address);

/** name_file_find_line() - return the line of an address; NULL if it is unknown */
const struct name_line *name_file_find_line(const struct name_file *file, u64 address);

#endif
