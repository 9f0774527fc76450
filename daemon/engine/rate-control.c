// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rate-control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "drain-threads.h"
#include "util/log.h"

#define PERIOD_NS 5000000000ULL

int rate_control_new(u32 cpus, struct rate_control **ret_rate_control)
{
	const struct rate_controller_config off = { .nominal_ns = 1000000 };
	struct rate_control *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->cpus = cpus;
	g->before = calloc(cpus, sizeof(*g->before));
	g->now = calloc(cpus, sizeof(*g->now));
	g->costs = calloc(cpus, sizeof(*g->costs));
	g->scales = calloc(cpus, sizeof(*g->scales));
	g->tuned = calloc(cpus, sizeof(*g->tuned));
	if (!g->before || !g->now || !g->costs || !g->scales || !g->tuned) {
		rate_control_free(g);
		return -ENOMEM;
	}
	rate_controller_init(&g->rate_controller, &off, g->scales, cpus);
	for (u32 i = 0; i < cpus; i++)
		g->tuned[i] = (struct source_tune){ .cpu = i, .scale = SOURCE_TUNE_ONE };
	*ret_rate_control = g;
	return 0;
}

struct rate_control *rate_control_free(struct rate_control *rate_control)
{
	if (rate_control) {
		free(rate_control->before);
		free(rate_control->now);
		free(rate_control->costs);
		free(rate_control->scales);
		free(rate_control->tuned);
		free(rate_control);
	}
	return NULL;
}

/*
 * Read the busy time of online CPUs from /proc/stat: the sum of the columns user, nice, system, irq
 * and softirq.
 */
static void read_busy_times(struct rate_control *g)
{
	u64 tick = 1000000000ULL / (u64)sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	char line[512];

	for (u32 i = 0; i < g->cpus; i++)
		g->now[i].offline = f != NULL;
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long user, nice, system, irq, softirq, steal;
		unsigned int cpu;

		if (sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", &cpu, &user, &nice,
			   &system, &irq, &softirq, &steal) == 7 &&
		    cpu < g->cpus) {
			g->now[cpu].busy_ns = (user + nice + system + irq + softirq) * tick;
			g->now[cpu].offline = false;
		}
	}
	if (f)
		fclose(f);
}

static void read_spu_costs(struct rate_control *g, const struct source *source)
{
	u32 n = source->ops->costs ? source->ops->costs(source, g->costs, g->cpus) : 0;

	for (u32 i = 0; i < n; i++) {
		const struct source_cost *cost = &g->costs[i];

		if (cost->cpu >= g->cpus)
			continue;
		g->now[cost->cpu].handling_ns = cost->handling_ns;
		g->now[cost->cpu].interrupts = cost->interrupts;
	}
}

static void begin_period(struct rate_control *g, const struct drain_meter *meter, u64 now)
{
	memcpy(g->before, g->now, g->cpus * sizeof(*g->before));
	for (u32 i = 0; i < g->cpus; i++)
		g->now[i].samples = g->now[i].bytes = 0;
	g->began_ns = now;
	g->began = *meter;
	g->next_ns = now + PERIOD_NS;
}

/*
 * Subtract the totals at the beginning of the period. If a CPU was offline, a total may be smaller
 * than at the beginning; its difference is then 0.
 */
static void subtract_totals(const struct rate_control *g, struct rate_controller_cpu *ret)
{
	for (u32 i = 0; i < g->cpus; i++) {
		const struct rate_controller_cpu *a = &g->before[i], *b = &g->now[i];

		ret[i] = (struct rate_controller_cpu){
			.busy_ns = b->busy_ns > a->busy_ns ? b->busy_ns - a->busy_ns : 0,
			.handling_ns = b->handling_ns > a->handling_ns ?
					       b->handling_ns - a->handling_ns :
					       0,
			.interrupts =
				b->interrupts > a->interrupts ? b->interrupts - a->interrupts : 0,
			.samples = b->samples,
			.bytes = b->bytes,
			.offline = b->offline,
		};
	}
}

static u64 get_longest_interval(const struct rate_control *g)
{
	u64 most = rate_controller_get_interval(&g->rate_controller);

	for (u32 i = 0; i < g->cpus; i++)
		if (rate_controller_get_cpu_interval(&g->rate_controller, i) > most)
			most = rate_controller_get_cpu_interval(&g->rate_controller, i);
	return most;
}

/*
 * Return the interval of CPUs that are not limited by cost. If the source has one interval for all
 * CPUs, return the longest interval that any CPU needs.
 */
static u64 get_base_interval(const struct rate_control *g)
{
	return g->single ? get_longest_interval(g) :
			   rate_controller_get_interval(&g->rate_controller);
}

/*
 * Log the change since the last logged interval. Not every change is logged, because the interval
 * may change every few seconds.
 * @count: number of changes since the last log line
 */
static void log_change(const struct rate_control *g, u64 count)
{
	char interval_field[64], cost[64], rate[64], changes[48];
	const char *const fields[] = { interval_field, cost, rate, changes, NULL };
	unsigned int share =
		(unsigned int)(g->rate_controller.cost * 100 / (RATE_CONTROLLER_WHOLE / 100));
	u64 interval = rate_controller_get_interval(&g->rate_controller),
	    most = get_longest_interval(g);

	snprintf(interval_field, sizeof(interval_field), "SPEPROF_INTERVAL_NSEC=%llu",
		 (unsigned long long)most);
	snprintf(cost, sizeof(cost), "SPEPROF_COST_PERCENT=%u.%02u", share / 100, share % 100);
	snprintf(rate, sizeof(rate), "SPEPROF_SAMPLES_PER_SECOND=%llu",
		 (unsigned long long)g->rate_controller.rate);
	snprintf(changes, sizeof(changes), "SPEPROF_COUNT=%llu", (unsigned long long)count);
	if (g->why == RATE_CONTROLLER_OVERHEAD)
		log_write(LOG_INFO, LOG_ID_INTERVAL, fields,
			  "sampling costs %u.%02u %% of the machine, Overhead= allows %u.%02u %%: "
			  "%u CPUs (before: %u) now sample less often, up to every %llu ns instead "
			  "of every %llu ns",
			  share / 100, share % 100, g->rate_controller.config.overhead / 1000,
			  g->rate_controller.config.overhead / 10 % 100,
			  rate_controller_count_limited_cpus(&g->rate_controller),
			  g->logged_limited, (unsigned long long)most,
			  (unsigned long long)interval);
	else
		log_write(LOG_INFO, LOG_ID_INTERVAL, fields,
			  "the busiest CPU had %llu samples a second, SamplesPerSecond= asks for "
			  "%llu: the interval is now %llu ns instead of %llu ns",
			  (unsigned long long)g->rate_controller.rate,
			  1000000000ULL / g->rate_controller.config.nominal_ns,
			  (unsigned long long)interval, (unsigned long long)g->logged_ns);
}

/* Log changes with a limited rate. @changes is the number of changes in this period, 0 or 1. */
static void log_rate_limited_change(struct rate_control *g, u64 changes, u64 now)
{
	enum log_limit_action action;
	u64 count;

	action = log_limit_check(&g->pace, changes, now, &count);
	/*
	 * If the interval has not changed for some time, log it unless the last line already shows
	 * it.
	 */
	if (action == LOG_LIMIT_SILENT || (action == LOG_LIMIT_RESOLVED && !count))
		return;
	log_change(g, count);
	g->logged_ns = rate_controller_get_interval(&g->rate_controller);
	g->logged_limited = rate_controller_count_limited_cpus(&g->rate_controller);
}

/* Disable rate control, because the source cannot change its interval. */
static void disable_control(struct rate_control *g, const char *reason)
{
	log_line(LOG_WARNING,
		 "the interval cannot be changed, so Overhead= and SamplesPerSecond= no longer "
		 "adjust it: %s",
		 reason);
	g->rate_controller.config.overhead = 0;
	g->rate_controller.config.rate = false;
}

static void apply_base_interval(struct worker_state *state, const struct session *machine)
{
	struct rate_control *g = state->rate_control;
	struct worker_change_request change = { .interval_ns = get_base_interval(g) };
	int r;

	if (machine->shared_source->sampling.interval_ns == change.interval_ns)
		return;
	r = worker_change_session(state, &change);
	if (r < 0)
		disable_control(g, change.reason ? change.reason : strerror(-r));
}

static bool tunes_are_equal(const struct source_tune *a, const struct source_tune *b)
{
	return a->scale == b->scale && a->interrupts == b->interrupts && a->bytes == b->bytes;
}

/* Set the interval of each CPU. Returns -EOPNOTSUPP if the source has one interval for all CPUs. */
static int apply_tunes(struct rate_control *g, struct source *source)
{
	int r = source->ops->tune ? 0 : -EOPNOTSUPP;

	for (u32 i = 0; i < g->cpus && r >= 0; i++) {
		const struct source_tune tune = {
			.scale = g->scales[i].scale,
			.interrupts = g->scales[i].interrupts,
			.bytes = g->scales[i].bytes,
			.cpu = i,
		};

		if (tunes_are_equal(&tune, &g->tuned[i]))
			continue;
		r = source->ops->tune(source, &tune);
		if (r >= 0)
			g->tuned[i] = tune;
		/* The CPU has no SPU or is offline, so it has no samples either. */
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

/* Apply the intervals and limits that are not in force yet. */
static void apply_intervals(struct worker_state *state, struct session *machine)
{
	struct rate_control *g = state->rate_control;
	int r;

	/* Drain first: samples that were taken before the change have the old interval. */
	if (!g->single) {
		worker_drain_session(state, machine);
		r = apply_tunes(g, machine->shared_source->source);
		if (r == -EOPNOTSUPP)
			g->single = g->rate_controller.config.single = true;
		else if (r < 0)
			disable_control(g, strerror(-r));
	}
	apply_base_interval(state, machine);
}

/*
 * Return the interval that the user set last. If the interval in force differs from the one that
 * rate control applied last, the user has set it by a D-Bus call since then.
 */
u64 rate_control_get_target(struct worker_state *state)
{
	const struct session *machine = worker_find_session(state, NULL);
	const struct rate_control *g = state->rate_control;

	if (!g || machine->shared_source->sampling.interval_ns != get_base_interval(g))
		return machine->shared_source->sampling.interval_ns;
	return g->rate_controller.config.nominal_ns;
}

int rate_control_configure(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_find_session(state, NULL);
	struct rate_controller_config config = *(const struct rate_controller_config *)arg;

	if (!state->rate_control || !machine)
		return -ENOENT;
	/* Control the rate only for hardware: an emulated SPU models one operation a nanosecond. */
	if (!config.nominal_ns)
		config.nominal_ns = rate_control_get_target(state);
	config.rate &= machine->shared_source->source->backend == BACKEND_HARDWARE;
	config.filtered = machine->rule->filter != NULL;
	config.single = state->rate_control->single;
	rate_controller_change(&state->rate_control->rate_controller, &config);
	apply_intervals(state, worker_find_session(state, NULL));
	return 0;
}

void rate_control_reapply(struct worker_state *state)
{
	struct rate_control *g = state->rate_control;
	struct session *machine = worker_find_session(state, NULL);

	if (!g || !machine || g->single)
		return;
	for (u32 i = 0; i < g->cpus; i++)
		g->tuned[i] = (struct source_tune){ .cpu = i, .scale = SOURCE_TUNE_ONE };
	apply_intervals(state, machine);
}

static void restart_from_interval(struct worker_state *state, struct session *machine, u64 interval)
{
	struct rate_control *g = state->rate_control;
	struct rate_controller_config config = g->rate_controller.config;

	config.nominal_ns = interval;
	rate_controller_init(&g->rate_controller, &config, g->scales, g->cpus);
	g->why = RATE_CONTROLLER_STAYS;
	apply_intervals(state, machine);
}

/*
 * The caller must report a new target, because rate_control_tick() cannot notice a target that
 * equals the interval in force.
 */
int rate_control_set_target(struct worker_state *state, void *arg)
{
	struct session *machine = worker_find_session(state, NULL);

	if (state->rate_control && machine)
		restart_from_interval(state, machine, *(const u64 *)arg);
	return 0;
}

/*
 * End a period. @grown: increase of the counters of each CPU in the period. @meter: total cost of
 * draining up to now.
 */
static void end_period(struct worker_state *state, struct session *machine,
		       const struct rate_controller_cpu *grown, const struct drain_meter *meter,
		       u64 now)
{
	struct rate_control *g = state->rate_control;
	const struct rate_controller_drain drain = {
		.ns = meter->ns - g->began.ns,
		.bytes = meter->bytes - g->began.bytes,
	};
	bool changed;
	enum rate_change why;

	if (!g->pace.pause_ns) {
		g->logged_ns = rate_controller_get_interval(&g->rate_controller);
		g->logged_limited = rate_controller_count_limited_cpus(&g->rate_controller);
	}
	why = rate_controller_step(&g->rate_controller, grown, &drain, now - g->began_ns);
	apply_intervals(state, machine);
	changed = why != RATE_CONTROLLER_STAYS &&
		  get_base_interval(g) == machine->shared_source->sampling.interval_ns;
	if (changed)
		g->why = why;
	log_rate_limited_change(g, changed, now);
}

void rate_control_tick(struct worker_state *state, u64 now)
{
	struct session *machine = worker_find_session(state, NULL);
	struct rate_control *g = state->rate_control;
	struct rate_controller_cpu *grown;
	struct drain_meter meter;

	if (!g || !machine || !machine->running || now < g->next_ns)
		return;
	/* The rule may have changed since the last period. */
	g->rate_controller.config.filtered = machine->rule->filter != NULL;
	meter = drain_threads_sum_meters(state->drain_threads);
	read_busy_times(g);
	read_spu_costs(g, machine->shared_source->source);
	grown = g->next_ns ? calloc(g->cpus, sizeof(*grown)) : NULL;
	if (machine->shared_source->sampling.interval_ns != get_base_interval(g)) {
		restart_from_interval(state, machine, machine->shared_source->sampling.interval_ns);
	} else if (grown) {
		subtract_totals(g, grown);
		end_period(state, machine, grown, &meter, now);
	}
	free(grown);
	begin_period(g, &meter, now);
}

void rate_control_fill_header(const struct worker_state *state, struct view_header *header)
{
	const struct rate_control *g = state->rate_control;
	u64 scales = 0, most = RATE_CONTROLLER_ONE;

	header->interval_longest_ns = header->interval_mean_ns = header->interval_ns;
	if (!g)
		return;
	header->overhead = g->rate_controller.config.overhead;
	/* A measured cost is at least 1: the value 0 means that no period has ended yet. */
	header->overhead_cost = g->rate_controller.cost;
	if (g->rate_controller.measured && !header->overhead_cost)
		header->overhead_cost = 1;
	header->cpus_held = rate_controller_count_limited_cpus(&g->rate_controller);
	/*
	 * If the source has one interval for all CPUs, @header->interval_ns already includes the
	 * scale.
	 */
	if (g->single || !g->rate_controller.online)
		return;
	for (u32 i = 0; i < g->cpus; i++) {
		if (g->scales[i].offline)
			continue;
		scales += g->scales[i].scale;
		most = g->scales[i].scale > most ? g->scales[i].scale : most;
	}
	header->interval_longest_ns = header->interval_ns * most / RATE_CONTROLLER_ONE;
	header->interval_mean_ns =
		header->interval_ns * (scales / g->rate_controller.online) / RATE_CONTROLLER_ONE;
}

void rate_control_describe(const struct worker_state *state, char *ret, size_t size)
{
	const struct rate_control *g = state->rate_control;
	unsigned int share, cost;
	int n = 0;
	u32 limited;

	*ret = 0;
	if (!g)
		return;
	share = (unsigned int)(g->rate_controller.config.overhead / 10);
	cost = (unsigned int)(g->rate_controller.cost / 10);
	limited = rate_controller_count_limited_cpus(&g->rate_controller);
	if (limited)
		n = snprintf(ret, size,
			     " Interval %llu to %llu ns: Overhead=%u.%02u %% makes %u CPUs sample "
			     "less often.",
			     (unsigned long long)rate_controller_get_interval(&g->rate_controller),
			     (unsigned long long)get_longest_interval(g), share / 100, share % 100,
			     limited);
	else if (g->rate_controller.rate_scale != RATE_CONTROLLER_ONE)
		n = snprintf(ret, size, " Interval %llu ns, adjusted to reach SamplesPerSecond=.",
			     (unsigned long long)rate_controller_get_interval(&g->rate_controller));
	if (g->rate_controller.exhausted && n >= 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n,
			 " Sampling costs %u.%02u %% of the machine, more than Overhead=%u.%02u %%: "
			 "a longer interval would not lower that.",
			 cost / 100, cost % 100, share / 100, share % 100);
}
