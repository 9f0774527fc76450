// SPDX-License-Identifier: LGPL-2.1-or-later
#include "staleness.h"

#include <stdlib.h>

#include "util/hash.h"

void staleness_clear(struct staleness_list *staleness)
{
	free(staleness->series);
	free(staleness->labels);
	*staleness = (struct staleness_list){ 0 };
}

static u64 series_hash(const u8 *labels, size_t size, bool native)
{
	return hash_add_byte(hash_bytes(labels, size), native);
}

/* Allocate memory for one more series with @size bytes of labels. */
static bool series_reserve(struct staleness_list *w, size_t size)
{
	struct staleness_series *series;
	size_t capacity;
	u8 *labels;

	if (size > STALENESS_SIZE - w->size)
		return false;
	if (w->count == w->capacity) {
		capacity = w->capacity ? 2 * (size_t)w->capacity : 256;
		series = reallocarray(w->series, capacity, sizeof(*series));
		if (!series)
			return false;
		w->series = series;
		w->capacity = (u32)capacity;
	}
	if (size > w->labels_capacity - w->size) {
		capacity = 2 * w->labels_capacity + size + 4096;
		labels = realloc(w->labels, capacity);
		if (!labels)
			return false;
		w->labels = labels;
		w->labels_capacity = capacity;
	}
	return true;
}

void staleness_add_series(struct staleness_list *staleness, const u8 *labels, size_t size,
			  bool native)
{
	if (!size)
		return;
	if (!series_reserve(staleness, size)) {
		staleness->incomplete = true;
		return;
	}
	memcpy(staleness->labels + staleness->size, labels, size);
	staleness->series[staleness->count++] = (struct staleness_series){
		.hash = series_hash(labels, size, native),
		.at = (u32)staleness->size,
		.size = (u32)size,
		.native = native,
	};
	staleness->size += size;
}

static int series_compare(const void *a, const void *b)
{
	const struct staleness_series *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static void series_sort(struct staleness_list *w)
{
	if (w->count)
		qsort(w->series, w->count, sizeof(*w->series), series_compare);
}

void staleness_report_ended(struct staleness_list *before, struct staleness_list *now,
			    staleness_fn ended, void *ctx)
{
	u32 at = 0;

	if (now->incomplete)
		return;
	series_sort(before);
	series_sort(now);
	for (u32 i = 0; i < before->count; i++) {
		const struct staleness_series *s = &before->series[i];

		while (at < now->count && now->series[at].hash < s->hash)
			at++;
		if (at == now->count || now->series[at].hash != s->hash)
			ended(ctx, before->labels + s->at, s->size, s->native);
	}
}
