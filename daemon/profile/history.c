// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history.h"

#include <errno.h>

#include "minute-log.h"
#include "util/memory.h"

/** struct container_mark - a container's totals when the last slot was closed */
struct container_mark {
	u32 generation;
	struct profile_counters counters;
};

/* For each ring: the number of slots, and how many slots of the previous ring one slot covers. */
static const struct {
	u32 slots;
	u32 parts;
} rings[HISTORY_RINGS] = { { 5, 1 }, { 6, 5 }, { 10, 6 } };

static size_t get_ring_size(unsigned int i)
{
	return rings[i].slots * sizeof(struct history_slot);
}

int history_init(struct recent_history *history, u32 containers, u32 processes, u32 locations)
{
	struct recent_history w = { .containers = containers,
				    .processes = processes,
				    .locations = locations };
	bool ok = true;

	for (unsigned int i = 0; i < HISTORY_RINGS; i++) {
		w.ring[i].slots = rings[i].slots;
		w.ring[i].slot = zero_pages_new(get_ring_size(i));
		ok &= w.ring[i].slot != NULL;
	}
	w.machine_mark = zero_pages_new(sizeof(*w.machine_mark));
	w.container_mark = zero_pages_new(containers * sizeof(*w.container_mark));
	w.process_mark = zero_pages_new(processes * sizeof(*w.process_mark));
	w.location_mark = zero_pages_new(locations * sizeof(*w.location_mark));
	w.merged = zero_pages_new(sizeof(*w.merged));
	w.open_slot_saved = zero_pages_new(sizeof(*w.open_slot_saved));
	*history = w;
	if (ok && w.machine_mark && w.container_mark && w.process_mark && w.location_mark &&
	    w.merged && w.open_slot_saved)
		return 0;
	history_deinit(history);
	return -ENOMEM;
}

static void for_each_area(struct recent_history *w, void (*fn)(void *at, size_t size))
{
	for (unsigned int i = 0; i < HISTORY_RINGS; i++)
		fn(w->ring[i].slot, get_ring_size(i));
	fn(w->machine_mark, sizeof(*w->machine_mark));
	fn(w->container_mark, w->containers * sizeof(*w->container_mark));
	fn(w->process_mark, w->processes * sizeof(*w->process_mark));
	fn(w->location_mark, w->locations * sizeof(*w->location_mark));
	fn(w->merged, sizeof(*w->merged));
	fn(w->open_slot_saved, sizeof(*w->open_slot_saved));
}

void history_deinit(struct recent_history *history)
{
	minute_log_free(history->minute);
	for_each_area(history, zero_pages_free);
	*history = (struct recent_history){ 0 };
}

void history_clear(struct recent_history *history)
{
	if (!history->machine_mark)
		return;
	for_each_area(history, zero_pages_clear);
	minute_log_clear(history->minute);
	history->begun = false;
	history->ledger_mark = (struct history_ledger){ 0 };
	for (unsigned int i = 0; i < HISTORY_RINGS; i++)
		history->ring[i].next = 0;
}

static u64 sub_saturating(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

static u32 sub_saturating_u32(u64 now, u64 before)
{
	u64 more = sub_saturating(now, before);

	return more < UINT32_MAX ? (u32)more : UINT32_MAX;
}

static void counters_set_increase(struct history_counters *to, const struct profile_counters *now,
				  const struct profile_counters *mark)
{
	u64 a[SAMPLE_COUNTS], b[SAMPLE_COUNTS];

	memcpy(a, &now->counts, sizeof(a));
	memcpy(b, &mark->counts, sizeof(b));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		to->count[i] = sub_saturating_u32(a[i], b[i]);
	to->samples = sub_saturating_u32(now->samples, mark->samples);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] = now->weight[i] - mark->weight[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		to->latency_sum[i] = now->latency[i].sum - mark->latency[i].sum;
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			to->bucket[i][k] = sub_saturating_u32(now->latency[i].bucket[k],
							      mark->latency[i].bucket[k]);
	}
}

static void add_saturating_u32(u32 *to, u32 more)
{
	*to = more < UINT32_MAX - *to ? *to + more : UINT32_MAX;
}

void history_counters_add(struct history_counters *to, const struct history_counters *from)
{
	add_saturating_u32(&to->samples, from->samples);
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		add_saturating_u32(&to->count[i], from->count[i]);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += from->weight[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		to->latency_sum[i] += from->latency_sum[i];
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			add_saturating_u32(&to->bucket[i][k], from->bucket[i][k]);
	}
}

void history_row_add(struct history_row *to, const struct history_row *from)
{
	to->latency_sum += from->latency_sum;
	to->weight += from->weight;
	add_saturating_u32(&to->samples, from->samples);
	add_saturating_u32(&to->memory, from->memory);
	add_saturating_u32(&to->dram, from->dram);
	add_saturating_u32(&to->remote, from->remote);
	add_saturating_u32(&to->branches, from->branches);
	add_saturating_u32(&to->mispredicted, from->mispredicted);
}

/*
 * Return whether a row is lighter than another row. Compare the weights, or the samples if the
 * weights are equal.
 */
static bool is_lighter(u64 weight, u32 samples, u64 than_weight, u32 than_samples)
{
	return weight != than_weight ? weight < than_weight : samples < than_samples;
}

/*
 * Return the entry to which @row is written: a free entry, or the lightest entry if it is lighter
 * than @row. Return NULL if @row is the lightest.
 */
static struct history_row *history_row_find_slot(struct history_row *rows, u32 *count,
						 const struct history_row *row)
{
	struct history_row *least = &rows[0];

	if (*count < HISTORY_ROWS)
		return &rows[(*count)++];
	for (u32 i = 1; i < HISTORY_ROWS; i++)
		if (is_lighter(rows[i].weight, rows[i].samples, least->weight, least->samples))
			least = &rows[i];
	return is_lighter(least->weight, least->samples, row->weight, row->samples) ? least : NULL;
}

static u64 history_counters_sum_weight(const struct history_counters *f)
{
	u64 weight = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		weight += f->weight[i];
	return weight;
}

/* Return the entry for a container, as history_row_find_slot() does for processes and locations. */
static struct history_container *container_find_slot(struct history_slot *slot,
						     const struct history_counters *f)
{
	struct history_counters *least = &slot->container[0].counters;
	u32 at = 0;

	if (slot->containers < HISTORY_ROWS)
		return &slot->container[slot->containers++];
	for (u32 i = 1; i < HISTORY_ROWS; i++) {
		struct history_counters *row = &slot->container[i].counters;

		if (!is_lighter(history_counters_sum_weight(row), row->samples,
				history_counters_sum_weight(least), least->samples))
			continue;
		least = row;
		at = i;
	}
	return is_lighter(history_counters_sum_weight(least), least->samples,
			  history_counters_sum_weight(f), f->samples) ?
		       &slot->container[at] :
		       NULL;
}

/* Clear a slot. Unused rows need not be zero. */
static void slot_clear(struct history_slot *slot)
{
	slot->ns = 0;
	slot->ledger = (struct history_ledger){ 0 };
	slot->containers = 0;
	slot->processes = 0;
	slot->locations = 0;
	memset(&slot->machine, 0, sizeof(slot->machine));
}

struct history_slot *history_begin_slot(struct recent_history *w, u64 now_ns)
{
	slot_clear(w->merged);
	w->merged->ns = (now_ns - w->start_ns) / HISTORY_SLOT_NS * HISTORY_SLOT_NS;
	return w->merged;
}

void history_ledger_add_increase(struct history_ledger *to, const struct history_ledger *now,
				 const struct history_ledger *before)
{
	u64 sum[HISTORY_LEDGERS], a[HISTORY_LEDGERS], b[HISTORY_LEDGERS];

	memcpy(sum, to, sizeof(sum));
	memcpy(a, now, sizeof(a));
	memcpy(b, before, sizeof(b));
	for (unsigned int i = 0; i < HISTORY_LEDGERS; i++)
		sum[i] += a[i] > b[i] ? a[i] - b[i] : 0;
	memcpy(to, sum, sizeof(sum));
}

/* Return the log for the history on disk; NULL if the open slot is filled only to be saved. */
static struct minute_log *slot_get_log(const struct recent_history *w)
{
	return w->marks_frozen ? NULL : w->minute;
}

void history_set_ledger(struct recent_history *w, struct history_slot *slot,
			const struct history_ledger *now)
{
	history_ledger_add_increase(&slot->ledger, now, &w->ledger_mark);
	if (slot_get_log(w))
		minute_log_add_ledger(w->minute, &slot->ledger);
	if (!w->marks_frozen)
		w->ledger_mark = *now;
}

void history_set_machine(struct recent_history *w, struct history_slot *slot,
			 const struct profile_counters *now)
{
	counters_set_increase(&slot->machine, now, w->machine_mark);
	if (slot_get_log(w))
		minute_log_add_machine(w->minute, &slot->machine);
	if (!w->marks_frozen)
		*w->machine_mark = *now;
}

/*
 * For each counter that decreased, add @mark - @now to @to. A counter of a container decreases when
 * samples move to another container.
 */
static void counters_add_decrease(struct profile_counters *to, const struct profile_counters *mark,
				  const struct profile_counters *now)
{
	u64 sum[SAMPLE_COUNTS], a[SAMPLE_COUNTS], b[SAMPLE_COUNTS];

	memcpy(sum, &to->counts, sizeof(sum));
	memcpy(a, &mark->counts, sizeof(a));
	memcpy(b, &now->counts, sizeof(b));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		sum[i] += sub_saturating(a[i], b[i]);
	memcpy(&to->counts, sum, sizeof(sum));
	to->samples += sub_saturating(mark->samples, now->samples);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += sub_saturating(mark->weight[i], now->weight[i]);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		const struct histogram *x = &mark->latency[i], *y = &now->latency[i];

		to->latency[i].sum += sub_saturating(x->sum, y->sum);
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			to->latency[i].bucket[k] += sub_saturating(x->bucket[k], y->bucket[k]);
	}
}

void history_move_container_mark(struct recent_history *w, u32 index, u32 generation,
				 const struct profile_counters *now, u32 other,
				 u32 other_generation)
{
	static const struct profile_counters nothing;
	struct container_mark *mark, *to;

	if (index >= w->containers || other >= w->containers || index == other)
		return;
	mark = &w->container_mark[index];
	to = &w->container_mark[other];
	if (mark->generation != generation || !now)
		now = &nothing;
	if (mark->counters.samples <= now->samples)
		return;
	if (to->generation != other_generation)
		*to = (struct container_mark){ .generation = other_generation };
	counters_add_decrease(&to->counters, &mark->counters, now);
	*mark = (struct container_mark){ .generation = generation, .counters = *now };
}

void history_add_container(struct recent_history *w, struct history_slot *slot, u32 index,
			   u32 generation, const struct profile_counters *now)
{
	struct history_counters since;
	struct container_mark *mark;
	struct history_container *row;

	if (index >= w->containers)
		return;
	mark = &w->container_mark[index];
	if (mark->generation != generation)
		*mark = (struct container_mark){ .generation = generation };
	if (now->samples <= mark->counters.samples)
		return;
	counters_set_increase(&since, now, &mark->counters);
	if (slot_get_log(w))
		minute_log_add_container(w->minute, index, generation, &since);
	row = container_find_slot(slot, &since);
	if (row) {
		row->index = index;
		row->generation = generation;
		row->counters = since;
	}
	if (!w->marks_frozen)
		mark->counters = *now;
}

/*
 * Return the increase of a counter that wraps around. Return 0 if the counter decreased, because
 * samples lost their class.
 */
static u32 sub_wrapping_u32(u32 now, u32 before)
{
	return now - before <= INT32_MAX ? now - before : 0;
}

/*
 * Return the counters since @mark, and set @mark to @now. If @marks_frozen is true, @mark is set
 * only if it belongs to another entry: to zero counters of the entry of @now.
 */
static struct history_row history_row_add_increase(bool marks_frozen, bool restarted,
						   struct history_row *mark,
						   struct history_row *rows, u32 *count,
						   const struct history_row *now)
{
	struct history_row since, *row;

	if (restarted || mark->owner != now->owner || mark->place != now->place)
		*mark = (struct history_row){ .owner = now->owner, .place = now->place };
	since = (struct history_row){
		.owner = now->owner,
		.place = now->place,
		.latency_sum = sub_saturating(now->latency_sum, mark->latency_sum),
		.weight = sub_saturating(now->weight, mark->weight),
		.samples = sub_wrapping_u32(now->samples, mark->samples),
		.memory = sub_wrapping_u32(now->memory, mark->memory),
		.dram = sub_wrapping_u32(now->dram, mark->dram),
		.remote = sub_wrapping_u32(now->remote, mark->remote),
		.branches = sub_wrapping_u32(now->branches, mark->branches),
		.mispredicted = sub_wrapping_u32(now->mispredicted, mark->mispredicted),
	};
	row = since.samples ? history_row_find_slot(rows, count, &since) : NULL;
	if (row)
		*row = since;
	if (!marks_frozen)
		*mark = *now;
	return since;
}

void history_add_process(struct recent_history *w, struct history_slot *slot, u32 index,
			 bool restarted, const struct history_row *now)
{
	if (index < w->processes)
		history_row_add_increase(w->marks_frozen, restarted, &w->process_mark[index],
					 slot->process, &slot->processes, now);
}

void history_add_location(struct recent_history *w, struct history_slot *slot, u32 index,
			  bool restarted, const struct history_row *now,
			  const struct histogram *latency)
{
	const struct history_row *mark = &w->location_mark[index];
	struct history_row since;
	bool fresh;

	if (index >= w->locations)
		return;
	fresh = restarted || mark->owner != now->owner || mark->place != now->place;
	since = history_row_add_increase(w->marks_frozen, restarted, &w->location_mark[index],
					 slot->place, &slot->locations, now);
	if (since.samples && slot_get_log(w))
		minute_log_add_location(w->minute, &since, latency, fresh);
}

bool history_location_is_unchanged(const struct recent_history *w, u32 index, u64 owner, u64 place,
				   u32 samples)
{
	const struct history_row *mark = &w->location_mark[index];

	return index >= w->locations ||
	       (mark->owner == owner && mark->place == place && mark->samples == samples);
}

static void history_rows_merge(struct history_row *to, u32 *count, const struct history_row *from,
			       u32 more)
{
	for (u32 i = 0; i < more; i++) {
		struct history_row *row = NULL;

		for (u32 k = 0; k < *count && !row; k++)
			if (to[k].owner == from[i].owner && to[k].place == from[i].place)
				row = &to[k];
		if (row) {
			history_row_add(row, &from[i]);
			continue;
		}
		row = history_row_find_slot(to, count, &from[i]);
		if (row)
			*row = from[i];
	}
}

static void containers_merge(struct history_slot *to, const struct history_slot *from)
{
	for (u32 i = 0; i < from->containers; i++) {
		const struct history_container *more = &from->container[i];
		struct history_container *row = NULL;

		for (u32 k = 0; k < to->containers && !row; k++)
			if (to->container[k].index == more->index &&
			    to->container[k].generation == more->generation)
				row = &to->container[k];
		if (row) {
			history_counters_add(&row->counters, &more->counters);
			continue;
		}
		row = container_find_slot(to, &more->counters);
		if (row)
			*row = *more;
	}
}

static void slot_merge(struct history_slot *to, const struct history_slot *from)
{
	static const struct history_ledger nothing;

	to->ns += from->ns;
	history_ledger_add_increase(&to->ledger, &from->ledger, &nothing);
	history_counters_add(&to->machine, &from->machine);
	containers_merge(to, from);
	history_rows_merge(to->process, &to->processes, from->process, from->processes);
	history_rows_merge(to->place, &to->locations, from->place, from->locations);
}

static void ring_advance(struct history_ring *ring)
{
	ring->next = (ring->next + 1) % ring->slots;
	slot_clear(&ring->slot[ring->next]);
}

void history_end_slot(struct recent_history *w, struct history_slot *slot)
{
	slot_merge(slot, w->open_slot_saved);
	if (w->minute)
		minute_log_add_slot(w->minute, w->open_slot_saved);
	slot_clear(w->open_slot_saved);
	w->start_ns += slot->ns;
	for (unsigned int i = 0; i < HISTORY_RINGS; i++) {
		struct history_ring *ring = &w->ring[i];
		u64 whole = HISTORY_SLOT_NS;

		for (unsigned int k = 1; k <= i; k++)
			whole *= rings[k].parts;
		/*
		 * Begin a new slot if the open slot has its full length. If no sample arrived for a
		 * long time, clear a slot for each length that passed.
		 */
		if (ring->slot[ring->next].ns >= whole)
			ring_advance(ring);
		for (u32 n = 0; n < ring->slots && slot->ns > whole * (n + 2); n++)
			ring_advance(ring);
		slot_merge(&ring->slot[ring->next], slot);
	}
}

void history_restore_open_slot(struct recent_history *w, const struct history_slot *slot)
{
	slot_merge(w->open_slot_saved, slot);
	/* The time of the saved slot is already part of the open slot, so do not add it. */
	w->open_slot_saved->ns = 0;
}

u32 history_count_slots(unsigned int ring)
{
	return rings[ring].slots;
}

const struct history_slot *history_sum_span(struct recent_history *w, enum view_span span)
{
	struct history_ring *ring = &w->ring[span - 1];

	slot_clear(w->merged);
	for (u32 i = 0; i < ring->slots; i++)
		slot_merge(w->merged, &ring->slot[i]);
	return w->merged;
}

void history_counters_expand(const struct history_counters *from,
			     struct profile_counters *ret_counters)
{
	struct profile_counters f = { .samples = from->samples };
	u64 counts[SAMPLE_COUNTS];

	memcpy(f.weight, from->weight, sizeof(f.weight));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		counts[i] = from->count[i];
	memcpy(&f.counts, counts, sizeof(counts));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		struct histogram *h = &f.latency[i];

		h->sum = from->latency_sum[i];
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++) {
			h->bucket[k] = from->bucket[i][k];
			if (h->bucket[k])
				h->max = histogram_get_upper_bound(k);
		}
	}
	counters_sum_histograms(&f);
	*ret_counters = f;
}
