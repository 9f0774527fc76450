// SPDX-License-Identifier: LGPL-2.1-or-later
#include "written.h"

#include <stdlib.h>

void written_clear(struct written *written)
{
	free(written->ones);
	free(written->labels);
	*written = (struct written){ 0 };
}

/* FNV-1a. */
static u64 hash_of(const u8 *labels, size_t size, bool native)
{
	u64 hash = 0xcbf29ce484222325ULL + native;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ labels[i]) * 0x100000001b3ULL;
	return hash;
}

static bool make_room(struct written *w, size_t size)
{
	struct written_one *ones;
	size_t room;
	u8 *labels;

	if (size > WRITTEN_SIZE - w->size)
		return false;
	if (w->count == w->room) {
		room = w->room ? 2 * (size_t)w->room : 256;
		ones = reallocarray(w->ones, room, sizeof(*ones));
		if (!ones)
			return false;
		w->ones = ones;
		w->room = (u32)room;
	}
	if (size > w->labels_room - w->size) {
		room = 2 * w->labels_room + size + 4096;
		labels = realloc(w->labels, room);
		if (!labels)
			return false;
		w->labels = labels;
		w->labels_room = room;
	}
	return true;
}

void written_add(struct written *written, const u8 *labels, size_t size, bool native)
{
	if (!size)
		return;
	if (!make_room(written, size)) {
		written->incomplete = true;
		return;
	}
	memcpy(written->labels + written->size, labels, size);
	written->ones[written->count++] = (struct written_one){
		.hash = hash_of(labels, size, native),
		.at = (u32)written->size,
		.size = (u32)size,
		.native = native,
	};
	written->size += size;
}

static int compare(const void *a, const void *b)
{
	const struct written_one *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static void sort(struct written *w)
{
	if (w->count)
		qsort(w->ones, w->count, sizeof(*w->ones), compare);
}

void written_ended(struct written *before, struct written *now, written_fn ended, void *ctx)
{
	u32 at = 0;

	if (now->incomplete)
		return;
	sort(before);
	sort(now);
	for (u32 i = 0; i < before->count; i++) {
		const struct written_one *one = &before->ones[i];

		while (at < now->count && now->ones[at].hash < one->hash)
			at++;
		if (at == now->count || now->ones[at].hash != one->hash)
			ended(ctx, before->labels + one->at, one->size, one->native);
	}
}
