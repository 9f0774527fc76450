// SPDX-License-Identifier: LGPL-2.1-or-later
#include "series.h"

#include <errno.h>
#include <stdlib.h>

#include "codec/data-source.h"
#include "source/source.h"
#include "util/histogram.h"

static_assert(HISTOGRAM_BUCKETS < METRICS_BUCKETS,
	      "metrics_histogram has an element for each bucket");
static_assert((int)SPE_LEVELS <= METRICS_LEVELS, "metrics_tally has an element for each level");

static const char *const kinds[METRICS_LATENCIES] = {
	[METRICS_TOTAL] = "total",
	[METRICS_ISSUE] = "issue",
	[METRICS_TRANSLATION] = "translation",
};

/*
 * Each of these bounds is also a bound of the daemon's exponential buckets, so that counts are
 * exact.
 */
const u32 series_bounds[CLASSIC_BUCKETS - 1] = {
	4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096
};

void series_to_classic_buckets(const struct metrics_histogram *histogram,
			       u64 ret_counts[CLASSIC_BUCKETS])
{
	unsigned int at = 0;
	u64 sum = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		while (at < CLASSIC_BUCKETS - 1 && histogram_get_upper_bound(i) > series_bounds[at])
			ret_counts[at++] = sum;
		sum += histogram->bucket[i];
	}
	while (at < CLASSIC_BUCKETS)
		ret_counts[at++] = sum;
}

void series_to_native_buckets(const struct metrics_histogram *histogram,
			      u64 ret_counts[SERIES_INDICES], u64 *ret_zero)
{
	memset(ret_counts, 0, SERIES_INDICES * sizeof(*ret_counts));
	*ret_zero = histogram->bucket[0];
	/*
	 * A native histogram of schema 2 has the values in (2^((i-1)/4), 2^(i/4)] at index i. So
	 * index 0 has the value 1, which is bucket 1 of @histogram, and indices 1 to 3 have no
	 * integer. From bucket 2 of @histogram on, the index is the number of the bucket plus 2.
	 */
	ret_counts[0] = histogram->bucket[1];
	for (unsigned int i = 2; i < HISTOGRAM_BUCKETS; i++)
		ret_counts[i + 2] = histogram->bucket[i];
}

struct series_builder {
	struct series_set *set;
	const struct accumulator *acc;
	const struct series_self *self;
	/* labels of the container of the current series; NULL: none */
	const struct label_set *labels;
	u64 start_ns; /* time from which the series that are added count */
	struct metric_series scratch; /* receives series if memory cannot be allocated */
	int error;
};

static struct metric_series *series_add(struct series_builder *b, enum family_id family)
{
	struct series_set *set = b->set;
	const struct label_config *labels = b->acc->labels;
	struct metric_series *s;
	u32 capacity;

	if (set->count == set->capacity) {
		capacity = set->capacity ? 2 * set->capacity : 256;
		s = reallocarray(set->series, capacity, sizeof(*s));
		if (!s) {
			b->error = -ENOMEM;
			b->scratch = (struct metric_series){ 0 };
			return &b->scratch;
		}
		set->series = s;
		set->capacity = capacity;
	}
	s = &set->series[set->count++];
	*s = (struct metric_series){ .start_ns = b->start_ns };
	s->family = b->self->emulated ? family_get_emulated(family) : &series_families[family];
	for (unsigned int i = 0; i < labels->count; i++) {
		const struct label_rule *rule = &labels->rules[i];
		const char *value = rule->constant;

		if (rule->fact != LABEL_CONSTANT)
			value = b->labels ? b->labels->value[i] : "";
		if (*value)
			s->label[s->labels++] = (struct series_label){ rule->name, value };
	}
	return s;
}

static struct metric_series *add_value(struct series_builder *b, enum family_id family,
				       double value)
{
	struct metric_series *s = series_add(b, family);

	s->value = value;
	return s;
}

static void add_labeled_value(struct series_builder *b, enum family_id family, const char *name,
			      const char *value, double figure)
{
	struct metric_series *s = add_value(b, family, figure);

	s->label[s->labels++] = (struct series_label){ name, value };
}

static double to_seconds(u64 ns)
{
	return (double)ns / 1e9;
}

static void add_state(struct series_builder *b)
{
	const struct metrics_machine *m = &b->acc->latest.machine;
	struct metric_series *s;

	add_value(b, FAMILY_DAEMON_UP, b->self->daemon_up);
	add_value(b, FAMILY_SPE_AVAILABLE, b->self->has_spe || m->backend == BACKEND_HARDWARE);
	if (!b->self->daemon_up || !b->self->exportable)
		return;
	s = add_value(b, FAMILY_BUILD, 1);
	s->label[s->labels++] = (struct series_label){ "version", m->version };
	s->label[s->labels++] = (struct series_label){ "source", m->source };
	add_value(b, FAMILY_CPUS, m->cpus);
	add_value(b, FAMILY_CPUS_STOPPED, m->cpus_stopped);
	add_value(b, FAMILY_INTERVAL, to_seconds(m->interval_ns));
}

static void add_ledgers(struct series_builder *b)
{
	static const char *const causes[METRICS_BLINDS] = {
		"unknown",  "full",  "handling", "throttle",
		"handover", "fault", "restart",	 "hotplug",
	};
	const struct metrics_machine *m = &b->acc->machine;

	add_value(b, FAMILY_RECORDS, (double)m->records);
	if (m->written != UINT64_MAX)
		add_value(b, FAMILY_WRITTEN, (double)m->written);
	add_value(b, FAMILY_FILTERED, (double)m->filtered);
	add_labeled_value(b, FAMILY_BYTES, "ledger", "decoded", (double)m->decoded);
	add_labeled_value(b, FAMILY_BYTES, "ledger", "padding", (double)m->padding);
	add_labeled_value(b, FAMILY_BYTES, "ledger", "suspect", (double)m->suspect);
	if (m->lost != UINT64_MAX)
		add_labeled_value(b, FAMILY_BYTES, "ledger", "lost", (double)m->lost);
	if (m->enabled_ns != UINT64_MAX)
		add_value(b, FAMILY_ENABLED, to_seconds(m->enabled_ns));
	/*
	 * Also export causes that have not occurred, with the value 0, so that rate() includes
	 * their first occurrence.
	 */
	for (unsigned int i = 0; i < METRICS_BLINDS && m->enabled_ns != UINT64_MAX; i++)
		add_labeled_value(b, FAMILY_BLIND, "cause", causes[i], to_seconds(m->blind_ns[i]));
	if (m->enabled_ns != UINT64_MAX)
		add_value(b, FAMILY_UNHANDLED, to_seconds(m->unhandled_ns));
	add_value(b, FAMILY_UNATTRIBUTED, (double)m->unattributed);
	add_value(b, FAMILY_EVICTED, (double)m->evicted);
	add_labeled_value(b, FAMILY_EVICTIONS, "table", "threads", (double)m->threads_evicted);
	add_labeled_value(b, FAMILY_EVICTIONS, "table", "processes", (double)m->processes_evicted);
	add_labeled_value(b, FAMILY_EVICTIONS, "table", "containers",
			  (double)m->containers_evicted);
	add_labeled_value(b, FAMILY_EVICTIONS, "table", "containers_full",
			  (double)m->containers_overflow);
	add_labeled_value(b, FAMILY_EVICTIONS, "table", "mappings", (double)m->mappings_dropped);
	add_value(b, FAMILY_EVENTS_LOST, (double)m->events_lost);
	add_value(b, FAMILY_MAPPINGS_LOST, (double)m->mappings_lost);
	add_value(b, FAMILY_LOOKUPS_UNANSWERED, (double)m->lookups_unanswered);
	add_value(b, FAMILY_FAULTS, (double)m->faults);
	add_labeled_value(b, FAMILY_HELD_BACK, "cause", "rate", (double)m->throttles);
	add_labeled_value(b, FAMILY_HELD_BACK, "cause", "unread", (double)m->unread);
	add_value(b, FAMILY_DAEMON_CPU, to_seconds(m->cpu_ns));
	if (b->self->daemon_up)
		add_value(b, FAMILY_DAEMON_MEMORY, (double)b->acc->latest.machine.memory);
}

static void add_levels(struct series_builder *b, enum family_id family, const u64 *levels)
{
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		if (levels[i])
			add_labeled_value(b, family, "source", spe_level_name(i),
					  (double)levels[i]);
}

/* Add weights: operations of different units must not be added up, so each unit has a series. */
static void add_weights(struct series_builder *b, enum family_id family, const u64 *weights)
{
	static const char *const units[UNITS] = {
		[UNIT_UNKNOWN] = "unknown",
		[UNIT_MICRO_OPS] = "micro_operations",
		[UNIT_INSTRUCTIONS] = "instructions",
	};

	for (unsigned int i = 0; i < UNITS; i++)
		if (weights[i])
			add_labeled_value(b, family, "operation", units[i], (double)weights[i]);
}

static bool is_empty(const struct metrics_histogram *h)
{
	for (unsigned int i = 0; i < METRICS_BUCKETS; i++)
		if (h->bucket[i])
			return false;
	return true;
}

static void add_latencies(struct series_builder *b, enum family_id family,
			  const struct metrics_counters *tally, u32 wanted)
{
	struct metric_series *s;

	for (unsigned int i = 0; i < METRICS_LATENCIES; i++) {
		if (!(wanted & 1U << i) || is_empty(&tally->latency[i]))
			continue;
		s = series_add(b, family);
		s->histogram = &tally->latency[i];
		s->label[s->labels++] = (struct series_label){ "kind", kinds[i] };
	}
}

static void add_machine(struct series_builder *b)
{
	const struct metrics_counters *all = &b->acc->machine.all;

	add_weights(b, FAMILY_OPERATIONS, all->weight);
	add_levels(b, FAMILY_ACCESSES, all->level);
	add_value(b, FAMILY_REMOTE, (double)all->remote);
	add_value(b, FAMILY_FALSE_SHARING, (double)b->acc->machine.false_sharing);
	add_value(b, FAMILY_BRANCHES, (double)all->branches);
	add_value(b, FAMILY_MISPREDICTED, (double)all->mispredicted);
	add_latencies(b, FAMILY_LATENCY, all, UINT32_MAX);
}

static void add_container(struct series_builder *b, const struct label_set *labels,
			  const struct metrics_counters *tally, u64 start_ns)
{
	b->labels = labels;
	b->start_ns = start_ns;
	add_value(b, FAMILY_CONTAINER_SAMPLES, (double)tally->samples);
	add_weights(b, FAMILY_CONTAINER_OPERATIONS, tally->weight);
	add_levels(b, FAMILY_CONTAINER_ACCESSES, tally->level);
	add_value(b, FAMILY_CONTAINER_REMOTE, (double)tally->remote);
	add_value(b, FAMILY_CONTAINER_BRANCHES, (double)tally->branches);
	add_value(b, FAMILY_CONTAINER_MISPREDICTED, (double)tally->mispredicted);
	add_latencies(b, FAMILY_CONTAINER_LATENCY, tally, b->acc->kinds);
	b->labels = NULL;
}

static void add_containers(struct series_builder *b)
{
	const struct accumulator *f = b->acc;

	for (u32 i = 0; i < f->shown; i++)
		add_container(b, &f->groups[i].set, f->groups[i].sum, f->groups[i].start_ns);
	add_container(b, &f->other_set, &f->other, f->start_ns);
}

static u32 count_exported_series(const struct accumulator *acc)
{
	u32 sum = accumulator_count_series(acc->other_levels, acc->kinds);

	for (u32 i = 0; i < acc->shown; i++)
		sum += accumulator_count_series(acc->groups[i].levels, acc->groups[i].kinds);
	return sum;
}

/*
 * Return whether the daemon's counters are exported. They end after SERIES_MISSED unanswered
 * queries: the last values with the present time would show that nothing has been sampled since. A
 * single query may fail because the daemon restarts.
 */
static bool is_exported(const struct series_self *self)
{
	return self->exportable && self->missed < SERIES_MISSED;
}

static void add_exporter_counters(struct series_builder *b)
{
	const struct series_self *self = b->self;
	u32 shown = count_exported_series(b->acc);

	add_value(b, FAMILY_SELF_CPU, to_seconds(self->cpu_ns));
	add_value(b, FAMILY_SELF_MEMORY, (double)self->memory);
	if (is_exported(self)) {
		add_labeled_value(b, FAMILY_SELF_SERIES, "state", "exported", shown);
		add_labeled_value(b, FAMILY_SELF_SERIES, "state", "dropped",
				  b->acc->series_needed > shown ?
					  (double)(b->acc->series_needed - shown) :
					  0);
		add_labeled_value(b, FAMILY_SELF_CONTAINERS, "state", "exported", b->acc->shown);
		add_labeled_value(b, FAMILY_SELF_CONTAINERS, "state", "other", b->acc->unshown);
	}
	add_labeled_value(b, FAMILY_SELF_SCRAPES, "state", "answered", (double)self->scrapes);
	add_labeled_value(b, FAMILY_SELF_SCRAPES, "state", "refused", (double)self->refused);
	add_value(b, FAMILY_SELF_QUERY_ERRORS, (double)self->query_errors);
	for (unsigned int i = 0; i < ARRAY_SIZE(self->push); i++) {
		const struct series_push *push = &self->push[i];

		if (!push->destination)
			continue;
		add_labeled_value(b, FAMILY_PUSH_SENT, "destination", push->destination,
				  (double)push->sent);
		add_labeled_value(b, FAMILY_PUSH_RETRIED, "destination", push->destination,
				  (double)push->retried);
		add_labeled_value(b, FAMILY_PUSH_DROPPED, "destination", push->destination,
				  (double)push->dropped);
		if (push->rejects)
			add_labeled_value(b, FAMILY_PUSH_REJECTED, "destination", push->destination,
					  (double)push->rejected);
		add_labeled_value(b, FAMILY_PUSH_QUEUED, "destination", push->destination,
				  (double)push->queued_bytes);
	}
}

static void add_all_series(struct series_builder *b)
{
	b->set->count = 0;
	b->start_ns = b->self->start_ns;
	add_state(b);
	if (b->acc->any && is_exported(b->self)) {
		b->start_ns = b->acc->start_ns;
		add_ledgers(b);
		add_machine(b);
		add_containers(b);
		b->start_ns = b->self->start_ns;
	}
	add_exporter_counters(b);
}

/* Sort by family, as formats require; the order within a family does not change. */
static int sort_by_family(struct series_set *set)
{
	struct metric_series *sorted = calloc(set->capacity, sizeof(*sorted));
	u32 n = 0;

	if (!sorted)
		return -ENOMEM;
	for (unsigned int f = 0; f < FAMILY_COUNT; f++)
		for (u32 i = 0; i < set->count; i++)
			if (set->series[i].family == &series_families[f] ||
			    set->series[i].family == family_get_emulated(f))
				sorted[n++] = set->series[i];
	free(set->series);
	set->series = sorted;
	return 0;
}

int series_build(struct series_set *set, const struct accumulator *acc,
		 const struct series_self *self)
{
	struct series_builder b = { .set = set, .acc = acc, .self = self };

	add_all_series(&b);
	return b.error < 0 ? b.error : sort_by_family(set);
}

void series_deinit(struct series_set *set)
{
	free(set->series);
	*set = (struct series_set){ 0 };
}

u32 series_count_machine(const struct accumulator *acc, const struct metrics_snapshot *next)
{
	u32 levels = acc->other_levels | accumulator_get_tally_bits(&next->machine.all);

	return SERIES_FIXED + (u32)__builtin_popcount(levels) + METRICS_LATENCIES * CLASSIC_SERIES;
}
