// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query-names.h"
#include "query-result.h"

#include "attribution/maps.h"
#include "codec/payload.h"
#include "profile/cell-counter.h"
#include "profile/profile-read.h"
#include "util/array.h"
#include "util/escape.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct cell_with_ids - a cell, and the numbers that are equal for all cells of a row
 * @cell: the cell
 * @id: numbers that identify the row, &query_result.ids of them
 */
struct cell_with_ids {
	struct query_cell cell;
	u64 id[];
};

/* A part of a cell is the samples with one kind of operation, one level and one event. */
#define PART_OPS    SPE_KINDS
#define PART_LEVELS (SPE_LEVELS + 1)
#define PART_EVENTS (SAMPLE_EVENTS + 1)
#define PARTS	    (PART_OPS * PART_LEVELS * PART_EVENTS)

/* Value for samples without a level or event. */
#define PART_NO_LEVEL SPE_LEVELS
#define PART_NO_EVENT SAMPLE_EVENTS

/**
 * struct query_group - a row
 * @first, @count: its cells
 * @part: the part of the cells that the row counts
 * @value: the sort measure
 * @weight: secondary sort key
 */
struct query_group {
	u32 first;
	u32 count;
	u32 part;
	double value;
	u64 weight;
};

/**
 * struct query_result - the rows, in their order
 * @admitted: results of &query_source.admits, indexed by the id of a program. 1: admitted; 2: not
 *	admitted; 0: not called yet
 * @has_parts: rows count only a part of the samples of their cells
 * @named: the selected cells, @named_count of them; get_cell_at() returns one
 * @ids: number of used entries of &cell_with_ids.id
 * @group: the rows, @groups of them
 * @share_total: denominator of the shares of rows, in the unit of the sort measure
 * @samples: number of all samples
 * @own: if there is a callback &query_source.admits: sum over all samples of admitted containers
 */
struct query_result {
	struct query_source source;
	struct query query;
	struct query_cells cells;
	struct query_names names;
	u8 *admitted;
	bool has_parts;
	struct cell_with_ids *named;
	u32 named_count;
	u32 ids;
	struct query_group *group;
	u32 groups;
	u32 group_capacity;
	u64 share_total;
	u64 samples;
	struct profile_counters own;
};

/*
 * Return the size of a struct cell_with_ids in bytes. Memory is allocated only for the ids of the
 * query, because most queries have few.
 */
static size_t get_cell_size(const struct query_result *r)
{
	return sizeof(struct cell_with_ids) + r->ids * sizeof(u64);
}

static struct cell_with_ids *get_cell_at(const struct query_result *r, u32 i)
{
	return (struct cell_with_ids *)((char *)r->named + i * get_cell_size(r));
}

/* Return the measure of which shares are computed. */
static enum measure share_measure(const struct query_result *r)
{
	return measure_is_sum(r->query.sort) ? r->query.sort : MEASURE_OPERATIONS;
}

/*
 * Return whether the cell is kernel code. For kernel code, &cell_row.offset is an address, in which
 * bit 63 is set.
 */
static bool is_kernel_code(const struct cell_row *row)
{
	return row->offset >> 63;
}

/* ---- Selection ----------------------------------------------------------- */

/*
 * Return whether the caller may see a container. The result is stored, because the callback may
 * need a system call.
 */
static bool caller_may_see(struct query_result *r, const struct query_cell *cell)
{
	const struct attribute_container *c = query_cell_get_container(&r->cells, cell);
	u32 program = cell->row.program;
	bool admitted;

	if (!r->source.admits)
		return true;
	if (program < r->names.container.count && r->admitted[program])
		return r->admitted[program] == 1;
	admitted = c && r->source.admits(r->source.ctx, c);
	if (program < r->names.container.count)
		r->admitted[program] = admitted ? 1 : 2;
	return admitted;
}

static const char *get_cell_container_name(const struct query_result *r,
					   const struct query_cell *cell)
{
	const struct attribute_container *c = query_cell_get_container(&r->cells, cell);

	return c && *c->name ? c->name : "-";
}

static bool selects_container(const struct query_result *r, const struct query_cell *cell)
{
	const struct attribute_container *c;
	const char *glob = r->query.select.container;

	if (!glob)
		return true;
	if (*glob != '/')
		return query_name_matches(glob, get_cell_container_name(r, cell));
	c = query_cell_get_container(&r->cells, cell);
	return c && (query_name_matches(glob, c->cgroup) || query_name_matches(glob, c->path));
}

static bool selects_path(const char *glob, const char *path)
{
	char text[256];

	if (!glob)
		return true;
	escape_string(text, sizeof(text), path);
	return query_name_matches(glob, text) || query_name_matches(glob, query_base_name(text));
}

static void write_build_id(const struct attribute_location *at, char *to, size_t size)
{
	*to = 0;
	for (size_t i = 0; i < at->build_id_size && 2 * i + 2 < size; i++)
		snprintf(to + 2 * i, 3, "%02x", at->build_id[i]);
}

/* Return whether a glob selects a binary; @at: NULL if the binary is unknown. */
static bool selects_binary(const char *glob, const char *path, const struct attribute_location *at)
{
	char build_id[2 * BUILD_ID_MAX + 1];

	if (!glob || !query_get_build_id_glob(glob))
		return selects_path(glob, path);
	if (!at)
		return false;
	write_build_id(at, build_id, sizeof(build_id));
	return query_name_matches(query_get_build_id_glob(glob), build_id);
}

static void write_function_name(const struct query_result *r, const struct cell_row *row, char *to,
				size_t size, bool *ret_named)
{
	struct cell_location place;

	*ret_named = false;
	if (row->evicted)
		snprintf(to, size, "[evicted]");
	else if (profile_locate_cell(r->source.profile, row, r->source.live, &place))
		*ret_named = symbols_get_function(r->source.symbols, place.pid, &place.at,
						  r->source.live, to, size);
	else
		symbols_name_unmapped(row->offset, r->source.live, to, size);
}

static bool selects_code(const struct query_result *r, const struct cell_row *row)
{
	const struct query_select *select = &r->query.select;
	const char *path = "[unmapped]";
	struct cell_location place;
	bool located = false, named;
	char name[128];

	if (!select->binary && !select->function)
		return true;
	if (row->evicted)
		path = "[evicted]";
	else
		located = profile_locate_cell(r->source.profile, row, r->source.live, &place);
	if (located)
		path = place.at.binary;
	if (!selects_binary(select->binary, path, located ? &place.at : NULL))
		return false;
	if (!select->function)
		return true;
	write_function_name(r, row, name, sizeof(name), &named);
	return query_name_matches(select->function, name);
}

static bool selects_cell(struct query_result *r, const struct query_cell *cell)
{
	const char *executable = query_get_executable(&r->cells.tables, cell->row.program);

	return caller_may_see(r, cell) && selects_container(r, cell) &&
	       selects_path(r->query.select.program, executable) && selects_code(r, &cell->row);
}

static bool selects_all(const struct query_select *select)
{
	return !select->container && !select->program && !select->binary && !select->function;
}

/* ---- Ids of cells -------------------------------------------------------- */

/* Ranks of cells without a name: RANK_NONE sorts before all names, RANK_LAST after all names. */
#define RANK_NONE 0
#define RANK_LAST UINT32_MAX

/* Return the rank of the name of a container in a period, as query_get_rank() does. */
static u64 get_slot_container_rank(const struct query_result *r, const struct query_cell *cell)
{
	const char *name = get_cell_container_name(r, cell);
	struct query_cursor cursor = { 0 };
	struct query_cell other;
	u64 rank = 1;

	while (query_cells_next(&r->cells, &cursor, &other))
		rank += other.container && strcmp(get_cell_container_name(r, &other), name) < 0;
	return rank;
}

static u64 get_container_id(const struct query_result *r, const struct query_cell *cell)
{
	const struct cell_row *row = &cell->row;

	if (cell->container)
		return get_slot_container_rank(r, cell);
	if (query_program_is_unattributed(&r->cells.tables, row->program))
		return query_groups_by(&r->query, QUERY_PROGRAM) ? RANK_NONE : RANK_LAST;
	return query_get_rank(&r->names.container, row->program);
}

static u64 program_id(const struct query_result *r, const struct cell_row *row)
{
	return query_program_is_unattributed(&r->cells.tables, row->program) ?
		       RANK_NONE :
		       query_get_rank(&r->names.executable, row->program);
}

static u64 get_pid_id(const struct query_result *r, const struct cell_row *row)
{
	const struct attribute_process *process = query_get_process(&r->cells.tables, row->program);

	return process ? (u64)process->pid : 0;
}

static bool cell_has_binary(const struct cell_row *row)
{
	return !row->evicted && row->binary != CELL_UNMAPPED;
}

static u64 get_binary_id(const struct query_ranks *ranks, const struct cell_row *row)
{
	return cell_has_binary(row) ? query_get_rank(ranks, row->binary) : RANK_LAST;
}

/*
 * Set the numbers that identify the source line and the function. Return the count of numbers set.
 */
static u32 set_code_ids(const struct query_result *r, const struct cell_row *row, u64 *ret_id)
{
	bool lines = query_groups_by(&r->query, QUERY_LINE);
	const struct query_source *s = &r->source;
	u64 line = 0, function = s->live ? 0 : row->offset;
	struct cell_location place;
	bool known = false;
	u32 n = 0;

	if (row->evicted) {
		function = 0;
	} else if (profile_locate_cell(s->profile, row, s->live, &place)) {
		if (lines)
			symbols_get_line_key(s->symbols, place.pid, &place.at, s->live, &line);
		known = symbols_get_function_key(s->symbols, place.pid, &place.at, s->live,
						 &function);
		if (!known)
			function =
				symbols_address_is_public(&place.at, s->live) ? place.at.offset : 0;
	}
	if (lines)
		ret_id[n++] = line;
	ret_id[n++] = !known;
	/* Locations of one line without a function name form one row, so they have the same id. */
	ret_id[n++] = line && !known ? 0 : function;
	return n;
}

static u64 get_instruction_id(const struct query_result *r, const struct cell_row *row)
{
	struct cell_location place;

	if (r->source.raw && is_kernel_code(row))
		return row->offset;
	if (!profile_locate_cell(r->source.profile, row, r->source.live, &place))
		return r->source.live ? 0 : row->offset;
	return symbols_address_is_public(&place.at, r->source.live) ? place.at.offset : 0;
}

/* Return the NUMA node of the CPU of a program, plus 1; 0 if it is unknown. */
static u32 get_node_plus_one(const struct query_result *r, u32 program)
{
	u32 cpu = query_get_cpu_plus_one(&r->cells.tables, program);

	return cpu && cpu <= r->source.cpus && r->source.cpu_node ? r->source.cpu_node[cpu - 1] : 0;
}

static void cell_set_ids(const struct query_result *r, const struct query_cell *cell,
			 struct cell_with_ids *ret_named)
{
	const struct cell_row *row = &cell->row;
	const struct query *q = &r->query;
	bool binary = query_has_binary(q);
	u64 *id = ret_named->id;
	u32 n = 0;

	ret_named->cell = *cell;
	if (query_groups_by(q, QUERY_CONTAINER))
		id[n++] = get_container_id(r, cell);
	if (query_groups_by(q, QUERY_PROGRAM))
		id[n++] = program_id(r, row);
	if (query_groups_by(q, QUERY_COMM))
		id[n++] = query_get_rank(&r->names.comm, row->program);
	if (query_groups_by(q, QUERY_PID))
		id[n++] = get_pid_id(r, row);
	if (query_groups_by(q, QUERY_CPU))
		id[n++] = query_get_cpu_plus_one(&r->cells.tables, row->program);
	if (query_groups_by(q, QUERY_NODE))
		id[n++] = get_node_plus_one(r, row->program);
	if (binary || query_groups_by(q, QUERY_MODE))
		id[n++] = row->evicted;
	if (binary)
		id[n++] = get_binary_id(&r->names.path, row);
	if (query_groups_by(q, QUERY_BUILD_ID))
		id[n++] = get_binary_id(&r->names.build_id, row);
	if (query_groups_by(q, QUERY_MODE))
		id[n++] = is_kernel_code(row);
	if (query_groups_by(q, QUERY_FUNCTION) || query_groups_by(q, QUERY_LINE))
		n += set_code_ids(r, row, id + n);
	if (query_groups_by(q, QUERY_INSTRUCTION))
		id[n++] = get_instruction_id(r, row);
}

/* Return the number of ids that cell_set_ids() sets before it calls set_code_ids(). */
static u32 count_ids_before_code(const struct query *q)
{
	bool binary = query_has_binary(q);

	return query_groups_by(q, QUERY_CONTAINER) + query_groups_by(q, QUERY_PROGRAM) +
	       query_groups_by(q, QUERY_COMM) + query_groups_by(q, QUERY_PID) +
	       query_groups_by(q, QUERY_CPU) + query_groups_by(q, QUERY_NODE) +
	       (binary || query_groups_by(q, QUERY_MODE)) + binary +
	       query_groups_by(q, QUERY_BUILD_ID) + query_groups_by(q, QUERY_MODE);
}

/* Return the number of ids that set_code_ids() sets. */
static u32 count_ids_of_code(const struct query *q)
{
	bool line = query_groups_by(q, QUERY_LINE);

	return line + 2 * (line || query_groups_by(q, QUERY_FUNCTION));
}

/* Return the number of ids that cell_set_ids() and cells_set_data_ids() set. */
static u32 count_ids(const struct query *q)
{
	return count_ids_before_code(q) + count_ids_of_code(q) +
	       query_groups_by(q, QUERY_INSTRUCTION) + query_groups_by(q, QUERY_TYPE) +
	       query_groups_by(q, QUERY_FIELD);
}

/*
 * Set the ids of all cells with samples. Return their number, at most query_cells_get_max_count().
 */
static u32 cells_set_ids(struct query_result *r)
{
	struct query_cursor cursor = { 0 };
	struct query_cell cell;
	u32 count = 0;

	while (query_cells_next(&r->cells, &cursor, &cell))
		cell_set_ids(r, &cell, get_cell_at(r, count++));
	return count;
}

/* Remove the cells that are not selected. */
static void remove_unselected_cells(struct query_result *r)
{
	u32 kept = 0;

	for (u32 i = 0; i < r->named_count; i++)
		if (selects_cell(r, &get_cell_at(r, i)->cell))
			memmove(get_cell_at(r, kept++), get_cell_at(r, i), get_cell_size(r));
	r->named_count = kept;
}

static int compare_cell_ids(const void *a, const void *b, void *ctx)
{
	const struct cell_with_ids *x = a, *y = b;
	const struct query_result *r = ctx;

	for (u32 i = 0; i < r->ids; i++)
		if (x->id[i] != y->id[i])
			return x->id[i] < y->id[i] ? -1 : 1;
	return 0;
}

static u64 hash_cell(const struct query_result *r, const struct cell_with_ids *cell)
{
	u64 hash = 0;

	for (u32 i = 0; i < r->ids; i++)
		hash = hash_mix_bits(hash ^ cell->id[i]) + i;
	return hash;
}

/**
 * struct cell_clusters - the cells of each row form a cluster
 * @index: hash table: number of the first cell of a cluster, plus 1; 0: the slot is free
 * @cluster: number of the cluster, indexed by cell
 * @size: number of cells, indexed by cluster; later the position of the next cell of the cluster
 * @count: number of clusters
 */
struct cell_clusters {
	u32 *index;
	u32 *cluster;
	u32 *size;
	u32 count;
};

static void find_clusters(struct query_result *r, struct cell_clusters *c, size_t slots)
{
	for (u32 i = 0; i < r->named_count; i++) {
		size_t at = hash_cell(r, get_cell_at(r, i)) & (slots - 1);

		while (c->index[at] &&
		       compare_cell_ids(get_cell_at(r, c->index[at] - 1), get_cell_at(r, i), r))
			at = (at + 1) & (slots - 1);
		if (!c->index[at]) {
			c->index[at] = i + 1;
			c->cluster[i] = c->count++;
		} else {
			c->cluster[i] = c->cluster[c->index[at] - 1];
		}
		c->size[c->cluster[i]]++;
	}
}

/* Move the cells of each row next to each other, which is faster than sorting all cells. */
static int move_row_cells_together(struct query_result *r)
{
	u32 n = r->named_count, position = 0;
	struct cell_clusters c = { 0 };
	struct cell_with_ids *moved;
	size_t slots = 16;

	while (slots < 2 * (size_t)n)
		slots *= 2;
	c.index = calloc(slots, sizeof(*c.index));
	c.cluster = calloc((size_t)n + 1, sizeof(*c.cluster));
	c.size = calloc((size_t)n + 1, sizeof(*c.size));
	moved = calloc((size_t)n + 1, get_cell_size(r));
	if (c.index && c.cluster && c.size && moved) {
		find_clusters(r, &c, slots);
		for (u32 i = 0; i < c.count; i++) {
			u32 size = c.size[i];

			c.size[i] = position;
			position += size;
		}
		for (u32 i = 0; i < n; i++)
			memcpy((char *)moved + c.size[c.cluster[i]]++ * get_cell_size(r),
			       get_cell_at(r, i), get_cell_size(r));
		free(r->named);
		r->named = moved;
		moved = NULL;
		position = 0;
	} else {
		position = 1;
	}
	free(moved);
	free(c.index);
	free(c.cluster);
	free(c.size);
	return position ? -ENOMEM : 0;
}

/* ---- Types and fields ---------------------------------------------------- */

/* Get the name of the data that the instruction of a cell accesses; false if it is unknown. */
static bool get_accessed_data_name(const struct query_result *r, const struct cell_row *row,
				   struct data_name *ret_name)
{
	struct program_identity program;
	struct cell_row code = *row;
	struct cell_location place;

	if (row->evicted ||
	    !program_table_find_by_id(r->cells.tables.programs, row->program, &program) ||
	    !program.code_binary)
		return false;
	code.binary = program.code_binary;
	code.offset = program.code_offset;
	return profile_locate_cell(r->source.profile, &code, r->source.live, &place) &&
	       symbols_get_accessed_data(r->source.symbols, &place.at, ret_name);
}

/*
 * Get the name of the data of a cell. Data with a fixed address is named by its address, because
 * the declared type of a pointer may be that of a part of the data. Other data is named by the
 * instruction.
 */
static void get_data_name(const struct query_result *r, const struct cell_row *row,
			  struct data_name *ret_name)
{
	static const char *const reasons[] = {
		[CELL_DATA_NONE] = "[no data address]",
		[CELL_DATA_KERNEL] = "[kernel]",
		[CELL_DATA_OTHER] = "[other memory]",
	};
	struct cell_location place;
	const char *reason = "[evicted]";
	struct data_name accessed;
	bool known = get_accessed_data_name(r, row, &accessed);

	if (profile_locate_cell(r->source.profile, row, r->source.live, &place)) {
		if (!symbols_get_data(r->source.symbols, &place.at, ret_name))
			known = known && accessed.type[0] != '[';
		else if (strcmp(ret_name->type, reasons[CELL_DATA_OTHER]) != 0)
			known = false;
	} else {
		if (!row->evicted)
			reason = reasons[row->offset < ARRAY_SIZE(reasons) ? row->offset :
									     CELL_DATA_OTHER];
		known = known && reason != reasons[CELL_DATA_KERNEL];
		snprintf(ret_name->type, sizeof(ret_name->type), "%s", reason);
		snprintf(ret_name->field, sizeof(ret_name->field), "%s", reason);
	}
	if (known)
		*ret_name = accessed;
}

/** struct ranked_text - a text in a tree, and its position in alphabetical order */
struct ranked_text {
	u64 rank;
	char text[];
};

static int compare_texts(const void *a, const void *b)
{
	const struct ranked_text *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Find a text in a tree, or add it. Return NULL if memory cannot be allocated. */
static struct ranked_text *text_find_or_add(void **root, const char *text)
{
	size_t size = strlen(text) + 1;
	struct ranked_text *added = malloc(sizeof(*added) + size), **found;

	if (!added)
		return NULL;
	memcpy(added->text, text, size);
	found = tsearch(added, root, compare_texts);
	if (!found || *found != added)
		free(added);
	return found ? *found : NULL;
}

static void set_text_rank(const void *node, VISIT visit, void *rank)
{
	struct ranked_text *const *text = node;

	if (visit == postorder || visit == leaf)
		(*text)->rank = ++*(u64 *)rank;
}

/* Set the last ids of all cells: the ranks of their types and fields. */
static int cells_set_data_ids(struct query_result *r)
{
	bool type = query_groups_by(&r->query, QUERY_TYPE);
	bool field = query_groups_by(&r->query, QUERY_FIELD);
	u32 first = r->ids - type - field;
	struct data_name name;
	void *root = NULL;
	u64 rank = 0;
	int status = 0;

	for (u32 i = 0; i < r->named_count && !status; i++) {
		struct cell_with_ids *cell = get_cell_at(r, i);

		get_data_name(r, &cell->cell.row, &name);
		if (type)
			cell->id[first] = (uintptr_t)text_find_or_add(&root, name.type);
		if (field)
			cell->id[first + type] = (uintptr_t)text_find_or_add(&root, name.field);
		if (!cell->id[first] || !cell->id[first + type + field - 1])
			status = -ENOMEM;
	}
	twalk_r(root, set_text_rank, &rank);
	for (u32 i = 0; i < r->named_count && !status; i++)
		for (u32 id = first; id < r->ids; id++)
			get_cell_at(r, i)->id[id] =
				((struct ranked_text *)(uintptr_t)get_cell_at(r, i)->id[id])->rank;
	tdestroy(root, free);
	return status;
}

/* Request the names of all data. */
static void request_data_names(const struct query_result *r)
{
	struct data_name name;

	for (u32 i = 0; i < r->named_count; i++)
		get_data_name(r, &get_cell_at(r, i)->cell.row, &name);
}

static int cells_load(struct query_result *r)
{
	size_t count = query_cells_get_max_count(&r->cells);

	r->named = calloc(count ? count : 1, get_cell_size(r));
	if (!r->named)
		return -ENOMEM;
	if (r->source.live)
		profile_update_pids(r->source.profile);
	r->named_count = cells_set_ids(r);
	if (r->query.select.function) {
		char name[128];
		bool named;

		for (u32 i = 0; i < r->named_count; i++)
			write_function_name(r, &get_cell_at(r, i)->cell.row, name, sizeof(name),
					    &named);
	}
	if (query_has_data(&r->query))
		request_data_names(r);
	/*
	 * If names were resolved during the wait, set all ids again, because some ids have changed.
	 */
	if (r->source.symbols && symbols_wait_configured(r->source.symbols))
		for (u32 i = 0; i < r->named_count; i++)
			cell_set_ids(r, &get_cell_at(r, i)->cell, get_cell_at(r, i));
	if (!selects_all(&r->query.select) || r->source.admits)
		remove_unselected_cells(r);
	if (query_has_data(&r->query) && cells_set_data_ids(r) < 0)
		return -ENOMEM;
	return move_row_cells_together(r);
}

/* ---- Counters of parts --------------------------------------------------- */

static u32 encode_part(u32 op, u32 level, u32 event)
{
	return (op * PART_LEVELS + level) * PART_EVENTS + event;
}

static u32 get_part_op(u32 part)
{
	return part / PART_EVENTS / PART_LEVELS;
}

static u32 get_part_level(u32 part)
{
	return part / PART_EVENTS % PART_LEVELS;
}

static u32 get_part_event(u32 part)
{
	return part % PART_EVENTS;
}

/** struct part_sums - argument of the callbacks that add up pairs */
struct part_sums {
	const struct query_result *result;
	u32 part;
	u64 samples;
	u64 *each; /* samples, indexed by part; NULL: count only @part */
	struct profile_counters *to;
};

/*
 * Return the number of the part with the kind and the level of @class, and with @event. A key that
 * the query does not group by counts as 0.
 */
static u32 class_encode_part(const struct query_result *r, const struct sample_class *class,
			     u32 event)
{
	u32 kind = class ? class->flags & SAMPLE_CLASS_KIND : SPE_KIND_NONE;
	bool memory = kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE;
	u32 level = memory ? class->origin.level : PART_NO_LEVEL;

	return encode_part(query_groups_by(&r->query, QUERY_OP) ? kind : 0,
			   query_groups_by(&r->query, QUERY_LEVEL) ? level : 0, event);
}

static bool class_has_event(const struct sample_class *class, u32 event)
{
	u64 events = class ? class->events & ((1ULL << SAMPLE_EVENTS) - 1) : 0;

	return event == PART_NO_EVENT ? !events : events >> event & 1;
}

static const struct sample_class *get_pair_class(const struct query_result *r,
						 const struct cell_pair *pair)
{
	return sample_class_get_by_id(r->cells.tables.sample_class, pair->sample_class);
}

static void count_pair_by_part(void *ctx, const struct cell_pair *pair)
{
	struct part_sums *sums = ctx;
	const struct query_result *r = sums->result;
	const struct sample_class *class = get_pair_class(r, pair);

	if (!query_groups_by(&r->query, QUERY_EVENT)) {
		sums->each[class_encode_part(r, class, 0)] += pair->count;
		return;
	}
	for (u32 event = 0; event < PART_EVENTS; event++)
		if (class_has_event(class, event))
			sums->each[class_encode_part(r, class, event)] += pair->count;
}

static void sum_pair_of_part(void *ctx, const struct cell_pair *pair)
{
	struct part_sums *sums = ctx;
	const struct query_result *r = sums->result;
	const struct sample_class *class = get_pair_class(r, pair);
	struct histogram *h = &sums->to->latency[PROFILE_TOTAL];
	u32 event = get_part_event(sums->part);
	u64 counts[SAMPLE_COUNTS];
	u8 ones[SAMPLE_COUNTS];

	if (class_encode_part(r, class, event) != sums->part ||
	    (query_groups_by(&r->query, QUERY_EVENT) && !class_has_event(class, event)))
		return;
	sums->samples += pair->count;
	h->bucket[pair->bucket] += pair->count;
	h->sum += pair->latency_sum;
	if (pair->bucket != HISTOGRAM_NONE && histogram_get_upper_bound(pair->bucket) > h->max)
		h->max = histogram_get_upper_bound(pair->bucket);
	if (!class)
		return;
	memcpy(ones, class->ones, sizeof(ones));
	memcpy(counts, &sums->to->counts, sizeof(counts));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		counts[i] += ones[i] * pair->count;
	memcpy(&sums->to->counts, counts, sizeof(counts));
}

/*
 * The weight is known only for all samples of a cell together. Divide it among the parts in
 * proportion to their samples. The result is exact if all samples have the same interval.
 */
static void part_add_weight(const struct query_result *r, const struct query_cell *cell,
			    u64 samples, struct profile_counters *to)
{
	u64 all = query_cell_get_samples(&r->cells, cell);
	struct profile_counters whole = { 0 };

	if (!samples)
		return;
	if (r->cells.unit < UNITS)
		whole.weight[r->cells.unit] = query_cell_get_weight(&r->cells, cell);
	else
		query_cell_add_counters(&r->cells, cell, &whole);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] +=
			(u64)((double)whole.weight[i] * (double)samples / (double)all + 0.5);
}

/* Call @fn for the pairs of a cell. The cells of a period have no pairs. */
static void for_each_pair(const struct query_result *r, const struct query_cell *cell,
			  void (*fn)(void *ctx, const struct cell_pair *pair), void *ctx)
{
	cell_row_each_pair(r->cells.tables.table, &cell->row, fn, ctx);
}

static void add_cell_part(const struct query_result *r, const struct query_cell *cell, u32 part,
			  struct profile_counters *to)
{
	struct part_sums sums = { .result = r, .part = part, .to = to };

	if (!r->has_parts) {
		query_cell_add_counters(&r->cells, cell, to);
		return;
	}
	for_each_pair(r, cell, sum_pair_of_part, &sums);
	to->samples += sums.samples;
	part_add_weight(r, cell, sums.samples, to);
}

static void sum_group_counters(const struct query_result *r, const struct query_group *g,
			       struct profile_counters *ret_counters)
{
	struct profile_counters sum = { 0 };

	for (u32 i = 0; i < g->count; i++)
		add_cell_part(r, &get_cell_at(r, g->first + i)->cell, g->part, &sum);
	counters_sum_histograms(&sum);
	*ret_counters = sum;
}

/* Compute a measure that does not need all counters of a cell. Return false for other measures. */
static bool get_cell_simple_value(const struct query_result *r, const struct query_cell *cell,
				  enum measure measure, u64 *ret_value)
{
	if (measure == MEASURE_OPERATIONS && r->cells.unit < UNITS)
		*ret_value = query_cell_get_weight(&r->cells, cell);
	else if (measure == MEASURE_OPERATIONS || measure == MEASURE_SAMPLES)
		*ret_value = query_cell_get_samples(&r->cells, cell);
	else if (measure == MEASURE_LATENCY)
		*ret_value = query_cell_get_latency(&r->cells, cell);
	else
		return false;
	return true;
}

/* Return the value of @measure for a cell. @measure is a sum (measure_is_sum()). */
static u64 compute_cell_value(const struct query_result *r, const struct query_cell *cell,
			      enum measure measure)
{
	struct profile_counters counters = { 0 };
	u64 value;

	if (get_cell_simple_value(r, cell, measure, &value))
		return value;
	query_cell_add_counters(&r->cells, cell, &counters);
	return (u64)measure_compute(measure, &counters, r->cells.unit);
}

/* ---- Rows ---------------------------------------------------------------- */

static u64 sum_weights(const u64 *weight)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		sum += weight[i];
	return sum;
}

static void compute_group_value(const struct query_result *r, struct query_group *g)
{
	enum measure sort = r->query.sort;
	bool by_weight = sort == MEASURE_OPERATIONS && r->cells.unit < UNITS,
	     simple = !r->has_parts;
	struct profile_counters counters;
	u64 value = 0, sum = 0;

	g->weight = 0;
	for (u32 i = 0; i < g->count && simple; i++) {
		const struct query_cell *cell = &get_cell_at(r, g->first + i)->cell;

		g->weight += query_cell_get_weight(&r->cells, cell);
		simple = by_weight || get_cell_simple_value(r, cell, sort, &value);
		sum += simple ? value : 0;
	}
	if (simple) {
		g->value = (double)(by_weight ? g->weight : sum);
		return;
	}
	sum_group_counters(r, g, &counters);
	g->value = measure_compute(sort, &counters, r->cells.unit);
	g->weight = sum_weights(counters.weight);
}

static u64 sum_group_samples(const struct query_result *r, const struct query_group *g)
{
	struct profile_counters counters;
	u64 samples = 0;

	if (r->has_parts) {
		sum_group_counters(r, g, &counters);
		return counters.samples;
	}
	for (u32 i = 0; i < g->count; i++)
		samples += query_cell_get_samples(&r->cells, &get_cell_at(r, g->first + i)->cell);
	return samples;
}

static int group_append(struct query_result *r, u32 first, u32 count, u32 part)
{
	struct query_group *grown = array_reserve(r->group, &r->group_capacity, r->groups + 1,
						  sizeof(*r->group), UINT32_MAX);

	if (!grown)
		return -ENOMEM;
	r->group = grown;
	r->group[r->groups] = (struct query_group){ .first = first, .count = count, .part = part };
	compute_group_value(r, &r->group[r->groups++]);
	return 0;
}

/* Append a row for each part that has samples. */
static int group_append_parts(struct query_result *r, u32 first, u32 count, u64 *each)
{
	struct part_sums sums = { .result = r, .each = each };
	int status = 0;

	memset(each, 0, PARTS * sizeof(*each));
	for (u32 i = first; i < first + count; i++)
		for_each_pair(r, &get_cell_at(r, i)->cell, count_pair_by_part, &sums);
	for (u32 part = 0; part < PARTS && !status; part++)
		if (each[part])
			status = group_append(r, first, count, part);
	return status;
}

/*
 * In the first cell of a row, replace the ids of the function and the line with the lowest offset
 * of the row. The replaced ids depend on the order in which names were resolved, which depends on
 * the number of threads.
 */
static void replace_code_ids_by_offset(struct query_result *r, const struct query_group *g)
{
	u32 count = count_ids_of_code(&r->query);
	u64 *id = get_cell_at(r, g->first)->id + count_ids_before_code(&r->query);
	u64 lowest = UINT64_MAX;

	if (!count)
		return;
	for (u32 i = 0; i < g->count; i++) {
		u64 offset = get_cell_at(r, g->first + i)->cell.row.offset;

		lowest = offset < lowest ? offset : lowest;
	}
	memset(id, 0, count * sizeof(*id));
	id[count - 1] = lowest;
}

/*
 * Compare by the ids of the keys, in the order in which cell_set_ids() writes them, then by the
 * part.
 */
static int compare_keys(const void *a, const void *b, void *ctx)
{
	const struct query_group *x = a, *y = b;
	struct query_result *r = ctx;
	int order = compare_cell_ids(get_cell_at(r, x->first), get_cell_at(r, y->first), r);

	return order ? order : (x->part > y->part) - (x->part < y->part);
}

/* Compare by the sort measure, then by &query_group.weight, then by the keys. */
static int compare_groups(const void *a, const void *b, void *ctx)
{
	const struct query_group *x = a, *y = b;

	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return compare_keys(a, b, ctx);
}

static int create_groups(struct query_result *r)
{
	u64 *each = r->has_parts ? calloc(PARTS, sizeof(*each)) : NULL;
	int status = r->has_parts && !each ? -ENOMEM : 0;

	for (u32 i, first = 0; first < r->named_count && !status; first = i) {
		for (i = first + 1; i < r->named_count; i++)
			if (compare_cell_ids(get_cell_at(r, first), get_cell_at(r, i), r))
				break;
		status = r->has_parts ? group_append_parts(r, first, i - first, each) :
					group_append(r, first, i - first, 0);
	}
	free(each);
	for (u32 i = 0; i < r->groups && !status; i++)
		replace_code_ids_by_offset(r, &r->group[i]);
	if (!status && r->groups)
		qsort_r(r->group, r->groups, sizeof(*r->group), compare_groups, r);
	return status;
}

/* Return the numerator of the share of a row. */
static u64 get_share_numerator(const struct query_result *r, const struct query_group *g)
{
	if (measure_is_sum(r->query.sort))
		return (u64)g->value;
	return r->cells.unit < UNITS ? g->weight : sum_group_samples(r, g);
}

static void sum_admitted_samples(struct query_result *r)
{
	struct query_cursor cursor = { 0 };
	struct query_cell cell;

	while (query_cells_next(&r->cells, &cursor, &cell))
		if (caller_may_see(r, &cell))
			query_cell_add_counters(&r->cells, &cell, &r->own);
	counters_sum_histograms(&r->own);
}

/*
 * Compute the denominator of shares. The denominator includes samples that the query does not
 * select, if the caller may see them.
 */
static void compute_share_denominator(struct query_result *r)
{
	enum measure measure = share_measure(r);
	struct query_cursor cursor = { 0 };
	struct query_cell cell;
	struct profile_counters total;

	r->samples = query_cells_get_sample_count(&r->source, &r->cells);
	if (r->source.admits) {
		sum_admitted_samples(r);
		r->samples = r->own.samples;
		r->share_total = (u64)measure_compute(measure, &r->own, r->cells.unit);
		return;
	}
	if (r->cells.slot) {
		query_cells_get_total(&r->cells, &total);
		r->share_total = (u64)measure_compute(measure, &total, r->cells.unit);
		return;
	}
	if (!r->has_parts && selects_all(&r->query.select)) {
		for (u32 i = 0; i < r->groups; i++)
			r->share_total += get_share_numerator(r, &r->group[i]);
		return;
	}
	while (query_cells_next(&r->cells, &cursor, &cell))
		r->share_total += compute_cell_value(r, &cell, measure);
}

static const struct query_cell *find_heaviest_cell(const struct query_result *r,
						   const struct query_group *g)
{
	const struct query_cell *heaviest = NULL;
	u64 most = 0;

	for (u32 i = 0; i < g->count; i++) {
		const struct query_cell *cell = &get_cell_at(r, g->first + i)->cell;
		u64 weight = compute_cell_value(r, cell, MEASURE_OPERATIONS);

		if (heaviest &&
		    (weight < most || (weight == most && cell->row.offset >= heaviest->row.offset)))
			continue;
		heaviest = cell;
		most = weight;
	}
	return heaviest;
}

static void row_set_container_and_program(const struct query_result *r,
					  const struct query_cell *cell, struct query_row *row)
{
	const char *container = get_cell_container_name(r, cell);
	u32 program = cell->row.program;

	if (query_program_is_unattributed(&r->cells.tables, program) && !cell->container &&
	    !query_groups_by(&r->query, QUERY_PROGRAM))
		container = "[unattributed]";
	snprintf(row->container, sizeof(row->container), "%s", container);
	escape_string(row->program, sizeof(row->program),
		      query_base_name(query_get_executable(&r->cells.tables, program)));
}

static void row_set_task(const struct query_result *r, u32 program, struct query_row *row)
{
	const struct attribute_process *process = query_get_process(&r->cells.tables, program);
	u32 cpu = query_get_cpu_plus_one(&r->cells.tables, program);
	u32 node = get_node_plus_one(r, program);

	snprintf(row->comm, sizeof(row->comm), "%s", process ? process->comm : "[unattributed]");
	row->pid = process ? process->pid : 0;
	row->cpu_known = cpu != 0;
	row->cpu = cpu ? cpu - 1 : 0;
	row->node_known = node != 0;
	row->node = node ? node - 1 : 0;
}

static void row_set_line(const struct query_result *r, const struct cell_location *place,
			 struct query_row *row)
{
	struct source_line line;

	if (!symbols_get_source_line(r->source.symbols, place->pid, &place->at, r->source.live,
				     &line))
		return;
	snprintf(row->file, sizeof(row->file), "%s", line.file);
	snprintf(row->inlines, sizeof(row->inlines), "%s", line.inlines);
	row->line = line.line;
}

static void row_set_code(const struct query_result *r, const struct cell_row *cell,
			 struct query_row *row)
{
	struct cell_location place;

	row->kernel = is_kernel_code(cell);
	row->evicted = cell->evicted;
	if (!profile_locate_cell(r->source.profile, cell, r->source.live, &place)) {
		snprintf(row->binary, sizeof(row->binary), "%s",
			 cell->evicted ? "[evicted]" : "[unmapped]");
		row->instruction = r->source.live ? 0 : cell->offset;
	} else {
		escape_string(row->binary, sizeof(row->binary), place.at.binary);
		write_build_id(&place.at, row->build_id, sizeof(row->build_id));
		if (symbols_address_is_public(&place.at, r->source.live))
			row->instruction = place.at.offset;
		if (query_groups_by(&r->query, QUERY_LINE) && r->source.symbols)
			row_set_line(r, &place, row);
	}
	if (r->source.raw && row->kernel)
		row->instruction = cell->offset;
	if (query_groups_by(&r->query, QUERY_FUNCTION) || query_groups_by(&r->query, QUERY_LINE))
		write_function_name(r, cell, row->function, sizeof(row->function), &row->named);
}

static void row_set_data(const struct query_result *r, const struct cell_row *cell,
			 struct query_row *row)
{
	struct data_name name;

	get_data_name(r, cell, &name);
	memcpy(row->type, name.type, sizeof(row->type));
	memcpy(row->field, name.field, sizeof(row->field));
}

static void row_set_part(u32 part, struct query_row *row)
{
	row->op = (u8)get_part_op(part);
	row->level = get_part_level(part) == PART_NO_LEVEL ? QUERY_NONE : (u8)get_part_level(part);
	row->event = get_part_event(part) == PART_NO_EVENT ? QUERY_NONE : (u8)get_part_event(part);
}

const struct profile_counters *query_result_get_admitted(const struct query_result *r)
{
	return r->source.admits ? &r->own : NULL;
}

u32 query_result_get_row_count(const struct query_result *r)
{
	return r->query.limit && r->query.limit < r->groups ? r->query.limit : r->groups;
}

void query_result_get_row(const struct query_result *r, u32 index, struct query_row *ret_row)
{
	const struct query_group *g = &r->group[index];
	const struct query_cell *cell = find_heaviest_cell(r, g);

	memset(ret_row, 0, sizeof(*ret_row));
	ret_row->part = get_share_numerator(r, g);
	ret_row->whole = r->share_total;
	ret_row->value = g->value;
	row_set_container_and_program(r, cell, ret_row);
	row_set_task(r, cell->row.program, ret_row);
	row_set_code(r, &cell->row, ret_row);
	row_set_part(g->part, ret_row);
	if (query_has_data(&r->query))
		row_set_data(r, &cell->row, ret_row);
	for (u32 i = 0; i < g->count; i++)
		ret_row->brief |= get_cell_at(r, g->first + i)->cell.sums != NULL;
	sum_group_counters(r, g, &ret_row->counters);
}

void query_result_get_source_line(const struct query_result *r, u32 index,
				  struct source_line *ret_line)
{
	const struct cell_row *cell = &find_heaviest_cell(r, &r->group[index])->row;
	const struct query_source *s = &r->source;
	struct cell_location place;

	*ret_line = (struct source_line){ 0 };
	if (!s->symbols || !profile_locate_cell(s->profile, cell, s->live, &place))
		return;
	if (!symbols_get_source_line(s->symbols, place.pid, &place.at, s->live, ret_line) &&
	    symbols_wait_configured(s->symbols))
		symbols_get_source_line(s->symbols, place.pid, &place.at, s->live, ret_line);
}

void query_result_add_levels(const struct query_result *r, u32 index,
			     struct cell_level to[static SPE_LEVELS])
{
	const struct query_group *g = &r->group[index];

	for (u32 i = 0; i < g->count; i++)
		cell_row_add_levels(r->cells.tables.table, &get_cell_at(r, g->first + i)->cell.row,
				    to);
}

void query_result_order_by_keys(struct query_result *r)
{
	if (r->groups)
		qsort_r(r->group, query_result_get_row_count(r), sizeof(*r->group), compare_keys,
			r);
}

void query_result_get_rest(const struct query_result *r, u64 shown_samples,
			   struct query_rest *ret_rest)
{
	struct query_rest rest = {
		.whole = r->share_total,
		.part = r->share_total,
		.samples = r->samples > shown_samples ? r->samples - shown_samples : 0,
		.rows = r->groups - query_result_get_row_count(r),
		.overlaps = query_groups_by(&r->query, QUERY_EVENT),
	};

	for (u32 i = 0; i < query_result_get_row_count(r); i++) {
		u64 part = get_share_numerator(r, &r->group[i]);

		/* The weights of parts are rounded, so their sum may exceed the whole. */
		rest.part -= part < rest.part ? part : rest.part;
	}
	if (rest.overlaps)
		rest.part = rest.samples = 0;
	*ret_rest = rest;
}

const char *query_row_event_name(const struct query_row *row)
{
	return row->event == QUERY_NONE ? "-" : spe_event_name(row->event) ?: "unnamed";
}

const char *query_row_level_name(const struct query_row *row)
{
	return row->level == QUERY_NONE ? "-" : spe_level_name(row->level);
}

/* ---- Errors -------------------------------------------------------------- */

/* Maximum number of names that an error message suggests. */
#define ERROR_NAMES_MAX 8

/* Append the names of the heaviest rows of a key to an error. */
static void error_add_names(const struct query_result *r, enum query_key key,
			    struct query_error *error)
{
	const struct query query = {
		.period = r->query.period, .group = { key }, .groups = 1, .limit = ERROR_NAMES_MAX
	};
	size_t length = strlen(error->text);
	struct query_result *all = NULL;
	struct query_row *row = malloc(sizeof(*row));

	if (!row || query_run(&r->source, &query, &all, NULL) < 0) {
		free(row);
		return;
	}
	for (u32 i = 0; i < query_result_get_row_count(all) && length < sizeof(error->text); i++) {
		query_result_get_row(all, i, row);
		length += (size_t)snprintf(
			error->text + length, sizeof(error->text) - length, "%s%s", i ? ", " : "",
			key == QUERY_CONTAINER ? row->container :
			key == QUERY_PROGRAM   ? row->program :
			key == QUERY_BINARY    ? row->binary :
			key == QUERY_BUILD_ID  ? (*row->build_id ? row->build_id : "-") :
						 row->function);
	}
	if (all->groups > ERROR_NAMES_MAX && length < sizeof(error->text))
		snprintf(error->text + length, sizeof(error->text) - length, " and %u more",
			 all->groups - ERROR_NAMES_MAX);
	query_result_free(all);
	free(row);
}

/*
 * Find the first option that matches no sample even without the other options. Write to @ret_error
 * which names exist for this option.
 */
static void explain_no_match(const struct query_result *r, struct query_error *ret_error)
{
	const struct query_select *select = &r->query.select;
	const struct {
		const char *what;
		const char *glob;
		enum query_key key;
		struct query_select select;
	} options[] = {
		{ "container",
		  select->container,
		  QUERY_CONTAINER,
		  { .container = select->container } },
		{ "program", select->program, QUERY_PROGRAM, { .program = select->program } },
		{ "binary",
		  select->binary,
		  select->binary && query_get_build_id_glob(select->binary) ? QUERY_BUILD_ID :
									      QUERY_BINARY,
		  { .binary = select->binary } },
		{ "function", select->function, QUERY_FUNCTION, { .function = select->function } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct query query = { .period = r->query.period,
				       .group = { options[i].key },
				       .groups = 1,
				       .select = options[i].select,
				       .limit = 1 };
		struct query_result *found = NULL;
		int status;

		if (!options[i].glob)
			continue;
		status = query_run(&r->source, &query, &found, NULL);
		query_result_free(found);
		if (status != -ENOENT)
			continue;
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "no samples of %s \"%s\"; there are: ", options[i].what, options[i].glob);
		error_add_names(r, options[i].key, ret_error);
		return;
	}
	snprintf(ret_error->text, sizeof(ret_error->text),
		 "no samples match all of the given names, each of which has some");
}

static bool has_any_node(const struct query_source *source)
{
	for (u32 i = 0; source->cpu_node && i < source->cpus; i++)
		if (source->cpu_node[i])
			return true;
	return false;
}

int query_run(const struct query_source *source, const struct query *query,
	      struct query_result **ret_result, struct query_error *ret_error)
{
	struct query_result *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return -ENOMEM;
	if (query_groups_by(query, QUERY_NODE) && !has_any_node(source)) {
		free(r);
		if (ret_error)
			snprintf(ret_error->text, sizeof(ret_error->text),
				 "the recording does not name the NUMA nodes of its CPUs: -G cpu "
				 "has the CPUs, and --pages the nodes of this machine");
		return -ENOENT;
	}
	r->source = *source;
	r->query = *query;
	r->has_parts = query_counts_cell_parts(query);
	r->ids = count_ids(query);
	status = query_cells_init(source, query, &r->cells);
	if (status == 0)
		status = query_names_init(&r->cells, &r->names);
	if (status == 0 && source->admits) {
		r->admitted = calloc(r->names.container.count, sizeof(*r->admitted));
		status = r->admitted ? 0 : -ENOMEM;
	}
	if (status == 0)
		status = cells_load(r);
	if (status == 0)
		status = create_groups(r);
	if (status == 0 && !r->groups && !selects_all(&query->select))
		status = -ENOENT;
	if (status == -ENOENT && ret_error)
		explain_no_match(r, ret_error);
	if (status < 0) {
		query_result_free(r);
		return status;
	}
	compute_share_denominator(r);
	*ret_result = r;
	return 0;
}

struct query_result *query_result_free(struct query_result *result)
{
	if (!result)
		return NULL;
	query_names_deinit(&result->names);
	free(result->named);
	free(result->admitted);
	free(result->group);
	free(result);
	return NULL;
}
