// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delta.h"

#include <stdlib.h>

/* A row, to be found by what it is of. */
struct key {
	const struct view_row *row;
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

static int compare_key(const void *a, const void *b)
{
	return compare_rows(((const struct key *)a)->row, ((const struct key *)b)->row);
}

struct order {
	enum view_sort sort;
	unsigned int unit;
};

static int compare_weight(const void *a, const void *b, void *ctx)
{
	const struct order *order = ctx;
	u64 x = view_key(a, order->sort, order->unit), y = view_key(b, order->sort, order->unit);

	return x != y ? (x < y ? 1 : -1) : compare_rows(a, b);
}

/* A counter that went back belongs to a row that was evicted and came again. */
static u64 less(u64 now, u64 before)
{
	return now < before ? now : now - before;
}

static void row_less(struct view_row *row, const struct view_row *before)
{
	row->samples = less(row->samples, before->samples);
	row->memory = less(row->memory, before->memory);
	row->dram = less(row->dram, before->dram);
	row->remote = less(row->remote, before->remote);
	row->loads = less(row->loads, before->loads);
	row->stores = less(row->stores, before->stores);
	row->simd = less(row->simd, before->simd);
	row->snooped = less(row->snooped, before->snooped);
	row->peer = less(row->peer, before->peer);
	row->modified = less(row->modified, before->modified);
	row->issue_sum = less(row->issue_sum, before->issue_sum);
	row->translation_sum = less(row->translation_sum, before->translation_sum);
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		row->level[i] = less(row->level[i], before->level[i]);
	row->branches = less(row->branches, before->branches);
	row->mispredicted = less(row->mispredicted, before->mispredicted);
	row->latency_sum = less(row->latency_sum, before->latency_sum);
	for (unsigned int i = 0; i < UNITS; i++)
		row->weight[i] = less(row->weight[i], before->weight[i]);
}

static void header_less(struct view_header *header, const struct view_header *before)
{
	header->duration_ns -= before->duration_ns;
	header->enabled_ns = less(header->enabled_ns, before->enabled_ns);
	header->blind_ns = less(header->blind_ns, before->blind_ns);
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++)
		header->blind_by[i] = less(header->blind_by[i], before->blind_by[i]);
	header->records -= before->records;
	header->unattributed = less(header->unattributed, before->unattributed);
	header->evicted = less(header->evicted, before->evicted);
	for (unsigned int i = 0; i < UNITS; i++)
		header->weight[i] = less(header->weight[i], before->weight[i]);
	header->unweighed = less(header->unweighed, before->unweighed);
	header->unattributed_weight =
		less(header->unattributed_weight, before->unattributed_weight);
	header->evicted_weight = less(header->evicted_weight, before->evicted_weight);
	header->cost_ns = less(header->cost_ns, before->cost_ns);
	/* What was lost and suspect stays in sight: it is never just one interval's. */
}

static struct key *keys_new(const struct view *view)
{
	struct key *sorted = calloc(view->count + 1, sizeof(*sorted));

	for (u32 i = 0; sorted && i < view->count; i++)
		sorted[i].row = &view->rows[i];
	if (sorted)
		qsort(sorted, view->count, sizeof(*sorted), compare_key);
	return sorted;
}

int delta_view(const struct view *now, const struct view *before, bool cut, enum view_sort sort,
	       struct view *ret_view)
{
	bool reset = now->header.records < before->header.records ||
		     now->header.duration_ns < before->header.duration_ns;
	struct view view = { .header = now->header };
	struct key *sorted = keys_new(before);
	struct order order = { .sort = sort };

	view.rows = calloc(now->count + 1, sizeof(*view.rows));
	if (!sorted || !view.rows) {
		free(sorted);
		free(view.rows);
		return -ENOMEM;
	}
	if (!reset)
		header_less(&view.header, &before->header);
	for (u32 i = 0; i < now->count; i++) {
		struct key key = { &now->rows[i] }, *old = NULL;
		struct view_row *row = &view.rows[view.count];

		if (!reset)
			old = bsearch(&key, sorted, before->count, sizeof(*sorted), compare_key);
		*row = *key.row;
		if (old)
			row_less(row, old->row);
		else if (cut && !reset)
			continue;
		view.count += row->samples > 0;
	}
	free(sorted);
	order.unit = view_unit(&view.header);
	qsort_r(view.rows, view.count, sizeof(*view.rows), compare_weight, &order);
	*ret_view = view;
	return 0;
}
