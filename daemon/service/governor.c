// SPDX-License-Identifier: LGPL-2.1-or-later
#include "governor.h"

/* A step of either loop: at most to twice or half. */
#define STEP 2

/* One operation a nanosecond is a guess: cores do a tenth of it to some ten. */
#define RATE_LEAST (GOVERNOR_ONE / 16)
#define RATE_MOST  (GOVERNOR_ONE * 64)

/* At a 64th of the rate it is the fixed part that costs. */
#define COST_MOST (GOVERNOR_ONE * 64)

/* How far the rate may be off, either way, in percent, and for how many periods. */
#define RATE_SLACK   20
#define RATE_PERIODS 2

/* A CPU that says something of the rate: so busy, of the period, with so many samples. */
#define BUSY_PARTS   4
#define SAMPLES_MOST 100

/* Below so many percent of the budget for so many periods, more is sampled again, up to AIM. */
#define CHEAP_PERCENT 60
#define CHEAP_PERIODS 3
#define AIM_PERCENT   85

/* What one CPU may spend, in budgets: a hot one must not pay for idle ones. */
#define CPU_BUDGETS 4

static u64 clamp(u64 value, u64 least, u64 most)
{
	return value < least ? least : value > most ? most : value;
}

void governor_init(struct governor *governor, const struct governor_config *config)
{
	*governor = (struct governor){
		.config = *config,
		.rate_scale = GOVERNOR_ONE,
		.cost_scale = GOVERNOR_ONE,
	};
}

void governor_change(struct governor *governor, const struct governor_config *config)
{
	if (!config->overhead || config->nominal_ns != governor->config.nominal_ns)
		governor->cost_scale = GOVERNOR_ONE;
	if (!config->rate)
		governor->rate_scale = GOVERNOR_ONE;
	governor->config = *config;
	governor->off = 0;
	governor->cheap = 0;
	governor->exhausted = false;
}

u64 governor_interval(const struct governor *governor)
{
	/* Below 2^30 * 2^16 * 2^16. */
	return governor->config.nominal_ns * governor->rate_scale / GOVERNOR_ONE *
	       governor->cost_scale / GOVERNOR_ONE;
}

/* The busiest CPU's: the setting is an upper bound for each. */
static u64 rate_of(const struct governor_cpu *cpu, u32 cpus, u64 period_ns)
{
	u64 most = 0, rate;

	for (u32 i = 0; i < cpus; i++) {
		if (cpu[i].busy_ns < period_ns / BUSY_PARTS || cpu[i].samples < SAMPLES_MOST)
			continue;
		rate = cpu[i].samples * 1000000ULL / (cpu[i].busy_ns / 1000);
		if (rate > most)
			most = rate;
	}
	return most;
}

static bool rate_step(struct governor *g)
{
	/* What the other loop holds back is not to be made good here. */
	u64 target = 1000000000ULL * GOVERNOR_ONE / (g->config.nominal_ns * g->cost_scale);
	u64 least = g->config.filtered ? GOVERNOR_ONE : RATE_LEAST, scale;

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

/* The machine's share, or the dearest CPU's as far as it counts more. */
static u64 cost_of(const struct governor_cpu *cpu, u32 cpus, u64 daemon_ns, u64 period_ns)
{
	u64 sum = daemon_ns, most = 0, machine;

	for (u32 i = 0; i < cpus; i++) {
		sum += cpu[i].handling_ns;
		if (cpu[i].handling_ns > most)
			most = cpu[i].handling_ns;
	}
	machine = sum * GOVERNOR_WHOLE / (period_ns * (cpus ? cpus : 1));
	most = most * GOVERNOR_WHOLE / period_ns / CPU_BUDGETS;
	return machine > most ? machine : most;
}

static bool cost_step(struct governor *g)
{
	u64 budget = g->config.overhead, scale = g->cost_scale;

	if (!budget)
		return false;
	if (g->cost > budget) {
		g->cheap = 0;
		scale = clamp(scale * g->cost * 100 / (budget * AIM_PERCENT), scale, scale * STEP);
	} else if (scale > GOVERNOR_ONE && g->cost * 100 < budget * CHEAP_PERCENT) {
		if (++g->cheap < CHEAP_PERIODS)
			return false;
		g->cheap = 0;
		scale = clamp(scale * g->cost * 100 / (budget * AIM_PERCENT), scale / STEP, scale);
	} else {
		g->cheap = 0;
	}
	scale = clamp(scale, GOVERNOR_ONE, COST_MOST);
	g->exhausted = scale == COST_MOST && g->cost > budget;
	if (scale == g->cost_scale)
		return false;
	/* What is smoothed was of another interval. */
	g->cost = g->cost * g->cost_scale / scale;
	g->cost_scale = scale;
	return true;
}

enum governor_why governor_step(struct governor *governor, const struct governor_cpu *cpu, u32 cpus,
				u64 daemon_ns, u64 period_ns)
{
	u64 cost = cost_of(cpu, cpus, daemon_ns, period_ns);

	governor->cost = governor->cost ? (2 * governor->cost + cost) / 3 : cost;
	governor->rate = rate_of(cpu, cpus, period_ns);
	if (cost_step(governor)) {
		governor->off = 0;
		return GOVERNOR_OVERHEAD;
	}
	return rate_step(governor) ? GOVERNOR_RATE : GOVERNOR_STAYS;
}
