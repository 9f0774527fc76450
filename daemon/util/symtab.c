// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symtab.h"

#include <stdlib.h>

#include "array.h"

/* Maximum size of a function, if the file does not contain its size. */
#define UNSIZED_MAX 0x10000U
/*
 * maximum number of functions that may begin between the start of a function and an address in it,
 * such as .cold parts of other functions
 */
#define NESTED_MAX 8
#define NAMES_MAX  (1U << 29) /* offsets have the 29 bits of &symbol.name */

void symtab_add(struct symtab *t, u64 start, u64 size, const char *name, size_t len,
		enum symbol_rank rank)
{
	u64 names_limit = t->limit / 2 < NAMES_MAX ? t->limit / 2 : NAMES_MAX;
	u32 at = t->names_len;
	struct symbol *entry;
	char *names;

	if (len > SYMTAB_NAME_MAX)
		len = SYMTAB_NAME_MAX;
	entry = array_reserve(t->entry, &t->capacity, t->count + 1, sizeof(*entry),
			      (u32)(t->limit / 2 / sizeof(*entry)));
	if (entry)
		t->entry = entry;
	names = array_reserve(t->names, &t->names_capacity, at + (u32)len + 1, 1, (u32)names_limit);
	if (names)
		t->names = names;
	if (!entry || !names) {
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

static size_t count_underscores(const char *name)
{
	return strspn(name, "_");
}

/* Order by address; of functions with the same address, the preferred one comes first. */
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
	if (count_underscores(p) != count_underscores(q))
		return count_underscores(p) < count_underscores(q) ? -1 : 1;
	return strcmp(p, q);
}

/* Return an estimate of the unknown size of entry @i: up to the next entry, at most UNSIZED_MAX. */
static u32 estimate_symbol_size(const struct symtab *t, u32 i)
{
	u64 gap = UNSIZED_MAX;

	/* The next function may be missing from the table, because it was dropped. */
	if (t->dropped)
		return 0;
	if (i + 1 < t->count && t->entry[i + 1].start - t->entry[i].start < gap)
		gap = t->entry[i + 1].start - t->entry[i].start;
	return (u32)gap;
}

void symtab_sort(struct symtab *t)
{
	u32 count = 0;
	void *p;

	if (!t->count)
		return;
	qsort_r(t->entry, t->count, sizeof(*t->entry), symbol_compare, t->names);
	for (u32 i = 0; i < t->count; i++) {
		if (!count || t->entry[count - 1].start != t->entry[i].start)
			t->entry[count++] = t->entry[i];
		else if (t->entry[count - 1].size < t->entry[i].size)
			t->entry[count - 1].size = t->entry[i].size;
	}
	t->count = count;
	for (u32 i = 0; i < t->count; i++)
		if (!t->entry[i].size)
			t->entry[i].size = estimate_symbol_size(t, i);
	count = 0;
	for (u32 i = 0; i < t->count; i++)
		if (t->entry[i].rank != SYMBOL_BOUNDARY)
			t->entry[count++] = t->entry[i];
	t->count = count;
	/* Free the memory after the last entry and after the last name. */

	p = realloc(t->entry, (count ? count : 1) * sizeof(*t->entry));
	if (p) {
		t->entry = p;
		t->capacity = count ? count : 1;
	}
	p = realloc(t->names, t->names_len ? t->names_len : 1);
	if (p) {
		t->names = p;
		t->names_capacity = t->names_len ? t->names_len : 1;
	}
}

/* Returns the index of the first entry that begins after @addr. */
static u32 symtab_upper_bound(const struct symtab *t, u64 addr)
{
	return ARRAY_COUNT_LEADING(t->count, i, t->entry[i].start <= addr);
}

const char *symtab_find_range(const struct symtab *t, u64 addr, u64 *ret_start, u64 *ret_size)
{
	u32 above = symtab_upper_bound(t, addr);
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
			/* The nested function @s ends before the address. */
			start = s->start + s->size;
		}
	}
	if (above < t->count && t->entry[above].start - start < size)
		size = t->entry[above].start - start;
	/* A range does not wrap around the end of the address space. */
	if (size > UINT64_MAX - start)
		size = UINT64_MAX - start;
	/*
	 * A range ends before the last address of the address space, so for that address return a
	 * range that contains only it.
	 */
	if (addr - start >= size) {
		start = addr;
		size = 1;
	}
	*ret_start = start;
	*ret_size = size;
	return name;
}

const struct symbol *symtab_find_symbol(const struct symtab *t, u64 addr)
{
	u32 above = symtab_upper_bound(t, addr);

	for (u32 n = 0; n < NESTED_MAX && n < above; n++) {
		const struct symbol *s = &t->entry[above - 1 - n];

		if (addr - s->start < s->size)
			return s->rank == SYMBOL_BOUNDARY ? NULL : s;
	}
	return NULL;
}

u32 symtab_count_locals(const struct symtab *t, const struct symbol *symbol)
{
	u32 count = 0;

	if (symbol->rank != SYMBOL_LOCAL)
		return 0;
	for (const struct symbol *s = t->entry; s <= symbol; s++)
		count += s->rank == SYMBOL_LOCAL &&
			 strcmp(t->names + s->name, t->names + symbol->name) == 0;
	return count;
}

void symtab_clear(struct symtab *t)
{
	free(t->entry);
	free(t->names);
	*t = (struct symtab){ 0 };
}
