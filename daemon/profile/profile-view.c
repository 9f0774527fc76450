// SPDX-License-Identifier: LGPL-2.1-or-later
/* Views of a profile: rows by function, source line, process or container. */
#include "profile-internal.h"

#include "util/escape.h"
#include "util/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A location and what identifies its function, to group locations by function. */
struct named {
	const struct location *location;
	u64 function; /* symbols_function_key() if known, else the address */
	u64 line; /* symbols_line_key() if lines are requested and known, else 0 */
	u64 binary; /* hash of the binary's path, to distinguish equal names */
	bool known;
};

/* The resolver of the names that a view shows. */
struct naming {
	struct symbols *symbols;
	bool live;
	bool lines;
};

/* A function of a process: @count entries of the sorted names, and its sort key. */
struct function {
	const struct named *first;
	const struct location *heaviest;
	size_t count;
	u64 key;
	s32 pid;
};

void view_copy_string(char *to, size_t size, const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n >= size)
		for (n = size - 1; n && ((u8)from[n] & 0xc0) == 0x80; n--)
			;
	memcpy(to, from ? from : "", n);
	to[n] = 0;
}

void row_counters(struct view_row *row, const struct counters *f)
{
	const struct histogram *total = &f->latency[PROFILE_TOTAL];
	const struct histogram *issue = &f->latency[PROFILE_ISSUE];
	const struct histogram *translation = &f->latency[PROFILE_TRANSLATION];

	memcpy(row->level, f->counts.level, sizeof(row->level));
	row->remote = counters_origin(f, SPE_ORIGIN_REMOTE);
	row->samples = f->samples;
	row->memory = counters_memory(f);
	row->dram = counters_dram(f);
	row->branches = f->counts.kind[SPE_KIND_BRANCH];
	row->mispredicted = f->counts.mispredicted;
	row->latency_sum = total->sum;
	row->p50 = histogram_quantile(total, 500);
	row->p99 = histogram_quantile(total, 990);
	row->loads = f->counts.kind[SPE_KIND_LOAD];
	row->stores = f->counts.kind[SPE_KIND_STORE];
	row->simd = f->counts.simd;
	row->snooped = counters_origin(f, SPE_ORIGIN_SNOOPED);
	row->peer = counters_origin(f, SPE_ORIGIN_PEER);
	row->modified = counters_origin(f, SPE_ORIGIN_MODIFIED);
	row->issue_sum = issue->sum;
	row->issue_p50 = histogram_quantile(issue, 500);
	row->issue_p99 = histogram_quantile(issue, 990);
	row->translation_sum = translation->sum;
	row->translation_p50 = histogram_quantile(translation, 500);
	row->translation_p99 = histogram_quantile(translation, 990);
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

struct order {
	enum view_sort sort;
	unsigned int unit;
};

static int compare_names(const struct view_row *x, const struct view_row *y)
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
	const struct order *order = ctx;
	u64 kx = view_key(x, order->sort, order->unit), ky = view_key(y, order->sort, order->unit);

	if (kx != ky)
		return kx < ky ? 1 : -1;
	/* Rows with equal keys have a fixed order, so that a live view does not flicker. */
	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return compare_names(x, y);
}

void rows_sort(struct view *view, enum view_sort sort, u32 limit)
{
	struct order order = { .sort = sort, .unit = view_unit(&view->header) };

	qsort_r(view->rows, view->count, sizeof(*view->rows), compare_rows, &order);
	if (limit && view->count > limit)
		view->count = limit;
}

void view_row_set_location(struct profile *p, struct symbols *symbols, bool live,
			   struct view_row *row, u64 place, u64 owner)
{
	const struct location at = { .place = place, .owner = owner };
	const struct attribute_process *process =
		attributor_get_process(p->attributor, location_process(&at));
	struct attribute_location where;

	view_row_set_process(p, row, location_process(&at));
	if (attributor_locate(p->attributor, location_process(&at), location_pc(&at),
			      location_kernel(&at), &where)) {
		symbols_function(symbols, process ? process->pid : 0, &where, live, row->function,
				 sizeof(row->function));
		escape_string(row->binary, sizeof(row->binary), where.binary);
	} else {
		symbols_name_unmapped(location_pc(&at), live, row->function, sizeof(row->function));
	}
}

bool location_is_stale(const struct profile *p, const struct location *l)
{
	const struct attribute_process *process;

	if (location_process(l) == ATTRIBUTE_NONE)
		return false;
	process = attributor_get_process(p->attributor, location_process(l));
	return !process || process->generation != location_generation(l);
}

static void name_location(struct profile *p, const struct naming *naming, const struct location *l,
			  struct named *ret_named)
{
	const struct attribute_process *process =
		attributor_get_process(p->attributor, location_process(l));
	struct attribute_location place;

	/* Locations without a public address form one row. */
	*ret_named = (struct named){ .location = l, .function = naming->live ? 0 : location_pc(l) };
	if (!attributor_locate(p->attributor, location_process(l), location_pc(l),
			       location_kernel(l), &place))
		return;
	ret_named->binary = hash_string(place.binary);
	if (naming->lines)
		symbols_line_key(naming->symbols, process ? process->pid : 0, &place, naming->live,
				 &ret_named->line);
	ret_named->known = symbols_function_key(naming->symbols, process ? process->pid : 0, &place,
						naming->live, &ret_named->function);
	if (!ret_named->known)
		ret_named->function =
			symbols_address_is_public(&place, naming->live) ? place.offset : 0;
}

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (location_process(x->location) != location_process(y->location))
		return location_process(x->location) < location_process(y->location) ? -1 : 1;
	if (x->binary != y->binary)
		return x->binary < y->binary ? -1 : 1;
	if (x->known != y->known)
		return x->known ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	/* Locations of a line without a name form one row. */
	if (x->line && !x->known)
		return 0;
	return (x->function > y->function) - (x->function < y->function);
}

static void row_function(struct profile *p, const struct naming *naming, const struct location *l,
			 struct view_row *row)
{
	struct source_line source;
	struct attribute_location place;

	view_row_set_process(p, row, location_process(l));
	if (!attributor_locate(p->attributor, location_process(l), location_pc(l),
			       location_kernel(l), &place)) {
		symbols_name_unmapped(location_pc(l), naming->live, row->function,
				      sizeof(row->function));
		return;
	}
	symbols_function(naming->symbols, row->pid, &place, naming->live, row->function,
			 sizeof(row->function));
	escape_string(row->binary, sizeof(row->binary), place.binary);
	if (!naming->lines ||
	    !symbols_get_source_line(naming->symbols, row->pid, &place, naming->live, &source))
		return;
	view_copy_string(row->file, sizeof(row->file), source.file);
	view_copy_string(row->inlines, sizeof(row->inlines), source.inlines);
	row->line = source.line;
}

static u64 counts_key(const struct counters *f, enum view_sort sort)
{
	switch (sort) {
	case VIEW_SORT_DRAM:
		return counters_dram(f);
	case VIEW_SORT_MEMORY:
		return counters_memory(f);
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
		return counters_origin(f, SPE_ORIGIN_REMOTE);
	case VIEW_SORT_SNOOPED:
		return counters_origin(f, SPE_ORIGIN_SNOOPED);
	case VIEW_SORT_PEER:
		return counters_origin(f, SPE_ORIGIN_PEER);
	case VIEW_SORT_MODIFIED:
		return counters_origin(f, SPE_ORIGIN_MODIFIED);
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

/* The same for sums of latencies. */
static u64 latency_key(const struct counters *f, enum view_sort sort)
{
	switch (sort) {
	case VIEW_SORT_ISSUE:
		return f->latency[PROFILE_ISSUE].sum;
	case VIEW_SORT_TRANSLATION:
		return f->latency[PROFILE_TRANSLATION].sum;
	case VIEW_SORT_ISSUE_P99:
		return histogram_quantile(&f->latency[PROFILE_ISSUE], 990);
	case VIEW_SORT_TRANSLATION_P99:
		return histogram_quantile(&f->latency[PROFILE_TRANSLATION], 990);
	default:
		return histogram_quantile(&f->latency[PROFILE_TOTAL], 990);
	}
}

u64 counters_key(const struct counters *f, enum view_sort sort)
{
	return sort < VIEW_SORT_ISSUE ? counts_key(f, sort) : latency_key(f, sort);
}

static u64 location_key(const struct profile *p, const struct location *l, enum view_sort sort)
{
	struct counters f = { 0 };

	if (sort == VIEW_SORT_LATENCY)
		return location_latency(p->locations, l);
	if (sort == VIEW_SORT_SAMPLES)
		return view_unit(&p->header) < UNITS ? location_weight(p->locations, l) :
						       location_samples(p->locations, l);
	if (sort < VIEW_SORT_ISSUE) {
		location_counts(p->locations, l, &f.counts);
		return counts_key(&f, sort);
	}
	location_counters(p->locations, l, &f);
	return latency_key(&f, sort);
}

/* The percentile of @count locations together, which is not the sum of theirs. */
static u64 locations_key(const struct profile *p, const struct named *named, size_t count,
			 enum view_sort sort)
{
	struct counters sum = { 0 };

	for (size_t i = 0; i < count; i++)
		location_counters(p->locations, named[i].location, &sum);
	return latency_key(&sum, sort);
}

/* The order of compare_rows(), before rows exist. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) :
				  compare_named(x->first, y->first);
}

/*
 * Group the sorted @named into @functions, which has the same capacity. Returns the number of
 * functions.
 */
static size_t group_named(struct profile *p, const struct named *named, size_t count,
			  enum view_sort sort, struct function *functions)
{
	const struct attribute_process *process;
	size_t i, first, n = 0;
	u64 heaviest = 0;

	for (first = 0; first < count; first = i) {
		struct function f = { .first = &named[first] };

		process = attributor_get_process(p->attributor,
						 location_process(named[first].location));
		f.pid = process ? process->pid : 0;
		for (i = first; i < count && !compare_named(&named[first], &named[i]); i++) {
			u64 key = location_key(p, named[i].location, sort);

			f.key += key;
			if (i == first || key > heaviest) {
				f.heaviest = named[i].location;
				heaviest = key;
			}
		}
		f.count = i - first;
		if (sort >= VIEW_SORT_P99)
			f.key = locations_key(p, f.first, f.count, sort);
		functions[n++] = f;
	}
	return n;
}

/*
 * Locations have no weight for each unit. With several units, a location's samples are assumed
 * to weigh the same as those of its process.
 */
static void function_weight(const struct profile *p, u32 index, u64 weight, struct counters *sum)
{
	unsigned int unit = view_unit(&p->header);
	struct counters whole = p->unattributed;

	if (unit < UNITS) {
		sum->weight[unit] = weight;
		return;
	}
	if (index != ATTRIBUTE_NONE && !profile_process(p, index, &whole))
		return;
	for (unsigned int i = 0; i < UNITS && whole.samples; i++)
		sum->weight[i] =
			(u64)((unsigned __int128)whole.weight[i] * sum->samples / whole.samples);
}

static void fill_function(struct profile *p, const struct naming *naming, const struct function *f,
			  struct view_row *row)
{
	struct counters sum = { 0 };
	u64 weight = 0;

	for (size_t i = 0; i < f->count; i++) {
		location_counters(p->locations, f->first[i].location, &sum);
		weight += location_weight(p->locations, f->first[i].location);
	}
	function_weight(p, location_process(f->first->location), weight, &sum);
	row_function(p, naming, f->heaviest, row);
	row_counters(row, &sum);
}

/* Rows are large: create only those that the view returns. */
static int merge_named(struct profile *p, const struct naming *naming, const struct named *named,
		       size_t count, enum view_sort sort, u32 limit, struct view *view)
{
	struct function *functions = calloc(count ? count : 1, sizeof(*functions));
	size_t n;

	if (!functions)
		return -ENOMEM;
	n = group_named(p, named, count, sort, functions);
	qsort(functions, n, sizeof(*functions), compare_functions);
	if (limit && n > limit)
		n = limit;
	view->rows = calloc(n ? n : 1, sizeof(*view->rows));
	for (size_t i = 0; view->rows && i < n; i++)
		fill_function(p, naming, &functions[i], &view->rows[view->count++]);
	free(functions);
	return view->rows ? 0 : -ENOMEM;
}

/* Write all locations to @named, which is large enough. Returns their number. */
static size_t name_locations(struct profile *p, const struct naming *naming, struct named *named)
{
	struct location *l = NULL;
	size_t used = 0;

	while ((l = location_table_next(p->locations, l)))
		if (!location_is_stale(p, l))
			name_location(p, naming, l, &named[used++]);
	return used;
}

void view_set_names(struct symbols *symbols, struct view_header *ret_header)
{
	struct symbols_stats stats = { 0 };

	if (symbols)
		symbols_stats(symbols, &stats);
	ret_header->names_pending = stats.pending;
	view_copy_string(ret_header->names_reason, sizeof(ret_header->names_reason), stats.reason);
}

static int view_functions(struct profile *p, const struct naming *naming, enum view_sort sort,
			  u32 limit, struct view *view)
{
	struct location *l = NULL;
	struct named *named;
	size_t count = 0;
	int r;

	while ((l = location_table_next(p->locations, l))) {
		if (location_is_stale(p, l)) {
			view->header.evicted += location_samples(p->locations, l);
			view->header.evicted_weight += location_weight(p->locations, l);
		}
		count++;
	}
	named = calloc(count ? count : 1, sizeof(*named));
	if (!named)
		return -ENOMEM;
	count = name_locations(p, naming, named);
	/* If waiting resolved some names, resolve all a second time. */
	if (symbols_wait_default(naming->symbols))
		count = name_locations(p, naming, named);
	qsort(named, count, sizeof(*named), compare_named);
	r = merge_named(p, naming, named, count, sort, limit, view);
	free(named);
	view_set_names(naming->symbols, &view->header);
	return r;
}

/* All samples of a process in all its containers. */
static struct counters process_sum(const struct process_tally *entry)
{
	struct counters sum = { 0 };

	if (entry->sum)
		sum = *entry->sum;
	if (entry->moved_from)
		counters_merge(&sum, entry->moved_from);
	counters_finish(&sum);
	return sum;
}

static int view_processes(struct profile *p, struct view *view)
{
	view->rows = calloc(p->process_count + 1, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (u32 i = 0; i < p->process_count; i++) {
		const struct attribute_process *process = attributor_get_process(p->attributor, i);
		struct counters sum;

		if (!process || !tally_samples(&p->processes[i]) ||
		    process->generation != p->processes[i].generation)
			continue;
		sum = process_sum(&p->processes[i]);
		view_row_set_process(p, &view->rows[view->count], i);
		row_counters(&view->rows[view->count++], &sum);
	}
	if (p->header.unattributed) {
		view_row_set_process(p, &view->rows[view->count], ATTRIBUTE_NONE);
		row_counters(&view->rows[view->count++], &p->unattributed);
	}
	return 0;
}

static int view_containers(struct profile *p, struct view *view)
{
	view->rows = calloc(p->container_count + 1, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (u32 i = 0; i < p->container_count; i++) {
		if (!p->containers[i])
			continue;
		view_row_set_container(p, &view->rows[view->count], i);
		row_counters(&view->rows[view->count++], p->containers[i]);
	}
	return 0;
}

int profile_view(struct profile *profile, struct symbols *symbols, bool live, enum view_group group,
		 enum view_sort sort, u32 limit, struct view *ret_view)
{
	const struct naming naming = { .symbols = symbols,
				       .live = live,
				       .lines = group == VIEW_LINE };
	struct view view;
	int r;

	profile_flush(profile);
	view = (struct view){ .header = profile->header };
	view.header.by_program = profile->by_program;
	switch (group) {
	case VIEW_FUNCTION:
	case VIEW_LINE:
		r = profile->by_program ?
			    profile_view_cells(profile, symbols, live, group, sort, limit, &view) :
			    view_functions(profile, &naming, sort, limit, &view);
		break;
	case VIEW_PROGRAM:
	case VIEW_BINARY:
		r = profile->by_program ?
			    profile_view_cells(profile, symbols, live, group, sort, limit, &view) :
			    -EOPNOTSUPP;
		break;
	case VIEW_PROCESS:
		r = view_processes(profile, &view);
		break;
	case VIEW_CONTAINER:
		r = view_containers(profile, &view);
		break;
	default:
		return -EINVAL;
	}
	if (r < 0) {
		free(view.rows);
		return r;
	}
	rows_sort(&view, sort, limit);
	*ret_view = view;
	return 0;
}

const struct view_header *profile_header(const struct profile *profile)
{
	return &profile->header;
}

const struct counters *profile_machine(const struct profile *profile)
{
	return &profile->machine;
}

const struct lines *profile_lines(const struct profile *profile)
{
	return &profile->commons->lines;
}

const struct pages *profile_pages(const struct profile *profile)
{
	return &profile->commons->pages;
}

u32 profile_get_container_bound(const struct profile *profile)
{
	return profile->container_count;
}

const struct counters *profile_container(const struct profile *profile, u32 index)
{
	return index < profile->container_count ? profile->containers[index] : NULL;
}

const struct counters *profile_unattributed(const struct profile *profile)
{
	return &profile->unattributed;
}

u32 profile_get_process_bound(const struct profile *profile)
{
	return profile->process_count;
}

bool profile_process(const struct profile *profile, u32 index, struct counters *ret_counters)
{
	const struct attribute_process *process =
		attributor_get_process(profile->attributor, index);

	if (index >= profile->process_count || !process ||
	    !tally_samples(&profile->processes[index]) ||
	    process->generation != profile->processes[index].generation)
		return false;
	*ret_counters = process_sum(&profile->processes[index]);
	return true;
}

u32 profile_containers(struct profile *profile)
{
	profile_flush(profile);
	return attributor_get_container_limit(profile->attributor);
}

u64 profile_container_samples(const struct profile *profile, u32 index)
{
	const struct counters *counters = profile_container(profile, index);

	return counters ? counters->samples : 0;
}
