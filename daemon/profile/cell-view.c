// SPDX-License-Identifier: LGPL-2.1-or-later
/* Views of the cells of a profile: rows by function, source line, program or binary. */
#include "profile-internal.h"

#include "attribution/maps.h"
#include "util/escape.h"
#include "util/hash.h"

#include <errno.h>
#include <stdlib.h>

/**
 * struct named_cell - a cell, and what it has in common with the other cells of its row
 * @row: the cell
 * @program: id of its program; CELL_NO_PROGRAM if the view does not distinguish programs
 * @binary: hash of the path of its binary; 0 if the view does not distinguish binaries
 * @function: symbols_function_key() if @known, else the address
 * @line: symbols_line_key() if lines are requested and known, else 0
 * @known: a symbol was found
 * @evicted: the evicted samples are a row of the view
 */
struct named_cell {
	struct cell_row row;
	u32 program;
	u64 binary;
	u64 function;
	u64 line;
	bool known;
	bool evicted;
};

/** struct cell_group - the cells of a row: @count of them from @first on, and the sort key */
struct cell_group {
	const struct named_cell *first;
	const struct cell_row *heaviest;
	size_t count;
	u64 key;
};

struct cell_naming {
	struct profile *profile;
	struct symbols *symbols;
	bool live;
	enum view_group group;
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

void profile_find_pids(struct profile *p)
{
	if (p->program_pid)
		memset(p->program_pid, 0, p->program_pids * sizeof(*p->program_pid));
	for (u32 i = 0; i < p->process_count; i++) {
		const struct attribute_process *process = attributor_get_process(p->attributor, i);
		struct cell_task task = { 0 };

		if (!process || !tally_samples(&p->processes[i]) ||
		    process->generation != p->processes[i].generation ||
		    !attributor_is_living(p->attributor, i))
			continue;
		cell_counter_program(&p->cells, process, i, &task);
		program_pid_set(p, task.program, process->pid);
	}
}

u32 profile_find_program(struct profile *p, u32 process)
{
	struct cell_task task = { 0 };

	cell_counter_program(&p->cells, attributor_get_process(p->attributor, process), process,
			     &task);
	return task.program;
}

int profile_get_cells(struct profile *p, struct profile_cells *ret_cells)
{
	if (!p->by_program)
		return -EOPNOTSUPP;
	profile_flush(p);
	*ret_cells = (struct profile_cells){
		.table = p->cells.table,
		.sample_class = &p->sample_class,
		.programs = p->commons->names.programs,
		.binaries = p->commons->names.binaries,
		.attributor = p->attributor,
	};
	return 0;
}

/* Memory without a file belongs to one process. Use its offset in the mapping, as it is not secret. */
static void locate_memory(const struct profile *p, u64 number, struct cell_place *place)
{
	u32 index = (u32)number;
	const struct attribute_process *process = attributor_get_process(p->attributor, index);
	struct attribute_location now;

	place->pid = 0;
	place->at.process = number;
	if (process && mapping_process(index, process->generation) == number &&
	    attributor_is_living(p->attributor, index))
		place->pid = process->pid;
	place->hidden = !place->pid || !attributor_locate(p->attributor, index, place->at.pc, false,
							  &now) ||
			strcmp(now.binary, place->at.binary) != 0;
	place->at.offset = place->hidden ? 0 : now.offset;
}

bool profile_locate_cell(const struct profile *p, const struct cell_row *row, bool live,
			 struct cell_place *ret_place)
{
	struct binary_identity binary;

	if (row->evicted || row->binary == CELL_UNMAPPED ||
	    !binary_table_find(p->commons->names.binaries, row->binary, &binary))
		return false;
	*ret_place = (struct cell_place){
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
		locate_memory(p, binary.process, ret_place);
	return true;
}

static void cell_name_function(const struct cell_naming *n, const struct cell_place *place,
			       struct named_cell *named)
{
	const struct attribute_location *at = &place->at;

	if (n->group == VIEW_LINE)
		symbols_line_key(n->symbols, place->pid, at, n->live, &named->line);
	named->known =
		symbols_function_key(n->symbols, place->pid, at, n->live, &named->function);
	if (!named->known)
		named->function = symbols_address_is_public(at, n->live) ? at->offset : 0;
}

static void cell_name(const struct cell_naming *n, const struct cell_row *row,
		      struct named_cell *ret_named)
{
	bool functions = n->group == VIEW_FUNCTION || n->group == VIEW_LINE;
	struct named_cell named = { .row = *row, .program = CELL_NO_PROGRAM };
	struct cell_place place;

	if (n->group != VIEW_BINARY)
		named.program = row->program;
	named.evicted = row->evicted && n->group != VIEW_PROGRAM;
	if (n->group != VIEW_PROGRAM && profile_locate_cell(n->profile, row, n->live, &place)) {
		named.binary = hash_string(place.at.binary);
		if (functions)
			cell_name_function(n, &place, &named);
	} else if (functions && !row->evicted) {
		named.function = n->live ? 0 : row->offset;
	}
	*ret_named = named;
}

static int compare_u64(u64 x, u64 y)
{
	return (x > y) - (x < y);
}

/* Returns 0 for cells of the same row. */
static int compare_cells(const void *a, const void *b)
{
	const struct named_cell *x = a, *y = b;
	int r = compare_u64(x->program, y->program);

	if (!r)
		r = (int)x->evicted - (int)y->evicted;
	if (!r)
		r = compare_u64(x->binary, y->binary);
	if (!r)
		r = (int)y->known - (int)x->known;
	if (!r)
		r = compare_u64(x->line, y->line);
	/* Locations of a line without a name form one row. */
	if (r || (x->line && !x->known))
		return r;
	return compare_u64(x->function, y->function);
}

static u64 cell_key(const struct profile *p, const struct cell_row *row, enum view_sort sort)
{
	const struct cell_table *table = p->cells.table;
	struct counters f = { 0 };

	if (sort == VIEW_SORT_LATENCY)
		return cell_row_latency(table, row, CELL_ALL);
	if (sort == VIEW_SORT_SAMPLES)
		return view_unit(&p->header) < UNITS ? cell_row_weight(table, row, CELL_ALL) :
						       cell_row_samples(table, row, CELL_ALL);
	cell_row_add(table, row, CELL_ALL, &f);
	return counters_key(&f, sort);
}

/* The percentile of all cells of a group together, which is not the sum of theirs. */
static u64 group_percentile(const struct profile *p, const struct cell_group *group,
			    enum view_sort sort)
{
	struct counters sum = { 0 };

	for (size_t i = 0; i < group->count; i++)
		cell_row_add(p->cells.table, &group->first[i].row, CELL_ALL, &sum);
	return counters_key(&sum, sort);
}

static int compare_groups(const void *a, const void *b)
{
	const struct cell_group *x = a, *y = b;

	return x->key != y->key ? (x->key < y->key ? 1 : -1) : compare_cells(x->first, y->first);
}

/* Group the sorted cells. Returns the number of groups. */
static size_t cells_group(const struct profile *p, const struct named_cell *cells, size_t count,
			  enum view_sort sort, struct cell_group *ret_groups)
{
	size_t i, first, n = 0;

	for (first = 0; first < count; first = i) {
		struct cell_group g = { .first = &cells[first] };
		u64 heaviest = 0;

		for (i = first; i < count && !compare_cells(&cells[first], &cells[i]); i++) {
			u64 key = cell_key(p, &cells[i].row, sort);

			g.key += key;
			if (i == first || key > heaviest) {
				g.heaviest = &cells[i].row;
				heaviest = key;
			}
		}
		g.count = i - first;
		if (sort >= VIEW_SORT_P99)
			g.key = group_percentile(p, &g, sort);
		ret_groups[n++] = g;
	}
	return n;
}

static void name_program(const char *executable, char *to, size_t size)
{
	const char *base = executable[0] == '/' ? strrchr(executable, '/') + 1 : executable;

	escape_string(to, size, *base ? base : executable);
}

void view_row_set_program(struct profile *p, struct view_row *row, u32 id)
{
	const struct attribute_container *c;
	struct program_identity program;

	if (id == CELL_NO_PROGRAM ||
	    !program_table_find(p->commons->names.programs, id, &program)) {
		view_row_set_process(p, row, ATTRIBUTE_NONE);
		return;
	}
	c = attributor_get_container(p->attributor, program.container);
	view_row_set_container(p, row,
			       c && c->generation == program.container_generation ?
				       program.container :
				       attributor_get_other_container(p->attributor));
	name_program(program.executable, row->process, sizeof(row->process));
}

/* Set function, binary and source line of @row from its heaviest cell. */
static void row_set_function(const struct cell_naming *n, const struct cell_row *cell,
			     struct view_row *row)
{
	struct cell_place place;
	struct source_line source;

	if (!profile_locate_cell(n->profile, cell, n->live, &place)) {
		symbols_name_unmapped(cell->offset, n->live, row->function, sizeof(row->function));
		return;
	}
	escape_string(row->binary, sizeof(row->binary), place.at.binary);
	if (!symbols_function(n->symbols, place.pid, &place.at, n->live, row->function,
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

static void row_set_binary(const struct cell_naming *n, const struct cell_row *cell,
			   struct view_row *row)
{
	struct cell_place place;

	view_copy_string(row->container, sizeof(row->container), "-");
	if (profile_locate_cell(n->profile, cell, n->live, &place))
		escape_string(row->binary, sizeof(row->binary), place.at.binary);
	else
		view_copy_string(row->binary, sizeof(row->binary), "[unmapped]");
}

void view_row_set_cell(struct profile *p, struct symbols *symbols, bool live, enum view_group group,
		       struct view_row *row, u64 offset, u64 owner)
{
	const struct cell_naming n = {
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

static void group_fill(const struct cell_naming *n, const struct cell_group *group,
		       struct view_row *row)
{
	const struct cell_table *table = n->profile->cells.table;
	struct counters sum = { 0 };

	for (size_t i = 0; i < group->count; i++)
		cell_row_add(table, &group->first[i].row, CELL_ALL, &sum);
	row_counters(row, &sum);
	if (n->group == VIEW_BINARY)
		row_set_binary(n, group->heaviest, row);
	else
		view_row_set_program(n->profile, row, group->first->row.program);
	if (group->first->evicted)
		view_row_set_evicted(row, n->group);
	else if (n->group == VIEW_FUNCTION || n->group == VIEW_LINE)
		row_set_function(n, group->heaviest, row);
}

/* Rows are large: create only those that the view returns. */
static int groups_show(const struct cell_naming *n, const struct named_cell *cells, size_t count,
		       enum view_sort sort, u32 limit, struct view *view)
{
	struct cell_group *groups = calloc(count ? count : 1, sizeof(*groups));
	size_t shown;

	if (!groups)
		return -ENOMEM;
	shown = cells_group(n->profile, cells, count, sort, groups);
	qsort(groups, shown, sizeof(*groups), compare_groups);
	if (limit && shown > limit)
		shown = limit;
	view->rows = calloc(shown ? shown : 1, sizeof(*view->rows));
	for (size_t i = 0; view->rows && i < shown; i++)
		group_fill(n, &groups[i], &view->rows[view->count++]);
	free(groups);
	return view->rows ? 0 : -ENOMEM;
}

/* Write all cells to @named, if it is not NULL. Returns their number. */
static size_t cells_name(const struct cell_naming *n, struct named_cell *named)
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;
	size_t count = 0;

	while (cell_table_next(n->profile->cells.table, &cursor, &row)) {
		/* The row of the evicted samples without a program always exists. */
		if (row.evicted && !cell_row_samples(n->profile->cells.table, &row, CELL_ALL))
			continue;
		if (named)
			cell_name(n, &row, &named[count]);
		count++;
	}
	return count;
}

int profile_view_cells(struct profile *p, struct symbols *symbols, bool live,
		       enum view_group group, enum view_sort sort, u32 limit, struct view *view)
{
	const struct cell_naming n = {
		.profile = p, .symbols = symbols, .live = live, .group = group
	};
	size_t count = cells_name(&n, NULL);
	struct named_cell *named = calloc(count ? count : 1, sizeof(*named));
	int r;

	if (!named)
		return -ENOMEM;
	if (live)
		profile_find_pids(p);
	cells_name(&n, named);
	/* If waiting resolved some names, resolve all a second time. */
	if (symbols_wait_default(symbols))
		cells_name(&n, named);
	qsort(named, count, sizeof(*named), compare_cells);
	r = groups_show(&n, named, count, sort, limit, view);
	free(named);
	view_set_names(symbols, &view->header);
	return r;
}
