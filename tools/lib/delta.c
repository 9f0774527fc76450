// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delta.h"

#include <stdlib.h>

/**
 * struct earlier_row - a row of the earlier view, sorted by the fields that identify a row
 * @found: whether the later view also has the row
 */
struct earlier_row {
	const struct view_row *row;
	bool found;
};

static int compare_rows(const struct view_row *x, const struct view_row *y)
{
	int r;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	r = strcmp(x->function, y->function);
	if (!r)
		r = strcmp(x->file, y->file);
	if (!r)
		r = strcmp(x->container, y->container);
	if (!r)
		r = strcmp(x->process, y->process);
	return r ? r : strcmp(x->binary, y->binary);
}

static int compare_earlier_rows(const void *a, const void *b)
{
	return compare_rows(((const struct earlier_row *)a)->row,
			    ((const struct earlier_row *)b)->row);
}

struct view_order {
	enum view_sort sort;
	unsigned int unit;
};

static int compare_by_sort_key(const void *a, const void *b, void *ctx)
{
	const struct view_order *order = ctx;
	u64 x = view_get_sort_key(a, order->sort, order->unit),
	    y = view_get_sort_key(b, order->sort, order->unit);

	return x != y ? (x < y ? 1 : -1) : compare_rows(a, b);
}

/*
 * Subtract a counter. A counter that decreased belongs to a row that was evicted and created again:
 * then it counts from zero.
 */
static u64 subtract_counter(u64 now, u64 before)
{
	return now < before ? now : now - before;
}

#define COUNTER(field)                                                        \
	{                                                                     \
		offsetof(struct view_row, field),                             \
			sizeof(((struct view_row *)0)->field) / sizeof(u64) \
	}

/* The counters of a row: @count numbers at offset @offset in struct view_row */
static const struct {
	size_t offset;
	size_t count;
} counters[] = {
	COUNTER(samples),     COUNTER(memory),	     COUNTER(dram),
	COUNTER(branches),    COUNTER(mispredicted), COUNTER(latency_sum),
	COUNTER(level),	      COUNTER(remote),	     COUNTER(loads),
	COUNTER(stores),      COUNTER(simd),	     COUNTER(snooped),
	COUNTER(peer),	      COUNTER(modified),     COUNTER(issue_sum),
	COUNTER(translation_sum), COUNTER(weight),   COUNTER(event),
};

/* Return the numbers of @row that counters[@i] describes. */
static u64 *get_row_counter(struct view_row *row, size_t i)
{
	return (u64 *)((char *)row + counters[i].offset);
}

static const u64 *row_get_counter_const(const struct view_row *row, size_t i)
{
	return (const u64 *)((const char *)row + counters[i].offset);
}

static void row_subtract(struct view_row *row, const struct view_row *before)
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		for (size_t k = 0; k < counters[i].count; k++)
			get_row_counter(row, i)[k] =
				subtract_counter(row_get_counter_const(row, i)[k],
						 row_get_counter_const(before, i)[k]);
}

static void row_add_counters(struct view_row *sum, const struct view_row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		for (size_t k = 0; k < counters[i].count; k++)
			get_row_counter(sum, i)[k] += row_get_counter_const(row, i)[k];
}

static void header_subtract(struct view_header *header, const struct view_header *before)
{
	header->duration_ns -= before->duration_ns;
	header->enabled_ns = subtract_counter(header->enabled_ns, before->enabled_ns);
	header->blind_ns = subtract_counter(header->blind_ns, before->blind_ns);
	header->unhandled_ns = subtract_counter(header->unhandled_ns, before->unhandled_ns);
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++)
		header->blind_by[i] = subtract_counter(header->blind_by[i], before->blind_by[i]);
	header->records -= before->records;
	header->unattributed = subtract_counter(header->unattributed, before->unattributed);
	header->evicted = subtract_counter(header->evicted, before->evicted);
	for (unsigned int i = 0; i < UNITS; i++)
		header->weight[i] = subtract_counter(header->weight[i], before->weight[i]);
	header->unweighed = subtract_counter(header->unweighed, before->unweighed);
	header->unattributed_weight =
		subtract_counter(header->unattributed_weight, before->unattributed_weight);
	header->evicted_weight = subtract_counter(header->evicted_weight, before->evicted_weight);
	header->cost_ns = subtract_counter(header->cost_ns, before->cost_ns);
	/* Lost and suspect bytes are not subtracted, because they concern the whole profile. */
}

/* ---- Rows that were renamed ------------------------------------------------------ */

/*
 * While the name of a location is being resolved, the location has a separate row,
 * "binary+0xoffset". Once the name is known, that row is removed. Its counts are added to another
 * row of the same binary, which may be new. These counts are older than the interval.
 */
enum row_renaming {
	RENAMED_REMOVED, /* only the earlier view has the row */
	RENAMED_NEW, /* only the later view has the row */
	RENAMED_BOTH, /* both views have the row; the result has its growth */
	RENAMINGS,
};

/**
 * struct renamed_row - a row that may have lost or gained counts by a renaming
 * @row: the row in its view
 * @out: the row of the result that is corrected; NULL for RENAMED_REMOVED
 */
struct renamed_row {
	const struct view_row *row;
	struct view_row *out;
	enum row_renaming kind;
};

static int compare_binary(const void *a, const void *b)
{
	const struct view_row *x = ((const struct renamed_row *)a)->row;
	const struct view_row *y = ((const struct renamed_row *)b)->row;
	int r = strcmp(x->container, y->container);

	return r ? r : strcmp(x->binary, y->binary);
}

/* Reduce @part in proportion, because @removed of the @whole counts are older than the interval. */
static u64 reduce_part(u64 part, u64 whole, u64 removed)
{
	if (!whole || removed >= whole)
		return 0;
	return (u64)((unsigned __int128)part * (whole - removed) / whole);
}

/*
 * Subtract the counts of removed rows, which are older than the interval, from the new rows. If
 * these counts exceed those of the new rows, subtract the rest from the rows of both views.
 */
static void row_remove_old_counts(struct view_row *row, enum row_renaming kind,
				  const struct view_row sum[static RENAMINGS])
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		u64 *counter = get_row_counter(row, i);

		for (size_t k = 0; k < counters[i].count; k++) {
			u64 removed = row_get_counter_const(&sum[RENAMED_REMOVED], i)[k];
			u64 new = row_get_counter_const(&sum[RENAMED_NEW], i)[k];

			if (kind == RENAMED_BOTH)
				removed = removed > new ? removed - new : 0;
			counter[k] = reduce_part(counter[k],
						 row_get_counter_const(&sum[kind], i)[k], removed);
		}
	}
}

/* Remove the counts that are older than the interval from rows of one binary in one container. */
static void binary_remove_old_counts(struct renamed_row *rows, size_t count)
{
	struct view_row sum[RENAMINGS] = { 0 };

	for (size_t i = 0; i < count; i++)
		row_add_counters(&sum[rows[i].kind], rows[i].out ? rows[i].out : rows[i].row);
	if (!sum[RENAMED_REMOVED].samples)
		return;
	for (size_t i = 0; i < count; i++)
		if (rows[i].out)
			row_remove_old_counts(rows[i].out, rows[i].kind, sum);
}

/* Remove the counts that are older than the interval from @count rows, binary by binary. */
static void rows_remove_old_counts(struct renamed_row *rows, size_t count)
{
	size_t first = 0;

	qsort(rows, count, sizeof(*rows), compare_binary);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && !compare_binary(&rows[first], &rows[i]))
			continue;
		binary_remove_old_counts(rows + first, i - first);
		first = i;
	}
}

static struct earlier_row *earlier_rows_new(const struct view *view)
{
	struct earlier_row *sorted = calloc(view->count + 1, sizeof(*sorted));

	for (u32 i = 0; sorted && i < view->count; i++)
		sorted[i].row = &view->rows[i];
	if (sorted)
		qsort(sorted, view->count, sizeof(*sorted), compare_earlier_rows);
	return sorted;
}

/**
 * struct delta_state - state of delta_compute_view()
 * @before: rows of the earlier view, sorted; none if the profile was reset
 * @renamed: memory for all rows of both views; NULL if no name was resolved between them
 */
struct delta_state {
	struct earlier_row *before;
	size_t before_count;
	struct renamed_row *renamed;
	size_t renamed_count;
	bool cut;
};

static void delta_add_renamed_row(struct delta_state *delta, const struct view_row *row,
				  struct view_row *out, enum row_renaming kind)
{
	if (delta->renamed && *row->function)
		delta->renamed[delta->renamed_count++] =
			(struct renamed_row){ .row = row, .out = out, .kind = kind };
}

static int compare_rows_by_samples(const void *a, const void *b)
{
	const struct view_row *x = a, *y = b;
	int r = compare_rows(x, y);

	return r ? r : x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : 0;
}

/*
 * Merge rows with the same name into one row, with the percentiles of the heaviest of them. Kernel
 * locations with hidden addresses are all named "[kernel]", and cannot be distinguished in the next
 * view.
 *
 * Return: number of remaining rows.
 */
static u32 rows_merge(struct view_row *rows, u32 count)
{
	u32 merged = 0;

	qsort(rows, count, sizeof(*rows), compare_rows_by_samples);
	for (u32 i = 0; i < count; i++) {
		if (merged && !compare_rows(&rows[merged - 1], &rows[i]))
			row_add_counters(&rows[merged - 1], &rows[i]);
		else
			rows[merged++] = rows[i];
	}
	return merged;
}

/*
 * Add up the earlier rows with the name of @row, and mark them as found; return false if there is
 * none.
 */
static bool delta_find_earlier_row(struct delta_state *delta, const struct view_row *row,
				   struct view_row *ret_sum)
{
	const struct earlier_row key = { .row = row };
	struct earlier_row *end = delta->before + delta->before_count;
	struct earlier_row *old = bsearch(&key, delta->before, delta->before_count, sizeof(key),
					  compare_earlier_rows);

	*ret_sum = (struct view_row){ 0 };
	while (old && old > delta->before && !compare_earlier_rows(&key, old - 1))
		old--;
	for (struct earlier_row *at = old; at && at < end && !compare_earlier_rows(&key, at);
	     at++) {
		row_add_counters(ret_sum, at->row);
		at->found = true;
	}
	return old;
}

/*
 * Replace @count merged rows of the later view by their growth; return the number of remaining
 * rows.
 */
static u32 delta_subtract_rows(struct delta_state *delta, struct view_row *rows, u32 count)
{
	u32 kept = 0, grown = 0;
	struct view_row old;

	for (u32 i = 0; i < count; i++) {
		bool found = delta_find_earlier_row(delta, &rows[i], &old);

		if (!found && delta->cut)
			continue;
		rows[kept] = rows[i];
		row_subtract(&rows[kept], &old);
		delta_add_renamed_row(delta, &rows[kept], &rows[kept],
				      found ? RENAMED_BOTH : RENAMED_NEW);
		kept++;
	}
	for (size_t i = 0; i < delta->before_count; i++)
		if (!delta->before[i].found)
			delta_add_renamed_row(delta, delta->before[i].row, NULL, RENAMED_REMOVED);
	if (delta->renamed)
		rows_remove_old_counts(delta->renamed, delta->renamed_count);
	for (u32 i = 0; i < kept; i++)
		if (rows[i].samples)
			rows[grown++] = rows[i];
	return grown;
}

int delta_compute_view(const struct view *now, const struct view *before, bool cut,
		       enum view_sort sort, struct view *ret_view)
{
	bool reset = now->header.records < before->header.records ||
		     now->header.duration_ns < before->header.duration_ns;
	struct view view = { .header = now->header };
	struct delta_state delta = { .cut = cut && !reset };
	bool renames = !reset && before->header.names_pending;
	struct view_order order = { .sort = sort };

	delta.before = earlier_rows_new(before);
	delta.before_count = reset ? 0 : before->count;
	if (renames)
		delta.renamed = calloc(now->count + before->count + 1, sizeof(*delta.renamed));
	view.rows = calloc(now->count + 1, sizeof(*view.rows));
	if (!delta.before || !view.rows || (renames && !delta.renamed)) {
		free(delta.before);
		free(delta.renamed);
		free(view.rows);
		return -ENOMEM;
	}
	if (!reset)
		header_subtract(&view.header, &before->header);
	if (now->count)
		memcpy(view.rows, now->rows, now->count * sizeof(*view.rows));
	view.count = delta_subtract_rows(&delta, view.rows, rows_merge(view.rows, now->count));
	free(delta.before);
	free(delta.renamed);
	order.unit = view_get_share_unit(&view.header);
	qsort_r(view.rows, view.count, sizeof(*view.rows), compare_by_sort_key, &order);
	*ret_view = view;
	return 0;
}
