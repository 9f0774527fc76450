// SPDX-License-Identifier: LGPL-2.1-or-later
#include "accumulator.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/data-source.h"
#include "source/source.h"
#include "util/escape.h"

static_assert(SPE_LEVELS + UNITS <= 32, "tally_bits() has a bit for each level and unit");
static_assert(UNITS <= METRICS_UNITS, "metrics_tally.weight has an element for each unit");

/* time in which the weight of a group halves, in nanoseconds */
#define HALF_LIFE_NS 600e9

/*
 * A group without series replaces a group with series only if its weight is higher by this factor.
 */
#define HYSTERESIS 1.25

/* the name that the daemon uses for the sum of containers that it evicted */
#define EVICTED "(other)"

/*
 * The counters of struct metrics_machine are consecutive u64s. Those from FIRST_LASTING to
 * AFTER_LASTING, and from FIRST_LATE to AFTER_LATE, are reset when the daemon restarts, and not
 * when the profile is reset. Those from AFTER_LASTING to AFTER_FAULTS belong to the source of
 * samples: a reset of the profile does not reset them, but they begin at 0 if the daemon replaces
 * the source.
 */
#define FIRST_COUNTER  offsetof(struct metrics_machine, records)
#define FIRST_LASTING  offsetof(struct metrics_machine, threads_evicted)
#define AFTER_LASTING  offsetof(struct metrics_machine, faults)
#define AFTER_FAULTS   offsetof(struct metrics_machine, cpu_ns)
#define AFTER_COUNTERS offsetof(struct metrics_machine, memory)
#define FIRST_LATE     offsetof(struct metrics_machine, mappings_lost)
#define AFTER_LATE     offsetof(struct metrics_machine, false_sharing)

void accumulator_init(struct accumulator *acc, const struct label_config *labels, u32 kinds,
		      u64 now_ns)
{
	*acc = (struct accumulator){ .labels = labels, .kinds = kinds, .begun_ns = now_ns };
	labels_get_other_values(labels, &acc->other_set);
}

static void group_clear(struct accumulator_group *group)
{
	free(group->sum);
	free(group->delta);
	group->sum = NULL;
	group->delta = NULL;
}

void accumulator_deinit(struct accumulator *acc)
{
	for (u32 i = 0; i < acc->count; i++)
		group_clear(&acc->groups[i]);
	free(acc->groups);
	metrics_clear(&acc->latest);
	*acc = (struct accumulator){ 0 };
}

u32 accumulator_count_series(u32 levels, u32 kinds)
{
	return CONTAINER_COUNTERS + (u32)__builtin_popcount(levels) +
	       CLASSIC_SERIES * (u32)__builtin_popcount(kinds);
}

/*
 * Return the growth of a counter. Within an epoch a counter decreases only if the daemon
 * crashed and restored an older checkpoint: the samples that it counts again were already added.
 */
static u64 compute_counter_increase(u64 now, u64 before)
{
	return now >= before ? now - before : 0;
}

static u64 add_saturated(u64 a, u64 b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Add up counters, which are consecutive u64s. */
static void add_words(void *to, const void *from, size_t size)
{
	u64 *t = to;
	const u64 *f = from;

	for (size_t i = 0; i < size / sizeof(u64); i++)
		t[i] = add_saturated(t[i], f[i]);
}

static void compute_increases(void *ret, const void *now, const void *before, size_t size)
{
	u64 *r = ret;
	const u64 *n = now, *b = before;

	for (size_t i = 0; i < size / sizeof(u64); i++)
		r[i] = compute_counter_increase(n[i], b[i]);
}

/* Keep the highest value of each counter: the next snapshot is compared with it. */
static void raise_to_highest(void *to, const void *from, size_t size)
{
	u64 *t = to;
	const u64 *f = from;

	for (size_t i = 0; i < size / sizeof(u64); i++)
		t[i] = t[i] < f[i] ? f[i] : t[i];
}

/* Subtract each counter of @part from that of @whole. */
static void subtract_words(void *whole, const void *part, size_t size)
{
	u64 *w = whole;
	const u64 *p = part;

	for (size_t i = 0; i < size / sizeof(u64); i++)
		w[i] -= w[i] < p[i] ? w[i] : p[i];
}

static int compare_ids(const void *a, const void *b)
{
	const struct metrics_container *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * Return the container in the last snapshot; NULL if that snapshot did not have it, or was of
 * another epoch.
 */
static const struct metrics_container *find_previous_container(const struct accumulator *acc,
							       const struct metrics_snapshot *now,
							       const struct metrics_container *c)
{
	if (!acc->any || acc->latest.machine.epoch != now->machine.epoch || !acc->latest.count)
		return NULL;
	return bsearch(c, acc->latest.containers, acc->latest.count, sizeof(*c), compare_ids);
}

static void compute_container_delta(const struct accumulator *acc,
				    const struct metrics_snapshot *now,
				    const struct metrics_container *c,
				    struct metrics_counters *ret_delta)
{
	const struct metrics_container *before = find_previous_container(acc, now, c);

	if (before)
		compute_increases(ret_delta, &c->tally, &before->tally, sizeof(c->tally));
	else
		*ret_delta = c->tally;
}

/* Return the FNV-1a hash of the set by words, which is faster than a hash by bytes. */
static u64 hash_label_set(const struct label_set *set)
{
	u64 hash = 0xcbf29ce484222325ULL, word;

	static_assert(sizeof(*set) % sizeof(word) == 0, "a set is a number of whole words");
	for (size_t i = 0; i < sizeof(*set); i += sizeof(word)) {
		memcpy(&word, (const u8 *)set + i, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ULL;
	}
	return hash;
}

static struct accumulator_group *find_or_add_group(struct accumulator *acc,
						   const struct label_set *set)
{
	u64 hash = hash_label_set(set);
	struct accumulator_group *groups;
	u32 capacity;

	for (u32 i = 0; i < acc->count; i++)
		if (acc->groups[i].hash == hash && !memcmp(&acc->groups[i].set, set, sizeof(*set)))
			return &acc->groups[i];
	if (acc->count == acc->capacity) {
		capacity = acc->capacity ? 2 * acc->capacity : 64;
		groups = reallocarray(acc->groups, capacity, sizeof(*groups));
		if (!groups)
			return NULL;
		acc->groups = groups;
		acc->capacity = capacity;
	}
	acc->groups[acc->count] = (struct accumulator_group){ .set = *set, .hash = hash };
	return &acc->groups[acc->count++];
}

u32 accumulator_get_tally_bits(const struct metrics_counters *tally)
{
	u32 bits = 0;

	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		bits |= tally->level[i] ? 1U << i : 0;
	for (unsigned int i = 0; i < UNITS; i++)
		bits |= tally->weight[i] ? 1U << (SPE_LEVELS + i) : 0;
	return bits;
}

static u32 get_latency_bits(const struct accumulator *acc, const struct metrics_counters *tally)
{
	u32 bits = 0;

	for (unsigned int i = 0; i < METRICS_LATENCIES; i++)
		for (unsigned int b = 0; b < METRICS_BUCKETS; b++)
			bits |= tally->latency[i].bucket[b] ? 1U << i : 0;
	return bits & acc->kinds;
}

/* Return true if the container is counted in "other" whatever its weight is. */
static bool is_grouped_as_other(const struct accumulator *acc, const struct metrics_container *c,
				const struct label_set *set)
{
	return !strcmp(c->name, EVICTED) || !labels_admit_container(acc->labels, c) ||
	       !memcmp(set, &acc->other_set, sizeof(*set));
}

/*
 * Update the time at which the group was last alive: a container has a process, or its counters
 * grew. The first snapshot does not show when the counters of a dead container grew. A restarted
 * daemon counts &metrics_container.empty_ns of a dead container from its start, so a known time is
 * not changed.
 */
static void group_update_alive_time(const struct accumulator *acc, struct accumulator_group *group,
				    const struct metrics_container *c, u64 grew, u64 now_ns)
{
	if (!c->empty_ns || (acc->any && grew))
		group->alive_ns = now_ns;
	else if (!group->alive_ns)
		group->alive_ns = c->empty_ns < now_ns ? now_ns - c->empty_ns : 1;
	group->seen = true;
}

/* Add the growth of the containers' counters to the deltas of their groups. */
static int groups_collect_deltas(struct accumulator *acc, const struct metrics_snapshot *metrics,
				 u64 now_ns)
{
	struct metrics_counters delta;
	struct accumulator_group *group;
	struct label_set set;

	for (u32 i = 0; i < metrics->count; i++) {
		const struct metrics_container *c = &metrics->containers[i];

		labels_get_values(acc->labels, c, &set);
		if (is_grouped_as_other(acc, c, &set))
			continue;
		group = find_or_add_group(acc, &set);
		if (!group)
			return -ENOMEM;
		if (!group->delta)
			group->delta = calloc(1, sizeof(*group->delta));
		if (!group->delta)
			return -ENOMEM;
		compute_container_delta(acc, metrics, c, &delta);
		add_words(group->delta, &delta, sizeof(delta));
		group->weight += (double)(acc->unit < METRICS_UNITS ? delta.weight[acc->unit] :
								      delta.samples);
		group->levels |= accumulator_get_tally_bits(&c->tally);
		group->kinds |= get_latency_bits(acc, &c->tally);
		group_update_alive_time(acc, group, c, delta.samples, now_ns);
	}
	return 0;
}

/*
 * Return the key by which groups are sorted, highest first. Groups that have ended have the lowest
 * key.
 */
static double get_group_rank(const struct accumulator_group *group)
{
	if (group->ended)
		return -1;
	return group->sum ? group->weight * HYSTERESIS : group->weight;
}

static int compare_groups(const void *a, const void *b)
{
	const struct accumulator_group *x = a, *y = b;
	double rx = get_group_rank(x), ry = get_group_rank(y);

	if (rx != ry)
		return rx < ry ? 1 : -1;
	return memcmp(&x->set, &y->set, sizeof(x->set));
}

/*
 * Allocate the counters for the series of a group. They count from 0, and their start time is that
 * of the previous snapshot; at the first snapshot it is @acc->start_ns. Return false if memory
 * cannot be allocated.
 */
static bool group_give_series(const struct accumulator *acc, struct accumulator_group *group)
{
	if (group->sum)
		return true;
	group->sum = calloc(1, sizeof(*group->sum));
	group->start_ns = acc->any ? acc->latest_ns : acc->start_ns;
	return group->sum;
}

/* Give series to the heaviest groups, as many as the limit and the memory permit. */
static void groups_choose_shown(struct accumulator *acc, u32 series, u64 now_ns)
{
	u32 cost, spent = accumulator_count_series(acc->other_levels, acc->kinds);
	u32 shown = 0, living = 0;

	acc->series_needed = spent;
	for (u32 i = 0; i < acc->count; i++)
		acc->groups[i].ended = now_ns - acc->groups[i].alive_ns >= ACCUMULATOR_END_NS;
	if (acc->count)
		qsort(acc->groups, acc->count, sizeof(*acc->groups), compare_groups);
	for (u32 i = 0; i < acc->count; i++) {
		struct accumulator_group *g = &acc->groups[i];

		cost = accumulator_count_series(g->levels, g->kinds);
		acc->series_needed += g->ended ? 0 : cost;
		living += !g->ended;
		/*
		 * Groups are sorted by weight. Behind the first group that does not fit, no lighter
		 * group gets series.
		 */
		if (g->ended || shown < i || spent > series || cost > series - spent ||
		    !group_give_series(acc, g)) {
			free(g->sum);
			g->sum = NULL;
			continue;
		}
		spent += cost;
		shown++;
	}
	acc->shown = shown;
	acc->unshown = living - shown;
}

/*
 * Return the mean number of operations that a sample of @tally stands for; 1 if no interval is
 * known. Weights of different units are added up: in each unit an operation is what the CPUs of
 * these samples count.
 */
static double mean_weight(const struct metrics_counters *tally)
{
	double sum = 0;

	for (unsigned int i = 0; i < UNITS; i++)
		sum += (double)tally->weight[i];
	return sum > 0 && tally->samples ? sum / (double)tally->samples : 1;
}

static u64 multiply_by_weight(u64 count, double weight)
{
	double weighed = (double)count * weight + 0.5;

	return weighed < 0x1p63 ? (u64)weighed : 1ULL << 63;
}

/*
 * Add @delta to @sum. Samples and weights stay as they are. Each other counter is multiplied by the
 * mean weight of the samples, so that it counts operations. The rate of such a counter does not
 * change when the daemon changes the sampling interval.
 */
static void add_weighted_tally(struct metrics_counters *sum, const struct metrics_counters *delta)
{
	const size_t first = offsetof(struct metrics_counters, memory) / sizeof(u64);
	struct metrics_counters weighed = *delta;
	double weight = mean_weight(delta);
	u64 *words = (u64 *)&weighed;

	for (size_t i = first; i < sizeof(weighed) / sizeof(u64); i++)
		words[i] = multiply_by_weight(words[i], weight);
	add_words(sum, &weighed, sizeof(weighed));
}

/*
 * Add the deltas of the groups to their sums, and the rest of @all, the machine's delta, to
 * "other". So all containers and "other" together grow by as many samples and operations as the
 * machine.
 */
static void groups_add_deltas(struct accumulator *acc, const struct metrics_counters *all)
{
	struct metrics_counters rest = *all;

	for (u32 i = 0; i < acc->shown; i++) {
		struct accumulator_group *g = &acc->groups[i];

		if (!g->delta)
			continue;
		add_weighted_tally(g->sum, g->delta);
		subtract_words(&rest, g->delta, sizeof(*g->delta));
	}
	add_weighted_tally(&acc->other, &rest);
}

/*
 * Multiply the weight of each group by @decay. Drop groups that have no series and are not in the
 * last snapshot.
 */
static void groups_drop_unused(struct accumulator *acc, double decay, u64 now_ns)
{
	u32 remaining = 0;

	for (u32 i = 0; i < acc->count; i++) {
		struct accumulator_group *g = &acc->groups[i];

		free(g->delta);
		g->delta = NULL;
		g->weight *= decay;
		/*
		 * The clock was set back. Groups that had ended remain ended; all other groups
		 * count as alive now.
		 */
		if (g->alive_ns > now_ns)
			g->alive_ns = g->ended && now_ns > ACCUMULATOR_END_NS ?
					      now_ns - ACCUMULATOR_END_NS :
					      now_ns;
		if (!g->seen && !g->sum) {
			group_clear(g);
			continue;
		}
		g->seen = false;
		acc->groups[remaining++] = *g;
	}
	acc->count = remaining;
}

/* Compute the growth of the counters at the offsets from @first to below @after. */
static void compute_machine_delta(const struct metrics_machine *now,
				  const struct metrics_machine *before, size_t first, size_t after,
				  struct metrics_machine *delta)
{
	compute_increases((u8 *)delta + first, (const u8 *)now + first, (const u8 *)before + first,
			  after - first);
}

/*
 * Compute the growth of the source's counters. A reset of the profile, which starts another epoch
 * of the same process, does not reset them. The counters of a replaced source begin at 0.
 */
static void compute_source_delta(const struct metrics_machine *now,
				 const struct metrics_machine *before,
				 struct metrics_machine *delta)
{
	u64 *d = (u64 *)((u8 *)delta + AFTER_LASTING);
	const u64 *n = (const u64 *)((const u8 *)now + AFTER_LASTING);
	const u64 *b = (const u64 *)((const u8 *)before + AFTER_LASTING);

	for (size_t i = 0; i < (AFTER_FAULTS - AFTER_LASTING) / sizeof(u64); i++)
		d[i] = n[i] < b[i] ? n[i] : n[i] - b[i];
}

/*
 * A counter of UINT64_MAX is unknown. The sum of a counter that was ever unknown is unknown, too.
 */
static void keep_unknown_counters(struct metrics_machine *sum, const struct metrics_machine *now)
{
	if (now->written == UINT64_MAX)
		sum->written = UINT64_MAX;
	if (now->lost == UINT64_MAX)
		sum->lost = UINT64_MAX;
	if (now->enabled_ns == UINT64_MAX)
		sum->enabled_ns = UINT64_MAX;
}

/*
 * Add the growth of the machine's counters. It is computed from the machine's counters alone: if
 * counters of containers are wrong, or the ID of a container changes, the machine's counters stay
 * correct.
 */
static void machine_update(struct accumulator *acc, const struct metrics_snapshot *metrics,
			   struct metrics_counters *ret_delta)
{
	const struct metrics_machine *now = &metrics->machine, *before = &acc->latest.machine;
	struct metrics_machine delta = *now, *m = &acc->machine;

	if (acc->any && before->epoch == now->epoch) {
		compute_machine_delta(now, before, FIRST_COUNTER, FIRST_LASTING, &delta);
		compute_machine_delta(now, before, AFTER_LASTING, AFTER_COUNTERS, &delta);
		compute_increases(&delta.all, &now->all, &before->all, sizeof(delta.all));
		delta.false_sharing =
			compute_counter_increase(now->false_sharing, before->false_sharing);
	} else if (acc->any && before->process == now->process) {
		compute_source_delta(now, before, &delta);
	}
	if (acc->any && before->process == now->process) {
		compute_machine_delta(now, before, FIRST_LASTING, AFTER_LASTING, &delta);
		compute_machine_delta(now, before, FIRST_LATE, AFTER_LATE, &delta);
	}
	add_words((u8 *)m + FIRST_COUNTER, (const u8 *)&delta + FIRST_COUNTER,
		  AFTER_COUNTERS - FIRST_COUNTER);
	add_words((u8 *)m + FIRST_LATE, (const u8 *)&delta + FIRST_LATE, AFTER_LATE - FIRST_LATE);
	add_weighted_tally(&m->all, &delta.all);
	m->false_sharing = add_saturated(
		m->false_sharing, multiply_by_weight(delta.false_sharing, mean_weight(&delta.all)));
	keep_unknown_counters(m, now);
	*ret_delta = delta.all;
}

/*
 * Raise each counter of the new snapshot to its value in the last snapshot if it is lower: see
 * compute_counter_increase().
 */
static void raise_to_previous(const struct accumulator *acc, struct metrics_snapshot *metrics)
{
	struct metrics_machine *now = &metrics->machine;
	const struct metrics_machine *before = &acc->latest.machine;

	for (u32 i = 0; i < metrics->count; i++) {
		struct metrics_container *c = &metrics->containers[i];
		const struct metrics_container *was = find_previous_container(acc, metrics, c);

		if (was)
			raise_to_highest(&c->tally, &was->tally, sizeof(c->tally));
	}
	if (!acc->any || before->epoch != now->epoch)
		return;
	raise_to_highest(&now->all, &before->all, sizeof(now->all));
	raise_to_highest(&now->false_sharing, &before->false_sharing, sizeof(u64));
	raise_to_highest((u8 *)now + FIRST_COUNTER, (const u8 *)before + FIRST_COUNTER,
			 FIRST_LASTING - FIRST_COUNTER);
	raise_to_highest((u8 *)now + AFTER_LASTING, (const u8 *)before + AFTER_LASTING,
			 AFTER_COUNTERS - AFTER_LASTING);
}

/* Escape text from the daemon, because it becomes the value of a label. */
static void escape_label(char *text, size_t size)
{
	char raw[64];

	snprintf(raw, sizeof(raw), "%s", text);
	escape_string(text, size, raw);
}

/*
 * Set the start time from the first snapshot. Return true if its daemon began to count before the
 * exporter: an earlier exporter may have exported a part of these counts, so the snapshot is only
 * the base of later ones.
 */
static bool set_start_time(struct accumulator *acc, const struct metrics_machine *machine,
			   u64 now_ns)
{
	u64 daemon_ns = machine->age_ns < now_ns ? now_ns - machine->age_ns : 0;
	bool is_base = daemon_ns < acc->begun_ns;

	acc->start_ns = is_base ? now_ns : daemon_ns;
	return is_base;
}

/* Reset all counters to 0, because the first snapshot is only the base of the next ones. */
static void clear_sums(struct accumulator *acc)
{
	struct metrics_machine *m = &acc->machine;
	struct metrics_machine before = *m;

	memset((u8 *)m + FIRST_COUNTER, 0, AFTER_COUNTERS - FIRST_COUNTER);
	memset((u8 *)m + FIRST_LATE, 0, AFTER_LATE - FIRST_LATE);
	keep_unknown_counters(m, &before);
	m->all = (struct metrics_counters){ 0 };
	m->false_sharing = 0;
	acc->other = (struct metrics_counters){ 0 };
	for (u32 i = 0; i < acc->shown; i++)
		*acc->groups[i].sum = (struct metrics_counters){ 0 };
}

static void move_start_before_now(u64 *start_ns, u64 now_ns)
{
	if (*start_ns >= now_ns)
		*start_ns = now_ns - 1;
}

void accumulator_correct_start_times(struct accumulator *acc, u64 now_ns)
{
	move_start_before_now(&acc->start_ns, now_ns);
	for (u32 i = 0; i < acc->shown; i++)
		move_start_before_now(&acc->groups[i].start_ns, now_ns);
}

int accumulator_update(struct accumulator *acc, struct metrics_snapshot *metrics, u32 series,
		       u64 now_ns)
{
	unsigned int unit = sample_unit_find_common(metrics->machine.all.weight, METRICS_UNITS);
	bool is_base = !acc->any && set_start_time(acc, &metrics->machine, now_ns);
	struct metrics_counters delta;
	double age = 0;
	int r;

	if (metrics->count)
		qsort(metrics->containers, metrics->count, sizeof(*metrics->containers),
		      compare_ids);
	if (acc->any && acc->latest.machine.epoch == metrics->machine.epoch)
		age = (double)compute_counter_increase(metrics->machine.age_ns,
						       acc->latest.machine.age_ns);
	/*
	 * Weights in different units cannot be compared, so after a change of the unit they become
	 * 0.
	 */
	groups_drop_unused(acc, unit == acc->unit ? exp2(-age / HALF_LIFE_NS) : 0, now_ns);
	acc->unit = unit;
	r = groups_collect_deltas(acc, metrics, now_ns);
	acc->other_levels |= accumulator_get_tally_bits(&metrics->machine.all);
	if (r >= 0) {
		groups_choose_shown(acc, series, now_ns);
		machine_update(acc, metrics, &delta);
		groups_add_deltas(acc, &delta);
		if (is_base)
			clear_sums(acc);
		raise_to_previous(acc, metrics);
		metrics_clear(&acc->latest);
		escape_label(metrics->machine.version, sizeof(metrics->machine.version));
		escape_label(metrics->machine.source, sizeof(metrics->machine.source));
		acc->latest = *metrics;
		acc->any = true;
		acc->latest_ns = now_ns;
	} else {
		metrics_clear(metrics);
	}
	*metrics = (struct metrics_snapshot){ 0 };
	return r;
}
