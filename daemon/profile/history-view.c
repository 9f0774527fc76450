// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was counted in the last time: how sub-windows are filled, and views of their sums. */
#include "profile-internal.h"

#include <errno.h>
#include <stdlib.h>

/* What containers have lost to "(other)", by having been evicted or for want of room, is not new there. */
static void leave_containers(struct profile *p)
{
	u32 other = attributor_container_other(p->attributor);
	u32 generation = attributor_container(p->attributor, other)->generation;

	for (u32 i = 0; i < p->container_count; i++) {
		const struct attribute_container *c = attributor_container(p->attributor, i);

		windows_container_left(&p->windows, i, c ? c->generation : 0,
				       c ? p->containers[i] : NULL, other, generation);
	}
}

static void roll_containers(struct profile *p, struct window_slot *slot)
{
	leave_containers(p);
	for (u32 i = 0; i < p->container_count; i++) {
		const struct attribute_container *c = attributor_container(p->attributor, i);

		if (c && p->containers[i])
			windows_container(&p->windows, slot, i, c->generation, p->containers[i]);
	}
}

static u32 low(u64 count)
{
	return (u32)count;
}

/* Counters since the start, modulo 2^32: sub-windows are differences. */
static struct window_brief brief_get(const struct figures *f, u64 weight, u64 owner, u64 place)
{
	return (struct window_brief){
		.owner = owner,
		.place = place,
		.latency_sum = f->latency[PROFILE_TOTAL].sum,
		.weight = weight,
		.samples = low(f->samples),
		.memory = low(figures_memory(f)),
		.dram = low(figures_dram(f)),
		.remote = low(figures_origin(f, SPE_ORIGIN_REMOTE)),
		.branches = low(f->counts.kind[SPE_KIND_BRANCH]),
		.mispredicted = low(f->counts.mispredicted),
	};
}

/* Of several units it means nothing, and nobody is shown it. */
static u64 weight_of(const struct figures *f)
{
	u64 weight = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		weight += f->weight[i];
	return weight;
}

static void roll_processes(struct profile *p, struct window_slot *slot)
{
	struct window_brief now;
	struct figures sum;

	for (u32 i = 0; i < p->process_count; i++) {
		struct process_tally *entry = &p->processes[i];

		if (!profile_process(p, i, &sum))
			continue;
		now = brief_get(&sum, weight_of(&sum), location_owner(i, entry->generation), 0);
		windows_process(&p->windows, slot, i, entry->anew, &now);
		entry->anew &= p->windows.peek;
	}
	/* The last mark, behind those of all processes. */
	if (!p->nobody.samples)
		return;
	now = brief_get(&p->nobody, weight_of(&p->nobody), location_owner(ATTRIBUTE_NONE, 0), 0);
	windows_process(&p->windows, slot, p->windows.processes - 1, false, &now);
}

static void roll_places(struct profile *p, struct window_slot *slot)
{
	struct location *l = NULL;

	while ((l = location_table_next(p->locations, l))) {
		u32 index = (u32)(l - p->locations->entries[0]);
		struct figures f = { 0 };
		struct window_brief now;

		/* Most have not moved: what they are is not asked for. */
		f.samples = location_samples(p->locations, l);
		if (!l->anew &&
		    windows_place_is(&p->windows, index, l->owner, l->place, low(f.samples)))
			continue;
		f.latency[PROFILE_TOTAL].sum = location_latency(p->locations, l);
		location_counts(p->locations, l, &f.counts);
		now = brief_get(&f, location_weight(p->locations, l), l->owner, l->place);
		windows_place(&p->windows, slot, index, l->anew, &now);
		l->anew &= p->windows.peek;
	}
}

static void roll_ledger(struct profile *p, struct window_slot *slot)
{
	const struct view_header *h = &p->header;
	struct window_ledger now = {
		.unattributed = h->unattributed,
		.unattributed_weight = h->unattributed_weight,
		.evicted = h->evicted,
		.evicted_weight = h->evicted_weight,
		.unweighed = h->unweighed,
		.filtered = h->filtered,
		.enabled_ns = h->enabled_ns,
	};

	memcpy(now.blind_by, h->blind_by, sizeof(now.blind_by));
	windows_ledger(&p->windows, slot, &now);
}

/* The rest of @to, what a share is never shown of, stays as it is since the start. */
static void header_ledger(const struct window_ledger *l, struct view_header *to)
{
	to->unattributed = l->unattributed;
	to->unattributed_weight = l->unattributed_weight;
	to->evicted = l->evicted;
	to->evicted_weight = l->evicted_weight;
	to->unweighed = l->unweighed;
	to->filtered = l->filtered;
	to->enabled_ns = l->enabled_ns;
	to->blind_ns = 0;
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++) {
		to->blind_by[i] = l->blind_by[i];
		to->blind_ns += l->blind_by[i];
	}
}

static struct window_slot *fill(struct profile *p, u64 now_ns)
{
	struct window_slot *slot = windows_begin(&p->windows, now_ns);

	profile_settle(p);
	roll_ledger(p, slot);
	windows_machine(&p->windows, slot, &p->machine);
	roll_containers(p, slot);
	roll_processes(p, slot);
	roll_places(p, slot);
	return slot;
}

void profile_roll(struct profile *p, u64 now_ns)
{
	windows_end(&p->windows, fill(p, now_ns));
}

const struct window_slot *profile_open_slot(struct profile *p)
{
	const struct window_slot *slot;

	p->windows.peek = true;
	slot = fill(p, p->windows.start_ns);
	p->windows.peek = false;
	return slot;
}

void profile_mark(struct profile *p)
{
	fill(p, p->windows.start_ns);
}

const struct window_slot *profile_span(struct profile *profile, enum view_span span, u64 now_ns)
{
	if (!profile->windows.machine_mark || span == VIEW_SPAN_START)
		return NULL;
	if (windows_due(&profile->windows, now_ns))
		profile_roll(profile, now_ns);
	return windows_sum(&profile->windows, span);
}

void profile_skip(struct profile *profile, u64 ns)
{
	if (profile->windows.begun)
		profile->windows.start_ns += ns;
}

/* @unit: view_unit(), UNITS where weights are not shown */
static void row_brief(struct view_row *row, const struct window_brief *b, unsigned int unit)
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

/* Its process is there still. */
static bool brief_is_current(const struct profile *p, const struct window_brief *b)
{
	u32 index = (u32)(b->owner >> 32);
	const struct attribute_process *process = attributor_process(p->attributor, index);

	return index == ATTRIBUTE_NONE || (process && process->generation == (u32)b->owner);
}

static void span_containers(struct profile *p, const struct window_slot *slot, struct view *view)
{
	for (u32 i = 0; i < slot->containers; i++) {
		const struct window_container *c = &slot->container[i];
		const struct attribute_container *now = attributor_container(p->attributor, c->index);
		struct figures figures;

		if (!now || now->generation != c->generation)
			continue;
		window_figures_get(&c->figures, &figures);
		row_container(p, &view->rows[view->count], c->index);
		row_figures(&view->rows[view->count++], &figures);
	}
}

static void span_processes(struct profile *p, const struct window_slot *slot, struct view *view)
{
	unsigned int unit = view_unit(&view->header);

	for (u32 i = 0; i < slot->processes; i++) {
		if (!brief_is_current(p, &slot->process[i]))
			continue;
		row_process(p, &view->rows[view->count], (u32)(slot->process[i].owner >> 32));
		row_brief(&view->rows[view->count++], &slot->process[i], unit);
	}
}

static bool is_function_of(const struct view_row *a, const struct view_row *b)
{
	return a->pid == b->pid && !strcmp(a->function, b->function) &&
	       !strcmp(a->binary, b->binary) && !strcmp(a->process, b->process);
}

static void span_functions(struct profile *p, struct symbols *symbols, bool live,
			   const struct window_slot *slot, struct view *view)
{
	unsigned int unit = view_unit(&view->header);

	for (u32 i = 0; i < slot->places; i++) {
		const struct window_brief *b = &slot->place[i];
		struct view_row *row = &view->rows[view->count];
		u32 k = 0;

		if (!brief_is_current(p, b))
			continue;
		memset(row, 0, sizeof(*row));
		row_place(p, symbols, live, row, b->place, b->owner);
		while (k < view->count && !is_function_of(&view->rows[k], row))
			k++;
		row_brief(&view->rows[k], b, unit);
		view->count += k == view->count;
	}
}

int profile_span_view(struct profile *profile, struct symbols *symbols, bool live,
		      enum view_span span, enum view_group group, enum view_sort sort, u32 limit,
		      u64 now_ns, struct view *ret_view)
{
	const struct window_slot *slot = profile_span(profile, span, now_ns);
	struct view view = { 0 };

	if (!slot)
		return -EOPNOTSUPP;
	profile_settle(profile);
	view.header = profile->header;
	view.header.records = slot->machine.samples;
	view.header.duration_ns = slot->ns;
	memcpy(view.header.weight, slot->machine.weight, sizeof(view.header.weight));
	header_ledger(&slot->ledger, &view.header);
	view.rows = calloc(WINDOW_ROWS, sizeof(*view.rows));
	if (!view.rows)
		return -ENOMEM;
	if (group == VIEW_CONTAINER)
		span_containers(profile, slot, &view);
	else if (group == VIEW_PROCESS)
		span_processes(profile, slot, &view);
	else
		span_functions(profile, symbols, live, slot, &view);
	rows_sort(&view, sort, limit);
	*ret_view = view;
	return 0;
}
