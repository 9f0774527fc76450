// SPDX-License-Identifier: LGPL-2.1-or-later
/* Views of a profile: rows by function, source line, process or container. */
#include "profile-internal.h"

#include "util/escape.h"
#include "util/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void view_copy_string(char *to, size_t size, const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n >= size)
		for (n = size - 1; n && ((u8)from[n] & 0xc0) == 0x80; n--)
			;
	memcpy(to, from ? from : "", n);
	to[n] = 0;
}

void view_row_set_counters(struct view_row *row, const struct profile_counters *f)
{
	const struct histogram *total = &f->latency[PROFILE_TOTAL];
	const struct histogram *issue = &f->latency[PROFILE_ISSUE];
	const struct histogram *translation = &f->latency[PROFILE_TRANSLATION];

	memcpy(row->level, f->counts.level, sizeof(row->level));
	row->remote = counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE);
	row->samples = f->samples;
	row->memory = counters_get_memory_accesses(f);
	row->dram = counters_get_dram_accesses(f);
	row->branches = f->counts.kind[SPE_KIND_BRANCH];
	row->mispredicted = f->counts.mispredicted;
	row->latency_sum = total->sum;
	row->p50 = histogram_get_quantile(total, 500);
	row->p99 = histogram_get_quantile(total, 990);
	row->loads = f->counts.kind[SPE_KIND_LOAD];
	row->stores = f->counts.kind[SPE_KIND_STORE];
	row->simd = f->counts.simd;
	row->snooped = counters_get_origin_accesses(f, SPE_ORIGIN_SNOOPED);
	row->peer = counters_get_origin_accesses(f, SPE_ORIGIN_PEER);
	row->modified = counters_get_origin_accesses(f, SPE_ORIGIN_MODIFIED);
	row->issue_sum = issue->sum;
	row->issue_p50 = histogram_get_quantile(issue, 500);
	row->issue_p99 = histogram_get_quantile(issue, 990);
	row->translation_sum = translation->sum;
	row->translation_p50 = histogram_get_quantile(translation, 500);
	row->translation_p99 = histogram_get_quantile(translation, 990);
	memcpy(row->weight, f->weight, sizeof(row->weight));
	memcpy(row->event, f->counts.event, sizeof(row->event));
}

void view_row_set_container(struct profile *p, struct view_row *row, u32 index)
{
	const struct attribute_container *c = attributor_get_container(p->attributor, index);

	view_copy_string(row->container, sizeof(row->container),
			 c && index && *c->name ? c->name : "-");
}

void view_row_set_process(struct profile *p, struct view_row *row, u32 index)
{
	const struct attribute_process *process = attributor_get_process(p->attributor, index);

	if (!process) {
		view_copy_string(row->container, sizeof(row->container), "-");
		view_copy_string(row->process, sizeof(row->process), "[unattributed]");
		return;
	}
	view_row_set_container(p, row, process->container);
	view_copy_string(row->process, sizeof(row->process), process->comm);
	row->pid = process->pid;
}

struct row_order {
	enum view_sort sort;
	unsigned int unit;
};

static int compare_row_names(const struct view_row *x, const struct view_row *y)
{
	int r = strcmp(x->function, y->function);

	if (!r)
		r = strcmp(x->container, y->container);
	if (!r)
		r = strcmp(x->process, y->process);
	return r ? r : strcmp(x->binary, y->binary);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct view_row *x = a, *y = b;
	const struct row_order *order = ctx;
	u64 kx = view_get_sort_key(x, order->sort, order->unit),
	    ky = view_get_sort_key(y, order->sort, order->unit);

	if (kx != ky)
		return kx < ky ? 1 : -1;
	/* Rows with equal keys have a fixed order, so that a live view does not flicker. */
	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return compare_row_names(x, y);
}

void view_sort_rows(struct view *view, enum view_sort sort, u32 limit)
{
	struct row_order order = { .sort = sort, .unit = view_get_share_unit(&view->header) };

	qsort_r(view->rows, view->count, sizeof(*view->rows), compare_rows, &order);
	if (limit && view->count > limit)
		view->count = limit;
}

static u64 get_count_key(const struct profile_counters *f, enum view_sort sort)
{
	switch (sort) {
	case VIEW_SORT_DRAM:
		return counters_get_dram_accesses(f);
	case VIEW_SORT_MEMORY:
		return counters_get_memory_accesses(f);
	case VIEW_SORT_LOADS:
		return f->counts.kind[SPE_KIND_LOAD];
	case VIEW_SORT_STORES:
		return f->counts.kind[SPE_KIND_STORE];
	case VIEW_SORT_BRANCHES:
		return f->counts.kind[SPE_KIND_BRANCH];
	case VIEW_SORT_MISPREDICTED:
		return f->counts.mispredicted;
	case VIEW_SORT_SIMD:
		return f->counts.simd;
	case VIEW_SORT_REMOTE:
		return counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE);
	case VIEW_SORT_SNOOPED:
		return counters_get_origin_accesses(f, SPE_ORIGIN_SNOOPED);
	case VIEW_SORT_PEER:
		return counters_get_origin_accesses(f, SPE_ORIGIN_PEER);
	case VIEW_SORT_MODIFIED:
		return counters_get_origin_accesses(f, SPE_ORIGIN_MODIFIED);
	case VIEW_SORT_L1:
		return f->counts.level[SPE_LEVEL_L1];
	case VIEW_SORT_L2:
		return f->counts.level[SPE_LEVEL_L2];
	case VIEW_SORT_L3:
		return f->counts.level[SPE_LEVEL_L3];
	case VIEW_SORT_SYSTEM_CACHE:
		return f->counts.level[SPE_LEVEL_SYSTEM_CACHE];
	case VIEW_SORT_LLC:
		return f->counts.level[SPE_LEVEL_LLC];
	default:
		return 0;
	}
}

/* Return the sort key for orders by a sum or a percentile of latencies. */
static u64 get_latency_key(const struct profile_counters *f, enum view_sort sort)
{
	switch (sort) {
	case VIEW_SORT_ISSUE:
		return f->latency[PROFILE_ISSUE].sum;
	case VIEW_SORT_TRANSLATION:
		return f->latency[PROFILE_TRANSLATION].sum;
	case VIEW_SORT_ISSUE_P99:
		return histogram_get_quantile(&f->latency[PROFILE_ISSUE], 990);
	case VIEW_SORT_TRANSLATION_P99:
		return histogram_get_quantile(&f->latency[PROFILE_TRANSLATION], 990);
	default:
		return histogram_get_quantile(&f->latency[PROFILE_TOTAL], 990);
	}
}

u64 counters_get_sort_key(const struct profile_counters *f, enum view_sort sort)
{
	return sort < VIEW_SORT_ISSUE ? get_count_key(f, sort) : get_latency_key(f, sort);
}

void view_header_set_pending_names(struct symbols_cache *symbols, struct view_header *ret_header)
{
	struct symbols_stats stats = { 0 };

	if (symbols)
		symbols_get_stats(symbols, &stats);
	ret_header->names_pending = stats.pending;
	view_copy_string(ret_header->names_reason, sizeof(ret_header->names_reason), stats.reason);
}

void view_header_set_sort_whole(const struct profile_counters *all, enum view_sort sort,
				struct view_header *header)
{
	if (sort == VIEW_SORT_LATENCY)
		header->sort_whole = all->latency[PROFILE_TOTAL].sum;
	else if (sort == VIEW_SORT_SAMPLES || sort >= VIEW_SORT_P99)
		header->sort_whole =
			view_get_share_denominator(header, view_get_share_unit(header));
	else
		header->sort_whole = counters_get_sort_key(all, sort);
}

/* Return the counters of a process, summed over all containers in which it ran. */
static struct profile_counters process_sum_counters(const struct process_tally *entry)
{
	struct profile_counters sum = { 0 };

	if (entry->sum)
		sum = *entry->sum;
	if (entry->moved_from)
		counters_merge(&sum, entry->moved_from);
	counters_sum_histograms(&sum);
	return sum;
}

static int view_add_processes(struct profile *p, struct view *view)
{
	view->rows = calloc(p->process_count + 1, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (u32 i = 0; i < p->process_count; i++) {
		const struct attribute_process *process = attributor_get_process(p->attributor, i);
		struct profile_counters sum;

		if (!process || !tally_get_samples(&p->processes[i]) ||
		    process->generation != p->processes[i].generation)
			continue;
		sum = process_sum_counters(&p->processes[i]);
		view_row_set_process(p, &view->rows[view->count], i);
		view_row_set_counters(&view->rows[view->count++], &sum);
	}
	if (p->header.unattributed) {
		view_row_set_process(p, &view->rows[view->count], ATTRIBUTE_NONE);
		view_row_set_counters(&view->rows[view->count++], &p->unattributed);
	}
	return 0;
}

static int view_add_containers(struct profile *p, struct view *view)
{
	view->rows = calloc(p->container_count + 1, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (u32 i = 0; i < p->container_count; i++) {
		if (!p->containers[i])
			continue;
		view_row_set_container(p, &view->rows[view->count], i);
		view_row_set_counters(&view->rows[view->count++], p->containers[i]);
	}
	return 0;
}

int profile_create_view(struct profile *profile, struct symbols_cache *symbols, bool live,
			enum view_group group, enum view_sort sort, u32 limit,
			struct view *ret_view)
{
	struct view view;
	int r;

	profile_flush(profile);
	view = (struct view){ .header = profile->header };
	view_header_set_sort_whole(&profile->machine, sort, &view.header);
	switch (group) {
	case VIEW_FUNCTION:
	case VIEW_LINE:
	case VIEW_PROGRAM:
	case VIEW_BINARY:
		r = profile_view_cells(profile, symbols, live, group, sort, limit, &view);
		break;
	case VIEW_PROCESS:
		r = view_add_processes(profile, &view);
		break;
	case VIEW_CONTAINER:
		r = view_add_containers(profile, &view);
		break;
	default:
		return -EINVAL;
	}
	if (r < 0) {
		free(view.rows);
		return r;
	}
	view_sort_rows(&view, sort, limit);
	*ret_view = view;
	return 0;
}

const struct view_header *profile_get_header(const struct profile *profile)
{
	return &profile->header;
}

const struct profile_counters *profile_get_machine_counters(const struct profile *profile)
{
	return &profile->machine;
}

u64 profile_count_false_sharing(const struct profile *profile)
{
	return profile->false_sharing;
}

const struct hot_lines *profile_get_hot_lines(const struct profile *profile)
{
	return &profile->shared_data->lines;
}

bool profile_get_raised_line(const struct profile *profile, u64 *seen, u64 *missed,
			     struct line_key *ret_key)
{
	bool found;

	pthread_mutex_lock(&profile->shared_data->lock);
	found = hot_lines_get_raised(&profile->shared_data->lines, seen, missed, ret_key);
	pthread_mutex_unlock(&profile->shared_data->lock);
	return found;
}

const struct hot_pages *profile_get_hot_pages(const struct profile *profile)
{
	return &profile->shared_data->pages;
}

u32 profile_get_container_bound(const struct profile *profile)
{
	return profile->container_count;
}

const struct profile_counters *profile_get_container_counters(const struct profile *profile,
							      u32 index)
{
	return index < profile->container_count ? profile->containers[index] : NULL;
}

const struct profile_counters *profile_get_unattributed_counters(const struct profile *profile)
{
	return &profile->unattributed;
}

u32 profile_get_process_bound(const struct profile *profile)
{
	return profile->process_count;
}

bool profile_sum_process_counters(const struct profile *profile, u32 index,
				  struct profile_counters *ret_counters)
{
	const struct attribute_process *process =
		attributor_get_process(profile->attributor, index);

	if (index >= profile->process_count || !process ||
	    !tally_get_samples(&profile->processes[index]) ||
	    process->generation != profile->processes[index].generation)
		return false;
	*ret_counters = process_sum_counters(&profile->processes[index]);
	return true;
}

u32 profile_count_containers(struct profile *profile)
{
	profile_flush(profile);
	return attributor_get_container_limit(profile->attributor);
}

u64 profile_get_container_samples(const struct profile *profile, u32 index)
{
	const struct profile_counters *counters = profile_get_container_counters(profile, index);

	return counters ? counters->samples : 0;
}
