/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorted executable mappings of processes. Each path is stored once. */
#ifndef SPEPROF_MAPS_H
#define SPEPROF_MAPS_H

#include "codec/env.h"

#define MAPS_PER_PROCESS 4096
#define BUILD_ID_MAX 20
/*
 * Maximum size of a path with its NUL, slightly more than BPF reports. Longer ones become
 * BINARY_UNNAMED.
 */
#define BINARY_PATH_SIZE 1536
/* Not a valid path: paths begin with "/", or are the kernel's names in brackets. */
#define BINARY_UNNAMED "[long path]"

/**
 * struct binary - a mapped file, shared by all processes that map it
 * @next: next in the hash chain
 * @inode, @device: of the file, as the mapping reports them (device_number()); 0 if unknown
 * @refs: number of mappings
 * @hash: hash of the key
 * @number: its number in the last output of attributor_save()
 * @build_id, @build_id_size: build id; the size is 0 if unknown
 * @path_size: size of the path with its NUL
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
 * struct binary_key - identifies a mapped file: two files are the same if all fields are equal
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

/** struct mapping - addresses from @start to @end - 1 map @binary from @offset on */
struct mapping {
	u64 start;
	u64 end;
	u64 offset;
	struct binary *binary;
};

/** struct maps - the mappings of one process, or of the kernel; all zeros is empty */
struct maps {
	struct mapping *entry;
	u32 count;
	u32 capacity;
};

/**
 * struct map_store - what all maps share
 * @heads, @mask: hash table of files
 * @limit: limit of @memory
 * @dropped: mappings that did not fit
 * @memory: bytes of mappings, and of the paths of mapped files
 * @evict_for: callback that evicts other processes' maps to free @bytes for @whose; NULL to
 *	never evict
 * @ctx: argument of @evict_for
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

/** path_hash() - return a hash of a path; never 0 */
u64 path_hash(const char *path);

/** map_store_init() - prepare a store of at most @bytes bytes of mappings and paths */
int map_store_init(struct map_store *store, u64 bytes);

/** map_store_deinit() - free the store's memory */
void map_store_deinit(struct map_store *store);

/**
 * maps_add() - add a mapping, and remove older ones that it covers
 * @map: the mapping; its binary is ignored
 * @file: the mapped file. A path longer than BINARY_PATH_SIZE is stored as BINARY_UNNAMED: any
 *	user can create paths of any length, and a checkpoint must be able to hold them
 */
void maps_add(struct map_store *store, struct maps *maps, const struct mapping *map,
	      const struct binary_key *file);

/** binary_key() - return the key of @binary, valid as long as @binary is */
struct binary_key binary_key(const struct binary *binary);

/**
 * maps_copy() - copy @from to the empty @to, for a fork
 *
 * @to stays empty if copying evicts @from itself.
 */
void maps_copy(struct map_store *store, struct maps *to, const struct maps *from);

/** maps_clear() - remove all mappings */
void maps_clear(struct map_store *store, struct maps *maps);

/**
 * maps_bytes() - return the bytes of the store that @maps uses; shared files count in proportion
 */
u64 maps_bytes(const struct maps *maps);

/** maps_find() - return the mapping that contains @addr, or NULL */
const struct mapping *maps_find(const struct maps *maps, u64 addr);

#endif
