// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attributor-save.h"

#include "attributor-internal.h"
#include "container.h"
#include "map-save-selection.h"
#include "util/escape.h"

#include <errno.h>
#include <stdlib.h>

/* Limit (exclusive) of the number of binaries in a checkpoint. */
#define BINARIES_MAX (1U << 20)

/*
 * Flags of a saved process for &process_table_entry.has_image, the state PROCESS_DEAD, and
 * &process_table_entry.exit_reported.
 */
enum { PROCESS_SAVED_IMAGE = 1, PROCESS_SAVED_DEAD = 2, PROCESS_SAVED_EXITED = 4 };

/* Save each mapped file once. Mappings refer to it by &mapped_binary.number. */
static void binaries_save(const struct map_selection *selection, struct serializer *to)
{
	serialize_u64(to, selection->binaries);
	for (u32 i = 0; i < selection->binaries; i++) {
		const struct mapped_binary *b = selection->binary[i];

		serialize_u64(to, b->inode);
		serialize_u64(to, b->device);
		serialize_bytes(to, b->build_id, b->build_id_size);
		serialize_string(to, b->path);
	}
}

static void containers_save(const struct attributor *a, struct serializer *to)
{
	u32 other = attributor_get_other_container(a), count = 0;

	for (u32 i = 1; i < other; i++)
		count += a->container[i].in_use;
	serialize_u64(to, a->id_key[0]);
	serialize_u64(to, a->id_key[1]);
	serialize_u64(to, other);
	serialize_u64(to, count);
	for (u32 i = 1; i < other; i++) {
		if (!a->container[i].in_use)
			continue;
		serialize_u64(to, i);
		serialize_u64(to, a->container[i].pub.generation);
		serialize_string(to, a->container[i].path);
	}
}

static void process_save(const struct attributor *a, u32 index, struct serializer *to)
{
	u32 predecessor = process_get_sampled_predecessor(a, index), count;
	const struct process_table_entry *p = &a->process[index];

	serialize_u64(to, index);
	serialize_u64(to, p->pub.generation);
	serialize_u64(to, (u64)p->pub.pid);
	serialize_u64(to, p->pub.container);
	serialize_u64(to, (p->has_image ? PROCESS_SAVED_IMAGE : 0) |
				  (p->state == PROCESS_DEAD ? PROCESS_SAVED_DEAD : 0) |
				  (p->exit_reported ? PROCESS_SAVED_EXITED : 0));
	serialize_u64(to, predecessor == ATTRIBUTE_NONE ? index : predecessor);
	serialize_u64(to, a->valid_from_ns[index]);
	serialize_u64(to, p->forked_ns);
	serialize_u64(to, p->start_time);
	serialize_u64(to, p->start_code);
	serialize_u64(to, p->start_stack);
	serialize_string(to, p->pub.comm);
	count = p->maps_saved ? p->maps.count : 0;
	serialize_u64(to, count);
	for (u32 i = 0; i < count; i++) {
		const struct mapping *m = &p->maps.entry[i];

		serialize_u64(to, m->start);
		serialize_u64(to, m->end - m->start);
		serialize_u64(to, m->offset);
		serialize_u64(to, m->binary->number);
	}
}

/*
 * Returns whether process @index exited no later than @other. ATTRIBUTE_NONE, which either may be,
 * counts as later than all processes.
 */
static bool process_exited_earlier(const struct attributor *a, u32 index, u32 other, u32 now)
{
	if (index == ATTRIBUTE_NONE || other == ATTRIBUTE_NONE)
		return other == ATTRIBUTE_NONE;
	return now - a->process[index].died_ms >= now - a->process[other].died_ms;
}

/* Save exited processes, the earliest exit first. */
static void dead_processes_save(const struct attributor *a, struct serializer *to)
{
	u32 sampled = a->dead.first, unsampled = a->dead_unsampled.first, now = coarse_now_ms();

	while (sampled != ATTRIBUTE_NONE || unsampled != ATTRIBUTE_NONE) {
		u32 *next =
			process_exited_earlier(a, sampled, unsampled, now) ? &sampled : &unsampled;

		if (process_has_samples(a, *next))
			process_save(a, *next, to);
		*next = a->process[*next].dead_next;
	}
}

/*
 * Loading creates the entries in this order. A PID belongs to the entry that was created last, so
 * the living owner of a PID is saved after its exited owners. Entries of exited processes are
 * reused in the order in which they were marked dead, so the earliest exit is saved first.
 */
static void processes_save(const struct attributor *a, struct serializer *to)
{
	dead_processes_save(a, to);
	for (u32 i = 0; i < a->processes_used; i++)
		if (a->process[i].state == PROCESS_LIVING && process_has_samples(a, i))
			process_save(a, i, to);
}

void attributor_save(struct attributor *attributor, struct serializer *to)
{
	struct attributor *a = attributor;
	struct map_selection selection;
	u32 count = 0;

	map_selection_choose(a, a->saved_map_bytes, &selection);
	a->stats.mappings_unsaved = selection.unselected;
	binaries_save(&selection, to);
	map_selection_deinit(&selection);
	containers_save(a, to);
	for (u32 i = 0; i < a->processes_used; i++)
		count += process_has_samples(a, i);
	serialize_u64(to, a->processes_used);
	serialize_u64(to, a->process[IDLE_PROCESS].pub.generation);
	serialize_u64(to, count);
	processes_save(a, to);
}

/** struct saved_binary - a restored file; @path is NULL if the saved path is too long */
struct saved_binary {
	u64 inode;
	u32 device;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	char *path;
};

struct saved_binaries {
	struct saved_binary *entry;
	u32 count;
};

static void binaries_free(struct saved_binaries *binaries)
{
	for (u32 i = 0; i < binaries->count; i++)
		free(binaries->entry[i].path);
	free(binaries->entry);
}

static int binaries_load(struct deserializer *from, struct saved_binaries *ret)
{
	/* A serialized file has at least four bytes: check @count before allocating memory. */
	u32 count = (u32)deserialize_u64_below(from, BINARIES_MAX);
	char path[BINARY_PATH_SIZE];

	if (count > (from->len - from->pos) / 4)
		from->bad = true;
	if (from->bad)
		return -EBADMSG;
	ret->entry = calloc(count ? count : 1, sizeof(*ret->entry));
	if (!ret->entry)
		return -ENOMEM;
	for (; ret->count < count && !from->bad; ret->count++) {
		struct saved_binary *b = &ret->entry[ret->count];

		b->inode = deserialize_u64(from);
		b->device = (u32)deserialize_u64(from);
		b->build_id_size = (u8)deserialize_bytes(from, b->build_id, sizeof(b->build_id));
		/* If a path is too long, only the mappings of this file become unavailable. */
		if (!deserialize_string_or_skip(from, path, sizeof(path)))
			continue;
		b->path = strdup(path);
		if (!b->path)
			return -ENOMEM;
	}
	return from->bad ? -EBADMSG : 0;
}

static int alloc_restored_locations(u32 count, struct restored_entry_location **ret_moved)
{
	struct restored_entry_location *moved = calloc(count ? count : 1, sizeof(*moved));

	if (!moved)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		moved[i].index = ATTRIBUTE_NONE;
	*ret_moved = moved;
	return 0;
}

static void container_remap_to_other(const struct attributor *a,
				     struct restored_entry_location *moved)
{
	moved->index = attributor_get_other_container(a);
	moved->new_generation = attributor_get_container(a, moved->index)->generation;
}

/*
 * Map saved containers to "(other)" if their new entries were evicted during loading. If the table
 * is smaller than the saved one, loading may evict them, because they have no process yet.
 */
static void containers_remap_evicted(const struct attributor *a, struct attribute_translation *t)
{
	for (u32 i = 0; i < t->containers; i++) {
		struct restored_entry_location *moved = &t->container[i];

		if (moved->index != ATTRIBUTE_NONE &&
		    a->container[moved->index].pub.generation != moved->new_generation)
			container_remap_to_other(a, moved);
	}
}

static int containers_load(struct attributor *a, struct deserializer *from,
			   struct attribute_translation *t)
{
	u32 capacity, count, index;
	char path[CONTAINER_PATH_SIZE];
	u64 key[2];

	key[0] = deserialize_u64(from);
	key[1] = deserialize_u64(from);
	capacity = (u32)deserialize_u64_below(from, 1U << 20) + 1;
	if (from->bad)
		return -EBADMSG;
	containers_set_id_key(a, key);
	count = (u32)deserialize_u64_below(from, capacity);
	if (alloc_restored_locations(capacity, &t->container) < 0)
		return -ENOMEM;
	t->containers = capacity;
	t->container[0] = (struct restored_entry_location){ .index = 0 };
	t->container[capacity - 1] = (struct restored_entry_location){ 0 };
	container_remap_to_other(a, &t->container[capacity - 1]);
	for (u32 i = 0; i < count && !from->bad; i++) {
		u32 old = (u32)deserialize_u64_below(from, capacity - 1), generation;

		generation = (u32)deserialize_u64(from);
		if (!deserialize_string_or_skip(from, path, sizeof(path)) && !from->bad)
			continue;
		if (!old || from->bad)
			return -EBADMSG;
		index = container_find_or_add(a, path, strlen(path));
		t->container[old] = (struct restored_entry_location){
			generation,
			index,
			a->container[index].pub.generation,
		};
	}
	containers_remap_evicted(a, t);
	return from->bad ? -EBADMSG : 0;
}

static int maps_load(struct attributor *a, struct deserializer *from,
		     const struct saved_binaries *binaries, struct maps *maps)
{
	u32 count = (u32)deserialize_u64_below(from, MAPS_PER_PROCESS + 1);

	for (u32 i = 0; i < count && !from->bad; i++) {
		struct mapping m = { .start = deserialize_u64(from) };
		u64 size = deserialize_u64(from);
		const struct saved_binary *b;

		m.offset = deserialize_u64(from);
		b = &binaries->entry[deserialize_u64_below(from, binaries->count)];
		if (from->bad || !size || size > UINT64_MAX - m.start)
			return -EBADMSG;
		m.end = m.start + size;
		if (b->path)
			maps_add(&a->store, maps, &m,
				 &(struct mapped_binary_key){ b->path, b->inode, b->device,
							      b->build_id, b->build_id_size });
	}
	return from->bad ? -EBADMSG : 0;
}

/* Fill entry @index with everything except its mappings. */
static void process_deserialize(struct attributor *a, u32 index, struct deserializer *from,
				u32 flags, const struct attribute_translation *t)
{
	const struct restored_entry_location *before =
		&t->process[deserialize_u64_below(from, t->processes)];
	struct process_table_entry *p = &a->process[index];
	char comm[sizeof(p->pub.comm)];

	/*
	 * Replace the predecessor: process_new() has set the current owner of the PID, which may be
	 * a later process.
	 */
	p->predecessor = before->index == index ? ATTRIBUTE_NONE : before->index;
	p->predecessor_generation = before->new_generation;
	a->sample_flags[index] = PROCESS_SAMPLED | PROCESS_EVER_SAMPLED;
	a->valid_from_ns[index] = deserialize_u64(from);
	p->forked_ns = deserialize_u64(from);
	p->start_time = deserialize_u64(from);
	p->start_code = deserialize_u64(from);
	p->start_stack = deserialize_u64(from);
	p->has_image = flags & PROCESS_SAVED_IMAGE;
	p->exit_reported = flags & PROCESS_SAVED_EXITED;
	/* Events since the checkpoint are unknown, so the next sample reads /proc. */
	p->needs_read = true;
	deserialize_string(from, comm, sizeof(comm));
	process_set_name(p, comm);
}

/*
 * Returns whether entry @reported, which events created, is the same living process, with the same
 * name and container, as the restored entry @index.
 */
static bool processes_match(const struct attributor *a, u32 index, u32 reported)
{
	const struct process_table_entry *p = &a->process[index], *n = &a->process[reported];

	return p->state == PROCESS_LIVING && p->start_time && p->start_time == n->start_time &&
	       p->pub.container == n->pub.container && !strcmp(p->pub.comm, n->pub.comm);
}

/*
 * Merge the restored entry @index with entry @reported, which events created for the same PID
 * before the load. @reported is the same process or a later one.
 */
static void process_merge(struct attributor *a, u32 index, u32 reported)
{
	struct process_table_entry *p = &a->process[index], *n = &a->process[reported];

	if (processes_match(a, index, reported)) {
		p->read_ns = n->read_ns;
		p->seed_round = n->seed_round;
		threads_reassign(a, reported, index);
		process_mark_dead(a, reported);
		return;
	}
	process_mark_dead(a, index);
	n->predecessor = index;
	n->predecessor_generation = p->pub.generation;
	if (!a->valid_from_ns[reported])
		a->valid_from_ns[reported] = n->read_ns;
	process_make_current(a, reported);
}

static int process_load(struct attributor *a, struct deserializer *from,
			const struct saved_binaries *binaries, struct attribute_translation *t)
{
	u32 old = (u32)deserialize_u64_below(from, t->processes),
	    generation = (u32)deserialize_u64(from);
	s32 pid = (s32)deserialize_u64_below(from, INT32_MAX);
	u32 container = (u32)deserialize_u64_below(from, t->containers);
	u32 flags = (u32)deserialize_u64_below(from, 8), index, reported, reported_generation;

	if (from->bad || !pid || t->process[old].index != ATTRIBUTE_NONE)
		return -EBADMSG;
	reported = process_find(a, pid);
	reported_generation = reported == ATTRIBUTE_NONE ? 0 : a->process[reported].pub.generation;
	index = process_new(a, pid);
	process_deserialize(a, index, from, flags, t);
	if (t->container[container].index != ATTRIBUTE_NONE)
		process_set_container(a, index, t->container[container].index);
	if (flags & PROCESS_SAVED_DEAD)
		process_mark_dead(a, index);
	/* process_new() may have evicted the reported entry. */
	if (reported != ATTRIBUTE_NONE && reported != IDLE_PROCESS &&
	    a->process[reported].state == PROCESS_LIVING &&
	    a->process[reported].pub.generation == reported_generation)
		process_merge(a, index, reported);
	t->process[old] = (struct restored_entry_location){
		generation,
		index,
		a->process[index].pub.generation,
	};
	return maps_load(a, from, binaries, &a->process[index].maps);
}

static int processes_load(struct attributor *a, struct deserializer *from,
			  const struct saved_binaries *binaries, struct attribute_translation *t)
{
	u32 capacity = (u32)deserialize_u64_below(from, (1U << 20) + 1), generation, count;
	int r = 0;

	generation = (u32)deserialize_u64(from);
	count = (u32)deserialize_u64_below(from, (u64)capacity + 1);
	if (from->bad || !capacity)
		return -EBADMSG;
	if (alloc_restored_locations(capacity, &t->process) < 0)
		return -ENOMEM;
	t->processes = capacity;
	t->process[IDLE_PROCESS] = (struct restored_entry_location){
		generation,
		IDLE_PROCESS,
		a->process[IDLE_PROCESS].pub.generation,
	};
	while (count-- && !r)
		r = process_load(a, from, binaries, t);
	/*
	 * If the table is smaller than the saved one, later entries may have evicted earlier ones.
	 */
	for (u32 i = 0; i < capacity; i++)
		if (t->process[i].index != ATTRIBUTE_NONE &&
		    a->process[t->process[i].index].pub.generation != t->process[i].new_generation)
			t->process[i].index = ATTRIBUTE_NONE;
	return r;
}

int attributor_load(struct attributor *attributor, struct deserializer *from,
		    struct attribute_translation *ret_translation)
{
	struct saved_binaries binaries = { 0 };
	int r;

	*ret_translation = (struct attribute_translation){ 0 };
	r = binaries_load(from, &binaries);
	if (r >= 0)
		r = containers_load(attributor, from, ret_translation);
	if (r >= 0)
		r = processes_load(attributor, from, &binaries, ret_translation);
	binaries_free(&binaries);
	return r;
}

void attribute_translation_deinit(struct attribute_translation *translation)
{
	free(translation->process);
	free(translation->container);
	*translation = (struct attribute_translation){ 0 };
}

static u32 entry_translate_index(const struct restored_entry_location *entry, u32 generation,
				 u32 *ret_generation)
{
	if (entry->index == ATTRIBUTE_NONE || entry->generation != generation)
		return ATTRIBUTE_NONE;
	*ret_generation = entry->new_generation;
	return entry->index;
}

u32 attribute_remap_process(const struct attribute_translation *translation, u32 index,
			    u32 generation, u32 *ret_generation)
{
	return index < translation->processes ? entry_translate_index(&translation->process[index],
								      generation, ret_generation) :
						ATTRIBUTE_NONE;
}

u32 attribute_remap_container(const struct attribute_translation *translation, u32 index,
			      u32 generation, u32 *ret_generation)
{
	return index < translation->containers ?
		       entry_translate_index(&translation->container[index], generation,
					     ret_generation) :
		       ATTRIBUTE_NONE;
}
