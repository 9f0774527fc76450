/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executable mappings of processes, sorted; paths are kept once for all. */
#ifndef SPEPROF_MAPS_H
#define SPEPROF_MAPS_H

#include "codec/env.h"

#define MAPS_PER_PROCESS 4096
#define BUILD_ID_MAX 20
/* Of a path with its NUL, some more than BPF tells of; what has a longer one has BINARY_UNNAMED. */
#define BINARY_PATH_SIZE 1536
/* No path: those begin with "/", or are names of the kernel's in brackets. */
#define BINARY_UNNAMED "[long path]"

/**
 * struct binary - a mapped file, shared by all that map it
 * @inode, @device: of the file, as the mapping reports them (device_number()); 0 if unknown
 * @number: where attributor_save() has put it, the last time
 * @path_size: with its NUL
 * @path: raw bytes, as its process sees it
 */
struct binary {
	struct binary *next;
	u64 inode;
	u32 device;
	u32 refs;
	u32 hash;
	u32 number;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	u16 path_size;
	char path[];
};

/**
 * struct binary_key - two mapped files are the same as long as these are
 * @path: raw bytes, NUL-terminated
 * @inode, @device: 0 if unknown
 * @build_id: @build_id_size bytes; NULL if unknown
 */
struct binary_key {
	const char *path;
	u64 inode;
	u32 device;
	const u8 *build_id;
	u8 build_id_size;
};

/** struct mapping - [@start, @end) shows @binary from @offset on */
struct mapping {
	u64 start;
	u64 end;
	u64 offset;
	struct binary *binary;
};

/** struct maps - of one process, or of the kernel; zeroes are none */
struct maps {
	struct mapping *entry;
	u32 count;
	u32 capacity;
};

/**
 * struct map_store - what all maps share
 * @limit: of @memory
 * @dropped: mappings for which there was no room
 * @memory: bytes held: of mappings, and of the paths of what they map
 * @evict_for: drops maps of others than @whose, so that there is room for @bytes more of it;
 *	NULL where nothing gives way to what comes later
 */
struct map_store {
	struct binary **heads;
	u32 mask;
	u64 limit;
	u64 dropped;
	u64 memory;
	bool (*evict_for)(void *ctx, const struct maps *whose, u64 bytes);
	void *ctx;
};

/** path_hash() - of a path; never 0 */
u64 path_hash(const char *path);

/** map_store_init() - room for @bytes of mappings and paths */
int map_store_init(struct map_store *store, u64 bytes);
void map_store_deinit(struct map_store *store);

/**
 * maps_add() - a new mapping; what it covers of older ones goes
 * @map: its binary is ignored
 * @file: what is mapped. A path that exceeds BINARY_PATH_SIZE is kept as BINARY_UNNAMED: any user
 *	can make one of any length, and a checkpoint must be able to hold it
 */
void maps_add(struct map_store *store, struct maps *maps, const struct mapping *map,
	      const struct binary_key *file);

/** binary_key() - the key of @binary, valid as long as it is */
struct binary_key binary_key(const struct binary *binary);

/** maps_copy() - @to, empty, becomes as @from: a fork. Stays empty if @from itself had to give way */
void maps_copy(struct map_store *store, struct maps *to, const struct maps *from);

void maps_clear(struct map_store *store, struct maps *maps);

/** maps_bytes() - bytes of the store that @maps has; of what several map each has its part */
u64 maps_bytes(const struct maps *maps);

/** maps_find() - the mapping around @addr, or NULL */
const struct mapping *maps_find(const struct maps *maps, u64 addr);

#endif
