/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table that maps the ids of cgroups in the cgroup v2 hierarchy to their paths. Task events
 * contain the ids. The number of entries and the bytes of all paths are limited. The kernel does
 * not reuse an id before the next boot.
 */
#ifndef SPEPROF_CGROUP_TABLE_H
#define SPEPROF_CGROUP_TABLE_H

#include "codec/env.h"

/* Entries of a set of &cgroup_table.entries. */
#define CGROUP_WAYS 8

/**
 * struct cgroup_entry - a cgroup
 * @id: id of the cgroup; 0 if the entry is free
 * @path: path from the machine's root, raw; allocated
 * @container, @generation: index and generation of its container, cached by the owner of the table;
 * initially 0
 * @removed: whether the cgroup was removed
 */
struct cgroup_entry {
	u64 id;
	char *path;
	u32 container;
	u32 generation;
	bool removed;
};

/**
 * struct cgroup_table - a set-associative hash table
 * @entries: @sets sets of CGROUP_WAYS entries; @sets is a power of two
 * @evict_hand: next entry of a full set to evict, modulo CGROUP_WAYS
 * @path_evict_hand: next entry to evict if paths need memory
 * @path_bytes: bytes of all paths, at most @limit
 * @mount: descriptor of the cgroup v2 hierarchy, which is mounted at @mount_path; negative if none
 * is mounted
 */
struct cgroup_table {
	struct cgroup_entry *entries;
	u32 sets;
	u32 evict_hand;
	u32 path_evict_hand;
	u64 path_bytes;
	u64 limit;
	int mount;
	char mount_path[64];
};

/**
 * cgroup_table_init() - allocate the entries of @table
 * @capacity: number of cgroups
 * @bytes: limit of the memory for all paths
 *
 * Return: 0 or -ENOMEM.
 */
int cgroup_table_init(struct cgroup_table *table, u32 capacity, u64 bytes);

/** cgroup_table_deinit() - free the memory of @table */
void cgroup_table_deinit(struct cgroup_table *table);

/**
 * cgroup_table_find() - return the cgroup @id
 *
 * If @table does not have it, the file system is queried.
 *
 * Return: the entry, valid until the next call of cgroup_table_find() or cgroup_table_set_path();
 * NULL if the cgroup is unknown.
 */
struct cgroup_entry *cgroup_table_find(struct cgroup_table *table, u64 id);

/**
 * cgroup_table_set_path() - set the path of cgroup @id in @table to a copy of @path
 *
 * A path of CONTAINER_PATH_SIZE bytes or more may be truncated, so it is not stored.
 *
 * Return: the entry, valid until the next call of cgroup_table_find() or cgroup_table_set_path();
 * NULL if memory cannot be allocated, or if the path is too long.
 */
struct cgroup_entry *cgroup_table_set_path(struct cgroup_table *table, u64 id, const char *path);

/**
 * cgroup_table_mark_removed() - mark cgroup @id in @table as removed
 *
 * Its entry will be evicted first. It is not freed yet, because events of its tasks may follow.
 */
void cgroup_table_mark_removed(struct cgroup_table *table, u64 id);

/** cgroup_table_get_memory() - return the bytes that @table and its paths use */
u64 cgroup_table_get_memory(const struct cgroup_table *table);

#endif
