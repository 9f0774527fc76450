// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query-cells.h"
#include "query-names.h"

#include <errno.h>

static int init_period_cells(const struct query_source *source, const struct query *query,
			     struct query_cells *cells)
{
	const struct history_slot *slot =
		profile_get_history_sum(source->profile, query->period, source->now_ns);
	struct view_header header = { 0 };

	if (!slot)
		return -EOPNOTSUPP;
	header.unweighed = slot->ledger.unweighed;
	memcpy(header.weight, slot->machine.weight, sizeof(header.weight));
	cells->slot = slot;
	cells->by_container = !query_has_sums_only(query);
	cells->unit = view_get_share_unit(&header);
	cells->evicted = (struct history_row){
		.owner = cell_owner_make(CELL_NO_PROGRAM, CELL_UNMAPPED),
		.samples = (u32)slot->ledger.evicted,
		.weight = slot->ledger.evicted_weight,
	};
	/* Without a key for the code or the mode, evicted samples are not in a separate row. */
	if (!query_has_binary(query) && !query_groups_by(query, QUERY_MODE))
		cells->evicted.samples = 0;
	return 0;
}

int query_cells_init(const struct query_source *source, const struct query *query,
		     struct query_cells *ret_cells)
{
	struct query_cells cells = { 0 };
	int r = 0;

	profile_get_cells(source->profile, &cells.tables);
	cells.unit = view_get_share_unit(profile_get_header(source->profile));
	if (query->period != VIEW_SPAN_START)
		r = init_period_cells(source, query, &cells);
	if (r == 0)
		*ret_cells = cells;
	return r;
}

size_t query_cells_get_max_count(const struct query_cells *cells)
{
	/* The additional cell is for the samples without a process, or for the evicted samples. */
	return cells->slot ? HISTORY_ROWS + 1 : cell_table_get_max_rows(cells->tables.table);
}

/*
 * Return the row of the samples without a process; NULL if this row is not among the heaviest
 * processes of the period.
 */
static const struct history_row *find_unattributed_row(const struct history_slot *slot)
{
	for (u32 i = 0; i < slot->processes; i++)
		if ((u32)(slot->process[i].owner >> 32) == ATTRIBUTE_NONE)
			return &slot->process[i];
	return NULL;
}

static bool read_container_cell(const struct query_cells *cells, u32 index, struct query_cell *cell)
{
	const struct history_slot *slot = cells->slot;

	cell->row.program = CELL_NO_PROGRAM;
	cell->row.binary = CELL_UNMAPPED;
	if (index < slot->containers) {
		cell->container = &slot->container[index];
		return true;
	}
	cell->sums = index == slot->containers ? find_unattributed_row(slot) : NULL;
	return cell->sums != NULL;
}

static bool read_location_cell(const struct query_cells *cells, u32 index, struct query_cell *cell)
{
	const struct history_slot *slot = cells->slot;

	cell->sums = index < slot->locations ? &slot->place[index] : &cells->evicted;
	cell->row.program = (u32)(cell->sums->owner >> 32);
	cell->row.binary = (u32)cell->sums->owner;
	cell->row.offset = cell->sums->place;
	cell->row.evicted = index == slot->locations;
	return index < slot->locations || (cell->row.evicted && cells->evicted.samples);
}

/* Return whether a cell has samples, and its container has not been replaced in the attributor. */
static bool cell_has_samples_and_container(const struct query_cells *cells,
					   const struct query_cell *cell)
{
	if (cell->container && cell->container->index && !query_cell_get_container(cells, cell))
		return false;
	/* The row of the evicted samples without a program exists even if it has no samples. */
	return (!cells->slot && !cell->row.evicted) || query_cell_get_samples(cells, cell);
}

bool query_cells_next(const struct query_cells *cells, struct query_cursor *cursor,
		      struct query_cell *ret_cell)
{
	struct query_cell cell = { 0 };
	bool found = true;

	while (found) {
		cell = (struct query_cell){ 0 };
		if (!cells->slot)
			found = cell_table_next(cells->tables.table, &cursor->cell, &cell.row);
		else if (cells->by_container)
			found = read_container_cell(cells, cursor->index++, &cell);
		else
			found = read_location_cell(cells, cursor->index++, &cell);
		if (found && cell_has_samples_and_container(cells, &cell))
			break;
	}
	if (found)
		*ret_cell = cell;
	return found;
}

const struct attribute_container *query_cell_get_container(const struct query_cells *cells,
							   const struct query_cell *cell)
{
	const struct attribute_container *c;

	if (!cell->container)
		return query_get_container(&cells->tables, cell->row.program);
	if (!cell->container->index)
		return NULL;
	c = attributor_get_container(cells->tables.attributor, cell->container->index);
	return c && c->generation == cell->container->generation ? c : NULL;
}

u64 query_cell_get_samples(const struct query_cells *cells, const struct query_cell *cell)
{
	if (cell->sums)
		return cell->sums->samples;
	if (cell->container)
		return cell->container->counters.samples;
	return cell_row_count_samples(cells->tables.table, &cell->row);
}

u64 query_cell_get_weight(const struct query_cells *cells, const struct query_cell *cell)
{
	u64 weight = 0;

	if (cell->sums)
		return cell->sums->weight;
	if (!cell->container)
		return cell_row_sum_weight(cells->tables.table, &cell->row);
	for (unsigned int i = 0; i < UNITS; i++)
		weight += cell->container->counters.weight[i];
	return weight;
}

u64 query_cell_get_latency(const struct query_cells *cells, const struct query_cell *cell)
{
	if (cell->sums)
		return cell->sums->latency_sum;
	if (cell->container)
		return cell->container->counters.latency_sum[PROFILE_TOTAL];
	return cell_row_sum_latency(cells->tables.table, &cell->row);
}

static void add_period_sums(const struct query_cells *cells, const struct history_row *sums,
			    struct profile_counters *to)
{
	to->samples += sums->samples;
	if (cells->unit < UNITS)
		to->weight[cells->unit] += sums->weight;
	to->counts.kind[SPE_KIND_LOAD] += sums->memory;
	to->counts.kind[SPE_KIND_BRANCH] += sums->branches;
	to->counts.mispredicted += sums->mispredicted;
	to->counts.level[SPE_LEVEL_DRAM] += sums->dram;
	to->counts.origin[__builtin_ctz(SPE_ORIGIN_REMOTE)] += sums->remote;
	to->latency[PROFILE_TOTAL].sum += sums->latency_sum;
}

void query_cell_add_counters(const struct query_cells *cells, const struct query_cell *cell,
			     struct profile_counters *to)
{
	struct profile_counters all;

	if (cell->sums) {
		add_period_sums(cells, cell->sums, to);
	} else if (cell->container) {
		history_counters_expand(&cell->container->counters, &all);
		counters_merge(to, &all);
	} else {
		cell_row_add_counters(cells->tables.table, &cell->row, to);
	}
}

void query_cells_get_total(const struct query_cells *cells, struct profile_counters *ret_counters)
{
	history_counters_expand(&cells->slot->machine, ret_counters);
}

u64 query_cells_get_sample_count(const struct query_source *source, const struct query_cells *cells)
{
	return cells->slot ? cells->slot->machine.samples :
			     profile_get_header(source->profile)->records;
}
