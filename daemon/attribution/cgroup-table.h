/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths of cgroups of the default hierarchy by their ids, which events contain. The table has
 * fixed memory, which also limits the bytes of the paths. The kernel does not reuse an id until
 * the machine restarts.
 */
#ifndef SPEPROF_CGROUP_TABLE_H
#define SPEPROF_CGROUP_TABLE_H

#include "codec/env.h"

#define CGROUP_WAYS 8

/**
 * struct cgroup_entry - a cgroup
 * @id: its id; 0 if the entry is free
 * @path: its path, raw; allocated
 * @container, @generation: for use by the owner of the table; initially 0
 * @removed: the cgroup was removed
 */
struct cgroup_entry {
	u64 id;
	char *path;
	u32 container;
	u32 generation;
	bool removed;
};

struct cgroup_table {
	struct cgroup_entry *entries;
	u32 sets; /* a power of two */
	u32 hand;
	u32 hand_paths;
	u64 path_bytes;
	u64 limit; /* of @path_bytes */
	int mount;
	char mount_path[64];
};

/** cgroups_init() - allocate a table of @capacity cgroups, whose paths take at most @bytes bytes */
int cgroups_init(struct cgroup_table *table, u32 capacity, u64 bytes);

/** cgroups_deinit() - free the table's memory */
void cgroups_deinit(struct cgroup_table *table);

/**
 * cgroups_find() - return the cgroup @id, from events or else from the file system; NULL if
 * unknown
 */
struct cgroup_entry *cgroups_find(struct cgroup_table *table, u64 id);

/**
 * cgroups_set() - set the path of cgroup @id
 *
 * Return: the entry; NULL without memory, or if @path may be truncated.
 */
struct cgroup_entry *cgroups_set(struct cgroup_table *table, u64 id, const char *path);

/**
 * cgroups_mark_removed() - note that cgroup @id was removed
 *
 * Its entry is the first to be evicted. It is not freed yet, because events of its tasks may
 * follow.
 */
void cgroups_mark_removed(struct cgroup_table *table, u64 id);

/** cgroups_memory() - return the bytes that the table and its paths use */
u64 cgroups_memory(const struct cgroup_table *table);

#endif
