/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths of cgroups by their ids, as events name them: of the default hierarchy, in fixed
 * memory, which also bounds the bytes of the paths. An id is never used again for another cgroup as long as the machine runs.
 */
#ifndef SPEPROF_CGROUP_TABLE_H
#define SPEPROF_CGROUP_TABLE_H

#include "codec/env.h"

#define CGROUP_WAYS 8

/**
 * struct cgroup_entry
 * @id: 0 where the place is free
 * @path: raw; allocated
 * @container, @generation: for the owner of the table to note; 0 to begin with
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

/** cgroups_init() - room for @capacity of them, of which all paths take @bytes at most */
int cgroups_init(struct cgroup_table *table, u32 capacity, u64 bytes);
void cgroups_deinit(struct cgroup_table *table);

/** cgroups_find() - the cgroup @id: as events told, else as the file system tells; or NULL */
struct cgroup_entry *cgroups_find(struct cgroup_table *table, u64 id);

/** cgroups_set() - @id is at @path; NULL where memory is short, or @path may not be all of it */
struct cgroup_entry *cgroups_set(struct cgroup_table *table, u64 id, const char *path);

/** cgroups_mark_removed() - @id was removed: its entry is the first to go, tasks of it may still be told */
void cgroups_mark_removed(struct cgroup_table *table, u64 id);

u64 cgroups_memory(const struct cgroup_table *table);

#endif
