// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query-names.h"

#include <errno.h>
#include <stdlib.h>

/** struct named_id - a name of @size bytes, and an id with this name */
struct named_id {
	const void *at;
	size_t size;
	u32 id;
};

static int compare_names(const void *a, const void *b)
{
	const struct named_id *x = a, *y = b;
	size_t size = x->size < y->size ? x->size : y->size;
	int r = size ? memcmp(x->at, y->at, size) : 0;

	return r ? r : (x->size > y->size) - (x->size < y->size);
}

const struct attribute_container *query_get_container(const struct profile_cells *cells,
						      u32 program)
{
	const struct attribute_container *c;
	struct program_identity identity;

	if (program == CELL_NO_PROGRAM ||
	    !program_table_find_by_id(cells->programs, program, &identity) || !identity.container)
		return NULL;
	c = attributor_get_container(cells->attributor, identity.container);
	if (c && c->generation == identity.container_generation)
		return c;
	return attributor_get_container(cells->attributor,
					attributor_get_other_container(cells->attributor));
}

const char *query_get_container_name(const struct profile_cells *cells, u32 program)
{
	const struct attribute_container *c = query_get_container(cells, program);

	return c && *c->name ? c->name : "-";
}

const char *query_get_executable(const struct profile_cells *cells, u32 program)
{
	struct program_identity identity;

	if (program == CELL_NO_PROGRAM ||
	    !program_table_find_by_id(cells->programs, program, &identity))
		return "[unattributed]";
	return identity.executable;
}

bool query_program_is_unattributed(const struct profile_cells *cells, u32 program)
{
	struct program_identity identity;

	return program == CELL_NO_PROGRAM ||
	       (program_table_find_by_id(cells->programs, program, &identity) &&
		identity.process == PROGRAM_NONE);
}

const struct attribute_process *query_get_process(const struct profile_cells *cells, u32 program)
{
	struct program_identity identity;

	if (program == CELL_NO_PROGRAM ||
	    !program_table_find_by_id(cells->programs, program, &identity) ||
	    identity.process == PROGRAM_ANY || identity.process == PROGRAM_NONE)
		return NULL;
	return attributor_get_process(cells->attributor, identity.process - 1);
}

u32 query_get_cpu_plus_one(const struct profile_cells *cells, u32 program)
{
	struct program_identity identity;

	return program != CELL_NO_PROGRAM &&
			       program_table_find_by_id(cells->programs, program, &identity) ?
		       identity.cpu :
		       0;
}

const char *query_base_name(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

/* Return the end of the UTF-8 character at @at, which has one or several bytes. */
static const char *find_character_end(const char *at)
{
	at++;
	while (((unsigned char)*at & 0xc0) == 0x80)
		at++;
	return at;
}

/*
 * Return whether a set such as [a-z] or [!x] has @c. @ret_end: the text after the set; NULL if "]"
 * is missing
 */
static bool glob_set_has(const char *set, char c, const char **ret_end)
{
	bool inverted = *set == '!' || *set == '^', has = false;
	const char *at = set + inverted, *first = at;

	for (; *at && (*at != ']' || at == first); at++) {
		bool range = at[1] == '-' && at[2] && at[2] != ']';

		has |= range ? *at <= c && c <= at[2] : *at == c;
		at += range ? 2 : 0;
	}
	*ret_end = *at ? at + 1 : NULL;
	return has != inverted;
}

/*
 * Compare the first element of @glob, which is not "*", with the first character of @name, which is
 * not empty. Return the rest of the glob, or NULL if they differ. @ret_name: the rest of the name
 */
static const char *glob_match_one_element(const char *glob, const char *name, const char **ret_name)
{
	const char *end;
	bool has;

	*ret_name = name + 1;
	if (*glob == '?') {
		*ret_name = find_character_end(name);
		return glob + 1;
	}
	if (*glob == '[') {
		has = glob_set_has(glob + 1, *name, &end);
		if (end)
			return has ? end : NULL;
	}
	if (*glob == '\\' && glob[1])
		glob++;
	return *glob == *name ? glob + 1 : NULL;
}

/*
 * The time of fnmatch() grows exponentially with the number of "*". The time of this function grows
 * at most with the product of both lengths, because it backtracks to the last "*" only.
 */
bool query_name_matches(const char *glob, const char *name)
{
	const char *star = NULL, *from = NULL, *next, *rest;

	if (strcmp(glob, name) == 0)
		return true;
	for (;;) {
		if (*glob == '*') {
			star = ++glob;
			from = name;
			continue;
		}
		if (!*name && !*glob)
			return true;
		next = *name && *glob ? glob_match_one_element(glob, name, &rest) : NULL;
		if (next) {
			glob = next;
			name = rest;
			continue;
		}
		if (!star || !*from)
			return false;
		from = find_character_end(from);
		glob = star;
		name = from;
	}
}

/* Sort @names, and set the rank of the id of each. */
static void assign_ranks(struct named_id *names, u32 count, struct query_ranks *ranks)
{
	u32 rank = 0;

	qsort(names, count, sizeof(*names), compare_names);
	for (u32 i = 0; i < count; i++) {
		if (!i || compare_names(&names[i - 1], &names[i]))
			rank++;
		ranks->at[names[i].id] = rank;
	}
}

static struct named_id make_named_id(u32 id, const char *text)
{
	return (struct named_id){ .at = text, .size = strlen(text), .id = id };
}

static u32 count_used_ids(const bool *used, u32 count)
{
	u32 n = 0;

	for (u32 i = 0; i < count; i++)
		n += used[i];
	return n;
}

static int programs_compute_ranks(struct query_names *n, const bool *used)
{
	u32 capacity = count_used_ids(used, n->container.count), count = 0;
	struct named_id *names = calloc(capacity ? capacity : 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (u32 id = 0; id < n->container.count; id++)
		if (used[id])
			names[count++] = make_named_id(id, query_get_container_name(n->tables, id));
	assign_ranks(names, count, &n->container);
	for (u32 i = 0; i < count; i++)
		names[i] = make_named_id(names[i].id, query_get_executable(n->tables, names[i].id));
	assign_ranks(names, count, &n->executable);
	for (u32 i = 0; i < count; i++) {
		const struct attribute_process *process = query_get_process(n->tables, names[i].id);

		names[i] = make_named_id(names[i].id, process ? process->comm : "");
	}
	assign_ranks(names, count, &n->comm);
	free(names);
	return 0;
}

static int binaries_compute_ranks(struct query_names *n, const bool *used)
{
	u32 capacity = count_used_ids(used, n->path.count), count = 0;
	struct named_id *names = calloc(capacity ? capacity : 1, sizeof(*names));
	struct binary_identity binary;

	if (!names)
		return -ENOMEM;
	for (u32 id = 0; id < n->path.count; id++)
		if (used[id] && binary_table_find_by_id(n->tables->binaries, id, &binary))
			names[count++] = make_named_id(id, binary.path);
	assign_ranks(names, count, &n->path);
	for (u32 i = 0; i < count; i++) {
		binary_table_find_by_id(n->tables->binaries, names[i].id, &binary);
		names[i].at = binary.build_id;
		names[i].size = binary.build_id_size;
	}
	assign_ranks(names, count, &n->build_id);
	free(names);
	return 0;
}

/*
 * Find the sizes of arrays that are indexed by the ids of the programs and binaries of all cells.
 */
static void find_id_limits(const struct query_cells *cells, u32 *ret_programs, u32 *ret_binaries)
{
	struct query_cursor cursor = { 0 };
	struct query_cell cell;

	*ret_programs = *ret_binaries = 1;
	while (query_cells_next(cells, &cursor, &cell)) {
		const struct cell_row *row = &cell.row;

		if (row->program != CELL_NO_PROGRAM && row->program >= *ret_programs)
			*ret_programs = row->program + 1;
		if (!row->evicted && row->binary != CELL_UNMAPPED && row->binary >= *ret_binaries)
			*ret_binaries = row->binary + 1;
	}
}

static void mark_used_ids(const struct query_cells *cells, bool *program, bool *binary)
{
	struct query_cursor cursor = { 0 };
	struct query_cell cell;

	while (query_cells_next(cells, &cursor, &cell)) {
		if (cell.row.program != CELL_NO_PROGRAM)
			program[cell.row.program] = true;
		if (!cell.row.evicted && cell.row.binary != CELL_UNMAPPED)
			binary[cell.row.binary] = true;
	}
}

static int ranks_new(u32 count, struct query_ranks *ret_ranks)
{
	ret_ranks->at = calloc(count, sizeof(*ret_ranks->at));
	ret_ranks->count = ret_ranks->at ? count : 0;
	return ret_ranks->at ? 0 : -ENOMEM;
}

int query_names_init(const struct query_cells *cells, struct query_names *ret_names)
{
	struct query_names n = { .tables = &cells->tables };
	bool *program, *binary;
	u32 programs, binaries;
	int r = -ENOMEM;

	find_id_limits(cells, &programs, &binaries);
	program = calloc(programs, sizeof(*program));
	binary = calloc(binaries, sizeof(*binary));
	if (program && binary && !ranks_new(programs, &n.container) &&
	    !ranks_new(programs, &n.executable) && !ranks_new(programs, &n.comm) &&
	    !ranks_new(binaries, &n.path) &&
	    !ranks_new(binaries, &n.build_id)) {
		mark_used_ids(cells, program, binary);
		r = programs_compute_ranks(&n, program);
		if (r == 0)
			r = binaries_compute_ranks(&n, binary);
	}
	free(program);
	free(binary);
	if (r < 0)
		query_names_deinit(&n);
	else
		*ret_names = n;
	return r;
}

void query_names_deinit(struct query_names *n)
{
	free(n->container.at);
	free(n->executable.at);
	free(n->comm.at);
	free(n->path.at);
	free(n->build_id.at);
	*n = (struct query_names){ 0 };
}
