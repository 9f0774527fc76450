// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Select mappings for the checkpoint. The mappings of the processes that use the least memory are
 * selected first, because map-evict.c evicts them last. Among processes in the same size class
 * (powers of two), exited processes are selected first, beginning with the latest exit: the
 * mappings of a living process can be read from /proc again. All mappings of a process are selected
 * or none, so that no address is resolved to a wrong file.
 */
#include "map-save-selection.h"

#include "util/serialize.h"

#include <stdlib.h>

/* value of &mapped_binary.number before the file is selected */
#define UNNUMBERED UINT32_MAX

/** struct save_candidate - a process of the checkpoint; the smallest @key is selected first */
struct save_candidate {
	u64 key;
	u32 index;
};

static u64 binary_get_saved_size(const struct mapped_binary *b)
{
	u64 len = b->path_size - 1U;

	return serialize_get_u64_size(b->inode) + serialize_get_u64_size(b->device) +
	       serialize_get_u64_size(b->build_id_size) + b->build_id_size +
	       serialize_get_u64_size(len) + len;
}

static u64 mapping_get_saved_size(const struct mapping *m)
{
	return serialize_get_u64_size(m->start) + serialize_get_u64_size(m->end - m->start) +
	       serialize_get_u64_size(m->offset) + serialize_get_u64_size(m->binary->number);
}

/* Remove all files after the first @binaries. */
static void selection_truncate(struct map_selection *selection, u32 binaries)
{
	while (selection->binaries > binaries)
		selection->binary[--selection->binaries]->number = UNNUMBERED;
}

/* Add all mappings of @p, and their files that are not selected yet; nothing if they do not fit. */
static void selection_add_process(struct map_selection *selection, struct process_table_entry *p)
{
	u32 before = selection->binaries;
	u64 bytes = 0, free_bytes = selection->limit - selection->bytes;

	for (u32 i = 0; i < p->maps.count && bytes <= free_bytes; i++) {
		struct mapped_binary *b = p->maps.entry[i].binary;

		if (b->number == UNNUMBERED) {
			b->number = selection->binaries;
			selection->binary[selection->binaries++] = b;
			bytes += binary_get_saved_size(b);
		}
		bytes += mapping_get_saved_size(&p->maps.entry[i]);
	}
	p->maps_saved = bytes <= free_bytes;
	if (p->maps_saved) {
		selection->bytes += bytes;
		return;
	}
	selection_truncate(selection, before);
	selection->unselected += p->maps.count;
}

static u64 get_size_class(u64 bytes)
{
	return bytes ? 64U - (u64)__builtin_clzll(bytes) : 0;
}

static u64 process_get_sort_key(const struct process_table_entry *p, u32 now)
{
	u64 dead_ms = p->state == PROCESS_DEAD ? now - p->died_ms : UINT32_MAX;

	return get_size_class(maps_get_memory(&p->maps)) << 32 | dead_ms;
}

static int save_candidate_compare(const void *a, const void *b)
{
	const struct save_candidate *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Reset the numbers of all files, and allocate an array for them. */
static int selection_init_binaries(struct attributor *a, struct map_selection *selection)
{
	u32 count = 0;

	for (u32 i = 0; i <= a->store.mask; i++) {
		for (struct mapped_binary *b = a->store.heads[i]; b; b = b->next) {
			b->number = UNNUMBERED;
			count++;
		}
	}
	selection->binary = malloc((count ? count : 1) * sizeof(struct mapped_binary *));
	return selection->binary ? 0 : -ENOMEM;
}

void map_selection_choose(struct attributor *a, u64 limit, struct map_selection *ret_selection)
{
	struct save_candidate *candidate = malloc(a->processes_used * sizeof(*candidate));
	struct map_selection selection = { .limit = limit };
	bool no_memory = !candidate || selection_init_binaries(a, &selection) < 0;
	u32 now = coarse_now_ms(), count = 0;

	for (u32 i = 0; i < a->processes_used; i++) {
		a->process[i].maps_saved = false;
		if (!process_has_samples(a, i))
			continue;
		if (no_memory)
			selection.unselected += a->process[i].maps.count;
		else
			candidate[count++] =
				(struct save_candidate){ process_get_sort_key(&a->process[i], now),
							 i };
	}
	if (count)
		qsort(candidate, count, sizeof(*candidate), save_candidate_compare);
	for (u32 i = 0; i < count; i++)
		selection_add_process(&selection, &a->process[candidate[i].index]);
	free(candidate);
	*ret_selection = selection;
}

void map_selection_deinit(struct map_selection *selection)
{
	free(selection->binary);
	*selection = (struct map_selection){ 0 };
}
