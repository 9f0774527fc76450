// SPDX-License-Identifier: LGPL-2.1-or-later
/* Moves cells between tables: merges shards, and saves and loads cells for the checkpoint. */
#include "cell-table-internal.h"

#include <errno.h>
#include <stdlib.h>

/* The first value of a saved row. */
enum saved_row_kind {
	SAVED_END,
	SAVED_CELL,
	SAVED_EVICTED,
	SAVED_KINDS,
};

/**
 * struct cell_number_translation - maps the class and interval numbers of a shard or of a saved
 * table
 * @number: class numbers of the table, indexed by class number of the source
 * @interval: interval numbers of the table, indexed by interval number of the source
 */
struct cell_number_translation {
	u16 number[SAMPLE_CLASS_MAX + 1];
	u8 interval[CELL_INTERVALS];
};

/**
 * struct cell_target - the cell to which samples of a source are added
 * @cell: the cell, or the cell of the evicted samples of the program
 * @slot: position of the cell in the index; unused for evicted samples
 */
struct cell_target {
	struct cell *cell;
	struct cell_slot slot;
	bool evicted;
};

static struct cell_target target_find_or_add(struct cell_table *t, u64 hash, u64 owner, u64 offset,
					     u32 rank, bool evicted)
{
	struct cell_target target = { .evicted = evicted };

	if (!evicted)
		target.cell = cell_insert(t, hash, owner, offset, rank ? rank : 1, &target.slot);
	if (target.cell)
		return target;
	target.evicted = true;
	target.cell = cell_get_for_evicted(t, (u32)(owner >> 32));
	return target;
}

static void target_log_sample(struct cell_table *t, const struct cell_target *target, u64 sample,
			      u8 interval)
{
	if (target->evicted)
		cell_log_evicted_sample(t, cell_get_program(target->cell), sample, interval);
	else
		cell_log_add(t, target->cell, target->slot, sample, interval);
}

static u64 sample_renumber_class(u64 sample, const u16 *numbers)
{
	u64 number = numbers[sample_unpack_class(sample)];

	return (sample & ~(0xffffULL << 48)) | number << 48;
}

/* Return the number of a class in pairs and packed samples. */
static u16 class_id_to_number(u16 id)
{
	return id == SAMPLE_CLASS_OTHERS ? 0 : id;
}

/* ---- Merging ------------------------------------------------------------- */

static void number_translation_init(struct cell_table *whole, const struct cell_table *shard,
				    struct cell_number_translation *ret)
{
	ret->number[0] = 0;
	for (u32 i = 1; i <= shard->sample_class->used; i++) {
		const struct sample_class *from = &shard->sample_class->at[i];

		ret->number[i] = class_id_to_number(sample_class_restore(
			whole->sample_class, from->events, sample_class_get_content(from)));
	}
	/*
	 * Ensure that @whole has free numbers for all intervals of @shard, so that
	 * cell_table_get_interval() reuses no number below.
	 */
	if (whole->intervals + shard->intervals > CELL_INTERVALS) {
		cell_fold_logs(whole);
		whole->intervals = 0;
	}
	for (u32 i = 0; i < shard->intervals; i++)
		ret->interval[i] = cell_table_get_interval(whole, shard->interval[i].interval,
							   shard->interval[i].unit);
}

/*
 * A row of a shard is merged in MERGE_STEPS steps. Each step prefetches the memory that the next
 * step reads, MERGE_DISTANCE rows later.
 */
#define MERGE_STEPS    5
#define MERGE_DISTANCE 8
#define MERGE_ROWS     64

static_assert(MERGE_ROWS > (MERGE_STEPS - 1) * MERGE_DISTANCE, "a row waits in its entry");

/**
 * struct merge_row - a row of a shard that is being merged
 * @row: the row
 * @hash: result of cell_hash()
 * @to: the cell of &cell_merge.whole to which the row is probably added; NULL if unknown
 */
struct merge_row {
	struct cell_row row;
	u64 hash;
	const struct cell *to;
};

/**
 * struct cell_merge - the state of a merge
 * @whole: the table that receives the rows
 * @shard: the table from which the rows are read
 * @cursor: position in @shard
 * @source: maps the numbers of @shard to those of @whole
 * @prefetched: number of sets of @shard with prefetched cells
 * @fetched: number of rows read so far
 * @row: a ring of rows
 */
struct cell_merge {
	struct cell_table *whole;
	const struct cell_table *shard;
	struct cell_cursor cursor;
	struct cell_number_translation source;
	u32 prefetched;
	u64 fetched;
	struct merge_row row[MERGE_ROWS];
};

static void row_merge(struct cell_merge *m, const struct merge_row *r)
{
	const struct cell_row *row = &r->row;
	const struct cell *from = row->cell;
	struct cell_target target = target_find_or_add(m->whole, r->hash, from->owner, from->offset,
						       row->rank, row->evicted);

	/*
	 * Add to the rank before the counters are allocated, because the rank decides which cells
	 * are evicted to get memory for the counters. target_log_sample() adds the samples in the
	 * log to the rank.
	 */
	if (!target.evicted && row->rank > row->fill)
		cell_rank_add(m->whole, target.slot, row->rank - row->fill);
	for (unsigned int i = 0; i < row->fill; i++)
		target_log_sample(m->whole, &target,
				  sample_renumber_class(from->sample[i], m->source.number),
				  m->source.interval[from->interval]);
	if (from->counters)
		cell_add_counters(m->whole, target.cell, m->shard,
				  cell_get_counters(m->shard, from), m->source.number);
}

/* Number of sets of a shard with cells that row_fetch() prefetches ahead of its cursor. */
#define MERGE_SETS 4

static void shard_prefetch_cells(const struct cell_table *shard, u32 set)
{
	for (unsigned int i = 0; set < shard->sets && i < CELL_WAYS; i++) {
		const struct cell *c = &shard->cells[shard->set[set].cell[i]];

		if (!shard->set[set].cell[i])
			continue;
		__builtin_prefetch(c);
		__builtin_prefetch((const u8 *)c + LINE_SIZE);
	}
}

static void counters_prefetch(const struct cell_table *t, const struct cell *c)
{
	const u8 *at = line_pool_at(&t->lines, c->counters);

	if (!c->counters)
		return;
	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + LINE_SIZE, 1);
}

/*
 * Read the next row of a shard. Prefetch its counters, and its set in &cell_merge.whole. Return
 * false after the last row.
 */
static bool row_fetch(struct cell_merge *m)
{
	struct merge_row *r = &m->row[m->fetched % MERGE_ROWS];

	for (; m->prefetched < m->cursor.set + MERGE_SETS; m->prefetched++)
		shard_prefetch_cells(m->shard, m->prefetched);
	if (!cell_table_next(m->shard, &m->cursor, &r->row))
		return false;
	counters_prefetch(m->shard, r->row.cell);
	r->hash = cell_hash(cell_owner_hash(m->whole, r->row.cell->owner), r->row.cell->offset);
	cell_index_prefetch(m->whole, r->hash);
	m->fetched++;
	return true;
}

/*
 * Run step @step of the merge of row @r, 1 to MERGE_STEPS - 1. row_fetch() is step 0. The last step
 * adds the row to the whole table; each other step prefetches memory for the next one.
 */
static void row_advance(struct cell_merge *m, struct merge_row *r, unsigned int step)
{
	switch (step) {
	case 1:
		cell_counters_prefetch(m->shard, r->row.cell);
		r->to = cell_prefetch(m->whole, r->hash);
		break;
	case 2:
		if (r->to->owner != r->row.cell->owner || r->to->offset != r->row.cell->offset)
			r->to = NULL;
		else
			counters_prefetch(m->whole, r->to);
		break;
	case 3:
		if (r->to)
			cell_counters_prefetch(m->whole, r->to);
		break;
	default:
		row_merge(m, r);
	}
}

void cell_table_merge(struct cell_table *whole, const struct cell_table *shard)
{
	struct cell_merge m = { .whole = whole, .shard = shard };
	u64 now, rows = UINT64_MAX;

	cell_table_flush(whole);
	/* In a shard with a budget, a cell that replaced another cell inherited its rank. */
	whole->ranks_aged |= shard->ranks_aged || !shard->grows;
	whole->inexact |= shard->inexact;
	number_translation_init(whole, shard, &m.source);
	for (now = 0; now < rows || now < m.fetched + (MERGE_STEPS - 1) * MERGE_DISTANCE; now++) {
		if (now < rows && !row_fetch(&m))
			rows = now;
		for (unsigned int step = 1; step < MERGE_STEPS; step++) {
			u64 at = now - (u64)step * MERGE_DISTANCE;

			if (at < m.fetched && at < rows)
				row_advance(&m, &m.row[at % MERGE_ROWS], step);
		}
	}
	whole->stats.uncounted += shard->stats.uncounted;
}

void cell_table_move_evicted(struct cell_table *table, u32 program, u32 to)
{
	u32 index = evicted_get_index(program);
	struct cell *from = index < table->evicted_programs ? table->evicted[index] : NULL, *into;

	into = from ? cell_get_for_evicted(table, to) : NULL;
	if (!index || !from || into == from)
		return;
	cell_fold(table, from, from->fill);
	if (from->counters)
		cell_add_counters(table, into, table, cell_get_counters(table, from), NULL);
	cell_counters_free(table, from);
	free(from);
	table->evicted[index] = NULL;
	table->evicted_used--;
}

/* ---- Saving -------------------------------------------------------------- */

static void counters_save(const struct cell_table *t, const struct cell_counters *n,
			  struct serializer *to)
{
	const struct small_pair *small = get_small_pairs(t, n);
	const struct large_pair *large = get_large_pairs(t, n);
	u32 smalls = get_small_capacity(n), larges = get_large_capacity(n);
	u64 octaves[CELL_LATENCIES * CELL_OCTAVES];

	for (unsigned int i = 0; i < ARRAY_SIZE(octaves); i++)
		octaves[i] = n->octave[i / CELL_OCTAVES][i % CELL_OCTAVES];
	serialize_array(to, octaves, ARRAY_SIZE(octaves));
	serialize_array(to, n->latency_sum, CELL_LATENCIES);
	serialize_array(to, n->weight, UNITS);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		serialize_u64(to, n->max[i]);
	serialize_u64(to, (u64)n->small_used + n->large_used);
	for (u32 i = 0; i < smalls; i++) {
		if (!small[i].head)
			continue;
		serialize_u64(to, small[i].head >> SMALL_COUNT_BITS);
		serialize_u64(to, small[i].head & SMALL_COUNT_MAX);
		serialize_u64(to, small[i].sum);
	}
	for (u32 i = 0; i < larges; i++) {
		if (!large[i].head)
			continue;
		serialize_u64(to, large[i].head >> LARGE_COUNT_BITS);
		serialize_u64(to, large[i].head & LARGE_COUNT_MAX);
		serialize_u64(to, large[i].sum);
	}
}

static void row_save(const struct cell_table *t, const struct cell_row *row, struct serializer *to)
{
	const struct cell *c = row->cell;

	serialize_u64(to, row->evicted ? SAVED_EVICTED : SAVED_CELL);
	serialize_u64(to, cell_get_program(c));
	serialize_u64(to, cell_get_binary(c));
	serialize_u64(to, c->offset);
	serialize_u64(to, row->rank);
	serialize_u64(to, row->fill);
	serialize_u64(to, c->interval);
	for (unsigned int i = 0; i < row->fill; i++)
		serialize_u64(to, c->sample[i]);
	serialize_u64(to, c->counters != 0);
	if (c->counters)
		counters_save(t, cell_get_counters(t, c), to);
}

void cell_table_save(struct cell_table *table, struct serializer *to)
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;

	serialize_u64(to, table->sample_class->used);
	for (u32 i = 1; i <= table->sample_class->used; i++) {
		serialize_u64(to, table->sample_class->at[i].events);
		serialize_u64(to, sample_class_get_content(&table->sample_class->at[i]));
	}
	serialize_u64(to, table->intervals);
	for (u32 i = 0; i < table->intervals; i++) {
		serialize_u64(to, table->interval[i].interval);
		serialize_u64(to, table->interval[i].unit);
	}
	serialize_u64(to, table->stats.uncounted);
	while (cell_table_next(table, &cursor, &row))
		row_save(table, &row, to);
	serialize_u64(to, SAVED_END);
}

/* ---- Loading ------------------------------------------------------------- */

struct cell_loader {
	struct cell_table *table;
	struct deserializer *from;
	const struct cell_translation *translation;
	struct cell_number_translation source;
	u32 classes;
	u32 intervals;
};

static void classes_load(struct cell_loader *l)
{
	l->classes = (u32)deserialize_u64_below(l->from, SAMPLE_CLASS_MAX + 1);
	l->source.number[0] = 0;
	for (u32 i = 1; i <= l->classes; i++) {
		u64 events = deserialize_u64(l->from);
		u32 content = (u32)deserialize_u64_below(l->from, UINT32_MAX);
		u16 id = sample_class_restore(l->table->sample_class, events, content);

		l->from->bad |= !id;
		l->source.number[i] = class_id_to_number(id);
	}
}

static void intervals_load(struct cell_loader *l)
{
	l->intervals = (u32)deserialize_u64_below(l->from, CELL_INTERVALS + 1);
	cell_table_flush(l->table);
	if (l->table->intervals + l->intervals > CELL_INTERVALS) {
		cell_fold_logs(l->table);
		l->table->intervals = 0;
	}
	for (u32 i = 0; i < l->intervals; i++) {
		u32 interval = (u32)deserialize_u64_below(l->from, 1ULL << 32);
		u8 unit = (u8)deserialize_u64_below(l->from, UNITS);

		l->source.interval[i] = cell_table_get_interval(l->table, interval, unit);
	}
}

/*
 * Translate the saved number of a class; 0 means SAMPLE_CLASS_OTHERS. An invalid number marks the
 * bytes as bad.
 */
static u16 class_number_load(struct cell_loader *l, u64 number)
{
	l->from->bad |= number > l->classes;
	return l->from->bad ? 0 : l->source.number[number];
}

static void pairs_load(struct cell_loader *l, struct cell *c, struct cell_counters *n, u64 pairs)
{
	while (pairs-- && !l->from->bad) {
		u32 key = (u32)deserialize_u64_below(l->from, LARGE_KEYS);
		u64 count = deserialize_u64_below(l->from, LARGE_COUNT_FULL);
		u64 sum = deserialize_u64(l->from);

		l->from->bad |= sum > count * UINT16_MAX;
		if (key >= LARGE_COUNTS) {
			if (!l->from->bad)
				cell_property_add(l->table, c, n, key - LARGE_COUNTS, count);
			continue;
		}
		if (key >= LARGE_OCTAVES) {
			l->from->bad |= key % LARGE_OCTAVES >= CELL_OCTAVES;
			if (!l->from->bad)
				cell_octave_add(l->table, c, n, key / LARGE_OCTAVES - 1,
						key % LARGE_OCTAVES, count);
			continue;
		}
		key = pair_key_make(class_number_load(l, key >> PAIR_BUCKET_BITS),
				    key & HISTOGRAM_NONE);
		if (l->from->bad)
			return;
		cell_pair_add(l->table, c, n, key, count, sum);
	}
}

static void counters_load(struct cell_loader *l, struct cell *c)
{
	u64 octaves[CELL_LATENCIES * CELL_OCTAVES], sums[CELL_LATENCIES], weight[UNITS];
	struct cell_counters *n;

	deserialize_array(l->from, octaves, ARRAY_SIZE(octaves));
	deserialize_array(l->from, sums, ARRAY_SIZE(sums));
	deserialize_array(l->from, weight, ARRAY_SIZE(weight));
	n = cell_counters_get_or_add(l->table, c);
	/*
	 * If the table is smaller than the saved table, the counters may not fit: count the samples
	 * as evicted.
	 */
	if (!n) {
		c = cell_get_for_evicted(l->table, cell_get_program(c));
		n = cell_counters_get_or_add(l->table, c);
	}
	if (!n) {
		l->from->bad = true;
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(octaves); i++)
		cell_octave_add(l->table, c, n, i / CELL_OCTAVES, i % CELL_OCTAVES,
				octaves[i] & UINT16_MAX);
	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		n->latency_sum[i] += sums[i];
	for (unsigned int i = 0; i < UNITS; i++)
		n->weight[i] += weight[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		u16 max = (u16)deserialize_u64_below(l->from, 1U << 16);

		n->max[i] = max > n->max[i] ? max : n->max[i];
	}
	pairs_load(l, c, n, deserialize_u64_below(l->from, 1U << 17));
}

static u64 cell_owner_load(struct cell_loader *l)
{
	u32 program = (u32)deserialize_u64_below(l->from, 1ULL << 32);
	u32 binary = (u32)deserialize_u64_below(l->from, 1ULL << 32);
	u64 owner = cell_owner_make(program, binary);

	if (l->translation)
		owner = cell_owner_translate(l->translation, owner);
	program = (u32)(owner >> 32);
	/*
	 * Reject a large id, because a large array would be allocated for it. Valid program ids are
	 * small.
	 */
	l->from->bad |= program != CELL_NO_PROGRAM && program >= CELL_PROGRAMS_MAX;
	return owner;
}

static void log_load(struct cell_loader *l, const struct cell_target *target, u64 fill)
{
	u8 interval = (u8)deserialize_u64_below(l->from, CELL_INTERVALS);

	l->from->bad |= fill && interval >= l->intervals;
	while (fill-- && !l->from->bad) {
		u64 sample = deserialize_u64(l->from);
		u16 number = class_number_load(l, sample_unpack_class(sample));

		if (l->from->bad)
			return;
		sample = (sample & ~(0xffffULL << 48)) | (u64)number << 48;
		target_log_sample(l->table, target, sample, l->source.interval[interval]);
	}
}

/* Load the next row. Return false after the last row, or if the bytes are bad. */
static bool row_load(struct cell_loader *l)
{
	u64 kind = deserialize_u64_below(l->from, SAVED_KINDS);
	struct cell_target target;
	u64 owner, offset, fill;
	u32 rank;

	if (kind == SAVED_END)
		return false;
	owner = cell_owner_load(l);
	offset = deserialize_u64(l->from);
	rank = (u32)deserialize_u64_below(l->from, UINT16_MAX);
	fill = deserialize_u64_below(l->from, CELL_LOG + 1);
	if (l->from->bad)
		return false;
	target = target_find_or_add(l->table, cell_hash(cell_owner_hash(l->table, owner), offset),
				    owner, offset, rank, kind == SAVED_EVICTED);
	if (!target.evicted && rank > fill)
		cell_rank_add(l->table, target.slot, rank - (u32)fill);
	log_load(l, &target, fill);
	if (deserialize_u64_below(l->from, 2))
		counters_load(l, target.cell);
	return !l->from->bad;
}

int cell_table_load(struct cell_table *table, struct deserializer *from,
		    const struct cell_translation *translation)
{
	struct cell_loader *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct cell_loader){ .table = table, .from = from, .translation = translation };
	/* Saved ranks are untrusted, and may differ from the number of samples. */
	table->ranks_aged = true;
	classes_load(l);
	intervals_load(l);
	table->stats.uncounted += deserialize_u64(from);
	while (row_load(l))
		;
	free(l);
	return from->bad ? -EBADMSG : 0;
}
