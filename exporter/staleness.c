// SPDX-License-Identifier: LGPL-2.1-or-later
#include "staleness.h"

#include <stdlib.h>

void staleness_clear(struct staleness *written)
{
	free(written->ones);
	free(written->labels);
	*written = (struct staleness){ 0 };
}

/* FNV-1a. */
static u64 hash_of(const u8 *labels, size_t size, bool native)
{
	u64 hash = 0xcbf29ce484222325ULL + native;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ labels[i]) * 0x100000001b3ULL;
	return hash;
}

static bool make_room(struct staleness *w, size_t size)
{
	struct staleness_series *ones;
	size_t room;
	u8 *labels;

	if (size > STALENESS_SIZE - w->size)
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

void staleness_add(struct staleness *written, const u8 *labels, size_t size, bool native)
{
	if (!size)
		return;
	if (!make_room(written, size)) {
		written->incomplete = true;
		return;
	}
	memcpy(written->labels + written->size, labels, size);
	written->ones[written->count++] = (struct staleness_series){
		.hash = hash_of(labels, size, native),
		.at = (u32)written->size,
		.size = (u32)size,
		.native = native,
	};
	written->size += size;
}

static int compare(const void *a, const void *b)
{
	const struct staleness_series *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static void sort(struct staleness *w)
{
	if (w->count)
		qsort(w->ones, w->count, sizeof(*w->ones), compare);
}

void staleness_report(struct staleness *before, struct staleness *now, staleness_fn ended, void *ctx)
{
	u32 at = 0;

	if (now->incomplete)
		return;
	sort(before);
	sort(now);
	for (u32 i = 0; i < before->count; i++) {
		const struct staleness_series *one = &before->ones[i];

		while (at < now->count && now->ones[at].hash < one->hash)
			at++;
		if (at == now->count || now->ones[at].hash != one->hash)
			ended(ctx, before->labels + one->at, one->size, one->native);
	}
}
