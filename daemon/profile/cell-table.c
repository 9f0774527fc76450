// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cell-table-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/memory.h"

/* Initial number of sets of a table that grows. */
#define SETS_MIN 64

/*
 * Number of cells for which a table without a budget reserves addresses. If the kernel refuses this
 * number, the table reserves fewer.
 */
#define GROWING_CELLS (1U << 25)
#define GROWING_LINES (1U << 27)

/*
 * Number of lines for which addresses are reserved for the counters of evicted samples, in addition
 * to the budget.
 */
#define EVICTED_LINES (1U << 20)

/*
 * The lightest of at least this many cells is evicted. A fixed number of searched sets would not
 * suffice: a set has only two cells on average, so a few sets may have only heavy cells.
 */
#define EVICT_CANDIDATES_MIN 16

#define CELL_ONES 0x0101010101010101ULL

#define HUGE_PAGE (2U << 20)

/*
 * Use huge pages for a large table, because samples access it at random. If the page size is 16 KiB
 * or more, huge pages are too large for the budget. The beginning of a table that grows uses small
 * pages: most recordings are small, and the kernel clears each page at its first use.
 */
static void advise_huge_pages(const struct cell_table *t, void *at, size_t size)
{
	size_t skip = t->grows ? HUGE_PAGE : 0;

	if (sysconf(_SC_PAGESIZE) == 4096 && size >= skip + HUGE_PAGE)
		(void)madvise((u8 *)at + skip, size - skip, MADV_HUGEPAGE);
}

/*
 * A cell may be replaced if its rank is below the bound that a random draw selects. Fill the table
 * so that the probability is 1 in (rank + 1), but at least 1 in CELL_ODDS.
 */
static void fill_bounds(struct cell_table *t)
{
	for (unsigned int i = 0; i < CELL_DRAWS; i++) {
		unsigned int bound = CELL_DRAWS / (i + 1);

		t->bound[i] = bound < CELL_ODDS ? (u16)bound : UINT16_MAX;
	}
}

static size_t compute_cells_size(const struct cell_table *t)
{
	return ((size_t)t->capacity + 1) * sizeof(*t->cells);
}

static size_t compute_sets_size(u32 sets)
{
	return (size_t)sets * sizeof(struct cell_set);
}

static int cells_init(struct cell_table *t, u32 cells, u32 lines)
{
	t->capacity = cells;
	t->cells = zero_pages_new(compute_cells_size(t));
	if (!t->cells)
		return -ENOMEM;
	if (line_pool_init(&t->lines, lines) < 0) {
		zero_pages_free(t->cells, compute_cells_size(t));
		t->cells = NULL;
		return -ENOMEM;
	}
	advise_huge_pages(t, t->cells, compute_cells_size(t));
	advise_huge_pages(t, t->lines.at, (size_t)lines * LINE_SIZE);
	return 0;
}

static int sets_init(struct cell_table *t, u32 sets)
{
	t->sets = sets;
	t->set = zero_pages_new(compute_sets_size(sets));
	if (!t->set)
		return -ENOMEM;
	advise_huge_pages(t, t->set, compute_sets_size(sets));
	return 0;
}

static u32 compute_set_count(u32 cells)
{
	u32 sets = 1;

	while ((u64)sets * CELL_WAYS * 2 < (u64)cells * 5)
		sets *= 2;
	return sets;
}

static int memory_init(struct cell_table *t, u64 bytes)
{
	u32 cells = GROWING_CELLS, lines = GROWING_LINES;

	if (bytes) {
		cells = cell_table_compute_capacity(bytes);
		t->lines_limit = (u32)(bytes / 2 / LINE_SIZE);
		if (cells_init(t, cells, t->lines_limit + EVICTED_LINES) < 0)
			return -ENOMEM;
		return sets_init(t, compute_set_count(cells));
	}
	t->grows = true;
	t->lines_limit = UINT32_MAX;
	while (cells_init(t, cells, lines) < 0) {
		if (cells < GROWING_CELLS >> 8)
			return -ENOMEM;
		cells /= 2;
		lines /= 2;
	}
	return sets_init(t, SETS_MIN);
}

int cell_table_new(const struct cell_table_config *config, struct cell_table **ret_table)
{
	struct cell_table *t;

	if (config->bytes && (config->bytes < CELL_BYTES_MIN || config->bytes > 1ULL << 36))
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->sample_class = config->sample_class;
	t->seed = config->seed;
	if (!t->seed && getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)(uintptr_t)t;
	t->draws = t->seed;
	for (u16 value = 0; value < CELL_BUCKET_VALUES; value++)
		t->bucket[value] = (u8)histogram_get_bucket(value);
	fill_bounds(t);
	if (memory_init(t, config->bytes) < 0 || !cell_get_for_evicted(t, CELL_NO_PROGRAM)) {
		cell_table_free(t);
		return -ENOMEM;
	}
	*ret_table = t;
	return 0;
}

struct cell_table *cell_table_free(struct cell_table *table)
{
	if (!table)
		return NULL;
	for (u32 i = 0; i < table->evicted_programs; i++)
		free(table->evicted[i]);
	free(table->evicted);
	zero_pages_free(table->set, compute_sets_size(table->sets));
	if (table->cells) {
		zero_pages_free(table->cells, compute_cells_size(table));
		line_pool_deinit(&table->lines);
	}
	free(table);
	return NULL;
}

void cell_table_clear(struct cell_table *table)
{
	for (u32 i = 1; i < table->evicted_programs; i++) {
		free(table->evicted[i]);
		table->evicted[i] = NULL;
	}
	*table->evicted[0] = (struct cell){ .owner = cell_owner_make(CELL_NO_PROGRAM, 0) };
	zero_pages_clear(table->set, compute_sets_size(table->sets));
	zero_pages_clear(table->cells, compute_cells_size(table));
	line_pool_clear(&table->lines);
	table->evicted_used = 1;
	table->fresh = 0;
	table->free = 0;
	table->used = 0;
	table->batches = 0;
	table->intervals = 0;
	table->stats = (struct cell_table_stats){ 0 };
	table->inexact = false;
	table->ranks_aged = false;
	for (unsigned int i = 0; i < CELL_BATCHES; i++)
		table->batch[i].count = 0;
	table->queue[0].count = 0;
	table->queue[1].count = 0;
}

u64 cell_owner_hash(const struct cell_table *table, u64 owner)
{
	return hash_mix_bits(owner ^ table->seed);
}

/* ---- The index ----------------------------------------------------------- */

static inline u8 hash_get_tag(u64 hash)
{
	/* The result is never 0, because tag 0 marks free ways. */
	return (u8)(((hash & 0xffff) * 255 >> 16) + 1);
}

static inline u32 hash_get_set(const struct cell_table *t, u64 hash)
{
	return (u32)(hash >> 32) & (t->sets - 1);
}

/*
 * Return a mask with a bit for each way that may have @tag. The first of these ways certainly has
 * @tag. 0 means that no way has @tag.
 */
static inline u64 match_tag_ways(u64 tags, u8 tag)
{
	u64 differ = tags ^ tag * CELL_ONES;

	return (differ - CELL_ONES) & ~differ & CELL_ONES << 7;
}

static inline unsigned int get_first_way(u64 ways)
{
	return (unsigned int)__builtin_ctzll(ways) / 8;
}

static struct cell *set_find_cell(const struct cell_table *t, const struct cell_set *set, u8 tag,
				  u64 owner, u64 offset, unsigned int *ret_way)
{
	u64 ways = match_tag_ways(set->tags, tag);
	struct cell *c;

	for (; ways; ways &= ways - 1) {
		c = &t->cells[set->cell[get_first_way(ways)]];
		if (c->owner != owner || c->offset != offset || !set->cell[get_first_way(ways)])
			continue;
		*ret_way = get_first_way(ways);
		return c;
	}
	return NULL;
}

/* Find a cell. In a table that grows, a cell is in a later set if the set of its hash was full. */
static struct cell *cell_find(const struct cell_table *t, u64 hash, u64 owner, u64 offset,
			      struct cell_slot *ret_slot)
{
	u32 at = hash_get_set(t, hash);

	for (u32 n = 0; n < t->sets; n++, at = (at + 1) & (t->sets - 1)) {
		struct cell_set *set = &t->set[at];
		struct cell *c =
			set_find_cell(t, set, hash_get_tag(hash), owner, offset, &ret_slot->way);

		ret_slot->set = set;
		if (c)
			return c;
		if (!t->grows || match_tag_ways(set->tags, 0))
			return NULL;
	}
	return NULL;
}

static void set_write_way(struct cell_set *set, unsigned int way, u8 tag, u32 number, u16 rank,
			  u8 fill)
{
	set->tags &= ~(0xffULL << 8 * way);
	set->tags |= (u64)tag << 8 * way;
	set->cell[way] = number;
	set->rank[way] = rank;
	set->fill[way] = fill;
}

/* Return the first set with a free way, beginning with the set of @hash; NULL if there is none. */
static struct cell_set *find_set_with_free_way(const struct cell_table *t, u64 hash)
{
	u32 at = hash_get_set(t, hash);

	for (u32 n = 0; n < (t->grows ? t->sets : 1); n++, at = (at + 1) & (t->sets - 1))
		if (match_tag_ways(t->set[at].tags, 0))
			return &t->set[at];
	return NULL;
}

/*
 * Double the index of a table without a budget. If memory cannot be allocated, the index is
 * unchanged.
 */
static void index_grow(struct cell_table *t)
{
	struct cell_set *old = t->set;
	u32 sets = t->sets;

	if (sets > UINT32_MAX / 2 || sets_init(t, sets * 2) < 0) {
		t->set = old;
		t->sets = sets;
		return;
	}
	for (u32 i = 0; i < sets; i++) {
		for (unsigned int k = 0; k < CELL_WAYS; k++) {
			const struct cell *c = &t->cells[old[i].cell[k]];
			struct cell_set *to;
			u64 hash;

			if (!old[i].cell[k])
				continue;
			hash = cell_hash(cell_owner_hash(t, c->owner), c->offset);
			to = find_set_with_free_way(t, hash);
			set_write_way(to, get_first_way(match_tag_ways(to->tags, 0)),
				      hash_get_tag(hash), old[i].cell[k], old[i].rank[k],
				      old[i].fill[k]);
		}
	}
	zero_pages_free(old, compute_sets_size(sets));
}

/* ---- Evicted samples ----------------------------------------------------- */

bool cell_is_for_evicted(const struct cell_table *t, const struct cell *c)
{
	uintptr_t at = (uintptr_t)c, first = (uintptr_t)t->cells;

	return at < first || at >= first + compute_cells_size(t);
}

static bool evicted_array_grow(struct cell_table *t, u32 index)
{
	u32 programs = t->evicted_programs ? t->evicted_programs : 16;
	struct cell **evicted;

	if (index < t->evicted_programs)
		return true;
	while (programs <= index && programs <= UINT32_MAX / 2)
		programs *= 2;
	evicted = realloc(t->evicted, programs * sizeof(struct cell *));
	if (!evicted)
		return false;
	memset(evicted + t->evicted_programs, 0,
	       (programs - t->evicted_programs) * sizeof(struct cell *));
	t->evicted = evicted;
	t->evicted_programs = programs;
	return true;
}

struct cell *cell_get_for_evicted(struct cell_table *t, u32 program)
{
	u32 index = evicted_get_index(program);
	struct cell *c = NULL;

	if (evicted_array_grow(t, index))
		c = t->evicted[index];
	else
		return t->evicted ? t->evicted[0] : NULL;
	if (c)
		return c;
	c = aligned_alloc(128, sizeof(*c));
	if (!c)
		return t->evicted[0];
	*c = (struct cell){ .owner = cell_owner_make(program, 0) };
	t->evicted[index] = c;
	t->evicted_used++;
	return c;
}

void cell_log_evicted_sample(struct cell_table *t, u32 program, u64 sample, u8 interval)
{
	struct cell *c = cell_get_for_evicted(t, program);

	if (c->fill == CELL_LOG || c->interval != interval) {
		cell_fold(t, c, c->fill);
		c->fill = 0;
		c->interval = interval;
	}
	c->sample[c->fill++] = sample;
}

/* Move the samples of a cell to the evicted samples of its program, and free the cell. */
static void cell_evict(struct cell_table *t, struct cell_set *set, unsigned int way)
{
	u32 number = set->cell[way];
	struct cell *c = &t->cells[number], *evicted = cell_get_for_evicted(t, cell_get_program(c));

	for (unsigned int i = 0; i < set->fill[way]; i++)
		cell_log_evicted_sample(t, cell_get_program(c), c->sample[i], c->interval);
	if (c->counters)
		cell_add_counters(t, evicted, t, cell_get_counters(t, c), NULL);
	cell_counters_free(t, c);
	t->stats.evictions++;
	set_write_way(set, way, 0, 0, 0, 0);
	c->counters = t->free;
	t->free = number;
	t->used--;
}

/* ---- Insertion ----------------------------------------------------------- */

/*
 * Set @best to the lightest cell of @set if this cell is lighter than @best. Return the number of
 * cells in @set.
 */
static u32 find_lightest_cell(struct cell_slot *best, struct cell_set *set)
{
	u32 cells = 0;

	for (unsigned int i = 0; i < CELL_WAYS; i++) {
		if (!set->cell[i])
			continue;
		cells++;
		if (!best->set || set->rank[i] < best->set->rank[best->way])
			*best = (struct cell_slot){ .set = set, .way = i };
	}
	return cells;
}

/*
 * Find the cell that a new cell may replace. If the set @own is full, this is the lightest cell of
 * @own. If @own has a free way, because only the number of cells is exhausted, other sets are
 * searched as well. If @limit is small, other sets are not searched: the search takes time, and
 * rarely finds a cell with a rank below @limit.
 */
static struct cell_slot victim_find(struct cell_table *t, struct cell_set *own, u64 limit)
{
	struct cell_slot best = { 0 };
	u32 cells = find_lightest_cell(&best, own);

	if (!match_tag_ways(own->tags, 0) || limit < CELL_ODDS)
		return best;
	for (u32 n = 0; n < t->sets && cells < EVICT_CANDIDATES_MIN; n++) {
		cells += find_lightest_cell(&best, &t->set[t->hand_insert]);
		t->hand_insert = (t->hand_insert + 1) & (t->sets - 1);
	}
	return best;
}

/*
 * Draw a random limit of ranks. @count samples may replace a cell with a rank below the result.
 */
static u64 limit_draw(struct cell_table *t, u32 count)
{
	/* The highest bits of a linear congruential generator are the most random ones. */
	t->draws = t->draws * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u64)t->bound[t->draws >> 56] * count;
}

static bool cells_are_exhausted(const struct cell_table *t)
{
	return !t->free && t->fresh == t->capacity;
}

static u32 cell_number_alloc(struct cell_table *t)
{
	u32 number = t->free;

	if (number)
		t->free = t->cells[number].counters;
	else
		number = ++t->fresh;
	t->used++;
	return number;
}

/*
 * Find or free a cell and a way of a set for a new cell. Return false if the new cell is not
 * admitted.
 */
static bool slot_reserve(struct cell_table *t, u64 hash, u32 count, struct cell_slot *ret_slot,
			 u16 *ret_rank)
{
	struct cell_set *set;
	struct cell_slot victim;
	u64 limit;

	if (t->grows && t->used > t->sets * 16ULL / 5)
		index_grow(t);
	set = find_set_with_free_way(t, hash);
	*ret_rank = 0;
	if (!set || cells_are_exhausted(t)) {
		if (t->grows)
			return false;
		set = &t->set[hash_get_set(t, hash)];
		limit = limit_draw(t, count);
		victim = victim_find(t, set, limit);
		if (!victim.set || victim.set->rank[victim.way] >= limit)
			return false;
		/* A new cell inherits the rank of the cell that it replaces. */
		*ret_rank = victim.set->rank[victim.way];
		cell_evict(t, victim.set, victim.way);
	}
	*ret_slot = (struct cell_slot){ .set = set,
					.way = get_first_way(match_tag_ways(set->tags, 0)) };
	return true;
}

struct cell *cell_insert(struct cell_table *t, u64 hash, u64 owner, u64 offset, u32 count,
			 struct cell_slot *ret_slot)
{
	struct cell *c = cell_find(t, hash, owner, offset, ret_slot);
	u32 number;
	u16 rank;

	if (c)
		return c;
	if (!slot_reserve(t, hash, count, ret_slot, &rank))
		return NULL;
	number = cell_number_alloc(t);
	set_write_way(ret_slot->set, ret_slot->way, hash_get_tag(hash), number, rank, 0);
	c = &t->cells[number];
	c->offset = offset;
	c->owner = owner;
	c->counters = 0;
	c->restarted = true;
	return c;
}

/* ---- Memory of counters -------------------------------------------------- */

/*
 * Set @best to the lightest cell of @set with counters, if this cell is lighter than @best. Return
 * the number of cells that were compared. This number includes heavier cells without a check
 * whether they have counters.
 */
static u32 reclaim_victim_update(const struct cell_table *t, struct cell_set *set,
				 const struct cell *except, struct cell_slot *best)
{
	u32 cells = 0;

	for (unsigned int i = 0; i < CELL_WAYS; i++) {
		const struct cell *c = &t->cells[set->cell[i]];
		bool heavier = best->set && set->rank[i] >= best->set->rank[best->way];

		if (!set->cell[i] || (!heavier && (!c->counters || c == except)))
			continue;
		cells++;
		if (!heavier)
			*best = (struct cell_slot){ .set = set, .way = i };
	}
	return cells;
}

/* Find the lightest cell with counters, other than @except, in the next sets. */
static struct cell_slot reclaim_victim_find(struct cell_table *t, const struct cell *except)
{
	struct cell_slot best = { 0 };
	u32 cells = 0;

	for (u32 n = 0; n < t->sets && cells < EVICT_CANDIDATES_MIN; n++) {
		cells += reclaim_victim_update(t, &t->set[t->hand_reclaim], except, &best);
		t->hand_reclaim = (t->hand_reclaim + 1) & (t->sets - 1);
	}
	return best;
}

/*
 * Evict cells until 2^@order lines fit in the budget. As for a new cell, a random draw decides
 * whether a heavier cell than @c may be evicted.
 */
static bool lines_reclaim(struct cell_table *t, const struct cell *c, unsigned int order)
{
	u64 hash = cell_hash(cell_owner_hash(t, c->owner), c->offset);
	struct cell_slot slot, victim;
	u16 rank;

	if (!cell_find(t, hash, c->owner, c->offset, &slot))
		return false;
	while (t->lines.used + (1U << order) > t->lines_limit) {
		victim = reclaim_victim_find(t, c);
		if (!victim.set)
			return false;
		rank = victim.set->rank[victim.way];
		if (rank > slot.set->rank[slot.way] && rank >= limit_draw(t, CELL_LOG))
			return false;
		cell_evict(t, victim.set, victim.way);
	}
	return true;
}

u32 cell_lines_alloc(struct cell_table *t, const struct cell *c, unsigned int order)
{
	bool fits = t->grows || cell_is_for_evicted(t, c) ||
		    t->lines.used + (1U << order) <= t->lines_limit;

	return fits || lines_reclaim(t, c, order) ? line_pool_alloc(&t->lines, order) : 0;
}

/* ---- Counting ------------------------------------------------------------ */

static void ranks_halve(struct cell_table *t, struct cell_set *set)
{
	t->ranks_aged = true;
	for (unsigned int i = 0; i < CELL_WAYS; i++)
		set->rank[i] = (u16)((set->rank[i] + 1) / 2);
}

void cell_rank_add(struct cell_table *t, struct cell_slot slot, u32 count)
{
	u32 rank = slot.set->rank[slot.way] + count;

	t->ranks_aged |= rank >= UINT16_MAX - 1;
	slot.set->rank[slot.way] = (u16)(rank < UINT16_MAX - 1 ? rank : UINT16_MAX - 1);
}

static inline void log_add(struct cell_table *t, struct cell *c, struct cell_slot slot, u64 sample,
			   u8 interval)
{
	struct cell_set *set = slot.set;
	unsigned int way = slot.way, fill = set->fill[way];

	if (__builtin_expect(fill == CELL_LOG || c->interval != interval, 0)) {
		cell_fold(t, c, fill);
		c->interval = interval;
		fill = 0;
	}
	c->sample[fill] = sample;
	set->fill[way] = (u8)(fill + 1);
	if (__builtin_expect(++set->rank[way] == UINT16_MAX, 0))
		ranks_halve(t, set);
}

void cell_log_add(struct cell_table *t, struct cell *c, struct cell_slot slot, u64 sample,
		  u8 interval)
{
	log_add(t, c, slot, sample, interval);
}

/* Count a sample of another cell than the prefetched one. */
static void sample_add_unprefetched(struct cell_table *t, const struct cell_batch *b, u32 i)
{
	struct cell_slot slot;
	struct cell *c = cell_insert(t, b->hash[i], b->owner[i], b->offset[i], 1, &slot);

	if (c) {
		log_add(t, c, slot, b->sample[i], b->interval[i]);
		return;
	}
	t->stats.refused++;
	cell_log_evicted_sample(t, (u32)(b->owner[i] >> 32), b->sample[i], b->interval[i]);
}

/* Queue a cell with a full log, and prefetch its counters. */
static inline void queue_add_full_log(struct cell_table *t, const struct cell_set *set,
				      unsigned int way, const struct cell *c)
{
	struct fold_queue *q = &t->queue[0];

	q->log[q->count++] = (struct full_log){ .set = (u32)(set - t->set),
						.cell = set->cell[way],
						.way = (u8)way };
	if (c->counters) {
		__builtin_prefetch(counters_at(t, c->counters), 1);
		__builtin_prefetch((u8 *)counters_at(t, c->counters) + LINE_SIZE, 1);
	}
}

static bool log_is_full(const struct cell_table *t, const struct full_log *l)
{
	return t->set[l->set].cell[l->way] == l->cell && t->set[l->set].fill[l->way] == CELL_LOG;
}

/*
 * Fold the logs of the cells with prefetched pairs, and prefetch the pairs of the cells that are
 * folded next.
 */
static void queues_advance(struct cell_table *t)
{
	struct fold_queue *fold = &t->queue[1], *next = &t->queue[0];

	for (u32 i = 0; i < fold->count; i++) {
		const struct full_log *l = &fold->log[i];

		if (!log_is_full(t, l))
			continue;
		cell_fold(t, &t->cells[l->cell], CELL_LOG);
		/* Folding may evict other cells, but not the cell of this log. */
		t->set[l->set].fill[l->way] = 0;
	}
	fold->count = 0;
	for (u32 i = 0; i < next->count; i++) {
		if (!log_is_full(t, &next->log[i]))
			continue;
		fold->log[fold->count++] = next->log[i];
		cell_log_prefetch(t, &t->cells[next->log[i].cell]);
	}
	next->count = 0;
}

static inline void sample_add_to_cell(struct cell_table *t, const struct cell_batch *b, u32 i)
{
	struct cell_set *set = &t->set[hash_get_set(t, b->hash[i])];
	struct cell *c = &t->cells[b->cell[i]];
	unsigned int way = b->way[i];
	bool there = b->cell[i] && c->offset == b->offset[i] && c->owner == b->owner[i] &&
		     set->cell[way] == b->cell[i];

	if (__builtin_expect(!there, 0)) {
		sample_add_unprefetched(t, b, i);
		return;
	}
	log_add(t, c, (struct cell_slot){ .set = set, .way = way }, b->sample[i], b->interval[i]);
	if (__builtin_expect(set->fill[way] == CELL_LOG, 0))
		queue_add_full_log(t, set, way, c);
}

/* Find the most likely cell of a sample, and prefetch it. The set of the sample is in the cache. */
static inline void sample_prefetch_cell(struct cell_table *t, struct cell_batch *b, u32 i)
{
	const struct cell_set *set = &t->set[hash_get_set(t, b->hash[i])];
	u64 ways = match_tag_ways(set->tags, hash_get_tag(b->hash[i]));
	/* If no way matches, b->cell[i] is 0, and b->way[i] is not used. */
	unsigned int way = ways ? get_first_way(ways) : 0;
	const struct cell *c = &t->cells[set->cell[way]];

	b->way[i] = (u8)way;
	b->cell[i] = ways ? set->cell[way] : 0;
	__builtin_prefetch(c, 1);
	__builtin_prefetch(&c->sample[set->fill[way]], 1);
}

static inline void sample_prefetch_set(const struct cell_table *t, const struct cell_batch *b,
				       u32 i)
{
	__builtin_prefetch(&t->set[hash_get_set(t, b->hash[i])], 1);
}

static struct cell_batch *batch_get_previous(struct cell_table *t, u64 n)
{
	return &t->batch[(t->batches + CELL_BATCHES - n) % CELL_BATCHES];
}

/*
 * Advance three batches by one step each. The loop interleaves the samples of the three batches, so
 * that the CPU works on one batch while it waits for the memory of another.
 */
static void batches_advance(struct cell_table *t)
{
	struct cell_batch *prefetch = batch_get_previous(t, 0), *locate = batch_get_previous(t, 1);
	struct cell_batch *count = batch_get_previous(t, 2);

	queues_advance(t);
	for (u32 i = 0; i < CELL_BATCH; i++) {
		if (i < prefetch->count)
			sample_prefetch_set(t, prefetch, i);
		if (i < locate->count)
			sample_prefetch_cell(t, locate, i);
		if (i < count->count)
			sample_add_to_cell(t, count, i);
	}
	count->count = 0;
	t->batches++;
}

struct cell_batch *cell_table_get_batch(struct cell_table *table)
{
	return batch_get_previous(table, 0);
}

void cell_table_add_batch(struct cell_table *table)
{
	if (batch_get_previous(table, 0)->count)
		batches_advance(table);
}

void cell_table_flush(struct cell_table *table)
{
	for (unsigned int i = 0; i < CELL_BATCHES; i++)
		batches_advance(table);
}

void cell_index_prefetch(const struct cell_table *t, u64 hash)
{
	__builtin_prefetch(&t->set[hash_get_set(t, hash)], 1);
}

const struct cell *cell_prefetch(const struct cell_table *t, u64 hash)
{
	const struct cell_set *set = &t->set[hash_get_set(t, hash)];
	u64 ways = match_tag_ways(set->tags, hash_get_tag(hash));
	const struct cell *c = &t->cells[ways ? set->cell[get_first_way(ways)] : 0];

	__builtin_prefetch(c, 1);
	__builtin_prefetch((const u8 *)c + LINE_SIZE, 1);
	return c;
}

void cell_fold_logs(struct cell_table *t)
{
	for (u32 i = 0; i < t->sets; i++) {
		for (unsigned int k = 0; k < CELL_WAYS; k++) {
			if (!t->set[i].fill[k])
				continue;
			cell_fold(t, &t->cells[t->set[i].cell[k]], t->set[i].fill[k]);
			t->set[i].fill[k] = 0;
		}
	}
	for (u32 i = 0; i < t->evicted_programs; i++) {
		if (!t->evicted[i])
			continue;
		cell_fold(t, t->evicted[i], t->evicted[i]->fill);
		t->evicted[i]->fill = 0;
	}
}

u8 cell_table_get_interval(struct cell_table *table, u32 interval, u8 unit)
{
	for (u32 i = table->intervals; i--;)
		if (table->interval[i].interval == interval && table->interval[i].unit == unit)
			return (u8)i;
	/* Logs refer to intervals by number, so fold all logs before numbers are reused. */
	if (table->intervals == CELL_INTERVALS) {
		cell_table_flush(table);
		cell_fold_logs(table);
		table->intervals = 0;
	}
	table->interval[table->intervals] =
		(struct cell_interval){ .interval = interval, .unit = unit };
	return (u8)table->intervals++;
}

/* ---- Rows ---------------------------------------------------------------- */

static bool row_read_cell(const struct cell_table *t, u32 set, unsigned int way,
			  struct cell_row *ret)
{
	struct cell *c = &t->cells[t->set[set].cell[way]];

	if (!t->set[set].cell[way])
		return false;
	*ret = (struct cell_row){
		.program = cell_get_program(c),
		.binary = cell_get_binary(c),
		.offset = c->offset,
		.rank = t->set[set].rank[way],
		.fill = t->set[set].fill[way],
		.cell = c,
	};
	return true;
}

static bool row_read_evicted(const struct cell_table *t, u32 index, struct cell_row *ret)
{
	struct cell *c = t->evicted[index];

	if (!c || (!c->fill && !c->counters))
		return false;
	*ret = (struct cell_row){
		.program = cell_get_program(c),
		.evicted = true,
		.fill = c->fill,
		.cell = c,
	};
	return true;
}

size_t cell_table_get_max_rows(const struct cell_table *table)
{
	return (size_t)table->used + table->evicted_used;
}

/* Number of sets with cells that cell_table_next() prefetches ahead of its cursor. */
#define ROW_SETS 4

static void rows_prefetch(const struct cell_table *t, u32 set)
{
	for (unsigned int i = 0; set < t->sets && i < CELL_WAYS; i++)
		__builtin_prefetch(&t->cells[t->set[set].cell[i]]);
}

bool cell_table_next(const struct cell_table *table, struct cell_cursor *cursor,
		     struct cell_row *ret_row)
{
	if (!cursor->way)
		rows_prefetch(table, cursor->set + ROW_SETS);
	while (cursor->set < table->sets) {
		u32 set = cursor->set, way = cursor->way++;

		if (cursor->way == CELL_WAYS) {
			cursor->way = 0;
			cursor->set++;
		}
		if (row_read_cell(table, set, way, ret_row))
			return true;
	}
	while (cursor->program < table->evicted_programs)
		if (row_read_evicted(table, cursor->program++, ret_row))
			return true;
	return false;
}

bool cell_table_find(const struct cell_table *table, u64 owner, u64 offset,
		     struct cell_row *ret_row)
{
	u64 hash = cell_hash(cell_owner_hash(table, owner), offset);
	struct cell_slot slot;

	if (!cell_find(table, hash, owner, offset, &slot))
		return false;
	return row_read_cell(table, (u32)(slot.set - table->set), slot.way, ret_row);
}

bool cell_table_is_exact(const struct cell_table *table)
{
	return !table->inexact && !table->stats.evictions && !table->stats.refused &&
	       !table->stats.uncounted;
}

void cell_table_get_stats(const struct cell_table *table, struct cell_table_stats *ret_stats)
{
	struct cell_cursor cursor = { .set = table->sets };
	struct cell_row row;

	*ret_stats = table->stats;
	ret_stats->evicted = table->stats.uncounted;
	while (cell_table_next(table, &cursor, &row))
		ret_stats->evicted += cell_row_count_samples(table, &row);
	ret_stats->cells = table->used;
	ret_stats->capacity = table->capacity;
	ret_stats->bytes = sizeof(*table) + compute_sets_size(table->sets) +
			   table->fresh * sizeof(struct cell) + (u64)table->lines.used * LINE_SIZE +
			   table->evicted_programs * sizeof(struct cell *);
	ret_stats->limit = table->grows ? 0 : 2ULL * table->lines_limit * LINE_SIZE;
}
