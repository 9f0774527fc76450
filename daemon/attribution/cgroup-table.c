// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup-table.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "container.h"
#include "util/cgroup-mount.h"

/* type of a file handle that contains the cgroup id: FILEID_KERNFS of the kernel */
#define HANDLE_KERNFS 0xfe

int cgroup_table_init(struct cgroup_table *t, u32 capacity, u64 bytes)
{
	const char *mount_path;
	u32 sets = 1;

	while (sets * CGROUP_WAYS < capacity)
		sets <<= 1;
	*t = (struct cgroup_table){ .sets = sets, .limit = bytes, .mount = -1 };
	t->entries = calloc((size_t)sets * CGROUP_WAYS, sizeof(*t->entries));
	if (!t->entries)
		return -ENOMEM;
	t->mount = cgroup_mount_open(O_RDONLY, &mount_path);
	if (t->mount >= 0)
		snprintf(t->mount_path, sizeof(t->mount_path), "%s", mount_path);
	return 0;
}

void cgroup_table_deinit(struct cgroup_table *t)
{
	if (!t->entries)
		return;
	for (size_t i = 0; i < (size_t)t->sets * CGROUP_WAYS; i++)
		free(t->entries[i].path);
	free(t->entries);
	t->entries = NULL;
	if (t->mount >= 0)
		close(t->mount);
}

u64 cgroup_table_get_memory(const struct cgroup_table *t)
{
	return (u64)t->sets * CGROUP_WAYS * sizeof(*t->entries) + t->path_bytes;
}

static struct cgroup_entry *table_find_entry_set(struct cgroup_table *t, u64 id)
{
	u64 h = id * 0x9e3779b97f4a7c15ULL;

	return &t->entries[(h >> 32 & (t->sets - 1)) * CGROUP_WAYS];
}

static struct cgroup_entry *entry_find(struct cgroup_table *t, u64 id)
{
	struct cgroup_entry *set = table_find_entry_set(t, id);

	for (u32 i = 0; i < CGROUP_WAYS; i++)
		if (set[i].id == id)
			return &set[i];
	return NULL;
}

/*
 * Choose a free entry, else one of a removed cgroup, else the next one. A cgroup that still exists
 * can be queried again later.
 */
static struct cgroup_entry *entry_choose_victim(struct cgroup_table *t, struct cgroup_entry *set)
{
	struct cgroup_entry *removed = NULL;

	for (u32 i = 0; i < CGROUP_WAYS; i++) {
		if (!set[i].id)
			return &set[i];
		if (set[i].removed)
			removed = &set[i];
	}
	return removed ? removed : &set[t->evict_hand++ % CGROUP_WAYS];
}

/* Returns the size of the allocation for @path, with the estimated overhead of the allocator. */
static u64 path_get_alloc_size(const char *path)
{
	return (strlen(path) + 1 + 2 * sizeof(u64) + 15) & ~15ULL;
}

static void entry_clear(struct cgroup_table *t, struct cgroup_entry *e)
{
	if (e->path)
		t->path_bytes -= path_get_alloc_size(e->path);
	free(e->path);
	*e = (struct cgroup_entry){ 0 };
}

/* Evict entries until @bytes of paths fit. An evicted cgroup can be queried again later. */
static bool paths_reserve(struct cgroup_table *t, u64 bytes)
{
	u32 count = t->sets * CGROUP_WAYS;

	if (bytes > t->limit)
		return false;
	while (bytes > t->limit - t->path_bytes) {
		entry_clear(t, &t->entries[t->path_evict_hand]);
		t->path_evict_hand = (t->path_evict_hand + 1) % count;
	}
	return true;
}

struct cgroup_entry *cgroup_table_set_path(struct cgroup_table *t, u64 id, const char *path)
{
	struct cgroup_entry *e;
	char *copy;

	if (!t->entries || !id)
		return NULL;
	e = entry_find(t, id);
	/*
	 * The path may be truncated, so leave it to cgroup_table_find() to query the file system.
	 */
	if (strlen(path) >= CONTAINER_PATH_SIZE) {
		if (e)
			entry_clear(t, e);
		return NULL;
	}
	if (e && !strcmp(e->path, path))
		return e;
	if (e)
		entry_clear(t, e);
	copy = paths_reserve(t, path_get_alloc_size(path)) ? strdup(path) : NULL;
	if (!copy)
		return NULL;
	e = entry_choose_victim(t, table_find_entry_set(t, id));
	entry_clear(t, e);
	t->path_bytes += path_get_alloc_size(copy);
	*e = (struct cgroup_entry){ .id = id, .path = copy };
	return e;
}

/* Find the path of cgroup @id through the file system, and store it. */
static struct cgroup_entry *entry_query_path(struct cgroup_table *t, u64 id)
{
	struct {
		struct file_handle head;
		u64 id;
	} handle = { .head = { .handle_bytes = sizeof(u64), .handle_type = HANDLE_KERNFS } };
	char link[32], path[PATH_MAX];
	size_t prefix = strlen(t->mount_path);
	ssize_t n;
	int fd;

	if (t->mount < 0)
		return NULL;
	memcpy(handle.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(t->mount, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (n < (ssize_t)prefix || memcmp(path, t->mount_path, prefix))
		return NULL;
	n = (ssize_t)(prefix +
		      container_path_get_clipped_length(path + prefix, (size_t)n - prefix));
	path[n] = '\0';
	return cgroup_table_set_path(t, id, path[prefix] ? path + prefix : "/");
}

struct cgroup_entry *cgroup_table_find(struct cgroup_table *t, u64 id)
{
	struct cgroup_entry *e;

	if (!t->entries || !id)
		return NULL;
	e = entry_find(t, id);
	return e ? e : entry_query_path(t, id);
}

void cgroup_table_mark_removed(struct cgroup_table *t, u64 id)
{
	struct cgroup_entry *e = t->entries && id ? entry_find(t, id) : NULL;

	if (e)
		e->removed = true;
}
