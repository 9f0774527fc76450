// SPDX-License-Identifier: LGPL-2.1-or-later
#include "name-cache.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/hash.h"

#define TEXT_MAX (1U << 30) /* small enough that offsets, with one more string, have 32 bits */

int name_cache_init(struct name_cache *c, u32 files_max, u64 budget)
{
	*c = (struct name_cache){ .files_max = files_max, .budget = budget };
	c->file = calloc(files_max, sizeof(*c->file));
	if (!c->file)
		return -ENOMEM;
	c->memory = files_max * sizeof(*c->file);
	return 0;
}

static u64 file_get_memory(const struct name_file *f)
{
	return f->ranges_capacity * sizeof(*f->range) + f->lines_capacity * sizeof(*f->line) +
	       f->text_capacity + (f->intern ? (f->intern_mask + 1ULL) * sizeof(*f->intern) : 0);
}

static void file_clear(struct name_cache *c, struct name_file *f)
{
	u32 generation = f->generation;

	c->memory -= file_get_memory(f);
	free(f->range);
	free(f->line);
	free(f->text);
	free(f->intern);
	memset(f, 0, sizeof(*f));
	f->generation = generation;
}

void name_cache_deinit(struct name_cache *c)
{
	for (u32 i = 0; c->file && i < c->files_max; i++)
		file_clear(c, &c->file[i]);
	free(c->file);
	c->file = NULL;
}

static bool name_file_key_equals(const struct name_file_key *a, const struct name_file_key *b)
{
	return a->kind == b->kind && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

/* Returns the least recently used file other than @except; NULL if there is none. */
static struct name_file *find_oldest_file(struct name_cache *c, const struct name_file *except)
{
	struct name_file *oldest = NULL;

	for (u32 i = 0; i < c->files_max; i++) {
		struct name_file *f = &c->file[i];

		if (f->in_use && f != except && (!oldest || f->last_used < oldest->last_used))
			oldest = f;
	}
	return oldest;
}

static struct name_file *file_take_entry(struct name_cache *c)
{
	struct name_file *f;

	for (u32 i = 0; i < c->files_max; i++)
		if (!c->file[i].in_use)
			return &c->file[i];
	f = find_oldest_file(c, NULL);
	c->evicted++;
	file_clear(c, f);
	return f;
}

struct name_file_ref name_cache_find_or_add(struct name_cache *c, const struct name_file_key *key)
{
	struct name_file *f = NULL;

	for (u32 i = 0; i < c->files_max && !f; i++)
		if (c->file[i].in_use && name_file_key_equals(&c->file[i].key, key))
			f = &c->file[i];
	if (!f) {
		f = file_take_entry(c);
		f->key = *key;
		f->in_use = true;
		f->generation++;
	}
	f->last_used = ++c->clock;
	return (struct name_file_ref){ (u32)(f - c->file), f->generation };
}

struct name_file *name_cache_get_file(struct name_cache *c, struct name_file_ref ref)
{
	struct name_file *f;

	if (!ref.generation || ref.index >= c->files_max)
		return NULL;
	f = &c->file[ref.index];
	if (!f->in_use || f->generation != ref.generation)
		return NULL;
	f->last_used = ++c->clock;
	return f;
}

struct name_file_ref name_cache_find_by_mapping(struct name_cache *c, u64 path, u32 device,
						u64 inode)
{
	for (u32 i = 0; inode && i < c->files_max; i++) {
		const struct name_file *f = &c->file[i];

		if (f->in_use && f->path == path && f->device == device && f->key.ino == inode)
			return (struct name_file_ref){ i, f->generation };
	}
	return (struct name_file_ref){ 0 };
}

/*
 * Ensure that an array has memory for @more elements of @size bytes beyond @count. Returns the
 * array, which may have moved; NULL, without a change, if the file would exceed its limit, or if
 * memory cannot be allocated.
 */
static void *file_array_reserve(struct name_cache *c, const struct name_file *f, void *array,
				u32 count, u32 *capacity, u32 more, size_t size)
{
	u64 grown_capacity = *capacity ? *capacity : 64;
	void *grown;

	if (array && more <= *capacity - count)
		return array;
	while (grown_capacity - count < more)
		grown_capacity *= 2;
	/* A file gets at most half of the budget, so that it cannot evict all others. */
	if (grown_capacity > UINT32_MAX ||
	    file_get_memory(f) + (grown_capacity - *capacity) * size > c->budget / 2)
		return NULL;
	grown = reallocarray(array, grown_capacity, size);
	if (!grown)
		return NULL;
	c->memory += (grown_capacity - *capacity) * size;
	*capacity = (u32)grown_capacity;
	return grown;
}

static u32 hash_text(const char *text)
{
	u64 h = hash_string(text);

	return (u32)(h ^ h >> 32);
}

/* Returns the entry of a string, or the free entry where it belongs. */
static u32 *intern_find_slot(const struct name_file *f, const char *text)
{
	u32 at = hash_text(text) & f->intern_mask;

	while (f->intern[at] && strcmp(f->text + f->intern[at], text) != 0)
		at = (at + 1) & f->intern_mask;
	return &f->intern[at];
}

/* Keep the table at most half full, so that each search reaches a free entry after few steps. */
static bool intern_reserve_slot(struct name_cache *c, struct name_file *f)
{
	u32 mask = f->intern ? f->intern_mask * 2 + 1 : 127, *old = f->intern;
	u32 count = f->intern ? f->intern_mask + 1 : 0;

	if (f->intern && f->texts < (f->intern_mask + 1) / 2)
		return true;
	f->intern = calloc(mask + 1ULL, sizeof(*f->intern));
	if (!f->intern) {
		f->intern = old;
		return false;
	}
	f->intern_mask = mask;
	for (u32 i = 0; i < count; i++)
		if (old[i])
			*intern_find_slot(f, f->text + old[i]) = old[i];
	free(old);
	c->memory += (mask + 1ULL - count) * sizeof(*f->intern);
	return true;
}

/* Store a string, unless it is stored already; returns false if memory cannot be allocated. */
static bool text_add(struct name_cache *c, struct name_file *f, const char *text, u32 *ret_at)
{
	size_t len = strlen(text) + 1;
	u32 *slot;

	*ret_at = 0;
	if (len == 1)
		return true;
	if (f->text_len > TEXT_MAX || !intern_reserve_slot(c, f))
		return false;
	slot = intern_find_slot(f, text);
	if (!*slot) {
		/* The byte at 0 is the empty string. */
		u32 at = f->text_len ? f->text_len : 1;
		char *grown = file_array_reserve(c, f, f->text, f->text_len, &f->text_capacity,
						 (u32)len + 1, 1);

		if (!grown)
			return false;
		f->text = grown;
		f->text[0] = '\0';
		memcpy(f->text + at, text, len);
		f->text_len = at + (u32)len;
		f->texts++;
		*slot = at;
	}
	*ret_at = *slot;
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct name_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_lines(const void *a, const void *b)
{
	const struct name_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Returns the index of the first of @count ranges that begins after @address. */
static u32 ranges_upper_bound(const struct name_range *range, u32 count, u64 address)
{
	return ARRAY_COUNT_LEADING(count, i, range[i].start <= address);
}

const struct name_range *name_file_find_range(const struct name_file *f, u64 address)
{
	u32 above = ranges_upper_bound(f->range, f->ranges, address);
	const struct name_range *r = above ? &f->range[above - 1] : NULL;

	return r && address - r->start < r->size ? r : NULL;
}

const struct name_line *name_file_find_line(const struct name_file *f, u64 address)
{
	const struct name_line key = { .address = address };

	return f->lines ? bsearch(&key, f->line, f->lines, sizeof(*f->line), compare_lines) : NULL;
}

/*
 * Shrink the range @r around @address so that it overlaps none of the first @known ranges, which
 * are sorted. Returns false if one of these contains @address.
 */
static bool range_clip(const struct name_range *range, u32 known, u64 address, struct name_range *r)
{
	u32 above = ranges_upper_bound(range, known, address);
	u64 end;

	if (above && address - range[above - 1].start < range[above - 1].size)
		return false;
	if (above < known && range[above].start - r->start < r->size)
		r->size = range[above].start - r->start;
	end = above ? range[above - 1].start + range[above - 1].size : 0;
	if (end > r->start) {
		r->size -= end - r->start;
		r->start = end;
	}
	return true;
}

static bool names_add(struct name_cache *c, struct name_file *f,
		      const struct symbol_request *request, const struct symbol_reply *reply)
{
	const struct symbol_name *name = symbol_reply_get_names(reply);
	const char *text = symbol_reply_get_text(reply);
	u32 known = f->ranges, at = 0;
	struct name_range *grown;

	grown = file_array_reserve(c, f, f->range, f->ranges, &f->ranges_capacity, reply->count,
				   sizeof(*f->range));
	if (!grown)
		return false;
	f->range = grown;
	for (u32 i = 0; i < reply->count; i++) {
		struct name_range r = { .start = name[i].start, .size = name[i].size };
		u64 address = request->address[at];

		while (at < reply->done && request->address[at] - name[i].start < name[i].size)
			at++;
		if (!text_add(c, f, text + name[i].text, &r.text))
			return false;
		if (range_clip(f->range, known, address, &r))
			f->range[f->ranges++] = r;
	}
	/*
	 * The new ranges are sorted. If they follow the known ranges, the usual case, skip the
	 * sort.
	 */
	if (known && known < f->ranges && f->range[known - 1].start > f->range[known].start)
		qsort(f->range, f->ranges, sizeof(*f->range), compare_ranges);
	return true;
}

static bool lines_add(struct name_cache *c, struct name_file *f, const struct symbol_reply *reply)
{
	const struct symbol_line *line = symbol_reply_get_lines(reply);
	const char *text = symbol_reply_get_text(reply);
	u32 known = f->lines;
	struct name_line *grown;

	grown = file_array_reserve(c, f, f->line, f->lines, &f->lines_capacity, reply->count,
				   sizeof(*f->line));
	if (!grown)
		return false;
	f->line = grown;
	for (u32 i = 0; i < reply->count; i++) {
		struct name_line l = { .address = line[i].address, .line = line[i].line };

		if (!text_add(c, f, text + line[i].file, &l.file) ||
		    !text_add(c, f, text + line[i].inlines, &l.inlines))
			return false;
		if (known && bsearch(&l, f->line, known, sizeof(l), compare_lines))
			continue;
		f->line[f->lines++] = l;
	}
	if (known && known < f->lines && f->line[known - 1].address > f->line[known].address)
		qsort(f->line, f->lines, sizeof(*f->line), compare_lines);
	return true;
}

void name_cache_add_reply(struct name_cache *c, struct name_file *f,
			  const struct symbol_request *request, const struct symbol_reply *reply)
{
	bool fits = request->type == SYMBOL_FIND ? names_add(c, f, request, reply) :
						   lines_add(c, f, reply);

	/* The part of the reply that fits may not be sorted yet. */
	if (!fits) {
		f->full = true;
		qsort(f->range, f->ranges, sizeof(*f->range), compare_ranges);
		qsort(f->line, f->lines, sizeof(*f->line), compare_lines);
	}
	while (c->memory > c->budget) {
		struct name_file *oldest = find_oldest_file(c, f);

		if (!oldest)
			break;
		c->evicted++;
		file_clear(c, oldest);
	}
}
