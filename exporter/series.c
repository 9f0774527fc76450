// SPDX-License-Identifier: LGPL-2.1-or-later
#include "series.h"

#include <errno.h>
#include <stdlib.h>

#include "codec/data-source.h"
#include "histogram.h"
#include "source.h"

static_assert(HISTOGRAM_BUCKETS < METRICS_BUCKETS, "a place for each bucket");
static_assert((int)SPE_LEVELS <= METRICS_LEVELS, "a place for each level");

enum family {
	DAEMON_UP,
	SPE_AVAILABLE,
	BUILD,
	CPUS,
	CPUS_STOPPED,
	INTERVAL,
	RECORDS,
	WRITTEN,
	FILTERED,
	BYTES,
	ENABLED,
	BLIND,
	UNATTRIBUTED,
	EVICTED,
	EVICTIONS,
	EVENTS_LOST,
	MAPPINGS_LOST,
	LOOKUPS_UNANSWERED,
	FAULTS,
	HELD_BACK,
	DAEMON_CPU,
	DAEMON_MEMORY,
	OPERATIONS,
	ACCESSES,
	REMOTE,
	BRANCHES,
	MISPREDICTED,
	LATENCY,
	CONTAINER_SAMPLES,
	CONTAINER_OPERATIONS,
	CONTAINER_ACCESSES,
	CONTAINER_REMOTE,
	CONTAINER_BRANCHES,
	CONTAINER_MISPREDICTED,
	CONTAINER_LATENCY,
	SELF_CPU,
	SELF_MEMORY,
	SELF_SERIES,
	SELF_CONTAINERS,
	SELF_SCRAPES,
	SELF_QUERY_ERRORS,
	PUSH_SENT,
	PUSH_RETRIED,
	PUSH_DROPPED,
	PUSH_REJECTED,
	PUSH_QUEUED,
	FAMILIES,
};

static const struct series_family families[FAMILIES] = {
	[DAEMON_UP] = { "speprof_daemon_up", "", "Whether speprofd answered the last time it was asked.",
			SERIES_GAUGE },
	[SPE_AVAILABLE] = { "speprof_spe_available", "",
			    "Whether this machine has SPE: an SPU was sampled, or a driver has one. An emulated "
			    "SPU, whose figures are not exported, is none.", SERIES_GAUGE },
	[BUILD] = { "speprof_daemon_info", "", "Version of the daemon, and how it samples.", SERIES_GAUGE },
	[CPUS] = { "speprof_cpus", "", "CPUs whose SPU is sampled.", SERIES_GAUGE },
	[CPUS_STOPPED] = { "speprof_cpus_stopped", "", "CPUs that should sample and do not: by a fault, "
			   "or as somebody else has their SPU.", SERIES_GAUGE },
	[INTERVAL] = { "speprof_sampling_interval_seconds", "seconds",
		       "Mean time between two samples of a busy CPU, in force.", SERIES_GAUGE },
	[RECORDS] = { "speprof_records", "", "Records decoded.", SERIES_COUNTER },
	[WRITTEN] = { "speprof_records_written", "", "Records that the SPU says it wrote.",
		      SERIES_COUNTER },
	[FILTERED] = { "speprof_records_filtered", "", "Records that the daemon's filter left out.",
		       SERIES_COUNTER },
	[BYTES] = { "speprof_record_bytes", "bytes",
		    "Bytes by ledger: those that SPUs wrote, and those that were lost.", SERIES_COUNTER },
	[ENABLED] = { "speprof_enabled_seconds", "seconds", "Time for which sampling was enabled, over CPUs.",
		      SERIES_COUNTER },
	[BLIND] = { "speprof_blind_seconds", "seconds", "Of it, that in which no SPU was armed, by cause.",
		    SERIES_COUNTER },
	[UNATTRIBUTED] = { "speprof_samples_unattributed", "", "Samples of no known process.",
			   SERIES_COUNTER },
	[EVICTED] = { "speprof_samples_evicted", "", "Samples whose place gave way to another's.",
		      SERIES_COUNTER },
	[EVICTIONS] = { "speprof_evictions", "", "Entries of full tables that gave way, or did not fit.",
			SERIES_COUNTER },
	[EVENTS_LOST] = { "speprof_task_events_lost", "", "What the kernel had no room to tell of tasks.",
			  SERIES_COUNTER },
	[MAPPINGS_LOST] = { "speprof_mapping_events_lost", "",
			    "Executable mappings that the kernel had no space to report.", SERIES_COUNTER },
	[LOOKUPS_UNANSWERED] = { "speprof_lookups_unanswered", "",
				 "Look-ups in /proc that were refused or got no answer in time.",
				 SERIES_COUNTER },
	[FAULTS] = { "speprof_faults", "", "Management events other than a full buffer.", SERIES_COUNTER },
	[HELD_BACK] = { "speprof_held_back", "", "Times that the module held an SPU back, by cause.",
			SERIES_COUNTER },
	[DAEMON_CPU] = { "speprof_daemon_cpu_seconds", "seconds", "CPU time of the daemon.",
			 SERIES_COUNTER },
	[DAEMON_MEMORY] = { "speprof_daemon_memory_bytes", "bytes", "Resident memory of the daemon.",
			    SERIES_GAUGE },
	[OPERATIONS] = { "speprof_operations", "",
			 "Operations that the samples stand for: each the interval that it was taken "
			 "with.", SERIES_COUNTER },
	[ACCESSES] = { "speprof_accesses", "", "Sampled loads and stores, by what served them.",
		       SERIES_COUNTER },
	[REMOTE] = { "speprof_accesses_remote", "", "Sampled loads and stores that accessed another chip.",
		     SERIES_COUNTER },
	[BRANCHES] = { "speprof_branches", "", "Sampled branches.", SERIES_COUNTER },
	[MISPREDICTED] = { "speprof_branches_mispredicted", "", "Of them, mispredicted ones.",
			   SERIES_COUNTER },
	[LATENCY] = { "speprof_latency_cycles", "cycles", "Latency of sampled operations, by kind.",
		      SERIES_HISTOGRAM },
	[CONTAINER_SAMPLES] = { "speprof_container_samples", "", "Samples of a container.",
				SERIES_COUNTER },
	[CONTAINER_OPERATIONS] = { "speprof_container_operations", "",
				   "Operations that the samples of a container stand for.",
				   SERIES_COUNTER },
	[CONTAINER_ACCESSES] = { "speprof_container_accesses", "",
				 "Sampled loads and stores of a container, by what served them.",
				 SERIES_COUNTER },
	[CONTAINER_REMOTE] = { "speprof_container_accesses_remote", "",
			       "Sampled loads and stores of a container that accessed another chip.",
			       SERIES_COUNTER },
	[CONTAINER_BRANCHES] = { "speprof_container_branches", "", "Sampled branches of a container.",
				 SERIES_COUNTER },
	[CONTAINER_MISPREDICTED] = { "speprof_container_branches_mispredicted", "",
				     "Of them, mispredicted ones.", SERIES_COUNTER },
	[CONTAINER_LATENCY] = { "speprof_container_latency_cycles", "cycles",
				"Latency of sampled operations of a container, by kind.",
				SERIES_HISTOGRAM },
	[SELF_CPU] = { "speprof_exporter_cpu_seconds", "seconds", "CPU time of the exporter.",
		       SERIES_COUNTER },
	[SELF_MEMORY] = { "speprof_exporter_memory_bytes", "bytes", "Resident memory of the exporter.",
			  SERIES_GAUGE },
	[SELF_SERIES] = { "speprof_exporter_container_series", "",
			  "Series of containers: exported, and dropped into \"other\".", SERIES_GAUGE },
	[SELF_CONTAINERS] = { "speprof_exporter_containers", "",
			      "Containers by name: exported, and summed into \"other\".", SERIES_GAUGE },
	[SELF_SCRAPES] = { "speprof_exporter_requests", "", "HTTP requests, answered and refused.",
			   SERIES_COUNTER },
	[SELF_QUERY_ERRORS] = { "speprof_exporter_feed_errors", "",
			       "Times that the daemon did not answer, or not as it should.",
			       SERIES_COUNTER },
	[PUSH_SENT] = { "speprof_exporter_push_sent", "", "Requests that a receiver took.",
			SERIES_COUNTER },
	[PUSH_RETRIED] = { "speprof_exporter_push_retried", "", "Requests that had to be sent again.",
			   SERIES_COUNTER },
	[PUSH_DROPPED] = { "speprof_exporter_push_dropped", "",
			   "Requests that were given up: refused, or pushed out of the queue.",
			   SERIES_COUNTER },
	[PUSH_REJECTED] = { "speprof_exporter_push_rejected_points", "",
			    "Data points of requests that a receiver took but for these.",
			    SERIES_COUNTER },
	[PUSH_QUEUED] = { "speprof_exporter_push_queued_bytes", "bytes", "Bytes of requests that wait.",
			  SERIES_GAUGE },
};

static const char *const kinds[METRICS_LATENCIES] = {
	[METRICS_TOTAL] = "total",
	[METRICS_ISSUE] = "issue",
	[METRICS_TRANSLATION] = "translation",
};

/* All are bounds of exponential buckets too, so that counts are exact. */
const u32 series_bounds[CLASSIC_BUCKETS - 1] = { 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096 };

void series_classic(const struct metrics_histogram *histogram, u64 ret_counts[CLASSIC_BUCKETS])
{
	unsigned int at = 0;
	u64 sum = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		while (at < CLASSIC_BUCKETS - 1 && histogram_upper(i) > series_bounds[at])
			ret_counts[at++] = sum;
		sum += histogram->bucket[i];
	}
	while (at < CLASSIC_BUCKETS)
		ret_counts[at++] = sum;
}

void series_native(const struct metrics_histogram *histogram, u64 ret_counts[SERIES_INDICES],
		   u64 *ret_zero)
{
	memset(ret_counts, 0, SERIES_INDICES * sizeof(*ret_counts));
	*ret_zero = histogram->bucket[0];
	/* One is 2^0; between one and two lies no integer, and from two on none is left out. */
	ret_counts[0] = histogram->bucket[1];
	for (unsigned int i = 2; i < HISTOGRAM_BUCKETS; i++)
		ret_counts[i + 2] = histogram->bucket[i];
}

struct builder {
	struct series_set *set;
	const struct accumulator *acc;
	const struct series_self *self;
	const struct label_set *labels; /* of a container */
	u64 start_ns;			/* of what is being added */
	struct series nowhere; /* where those go for which there is no memory */
	int error;
};

static struct series *add(struct builder *b, enum family family)
{
	struct series_set *set = b->set;
	const struct labels *labels = b->acc->labels;
	struct series *s;
	u32 room;

	if (set->count == set->room) {
		room = set->room ? 2 * set->room : 256;
		s = reallocarray(set->series, room, sizeof(*s));
		if (!s) {
			b->error = -ENOMEM;
			b->nowhere = (struct series){ 0 };
			return &b->nowhere;
		}
		set->series = s;
		set->room = room;
	}
	s = &set->series[set->count++];
	*s = (struct series){ .family = &families[family], .start_ns = b->start_ns };
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

static struct series *add_value(struct builder *b, enum family family, double value)
{
	struct series *s = add(b, family);

	s->value = value;
	return s;
}

static void add_labeled(struct builder *b, enum family family, const char *name, const char *value,
			double figure)
{
	struct series *s = add_value(b, family, figure);

	s->label[s->labels++] = (struct series_label){ name, value };
}

static double seconds(u64 ns)
{
	return (double)ns / 1e9;
}

static void add_state(struct builder *b)
{
	const struct metrics_machine *m = &b->acc->latest.machine;
	struct series *s;

	add_value(b, DAEMON_UP, b->self->daemon_up);
	add_value(b, SPE_AVAILABLE, b->self->has_spe || m->backend == BACKEND_HARDWARE);
	if (!b->self->daemon_up || !b->self->exportable)
		return;
	s = add_value(b, BUILD, 1);
	s->label[s->labels++] = (struct series_label){ "version", m->version };
	s->label[s->labels++] = (struct series_label){ "source", m->source };
	add_value(b, CPUS, m->cpus);
	add_value(b, CPUS_STOPPED, m->cpus_stopped);
	add_value(b, INTERVAL, seconds(m->interval_ns));
}

static void add_ledgers(struct builder *b)
{
	static const char *const causes[METRICS_BLINDS] = {
		"unknown", "full", "handling", "throttle", "handover", "fault",
		"restart", "hotplug",
	};
	const struct metrics_machine *m = &b->acc->machine;

	add_value(b, RECORDS, (double)m->records);
	if (m->written != UINT64_MAX)
		add_value(b, WRITTEN, (double)m->written);
	add_value(b, FILTERED, (double)m->filtered);
	add_labeled(b, BYTES, "ledger", "decoded", (double)m->decoded);
	add_labeled(b, BYTES, "ledger", "padding", (double)m->padding);
	add_labeled(b, BYTES, "ledger", "suspect", (double)m->suspect);
	add_labeled(b, BYTES, "ledger", "dropped", (double)m->dropped);
	if (m->lost != UINT64_MAX)
		add_labeled(b, BYTES, "ledger", "lost", (double)m->lost);
	if (m->enabled_ns != UINT64_MAX)
		add_value(b, ENABLED, seconds(m->enabled_ns));
	/* All of them: what has not happened yet is 0, so that its first time is a step. */
	for (unsigned int i = 0; i < METRICS_BLINDS && m->enabled_ns != UINT64_MAX; i++)
		add_labeled(b, BLIND, "cause", causes[i], seconds(m->blind_ns[i]));
	add_value(b, UNATTRIBUTED, (double)m->unattributed);
	add_value(b, EVICTED, (double)m->evicted);
	add_labeled(b, EVICTIONS, "table", "threads", (double)m->threads_evicted);
	add_labeled(b, EVICTIONS, "table", "processes", (double)m->processes_evicted);
	add_labeled(b, EVICTIONS, "table", "containers", (double)m->containers_evicted);
	add_labeled(b, EVICTIONS, "table", "containers_full", (double)m->containers_overflow);
	add_labeled(b, EVICTIONS, "table", "mappings", (double)m->mappings_dropped);
	add_value(b, EVENTS_LOST, (double)m->events_lost);
	add_value(b, MAPPINGS_LOST, (double)m->mappings_lost);
	add_value(b, LOOKUPS_UNANSWERED, (double)m->lookups_unanswered);
	add_value(b, FAULTS, (double)m->faults);
	add_labeled(b, HELD_BACK, "cause", "rate", (double)m->throttles);
	add_labeled(b, HELD_BACK, "cause", "unread", (double)m->unread);
	add_value(b, DAEMON_CPU, seconds(m->cpu_ns));
	if (b->self->daemon_up)
		add_value(b, DAEMON_MEMORY, (double)b->acc->latest.machine.memory);
}

static void add_levels(struct builder *b, enum family family, const u64 *levels)
{
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		if (levels[i])
			add_labeled(b, family, "source", spe_level_name(i), (double)levels[i]);
}

/* Sums never mix units: each has a series of its own. */
static void add_weights(struct builder *b, enum family family, const u64 *weights)
{
	static const char *const units[UNITS] = {
		[UNIT_UNKNOWN] = "unknown",
		[UNIT_MICRO_OPS] = "micro_operations",
		[UNIT_INSTRUCTIONS] = "instructions",
	};

	for (unsigned int i = 0; i < UNITS; i++)
		if (weights[i])
			add_labeled(b, family, "operation", units[i], (double)weights[i]);
}

static bool is_empty(const struct metrics_histogram *h)
{
	for (unsigned int i = 0; i < METRICS_BUCKETS; i++)
		if (h->bucket[i])
			return false;
	return true;
}

static void add_latencies(struct builder *b, enum family family, const struct metrics_tally *tally,
			  u32 wanted)
{
	struct series *s;

	for (unsigned int i = 0; i < METRICS_LATENCIES; i++) {
		if (!(wanted & 1U << i) || is_empty(&tally->latency[i]))
			continue;
		s = add(b, family);
		s->histogram = &tally->latency[i];
		s->label[s->labels++] = (struct series_label){ "kind", kinds[i] };
	}
}

static void add_machine(struct builder *b)
{
	const struct metrics_tally *all = &b->acc->machine.all;

	add_weights(b, OPERATIONS, all->weight);
	add_levels(b, ACCESSES, all->level);
	add_value(b, REMOTE, (double)all->remote);
	add_value(b, BRANCHES, (double)all->branches);
	add_value(b, MISPREDICTED, (double)all->mispredicted);
	add_latencies(b, LATENCY, all, UINT32_MAX);
}

static void add_container(struct builder *b, const struct label_set *labels,
			  const struct metrics_tally *tally, u64 start_ns)
{
	b->labels = labels;
	b->start_ns = start_ns;
	add_value(b, CONTAINER_SAMPLES, (double)tally->samples);
	add_weights(b, CONTAINER_OPERATIONS, tally->weight);
	add_levels(b, CONTAINER_ACCESSES, tally->level);
	add_value(b, CONTAINER_REMOTE, (double)tally->remote);
	add_value(b, CONTAINER_BRANCHES, (double)tally->branches);
	add_value(b, CONTAINER_MISPREDICTED, (double)tally->mispredicted);
	add_latencies(b, CONTAINER_LATENCY, tally, b->acc->kinds);
	b->labels = NULL;
}

static void add_containers(struct builder *b)
{
	const struct accumulator *f = b->acc;

	for (u32 i = 0; i < f->shown; i++)
		add_container(b, &f->groups[i].set, f->groups[i].sum, f->groups[i].start_ns);
	add_container(b, &f->other_set, &f->other, f->start_ns);
}

static u32 shown_series(const struct accumulator *acc)
{
	u32 sum = container_series(acc->other_levels, acc->kinds);

	for (u32 i = 0; i < acc->shown; i++)
		sum += container_series(acc->groups[i].levels, acc->groups[i].kinds);
	return sum;
}

/*
 * Counters of a daemon that is away do not stand still, they are not known: exported with the time
 * of the export they would claim that nothing was sampled. One missed query is no absence.
 */
static bool is_exported(const struct series_self *self)
{
	return self->exportable && self->missed < SERIES_MISSED;
}

static void add_self(struct builder *b)
{
	const struct series_self *self = b->self;
	u32 shown = shown_series(b->acc);

	add_value(b, SELF_CPU, seconds(self->cpu_ns));
	add_value(b, SELF_MEMORY, (double)self->memory);
	if (is_exported(self)) {
		add_labeled(b, SELF_SERIES, "state", "exported", shown);
		add_labeled(b, SELF_SERIES, "state", "dropped",
			    b->acc->series_wanted > shown ?
				    (double)(b->acc->series_wanted - shown) : 0);
		add_labeled(b, SELF_CONTAINERS, "state", "exported", b->acc->shown);
		add_labeled(b, SELF_CONTAINERS, "state", "other", b->acc->unshown);
	}
	add_labeled(b, SELF_SCRAPES, "state", "answered", (double)self->scrapes);
	add_labeled(b, SELF_SCRAPES, "state", "refused", (double)self->refused);
	add_value(b, SELF_QUERY_ERRORS, (double)self->query_errors);
	for (unsigned int i = 0; i < ARRAY_SIZE(self->push); i++) {
		const struct series_push *push = &self->push[i];

		if (!push->destination)
			continue;
		add_labeled(b, PUSH_SENT, "destination", push->destination, (double)push->sent);
		add_labeled(b, PUSH_RETRIED, "destination", push->destination, (double)push->retried);
		add_labeled(b, PUSH_DROPPED, "destination", push->destination, (double)push->dropped);
		if (push->rejects)
			add_labeled(b, PUSH_REJECTED, "destination", push->destination,
				    (double)push->rejected);
		add_labeled(b, PUSH_QUEUED, "destination", push->destination,
			    (double)push->queued_bytes);
	}
}

static void build(struct builder *b)
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
	add_self(b);
}

/* By family; within one as they were added, so that formats need not look for them. */
static int sort(struct series_set *set)
{
	struct series *sorted = calloc(set->room, sizeof(*sorted));
	u32 n = 0;

	if (!sorted)
		return -ENOMEM;
	for (unsigned int f = 0; f < FAMILIES; f++)
		for (u32 i = 0; i < set->count; i++)
			if (set->series[i].family == &families[f])
				sorted[n++] = set->series[i];
	free(set->series);
	set->series = sorted;
	return 0;
}

int series_build(struct series_set *set, const struct accumulator *acc, const struct series_self *self)
{
	struct builder b = { .set = set, .acc = acc, .self = self };

	build(&b);
	return b.error < 0 ? b.error : sort(set);
}

void series_deinit(struct series_set *set)
{
	free(set->series);
	*set = (struct series_set){ 0 };
}

u32 series_machine(const struct accumulator *acc, const struct metrics *next)
{
	u32 levels = acc->other_levels | tally_bits(&next->machine.all);

	return SERIES_FIXED + (u32)__builtin_popcount(levels) + METRICS_LATENCIES * CLASSIC_SERIES;
}
