// SPDX-License-Identifier: LGPL-2.1-or-later
/* Folds the log of a cell into its counters. */
#include "cell-table-internal.h"

/*
 * Binary logarithm of the maximum number of lines of a table of small pairs. A pair with the
 * complete class enlarges the table up to this size. A pair with a class without events enlarges
 * the table up to twice this size, and a pair without a class up to four times this size.
 */
#define SMALL_ORDER_CELL	7
#define SMALL_ORDER_EVICTED_MIN 3
#define SMALL_ORDER_EVICTED_MAX 9
#define SMALL_ORDER_GROWING	11

/* Pairs of evicted samples may use about one in EVICTED_PARTS lines. */
#define EVICTED_PARTS 4

/* Maximum binary logarithm of the number of lines of a table of large pairs. */
#define LARGE_ORDER_MAX 14

/* The detail with which a pair stores the class of its samples. */
enum pair_detail {
	PAIR_WHOLE,
	PAIR_WITHOUT_EVENTS,
	PAIR_WITHOUT_CLASS,
	PAIR_DETAILS,
};

static u32 pair_hash(u32 key, unsigned int bits)
{
	return key * 0x9e3779b1U >> (32 - bits);
}

static unsigned int get_small_order_max(const struct cell_table *t, const struct cell *c)
{
	unsigned int order = SMALL_ORDER_EVICTED_MAX;

	if (t->grows)
		return SMALL_ORDER_GROWING;
	if (!cell_is_for_evicted(t, c))
		return SMALL_ORDER_CELL;
	while (order > SMALL_ORDER_EVICTED_MIN &&
	       (u64)t->evicted_used << order > t->lines_limit / EVICTED_PARTS)
		order--;
	return order;
}

/* Return the pair of @key, or the free entry for it; NULL if there is no hash table. */
static inline struct small_pair *small_pair_find(const struct cell_table *t,
						 const struct cell_counters *n, u32 key)
{
	struct small_pair *at = get_small_pairs(t, n);
	u32 mask = get_small_capacity(n) - 1, i;

	if (!n->small)
		return NULL;
	i = pair_hash(key, SMALL_LEAST_BITS + n->small_order);
	while (at[i].head && at[i].head >> SMALL_COUNT_BITS != key)
		i = (i + 1) & mask;
	return &at[i];
}

/*
 * Return a pair of @key that is not full, or the free entry for such a pair; NULL if there is no
 * hash table.
 */
static struct large_pair *large_pair_find(const struct cell_table *t, const struct cell_counters *n,
					  u32 key)
{
	struct large_pair *at = get_large_pairs(t, n);
	u32 mask = get_large_capacity(n) - 1, i;

	if (!n->large)
		return NULL;
	i = pair_hash(key, LARGE_LEAST_BITS + n->large_order);
	while (at[i].head &&
	       (at[i].head >> LARGE_COUNT_BITS != key || at[i].head & LARGE_COUNT_FULL))
		i = (i + 1) & mask;
	return &at[i];
}

/* Replace the table of small pairs with a table of 2^@order lines. */
static bool small_pairs_resize(struct cell_table *t, struct cell *c, struct cell_counters *n,
			       unsigned int order)
{
	u32 line = cell_lines_alloc(t, c, order), size = get_small_capacity(n), old_line = n->small;
	const struct small_pair *old = get_small_pairs(t, n);
	unsigned int old_order = n->small_order;

	if (!line)
		return false;
	n->small = line;
	n->small_order = (u8)(order & 0xf);
	for (u32 i = 0; i < size; i++)
		if (old[i].head)
			*small_pair_find(t, n, old[i].head >> SMALL_COUNT_BITS) = old[i];
	line_pool_free(&t->lines, old_line, old_order);
	return true;
}

static bool large_pairs_resize(struct cell_table *t, struct cell *c, struct cell_counters *n,
			       unsigned int order)
{
	u32 line = cell_lines_alloc(t, c, order), size = get_large_capacity(n), old_line = n->large;
	const struct large_pair *old = get_large_pairs(t, n);
	unsigned int old_order = n->large_order;
	struct large_pair *at = line_pool_at(&t->lines, line);
	u32 mask = (1U << (LARGE_LEAST_BITS + order)) - 1, to;

	if (!line)
		return false;
	for (u32 i = 0; i < size; i++) {
		if (!old[i].head)
			continue;
		to = pair_hash((u32)(old[i].head >> LARGE_COUNT_BITS), LARGE_LEAST_BITS + order);
		while (at[to].head)
			to = (to + 1) & mask;
		at[to] = old[i];
	}
	n->large = line;
	n->large_order = (u8)(order & 0xf);
	line_pool_free(&t->lines, old_line, old_order);
	return true;
}

/*
 * Return an entry for a new pair. Enlarge the table, to at most 2^@order_max lines, if three
 * quarters of its entries are in use. Return NULL if the table has its maximum size, or if memory
 * cannot be allocated.
 */
static struct small_pair *small_pair_insert(struct cell_table *t, struct cell *c,
					    struct cell_counters *n, u32 key,
					    unsigned int order_max)
{
	unsigned int order = n->small ? n->small_order + 1U : 0;
	u32 used = 4 * (n->small_used + 1U);

	if (used > 3U << (SMALL_LEAST_BITS + order_max) ||
	    (used > 3 * get_small_capacity(n) && !small_pairs_resize(t, c, n, order)))
		return NULL;
	n->small_used++;
	return small_pair_find(t, n, key);
}

static struct large_pair *large_pair_insert(struct cell_table *t, struct cell *c,
					    struct cell_counters *n, u32 key)
{
	unsigned int order = n->large ? n->large_order + 1U : 0;

	if (4 * (n->large_used + 1U) > 3 * get_large_capacity(n) &&
	    (order > LARGE_ORDER_MAX || !large_pairs_resize(t, c, n, order)))
		return NULL;
	n->large_used++;
	return large_pair_find(t, n, key);
}

/*
 * Add samples to large pairs. An entry that is not full can count at least LARGE_COUNT_FULL more
 * samples. Return the number of samples for which no entry could be allocated.
 */
static u64 large_pair_add(struct cell_table *t, struct cell *c, struct cell_counters *n, u32 key,
			  u64 count, u64 sum)
{
	while (count) {
		struct large_pair *p = large_pair_find(t, n, key);
		u64 some = count < LARGE_COUNT_FULL ? count : LARGE_COUNT_FULL;

		if (!p || !p->head)
			p = large_pair_insert(t, c, n, key);
		if (!p)
			break;
		if (!p->head)
			p->head = (u64)key << LARGE_COUNT_BITS;
		p->head += some;
		p->sum += sum;
		sum = 0;
		count -= some;
	}
	return count;
}

/* Count samples as evicted, because no pair can be allocated for them in @c. */
static void pair_evict_samples(struct cell_table *t, struct cell *c, u32 key, u64 count, u64 sum)
{
	struct cell *evicted;
	struct cell_counters *n;

	if (!count)
		return;
	t->ranks_aged = true;
	if (cell_is_for_evicted(t, c)) {
		t->stats.uncounted += count;
		return;
	}
	c->restarted = true;
	evicted = cell_get_for_evicted(t, cell_get_program(c));
	n = cell_counters_get_or_add(t, evicted);
	if (n)
		cell_pair_add(t, evicted, n, key, count, sum);
	else
		t->stats.uncounted += count;
}

/*
 * Add to an octave or to a counter of &struct sample_counts. If memory for an entry in @c cannot be
 * allocated, add to the evicted samples of the program.
 */
static void large_pair_add_or_evict(struct cell_table *t, struct cell *c, struct cell_counters *n,
				    u32 key, u64 count)
{
	struct cell *evicted;

	count = large_pair_add(t, c, n, key, count, 0);
	if (!count || cell_is_for_evicted(t, c))
		return;
	evicted = cell_get_for_evicted(t, cell_get_program(c));
	n = cell_counters_get_or_add(t, evicted);
	if (n)
		(void)large_pair_add(t, evicted, n, key, count, 0);
}

/*
 * Move the samples of a pair to a large pair, except one, because an entry without samples is free.
 */
static void small_pair_move_to_large(struct cell_table *t, struct cell *c, struct cell_counters *n,
				     struct small_pair *p)
{
	u32 key = p->head >> SMALL_COUNT_BITS, count = (p->head & SMALL_COUNT_MAX) - 1;
	u32 sum = p->sum;

	p->head = key << SMALL_COUNT_BITS | 1;
	p->sum = 0;
	pair_evict_samples(t, c, key, large_pair_add(t, c, n, key, count, sum), sum);
}

/*
 * Return the key of the pair that stores the samples of @key with at most the detail @detail about
 * their class.
 */
static u32 pair_key_reduce(struct cell_table *t, u32 key, enum pair_detail detail)
{
	u16 number = (u16)(key >> PAIR_BUCKET_BITS);
	unsigned int bucket = key & HISTOGRAM_NONE;

	if (detail == PAIR_WHOLE || !number)
		return key;
	if (detail == PAIR_WITHOUT_CLASS)
		return bucket;
	number = sample_class_find_coarse(t->sample_class, &t->sample_class->at[number]);
	return pair_key_make(number == SAMPLE_CLASS_OTHERS ? 0 : number, bucket);
}

/*
 * Return the pair of @key, or a pair with less detail if the cell has too many pairs; NULL if
 * memory cannot be allocated.
 */
static struct small_pair *small_pair_find_or_insert(struct cell_table *t, struct cell *c,
						    struct cell_counters *n, u32 *key)
{
	unsigned int order_max = get_small_order_max(t, c);
	u32 whole = *key;

	for (enum pair_detail detail = PAIR_WHOLE; detail < PAIR_DETAILS; detail++) {
		struct small_pair *p;

		*key = pair_key_reduce(t, whole, detail);
		p = small_pair_find(t, n, *key);
		if (!p || !p->head)
			p = small_pair_insert(t, c, n, *key, order_max + detail);
		if (p)
			return p;
		t->inexact = true;
	}
	return NULL;
}

static void pair_key_get_ones(const struct cell_table *t, u32 key,
			      u8 ret_ones[static SAMPLE_COUNTS])
{
	u16 id = class_number_to_id((u16)(key >> PAIR_BUCKET_BITS));
	const struct sample_class *sample_class = sample_class_get_by_id(t->sample_class, id);

	memset(ret_ones, 0, SAMPLE_COUNTS);
	if (sample_class)
		memcpy(ret_ones, sample_class->ones, SAMPLE_COUNTS);
}

/*
 * Count for the whole cell the properties of @count samples that the class of @whole has and the
 * class of @reduced lacks.
 */
static void cell_add_lost_properties(struct cell_table *t, struct cell *c, struct cell_counters *n,
				     u32 whole, u32 reduced, u64 count)
{
	u8 ones[SAMPLE_COUNTS], left[SAMPLE_COUNTS];

	pair_key_get_ones(t, whole, ones);
	pair_key_get_ones(t, reduced, left);
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		if (ones[i] > left[i])
			cell_property_add(t, c, n, i, count);
}

void cell_pair_add(struct cell_table *t, struct cell *c, struct cell_counters *n, u32 key,
		   u64 count, u64 sum)
{
	struct small_pair *p;
	u32 used = key;

	if (!count)
		return;
	p = small_pair_find_or_insert(t, c, n, &used);
	if (!p) {
		pair_evict_samples(t, c, key, count, sum);
		return;
	}
	if (used != key)
		cell_add_lost_properties(t, c, n, key, used, count);
	if (!p->head)
		p->head = used << SMALL_COUNT_BITS;
	if ((p->head & SMALL_COUNT_MAX) + count < SMALL_COUNT_MAX) {
		p->head += (u32)count;
		p->sum += (u32)sum;
		return;
	}
	/* Leave one sample, because an entry without samples is free. */
	if (!(p->head & SMALL_COUNT_MAX)) {
		p->head++;
		count--;
	}
	pair_evict_samples(t, c, used, large_pair_add(t, c, n, used, count, sum), sum);
}

void cell_octave_add(struct cell_table *t, struct cell *c, struct cell_counters *n,
		     unsigned int latency, unsigned int octave, u64 count)
{
	u32 key = LARGE_OCTAVES * (latency + 1) | octave;
	u16 *small = &n->octave[latency][octave];

	if (*small + count <= INT16_MAX)
		*small += (u16)count;
	else
		large_pair_add_or_evict(t, c, n, key, count);
}

void cell_property_add(struct cell_table *t, struct cell *c, struct cell_counters *n,
		       unsigned int index, u64 count)
{
	large_pair_add_or_evict(t, c, n, LARGE_COUNTS | index, count);
}

/* Move the octaves that may overflow in the next fold to large pairs. */
static void octaves_move_to_large(struct cell_table *t, struct cell *c, struct cell_counters *n)
{
	for (unsigned int i = 0; i < CELL_LATENCIES; i++) {
		for (unsigned int k = 0; k < CELL_OCTAVES; k++) {
			u64 count = n->octave[i][k];

			if (count <= INT16_MAX)
				continue;
			n->octave[i][k] = 0;
			large_pair_add_or_evict(t, c, n, LARGE_OCTAVES * (i + 1) | k, count);
		}
	}
}

static bool octaves_are_full(const struct cell_counters *n)
{
	u64 any = 0, word;

	for (unsigned int i = 0; i < sizeof(n->octave) / sizeof(word); i++) {
		memcpy(&word, (const u8 *)n->octave + i * sizeof(word), sizeof(word));
		any |= word;
	}
	return any & 0x8000800080008000ULL;
}

/* Count one sample in its pair; this is the usual case of cell_pair_add(). */
static inline void pair_count_sample(struct cell_table *t, struct cell *c, struct cell_counters *n,
				     u32 key, u16 total)
{
	struct small_pair *p = small_pair_find(t, n, key);

	if (__builtin_expect(!p || !p->head, 0)) {
		cell_pair_add(t, c, n, key, 1, total);
		return;
	}
	p->head++;
	p->sum += total;
	if (__builtin_expect((p->head & SMALL_COUNT_MAX) == SMALL_COUNT_MAX, 0))
		small_pair_move_to_large(t, c, n, p);
}

static inline void latency_count_sample(struct cell_counters *n, unsigned int latency, u16 value,
					bool present)
{
	n->octave[latency][latency_get_octave(value)] += present;
	n->latency_sum[latency] += value;
	if (value > n->max[latency + 1])
		n->max[latency + 1] = value;
}

static inline void sample_fold(struct cell_table *t, struct cell *c, struct cell_counters *n,
			       u64 sample)
{
	u16 number = sample_unpack_class(sample),
	    total = sample_unpack_latency(sample, PROFILE_TOTAL);

	if (total > n->max[PROFILE_TOTAL])
		n->max[PROFILE_TOTAL] = total;
	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		latency_count_sample(n, i, sample_unpack_latency(sample, i + 1),
				     sample_has_latency(t, sample, i + 1));
	pair_count_sample(t, c, n, pair_key_make(number, sample_get_bucket(t, sample)), total);
}

/* Count the first @count samples of a log as evicted, because its cell cannot get counters. */
static void log_evict_samples(struct cell_table *t, struct cell *c, unsigned int count)
{
	c->restarted = true;
	t->ranks_aged = true;
	if (cell_is_for_evicted(t, c)) {
		t->stats.uncounted += count;
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		cell_log_evicted_sample(t, cell_get_program(c), c->sample[i], c->interval);
}

void cell_fold(struct cell_table *t, struct cell *c, unsigned int count)
{
	const struct cell_interval *interval = &t->interval[c->interval];
	struct cell_counters *n;

	if (!count)
		return;
	n = cell_counters_get_or_add(t, c);
	if (!n) {
		log_evict_samples(t, c, count);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		sample_fold(t, c, n, c->sample[i]);
	n->weight[interval->unit] += (u64)count * interval->interval;
	if (__builtin_expect(octaves_are_full(n), 0))
		octaves_move_to_large(t, c, n);
}

struct cell_counters *cell_counters_get_or_add(struct cell_table *t, struct cell *c)
{
	if (!c->counters)
		c->counters = cell_lines_alloc(t, c, COUNTERS_ORDER);
	return cell_get_counters(t, c);
}

void cell_counters_free(struct cell_table *t, struct cell *c)
{
	const struct cell_counters *n = cell_get_counters(t, c);

	if (!n)
		return;
	line_pool_free(&t->lines, n->small, n->small_order);
	line_pool_free(&t->lines, n->large, n->large_order);
	line_pool_free(&t->lines, c->counters, COUNTERS_ORDER);
	c->counters = 0;
}

/* Maximum number of lines that are prefetched for a cell; most cells have fewer lines. */
#define PREFETCH_LINES 8

void cell_counters_prefetch(const struct cell_table *t, const struct cell *c)
{
	const struct cell_counters *n = cell_get_counters(t, c);
	const u8 *at;
	u32 lines;

	if (!n)
		return;
	at = (const u8 *)get_small_pairs(t, n);
	lines = n->small ? 1U << n->small_order : 0;
	for (u32 i = 0; i < lines && i < PREFETCH_LINES; i++)
		__builtin_prefetch(at + (size_t)i * LINE_SIZE, 1);
}

void cell_log_prefetch(const struct cell_table *t, const struct cell *c)
{
	const struct cell_counters *n = cell_get_counters(t, c);
	const struct small_pair *pairs;

	if (!n)
		return;
	pairs = get_small_pairs(t, n);
	if (!n->small || 1U << n->small_order <= PREFETCH_LINES) {
		cell_counters_prefetch(t, c);
		return;
	}
	for (unsigned int i = 0; i < CELL_LOG; i++) {
		u64 sample = c->sample[i];
		u32 key = pair_key_make(sample_unpack_class(sample), sample_get_bucket(t, sample));

		__builtin_prefetch(&pairs[pair_hash(key, SMALL_LEAST_BITS + n->small_order)], 1);
	}
}

u64 cell_counters_count_samples(const struct cell_table *t, const struct cell_counters *n)
{
	const struct small_pair *small = get_small_pairs(t, n);
	const struct large_pair *large = get_large_pairs(t, n);
	u32 smalls = get_small_capacity(n), larges = get_large_capacity(n);
	u64 samples = 0;

	for (u32 i = 0; i < smalls; i++)
		samples += small[i].head & SMALL_COUNT_MAX;
	for (u32 i = 0; i < larges; i++)
		if (large[i].head >> LARGE_COUNT_BITS < LARGE_OCTAVES)
			samples += large[i].head & LARGE_COUNT_MAX;
	return samples;
}

/*
 * Add the octaves of @from to those of @to. No octave exceeds INT16_MAX, so no sum overflows. Then
 * move large sums to large pairs.
 */
static void cell_add_octaves(struct cell_table *t, struct cell *c, struct cell_counters *to,
			     const struct cell_counters *from)
{
	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		for (unsigned int k = 0; k < CELL_OCTAVES; k++)
			to->octave[i][k] = (u16)(to->octave[i][k] + from->octave[i][k]);
	if (octaves_are_full(to))
		octaves_move_to_large(t, c, to);
}

static u32 pair_key_renumber_class(u32 key, const u16 *numbers)
{
	u16 number = (u16)(key >> PAIR_BUCKET_BITS);

	return numbers ? pair_key_make(numbers[number], key & HISTOGRAM_NONE) : key;
}

/* Add a small pair of another cell to @to. This is fast if @to already has the pair. */
static inline void cell_add_pair(struct cell_table *t, struct cell *c, struct cell_counters *to,
				 u32 key, const struct small_pair *from)
{
	struct small_pair *p = small_pair_find(t, to, key);
	u32 count = from->head & SMALL_COUNT_MAX;

	if (p && p->head && (p->head & SMALL_COUNT_MAX) + count < SMALL_COUNT_MAX) {
		p->head += count;
		p->sum += from->sum;
		return;
	}
	cell_pair_add(t, c, to, key, count, from->sum);
}

static void cell_add_pairs(struct cell_table *t, struct cell *c, struct cell_counters *to,
			   const struct cell_table *from_table, const struct cell_counters *from,
			   const u16 *numbers)
{
	const struct small_pair *small = get_small_pairs(from_table, from);
	const struct large_pair *large = get_large_pairs(from_table, from);
	u32 smalls = get_small_capacity(from), larges = get_large_capacity(from);

	/*
	 * If @to has no pairs yet, it will have at least as many as @from: allocate its table in
	 * the same size.
	 */
	if (!to->small && from->small && from->small_order <= get_small_order_max(t, c))
		(void)small_pairs_resize(t, c, to, from->small_order);
	for (u32 i = 0; i < smalls; i++)
		if (small[i].head)
			cell_add_pair(
				t, c, to,
				pair_key_renumber_class(small[i].head >> SMALL_COUNT_BITS, numbers),
				&small[i]);
	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);
		u64 count = large[i].head & LARGE_COUNT_MAX;

		if (!large[i].head)
			continue;
		if (key < LARGE_OCTAVES)
			cell_pair_add(t, c, to, pair_key_renumber_class(key, numbers), count,
				      large[i].sum);
		else if (key < LARGE_COUNTS)
			cell_octave_add(t, c, to, key / LARGE_OCTAVES - 1, key % LARGE_OCTAVES,
					count);
		else
			cell_property_add(t, c, to, key - LARGE_COUNTS, count);
	}
}

void cell_add_counters(struct cell_table *t, struct cell *c, const struct cell_table *from_table,
		       const struct cell_counters *from, const u16 *numbers)
{
	struct cell_counters *to = cell_counters_get_or_add(t, c);

	if (!to && !cell_is_for_evicted(t, c)) {
		c = cell_get_for_evicted(t, cell_get_program(c));
		to = cell_counters_get_or_add(t, c);
	}
	if (!to) {
		t->stats.uncounted += cell_counters_count_samples(from_table, from);
		return;
	}
	cell_add_pairs(t, c, to, from_table, from, numbers);
	cell_add_octaves(t, c, to, from);
	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		to->latency_sum[i] += from->latency_sum[i];
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += from->weight[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		if (from->max[i] > to->max[i])
			to->max[i] = from->max[i];
}
