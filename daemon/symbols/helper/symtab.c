// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symtab.h"

#include <stdlib.h>

/* How far a function without a size reaches at most. */
#define UNSIZED_MAX 0x10000U
/* Functions that may stand between an address and the one around it (.cold parts). */
#define NESTED_MAX 8
#define NAMES_MAX  (1U << 29)

static bool array_grow(void **array, u32 *capacity, u32 needed, size_t size, u64 limit)
{
	u64 n = *capacity ? *capacity : 256;
	void *grown;

	if (needed <= *capacity)
		return true;
	while (n < needed)
		n += n / 2;
	if (n * size > limit)
		n = limit / size;
	if (n < needed || n > UINT32_MAX)
		return false;
	grown = realloc(*array, n * size);
	if (!grown)
		return false;
	*array = grown;
	*capacity = (u32)n;
	return true;
}

void symtab_add(struct symtab *t, u64 start, u64 size, const char *name, size_t len,
		enum symbol_rank rank)
{
	u64 names_limit = t->limit / 2 < NAMES_MAX ? t->limit / 2 : NAMES_MAX;
	u32 at = t->names_len;

	if (len > SYMTAB_NAME_MAX)
		len = SYMTAB_NAME_MAX;
	if (!array_grow((void **)&t->entry, &t->capacity, t->count + 1, sizeof(*t->entry),
			t->limit / 2) ||
	    !array_grow((void **)&t->names, &t->names_capacity, at + (u32)len + 1, 1,
			names_limit)) {
		t->dropped++;
		return;
	}
	if (len)
		memcpy(t->names + at, name, len);
	t->names[at + len] = '\0';
	if (rank != SYMBOL_BOUNDARY)
		t->names_len += (u32)len + 1;
	t->entry[t->count++] = (struct symbol){
		.start = start,
		.size = size < UINT32_MAX ? (u32)size : UINT32_MAX,
		.name = at & (NAMES_MAX - 1),
		.rank = (u32)rank,
	};
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address; where it is the same, the name to keep comes first. */
static int symbol_compare(const void *x, const void *y, void *ctx)
{
	const struct symbol *a = x, *b = y;
	const char *names = ctx, *p = names + a->name, *q = names + b->name;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (!a->rank)
		return 0;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if (underscores(p) != underscores(q))
		return underscores(p) < underscores(q) ? -1 : 1;
	return strcmp(p, q);
}

static u32 unsized_reach(const struct symtab *t, u32 i)
{
	u64 gap = UNSIZED_MAX;

	/* The next one may be among those that were dropped. */
	if (t->dropped)
		return 0;
	if (i + 1 < t->count && t->entry[i + 1].start - t->entry[i].start < gap)
		gap = t->entry[i + 1].start - t->entry[i].start;
	return (u32)gap;
}

void symtab_finish(struct symtab *t)
{
	u32 kept = 0;
	void *p;

	if (!t->count)
		return;
	qsort_r(t->entry, t->count, sizeof(*t->entry), symbol_compare, t->names);
	for (u32 i = 0; i < t->count; i++) {
		if (!kept || t->entry[kept - 1].start != t->entry[i].start)
			t->entry[kept++] = t->entry[i];
		else if (t->entry[kept - 1].size < t->entry[i].size)
			t->entry[kept - 1].size = t->entry[i].size;
	}
	t->count = kept;
	for (u32 i = 0; i < t->count; i++)
		if (!t->entry[i].size)
			t->entry[i].size = unsized_reach(t, i);
	kept = 0;
	for (u32 i = 0; i < t->count; i++)
		if (t->entry[i].rank != SYMBOL_BOUNDARY)
			t->entry[kept++] = t->entry[i];
	t->count = kept;

	p = realloc(t->entry, (kept ? kept : 1) * sizeof(*t->entry));
	if (p) {
		t->entry = p;
		t->capacity = kept ? kept : 1;
	}
	p = realloc(t->names, t->names_len ? t->names_len : 1);
	if (p) {
		t->names = p;
		t->names_capacity = t->names_len ? t->names_len : 1;
	}
}

/* The first entry behind @addr. */
static u32 symtab_above(const struct symtab *t, u64 addr)
{
	u32 low = 0, high = t->count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (t->entry[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const char *symtab_find_range(const struct symtab *t, u64 addr, u64 *ret_start, u64 *ret_size)
{
	u32 above = symtab_above(t, addr);
	u64 start = 0, size = UINT64_MAX;
	const char *name = NULL;

	for (u32 n = 0; n < NESTED_MAX && n < above && !name; n++) {
		const struct symbol *s = &t->entry[above - 1 - n];

		if (addr - s->start < s->size) {
			if (start < s->start)
				start = s->start;
			size = s->size - (start - s->start);
			name = t->names + s->name;
		} else if (s->start + s->size > start) {
			/* One within the other, and before the address. */
			start = s->start + s->size;
		}
	}
	if (above < t->count && t->entry[above].start - start < size)
		size = t->entry[above].start - start;
	/* Up to the end, and not around it. */
	if (size > UINT64_MAX - start)
		size = UINT64_MAX - start;
	/* Of the last address there is, and of what no range can tell. */
	if (addr - start >= size) {
		start = addr;
		size = 1;
	}
	*ret_start = start;
	*ret_size = size;
	return name;
}

const char *symtab_find(const struct symtab *t, u64 addr)
{
	u64 start, size;

	return symtab_find_range(t, addr, &start, &size);
}

u64 symtab_memory(const struct symtab *t)
{
	return t->capacity * sizeof(*t->entry) + t->names_capacity;
}

void symtab_clear(struct symtab *t)
{
	free(t->entry);
	free(t->names);
	*t = (struct symtab){ 0 };
}
