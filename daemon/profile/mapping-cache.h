/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache of mappings, which turns the PC of a sample into the key of its cell: program, binary and
 * offset. One cache of fixed size serves all processes. A process uses one entry for each 256 KiB
 * of code that it executes. The memory of the cache does not depend on the number of processes.
 *
 * The key of an entry is the process and PC >> MAPPING_CACHE_SHIFT. An entry is valid for samples
 * taken after the mapping appeared, until the mappings or the program of the process change. After
 * an exec, an mmap, a dlopen or new JIT code, the mapping is looked up again. For a sample from
 * before such an event, the lookup returns the mapping at the time of the sample.
 *
 * One thread owns a cache.
 */
#ifndef SPEPROF_MAPPING_CACHE_H
#define SPEPROF_MAPPING_CACHE_H

#include "attribution/attributor.h"
#include "attribution/binary-table.h"
#include "cell-table.h"

/*
 * Limits of the binary logarithm of the number of entries. Each entry covers at most
 * 2^MAPPING_CACHE_SHIFT bytes of addresses.
 */
#define MAPPING_CACHE_BITS_MIN 8
#define MAPPING_CACHE_BITS_MAX 14
#define MAPPING_CACHE_SHIFT    18

/**
 * struct mapping_entry - the part of a mapping that is in one block of 2^MAPPING_CACHE_SHIFT
 * addresses; the struct has one cache line
 * @start: first address of that part
 * @process: number of the process, from mapping_make_process_id()
 * @bias: as in &struct attribute_mapping
 * @owner, @salt: owner of the cells, and the hash of the owner (cell_owner_hash())
 * @from_ns: the entry is valid for samples from this time on
 * @length: bytes from @start on; 0 for a free entry
 * @version: version of the process's mappings, modulo 2^32
 * @epoch: &mapping_cache.epoch when the version was last compared
 */
struct mapping_entry {
	u64 start;
	u64 process;
	u64 bias;
	u64 owner;
	u64 salt;
	u64 from_ns;
	u32 length;
	u32 version;
	u32 epoch;
} __attribute__((aligned(64)));

static_assert(sizeof(struct mapping_entry) == 64, "a cache line");

/**
 * struct mapping_cache_stats - statistics of a cache
 * @lookups: number of queries to the attributor
 * @replaced: number of entries that an entry of another process replaced
 * @unmapped: number of queries for addresses without a known mapping
 */
struct mapping_cache_stats {
	u64 lookups;
	u64 replaced;
	u64 unmapped;
};

/**
 * struct mapping_cache - the cache; its members are public so that mapping_cache_find() can be
 * inline
 * @attributor, @binaries, @table: borrowed
 * @changes: attributor_get_map_changes() at the last mapping_cache_sync()
 * @epoch: incremented when @changes changes
 * @shift: 64 minus the binary logarithm of the number of entries
 * @data: the addresses are those of data, for which attributor_find_data_mapping() is used
 * @stats: statistics
 * @entry: the entries
 */
struct mapping_cache {
	const struct attributor *attributor;
	struct binary_table *binaries;
	const struct cell_table *table;
	u64 changes;
	u32 epoch;
	unsigned int shift;
	bool data;
	struct mapping_cache_stats stats;
	struct mapping_entry *entry;
};

/**
 * struct mapped_pc - the cell of a PC
 * @owner: program and binary, from cell_owner_make()
 * @offset: offset in the binary
 * @hash: result of cell_hash()
 */
struct mapped_pc {
	u64 owner;
	u64 offset;
	u64 hash;
};

/**
 * mapping_cache_new() - allocate an empty cache
 * @attributor: source of the mappings; must outlive the cache
 * @binaries: assigns the ids of binaries; must outlive the cache
 * @table: the table of cells, which provides the hash; must outlive the cache
 * @bits: binary logarithm of the number of entries, MAPPING_CACHE_BITS_MIN to
 *	MAPPING_CACHE_BITS_MAX
 * @ret_cache: the cache; free it with mapping_cache_free()
 *
 * Return: 0 or -ENOMEM.
 */
int mapping_cache_new(const struct attributor *attributor, struct binary_table *binaries,
		      const struct cell_table *table, unsigned int bits,
		      struct mapping_cache **ret_cache);

/** mapping_cache_free() - free a cache, which may be NULL; returns NULL */
struct mapping_cache *mapping_cache_free(struct mapping_cache *cache);

/**
 * mapping_cache_clear() - remove all entries
 *
 * Call it after a sweep of the ids of binaries or programs, because freed ids may be reused.
 */
void mapping_cache_clear(struct mapping_cache *cache);

/**
 * mapping_cache_sync() - if mappings have changed in the attributor, require that each entry is
 * revalidated before its next use
 *
 * Call it when task events may have been applied: at the start of a window, and after the reader
 * lock was released and taken again.
 */
void mapping_cache_sync(struct mapping_cache *cache);

/** mapping_make_process_id() - return the number of a process from its index and generation */
static inline u64 mapping_make_process_id(u32 index, u32 generation)
{
	return (u64)generation << 32 | index;
}

/**
 * mapping_cache_find_slow() - find the cell if the entry is missing or must be revalidated
 *
 * The parameters, the context and the return value are those of mapping_cache_find().
 */
bool mapping_cache_find_slow(struct mapping_cache *cache, u64 process, u32 program, u64 pc,
			     bool kernel, u64 time_ns, struct mapped_pc *ret_pc);

static inline struct mapping_entry *mapping_cache_get_slot(const struct mapping_cache *cache,
							   u64 process, u64 pc)
{
	u64 key = process ^ (pc >> MAPPING_CACHE_SHIFT) * 0x9e3779b97f4a7c15ULL;

	return &cache->entry[key * 0xd6e8feb86659fd93ULL >> cache->shift];
}

static inline void mapping_entry_map_pc(const struct mapping_entry *e, u64 pc,
					struct mapped_pc *ret_pc)
{
	ret_pc->owner = e->owner;
	ret_pc->offset = pc - e->bias;
	ret_pc->hash = cell_hash(e->salt, ret_pc->offset);
}

/**
 * mapping_cache_find() - find the cell of a PC
 * @cache: the cache, synchronized with mapping_cache_sync()
 * @process: number of the process, from mapping_make_process_id(); index ATTRIBUTE_NONE for an
 *	unattributed sample
 * @program: id of the program that the process executes
 * @pc: virtual address
 * @kernel: the operation was executed at EL1 or EL2
 * @time_ns: time of the sample on the clock of task events; ATTRIBUTE_AT_END if it is unknown
 * @ret_pc: the result
 *
 * Context: the caller holds its reader lock of the attributor.
 *
 * Return: false if no mapping is known. The caller then counts the sample for CELL_UNMAPPED, or
 * queues it until /proc has been read.
 */
static inline bool mapping_cache_find(struct mapping_cache *cache, u64 process, u32 program, u64 pc,
				      bool kernel, u64 time_ns, struct mapped_pc *ret_pc)
{
	const struct mapping_entry *e = mapping_cache_get_slot(cache, process, pc);

	if (__builtin_expect(e->process == process && pc - e->start < e->length &&
				     e->epoch == cache->epoch && time_ns >= e->from_ns &&
				     e->owner >> 32 == program,
			     1)) {
		mapping_entry_map_pc(e, pc, ret_pc);
		return true;
	}
	return mapping_cache_find_slow(cache, process, program, pc, kernel, time_ns, ret_pc);
}

/**
 * mapping_cache_get_unmapped() - get the cell of a PC for which mapping_cache_find() returned false
 * @cache, @program: as for mapping_cache_find()
 * @offset: offset of the cell. A live profile passes 0, so that all such PCs of a program share one
 *	cell, because the addresses differ between processes. A recording passes the PC
 * @ret_pc: the result
 */
void mapping_cache_get_unmapped(const struct mapping_cache *cache, u32 program, u64 offset,
				struct mapped_pc *ret_pc);

#endif
