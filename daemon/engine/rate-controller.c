// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rate-controller.h"

/* Each step at most doubles or halves the interval. */
#define STEP 2

/*
 * Limits of the assumed number of operations a nanosecond. The first guess is 1; real cores execute
 * 0.1 to 10.
 */
#define RATE_LEAST (RATE_CONTROLLER_ONE / 16)
#define RATE_MOST  (RATE_CONTROLLER_ONE * 64)

/*
 * Largest factor by which a high cost may lengthen the interval: beyond it there are too few
 * samples.
 */
#define COST_MOST (RATE_CONTROLLER_ONE * 64)

/*
 * Tolerated deviation of the sampling rate in percent, and the number of periods before a larger
 * deviation is corrected.
 */
#define RATE_SLACK   20
#define RATE_PERIODS 2

/*
 * The sampling rate of a CPU is used only if the CPU was busy for at least 1/BUSY_PARTS of the
 * period, and has at least SAMPLES_LEAST samples.
 */
#define BUSY_PARTS   4
#define SAMPLES_LEAST 100

/*
 * If the cost is below CHEAP_PERCENT of the budget for CHEAP_PERIODS periods, the interval is
 * shortened. Rate control aims at AIM_PERCENT of the budget.
 */
#define CHEAP_PERCENT 60
#define CHEAP_PERIODS 3
#define AIM_PERCENT   85

/*
 * Maximum cost of one CPU, as a multiple of the budget of a CPU. A busy CPU may use budget that
 * idle CPUs do not need.
 */
#define CPU_BUDGETS 4

/*
 * The throttle of the module limits bursts that are shorter than a period of rate control. It
 * permits BOUND_SLACK times the allowed cost of a CPU, and at least INTERRUPTS_LEAST and
 * BYTES_LEAST a second: it measures over a tenth of a second, in which several windows may arrive
 * at once.
 */
#define BOUND_SLACK	 2
#define INTERRUPTS_LEAST 128
#define BYTES_LEAST	 (2ULL << 20)

static u64 clamp(u64 value, u64 least, u64 most)
{
	return value < least ? least : value > most ? most : value;
}

void rate_controller_init(struct rate_controller *rate_controller,
			  const struct rate_controller_config *config,
			  struct rate_controller_scale *cpu, u32 cpus)
{
	*rate_controller = (struct rate_controller){
		.config = *config,
		.rate_scale = RATE_CONTROLLER_ONE,
		.cpu = cpu,
		.cpus = cpus,
		.online = cpus,
	};
	for (u32 i = 0; i < cpus; i++)
		cpu[i] = (struct rate_controller_scale){ .scale = RATE_CONTROLLER_ONE };
}

void rate_controller_change(struct rate_controller *rate_controller,
			    const struct rate_controller_config *config)
{
	bool reset_scale =
		!config->overhead || config->nominal_ns != rate_controller->config.nominal_ns;

	for (u32 i = 0; i < rate_controller->cpus; i++) {
		rate_controller->cpu[i].cheap = 0;
		if (reset_scale)
			rate_controller->cpu[i].scale = RATE_CONTROLLER_ONE;
		if (!config->overhead)
			rate_controller->cpu[i].interrupts = rate_controller->cpu[i].bytes = 0;
	}
	if (!config->rate)
		rate_controller->rate_scale = RATE_CONTROLLER_ONE;
	rate_controller->config = *config;
	rate_controller->off = 0;
	rate_controller->exhausted = false;
}

u64 rate_controller_get_interval(const struct rate_controller *rate_controller)
{
	return rate_controller->config.nominal_ns * rate_controller->rate_scale /
	       RATE_CONTROLLER_ONE;
}

u64 rate_controller_get_cpu_interval(const struct rate_controller *rate_controller, u32 cpu)
{
	/* The product cannot overflow: it is below 2^30 * 2^16 * 2^16. */
	return rate_controller_get_interval(rate_controller) * rate_controller->cpu[cpu].scale /
	       RATE_CONTROLLER_ONE;
}

u32 rate_controller_count_limited_cpus(const struct rate_controller *rate_controller)
{
	u32 limited = 0;

	for (u32 i = 0; i < rate_controller->cpus; i++)
		limited += !rate_controller->cpu[i].offline &&
			   rate_controller->cpu[i].scale > RATE_CONTROLLER_ONE;
	return limited;
}

/*
 * Return the sampling rate that the busiest CPU would have if its cost were not limited:
 * SamplesPerSecond= is the maximum for each CPU.
 */
static u64 get_busiest_rate(const struct rate_controller *g, const struct rate_controller_cpu *cpu,
			    u64 period_ns)
{
	u64 most = 0, rate;

	for (u32 i = 0; i < g->cpus; i++) {
		u64 samples = cpu[i].samples * g->cpu[i].scale / RATE_CONTROLLER_ONE;

		if (cpu[i].busy_ns < period_ns / BUSY_PARTS || samples < SAMPLES_LEAST)
			continue;
		rate = samples * 1000000ULL / (cpu[i].busy_ns / 1000);
		if (rate > most)
			most = rate;
	}
	return most;
}

static bool adjust_rate_scale(struct rate_controller *g)
{
	u64 target = 1000000000ULL / g->config.nominal_ns;
	u64 least = g->config.filtered ? RATE_CONTROLLER_ONE : RATE_LEAST, scale;

	if (!g->config.rate || !g->rate || !target)
		return false;
	if (g->rate * 100 <= target * (100 + RATE_SLACK) &&
	    g->rate * (100 + RATE_SLACK) >= target * 100) {
		g->off = 0;
		return false;
	}
	if (++g->off < RATE_PERIODS)
		return false;
	scale = g->rate_scale * g->rate / target;
	scale = clamp(scale, g->rate_scale / STEP, g->rate_scale * STEP);
	scale = clamp(scale, least, RATE_MOST);
	if (scale == g->rate_scale)
		return false;
	g->rate_scale = scale;
	g->off = 0;
	return true;
}

static u64 round_up_to_power(u64 n)
{
	u64 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/*
 * Set the limits of a CPU for interrupts and bytes in a second, rounded to powers of two so that
 * they rarely change.
 */
static void set_limits(const struct rate_controller *g, struct rate_controller_scale *s,
		       const struct rate_controller_cpu *cpu, u64 cost_ns)
{
	u64 allowed = 1000000000ULL / RATE_CONTROLLER_WHOLE * g->config.overhead * CPU_BUDGETS *
		      BOUND_SLACK;
	u64 n;

	if (!g->config.overhead)
		return;
	if (cpu->interrupts && cpu->handling_ns) {
		n = allowed * cpu->interrupts / cpu->handling_ns;
		s->interrupts = round_up_to_power(clamp(n, INTERRUPTS_LEAST, UINT32_MAX));
	}
	if (cpu->bytes && cost_ns) {
		n = allowed / 1000 * cpu->bytes / (cost_ns / 1000 + 1);
		s->bytes = round_up_to_power(clamp(n, BYTES_LEAST, 1ULL << 40));
	}
}

/* Convert nanoseconds of CPU time a second to units of 1/RATE_CONTROLLER_WHOLE. */
static u64 to_cost_units(double ns)
{
	return (u64)(ns * RATE_CONTROLLER_WHOLE / 1e9);
}

/*
 * Compute the cost of a CPU: handling of its SPU, the draining of its bytes, and an equal part of
 * the fixed cost of the drain threads.
 */
static void measure_cpu(struct rate_controller *g, struct rate_controller_scale *s,
			const struct rate_controller_cpu *cpu, u64 period_ns)
{
	double seconds = (double)period_ns / 1e9, bytes = (double)cpu->bytes / seconds;
	double demand = bytes * (double)s->scale / RATE_CONTROLLER_ONE, slope, fixed;

	cost_fit_add(&s->handling, bytes, (double)cpu->handling_ns / seconds);
	slope = cost_fit_slope(&s->handling) + cost_fit_slope(&g->drain);
	fixed = s->handling.fixed + g->drain.fixed / g->online;
	s->demand = s->demand > 0 ? (2 * s->demand + demand) / 3 : demand;
	s->offline = false;
	s->fixed = to_cost_units(fixed);
	s->cost = s->fixed +
		  to_cost_units(slope * s->demand * RATE_CONTROLLER_ONE / (double)s->scale);
	set_limits(g, s, cpu, (u64)((fixed + slope * bytes) * seconds));
}

static void measure_costs(struct rate_controller *g, const struct rate_controller_cpu *cpu,
			  const struct rate_controller_drain *drain, u64 period_ns)
{
	double seconds = (double)period_ns / 1e9;
	u64 sum = 0, fixed = 0;

	cost_fit_add(&g->drain, (double)drain->bytes / seconds, (double)drain->ns / seconds);
	g->online = 0;
	for (u32 i = 0; i < g->cpus; i++)
		g->online += !cpu[i].offline;
	for (u32 i = 0; i < g->cpus; i++) {
		if (cpu[i].offline) {
			g->cpu[i] = (struct rate_controller_scale){ .scale = RATE_CONTROLLER_ONE,
								    .offline = true };
			continue;
		}
		measure_cpu(g, &g->cpu[i], &cpu[i], period_ns);
		sum += g->cpu[i].cost;
		fixed += g->cpu[i].fixed;
	}
	g->measured = true;
	g->cost = g->online ? sum / g->online : 0;
	g->fixed = g->online ? fixed / g->online : 0;
}

/*
 * Return the cost that the variable part of @s->cost would have at the interval that the user set.
 */
static u64 compute_demand(const struct rate_controller_scale *s)
{
	return (s->cost - s->fixed) * s->scale / RATE_CONTROLLER_ONE;
}

/*
 * Return AIM_PERCENT of @budget minus the cost @fixed, but at least a third of @fixed. With less
 * than that, a longer interval lowers the whole cost by less than a quarter, and the profile gets
 * too few samples.
 */
static u64 get_variable_budget(u64 budget, u64 fixed)
{
	u64 aim = budget * AIM_PERCENT / 100, least = fixed / 3 + 1;

	return aim > fixed + least ? aim - fixed : least;
}

/* Return whether @cost exceeds @budget by so much that a longer interval is needed. */
static bool exceeds_budget(u64 cost, u64 fixed, u64 budget)
{
	return cost * AIM_PERCENT / 100 > fixed + get_variable_budget(budget, fixed);
}

/*
 * Return the maximum cost that each CPU may have in addition to its fixed cost, so that the cost of
 * all CPUs equals the budget of the machine. The budget that a CPU does not need is divided among
 * the other CPUs.
 */
static u64 find_cost_level(const struct rate_controller *g)
{
	u64 whole = get_variable_budget(g->config.overhead, g->fixed) * g->online;
	u64 most = (u64)g->config.overhead * CPU_BUDGETS * AIM_PERCENT / 100;
	u64 at = whole / g->online, before = 0;

	while (at != before && at < most) {
		u64 left = whole;
		u32 others = 0;

		before = at;
		for (u32 i = 0; i < g->cpus; i++) {
			if (compute_demand(&g->cpu[i]) > at)
				others++;
			else
				left -= compute_demand(&g->cpu[i]);
		}
		if (!others)
			return most;
		at = left / others;
	}
	return at;
}

/* Predict the cost at the new scale until the next period measures it. */
static void set_scale(struct rate_controller_scale *s, u64 scale)
{
	s->cost = s->fixed + (s->cost - s->fixed) * s->scale / scale;
	s->scale = scale;
}

static bool adjust_cpu_scale(const struct rate_controller *g, struct rate_controller_scale *s,
			     u64 at)
{
	u64 budget = g->config.overhead, most = get_variable_budget(budget * CPU_BUDGETS, s->fixed);
	u64 goal = at < most ? at : most;
	u64 fitting = RATE_CONTROLLER_ONE * compute_demand(s) / (goal ? goal : 1), scale = s->scale;
	u64 target = clamp(fitting, RATE_CONTROLLER_ONE, COST_MOST);

	if (target > scale && (exceeds_budget(g->cost, g->fixed, budget) ||
			       exceeds_budget(s->cost, s->fixed, budget * CPU_BUDGETS))) {
		s->cheap = 0;
		scale = clamp(target, scale, scale * STEP);
	} else if (scale > RATE_CONTROLLER_ONE && fitting * AIM_PERCENT < scale * CHEAP_PERCENT) {
		if (++s->cheap < CHEAP_PERIODS)
			return false;
		s->cheap = 0;
		scale = clamp(target, scale / STEP, scale);
	} else {
		s->cheap = 0;
	}
	if (scale == s->scale)
		return false;
	set_scale(s, scale);
	return true;
}

/*
 * Set the scale of all CPUs to the highest of their scales, because the source has one interval for
 * all CPUs.
 */
static void set_common_scale(struct rate_controller *g)
{
	u64 most = RATE_CONTROLLER_ONE;

	for (u32 i = 0; i < g->cpus; i++)
		most = g->cpu[i].scale > most ? g->cpu[i].scale : most;
	for (u32 i = 0; i < g->cpus; i++)
		set_scale(&g->cpu[i], most);
}

static bool adjust_cost_scales(struct rate_controller *g)
{
	u64 budget = g->config.overhead, at;
	bool changed = false, longest = false;

	g->exhausted = false;
	if (!budget || !g->online)
		return false;
	at = find_cost_level(g);
	for (u32 i = 0; i < g->cpus; i++) {
		if (g->cpu[i].offline)
			continue;
		changed |= adjust_cpu_scale(g, &g->cpu[i], at);
		longest |= g->cpu[i].scale == COST_MOST;
	}
	g->exhausted = g->cost > budget && (longest || !exceeds_budget(g->cost, g->fixed, budget));
	if (changed && g->config.single)
		set_common_scale(g);
	return changed;
}

enum rate_change rate_controller_step(struct rate_controller *rate_controller,
				      const struct rate_controller_cpu *cpu,
				      const struct rate_controller_drain *drain, u64 period_ns)
{
	measure_costs(rate_controller, cpu, drain, period_ns);
	rate_controller->rate = get_busiest_rate(rate_controller, cpu, period_ns);
	if (adjust_cost_scales(rate_controller)) {
		rate_controller->off = 0;
		return RATE_CONTROLLER_OVERHEAD;
	}
	return adjust_rate_scale(rate_controller) ? RATE_CONTROLLER_RATE : RATE_CONTROLLER_STAYS;
}
