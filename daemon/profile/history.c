// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history.h"

#include <errno.h>

#include "util/zero-pages.h"

/** struct container_mark - figures at the last sub-window's end, of which container */
struct container_mark {
	u32 generation;
	struct figures figures;
};

/* How many sub-windows of the ring before make a slot of this one. */
static const struct {
	u32 slots;
	u32 parts;
} rings[WINDOW_RINGS] = { { 5, 1 }, { 6, 5 }, { 10, 6 } };

static size_t ring_size(unsigned int i)
{
	return rings[i].slots * sizeof(struct window_slot);
}

int windows_init(struct windows *windows, u32 containers, u32 processes, u32 places)
{
	struct windows w = { .containers = containers, .processes = processes, .places = places };
	bool ok = true;

	for (unsigned int i = 0; i < WINDOW_RINGS; i++) {
		w.ring[i].slots = rings[i].slots;
		w.ring[i].slot = zero_pages(ring_size(i));
		ok &= w.ring[i].slot != NULL;
	}
	w.machine_mark = zero_pages(sizeof(*w.machine_mark));
	w.container_mark = zero_pages(containers * sizeof(*w.container_mark));
	w.process_mark = zero_pages(processes * sizeof(*w.process_mark));
	w.place_mark = zero_pages(places * sizeof(*w.place_mark));
	w.merged = zero_pages(sizeof(*w.merged));
	w.carried = zero_pages(sizeof(*w.carried));
	*windows = w;
	if (ok && w.machine_mark && w.container_mark && w.process_mark && w.place_mark && w.merged &&
	    w.carried)
		return 0;
	windows_deinit(windows);
	return -ENOMEM;
}

static void each_area(struct windows *w, void (*fn)(void *at, size_t size))
{
	for (unsigned int i = 0; i < WINDOW_RINGS; i++)
		fn(w->ring[i].slot, ring_size(i));
	fn(w->machine_mark, sizeof(*w->machine_mark));
	fn(w->container_mark, w->containers * sizeof(*w->container_mark));
	fn(w->process_mark, w->processes * sizeof(*w->process_mark));
	fn(w->place_mark, w->places * sizeof(*w->place_mark));
	fn(w->merged, sizeof(*w->merged));
	fn(w->carried, sizeof(*w->carried));
}

void windows_deinit(struct windows *windows)
{
	each_area(windows, zero_pages_free);
	*windows = (struct windows){ 0 };
}

void windows_clear(struct windows *windows)
{
	if (!windows->machine_mark)
		return;
	each_area(windows, zero_pages_clear);
	windows->begun = false;
	windows->ledger_mark = (struct window_ledger){ 0 };
	for (unsigned int i = 0; i < WINDOW_RINGS; i++)
		windows->ring[i].next = 0;
}

static u64 more64(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

static u32 less(u64 now, u64 before)
{
	u64 more = more64(now, before);

	return more < UINT32_MAX ? (u32)more : UINT32_MAX;
}

static void figures_since(struct window_figures *to, const struct figures *now,
			  const struct figures *mark)
{
	u64 a[FIGURE_COUNTS], b[FIGURE_COUNTS];

	memcpy(a, &now->counts, sizeof(a));
	memcpy(b, &mark->counts, sizeof(b));
	for (unsigned int i = 0; i < FIGURE_COUNTS; i++)
		to->count[i] = less(a[i], b[i]);
	to->samples = less(now->samples, mark->samples);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] = now->weight[i] - mark->weight[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		to->latency_sum[i] = now->latency[i].sum - mark->latency[i].sum;
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			to->bucket[i][k] = less(now->latency[i].bucket[k], mark->latency[i].bucket[k]);
	}
}

static void add32(u32 *to, u32 more)
{
	*to = more < UINT32_MAX - *to ? *to + more : UINT32_MAX;
}

static void figures_sum(struct window_figures *to, const struct window_figures *from)
{
	add32(&to->samples, from->samples);
	for (unsigned int i = 0; i < FIGURE_COUNTS; i++)
		add32(&to->count[i], from->count[i]);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += from->weight[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		to->latency_sum[i] += from->latency_sum[i];
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			add32(&to->bucket[i][k], from->bucket[i][k]);
	}
}

static void brief_sum(struct window_brief *to, const struct window_brief *from)
{
	to->latency_sum += from->latency_sum;
	to->weight += from->weight;
	add32(&to->samples, from->samples);
	add32(&to->memory, from->memory);
	add32(&to->dram, from->dram);
	add32(&to->remote, from->remote);
	add32(&to->branches, from->branches);
	add32(&to->mispredicted, from->mispredicted);
}

/* Whether a row is less than another: by weight, and samples where none has any. */
static bool is_lighter(u64 weight, u32 samples, u64 than_weight, u32 than_samples)
{
	return weight != than_weight ? weight < than_weight : samples < than_samples;
}

/* Room for @row: a free one, or the lightest where it is lighter; or NULL. */
static struct window_brief *brief_room(struct window_brief *rows, u32 *count,
				       const struct window_brief *row)
{
	struct window_brief *least = &rows[0];

	if (*count < WINDOW_ROWS)
		return &rows[(*count)++];
	for (u32 i = 1; i < WINDOW_ROWS; i++)
		if (is_lighter(rows[i].weight, rows[i].samples, least->weight, least->samples))
			least = &rows[i];
	return is_lighter(least->weight, least->samples, row->weight, row->samples) ? least : NULL;
}

static u64 figures_weight(const struct window_figures *f)
{
	u64 weight = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		weight += f->weight[i];
	return weight;
}

/* As brief_room(). */
static struct window_container *container_room(struct window_slot *slot,
					       const struct window_figures *f)
{
	struct window_figures *least = &slot->container[0].figures;
	u32 at = 0;

	if (slot->containers < WINDOW_ROWS)
		return &slot->container[slot->containers++];
	for (u32 i = 1; i < WINDOW_ROWS; i++) {
		struct window_figures *row = &slot->container[i].figures;

		if (!is_lighter(figures_weight(row), row->samples, figures_weight(least),
				least->samples))
			continue;
		least = row;
		at = i;
	}
	return is_lighter(figures_weight(least), least->samples, figures_weight(f), f->samples) ?
		       &slot->container[at] :
		       NULL;
}

/* Rows that are not used need not be zero. */
static void slot_clear(struct window_slot *slot)
{
	slot->ns = 0;
	slot->ledger = (struct window_ledger){ 0 };
	slot->containers = 0;
	slot->processes = 0;
	slot->places = 0;
	memset(&slot->machine, 0, sizeof(slot->machine));
}

struct window_slot *windows_begin(struct windows *w, u64 now_ns)
{
	slot_clear(w->merged);
	w->merged->ns = (now_ns - w->start_ns) / WINDOW_SUB_NS * WINDOW_SUB_NS;
	return w->merged;
}

/* @to += @now - @before; what has become less counts for nothing. */
static void ledger_sum(struct window_ledger *to, const struct window_ledger *now,
		       const struct window_ledger *before)
{
	u64 sum[WINDOW_LEDGERS], a[WINDOW_LEDGERS], b[WINDOW_LEDGERS];

	memcpy(sum, to, sizeof(sum));
	memcpy(a, now, sizeof(a));
	memcpy(b, before, sizeof(b));
	for (unsigned int i = 0; i < WINDOW_LEDGERS; i++)
		sum[i] += a[i] > b[i] ? a[i] - b[i] : 0;
	memcpy(to, sum, sizeof(sum));
}

void windows_ledger(struct windows *w, struct window_slot *slot, const struct window_ledger *now)
{
	ledger_sum(&slot->ledger, now, &w->ledger_mark);
	if (!w->peek)
		w->ledger_mark = *now;
}

void windows_machine(struct windows *w, struct window_slot *slot, const struct figures *now)
{
	figures_since(&slot->machine, now, w->machine_mark);
	if (!w->peek)
		*w->machine_mark = *now;
}

/* @to += @mark - @now, where figures have become less: of each of them those that went. */
static void figures_gone(struct figures *to, const struct figures *mark, const struct figures *now)
{
	u64 sum[FIGURE_COUNTS], a[FIGURE_COUNTS], b[FIGURE_COUNTS];

	memcpy(sum, &to->counts, sizeof(sum));
	memcpy(a, &mark->counts, sizeof(a));
	memcpy(b, &now->counts, sizeof(b));
	for (unsigned int i = 0; i < FIGURE_COUNTS; i++)
		sum[i] += more64(a[i], b[i]);
	memcpy(&to->counts, sum, sizeof(sum));
	to->samples += more64(mark->samples, now->samples);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += more64(mark->weight[i], now->weight[i]);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		const struct histogram *x = &mark->latency[i], *y = &now->latency[i];

		to->latency[i].sum += more64(x->sum, y->sum);
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			to->latency[i].bucket[k] += more64(x->bucket[k], y->bucket[k]);
	}
}

void windows_container_left(struct windows *w, u32 index, u32 generation, const struct figures *now,
			    u32 other, u32 other_generation)
{
	static const struct figures nothing;
	struct container_mark *mark, *to;

	if (index >= w->containers || other >= w->containers || index == other)
		return;
	mark = &w->container_mark[index];
	to = &w->container_mark[other];
	if (mark->generation != generation || !now)
		now = &nothing;
	if (mark->figures.samples <= now->samples)
		return;
	if (to->generation != other_generation)
		*to = (struct container_mark){ .generation = other_generation };
	figures_gone(&to->figures, &mark->figures, now);
	*mark = (struct container_mark){ .generation = generation, .figures = *now };
}

void windows_container(struct windows *w, struct window_slot *slot, u32 index, u32 generation,
		       const struct figures *now)
{
	struct window_figures since;
	struct container_mark *mark;
	struct window_container *row;

	if (index >= w->containers)
		return;
	mark = &w->container_mark[index];
	if (mark->generation != generation)
		*mark = (struct container_mark){ .generation = generation };
	if (now->samples <= mark->figures.samples)
		return;
	figures_since(&since, now, &mark->figures);
	row = container_room(slot, &since);
	if (row) {
		row->index = index;
		row->generation = generation;
		row->figures = since;
	}
	if (!w->peek)
		mark->figures = *now;
}

/* Counters run over, in time; one that has become less, as some samples are told no more, has none. */
static u32 more32(u32 now, u32 before)
{
	return now - before <= INT32_MAX ? now - before : 0;
}

/* With @peek the mark stays, but for whose it is, and since when. */
static void brief_since(bool peek, bool anew, struct window_brief *mark, struct window_brief *rows,
			u32 *count, const struct window_brief *now)
{
	struct window_brief since, *row;

	if (anew || mark->owner != now->owner || mark->place != now->place)
		*mark = (struct window_brief){ .owner = now->owner, .place = now->place };
	since = (struct window_brief){
		.owner = now->owner,
		.place = now->place,
		.latency_sum = more64(now->latency_sum, mark->latency_sum),
		.weight = more64(now->weight, mark->weight),
		.samples = more32(now->samples, mark->samples),
		.memory = more32(now->memory, mark->memory),
		.dram = more32(now->dram, mark->dram),
		.remote = more32(now->remote, mark->remote),
		.branches = more32(now->branches, mark->branches),
		.mispredicted = more32(now->mispredicted, mark->mispredicted),
	};
	row = since.samples ? brief_room(rows, count, &since) : NULL;
	if (row)
		*row = since;
	if (!peek)
		*mark = *now;
}

void windows_process(struct windows *w, struct window_slot *slot, u32 index, bool anew,
		     const struct window_brief *now)
{
	if (index < w->processes)
		brief_since(w->peek, anew, &w->process_mark[index], slot->process,
			    &slot->processes, now);
}

void windows_place(struct windows *w, struct window_slot *slot, u32 index, bool anew,
		   const struct window_brief *now)
{
	if (index < w->places)
		brief_since(w->peek, anew, &w->place_mark[index], slot->place, &slot->places, now);
}

bool windows_place_is(const struct windows *w, u32 index, u64 owner, u64 place, u32 samples)
{
	const struct window_brief *mark = &w->place_mark[index];

	return index >= w->places ||
	       (mark->owner == owner && mark->place == place && mark->samples == samples);
}

static void briefs_merge(struct window_brief *to, u32 *count, const struct window_brief *from,
			 u32 more)
{
	for (u32 i = 0; i < more; i++) {
		struct window_brief *row = NULL;

		for (u32 k = 0; k < *count && !row; k++)
			if (to[k].owner == from[i].owner && to[k].place == from[i].place)
				row = &to[k];
		if (row) {
			brief_sum(row, &from[i]);
			continue;
		}
		row = brief_room(to, count, &from[i]);
		if (row)
			*row = from[i];
	}
}

static void containers_merge(struct window_slot *to, const struct window_slot *from)
{
	for (u32 i = 0; i < from->containers; i++) {
		const struct window_container *more = &from->container[i];
		struct window_container *row = NULL;

		for (u32 k = 0; k < to->containers && !row; k++)
			if (to->container[k].index == more->index &&
			    to->container[k].generation == more->generation)
				row = &to->container[k];
		if (row) {
			figures_sum(&row->figures, &more->figures);
			continue;
		}
		row = container_room(to, &more->figures);
		if (row)
			*row = *more;
	}
}

static void slot_merge(struct window_slot *to, const struct window_slot *from)
{
	static const struct window_ledger nothing;

	to->ns += from->ns;
	ledger_sum(&to->ledger, &from->ledger, &nothing);
	figures_sum(&to->machine, &from->machine);
	containers_merge(to, from);
	briefs_merge(to->process, &to->processes, from->process, from->processes);
	briefs_merge(to->place, &to->places, from->place, from->places);
}

static void ring_advance(struct window_ring *ring)
{
	ring->next = (ring->next + 1) % ring->slots;
	slot_clear(&ring->slot[ring->next]);
}

void windows_end(struct windows *w, struct window_slot *slot)
{
	slot_merge(slot, w->carried);
	slot_clear(w->carried);
	w->start_ns += slot->ns;
	for (unsigned int i = 0; i < WINDOW_RINGS; i++) {
		struct window_ring *ring = &w->ring[i];
		u64 whole = WINDOW_SUB_NS;

		for (unsigned int k = 1; k <= i; k++)
			whole *= rings[k].parts;
		/* The slot at hand is full, or all of the ring's time passed without a sample. */
		if (ring->slot[ring->next].ns >= whole)
			ring_advance(ring);
		for (u32 n = 0; n < ring->slots && slot->ns > whole * (n + 2); n++)
			ring_advance(ring);
		slot_merge(&ring->slot[ring->next], slot);
	}
}

void windows_carry(struct windows *w, const struct window_slot *slot)
{
	slot_merge(w->carried, slot);
	/* Its time is the sub-window's. */
	w->carried->ns = 0;
}

u32 windows_slots(unsigned int ring)
{
	return rings[ring].slots;
}

const struct window_slot *windows_sum(struct windows *w, enum view_span span)
{
	struct window_ring *ring = &w->ring[span - 1];

	slot_clear(w->merged);
	for (u32 i = 0; i < ring->slots; i++)
		slot_merge(w->merged, &ring->slot[i]);
	return w->merged;
}

void window_figures_get(const struct window_figures *from, struct figures *ret_figures)
{
	struct figures f = { .samples = from->samples };
	u64 counts[FIGURE_COUNTS];

	memcpy(f.weight, from->weight, sizeof(f.weight));
	for (unsigned int i = 0; i < FIGURE_COUNTS; i++)
		counts[i] = from->count[i];
	memcpy(&f.counts, counts, sizeof(counts));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		struct histogram *h = &f.latency[i];

		h->sum = from->latency_sum[i];
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++) {
			h->bucket[k] = from->bucket[i][k];
			if (h->bucket[k])
				h->max = histogram_upper(k);
		}
	}
	figures_finish(&f);
	*ret_figures = f;
}
