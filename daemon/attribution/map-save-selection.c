// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All of them, where that is no more than a checkpoint's share has room for. Otherwise those who
 * hold most give way, as in memory (map-evict.c): any user can have thousands of files with paths
 * of a KiB. Of those who hold about as much, by halves, the dead are kept first, who died last
 * before all: whoever lives is read in /proc again. A process has all of its mappings or none, so
 * that no place is taken for another's.
 */
#include "map-save-selection.h"

#include "util/serialize.h"

#include <stdlib.h>

/* A file that has no number yet. */
#define UNNUMBERED UINT32_MAX

/* By how it is sorted: the least is kept first. */
struct candidate {
	u64 key;
	u32 index;
};

bool map_selection_includes(const struct attributor *a, u32 index)
{
	return index != IDLE && a->process[index].state != PROCESS_FREE &&
	       __atomic_load_n(&a->used[index], __ATOMIC_RELAXED) & PROCESS_EVER_SAMPLED;
}

static u64 binary_bytes(const struct binary *b)
{
	u64 len = b->path_size - 1U;

	return serialize_size(b->inode) + serialize_size(b->device) +
	       serialize_size(b->build_id_size) + b->build_id_size + serialize_size(len) + len;
}

static u64 mapping_bytes(const struct mapping *m)
{
	return serialize_size(m->start) + serialize_size(m->end - m->start) +
	       serialize_size(m->offset) + serialize_size(m->binary->number);
}

/* From now on there are no more than the first @binaries. */
static void forget(struct map_selection *selection, u32 binaries)
{
	while (selection->binaries > binaries)
		selection->binary[--selection->binaries]->number = UNNUMBERED;
}

/* All mappings of @p, and the files that nobody before it maps; or none where they do not fit. */
static void take(struct map_selection *selection, struct process *p)
{
	u32 before = selection->binaries;
	u64 bytes = 0, room = selection->limit - selection->bytes;

	for (u32 i = 0; i < p->maps.count && bytes <= room; i++) {
		struct binary *b = p->maps.entry[i].binary;

		if (b->number == UNNUMBERED) {
			b->number = selection->binaries;
			selection->binary[selection->binaries++] = b;
			bytes += binary_bytes(b);
		}
		bytes += mapping_bytes(&p->maps.entry[i]);
	}
	p->maps_saved = bytes <= room;
	if (p->maps_saved) {
		selection->bytes += bytes;
		return;
	}
	forget(selection, before);
	selection->left += p->maps.count;
}

static u64 halves(u64 bytes)
{
	return bytes ? 64U - (u64)__builtin_clzll(bytes) : 0;
}

static u64 sort_key(const struct process *p, u32 now)
{
	u64 after = p->state == PROCESS_DEAD ? now - p->died : UINT32_MAX;

	return halves(maps_bytes(&p->maps)) << 32 | after;
}

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Who is to have what there is not enough of; as they come, where there is no memory to sort them. */
static void take_sorted(struct attributor *a, struct map_selection *selection)
{
	struct candidate *candidate = malloc(a->fresh * sizeof(*candidate));
	u32 now = now_ms(), count = 0;

	if (!candidate)
		return;
	forget(selection, 0);
	selection->bytes = selection->left = 0;
	for (u32 i = 0; i < a->fresh; i++)
		if (map_selection_includes(a, i))
			candidate[count++] = (struct candidate){ sort_key(&a->process[i], now), i };
	qsort(candidate, count, sizeof(*candidate), compare);
	for (u32 i = 0; i < count; i++)
		take(selection, &a->process[candidate[i].index]);
	free(candidate);
}

/* Room for all files that there are. */
static int binaries_init(struct attributor *a, struct map_selection *selection)
{
	u32 count = 0;

	for (u32 i = 0; i <= a->store.mask; i++) {
		for (struct binary *b = a->store.heads[i]; b; b = b->next) {
			b->number = UNNUMBERED;
			count++;
		}
	}
	selection->binary = malloc((count ? count : 1) * sizeof(struct binary *));
	return selection->binary ? 0 : -ENOMEM;
}

void map_selection_choose(struct attributor *a, u64 limit, struct map_selection *ret_selection)
{
	/* Without memory for it, none: figures are kept all the same. */
	struct map_selection selection = { .limit = limit };
	bool none = binaries_init(a, &selection) < 0;

	for (u32 i = 0; i < a->fresh; i++) {
		a->process[i].maps_saved = false;
		if (!map_selection_includes(a, i))
			continue;
		if (none)
			selection.left += a->process[i].maps.count;
		else
			take(&selection, &a->process[i]);
	}
	if (selection.left && !none)
		take_sorted(a, &selection);
	*ret_selection = selection;
}

void map_selection_deinit(struct map_selection *selection)
{
	free(selection->binary);
	*selection = (struct map_selection){ 0 };
}
