// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of containers, of fixed size. If it is full, containers without a living process are
 * evicted, the longest empty one first. Exited processes of an evicted container then count to
 * "(other)".
 */
#include "attributor-internal.h"

#include "container.h"
#include "tasks/task-event.h"
#include "util/hash.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define REFRESH_NAMES 8 /* searches for names per refresh */
/* The memory for a path of @len bytes, including the overhead of the allocator */
#define CONTAINER_PATH_BYTES(len) (((u64)(len) + 1 + 2 * sizeof(u64) + 15) & ~15ULL)
#define CONTAINER_NAMES_BYTES	  CONTAINER_PATH_BYTES(sizeof(struct pods_names) - 1)
/* Number of containers to evict at a time: each call of containers_evict() visits all processes */
#define EVICT_BATCH 64

static u64 container_hash_path(const struct attributor *a, const char *path, size_t len)
{
	u64 h = a->hash_seed;

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (u8)path[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h;
}

static u32 container_get_other_index(const struct attributor *a)
{
	return a->containers - 1;
}

/* Users choose paths: without a secret key they could create two paths with the same id. */
static u64 container_get_path_id(const struct attributor *a, const char *path, size_t len)
{
	return siphash(a->id_key, path, len);
}

void containers_set_id_key(struct attributor *a, const u64 key[static 2])
{
	memmove(a->id_key, key, sizeof(a->id_key));
	a->container[0].path_id = container_get_path_id(a, "", 0);
	/* Paths start with "/", so the path of no container is "other". */
	a->container[container_get_other_index(a)].path_id = container_get_path_id(a, "other", 5);
	for (u32 i = 1; i < a->containers_used && i < container_get_other_index(a); i++)
		if (a->container[i].in_use)
			a->container[i].path_id = container_get_path_id(a, a->container[i].path,
									a->container[i].path_len);
}

void containers_init(struct attributor *a)
{
	struct container_table_entry *other = &a->container[container_get_other_index(a)];

	a->containers_used = 1;
	a->container_free_list = 0;
	a->container[0].in_use = true;
	containers_set_id_key(a, a->id_key);
	a->container[0].pub.cgroup = "";
	other->pub.cgroup = "";
	a->empty_containers = (struct index_list){ ATTRIBUTE_NONE, ATTRIBUTE_NONE };
	snprintf(other->pub.name, sizeof(other->pub.name), "(other)");
	snprintf(other->pub.runtime, sizeof(other->pub.runtime), "cgroup");
}

static void container_drop_names(struct attributor *a, struct container_table_entry *c)
{
	if (c->pod)
		a->container_text_bytes -= CONTAINER_NAMES_BYTES;
	free(c->pod);
	c->pod = NULL;
}

/*
 * Names of pods may use at most half of &attributor.container_bytes, so that memory is left for
 * cgroup paths. If the allocation of a name fails, the name is truncated. If the allocation of a
 * path fails, the samples of the container are counted as "(other)".
 */
static struct pods_names *container_alloc_names(struct attributor *a)
{
	struct pods_names *names;

	if (a->container_text_bytes + CONTAINER_NAMES_BYTES > a->container_bytes / 2)
		return NULL;
	names = malloc(sizeof(*names));
	if (names)
		a->container_text_bytes += CONTAINER_NAMES_BYTES;
	return names;
}

void container_store_names(struct attributor *a, struct container_table_entry *c,
			   const struct pods_names *names)
{
	char name[PODS_NAME_SIZE];

	pods_format_name(names, "", name);
	if (strlen(name) < sizeof(c->pub.name)) {
		container_drop_names(a, c);
		return;
	}
	if (!c->pod)
		c->pod = container_alloc_names(a);
	if (c->pod)
		*c->pod = *names;
}

/* Start a search for the Kubernetes name. If the queue is full, the next refresh tries again. */
static void container_query_name(struct attributor *a, u32 index)
{
	struct container_table_entry *c = &a->container[index];
	struct proc_query q = {
		.kind = PROC_QUERY_POD,
		.index = index,
		.generation = c->pub.generation,
		.pod = calloc(1, sizeof(*q.pod)),
	};

	if (!q.pod)
		return;
	memcpy(q.pod->uid, c->uid, sizeof(q.pod->uid));
	memcpy(q.pod->id, c->id, sizeof(q.pod->id));
	c->query_pending = true;
	if (attributor_submit_query(a, &q))
		return;
	c->query_pending = false;
	free(q.pod);
}

void container_apply_answer(struct attributor *a, const struct proc_answer *answer)
{
	const struct pods_lookup *pod = answer->query.pod;
	struct container_table_entry *c = &a->container[answer->query.index];

	if (!c->query_pending || c->pub.generation != answer->query.generation)
		return;
	c->query_pending = false;
	if (pod->source != PODS_NOT_FOUND) {
		memcpy(c->pub.name, pod->name, sizeof(c->pub.name));
		container_store_names(a, c, &pod->names);
	}
	pods_retry_schedule(&c->name_retry, pod->source);
	a->containers_unnamed -= !c->name_retry.next;
}

void containers_refresh_names(struct attributor *a)
{
	u32 hand = a->naming_hand, count = a->containers_used - 1, n = 0;

	/*
	 * Search in round-robin order, so that containers that are not found do not delay others.
	 */
	for (u32 k = 0; k < count && a->containers_unnamed; k++) {
		u32 i = 1 + (hand + k) % count;

		if (!pods_retry_tick(&a->container[i].name_retry) || n == REFRESH_NAMES ||
		    a->container[i].query_pending)
			continue;
		container_query_name(a, i);
		a->naming_hand = i;
		n++;
	}
}

static void empty_containers_push(struct attributor *a, u32 index)
{
	struct container_table_entry *c = &a->container[index];

	c->in_empty_list = true;
	c->queued_ms = c->emptied_ms;
	c->list_next = ATTRIBUTE_NONE;
	if (a->empty_containers.first == ATTRIBUTE_NONE)
		a->empty_containers.first = index;
	else
		a->container[a->empty_containers.last].list_next = index;
	a->empty_containers.last = index;
}

/* Remove and return the container that has been empty longest; ATTRIBUTE_NONE if there is none. */
static u32 empty_containers_pop(struct attributor *a)
{
	u32 i;

	while ((i = a->empty_containers.first) != ATTRIBUTE_NONE) {
		struct container_table_entry *c = &a->container[i];

		a->empty_containers.first = c->list_next;
		c->in_empty_list = false;
		if (c->living_processes)
			continue;
		if (c->emptied_ms == c->queued_ms)
			return i;
		/*
		 * The container had a process after it was queued: move it to the end of the queue.
		 */
		empty_containers_push(a, i);
	}
	return ATTRIBUTE_NONE;
}

void container_add_process(struct attributor *a, u32 index)
{
	/* Processes are created in container 0, which does not count its processes. */
	if (index)
		a->container[index].living_processes++;
}

void container_remove_process(struct attributor *a, u32 index)
{
	struct container_table_entry *c = &a->container[index];

	if (!index)
		return;
	assert(c->living_processes);
	if (--c->living_processes || index == container_get_other_index(a))
		return;
	c->emptied_ms = coarse_now_ms();
	if (!c->in_empty_list)
		empty_containers_push(a, index);
}

static void container_remove_from_hash(struct attributor *a, u32 index)
{
	struct container_table_entry *c = &a->container[index];
	u32 *link = &a->container_heads[c->hash & a->container_mask];

	while (*link && *link != index)
		link = &a->container[*link].hash_next;
	if (*link)
		*link = c->hash_next;
}

static void container_evict(struct attributor *a, u32 index)
{
	struct container_table_entry *c = &a->container[index];

	assert(!c->living_processes);
	container_remove_from_hash(a, index);
	container_drop_names(a, c);
	a->container_text_bytes -= CONTAINER_PATH_BYTES(c->path_len);
	free(c->path);
	a->containers_unnamed -= c->name_retry.next != 0;
	/* Tables that store counters by index detect the eviction: they compare the generation. */
	*c = (struct container_table_entry){
		.pub.generation = c->pub.generation + 1,
		.list_next = a->container_free_list,
	};
	a->container_free_list = index;
	a->stats.containers_evicted++;
}

/* Evict some containers, and move their exited processes to "(other)". */
static void containers_evict(struct attributor *a)
{
	u32 n, i;

	for (n = 0; n < EVICT_BATCH && (i = empty_containers_pop(a)) != ATTRIBUTE_NONE; n++)
		container_evict(a, i);
	if (!n)
		return;
	for (i = 0; i < a->processes_used; i++)
		if (!a->container[a->process[i].pub.container].in_use)
			a->process[i].pub.container = container_get_other_index(a);
}

/* Take a free entry. If there is none, evict containers (live). Returns 0 if no entry is free. */
static u32 container_take_entry(struct attributor *a)
{
	u32 i;

	if (a->containers_used < container_get_other_index(a))
		return a->containers_used++;
	/*
	 * Evict nothing in a recording: its samples follow all events, and may need any container.
	 */
	if (!a->container_free_list && a->live)
		containers_evict(a);
	i = a->container_free_list;
	if (i)
		a->container_free_list = a->container[i].list_next;
	return i;
}

/*
 * Copy the path of a new container. Returns NULL if the copy would exceed the limit of all paths
 * and names, or if memory cannot be allocated.
 */
static char *container_copy_path(struct attributor *a, const char *path, size_t len)
{
	u64 bytes = CONTAINER_PATH_BYTES(len);
	char *copy;

	if (a->live && a->container_text_bytes + bytes > a->container_bytes)
		containers_evict(a);
	if (a->container_text_bytes + bytes > a->container_bytes)
		return NULL;
	copy = strndup(path, len);
	if (copy)
		a->container_text_bytes += bytes;
	return copy;
}

static u32 container_find_by_path(const struct attributor *a, u64 hash, const char *path,
				  size_t len)
{
	u32 i = a->container_heads[hash & a->container_mask];

	for (; i; i = a->container[i].hash_next) {
		const struct container_table_entry *c = &a->container[i];

		if (c->hash == hash && c->path_len == len && !memcmp(c->path, path, len))
			return i;
	}
	return 0;
}

static u32 container_new(struct attributor *a, const struct container_match *m, u64 hash,
			 const char *path)
{
	char *copy = container_copy_path(a, path, m->length);
	u32 i = copy ? container_take_entry(a) : 0, *head, generation;
	struct container_table_entry *c;

	if (!i) {
		if (copy)
			a->container_text_bytes -= CONTAINER_PATH_BYTES(m->length);
		free(copy);
		a->stats.containers_overflow++;
		return container_get_other_index(a);
	}
	c = &a->container[i];
	head = &a->container_heads[hash & a->container_mask];
	generation = c->pub.generation;
	*c = (struct container_table_entry){
		.pub = m->entry,
		.path_id = container_get_path_id(a, path, m->length),
		.hash = hash,
		.hash_next = *head,
		.path = copy,
		.path_len = (u32)m->length,
		.in_use = true,
	};
	c->pub.cgroup = copy;
	c->pub.generation = generation;
	*head = i;
	memcpy(c->uid, m->uid, sizeof(c->uid));
	memcpy(c->id, m->id, sizeof(c->id));
	if (*c->uid && a->live) {
		a->containers_unnamed++;
		c->name_retry.next = 1;
		container_query_name(a, i);
	}
	/* The new container is empty. It must be evictable even if no process ever enters it. */
	c->emptied_ms = coarse_now_ms();
	empty_containers_push(a, i);
	return i;
}

u32 container_find_or_add(struct attributor *a, const char *path, size_t len)
{
	struct container_match m;
	u64 hash;
	u32 i;

	if (!container_identify(path, len, &m))
		return 0;
	hash = container_hash_path(a, path, m.length);
	i = container_find_by_path(a, hash, path, m.length);
	return i ? i : container_new(a, &m, hash, path);
}

void containers_deinit(struct attributor *a)
{
	for (u32 i = 0; a->container && i < a->containers; i++) {
		free(a->container[i].pod);
		free(a->container[i].path);
	}
}

u32 container_find_by_cgroup_id(struct attributor *a, u64 id)
{
	struct cgroup_entry *e = cgroup_table_find(&a->cgroups, id);
	bool root;

	if (!e)
		return ATTRIBUTE_NONE;
	root = !strcmp(e->path, "/");
	/*
	 * On a host that also mounts cgroup v1 (no TASK_REPORTS_CGROUPS), a task in the root of
	 * cgroup v2 may be in a container of cgroup v1: return ATTRIBUTE_NONE, so that the caller
	 * reads /proc. On a host with cgroup v2 only, the task is in no container: return 0.
	 */
	if (root)
		return a->reports & TASK_REPORTS_CGROUPS ? 0 : ATTRIBUTE_NONE;
	if (e->container && e->container != container_get_other_index(a) &&
	    e->generation == a->container[e->container].pub.generation)
		return e->container;
	e->container = container_find_or_add(a, e->path, strlen(e->path));
	e->generation = a->container[e->container].pub.generation;
	return e->container;
}

const struct attribute_container *attributor_get_container(const struct attributor *a, u32 index)
{
	if (index == container_get_other_index(a))
		return &a->container[index].pub;
	return index < a->containers_used && a->container[index].in_use ? &a->container[index].pub :
									  NULL;
}

void attributor_get_container_details(const struct attributor *a, u32 index,
				      struct container_details *ret_details)
{
	static const struct pods_names none;
	const struct container_table_entry *c = &a->container[index];
	bool empty =
		a->live && index && index != container_get_other_index(a) && !c->living_processes;
	u32 empty_ms = coarse_now_ms() - c->emptied_ms;

	*ret_details = (struct container_details){
		.id = c->path_id,
		.empty_ns = empty ? ((u64)empty_ms + 1) * 1000000 : 0,
		.pod = c->pod ? c->pod : &none,
	};
}

u32 attributor_get_container_limit(const struct attributor *a)
{
	return a->stats.containers_overflow || a->stats.containers_evicted ? a->containers :
									     a->containers_used;
}

u32 attributor_get_other_container(const struct attributor *a)
{
	return container_get_other_index(a);
}
