// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The containers there are and were, in a table of fixed size. One in which no process
 * lives any more gives way, the longest empty first; what the dead still have of it counts
 * to "(other)" then.
 */
#include "attributor-internal.h"

#include "container-details.h"
#include "container.h"
#include "tasks/task-event.h"
#include "util/siphash.h"

#include <stdio.h>
#include <stdlib.h>

#define REFRESH_NAMES 8
/* As the allocator has it. */
#define CONTAINER_PATH_BYTES(len) (((u64)(len) + 1 + 2 * sizeof(u64) + 15) & ~15ULL)
#define CONTAINER_NAMES_BYTES	  CONTAINER_PATH_BYTES(sizeof(struct pods_names) - 1)
#define EVICT_BATCH   64 /* at once, since all processes have to be looked through */

static u64 container_hash(const struct attributor *a, const char *path, size_t len)
{
	u64 h = a->seed;

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (u8)path[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h;
}

static u32 other_index(const struct attributor *a)
{
	return a->containers - 1;
}

/* Paths are users' choice: who knew the key could give two of them one number. */
static u64 path_id(const struct attributor *a, const char *path, size_t len)
{
	return siphash(a->id_key, path, len);
}

void containers_key(struct attributor *a, const u64 key[static 2])
{
	memmove(a->id_key, key, sizeof(a->id_key));
	a->container[0].path_id = path_id(a, "", 0);
	/* A path begins with "/". */
	a->container[other_index(a)].path_id = path_id(a, "other", 5);
	for (u32 i = 1; i < other_index(a); i++)
		if (a->container[i].in_use)
			a->container[i].path_id =
				path_id(a, a->container[i].path, a->container[i].path_len);
}

void containers_init(struct attributor *a)
{
	struct container *other = &a->container[other_index(a)];

	a->containers_used = 1;
	a->container_free = 0;
	a->container[0].in_use = true;
	containers_key(a, a->id_key);
	a->container[0].pub.cgroup = "";
	other->pub.cgroup = "";
	a->left = (struct dead_list){ ATTRIBUTE_NONE, ATTRIBUTE_NONE };
	snprintf(other->pub.name, sizeof(other->pub.name), "(other)");
	snprintf(other->pub.runtime, sizeof(other->pub.runtime), "cgroup");
}

static void container_drop_names(struct attributor *a, struct container *c)
{
	if (c->pod)
		a->container_paths -= CONTAINER_NAMES_BYTES;
	free(c->pod);
	c->pod = NULL;
}

/* Half of the bytes is for paths alone: a name may be cut, a container without its path is lost. */
static struct pods_names *container_names(struct attributor *a)
{
	struct pods_names *names;

	if (a->container_paths + CONTAINER_NAMES_BYTES > a->container_bytes / 2)
		return NULL;
	names = malloc(sizeof(*names));
	if (names)
		a->container_paths += CONTAINER_NAMES_BYTES;
	return names;
}

/* Few have names so long; without memory a name is one that is cut. */
void container_store_names(struct attributor *a, struct container *c,
			   const struct pods_names *names)
{
	char whole[PODS_WHOLE];

	pods_whole(names, "", whole);
	if (strlen(whole) < sizeof(c->pub.name)) {
		container_drop_names(a, c);
		return;
	}
	if (!c->pod)
		c->pod = container_names(a);
	if (c->pod)
		*c->pod = *names;
}

/* Ask for Kubernetes' own name for a container; if that fails now, the next refresh asks again. */
static void container_ask_name(struct attributor *a, u32 index)
{
	struct container *c = &a->container[index];
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
	c->querying = true;
	if (attributor_query(a, &q))
		return;
	c->querying = false;
	free(q.pod);
}

/* Kubelet may link a container's log only later. */
void container_answered(struct attributor *a, const struct proc_answer *answer)
{
	const struct pods_lookup *pod = answer->query.pod;
	struct container *c = &a->container[answer->query.index];

	if (!c->querying || c->pub.generation != answer->query.generation)
		return;
	c->querying = false;
	if (pod->source != PODS_NOTHING) {
		memcpy(c->pub.name, pod->name, sizeof(c->pub.name));
		container_store_names(a, c, &pod->names);
	}
	pods_schedule(&c->link, pod->source);
	a->naming -= !c->link.next;
}

void containers_refresh(struct attributor *a)
{
	u32 hand = a->hand_naming, count = a->containers_used - 1, n = 0;

	/* In turn: those without a link must not keep others from having theirs. */
	for (u32 k = 0; k < count && a->naming; k++) {
		u32 i = 1 + (hand + k) % count;

		if (!pods_due(&a->container[i].link) || n == REFRESH_NAMES ||
		    a->container[i].querying)
			continue;
		container_ask_name(a, i);
		a->hand_naming = i;
		n++;
	}
}

static void empty_containers_push(struct attributor *a, u32 index)
{
	struct container *c = &a->container[index];

	c->in_list = true;
	c->queued = c->left;
	c->next = ATTRIBUTE_NONE;
	if (a->left.first == ATTRIBUTE_NONE)
		a->left.first = index;
	else
		a->container[a->left.last].next = index;
	a->left.last = index;
}

/* The one without a living process for the longest, or ATTRIBUTE_NONE. */
static u32 empty_containers_pop(struct attributor *a)
{
	u32 i;

	while ((i = a->left.first) != ATTRIBUTE_NONE) {
		struct container *c = &a->container[i];

		a->left.first = c->next;
		c->in_list = false;
		if (c->living)
			continue;
		if (c->left == c->queued)
			return i;
		/* Somebody lived in it since. */
		empty_containers_push(a, i);
	}
	return ATTRIBUTE_NONE;
}

void container_add_process(struct attributor *a, u32 index)
{
	a->container[index].living++;
}

void container_remove_process(struct attributor *a, u32 index)
{
	struct container *c = &a->container[index];

	if (c->living)
		c->living--;
	if (c->living || !index || index == other_index(a))
		return;
	c->left = now_ms();
	if (!c->in_list)
		empty_containers_push(a, index);
}

static void container_unhash(struct attributor *a, u32 index)
{
	struct container *c = &a->container[index];
	u32 *at = &a->container_heads[c->hash & a->container_mask];

	while (*at && *at != index)
		at = &a->container[*at].hash_next;
	if (*at)
		*at = c->hash_next;
}

static void container_evict(struct attributor *a, u32 index)
{
	struct container *c = &a->container[index];

	container_unhash(a, index);
	container_drop_names(a, c);
	a->container_paths -= CONTAINER_PATH_BYTES(c->path_len);
	free(c->path);
	a->naming -= c->link.next != 0;
	/* The next one has another generation: figures that are kept by index tell by it. */
	*c = (struct container){
		.pub.generation = c->pub.generation + 1,
		.next = a->container_free,
	};
	a->container_free = index;
	a->stats.containers_evicted++;
}

/* Make room for some. Processes that are dead may still point to those that go. */
static void containers_evict(struct attributor *a)
{
	u32 n, i;

	for (n = 0; n < EVICT_BATCH && (i = empty_containers_pop(a)) != ATTRIBUTE_NONE; n++)
		container_evict(a, i);
	if (!n)
		return;
	for (i = 0; i < a->fresh; i++)
		if (!a->container[a->process[i].pub.container].in_use)
			a->process[i].pub.container = other_index(a);
}

/* An entry that is free, or 0. */
static u32 container_room(struct attributor *a)
{
	u32 i;

	if (a->containers_used < other_index(a))
		return a->containers_used++;
	/* All of a recording's tasks are told before its first sample: no end is final. */
	if (!a->container_free && a->live)
		containers_evict(a);
	i = a->container_free;
	if (i)
		a->container_free = a->container[i].next;
	return i;
}

/* A copy of the path of a container that is new; NULL where paths take too much already. */
static char *container_path(struct attributor *a, const char *path, size_t len)
{
	u64 bytes = CONTAINER_PATH_BYTES(len);
	char *copy;

	if (a->live && a->container_paths + bytes > a->container_bytes)
		containers_evict(a);
	if (a->container_paths + bytes > a->container_bytes)
		return NULL;
	copy = strndup(path, len);
	if (copy)
		a->container_paths += bytes;
	return copy;
}

static u32 container_find(const struct attributor *a, u64 hash, const char *path, size_t len)
{
	u32 i = a->container_heads[hash & a->container_mask];

	for (; i; i = a->container[i].hash_next) {
		const struct container *c = &a->container[i];

		if (c->hash == hash && c->path_len == len && !memcmp(c->path, path, len))
			return i;
	}
	return 0;
}

static u32 container_new(struct attributor *a, const struct container_match *m, u64 hash,
			 const char *path)
{
	char *copy = container_path(a, path, m->length);
	u32 i = copy ? container_room(a) : 0, *head, generation;
	struct container *c;

	if (!i) {
		if (copy)
			a->container_paths -= CONTAINER_PATH_BYTES(m->length);
		free(copy);
		a->stats.containers_overflow++;
		return other_index(a);
	}
	c = &a->container[i];
	head = &a->container_heads[hash & a->container_mask];
	generation = c->pub.generation;
	*c = (struct container){
		.pub = m->entry,
		.path_id = path_id(a, path, m->length),
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
		a->naming++;
		c->link.next = 1;
		container_ask_name(a, i);
	}
	/* Nobody lives in it yet: it must be found if nobody ever does. */
	c->left = now_ms();
	empty_containers_push(a, i);
	return i;
}

u32 container_index(struct attributor *a, const char *path, size_t len)
{
	struct container_match m;
	u64 hash;
	u32 i;

	if (!container_identify(path, len, &m))
		return 0;
	hash = container_hash(a, path, m.length);
	i = container_find(a, hash, path, m.length);
	return i ? i : container_new(a, &m, hash, path);
}

void containers_deinit(struct attributor *a)
{
	for (u32 i = 0; a->container && i < a->containers; i++) {
		free(a->container[i].pod);
		free(a->container[i].path);
	}
}

u32 container_of_cgroup(struct attributor *a, u64 id)
{
	struct cgroup_entry *e = cgroups_find(&a->cgroups, id);
	bool root;

	if (!e)
		return ATTRIBUTE_NONE;
	root = !strcmp(e->path, "/");
	/* Beside version 1, version 2's root is where those are who are nowhere in it. */
	if (root)
		return a->reports & TASK_REPORTS_CGROUPS ? 0 : ATTRIBUTE_NONE;
	if (e->container && e->container != other_index(a) &&
	    e->generation == a->container[e->container].pub.generation)
		return e->container;
	e->container = container_index(a, e->path, strlen(e->path));
	e->generation = a->container[e->container].pub.generation;
	return e->container;
}

const struct attribute_container *attributor_container(const struct attributor *a, u32 index)
{
	if (index == other_index(a))
		return &a->container[index].pub;
	return index < a->containers_used && a->container[index].in_use ? &a->container[index].pub :
									  NULL;
}

void container_details_get(const struct attributor *a, u32 index,
			   struct container_details *ret_facts)
{
	static const struct pods_names none;
	const struct container *c = &a->container[index];
	bool empty = a->live && index && index != other_index(a) && !c->living;
	u32 left = now_ms() - c->left;

	*ret_facts = (struct container_details){
		.id = c->path_id,
		.left_ns = empty ? ((u64)left + 1) * 1000000 : 0,
		.pod = c->pod ? c->pod : &none,
	};
}

u32 attributor_containers(const struct attributor *a)
{
	return a->stats.containers_overflow || a->stats.containers_evicted ? a->containers :
									     a->containers_used;
}

u32 attributor_container_other(const struct attributor *a)
{
	return other_index(a);
}
