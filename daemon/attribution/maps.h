/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Executable mappings of processes, sorted by address. Mappings share one reference-counted entry
 * for each file.
 */
#ifndef SPEPROF_MAPS_H
#define SPEPROF_MAPS_H

#include "codec/env.h"

#define MAPS_PER_PROCESS 4096
#define BUILD_ID_MAX	 20
/* Maximum size of a path with its NUL, a little more than BPF reports. See maps_add(). */
#define BINARY_PATH_SIZE 1536
/*
 * The path that is stored instead of a path that is too long. It begins with neither "/" nor a name
 * that the kernel uses
 */
#define BINARY_UNNAMED "[long path]"

/**
 * struct mapped_binary - a mapped file, shared by all processes that map it
 * @next: next in the hash chain
 * @inode, @device: numbers of the file, as the mapping reports them (device_number()); 0 if unknown
 * @refs: number of mappings, and of other references
 * @hash: hash of the key
 * @number: its number in the last output of attributor_save()
 * @build_id, @build_id_size: build id; the size is 0 if unknown
 * @path_size: size of the path with its NUL
 * @path: raw bytes, in the mount namespace of a process that maps the file
 */
struct mapped_binary {
	struct mapped_binary *next;
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
 * struct mapped_binary_key - identifies a mapped file: two files are the same if all fields are
 * equal
 * @path: raw bytes, NUL-terminated
 * @inode, @device: 0 if unknown
 * @build_id: @build_id_size bytes; NULL if unknown
 */
struct mapped_binary_key {
	const char *path;
	u64 inode;
	u32 device;
	const u8 *build_id;
	u8 build_id_size;
};

/**
 * struct mapping - a mapping of a file
 * @binary: the file, mapped from file offset @offset on, at addresses @start to @end - 1
 * @since_ns: time at which it was mapped, on the clock of task events; 0 if it is unknown or before
 * all samples
 */
struct mapping {
	u64 start;
	u64 end;
	u64 offset;
	u64 since_ns;
	struct mapped_binary *binary;
};

/** struct replaced_mapping - a mapping that another one replaced at @until_ns */
struct replaced_mapping {
	struct mapping mapping;
	u64 until_ns;
};

/* maximum of &maps.replaced_count; at the limit, the earliest replaced mappings are dropped */
#define MAPS_REPLACED_MAX 512

/**
 * struct maps - the mappings of one process, or of the kernel; all zeros is empty
 * @entry: the mappings, @count of them, with memory for @capacity; sorted, without overlaps
 * @replaced: earlier mappings in the order of their replacement; @replaced_count of them, with
 *	memory for @replaced_capacity. They serve samples that were taken before a replacement, but
 *	are attributed after it
 * @version: &map_store.changes at the last change; 0 if there was none
 */
struct maps {
	struct mapping *entry;
	u32 count;
	u32 capacity;
	struct replaced_mapping *replaced;
	u32 replaced_count;
	u32 replaced_capacity;
	u64 version;
};

/**
 * struct map_store - the memory of all mappings, with a limit
 * @heads, @mask: hash table of mapped files
 * @limit: limit of @memory, bytes
 * @dropped: number of mappings that did not fit or were evicted
 * @memory: bytes of this hash table, of mappings, and of mapped files with their paths
 * @replaced_ns: time after which replaced mappings are dropped; 0: never
 * @changes: number of changes to any of the maps
 * @evict: callback that clears other maps to free @bytes for @requester; returns false if it
 * cleared none. It never clears @requester, but may clear maps that the caller reads. NULL: nothing
 * is evicted
 * @ctx: argument of @evict
 */
struct map_store {
	struct mapped_binary **heads;
	u32 mask;
	u64 limit;
	u64 dropped;
	u64 memory;
	u64 replaced_ns;
	u64 changes;
	bool (*evict)(void *ctx, const struct maps *requester, u64 bytes);
	void *ctx;
};

/** hash_path_nonzero() - return a hash of @path; never 0 */
u64 hash_path_nonzero(const char *path);

/**
 * map_store_init() - initialize @store
 * @bytes: limit of mappings and paths, bytes
 *
 * Return: 0 or -ENOMEM.
 */
int map_store_init(struct map_store *store, u64 bytes);

/** map_store_deinit() - free the hash table of @store; the caller has cleared all maps */
void map_store_deinit(struct map_store *store);

/**
 * maps_add() - add a mapping to @maps, which replaces older ones at the same addresses
 * @store: the store of all maps
 * @maps: the mappings of a process
 * @map: the mapping; its binary is ignored. If its time is known, older mappings at the same
 * addresses stay available to maps_find_at()
 * @file: the mapped file. A path longer than BINARY_PATH_SIZE is stored as BINARY_UNNAMED: any user
 * can create paths of any length, and a checkpoint must be able to hold them
 *
 * If memory cannot be allocated, the mapping is counted in &map_store.dropped, and older mappings
 * stay.
 */
void maps_add(struct map_store *store, struct maps *maps, const struct mapping *map,
	      const struct mapped_binary_key *file);

/**
 * map_store_get_next_binary() - return the next mapped file of @store, in no particular order
 * @binary: the previous file; NULL for the first one
 *
 * Return: the file; NULL after the last one.
 */
const struct mapped_binary *map_store_get_next_binary(const struct map_store *store,
						      const struct mapped_binary *binary);

/** mapped_binary_get_key() - return the key of @binary, valid as long as @binary is */
struct mapped_binary_key mapped_binary_get_key(const struct mapped_binary *binary);

/**
 * maps_copy() - copy the mappings of a parent to its child
 * @store: the store of all maps
 * @to: the child's mappings; empty
 * @from: the parent's mappings. If the copy needs an eviction that clears them, @to stays empty
 */
void maps_copy(struct map_store *store, struct maps *to, const struct maps *from);

/** maps_clear() - remove all mappings of @maps, and return their memory to @store */
void maps_clear(struct map_store *store, struct maps *maps);

/**
 * maps_get_memory() - return the bytes of the store that @maps uses
 *
 * A file that n mappings share counts 1/n of its size for each.
 */
u64 maps_get_memory(const struct maps *maps);

/** maps_find() - return the mapping of @maps that contains @addr, or NULL */
const struct mapping *maps_find(const struct maps *maps, u64 addr);

/**
 * maps_find_at() - return the mapping that contained @addr at a time
 * @maps: the mappings of a process
 * @time_ns: time on the clock of task events; UINT64_MAX for the present mapping
 * @ret_from_ns, @ret_until_ns: the result is valid from @ret_from_ns to @ret_until_ns - 1
 *
 * If no mapping is known for that time, it returns the present mapping as the best guess.
 *
 * Return: the mapping, valid until the next change; NULL for none.
 */
const struct mapping *maps_find_at(const struct maps *maps, u64 addr, u64 time_ns, u64 *ret_from_ns,
				   u64 *ret_until_ns);

/**
 * maps_find_below() - return the mapping with the highest start that is not above an address
 * @maps: the mappings of a process
 * @addr, @time_ns: as for maps_find_at()
 * @ret_from_ns, @ret_until_ns: as for maps_find_at()
 * @ret_end: the result is the same for addresses from its start to @ret_end - 1
 *
 * The data of a file is mapped after its code, and only code has mappings here.
 *
 * Return: the mapping, valid until the next change; NULL for none.
 */
const struct mapping *maps_find_below(const struct maps *maps, u64 addr, u64 time_ns,
				      u64 *ret_from_ns, u64 *ret_until_ns, u64 *ret_end);

/**
 * maps_clear_keep_version() - remove all mappings of @maps to free their memory
 *
 * The process still has these mappings, so their version does not change, and data that callers
 * have cached remains valid.
 */
void maps_clear_keep_version(struct map_store *store, struct maps *maps);

/** mapped_binary_ref() - add a reference to @binary, which may be NULL, and return it */
struct mapped_binary *mapped_binary_ref(struct mapped_binary *binary);

/** mapped_binary_unref() - release a reference to @binary, which may be NULL; returns NULL */
struct mapped_binary *mapped_binary_unref(struct map_store *store, struct mapped_binary *binary);

/** maps_find_executable() - return the file that is mapped at the lowest address; NULL for none */
struct mapped_binary *maps_find_executable(const struct maps *maps);

/** maps_move_replaced() - move the replaced mappings of @from to @to, which has none */
void maps_move_replaced(struct maps *to, struct maps *from);

#endif
