/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table that assigns ids to byte strings, for binary-table.h and program-table.h. An id is stable
 * until a sweep frees it: the owner of the table marks all ids in use, and the sweep frees the
 * others. The number and the memory of the strings are limited. A string that does not fit has the
 * id ID_OTHER.
 *
 * Locking: the table has a lock, so any thread may call the functions.
 */
#ifndef SPEPROF_ID_TABLE_H
#define SPEPROF_ID_TABLE_H

#include "codec/env.h"
#include "util/serialize.h"

#include <pthread.h>

/* the id of all strings that do not fit into the table */
#define ID_OTHER 0
/* all ids are below this number */
#define ID_LIMIT (1U << 20)

/**
 * struct id_entry - a string with an id, and the value that the owner stores for it
 * @hash: hash of the string
 * @next: next entry in the hash chain
 * @key_size, @value_size: bytes of the string, and of the value
 * @bytes: the string, followed by the value
 */
struct id_entry {
	u64 hash;
	u32 next;
	u32 key_size;
	u32 value_size;
	u8 bytes[];
};

/**
 * struct id_table_stats - statistics of a table
 * @used: number of ids in use
 * @capacity: maximum number of ids
 * @bytes: memory in use
 * @refused: number of times that id_table_find_or_add() returned ID_OTHER
 * @freed: number of ids that id_table_sweep() has freed
 */
struct id_table_stats {
	u32 used;
	u32 capacity;
	u64 bytes;
	u64 refused;
	u64 freed;
};

/**
 * struct id_table - the table; all fields are private
 * @lock: protects all fields
 * @key: key of the hash: users choose the paths of binaries
 * @limit: limit of the memory of the entries, bytes
 * @memory: memory of the entries, bytes
 * @entry: the entries, indexed by id
 * @marked: indexed by id: whether the id was marked since the last sweep
 * @heads: first id of each hash chain, indexed by hash; @mask + 1 entries
 * @fresh: first id that was never used
 * @free: freed ids, @free_count of them
 * @sweeps: number of sweeps that have freed an id
 */
struct id_table {
	pthread_mutex_t lock;
	u64 key[2];
	u64 limit;
	u64 memory;
	struct id_entry **entry;
	bool *marked;
	u32 *heads;
	u32 mask;
	u32 fresh;
	u32 *free;
	u32 free_count;
	u64 sweeps;
	struct id_table_stats stats;
};

/**
 * id_table_init() - prepare an empty table
 * @capacity: maximum number of ids, without ID_OTHER; at least 1, below ID_LIMIT
 * @bytes: limit of the memory of strings and values
 *
 * Return: 0 or -ENOMEM.
 */
int id_table_init(struct id_table *table, u32 capacity, u64 bytes);

/** id_table_deinit() - free the memory; @table may be all zeros */
void id_table_deinit(struct id_table *table);

/**
 * id_table_find_or_add() - return the id of a string, a new one if it has none
 * @key, @key_size: the string
 * @value, @value_size: the value to store for a new id
 *
 * Return: the id, or ID_OTHER.
 */
u32 id_table_find_or_add(struct id_table *table, const void *key, u32 key_size, const void *value,
			 u32 value_size);

/**
 * id_table_get_value() - return the value of an id; NULL if the id is not in use
 *
 * The pointer is valid until the next sweep.
 */
const void *id_table_get_value(struct id_table *table, u32 id);

/**
 * id_table_get_next() - return the next id in use after @id; the first one for 0; 0 after the last
 */
u32 id_table_get_next(struct id_table *table, u32 id);

/**
 * id_table_mark() - mark an id as in use, before id_table_sweep()
 *
 * The owner marks the ids of all of its cells. Ids that id_table_find_or_add() returns meanwhile
 * are marked as well.
 */
void id_table_mark(struct id_table *table, u32 id);

/**
 * id_table_clear_marks() - remove all marks
 *
 * Call it before id_table_mark(), while no thread has an id that is not in a cell yet.
 */
void id_table_clear_marks(struct id_table *table);

/**
 * id_table_is_nearly_full() - return whether at most an eighth of the ids, or of the memory, is
 * free
 */
bool id_table_is_nearly_full(struct id_table *table);

/**
 * id_table_sweep() - free all ids that are not marked, and remove all marks
 *
 * Caches of ids are invalid if the result is not 0: see id_table_get_sweeps().
 *
 * Return: the number of ids that were freed.
 */
u32 id_table_sweep(struct id_table *table);

/** id_table_get_sweeps() - return the number of sweeps that have freed an id */
u64 id_table_get_sweeps(struct id_table *table);

/** id_table_get_stats() - copy the statistics */
void id_table_get_stats(struct id_table *table, struct id_table_stats *ret_stats);

/* Reads the saved value of @id. Returns its current id, or ID_OTHER if @from is invalid. */
typedef u32 (*id_load_fn)(void *ctx, struct deserializer *from, u32 id);

/**
 * id_table_load() - read a list of saved ids
 * @from: the bytes, which may be hostile: each id, at least 1, followed by its saved value; then 0
 * @load: called for each id
 * @ctx: argument of @load
 * @ret_ids: current ids, indexed by saved id; other entries are ID_OTHER. free() it
 * @ret_count: number of entries, at most ID_LIMIT
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated.
 */
int id_table_load(struct deserializer *from, id_load_fn load, void *ctx, u32 **ret_ids,
		  u32 *ret_count);

#endif
