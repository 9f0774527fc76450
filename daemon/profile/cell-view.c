// SPDX-License-Identifier: LGPL-2.1-or-later
/* Views of the cells of a profile: rows by function, source line, program or binary. */
#include "profile-internal.h"

#include "attribution/maps.h"
#include "util/array.h"
#include "util/escape.h"
#include "util/hash.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/**
 * struct named_cell - a cell, and the values that are equal for all cells of a row
 * @row: the cell
 * @program: id of its program; CELL_NO_PROGRAM if the view does not distinguish programs
 * @binary: hash of the path of its binary; 0 if the view does not distinguish binaries
 * @function: symbols_get_function_key() if @known, else the address
 * @line: symbols_get_line_key() if lines are requested and known, else 0
 * @known: a symbol was found
 * @evicted: the cell has the evicted samples of a program, which have their own row
 * @next: the next cell of the same row; NULL for none
 */
struct named_cell {
	struct cell_row row;
	u32 program;
	u64 binary;
	u64 function;
	u64 line;
	bool known;
	bool evicted;
	const struct named_cell *next;
};

/**
 * struct cell_group - the cells of a row
 * @first: the list of cells
 * @heaviest: the cell with the largest sort key; of several such cells, the one with the lowest
 *	offset
 * @heaviest_key: the sort key of @heaviest
 * @key: the sort key of the row
 */
struct cell_group {
	const struct named_cell *first;
	const struct cell_row *heaviest;
	u64 heaviest_key;
	u64 key;
};

/** struct cached_binary - a binary of a cell; @known: the other fields are set */
struct cached_binary {
	u32 id;
	bool known;
	struct cell_location place;
	u64 path;
};

#define NAMED_BINARIES 256

/**
 * struct cell_name_context - parameters and cache for naming cells
 * @binary: cache of the last binaries, indexed by id modulo NAMED_BINARIES. If @live is true, the
 *	locations in it also depend on the program
 */
struct cell_name_context {
	struct profile *profile;
	struct symbols_cache *symbols;
	bool live;
	enum view_group group;
	struct cached_binary *binary;
};

static void program_pid_set(struct profile *p, u32 program, s32 pid)
{
	u32 count = program + 64;
	s32 *pids;

	if (program >= p->program_pids) {
		pids = realloc(p->program_pid, count * sizeof(*pids));
		if (!pids)
			return;
		memset(pids + p->program_pids, 0, (count - p->program_pids) * sizeof(*pids));
		p->program_pid = pids;
		p->program_pids = count;
	}
	p->program_pid[program] = pid;
}

void profile_update_pids(struct profile *p)
{
	if (p->program_pid)
		memset(p->program_pid, 0, p->program_pids * sizeof(*p->program_pid));
	for (u32 i = 0; i < p->process_count; i++) {
		const struct attribute_process *process = attributor_get_process(p->attributor, i);
		struct task_program task = { 0 };

		if (!process || !tally_get_samples(&p->processes[i]) ||
		    process->generation != p->processes[i].generation ||
		    !attributor_is_process_living(p->attributor, i))
			continue;
		cell_counter_find_program(&p->cells, process, i, &task);
		program_pid_set(p, task.program, process->pid);
	}
}

u32 profile_find_program(struct profile *p, u32 process)
{
	struct task_program task = { 0 };

	cell_counter_find_program(&p->cells, attributor_get_process(p->attributor, process),
				  process, &task);
	return task.program;
}

void profile_get_cells(struct profile *p, struct profile_cells *ret_cells)
{
	profile_flush(p);
	*ret_cells = (struct profile_cells){
		.table = p->cells.table,
		.sample_class = &p->sample_class,
		.programs = p->shared_data->names.programs,
		.binaries = p->shared_data->names.binaries,
		.attributor = p->attributor,
	};
}

/*
 * Set the location of a cell with code in memory without a file. Use the offset in the mapping,
 * because the address is confidential.
 */
static void cell_locate_in_memory(const struct profile *p, u64 number, struct cell_location *place)
{
	u32 index = (u32)number;
	const struct attribute_process *process = attributor_get_process(p->attributor, index);
	struct attribute_location now;

	place->pid = 0;
	place->at.process = number;
	if (process && mapping_make_process_id(index, process->generation) == number &&
	    attributor_is_process_living(p->attributor, index))
		place->pid = process->pid;
	place->hidden = !place->pid ||
			!attributor_locate_pc(p->attributor, index, place->at.pc, false, &now) ||
			strcmp(now.binary, place->at.binary) != 0;
	place->at.offset = place->hidden ? 0 : now.offset;
}

bool profile_locate_cell(const struct profile *p, const struct cell_row *row, bool live,
			 struct cell_location *ret_place)
{
	struct binary_identity binary;

	if (row->evicted || row->binary == CELL_UNMAPPED ||
	    !binary_table_find_by_id(p->shared_data->names.binaries, row->binary, &binary))
		return false;
	*ret_place = (struct cell_location){
		.at = {
			.binary = binary.path,
			.offset = row->offset,
			.pc = row->offset,
			.inode = binary.inode,
			.device = binary.device,
			.build_id = binary.build_id,
			.build_id_size = binary.build_id_size,
		},
	};
	if (live && row->program < p->program_pids)
		ret_place->pid = p->program_pid[row->program];
	if (live && binary.process)
		cell_locate_in_memory(p, binary.process, ret_place);
	return true;
}

/*
 * Locate a cell as profile_locate_cell() does, but faster for many cells of few binaries.
 * @ret_path: hash of the path of the binary
 */
static bool cell_locate_cached(const struct cell_name_context *n, const struct cell_row *row,
			       struct cell_location *ret_place, u64 *ret_path)
{
	struct cached_binary *b = &n->binary[row->binary % NAMED_BINARIES];

	if (row->evicted || row->binary == CELL_UNMAPPED)
		return false;
	/*
	 * In a live profile, the location also depends on the program and the process, so do not
	 * use the cache.
	 */
	if (n->live || !b->known || b->id != row->binary) {
		b->known = profile_locate_cell(n->profile, row, n->live, &b->place);
		if (!b->known)
			return false;
		b->id = row->binary;
		b->path = hash_string(b->place.at.binary);
	}
	*ret_place = b->place;
	*ret_path = b->path;
	if (n->live)
		return true;
	ret_place->at.offset = row->offset;
	ret_place->at.pc = row->offset;
	return true;
}

static void cell_set_function(const struct cell_name_context *n, const struct cell_location *place,
			      struct named_cell *named)
{
	const struct attribute_location *at = &place->at;

	if (n->group == VIEW_LINE)
		symbols_get_line_key(n->symbols, place->pid, at, n->live, &named->line);
	named->known =
		symbols_get_function_key(n->symbols, place->pid, at, n->live, &named->function);
	if (!named->known)
		named->function = symbols_address_is_public(at, n->live) ? at->offset : 0;
}

static void cell_set_names(const struct cell_name_context *n, const struct cell_row *row,
			   struct named_cell *ret_named)
{
	bool functions = n->group == VIEW_FUNCTION || n->group == VIEW_LINE;
	struct named_cell named = { .row = *row, .program = CELL_NO_PROGRAM };
	struct cell_location place;

	if (n->group != VIEW_BINARY)
		named.program = row->program;
	named.evicted = row->evicted && n->group != VIEW_PROGRAM;
	if (n->group != VIEW_PROGRAM && cell_locate_cached(n, row, &place, &named.binary)) {
		if (functions)
			cell_set_function(n, &place, &named);
	} else if (functions && !row->evicted) {
		named.function = n->live ? 0 : row->offset;
	}
	*ret_named = named;
}

/* Return whether the cell belongs to a row of a source line without a function name. */
static bool cell_has_only_line(const struct named_cell *cell)
{
	return cell->line && !cell->known;
}

/* Compare two cells. The result is 0 if both belong to the same row. */
static int compare_named_cells(const struct named_cell *x, const struct named_cell *y)
{
	int r = compare_u64(x->program, y->program);

	if (!r)
		r = (int)x->evicted - (int)y->evicted;
	if (!r)
		r = compare_u64(x->binary, y->binary);
	if (!r)
		r = (int)y->known - (int)x->known;
	if (!r)
		r = compare_u64(x->line, y->line);
	return r || cell_has_only_line(x) ? r : compare_u64(x->function, y->function);
}

/* Return the hash of the row of a cell. Cells of the same row have the same hash. */
static u64 hash_named_cell(const struct named_cell *cell)
{
	u64 kind = cell->program | (u64)cell->evicted << 32 | (u64)cell->known << 33;

	return hash_mix_bits(
		kind ^ hash_mix_bits(cell->binary ^ hash_mix_bits(cell->line)) ^
		(cell_has_only_line(cell) ? 0 : cell->function * 0x9e3779b97f4a7c15ULL));
}

static u64 cell_get_sort_key(const struct profile *p, const struct cell_row *row,
			     enum view_sort sort)
{
	const struct cell_table *table = p->cells.table;
	struct profile_counters f = { 0 };

	if (sort == VIEW_SORT_LATENCY)
		return cell_row_sum_latency(table, row);
	if (sort == VIEW_SORT_SAMPLES)
		return view_get_share_unit(&p->header) < UNITS ?
			       cell_row_sum_weight(table, row) :
			       cell_row_count_samples(table, row);
	cell_row_add_counters(table, row, &f);
	return counters_get_sort_key(&f, sort);
}

/*
 * Return the percentile of all samples of a group. Percentiles of cells do not add up, so compute
 * it from the sum of their histograms.
 */
static u64 group_compute_percentile(const struct profile *p, const struct cell_group *group,
				    enum view_sort sort)
{
	struct profile_counters sum = { 0 };

	for (const struct named_cell *c = group->first; c; c = c->next)
		cell_row_add_counters(p->cells.table, &c->row, &sum);
	return counters_get_sort_key(&sum, sort);
}

static int compare_groups(const void *a, const void *b)
{
	const struct cell_group *x = a, *y = b;

	return x->key != y->key ? (x->key < y->key ? 1 : -1) :
				  compare_named_cells(x->first, y->first);
}

static void group_add(const struct profile *p, struct cell_group *g, struct named_cell *cell,
		      enum view_sort sort)
{
	u64 key = cell_get_sort_key(p, &cell->row, sort);

	if (!g->first || key > g->heaviest_key ||
	    (key == g->heaviest_key && cell->row.offset < g->heaviest->offset)) {
		g->heaviest = &cell->row;
		g->heaviest_key = key;
	}
	cell->next = g->first;
	g->first = cell;
	g->key += key;
}

/*
 * Group the cells by their rows.
 * @ret_groups: memory for @count groups, all zeros
 * @ret_count: number of groups
 *
 * Return: 0 or -ENOMEM.
 */
static int cells_build_groups(const struct profile *p, struct named_cell *cells, size_t count,
			      enum view_sort sort, struct cell_group *ret_groups, size_t *ret_count)
{
	size_t size = 16, n = 0;
	u32 *index; /* indexed by hash: number of a group, plus 1; 0 is free */

	while (size < 2 * count)
		size *= 2;
	index = calloc(size, sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = hash_named_cell(&cells[i]) & (size - 1);

		while (index[at] && compare_named_cells(ret_groups[index[at] - 1].first, &cells[i]))
			at = (at + 1) & (size - 1);
		if (!index[at])
			index[at] = (u32)++n;
		group_add(p, &ret_groups[index[at] - 1], &cells[i], sort);
	}
	free(index);
	for (size_t i = 0; i < n && sort >= VIEW_SORT_P99; i++)
		ret_groups[i].key = group_compute_percentile(p, &ret_groups[i], sort);
	*ret_count = n;
	return 0;
}

/*
 * Restore the heap of groups[0] to groups[n - 1]. The first element of the heap is the last row in
 * sort order.
 */
static void heap_sift(struct cell_group *groups, size_t n, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		struct cell_group parent = groups[at];

		if (child + 1 < n && compare_groups(&groups[child], &groups[child + 1]) < 0)
			child++;
		if (compare_groups(&parent, &groups[child]) >= 0)
			return;
		groups[at] = groups[child];
		groups[child] = parent;
	}
}

/* Move the first @limit rows in sort order to the front. This is faster than sorting all rows. */
static void groups_select(struct cell_group *groups, size_t count, size_t limit)
{
	for (size_t i = limit / 2 + 1; i--;)
		heap_sift(groups, limit, i);
	for (size_t i = limit; i < count; i++) {
		if (compare_groups(&groups[i], &groups[0]) >= 0)
			continue;
		groups[0] = groups[i];
		heap_sift(groups, limit, 0);
	}
}

static void format_program_name(const char *executable, char *to, size_t size)
{
	const char *base = executable[0] == '/' ? strrchr(executable, '/') + 1 : executable;

	escape_string(to, size, *base ? base : executable);
}

void view_row_set_program(struct profile *p, struct view_row *row, u32 id)
{
	const struct attribute_container *c;
	struct program_identity program;

	if (id == CELL_NO_PROGRAM ||
	    !program_table_find_by_id(p->shared_data->names.programs, id, &program)) {
		view_row_set_process(p, row, ATTRIBUTE_NONE);
		return;
	}
	c = attributor_get_container(p->attributor, program.container);
	view_row_set_container(p, row,
			       c && c->generation == program.container_generation ?
				       program.container :
				       attributor_get_other_container(p->attributor));
	format_program_name(program.executable, row->process, sizeof(row->process));
}

/* Set function, binary and source line of @row from @cell, the heaviest cell of the row. */
static void row_set_function(const struct cell_name_context *n, const struct cell_row *cell,
			     struct view_row *row)
{
	struct cell_location place;
	struct source_line source;

	if (!profile_locate_cell(n->profile, cell, n->live, &place)) {
		symbols_name_unmapped(cell->offset, n->live, row->function, sizeof(row->function));
		return;
	}
	escape_string(row->binary, sizeof(row->binary), place.at.binary);
	if (!symbols_get_function(n->symbols, place.pid, &place.at, n->live, row->function,
				  sizeof(row->function)) &&
	    place.hidden)
		view_copy_string(row->function, sizeof(row->function), row->binary);
	if (n->group != VIEW_LINE ||
	    !symbols_get_source_line(n->symbols, place.pid, &place.at, n->live, &source))
		return;
	view_copy_string(row->file, sizeof(row->file), source.file);
	view_copy_string(row->inlines, sizeof(row->inlines), source.inlines);
	row->line = source.line;
}

static void row_set_binary(const struct cell_name_context *n, const struct cell_row *cell,
			   struct view_row *row)
{
	struct cell_location place;

	view_copy_string(row->container, sizeof(row->container), "-");
	if (profile_locate_cell(n->profile, cell, n->live, &place))
		escape_string(row->binary, sizeof(row->binary), place.at.binary);
	else
		view_copy_string(row->binary, sizeof(row->binary), "[unmapped]");
}

void view_row_set_cell(struct profile *p, struct symbols_cache *symbols, bool live,
		       enum view_group group, struct view_row *row, u64 offset, u64 owner)
{
	const struct cell_name_context n = {
		.profile = p, .symbols = symbols, .live = live, .group = group
	};
	const struct cell_row cell = {
		.program = (u32)(owner >> 32), .binary = (u32)owner, .offset = offset
	};

	if (group == VIEW_BINARY) {
		row_set_binary(&n, &cell, row);
		return;
	}
	view_row_set_program(p, row, cell.program);
	if (group != VIEW_PROGRAM)
		row_set_function(&n, &cell, row);
}

void view_row_set_evicted(struct view_row *row, enum view_group group)
{
	if (group == VIEW_BINARY)
		view_copy_string(row->binary, sizeof(row->binary), "[evicted]");
	else
		view_copy_string(row->function, sizeof(row->function), "[evicted]");
}

static void row_fill_from_group(const struct cell_name_context *n, const struct cell_group *group,
				struct view_row *row)
{
	const struct cell_table *table = n->profile->cells.table;
	struct profile_counters sum = { 0 };

	for (const struct named_cell *c = group->first; c; c = c->next)
		cell_row_add_counters(table, &c->row, &sum);
	view_row_set_counters(row, &sum);
	assert(group->first);
	if (n->group == VIEW_BINARY)
		row_set_binary(n, group->heaviest, row);
	else
		view_row_set_program(n->profile, row, group->first->row.program);
	if (group->first->evicted)
		view_row_set_evicted(row, n->group);
	else if (n->group == VIEW_FUNCTION || n->group == VIEW_LINE)
		row_set_function(n, group->heaviest, row);
}

/* Add the rows to the view. Rows are large, so create only the rows within @limit. */
static int view_add_groups(const struct cell_name_context *n, struct named_cell *cells,
			   size_t count, enum view_sort sort, u32 limit, struct view *view)
{
	struct cell_group *groups = calloc(count ? count : 1, sizeof(*groups));
	size_t shown;

	if (!groups || cells_build_groups(n->profile, cells, count, sort, groups, &shown) < 0) {
		free(groups);
		return -ENOMEM;
	}
	if (limit && shown > limit) {
		groups_select(groups, shown, limit);
		shown = limit;
	}
	qsort(groups, shown, sizeof(*groups), compare_groups);
	view->rows = calloc(shown ? shown : 1, sizeof(*view->rows));
	for (size_t i = 0; view->rows && i < shown; i++)
		row_fill_from_group(n, &groups[i], &view->rows[view->count++]);
	free(groups);
	return view->rows ? 0 : -ENOMEM;
}

/*
 * Write all cells with samples to @named, which has space for all cells. Return the number of cells
 * written.
 */
static size_t cells_set_names(const struct cell_name_context *n, struct named_cell *named)
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;
	size_t count = 0;

	while (cell_table_next(n->profile->cells.table, &cursor, &row)) {
		/* The row of the evicted samples without a program always exists. */
		if (row.evicted && !cell_row_count_samples(n->profile->cells.table, &row))
			continue;
		cell_set_names(n, &row, &named[count++]);
	}
	return count;
}

/*
 * After the wait for symbols, look up the names again that were unknown before. In a view by line,
 * look up all names, because a cell with a known function may lack its line.
 */
static void cells_retry_names(const struct cell_name_context *n, struct named_cell *named,
			      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!named[i].known || n->group == VIEW_LINE)
			cell_set_names(n, &named[i].row, &named[i]);
}

int profile_view_cells(struct profile *p, struct symbols_cache *symbols, bool live,
		       enum view_group group, enum view_sort sort, u32 limit, struct view *view)
{
	struct cell_name_context n = {
		.profile = p, .symbols = symbols, .live = live, .group = group
	};
	size_t count = cell_table_get_max_rows(p->cells.table);
	struct named_cell *named = calloc(count ? count : 1, sizeof(*named));
	int r = -ENOMEM;

	n.binary = calloc(NAMED_BINARIES, sizeof(*n.binary));
	if (named && n.binary) {
		if (live)
			profile_update_pids(p);
		count = cells_set_names(&n, named);
		if (symbols_wait_configured(symbols))
			cells_retry_names(&n, named, count);
		r = view_add_groups(&n, named, count, sort, limit, view);
		view_header_set_pending_names(symbols, &view->header);
	}
	free(n.binary);
	free(named);
	return r;
}
