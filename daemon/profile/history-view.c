// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fills the slots of a profile's history, and creates views of a period. */
#include "profile-internal.h"

#include "minute-log.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Adjust the marks of evicted containers. The samples of such a container moved to "(other)", but
 * do not count as new samples of "(other)".
 */
static void adjust_moved_marks(struct profile *p)
{
	u32 other = attributor_get_other_container(p->attributor);
	u32 generation = attributor_get_container(p->attributor, other)->generation;

	for (u32 i = 0; i < p->container_count; i++) {
		const struct attribute_container *c = attributor_get_container(p->attributor, i);

		history_move_container_mark(&p->history, i, c ? c->generation : 0,
					    c ? p->containers[i] : NULL, other, generation);
	}
}

static void slot_add_containers(struct profile *p, struct history_slot *slot)
{
	adjust_moved_marks(p);
	for (u32 i = 0; i < p->container_count; i++) {
		const struct attribute_container *c = attributor_get_container(p->attributor, i);

		if (c && p->containers[i])
			history_add_container(&p->history, slot, i, c->generation,
					      p->containers[i]);
	}
}

static u32 count_truncate_u32(u64 count)
{
	return (u32)count;
}

/*
 * Return the totals since the start. Counts may be modulo 2^32, because slots have only differences
 * of totals.
 */
static struct history_row history_row_make(const struct profile_counters *f, u64 weight, u64 owner,
					   u64 place)
{
	return (struct history_row){
		.owner = owner,
		.place = place,
		.latency_sum = f->latency[PROFILE_TOTAL].sum,
		.weight = weight,
		.samples = count_truncate_u32(f->samples),
		.memory = count_truncate_u32(counters_get_memory_accesses(f)),
		.dram = count_truncate_u32(counters_get_dram_accesses(f)),
		.remote = count_truncate_u32(counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE)),
		.branches = count_truncate_u32(f->counts.kind[SPE_KIND_BRANCH]),
		.mispredicted = count_truncate_u32(f->counts.mispredicted),
	};
}

/*
 * Return the sum of the weights of all units. If several units are in use, the sum is meaningless,
 * and no view shows it.
 */
static u64 counters_sum_weights(const struct profile_counters *f)
{
	u64 weight = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		weight += f->weight[i];
	return weight;
}

static void slot_add_processes(struct profile *p, struct history_slot *slot)
{
	struct history_row now;
	struct profile_counters sum;

	for (u32 i = 0; i < p->process_count; i++) {
		struct process_tally *entry = &p->processes[i];

		if (!profile_sum_process_counters(p, i, &sum))
			continue;
		now = history_row_make(&sum, counters_sum_weights(&sum),
				       location_owner_make(i, entry->generation), 0);
		history_add_process(&p->history, slot, i, entry->restarted, &now);
		entry->restarted &= p->history.marks_frozen;
	}
	/* The unattributed samples have the last mark, after the marks of all processes. */
	if (!p->unattributed.samples)
		return;
	now = history_row_make(&p->unattributed, counters_sum_weights(&p->unattributed),
			       location_owner_make(ATTRIBUTE_NONE, 0), 0);
	history_add_process(&p->history, slot, p->history.processes - 1, false, &now);
}

/**
 * struct slot_cell_sums - the samples of a slot that are in its cells
 * @samples: number of samples
 * @weight: sum of the intervals of these samples
 */
struct slot_cell_sums {
	u64 samples;
	u64 weight;
};

static void slot_add_cell(struct profile *p, struct history_slot *slot, const struct cell_row *row,
			  struct slot_cell_sums *placed)
{
	u32 index = cell_row_get_number(p->cells.table, row);
	u64 owner = cell_owner_make(row->program, row->binary);
	const struct history_row *mark = &p->history.location_mark[index];
	struct history_row before = { 0 }, now;
	struct profile_counters f = { 0 };

	/* Most cells are unchanged, so their other counters are not read. */
	if (!row->cell->restarted &&
	    history_location_is_unchanged(
		    &p->history, index, owner, row->offset,
		    count_truncate_u32(cell_row_count_samples(p->cells.table, row))))
		return;
	cell_row_add_counters(p->cells.table, row, &f);
	now = history_row_make(&f, counters_sum_weights(&f), owner, row->offset);
	if (!row->cell->restarted && mark->owner == owner && mark->place == row->offset)
		before = *mark;
	placed->samples += now.samples - before.samples;
	placed->weight += now.weight - before.weight;
	history_add_location(&p->history, slot, index, row->cell->restarted, &now,
			     &f.latency[PROFILE_TOTAL]);
	row->cell->restarted &= p->history.marks_frozen;
}

static struct slot_cell_sums slot_add_cells(struct profile *p, struct history_slot *slot)
{
	struct cell_cursor cursor = { 0 };
	struct slot_cell_sums placed = { 0 };
	struct cell_row row;

	while (cell_table_next(p->cells.table, &cursor, &row))
		if (!row.evicted)
			slot_add_cell(p, slot, &row, &placed);
	return placed;
}

/*
 * Count the samples of a slot that are in no cell as evicted. The increase of the total of evicted
 * samples cannot be used: a cell that was evicted during the slot may have had samples from earlier
 * slots.
 */
static void ledger_set_evicted(const struct profile *p, const struct history_slot *slot,
			       const struct slot_cell_sums *placed, struct history_ledger *now)
{
	u64 weight = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		weight += slot->machine.weight[i];
	now->evicted = p->history.ledger_mark.evicted;
	now->evicted_weight = p->history.ledger_mark.evicted_weight;
	if (slot->machine.samples > placed->samples)
		now->evicted += slot->machine.samples - placed->samples;
	if (weight > placed->weight)
		now->evicted_weight += weight - placed->weight;
}

static void slot_set_ledger(struct profile *p, struct history_slot *slot,
			    const struct slot_cell_sums *placed)
{
	const struct view_header *h = &p->header;
	struct history_ledger now = {
		.unattributed = h->unattributed,
		.unattributed_weight = h->unattributed_weight,
		.unweighed = h->unweighed,
		.filtered = h->filtered,
		.enabled_ns = h->enabled_ns,
		.unhandled_ns = h->unhandled_ns,
	};

	memcpy(now.blind_by, h->blind_by, sizeof(now.blind_by));
	ledger_set_evicted(p, slot, placed, &now);
	history_set_ledger(&p->history, slot, &now);
}

/*
 * Set the ledgers of the period in @to. The other ledgers of @to remain totals since the start; no
 * share is computed from them.
 */
static void header_set_ledger(const struct history_ledger *l, struct view_header *to)
{
	to->unattributed = l->unattributed;
	to->unattributed_weight = l->unattributed_weight;
	to->evicted = l->evicted;
	to->evicted_weight = l->evicted_weight;
	to->unweighed = l->unweighed;
	to->filtered = l->filtered;
	to->enabled_ns = l->enabled_ns;
	to->unhandled_ns = l->unhandled_ns;
	to->blind_ns = 0;
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++) {
		to->blind_by[i] = l->blind_by[i];
		to->blind_ns += l->blind_by[i];
	}
}

static struct history_slot *history_fill_slot(struct profile *p, u64 now_ns)
{
	struct history_slot *slot = history_begin_slot(&p->history, now_ns);
	struct slot_cell_sums placed;

	profile_flush(p);
	history_set_machine(&p->history, slot, &p->machine);
	slot_add_containers(p, slot);
	slot_add_processes(p, slot);
	placed = slot_add_cells(p, slot);
	slot_set_ledger(p, slot, &placed);
	return slot;
}

void profile_close_slot(struct profile *p, u64 now_ns)
{
	history_end_slot(&p->history, history_fill_slot(p, now_ns));
}

const struct history_slot *profile_get_open_slot(struct profile *p)
{
	const struct history_slot *slot;

	p->history.marks_frozen = true;
	slot = history_fill_slot(p, p->history.start_ns);
	p->history.marks_frozen = false;
	return slot;
}

void profile_restart_open_slot(struct profile *p)
{
	struct minute_log *minute = p->history.minute;

	p->history.minute = NULL;
	history_fill_slot(p, p->history.start_ns);
	p->history.minute = minute;
}

int profile_enable_minute_log(struct profile *profile)
{
	if (!profile->history.machine_mark)
		return -EOPNOTSUPP;
	if (profile->history.minute)
		return 0;
	return minute_log_new(profile->history.containers, &profile->history.minute);
}

const struct minute_log *profile_get_minute_log(struct profile *profile, u64 now_ns)
{
	if (profile->history.minute && history_slot_has_ended(&profile->history, now_ns))
		profile_close_slot(profile, now_ns);
	return profile->history.minute;
}

const struct minute_log *profile_get_last_minute_log(struct profile *profile, u64 now_ns)
{
	struct recent_history *history = &profile->history;

	if (profile_get_minute_log(profile, now_ns) && history->begun)
		profile_close_slot(profile, history->start_ns + HISTORY_SLOT_NS);
	return history->minute;
}

void profile_clear_minute_log(struct profile *profile)
{
	minute_log_clear(profile->history.minute);
}

const struct history_slot *profile_get_history_sum(struct profile *profile, enum view_span span,
						   u64 now_ns)
{
	if (!profile->history.machine_mark || span == VIEW_SPAN_START)
		return NULL;
	if (history_slot_has_ended(&profile->history, now_ns))
		profile_close_slot(profile, now_ns);
	return history_sum_span(&profile->history, span);
}

void profile_skip_time(struct profile *profile, u64 ns)
{
	if (profile->history.begun)
		profile->history.start_ns += ns;
}

/* Add the counters of @b to @row. @unit: view_get_share_unit(); UNITS if weights are not shown */
static void row_add_history(struct view_row *row, const struct history_row *b, unsigned int unit)
{
	if (unit < UNITS)
		row->weight[unit] += b->weight;
	row->samples += b->samples;
	row->memory += b->memory;
	row->dram += b->dram;
	row->remote += b->remote;
	row->branches += b->branches;
	row->mispredicted += b->mispredicted;
	row->latency_sum += b->latency_sum;
}

/* Return whether the process of the row is still in the attributor. */
static bool history_row_is_current(const struct profile *p, const struct history_row *b)
{
	u32 index = (u32)(b->owner >> 32);
	const struct attribute_process *process = attributor_get_process(p->attributor, index);

	return index == ATTRIBUTE_NONE || (process && process->generation == (u32)b->owner);
}

static void view_add_span_containers(struct profile *p, const struct history_slot *slot,
				     struct view *view)
{
	for (u32 i = 0; i < slot->containers; i++) {
		const struct history_container *c = &slot->container[i];
		const struct attribute_container *now =
			attributor_get_container(p->attributor, c->index);
		struct profile_counters counters;

		if (!now || now->generation != c->generation)
			continue;
		history_counters_expand(&c->counters, &counters);
		view_row_set_container(p, &view->rows[view->count], c->index);
		view_row_set_counters(&view->rows[view->count++], &counters);
	}
}

static void view_add_span_processes(struct profile *p, const struct history_slot *slot,
				    struct view *view)
{
	unsigned int unit = view_get_share_unit(&view->header);

	for (u32 i = 0; i < slot->processes; i++) {
		if (!history_row_is_current(p, &slot->process[i]))
			continue;
		view_row_set_process(p, &view->rows[view->count],
				     (u32)(slot->process[i].owner >> 32));
		row_add_history(&view->rows[view->count++], &slot->process[i], unit);
	}
}

static bool rows_have_same_function(const struct view_row *a, const struct view_row *b)
{
	return a->pid == b->pid && !strcmp(a->function, b->function) &&
	       !strcmp(a->binary, b->binary) && !strcmp(a->process, b->process) &&
	       !strcmp(a->container, b->container);
}

/* Add the row of the evicted samples of all programs, as in a view since the start. */
static void view_add_span_evicted(const struct history_slot *slot, enum view_group group,
				  unsigned int unit, struct view *view)
{
	struct view_row *row = &view->rows[view->count];

	if (!slot->ledger.evicted)
		return;
	view_copy_string(row->container, sizeof(row->container), "-");
	view_copy_string(row->process, sizeof(row->process), group == VIEW_PROGRAM ? "[evicted]" : "-");
	view_row_set_evicted(row, group);
	row->samples = slot->ledger.evicted;
	if (unit < UNITS)
		row->weight[unit] = slot->ledger.evicted_weight;
	view->count++;
}

static void view_add_span_functions(struct profile *p, struct symbols_cache *symbols, bool live,
				    enum view_group group, const struct history_slot *slot,
				    struct view *view)
{
	unsigned int unit = view_get_share_unit(&view->header);

	if (live)
		profile_update_pids(p);
	for (u32 i = 0; i < slot->locations; i++) {
		const struct history_row *b = &slot->place[i];
		struct view_row *row = &view->rows[view->count];
		u32 k = 0;

		memset(row, 0, sizeof(*row));
		view_row_set_cell(p, symbols, live, group, row, b->place, b->owner);
		while (k < view->count && !rows_have_same_function(&view->rows[k], row))
			k++;
		row_add_history(&view->rows[k], b, unit);
		view->count += k == view->count;
	}
	view_add_span_evicted(slot, group, unit, view);
}

int profile_create_span_view(struct profile *profile, struct symbols_cache *symbols, bool live,
			     enum view_span span, enum view_group group, enum view_sort sort,
			     u32 limit, u64 now_ns, struct view *ret_view)
{
	const struct history_slot *slot = profile_get_history_sum(profile, span, now_ns);
	struct view view = { 0 };
	struct profile_counters all;

	if (!slot)
		return -EOPNOTSUPP;
	profile_flush(profile);
	view.header = profile->header;
	view.header.records = slot->machine.samples;
	view.header.duration_ns = slot->ns;
	memcpy(view.header.weight, slot->machine.weight, sizeof(view.header.weight));
	header_set_ledger(&slot->ledger, &view.header);
	history_counters_expand(&slot->machine, &all);
	view_header_set_sort_whole(&all, sort, &view.header);
	view.rows = calloc(HISTORY_ROWS + 1, sizeof(*view.rows));
	if (!view.rows)
		return -ENOMEM;
	if (group == VIEW_CONTAINER)
		view_add_span_containers(profile, slot, &view);
	else if (group == VIEW_PROCESS)
		view_add_span_processes(profile, slot, &view);
	else
		view_add_span_functions(profile, symbols, live, group, slot, &view);
	view_sort_rows(&view, sort, limit);
	*ret_view = view;
	return 0;
}
