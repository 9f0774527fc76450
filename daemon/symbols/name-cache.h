/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that a helper found, by file and address, in bounded memory: what was used the
 * longest ago goes. A file is told by what cannot be claimed: device, inode, size and times.
 * A build id is what it says of itself: shared by that, one container's file could name the
 * functions of another's.
 */
#ifndef SPEPROF_NAME_CACHE_H
#define SPEPROF_NAME_CACHE_H

#include <sys/types.h>
#include <time.h>

#include "symbol-message.h"

/** struct name_key - a file is the same as long as these are */
struct name_key {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	struct timespec ctime;
	u32 kind; /* &enum symbol_kind */
};

/* Addresses from @start on; @text is 0 where they have no name. */
struct name_range {
	u64 start;
	u64 size;
	u32 text;
	u32 reserved;
};

struct name_line {
	u64 address;
	u32 file;
	u32 line;
	u32 inlines;
	u32 reserved;
};

/**
 * struct name_file - an entry of the cache
 * @path, @device: hash of the path and device_number() of the last mapping of it, by which the
 *	file is found for a process that exited; @path is 0 if that is not known
 * @range, @line: sorted
 * @text: strings, each once; text[0] is ""
 * @intern: offsets in @text by hash
 * @struck_ms: when it ended a helper, for which it is refused; 0: it did not
 * @opened: @known was told
 * @nameless: it has none, or the helper could not read it
 * @full: what is not known of it will not be asked for: there is no room
 */
struct name_file {
	struct name_key key;
	struct symbol_object known;
	u64 path;
	u32 device;
	struct name_range *range;
	struct name_line *line;
	char *text;
	u32 *intern;
	u32 ranges;
	u32 ranges_room;
	u32 lines;
	u32 lines_room;
	u32 text_len;
	u32 text_room;
	u32 texts;
	u32 intern_mask;
	u32 generation;
	u64 struck_ms;
	u64 used;
	bool in_use;
	bool opened;
	bool nameless;
	bool full;
};

/** struct name_ref - of an entry, which may be another file's by now */
struct name_ref {
	u32 index;
	u32 generation; /* 0: of none */
};

/**
 * struct name_cache
 * @files_max: entries
 * @evicted: files whose names went because others needed the room
 */
struct name_cache {
	struct name_file *file;
	u32 files_max;
	u64 budget;
	u64 memory;
	u64 clock;
	u64 evicted;
};

int name_cache_init(struct name_cache *cache, u32 files_max, u64 budget);
void name_cache_deinit(struct name_cache *cache);

/** name_cache_get() - the entry of @key, a new one if need be */
struct name_ref name_cache_get(struct name_cache *cache, const struct name_key *key);

/** name_cache_file() - the entry, as used now, or NULL if it went */
struct name_file *name_cache_file(struct name_cache *cache, struct name_ref ref);

/**
 * name_cache_path() - the entry of a file that a process had mapped
 * @path: hash of its path
 * @device: as the mapping reported it, which may differ from st_dev (device_number())
 * @inode: 0 finds none
 */
struct name_ref name_cache_path(struct name_cache *cache, u64 path, u32 device, u64 inode);

/** name_cache_add() - what a reply to @request, which was checked, says of @file */
void name_cache_add(struct name_cache *cache, struct name_file *file,
		    const struct symbol_request *request, const struct symbol_reply *reply);

/** name_file_range() - what is known of an address, or NULL */
const struct name_range *name_file_range(const struct name_file *file, u64 address);
const struct name_line *name_file_line(const struct name_file *file, u64 address);

#endif
